//! Traces of calls across processes.

use gramc_tools::FinishedCall;
use serde_json::{Map, Value};

/// A call of a client that starts.
#[derive(Debug, Clone, Copy)]
pub struct StartedCall<'c> {
    /// The id of the request.
    pub id: &'c str,
    /// The name of the tool for clients. `None` if there is no such tool.
    pub tool: Option<&'c str>,
    /// The revision of the protocol.
    pub revision: &'c str,
    /// The id of the HTTP session.
    pub session: Option<&'c str>,
    /// Whether the client is connected over HTTP.
    pub is_http: bool,
}

/// Why the response to a call is not a success.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallFailure {
    /// The result is marked as an error.
    Tool,
    /// The MCP server behind the library returned an error with this code.
    Rpc(i32),
    /// The client cancelled the call, so there is no response.
    Cancelled,
}

/// Starts the span of a call. It may change the metadata of the request before MCP servers get it, so
/// that their spans belong to this one.
pub type CallTracer =
    dyn Fn(&StartedCall<'_>, &mut Map<String, Value>) -> Box<CallSpan> + Send + Sync;

/// Ends the span of a call.
pub type CallSpan = dyn FnOnce(&FinishedCall<'_>, Option<CallFailure>) + Send;
