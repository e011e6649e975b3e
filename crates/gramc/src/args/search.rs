//! The arguments of `gramc search`.

use std::path::PathBuf;

use clap::Args as ClapArgs;

use super::LiveServerWithToken;

/// Find tools by words, by their types, or by both
///
/// QUERY is words, a signature, or both. A signature may leave out names, and each of its sides. SPEC
/// is a file and its imports, a folder, a JSON tool list, an OpenAPI, Swagger or Google Discovery
/// document, a library, or - for standard input. With --format json, one object per line goes to
/// standard output. Exit code 1 if nothing is found.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  gramc search 'send an email to several people'
  gramc search '(city::Text)==>(::Forecast)' tools/
  gramc search 'Text ==> Date' tools/
  gramc search 'email (to::Email[])' openapi.yaml
  gramc search 'open issues' --command \"npx -y @modelcontextprotocol/server-github\"")]
pub(crate) struct Search {
    /// Words, a signature, or both
    #[arg(value_name = "QUERY")]
    pub(crate) query: String,
    /// Specifications to search [default: the project that contains the current folder]
    #[arg(value_name = "SPEC")]
    pub(crate) specs: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) live: LiveServerWithToken,
    /// Maximum number of tools
    #[arg(long, value_name = "N", default_value = "10")]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub(crate) limit: u16,
}
