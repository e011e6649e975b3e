//! The arguments of `gramc init`.

use std::path::PathBuf;

use clap::Args as ClapArgs;

use super::LiveServerWithToken;

/// Start a project
///
/// Writes gram.toml, a specification (tools.gram), a library (library.gram), a GitHub workflow that
/// checks them, and a skill for coding agents. The tools are an example, or those of an MCP server, a
/// tool list or an API. Existing files are kept.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  gramc init
  gramc init weather --from openapi.yaml
  gramc init guard --command \"npx -y @modelcontextprotocol/server-memory\"")]
pub(crate) struct Init {
    /// Folder of the project, which is made if it does not exist
    #[arg(value_name = "DIR", default_value = ".")]
    pub(crate) folder: PathBuf,
    /// File or URL with the tools: an OpenAPI, Swagger or Google Discovery document, or a JSON tool list
    #[arg(long, value_name = "FILE", conflicts_with_all = ["command", "url"])]
    pub(crate) from: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) live: LiveServerWithToken,
}
