//! The arguments of `gramc login` and `gramc logout`.

use std::path::PathBuf;

use clap::Args as ClapArgs;

/// Sign in to an MCP server by OAuth 2.1
///
/// Prints the address of the page where the user signs in, and opens it in the browser if standard
/// error is a terminal. The tokens are kept in the folder of the user's data, or in the one that
/// GRAMC_SIGN_INS names, and renewed when they expire. All commands that reach the server at this URL
/// use them.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  gramc login https://example.com/mcp
  gramc login https://example.com/mcp --scope 'files:read files:write'
  gramc login https://example.com/mcp --client-id my-client --client-secret env:SECRET --port 8765")]
pub(crate) struct Login {
    /// URL of the MCP server, as libraries name it
    #[arg(value_name = "URL")]
    pub(crate) url: String,
    /// Identifier of a client that is registered already [default: gramc registers itself]
    #[arg(long, value_name = "ID")]
    pub(crate) client_id: Option<String>,
    /// Source of the client's secret: env:VARIABLE or file:PATH
    #[arg(long, value_name = "SOURCE", requires = "client_id", value_parser = source)]
    pub(crate) client_secret: Option<String>,
    /// Scopes to request, separated by spaces [default: those that the server names]
    #[arg(long, value_name = "SCOPES")]
    pub(crate) scope: Option<String>,
    /// Port on this machine to which the browser returns
    #[arg(long, value_name = "PORT", default_value_t = 0, hide_default_value = true)]
    pub(crate) port: u16,
    #[command(flatten)]
    pub(crate) tls: Tls,
}

/// Forget the sign-in to an MCP server
///
/// Removes the tokens from this machine. The authorization server is not told.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Example:\n  gramc logout https://example.com/mcp")]
pub(crate) struct Logout {
    /// URL of the MCP server
    #[arg(value_name = "URL")]
    pub(crate) url: String,
}

/// Certificates.
#[derive(Debug, Clone, Default, ClapArgs)]
pub(crate) struct Tls {
    /// Certificates of further authorities to trust, in PEM format
    #[arg(long, value_name = "FILE", requires = "url")]
    pub(crate) ca: Option<PathBuf>,
    /// Certificate of the client, in PEM format
    #[arg(long, value_name = "FILE", requires = "url")]
    pub(crate) cert: Option<PathBuf>,
    /// Private key of the client's certificate, in PEM format
    #[arg(long, value_name = "FILE", requires = "cert")]
    pub(crate) key: Option<PathBuf>,
}

/// A secret must not be part of a command line, which other users of the machine can see.
fn source(text: &str) -> Result<String, &'static str> {
    match text.split_once(':') {
        Some(("env" | "file", name)) if !name.is_empty() => Ok(text.to_owned()),
        _ => Err("write env:VARIABLE or file:PATH"),
    }
}
