//! The arguments of `gramc mcp`.

use clap::Args as ClapArgs;

use super::{Bind, Spec};

/// Serve the tools of a library as an MCP server
///
/// Clients speak to it over standard input and output, or with --http over streamable HTTP. Each
/// call is checked, repaired and throttled before it reaches an implementation; a client hears of a
/// bad call as an error of the tool, with what to do about it. A container is listed as one tool;
/// its functions are listed when it was called. Ends when the client hangs up, or on SIGINT and
/// SIGTERM.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  gramc mcp tools.gram --library friendly.gram
  gramc mcp guard.gram --library upstream.gram      a guard in front of another MCP server
  gramc mcp tools.gram --library friendly.gram --http 8080
  TOKEN=… gramc mcp tools.gram --library friendly.gram --http 0.0.0.0:8080 --token-env TOKEN")]
pub(crate) struct Mcp {
    #[command(flatten)]
    pub(crate) spec: Spec,
    #[command(flatten)]
    pub(crate) bind: Bind,
    /// Serve over streamable HTTP: at a port of this machine alone, or at HOST:PORT. Port 0 is any
    /// that is free; the address is printed on standard error
    #[arg(long, value_name = "ADDR")]
    pub(crate) http: Option<String>,
    /// The variable of the environment that holds the token which clients have to send, as
    /// `Authorization: Bearer TOKEN`. Needed where ADDR is one that others can reach
    #[arg(long, value_name = "NAME", requires = "http")]
    pub(crate) token_env: Option<String>,
}
