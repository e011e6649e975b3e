//! The client of MCP servers, whose tools implement the tools of libraries.
//!
//! Messages are JSON from end to end, which preserves unknown keys, the order of keys and the digits
//! of numbers (`serde_json` only adds the sign of an exponent: `1e5` becomes `1e+5`). An `Exchange`
//! sends requests over a `Wire`, and the `Inbox` gets what the server sends.
//!
//! [`tools_of_command`] and [`tools_of_url`] ask a server once. A [`McpServer`] keeps a connection,
//! which the tools of a library share.

mod address;
mod child_server;
mod client_slot;
mod connection;
mod event_stream;
mod exchange;
mod failure_log;
mod handshake;
mod http_error;
mod http_wire;
mod inbox;
mod link;
mod mcp_server;
mod mcp_tool;
mod oauth;
mod server_tools;
mod session_servers;
mod sign_in;
mod signed_client;
mod token_error;
mod tool_pages;
mod whole_server;
mod wire;

use std::sync::Arc;
use std::time::Duration;

use gramc_tools::ProgramEnvironment;
use tokio::time::Instant;

use self::address::ServerAddress;
pub use self::address::UrlOptions;
use self::connection::Connection;
pub use self::connection::UpstreamError;
pub use self::mcp_server::McpServer;
pub use self::mcp_tool::McpTool;
pub use self::oauth::OAuthGrant;
pub use self::server_tools::{ServerTools, load_options};
pub use self::session_servers::{
    LibraryServer, attach_client, library_servers, session_servers, with_servers,
};
pub use self::sign_in::{PendingSignIn, SignInError, SignInOptions, SignIns};
pub use self::signed_client::{KeyError, SigningKey};
pub use self::token_error::TokenError;
pub use self::tool_pages::ListedTools;

/// Why the tools of an MCP server cannot be listed.
#[allow(missing_docs, reason = "each variant has its message")]
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum McpError {
    #[error("the command of the MCP server is empty")]
    EmptyCommand,
    #[error(
        "cannot reach the MCP server: its address must be a whole URL, such as \
         https://example.com/mcp"
    )]
    InvalidAddress,
    #[error("cannot get the tools of the MCP server {server}: {reason}")]
    NoTools {
        /// The program in backticks, or the address.
        server: String,
        reason: String,
    },
}

/// Starts the MCP server that `words` name, a program and its arguments, with `environment`, asks
/// it over its standard input and output for its tools, and ends it, whatever happens.
///
/// Gives the tools of all pages, each exactly as the server sent it. Fails when
/// the server cannot be started, ends too early, says something that is not the protocol, answers
/// with an error, or takes longer than `limit`; or when `stop` gives a reason to break off.
pub async fn tools_of_command(
    words: &[String],
    environment: ProgramEnvironment,
    limit: Duration,
    stop: impl Future<Output = String>,
) -> Result<ListedTools, McpError> {
    if words.is_empty() {
        return Err(McpError::EmptyCommand);
    }
    tools_of(&ServerAddress::command(words, environment), limit, stop).await
}

/// Asks the MCP server at `url` for its tools, over streamable HTTP.
///
/// Gives and fails as [`tools_of_command`] does.
pub async fn tools_of_url(
    url: &str,
    options: UrlOptions,
    limit: Duration,
    stop: impl Future<Output = String>,
) -> Result<ListedTools, McpError> {
    let address = ServerAddress::url(url, options).ok_or(McpError::InvalidAddress)?;
    tools_of(&address, limit, stop).await
}

async fn tools_of(
    address: &ServerAddress,
    limit: Duration,
    stop: impl Future<Output = String>,
) -> Result<ListedTools, McpError> {
    let end = Instant::now() + limit;
    let mut connection = None;
    let work = async {
        let opened = Connection::open(address, limit, &Arc::default()).await;
        let opened = opened.map_err(|error| error.reason)?;
        connection.insert(opened).list(end, limit).await.map_err(|fault| fault.detail)
    };
    let outcome = tokio::select! {
        biased;
        reason = stop => Err(reason),
        outcome = work => outcome,
    };
    if let Some(connection) = connection {
        connection.close().await;
    }
    match outcome {
        Ok(list) => Ok(list),
        Err(reason) => Err(McpError::NoTools { server: address.to_string(), reason }),
    }
}

#[cfg(test)]
mod real_servers;
#[cfg(test)]
mod tests;
