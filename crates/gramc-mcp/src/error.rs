//! Why a server cannot serve.

/// An error of the server.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub enum ServeError {
    /// A tool cannot be represented in MCP.
    Tool(String),
    /// The MCP server whose tools are served cannot be used.
    Upstream(String),
    /// The client does not speak MCP.
    Client(String),
    /// The server cannot listen at the address.
    Address(String),
    /// The address is not a loopback address, and there is no token.
    NoToken(String),
}
