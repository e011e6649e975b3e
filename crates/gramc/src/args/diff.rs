//! The arguments of `gramc diff`.

use std::path::PathBuf;

use clap::Args as ClapArgs;
use clap::builder::TypedValueParser;
use gramc_diff::ChangeKind;

use super::{LiveServerWithToken, one_of};

/// Compare two versions of tools and show the calls that break
///
/// OLD and NEW are files and their imports, folders, JSON tool lists, OpenAPI, Swagger or Google
/// Discovery documents, or - for standard input. If no file has that name, REV:PATH is a file or
/// folder at a git revision. --command and --url compare with the tools of a running MCP server,
/// which makes OLD its lock file. A file or folder alone is compared with its last commit. Exit code 1
/// if a change breaks callers.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  gramc diff old.gram new.gram
  gramc diff shop.gram             what changed since the last commit
  gramc diff HEAD~1:tools/ tools/
  gramc diff main:shop.gram shop.gram --format markdown
  gramc diff guard.gram --command \"npx -y @modelcontextprotocol/server-memory\"
  gramc diff --policy main:guard.gram guard.gram
  gramc diff v1.2.0:openapi.yaml openapi.yaml
  gramc diff released.json tools.gram --allow tool-removed,input-narrowed
  gramc diff v1.2.0:tools/ tools/ --changelog
  gramc diff main:shop.gram shop.gram --adapt old-callers.gram --library libraries.gram:stable")]
pub(crate) struct Diff {
    /// Old version
    #[arg(value_name = "OLD")]
    pub(crate) old: PathBuf,
    /// New version
    #[arg(value_name = "NEW")]
    // `requires` alone does not refuse an option if what it requires conflicts with another argument.
    #[arg(conflicts_with_all = ["command", "url", "env", "header", "token_env", "ca", "cert", "key"])]
    pub(crate) new: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) live: LiveServerWithToken,
    /// Changes that may break callers; they do not cause exit code 1
    #[arg(long, value_name = "CHANGE", value_delimiter = ',', value_parser = kinds())]
    pub(crate) allow: Vec<ChangeKind>,
    /// Fail if the new version allows a call that the old version refuses, instead of the reverse
    #[arg(long, conflicts_with_all = ["changelog", "adapt"])]
    pub(crate) policy: bool,
    /// Print the changes as a section of a changelog in Markdown
    #[arg(long)]
    pub(crate) changelog: bool,
    /// Write a library that serves callers of the old version with the new tools
    ///
    /// Its attributes 'arguments' map the arguments of a call. Each mapping is proven for all calls.
    /// Tools that cannot be adapted are reported with an example call. Changes of adapted tools
    /// do not cause exit code 1.
    #[arg(long, value_name = "FILE")]
    pub(crate) adapt: Option<PathBuf>,
    /// Library of the new tools for --adapt, a file or FILE:NAME in the folder of the new file
    /// [default: the only library in NEW, or the server]
    #[arg(long, value_name = "LIBRARY", requires = "adapt")]
    pub(crate) library: Option<String>,
}

/// The names of changes, each with its change.
fn kinds() -> impl TypedValueParser<Value = ChangeKind> {
    one_of(ChangeKind::names().filter_map(|name| Some((name.into(), ChangeKind::of_name(name)?))))
}
