//! Collects the failures of a server for its final error message.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use gramc_tools::invocation::{InvocationError, InvocationErrorKind};
use gramc_tools::masks::SecretMasks;
use gramc_tools::sanitize::sanitize_line;
use parking_lot::Mutex;
use rmcp::model::{ClientJsonRpcMessage, JsonRpcMessage, ServerJsonRpcMessage};
use serde_json::Value;
use tokio::sync::watch;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::client_slot::{ClientSlot, mark};
use super::lines::MAX_MESSAGE_BYTES;
use super::pending_calls::{PendingCall, PendingCalls};
use super::wire::seal_list;

/// The most lines of a server's standard error that a message repeats.
const LINES: usize = 10;
/// The most requests of the server that may wait for their answers to reach it.
const MAX_REQUESTS: usize = 64;
/// The time limit for a server that sends requests to read the replies.
const DEAF_LIMIT: Duration = Duration::from_secs(3);

/// The failures of a server, shared by all parts that communicate with it.
pub(super) struct FailureLog {
    /// The location of the server's messages, as the start of a sentence.
    place: &'static str,
    seen: Mutex<FailureRecord>,
    fatal: CancellationToken,
    /// The calls that wait for answers.
    pub(super) calls: PendingCalls,
    /// How many lists are asked for right now, which may be long.
    lists: AtomicUsize,
    /// How many requests of the server wait for their answers to reach it.
    requests: watch::Sender<usize>,
    /// The client that gets what the server says to it.
    client: Arc<ClientSlot>,
    /// Masks what the server was given in what it says.
    masks: Arc<SecretMasks>,
}

#[derive(Default)]
struct FailureRecord {
    /// Why there is no use in going on, as a phrase that follows the server's name.
    fatal: Option<InvocationError>,
    /// The first invalid message.
    rubbish: Option<String>,
    /// The last lines on standard error.
    lines: VecDeque<String>,
}

/// While this lives, messages may be as long as lists of tools are.
pub(super) struct ListingScope<'w>(&'w FailureLog);

impl Drop for ListingScope<'_> {
    fn drop(&mut self) {
        self.0.lists.fetch_sub(1, Ordering::Relaxed);
    }
}

/// An answer to a request of the server, which has reached it when this is dropped.
pub(super) struct PendingReply(Arc<FailureLog>);

impl Drop for PendingReply {
    fn drop(&mut self) {
        self.0.requests.send_modify(|requests| *requests = requests.saturating_sub(1));
    }
}

impl FailureLog {
    /// An empty log. `place` is the location of the server's messages, such as `On its standard output`.
    pub(super) fn new(
        place: &'static str,
        client: &Arc<ClientSlot>,
        masks: &Arc<SecretMasks>,
    ) -> Self {
        Self {
            place,
            client: Arc::clone(client),
            masks: Arc::clone(masks),
            seen: Mutex::default(),
            fatal: CancellationToken::new(),
            calls: PendingCalls::default(),
            lists: AtomicUsize::new(0),
            requests: watch::Sender::new(0),
        }
    }

    /// Ends the work, with a reason; the first one counts.
    pub(super) fn end(&self, kind: InvocationErrorKind, why: impl Into<String>) {
        self.seen.lock().fatal.get_or_insert_with(|| InvocationError::new(kind, why));
        self.fatal.cancel();
    }

    /// Waits until there is a reason to end the work.
    pub(super) async fn fatal(&self) {
        self.fatal.cancelled().await;
    }

    /// Whether there is a reason to end the work.
    pub(super) fn is_over(&self) -> bool {
        self.fatal.is_cancelled()
    }

    /// The reason to end the work, if there is one.
    pub(super) fn reason(&self) -> Option<InvocationError> {
        self.seen.lock().fatal.clone()
    }

    /// Allows long messages while what this gives lives.
    pub(super) fn listing(&self) -> ListingScope<'_> {
        self.lists.fetch_add(1, Ordering::Relaxed);
        ListingScope(self)
    }

    /// What to drop when a message of ours has reached the server, where it answers a request.
    pub(super) fn answering(
        self: &Arc<Self>,
        message: &ClientJsonRpcMessage,
    ) -> Option<PendingReply> {
        let is_answer = matches!(message, JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_));
        is_answer.then(|| PendingReply(Arc::clone(self)))
    }

    /// Lets a message of the server through. Of a server that asks and does not take the answers,
    /// requests wait, since each answer takes memory; at last they end the work. Gives whether it
    /// goes on.
    pub(super) async fn lets_through(&self, message: &ServerJsonRpcMessage) -> bool {
        if !matches!(message, JsonRpcMessage::Request(_)) {
            return true;
        }
        let mut waiting = self.requests.subscribe();
        let fewer = waiting.wait_for(|requests| *requests < MAX_REQUESTS);
        let goes_on = timeout(DEAF_LIMIT, fewer).await.is_ok();
        if goes_on {
            self.requests.send_modify(|requests| *requests += 1);
        } else {
            let why = "it sends one request after the other, and takes no answers to them";
            self.end(InvocationErrorKind::Garbled, why);
        }
        goes_on
    }

    /// The most bytes that a message may have now. Where nothing but calls is waited for, it is no
    /// more than these need.
    pub(super) fn room(&self) -> usize {
        match self.calls.room() {
            Some(room) if self.lists.load(Ordering::Relaxed) == 0 => room,
            Some(room) => room.max(MAX_MESSAGE_BYTES),
            None => MAX_MESSAGE_BYTES,
        }
    }

    /// Keeps a line of standard error.
    pub(super) fn record_line(&self, line: &[u8]) {
        let line = sanitize_line(&String::from_utf8_lossy(line));
        if line.is_empty() {
            return;
        }
        let mut seen = self.seen.lock();
        if seen.lines.len() == LINES {
            seen.lines.pop_front();
        }
        seen.lines.push_back(line);
    }

    /// The message that `rmcp` gets. `None` if it was passed on to the client. `call` is the call
    /// whose response the message came with, if that is known.
    pub(super) async fn past_client<'m>(
        &self,
        text: &'m str,
        call: Option<&PendingCall>,
    ) -> Option<Cow<'m, str>> {
        // Most messages are recognised without being read.
        if !text.contains("\"method\"") {
            return Some(Cow::Borrowed(text));
        }
        let Ok(mut message) = serde_json::from_str::<Value>(text) else {
            return Some(Cow::Borrowed(text));
        };
        let origin = match &message["params"]["progressToken"] {
            Value::Null => call.map(|call| call.origin().clone()),
            token => self.calls.origin(token),
        };
        if self.client.takes_notification(&message, &self.masks, origin.as_ref()).await {
            return None;
        }
        Some(if mark(&mut message) { message.to_string().into() } else { Cow::Borrowed(text) })
    }

    /// Reads one message of the server, unless it is for the client.
    pub(super) async fn message(&self, text: &str) -> Option<ServerJsonRpcMessage> {
        if let Some(stub) = self.calls.settle(text) {
            return Some(stub);
        }
        self.read(&self.past_client(text, None).await?)
    }

    /// Reads one message of the server. Gives nothing where it is none; where that must be an
    /// answer, which the work would wait for in vain, ends the work.
    pub(super) fn read(&self, text: &str) -> Option<ServerJsonRpcMessage> {
        let error = match serde_json::from_str(&seal_list(text)) {
            Ok(message) => return Some(message),
            Err(error) => error,
        };
        let is_answer = match serde_json::from_str::<Value>(text) {
            Ok(value) => value.get("result").or(value.get("error")).is_some(),
            Err(_) => text.contains("\"jsonrpc\""),
        };
        if is_answer {
            self.end(InvocationErrorKind::Garbled, unreadable(&error));
        } else {
            self.rubbish(text);
        }
        None
    }

    /// Keeps the first invalid message.
    pub(super) fn rubbish(&self, text: &str) {
        self.seen.lock().rubbish.get_or_insert_with(|| sanitize_line(text));
    }

    /// A message of the server is too long.
    pub(super) fn too_long(&self) {
        let limit = MAX_MESSAGE_BYTES >> 20;
        let why = format!("a message of it is longer than {limit} megabytes");
        self.end(InvocationErrorKind::TooLarge, why);
    }

    /// Further lines for an error message.
    pub(super) fn details(&self) -> String {
        let seen = self.seen.lock();
        let mut text = String::new();
        if let Some(rubbish) = &seen.rubbish {
            let place = self.place;
            // Writing to text cannot fail.
            let _ =
                write!(text, "\n{place} is text that is not part of the protocol:\n  {rubbish}");
        }
        if !seen.lines.is_empty() {
            text.push_str("\nIts last lines on standard error:");
        }
        for line in &seen.lines {
            text.push_str("\n  ");
            text.push_str(line);
        }
        text
    }
}

/// An answer that is not the protocol.
pub(super) fn unreadable(error: &serde_json::Error) -> String {
    format!("its response is invalid: {error}")
}
