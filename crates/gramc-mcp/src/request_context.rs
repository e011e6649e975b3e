//! A request of a client, as its answer needs it.

use std::sync::Arc;

use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use crate::outbox::Outbox;
use crate::peer::Peer;
use crate::protocol::ClientIntroduction;

/// A request of a client, as its answer needs it.
#[derive(Clone)]
pub(crate) struct RequestContext {
    pub(crate) id: Value,
    pub(crate) meta: Map<String, Value>,
    pub(crate) introduction: Arc<ClientIntroduction>,
    /// Whether all clients without sessions share the conversation.
    pub(crate) is_sessionless: bool,
    /// The id of the HTTP session.
    pub(crate) session: Option<Arc<str>>,
    /// The client, if it began with `initialize`.
    pub(crate) peer: Option<Arc<Peer>>,
    /// Where messages go that belong to the request.
    pub(crate) outbox: Outbox,
    pub(crate) cancelled: CancellationToken,
    /// Cancelled when the client says nothing any more.
    pub(crate) over: CancellationToken,
}

impl RequestContext {
    pub(crate) fn is_modern(&self) -> bool {
        self.introduction.is_modern()
    }

    pub(crate) fn is_http(&self) -> bool {
        matches!(self.outbox, Outbox::Events(_))
    }

    pub(crate) fn progress_token(&self) -> Option<Value> {
        self.meta
            .get("progressToken")
            .filter(|token| token.is_string() || token.is_number())
            .cloned()
    }
}
