//! Collects the failures of a server for its final error message.

use std::collections::VecDeque;
use std::fmt::Write as _;

use gramc_tools::invocation::{InvocationError, InvocationErrorKind};
use gramc_tools::sanitize::sanitize_line;
use parking_lot::Mutex;

/// The most lines of a server's standard error that a message repeats.
const LINES: usize = 10;

/// The failures of a server, shared by all parts that communicate with it.
pub(super) struct FailureLog {
    /// The location of the server's messages, as the start of a sentence.
    place: &'static str,
    seen: Mutex<FailureRecord>,
}

#[derive(Default)]
struct FailureRecord {
    /// Why there is no use in going on, as a phrase that follows the server's name.
    fatal: Option<InvocationError>,
    /// The first invalid message.
    invalid: Option<String>,
    /// The last lines on standard error.
    lines: VecDeque<String>,
}

impl FailureLog {
    /// An empty log. `place` is the location of the server's messages, such as `On its standard output`.
    pub(super) fn new(place: &'static str) -> Self {
        Self { place, seen: Mutex::default() }
    }

    /// Sets the reason to end the work. The first one stays.
    pub(super) fn set_reason(&self, kind: InvocationErrorKind, why: impl Into<String>) {
        self.seen.lock().fatal.get_or_insert_with(|| InvocationError::new(kind, why));
    }

    /// The reason to end the work, if there is one.
    pub(super) fn reason(&self) -> Option<InvocationError> {
        self.seen.lock().fatal.clone()
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

    /// Keeps the first invalid message.
    pub(super) fn record_invalid(&self, text: &str) {
        self.seen.lock().invalid.get_or_insert_with(|| sanitize_line(text));
    }

    /// Further lines for an error message.
    pub(super) fn details(&self) -> String {
        let seen = self.seen.lock();
        let mut text = String::new();
        if let Some(invalid) = &seen.invalid {
            let place = self.place;
            // Writing to text cannot fail.
            let _ =
                write!(text, "\n{place} is text that is not part of the protocol:\n  {invalid}");
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
