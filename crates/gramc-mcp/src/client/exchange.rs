//! Requests to a server, and their answers.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::{Map, Value, json};
use tokio::sync::oneshot;
use tokio::time::timeout;
use tokio_util::task::{AbortOnDropHandle, TaskTracker};

use super::client_slot::ClientSlot;
use super::handshake::{client_info, modern_meta};
use super::inbox::{Inbox, Outcome, PendingRequest, RequestFault, RequestOptions};
use super::wire::{NotSent, Wire};
use crate::message::Message;
use crate::param_headers::standard_headers;

/// The time limit for sending a cancellation and for closing.
pub(super) const GOODBYE: Duration = Duration::from_secs(2);

/// Makes requests over one connection.
#[derive(Clone)]
pub(super) struct Exchange {
    pub(super) wire: Wire,
    pub(super) inbox: Arc<Inbox>,
    pub(super) client: Arc<ClientSlot>,
    /// Set when an answer did not come in time. The server may be stuck.
    pub(super) is_doubtful: Arc<AtomicBool>,
    /// Cancellations on their way to the server.
    pub(super) goodbyes: TaskTracker,
}

/// A request that is not answered yet. The server is told if it is dropped before.
pub(super) struct OpenRequest {
    exchange: Exchange,
    request: Arc<PendingRequest>,
    answer: oneshot::Receiver<Outcome>,
    _work: Option<AbortOnDropHandle<()>>,
}

impl Exchange {
    pub(super) fn new(wire: Wire, inbox: Arc<Inbox>, client: &Arc<ClientSlot>) -> Self {
        let (is_doubtful, goodbyes) = (Arc::default(), TaskTracker::new());
        Self { wire, inbox, client: Arc::clone(client), is_doubtful, goodbyes }
    }

    /// The name of the client, which its server learns.
    pub(super) fn client_info(&self) -> Value {
        self.client.get().and_then(|client| client.info()).unwrap_or_else(client_info)
    }

    /// The metadata of a request from revision 2026-07-28 on that belongs to no request of a client.
    pub(super) fn own_meta(&self) -> Map<String, Value> {
        modern_meta(self.client_info(), self.client.capabilities())
    }

    /// Sends a request, with metadata besides that of its parameters.
    pub(super) fn open(
        &self,
        method: &str,
        mut params: Option<Value>,
        mut meta: Map<String, Value>,
        mut options: RequestOptions,
    ) -> OpenRequest {
        if matches!(self.wire, Wire::Http(_)) {
            options.headers.extend(standard_headers(method, params.as_ref()));
        }
        let is_call = options.max_answer.is_some();
        let (request, answer) = self.inbox.add(options);
        if is_call {
            meta.insert("progressToken".to_owned(), request.id.into());
        }
        if !meta.is_empty()
            && let Value::Object(params) = params.get_or_insert_with(|| json!({}))
            && let Value::Object(own) = params.entry("_meta").or_insert_with(|| json!({}))
        {
            own.extend(meta);
        }
        let message = Message::Request { id: request.id.into(), method: method.to_owned(), params };
        let work = self.wire.request(&request, message.into_text(), &self.inbox);
        OpenRequest { exchange: self.clone(), request, answer, _work: work }
    }

    /// Makes a request. If the future is dropped, the request is cancelled on the server.
    pub(super) async fn request(
        &self,
        method: &str,
        params: Option<Value>,
        meta: Map<String, Value>,
        options: RequestOptions,
    ) -> Outcome {
        self.open(method, params, meta, options).answer().await
    }

    /// Sends a notification.
    pub(super) async fn notify(&self, method: &str, params: Option<Value>) -> Result<(), NotSent> {
        let message = Message::Notification { method: method.to_owned(), params };
        self.wire.send(message, None, &self.inbox).await
    }
}

impl OpenRequest {
    /// Waits for the answer.
    pub(super) async fn answer(mut self) -> Outcome {
        (&mut self.answer).await.unwrap_or(Err(RequestFault::Closed))
    }

    /// Waits until the server acknowledges that it will report changes.
    pub(super) async fn wait_for_acknowledgement(&mut self) -> Result<(), RequestFault> {
        tokio::select! {
            biased;
            () = self.request.acknowledged.cancelled() => Ok(()),
            outcome = &mut self.answer => Err(outcome.ok().and_then(Result::err).unwrap_or(RequestFault::Closed)),
        }
    }
}

impl Drop for OpenRequest {
    fn drop(&mut self) {
        self.exchange.inbox.remove(&self.request);
        if self.request.is_settled() {
            return;
        }
        self.exchange.is_doubtful.store(true, Ordering::Release);
        if !self.exchange.wire.needs_cancellation() {
            return;
        }
        // Without a runtime there is no connection either.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            let reason = "the caller no longer waits for the response";
            let params = json!({"requestId": self.request.id, "reason": reason});
            let method = "notifications/cancelled".to_owned();
            let message = Message::Notification { method, params: Some(params) };
            let wire = self.exchange.wire.clone();
            let goodbye = async move {
                let _ = timeout(GOODBYE, wire.mention(message)).await;
            };
            self.exchange.goodbyes.spawn_on(goodbye, &runtime);
        }
    }
}
