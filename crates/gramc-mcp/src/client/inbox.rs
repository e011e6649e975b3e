//! What a server sends, and the requests that wait for it.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use gramc_tools::RpcError;
use gramc_tools::invocation::{InvocationError, InvocationErrorKind, RequestOrigin};
use gramc_tools::masks::SecretMasks;
use parking_lot::Mutex;
use reqwest::header::{HeaderName, HeaderValue};
use serde_json::{Value, json};
use tokio::sync::{oneshot, watch};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::client_slot::{ClientSlot, PROGRESS};
use super::failure_log::FailureLog;
use super::wire::Wire;
use crate::lines::MAX_MESSAGE_BYTES;
use crate::message::{Envelope, Message, own_id};

/// The space for the parts of a message other than the answer, in bytes.
const ENVELOPE_BYTES: usize = 1 << 20;
/// How much longer an answer may be in a message: as JSON in a string, and once more as data.
const ANSWER_FACTOR: usize = 4;
/// The most requests of the server that may wait for their answers to reach it.
const MAX_REQUESTS: usize = 64;
/// The time limit for a server that sends requests to read the answers.
const DEAF_LIMIT: Duration = Duration::from_secs(3);

/// How a request is made.
#[derive(Debug, Clone, Default)]
pub(super) struct RequestOptions {
    /// The maximum size of the answer in bytes. `None` for answers that are no results of calls,
    /// such as lists of tools.
    pub(super) max_answer: Option<usize>,
    /// The request of the client that it belongs to.
    pub(super) origin: RequestOrigin,
    /// The headers that it has over HTTP.
    pub(super) headers: Vec<(HeaderName, HeaderValue)>,
}

/// Why a request has no result.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum RequestFault {
    /// The server answered with an error.
    Answered(RpcError),
    /// The description is a phrase that follows the name of the server.
    Failed(InvocationError),
    /// The connection ended.
    Closed,
    /// The server does not know the session any more, and has not run the request.
    LostSession,
}

pub(super) type Outcome = Result<Value, RequestFault>;

/// A request that is not answered yet.
#[derive(Debug)]
pub(super) struct PendingRequest {
    pub(super) id: u64,
    pub(super) options: RequestOptions,
    outcome: Mutex<Option<oneshot::Sender<Outcome>>>,
    /// Cancelled when the server acknowledges that it will report changes.
    pub(super) acknowledged: CancellationToken,
}

impl PendingRequest {
    /// The maximum size of the message that answers it, in bytes.
    pub(super) fn max_message(&self) -> usize {
        let limit = |most: usize| most.saturating_mul(ANSWER_FACTOR).saturating_add(ENVELOPE_BYTES);
        self.options.max_answer.map_or(MAX_MESSAGE_BYTES, limit)
    }

    /// Whether it has an outcome.
    pub(super) fn is_settled(&self) -> bool {
        self.outcome.lock().is_none()
    }

    /// Sets the outcome. The first one stays.
    fn settle(&self, outcome: Outcome) {
        if let Some(sender) = self.outcome.lock().take() {
            // The caller may have stopped waiting.
            let _ = sender.send(outcome);
        }
    }

    /// Fails the request, unless it has an outcome.
    pub(super) fn fail(&self, kind: InvocationErrorKind, why: impl Into<String>) {
        self.settle(Err(RequestFault::Failed(InvocationError::new(kind, why))));
    }

    /// The server answered with an error.
    pub(super) fn reject(&self, error: RpcError) {
        self.settle(Err(RequestFault::Answered(error)));
    }

    /// The connection ended without an answer.
    pub(super) fn close(&self) {
        self.settle(Err(RequestFault::Closed));
    }

    /// The answer is longer than allowed. Returns whether that concerns only this request.
    pub(super) fn reject_long_answer(&self) -> bool {
        let Some(most) = self.options.max_answer else { return false };
        let why = format!("its answer has more than {most} bytes");
        self.fail(InvocationErrorKind::TooLarge, why);
        true
    }
}

/// What a connection received, and what waits for it.
pub(super) struct Inbox {
    pub(super) failures: FailureLog,
    client: Arc<ClientSlot>,
    /// Masks what the server was given in what it says.
    pub(super) masks: Arc<SecretMasks>,
    /// Set when the server says that it has other tools now.
    pub(super) other_tools: AtomicBool,
    last_id: AtomicU64,
    pending: Mutex<HashMap<u64, Arc<PendingRequest>>>,
    /// The requests of the server that are not answered yet, by their ids.
    asked: Mutex<HashMap<String, CancellationToken>>,
    /// How many requests of the server wait for their answers to reach it.
    unanswered: watch::Sender<usize>,
    /// Cancelled when nothing arrives any more.
    closed: CancellationToken,
    /// Set when the server does not know the session any more.
    lost_session: AtomicBool,
}

impl Inbox {
    /// An empty inbox. `place` is the location of the messages, such as `On its standard output`.
    pub(super) fn new(
        place: &'static str,
        client: &Arc<ClientSlot>,
        masks: &Arc<SecretMasks>,
    ) -> Self {
        Self {
            failures: FailureLog::new(place),
            client: Arc::clone(client),
            masks: Arc::clone(masks),
            other_tools: AtomicBool::new(false),
            last_id: AtomicU64::new(0),
            pending: Mutex::default(),
            asked: Mutex::default(),
            unanswered: watch::Sender::new(0),
            closed: CancellationToken::new(),
            lost_session: AtomicBool::new(false),
        }
    }

    /// Adds a request, with the receiver of its outcome.
    pub(super) fn add(
        &self,
        options: RequestOptions,
    ) -> (Arc<PendingRequest>, oneshot::Receiver<Outcome>) {
        let (sender, receiver) = oneshot::channel();
        let request = Arc::new(PendingRequest {
            id: self.last_id.fetch_add(1, Ordering::Relaxed),
            options,
            outcome: Mutex::new(Some(sender)),
            acknowledged: CancellationToken::new(),
        });
        self.pending.lock().insert(request.id, Arc::clone(&request));
        if self.is_closed() {
            request.close();
        }
        (request, receiver)
    }

    /// Waits no more for the answer to a request.
    pub(super) fn remove(&self, request: &PendingRequest) {
        self.pending.lock().remove(&request.id);
    }

    pub(super) fn find(&self, id: u64) -> Option<Arc<PendingRequest>> {
        self.pending.lock().get(&id).cloned()
    }

    /// Whether a call is pending.
    pub(super) fn awaits_call(&self) -> bool {
        self.pending.lock().values().any(|request| request.options.max_answer.is_some())
    }

    /// The maximum size of a message now: what the pending requests need.
    pub(super) fn max_message(&self) -> usize {
        let pending = self.pending.lock();
        let sizes = pending.values().map(|request| request.max_message());
        sizes.max().unwrap_or(MAX_MESSAGE_BYTES)
    }

    /// Nothing arrives any more.
    pub(super) fn close(&self) {
        self.closed.cancel();
        for request in std::mem::take(&mut *self.pending.lock()).into_values() {
            request.close();
        }
    }

    /// Ends the work, with a reason as a phrase that follows the name of the server.
    pub(super) fn end(&self, kind: InvocationErrorKind, why: impl Into<String>) {
        self.failures.set_reason(kind, why);
        self.close();
    }

    /// Ends the work, because a message is longer than allowed.
    pub(super) fn reject_long_message(&self) {
        let limit = MAX_MESSAGE_BYTES >> 20;
        let why = format!("a message of it is longer than {limit} megabytes");
        self.end(InvocationErrorKind::TooLarge, why);
    }

    pub(super) fn is_closed(&self) -> bool {
        self.closed.is_cancelled()
    }

    /// Cancelled when nothing arrives any more.
    pub(super) fn closing_token(&self) -> CancellationToken {
        self.closed.clone()
    }

    /// Runs work until nothing arrives any more.
    pub(super) async fn until_closed<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        self.closed.run_until_cancelled(work).await
    }

    /// The server does not know the session any more.
    pub(super) fn lose_session(&self, request: &PendingRequest) {
        self.lost_session.store(true, Ordering::Release);
        request.settle(Err(RequestFault::LostSession));
    }

    /// Whether nothing can be asked any more.
    pub(super) fn is_over(&self) -> bool {
        self.is_closed() || self.lost_session.load(Ordering::Acquire)
    }

    /// Handles a message of the server. `within` is the request with whose response it came, if that
    /// is known.
    pub(super) async fn receive(
        self: &Arc<Self>,
        text: &str,
        within: Option<&Arc<PendingRequest>>,
        wire: &Wire,
    ) {
        match Message::parse(text) {
            Ok(Message::Response { id, outcome }) => match self.request_of(&id, within) {
                Some(request) => request.settle(outcome.map_err(RequestFault::Answered)),
                None if id.is_null() => self.failures.record_invalid(text),
                // Nobody waits for it any more.
                None => {}
            },
            Ok(Message::Notification { method, params }) => {
                self.receive_notification(method, params, within).await;
            }
            Ok(Message::Request { id, method, params }) => {
                self.answer(id, method, params, wire).await;
            }
            Err(error) => self.receive_invalid(text, &error, within),
        }
    }

    /// The request that a message answers. One without an id answers the request that it came with,
    /// or else the only one.
    fn request_of(
        &self,
        id: &Value,
        within: Option<&Arc<PendingRequest>>,
    ) -> Option<Arc<PendingRequest>> {
        if let Some(id) = own_id(id) {
            return self.find(id);
        }
        within.cloned().or_else(|| {
            let pending = self.pending.lock();
            let mut requests = pending.values();
            requests.next().filter(|_| id.is_null() && pending.len() == 1).cloned()
        })
    }

    async fn receive_notification(
        &self,
        method: String,
        params: Option<Value>,
        within: Option<&Arc<PendingRequest>>,
    ) {
        let param = |key: &str| params.as_ref().and_then(|params| params.get(key));
        match method.as_str() {
            "notifications/cancelled" => {
                let asked =
                    param("requestId").and_then(|id| self.asked.lock().remove(&id.to_string()));
                if let Some(asked) = asked {
                    asked.cancel();
                }
            }
            "notifications/subscriptions/acknowledged" => {
                let id = param("_meta").and_then(|meta| own_id(&meta[SUBSCRIPTION_ID]));
                if let Some(request) = id.and_then(|id| self.find(id)) {
                    request.acknowledged.cancel();
                }
            }
            _ => {
                if method == "notifications/tools/list_changed" {
                    self.other_tools.store(true, Ordering::Release);
                }
                let origin = match param("progressToken") {
                    None => within.cloned(),
                    Some(token) => own_id(token).and_then(|id| self.find(id)),
                };
                let origin = origin.as_ref().map(|request| &request.options.origin);
                if let Some(origin) = origin.filter(|_| method == PROGRESS) {
                    origin.renew_time_limit();
                }
                self.client.pass_notification(method, params, &self.masks, origin).await;
            }
        }
    }

    /// Answers a request of the server, in a task. Of a server that asks and does not read the
    /// answers, requests wait, since each answer takes memory; at last they end the work.
    async fn answer(
        self: &Arc<Self>,
        id: Value,
        method: String,
        params: Option<Value>,
        wire: &Wire,
    ) {
        let mut waiting = self.unanswered.subscribe();
        let fewer = waiting.wait_for(|requests| *requests < MAX_REQUESTS);
        if timeout(DEAF_LIMIT, fewer).await.is_err() {
            let why = "it sends one request after the other, and takes no answers to them";
            return self.end(InvocationErrorKind::Garbled, why);
        }
        self.unanswered.send_modify(|requests| *requests += 1);
        let reply = PendingReply(Arc::clone(self));
        let cancelled = self.closed.child_token();
        let key = id.to_string();
        self.asked.lock().insert(key.clone(), cancelled.clone());
        let (inbox, wire) = (Arc::clone(self), wire.clone());
        tokio::spawn(async move {
            let work = async {
                match method.as_str() {
                    "ping" => Ok(json!({})),
                    method => inbox.client.answer(method, params, &inbox.masks).await,
                }
            };
            let outcome = tokio::select! {
                biased;
                () = cancelled.cancelled() => None,
                outcome = work => Some(outcome),
            };
            inbox.asked.lock().remove(&key);
            if let Some(outcome) = outcome {
                let answer = Message::Response { id, outcome };
                // Where it cannot be sent, the inbox is closed.
                let _ = wire.send(answer, Some(reply), &inbox).await;
            }
        });
    }

    /// Fails the request that an invalid message answers; others would wait for it in vain.
    fn receive_invalid(
        &self,
        text: &str,
        error: &serde_json::Error,
        within: Option<&Arc<PendingRequest>>,
    ) {
        let why = format!("its response is invalid: {error}");
        let envelope = serde_json::from_str::<Envelope>(text);
        let is_answer = match &envelope {
            Ok(envelope) => envelope.is_answer(),
            Err(_) => text.contains("\"jsonrpc\""),
        };
        let answered = envelope.ok().and_then(|it| it.id()).and_then(|id| self.find(id));
        match answered.or_else(|| within.cloned()) {
            Some(request) => request.fail(InvocationErrorKind::Garbled, why),
            None if is_answer => self.end(InvocationErrorKind::Garbled, why),
            None => self.failures.record_invalid(text),
        }
    }
}

/// Closes an inbox when it is dropped: with the connection, or with the task that reads messages.
pub(super) struct InboxGuard(pub(super) Arc<Inbox>);

impl Drop for InboxGuard {
    fn drop(&mut self) {
        self.0.close();
    }
}

/// An answer to a request of the server. When this is dropped, the answer has reached it.
pub(super) struct PendingReply(Arc<Inbox>);

impl Drop for PendingReply {
    fn drop(&mut self) {
        self.0.unanswered.send_modify(|requests| *requests = requests.saturating_sub(1));
    }
}

/// The key of the metadata of a notification with the request that subscribed to it.
const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";
