//! What distinguishes the revisions of the protocol.

use axum::http::request::Parts;
use rmcp::model::{Extensions, ProtocolVersion};
use rmcp::service::{RequestContext, RoleServer};

/// The beginning of the methods of requests that rmcp should not parse.
pub(crate) const UNTYPED: &str = "gramc/";
/// The header with the id of an HTTP session.
pub(crate) const SESSION_HEADER: &str = "mcp-session-id";

/// Whether a request belongs to no session.
pub(crate) fn is_sessionless(extensions: &Extensions) -> bool {
    let parts = extensions.get::<Parts>();
    parts.is_some_and(|parts| !parts.headers.contains_key(SESSION_HEADER))
}

/// Whether a request uses revision 2026-07-28 or later, in which clients subscribe to notifications.
pub(crate) fn is_modern(context: &RequestContext<RoleServer>) -> bool {
    context.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2026_07_28)
}
