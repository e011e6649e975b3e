//! Where messages for a client go.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use serde_json::Value;
use tokio::sync::{Notify, mpsc};
use tokio::time::{Instant, timeout, timeout_at};
use tokio_util::sync::CancellationToken;

use crate::message::Message;
use crate::protocol::Answer;

/// Maximum time for the client to take a message.
const MAX_SEND_TIME: Duration = Duration::from_secs(10);
/// Maximum number of events that the reader of a stream has not taken yet, before senders wait.
const MAX_UNREAD: usize = 1_000;
/// Maximum bytes of the events that a stream keeps.
const MAX_KEPT_BYTES: usize = 8 << 20;

/// The way to a client.
#[derive(Clone)]
pub(crate) enum Outbox {
    /// All messages of a connection, as lines.
    Lines(mpsc::Sender<String>),
    /// Events over HTTP.
    Events(Arc<EventStream>),
}

impl Outbox {
    /// Sends a message. Returns whether it can still arrive: the client may have disconnected, and the
    /// stream of a request ends with its answer.
    pub(crate) async fn send(&self, message: Message) -> bool {
        let text = message.into_text();
        match self {
            Self::Lines(lines) => timeout(MAX_SEND_TIME, lines.send(text)).await.is_ok(),
            Self::Events(events) => events.push(text).await,
        }
    }

    /// Sends a notification that may be omitted if the client does not read.
    pub(crate) fn offer(&self, method: &str, params: Value) {
        let (method, params) = (method.to_owned(), Some(params));
        let text = Message::Notification { method, params }.into_text();
        match self {
            Self::Lines(lines) => drop(lines.try_send(text)),
            Self::Events(events) => events.offer(text),
        }
    }

    pub(crate) async fn notify(&self, method: &str, params: Option<Value>) {
        self.send(Message::Notification { method: method.to_owned(), params }).await;
    }

    /// Sends the answer to a request, which is the last message of its stream. A cancelled request has
    /// none.
    pub(crate) async fn finish(&self, id: Value, answer: Option<Answer>) {
        let text = answer.map(|outcome| Message::Response { id, outcome }.into_text());
        match (self, text) {
            // A client that reads slowly gets its answers nevertheless.
            (Self::Lines(lines), Some(text)) => drop(lines.send(text).await),
            (Self::Lines(_), None) => {}
            (Self::Events(events), text) => events.finish(text),
        }
    }
}

/// Messages for a client in order, kept for clients that lose their connection and read on.
#[derive(Default)]
pub(crate) struct EventStream {
    state: Mutex<StreamState>,
    /// Notified at each change of the state.
    changed: Notify,
}

#[derive(Default)]
struct StreamState {
    kept: VecDeque<Arc<str>>,
    /// The number of the first event that is kept.
    first: u64,
    bytes: usize,
    /// Tells the current reader from earlier ones, which end.
    reader: u64,
    /// The next event for the reader, if there is one.
    position: Option<u64>,
    /// The number of events that readers have taken.
    taken: u64,
    is_finished: bool,
}

/// An event and its number in the stream.
pub(crate) struct StreamEvent {
    pub(crate) number: u64,
    pub(crate) text: Arc<str>,
}

impl StreamState {
    fn end(&self) -> u64 {
        self.first + self.kept.len() as u64
    }

    fn has_room(&self) -> bool {
        let unread = self.position.map_or(0, |position| self.end().saturating_sub(position));
        unread < MAX_UNREAD as u64 && (unread == 0 || self.bytes < MAX_KEPT_BYTES)
    }

    fn push(&mut self, text: String) {
        self.bytes += text.len();
        self.kept.push_back(text.into());
        // What a reader has not taken yet stays.
        while (self.kept.len() > 1 && self.bytes > MAX_KEPT_BYTES
            || self.kept.len() > 2 * MAX_UNREAD)
            && self.position.is_none_or(|position| self.first < position)
        {
            let Some(oldest) = self.kept.pop_front() else { return };
            self.bytes -= oldest.len();
            self.first += 1;
        }
    }
}

impl EventStream {
    /// Adds an event if there is room and the stream has not ended.
    fn offer(&self, text: String) {
        {
            let mut state = self.state.lock();
            if state.is_finished || !state.has_room() {
                return;
            }
            state.push(text);
        }
        self.changed.notify_waiters();
    }

    /// Adds an event. Waits for a reader that is slow. Returns whether the stream has not ended.
    async fn push(&self, text: String) -> bool {
        let limit = Instant::now() + MAX_SEND_TIME;
        let mut is_late = false;
        loop {
            let changed = self.changed.notified();
            let mut changed = std::pin::pin!(changed);
            changed.as_mut().enable();
            {
                let mut state = self.state.lock();
                if state.is_finished {
                    return false;
                }
                if is_late || state.has_room() {
                    state.push(text);
                    break;
                }
            }
            is_late = timeout_at(limit, changed).await.is_err();
        }
        self.changed.notify_waiters();
        true
    }

    /// Ends the stream, with a last event if there is one.
    pub(crate) fn finish(&self, text: Option<String>) {
        {
            let mut state = self.state.lock();
            if let Some(text) = text {
                state.push(text);
            }
            state.is_finished = true;
        }
        self.changed.notify_waiters();
    }

    pub(crate) fn has_reader(&self) -> bool {
        self.state.lock().position.is_some()
    }

    pub(crate) fn is_finished(&self) -> bool {
        self.state.lock().is_finished
    }

    pub(crate) fn kept_bytes(&self) -> usize {
        self.state.lock().bytes
    }

    /// The position of the first event that no reader has taken and that is kept.
    pub(crate) fn unread_position(&self) -> u64 {
        let state = self.state.lock();
        state.taken.max(state.first)
    }

    /// Waits until there is an event or the stream has ended. Gives the only event of a stream that
    /// has ended.
    pub(crate) async fn wait(&self) -> Option<Arc<str>> {
        loop {
            let changed = self.changed.notified();
            let mut changed = std::pin::pin!(changed);
            changed.as_mut().enable();
            {
                let state = self.state.lock();
                if state.is_finished && state.end() == 1 {
                    return state.kept.front().cloned();
                }
                if state.is_finished || state.end() > 0 {
                    return None;
                }
            }
            changed.await;
        }
    }

    /// The events from a number on, unless they are not kept any more. An earlier reader ends.
    pub(crate) fn read(
        self: &Arc<Self>,
        from: u64,
        stop: CancellationToken,
    ) -> Option<EventReader> {
        let reader = {
            let mut state = self.state.lock();
            if !(state.first..=state.end()).contains(&from) {
                return None;
            }
            state.reader += 1;
            state.position = Some(from);
            state.reader
        };
        self.changed.notify_waiters();
        Some(EventReader { stream: Arc::clone(self), reader, next: from, stop })
    }
}

/// Reads a stream until it ends or another reader begins.
pub(crate) struct EventReader {
    stream: Arc<EventStream>,
    reader: u64,
    next: u64,
    stop: CancellationToken,
}

impl EventReader {
    /// The next event. May be dropped at any time.
    pub(crate) async fn next(&mut self) -> Option<StreamEvent> {
        loop {
            let changed = self.stream.changed.notified();
            let mut changed = std::pin::pin!(changed);
            changed.as_mut().enable();
            {
                let mut state = self.stream.state.lock();
                // Where events are missing, the stream ends, so that the client knows.
                if state.reader != self.reader || self.next < state.first {
                    return None;
                }
                let at = usize::try_from(self.next - state.first).ok()?;
                if let Some(text) = state.kept.get(at).cloned() {
                    let number = self.next;
                    self.next += 1;
                    state.position = Some(self.next);
                    state.taken = state.taken.max(self.next);
                    drop(state);
                    self.stream.changed.notify_waiters();
                    return Some(StreamEvent { number, text });
                }
                if state.is_finished {
                    return None;
                }
            }
            tokio::select! {
                () = self.stop.cancelled() => return None,
                () = changed => {}
            }
        }
    }
}

impl Drop for EventReader {
    fn drop(&mut self) {
        {
            let mut state = self.stream.state.lock();
            if state.reader == self.reader {
                state.position = None;
            }
        }
        self.stream.changed.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failed step fails the test")]

    use super::*;

    async fn rest(mut reader: EventReader) -> Vec<(u64, String)> {
        let mut events = Vec::new();
        while let Some(StreamEvent { number, text }) = reader.next().await {
            events.push((number, text.to_string()));
        }
        events
    }

    fn stop() -> CancellationToken {
        CancellationToken::new()
    }

    #[tokio::test]
    async fn what_was_not_received_can_be_read_again() {
        let stream = Arc::new(EventStream::default());
        let mut first = stream.read(0, stop()).unwrap();
        for text in ["a", "b"] {
            stream.push(text.to_owned()).await;
        }
        assert_eq!(&*first.next().await.unwrap().text, "a");
        let second = stream.read(1, stop()).unwrap();
        stream.finish(Some("c".to_owned()));
        assert!(first.next().await.is_none(), "the earlier reader ends");
        assert_eq!(rest(second).await, [(1, "b".to_owned()), (2, "c".to_owned())]);
        let again = stream.read(2, stop()).unwrap();
        assert_eq!(rest(again).await, [(2, "c".to_owned())]);
        assert!(stream.read(4, stop()).is_none());
    }

    #[tokio::test]
    async fn a_stream_keeps_a_bounded_part_of_what_nobody_reads() {
        let stream = Arc::new(EventStream::default());
        for _ in 0..100 {
            stream.push("x".repeat(1 << 20)).await;
        }
        assert!(stream.kept_bytes() <= MAX_KEPT_BYTES);
        assert!(stream.read(0, stop()).is_none());
        assert!(stream.read(99, stop()).is_some());
    }

    #[tokio::test]
    async fn the_answer_arrives_behind_much_that_is_unread() {
        let stream = Arc::new(EventStream::default());
        let reader = stream.read(0, stop()).unwrap();
        stream.push("x".repeat(6 << 20)).await;
        stream.finish(Some("y".repeat(6 << 20)));
        assert!(!stream.push("z".to_owned()).await);
        assert_eq!(rest(reader).await.len(), 2);
    }

    #[tokio::test]
    async fn senders_wait_for_a_slow_reader() {
        let stream = Arc::new(EventStream::default());
        let mut reader = stream.read(0, stop()).unwrap();
        for _ in 0..MAX_UNREAD {
            stream.push("x".to_owned()).await;
        }
        let mut sending = Box::pin(stream.push("y".to_owned()));
        assert!(futures_util::poll!(&mut sending).is_pending());
        assert_eq!(reader.next().await.unwrap().number, 0);
        sending.await;
    }
}
