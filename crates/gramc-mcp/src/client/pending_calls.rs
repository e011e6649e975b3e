//! Calls that wait for their responses.
//!
//! Responses do not pass through `rmcp`, which would drop unknown keys and copy the text several
//! times. The text of a response is stored here, and `rmcp` gets an empty response that wakes the
//! caller. Errors of one response are stored here as well, so that the connection can serve other
//! calls.

use std::collections::HashMap;
use std::sync::{Arc, Weak};

use gramc_tools::invocation::{InvocationError, InvocationErrorKind, RequestOrigin};
use parking_lot::Mutex;
use reqwest::header::{HeaderName, HeaderValue};
use rmcp::model::{
    ClientJsonRpcMessage, EmptyResult, GetExtensions as _, GetMeta as _, JsonRpcMessage, RequestId,
    ServerJsonRpcMessage, ServerResult,
};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

/// The room for the parts of a message other than the answer, in bytes.
const ENVELOPE_ROOM: usize = 1 << 20;
/// How much longer an answer may be in a message: as JSON in a string, and once more as data.
const ROOM_FACTOR: usize = 4;

/// A pending call. It travels with its request, so that the transport knows it.
#[derive(Clone)]
pub(super) struct PendingCall(Arc<PendingCallState>);

struct PendingCallState {
    max_answer: usize,
    origin: RequestOrigin,
    /// The headers that its request has over HTTP.
    headers: Vec<(HeaderName, HeaderValue)>,
    /// The message that answers it. The description of an error is a phrase that follows the
    /// server's name.
    outcome: Mutex<Option<Result<String, InvocationError>>>,
}

impl PendingCall {
    pub(super) fn new(max_answer: usize, origin: RequestOrigin) -> Self {
        Self::with_headers(max_answer, origin, Vec::new())
    }

    pub(super) fn with_headers(
        max_answer: usize,
        origin: RequestOrigin,
        headers: Vec<(HeaderName, HeaderValue)>,
    ) -> Self {
        let outcome = Mutex::default();
        Self(Arc::new(PendingCallState { max_answer, origin, headers, outcome }))
    }

    /// The most bytes of an answer.
    pub(super) fn max_answer(&self) -> usize {
        self.0.max_answer
    }

    /// The headers that its request has over HTTP.
    pub(super) fn headers(&self) -> &[(HeaderName, HeaderValue)] {
        &self.0.headers
    }

    /// The request of the client that makes the call.
    pub(super) fn origin(&self) -> &RequestOrigin {
        &self.0.origin
    }

    /// The call that a message makes, with its id.
    pub(super) fn of(message: &ClientJsonRpcMessage) -> Option<(&RequestId, &Self)> {
        let JsonRpcMessage::Request(request) = message else {
            return None;
        };
        Some((&request.id, request.request.extensions().get()?))
    }

    /// The most bytes of a message that answers it.
    pub(super) fn room(&self) -> usize {
        self.0.max_answer.saturating_mul(ROOM_FACTOR).saturating_add(ENVELOPE_ROOM)
    }

    /// The answer as the server sent it, or the failure. `None` while the call is pending.
    pub(super) fn take(&self) -> Option<Result<String, InvocationError>> {
        self.0.outcome.lock().take()
    }

    /// Whether the call has an answer or a failure.
    pub(super) fn is_settled(&self) -> bool {
        self.0.outcome.lock().is_some()
    }

    /// Fails the call, unless it has an outcome already.
    pub(super) fn fail(&self, kind: InvocationErrorKind, why: impl Into<String>) {
        self.settle(Err(InvocationError::new(kind, why)));
    }

    /// The answer is longer than allowed.
    pub(super) fn too_large(&self) {
        let why = format!("its answer has more than {} bytes", self.0.max_answer);
        self.fail(InvocationErrorKind::TooLarge, why);
    }

    fn settle(&self, outcome: Result<String, InvocationError>) {
        self.0.outcome.lock().get_or_insert(outcome);
    }
}

/// The calls that wait for answers, by the ids of their requests, with our progress tokens.
#[derive(Default)]
pub(super) struct PendingCalls(Mutex<HashMap<RequestId, WaitingCall>>);

#[derive(Clone)]
struct WaitingCall {
    state: Weak<PendingCallState>,
    own_token: Option<Value>,
}

impl PendingCalls {
    /// Waits for the answer to the call that a message makes, if it makes one.
    pub(super) fn expect(&self, message: &ClientJsonRpcMessage) {
        if let Some((id, call)) = PendingCall::of(message) {
            let mut waiting = self.0.lock();
            // Abandoned calls are dropped.
            waiting.retain(|_, call| call.state.strong_count() > 0);
            let own_token = own_token(message);
            waiting.insert(id.clone(), WaitingCall { state: Arc::downgrade(&call.0), own_token });
        }
    }

    /// The request of the client whose call has a progress token of ours.
    pub(super) fn origin(&self, own_token: &Value) -> Option<RequestOrigin> {
        let waiting = self.0.lock();
        let call = waiting.values().find(|call| call.own_token.as_ref() == Some(own_token))?;
        Some(call.state.upgrade()?.origin.clone())
    }

    /// The most bytes of a message that answers one of them; nothing where there is none.
    pub(super) fn room(&self) -> Option<usize> {
        let waiting = self.0.lock();
        let states = waiting.values().filter_map(|call| call.state.upgrade());
        states.map(|state| PendingCall(state).room()).max()
    }

    pub(super) fn find(&self, id: &RequestId) -> Option<PendingCall> {
        self.0.lock().get(id).and_then(|call| call.state.upgrade()).map(PendingCall)
    }

    /// Stores the text of a message if it answers a call, and returns the message that replaces it.
    pub(super) fn settle(&self, message: &str) -> Option<ServerJsonRpcMessage> {
        if self.0.lock().is_empty() {
            return None;
        }
        let envelope: Envelope = serde_json::from_str(message).ok()?;
        envelope.result.as_ref()?;
        let id = envelope.id()?;
        let call = self.find(&id)?;
        call.settle(Ok(message.to_owned()));
        self.0.lock().remove(&id);
        Some(stub(id))
    }
}

/// The progress token of a request to the server.
fn own_token(message: &ClientJsonRpcMessage) -> Option<Value> {
    let JsonRpcMessage::Request(request) = message else { return None };
    let token = request.request.get_meta().get_progress_token()?;
    serde_json::to_value(token).ok()
}

/// An empty response that wakes the waiting request.
pub(super) fn stub(id: RequestId) -> ServerJsonRpcMessage {
    ServerJsonRpcMessage::response(ServerResult::EmptyResult(EmptyResult {}), id)
}

/// The parts of a message that identify its request. The rest is skipped.
#[derive(Deserialize)]
pub(super) struct Envelope {
    id: Option<Value>,
    result: Option<IgnoredAny>,
}

impl Envelope {
    /// The request that the message answers. Its ids are numbers; some servers make text of them.
    pub(super) fn id(&self) -> Option<RequestId> {
        let number = match self.id.as_ref()? {
            Value::Number(number) => number.as_i64()?,
            Value::String(text) => text.parse().ok()?,
            _ => return None,
        };
        Some(RequestId::Number(number))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test stops where something is missing")]

    use rmcp::model::{CallToolRequest, CallToolRequestParams, ClientRequest};

    use super::*;

    fn waiting(id: i64, call: &PendingCall) -> PendingCalls {
        let mut request = CallToolRequest::new(CallToolRequestParams::new("x"));
        request.extensions.insert(call.clone());
        let request = ClientRequest::CallToolRequest(request);
        let calls = PendingCalls::default();
        calls.expect(&ClientJsonRpcMessage::request(request, RequestId::Number(id)));
        calls
    }

    #[test]
    fn answers_are_put_beside_as_they_are() {
        for id in ["7", "\"7\""] {
            let call = PendingCall::new(10, RequestOrigin::default());
            let calls = waiting(7, &call);
            assert_eq!(calls.room(), Some(40 + ENVELOPE_ROOM));
            let deep = format!("{}1.50{}", "[".repeat(5000), "]".repeat(5000));
            let text = format!(r#"{{"result":{{"x":{deep}}},"jsonrpc":"2.0","id":{id}}}"#);
            assert!(calls.settle(&text).is_some());
            assert_eq!(call.take(), Some(Ok(text.clone())));
            assert!(calls.settle(&text).is_none());
            assert_eq!(calls.room(), None);
        }
    }

    #[test]
    fn other_messages_are_left_alone() {
        let call = PendingCall::new(10, RequestOrigin::default());
        let calls = waiting(7, &call);
        for text in [
            r#"{"jsonrpc":"2.0","id":8,"result":{}}"#,
            r#"{"jsonrpc":"2.0","id":7,"error":{"code":1,"message":"no"}}"#,
            r#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#,
            r#"{"id":7,"result":"#,
            "7",
        ] {
            assert!(calls.settle(text).is_none(), "{text}");
        }
        assert_eq!(call.take(), None);
    }

    #[test]
    fn calls_that_nobody_waits_for_take_no_room() {
        let call = PendingCall::new(10, RequestOrigin::default());
        let calls = waiting(7, &call);
        drop(call);
        assert_eq!(calls.room(), None);
        assert!(calls.settle(r#"{"id":7,"result":{}}"#).is_none());
    }
}
