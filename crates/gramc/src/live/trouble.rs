//! What went wrong with a server, gathered where it is seen and told at the end.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rmcp::model::ServerJsonRpcMessage;
use serde_json::Value;
use tokio::sync::Notify;

use super::BYTE_LIMIT;
use super::wire::sealed;

/// The most lines of a server's standard error that a message repeats.
const LINES: usize = 10;
/// The most characters of a line that a message repeats.
const LINE_LENGTH: usize = 300;

/// What is known to have gone wrong; every part that talks to the server adds to it.
pub(super) struct Trouble {
    /// Where the server's messages stand, in words that begin a sentence.
    place: &'static str,
    seen: Mutex<Seen>,
    fatal: Notify,
}

#[derive(Default)]
struct Seen {
    /// Why there is no use in going on.
    fatal: Option<String>,
    /// The first of its messages that is none.
    rubbish: Option<String>,
    /// The last lines on standard error.
    lines: VecDeque<String>,
}

impl Trouble {
    /// Nothing yet. `place` says where the server's messages stand, as in `On its standard output`.
    pub(super) fn new(place: &'static str) -> Self {
        Self { place, seen: Mutex::default(), fatal: Notify::new() }
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        // A list of lines is whole whoever panicked.
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends the work, with a reason; the first one counts.
    pub(super) fn end(&self, reason: impl Into<String>) {
        self.seen().fatal.get_or_insert_with(|| reason.into());
        self.fatal.notify_one();
    }

    /// Waits until there is a reason to end the work.
    pub(super) async fn fatal(&self) {
        self.fatal.notified().await;
    }

    /// The reason to end the work, if there is one.
    pub(super) fn reason(&self) -> Option<String> {
        self.seen().fatal.clone()
    }

    /// Keeps a line of standard error.
    pub(super) fn hear(&self, line: &[u8]) {
        let line = shown(&String::from_utf8_lossy(line));
        if line.is_empty() {
            return;
        }
        let mut seen = self.seen();
        if seen.lines.len() == LINES {
            seen.lines.pop_front();
        }
        seen.lines.push_back(line);
    }

    /// Reads one message of the server. Gives nothing where it is none; where that must be an
    /// answer, which the work would wait for in vain, ends the work.
    pub(super) fn message(&self, text: &str) -> Option<ServerJsonRpcMessage> {
        let error = match serde_json::from_str(&sealed(text)) {
            Ok(message) => return Some(message),
            Err(error) => error,
        };
        let is_answer = match serde_json::from_str::<Value>(text) {
            Ok(value) => value.get("result").or(value.get("error")).is_some(),
            Err(_) => text.contains("\"jsonrpc\""),
        };
        if is_answer {
            self.end(format!("its answer cannot be read: {error}"));
        } else {
            self.seen().rubbish.get_or_insert_with(|| shown(text));
        }
        None
    }

    /// A message of the server is longer than anybody needs.
    pub(super) fn too_long(&self) {
        let limit = BYTE_LIMIT >> 20;
        self.end(format!("a message of it is longer than {limit} megabytes"));
    }

    /// What else a person should know, as further lines of a message.
    pub(super) fn details(&self) -> String {
        let seen = self.seen();
        let mut text = String::new();
        if let Some(rubbish) = &seen.rubbish {
            let place = self.place;
            // Writing to text cannot fail.
            let _ = write!(text, "\n{place} stands what is not the protocol:\n  {rubbish}");
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

/// A line from elsewhere as a message may repeat it: short, and without what would steer a
/// terminal.
pub(super) fn shown(text: &str) -> String {
    let line = text.trim_end();
    let mut kept: String = line
        .chars()
        .take(LINE_LENGTH)
        .map(|letter| if letter.is_control() { ' ' } else { letter })
        .collect();
    if line.chars().nth(LINE_LENGTH).is_some() {
        kept.push('…');
    }
    kept
}
