//! Servers of the Model Context Protocol.
//!
//! The crate `rmcp` implements the protocol. Its tool types drop unknown keys, so the result of
//! `tools/list` passes through it as text (`wire`) and is parsed here, which preserves unknown
//! keys, the order of keys and the digits of numbers (`serde_json` only adds the sign of an
//! exponent: `1e5` becomes `1e+5`). Responses to calls are stored separately (`pending_calls`).
//!
//! [`tools_of_command`] and [`tools_of_url`] ask a server once. A [`McpServer`] keeps a connection,
//! which the tools of a library share.

mod child_server;
mod connection;
mod failure_log;
mod http_transport;
mod lines;
mod pending_calls;
mod requests;
mod server;
mod wire;

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use self::child_server::ChildServer;
use self::failure_log::FailureLog;
use self::requests::RequestFailure;
pub use self::server::McpServer;
use crate::http_client;
use crate::process::start_error;
use crate::sanitize::sanitize_line;

/// Why the tools of an MCP server cannot be listed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum McpError {
    /// The command that starts the server has no program.
    #[error("the command of the MCP server is empty")]
    EmptyCommand,
    /// The server's address is not a URL with a host.
    #[error("{NO_ADDRESS}")]
    InvalidAddress,
    /// The server could not be started or reached, or gave no list of tools.
    #[error("cannot get the tools of the MCP server {server}: {reason}")]
    NoTools {
        /// The program in backticks, or the address.
        server: String,
        /// The failure, with the server's own output.
        reason: String,
    },
}

/// Starts the MCP server that `words` name, a program and its arguments, asks it over its standard
/// input and output for its tools, and ends it, whatever happens.
///
/// Gives `{"tools":[…]}` with the tools of all pages, each exactly as the server sent it. Fails when
/// the server cannot be started, ends too early, says something that is not the protocol, answers
/// with an error, or takes longer than `limit`; or when `stop` gives a reason to break off.
pub async fn tools_of_command(
    words: &[String],
    limit: Duration,
    stop: impl Future<Output = String>,
) -> Result<Value, McpError> {
    let Some((program, arguments)) = words.split_first() else {
        return Err(McpError::EmptyCommand);
    };
    // The arguments may hold a password, and stay out of messages.
    let failed = |why: &str, details: &str| McpError::NoTools {
        server: format!("`{}`", sanitize_line(program)),
        reason: format!("{why}{details}"),
    };
    let failures = Arc::new(FailureLog::new(ON_OUTPUT));
    let (mut server, pipes) = ChildServer::start(program, arguments, None, &failures)
        .map_err(|error| failed(&start_error(&error), ""))?;
    let outcome = requests::tools(pipes, limit, stop, &failures).await;
    let ended = server.end().await;
    outcome.map_err(|broken| {
        let why = failures.reason().map_or_else(
            || match broken {
                RequestFailure::Reason(why) => why,
                RequestFailure::Closed(request) => match ended {
                    Some(status) => format!("it ended before it answered `{request}` ({status})"),
                    None => format!("it hung up before it answered `{request}`"),
                },
            },
            |fault| fault.why,
        );
        failed(&why, &failures.details())
    })
}

/// Asks the MCP server at `url` for its tools, over streamable HTTP.
///
/// Gives and fails as [`tools_of_command`] does.
pub async fn tools_of_url(
    url: &str,
    limit: Duration,
    stop: impl Future<Output = String>,
) -> Result<Value, McpError> {
    let address = http_client::address(url).ok_or(McpError::InvalidAddress)?;
    let failed = |why: &str| McpError::NoTools {
        server: format!("at {}", http_client::without_secrets(&address)),
        reason: why.to_owned(),
    };
    let failures = Arc::new(FailureLog::new(IN_ANSWERS));
    let transport = http_transport::transport(&address, &failures).map_err(|why| failed(&why))?;
    requests::tools(transport, limit, stop, &failures).await.map_err(|broken| {
        let why = failures.reason().map_or_else(
            || match broken {
                RequestFailure::Reason(why) => why,
                RequestFailure::Closed(request) => {
                    format!("it hung up before it answered `{request}`")
                }
            },
            |fault| fault.why,
        );
        failed(&(why + &failures.details()))
    })
}

/// The place of a child process's messages.
const ON_OUTPUT: &str = "On its standard output";
/// The place of an HTTP server's messages.
const IN_ANSWERS: &str = "In its answers";
const NO_ADDRESS: &str = "cannot reach the MCP server: its address must be a whole URL, \
                          such as https://example.com/mcp";

#[cfg(test)]
mod real_servers;
#[cfg(test)]
mod tests;
