//! What distinguishes the revisions of the protocol.

use axum::http::request::Parts;
use gramc_tools::RpcError;
use gramc_tools::sanitize::sanitize_line;
use rmcp::ErrorData;
use rmcp::model::{ErrorCode, Extensions, ProtocolVersion};
use rmcp::service::{RequestContext, RoleServer};

/// The beginning of the methods of requests that rmcp should not parse.
pub(crate) const UNTYPED: &str = "gramc/";
/// The first revision without sessions and handshakes.
pub(crate) const MODERN: &str = "2026-07-28";
/// The last revision with a handshake.
pub(crate) const LAST_LEGACY: &str = "2025-11-25";

pub(crate) const METHOD_NOT_FOUND: i32 = ErrorCode::METHOD_NOT_FOUND.0;
pub(crate) const INVALID_PARAMS: i32 = ErrorCode::INVALID_PARAMS.0;
/// The requests that rmcp answers, or that it has to parse before we do.
const TYPED: [&str; 8] = [
    "initialize",
    "ping",
    "server/discover",
    "subscriptions/listen",
    "tasks/get",
    "tasks/update",
    "tasks/cancel",
    "tools/call",
];

/// Whether rmcp should not parse the parameters and the result of a request, because it would drop
/// unknown keys.
pub(crate) fn is_untyped(method: &str) -> bool {
    !TYPED.contains(&method)
}

/// The header with the id of an HTTP session.
pub(crate) const SESSION_HEADER: &str = "mcp-session-id";

/// An error of rmcp as one of the library.
pub(crate) fn to_rpc_error(error: ErrorData) -> RpcError {
    RpcError { code: error.code.0, message: error.message.into_owned(), data: error.data }
}

/// An error of the library as one of rmcp.
pub(crate) fn to_error_data(error: RpcError) -> ErrorData {
    ErrorData::new(ErrorCode(error.code), error.message, error.data)
}

/// Whether a request belongs to no session.
pub(crate) fn is_sessionless(extensions: &Extensions) -> bool {
    let parts = extensions.get::<Parts>();
    parts.is_some_and(|parts| !parts.headers.contains_key(SESSION_HEADER))
}

/// Whether a request itself names revision 2026-07-28 or a later one. `initialize` does not: its
/// parameters name a revision that is not negotiated yet.
pub(crate) fn names_modern_revision(context: &RequestContext<RoleServer>) -> bool {
    context.meta.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2026_07_28)
}

/// Whether a request uses revision 2026-07-28 or later, in which clients subscribe to notifications.
pub(crate) fn is_modern(context: &RequestContext<RoleServer>) -> bool {
    context.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2026_07_28)
}

/// That a peer has no such method.
pub(crate) fn not_found(method: &str) -> RpcError {
    RpcError::new(METHOD_NOT_FOUND, format!("Method not found: {}", sanitize_line(method)))
}
