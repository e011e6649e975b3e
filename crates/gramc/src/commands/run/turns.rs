//! What the user says: on the command line, or line by line.

use std::io::{self, BufRead as _, IsTerminal as _, Write as _};

use tokio::sync::mpsc;

use crate::failure::Failure;

/// The turns of a conversation.
pub(super) enum Turns {
    /// Those of the command line, the last one first.
    Given(Vec<String>),
    /// Lines of standard input.
    Lines {
        lines: mpsc::Receiver<io::Result<String>>,
        /// Whether somebody sits there.
        chat: bool,
    },
}

impl Turns {
    pub(super) fn new(messages: &[String]) -> Self {
        if !messages.is_empty() {
            return Self::Given(messages.iter().rev().cloned().collect());
        }
        // Reading a terminal cannot be broken off, so it has a thread of its own, which nobody
        // waits for.
        let (send, lines) = mpsc::channel(1);
        std::thread::spawn(move || {
            for line in io::stdin().lock().lines() {
                if send.blocking_send(line).is_err() {
                    return;
                }
            }
        });
        Self::Lines { lines, chat: io::stdin().is_terminal() }
    }

    /// Whether somebody sits at a terminal.
    pub(super) fn is_chat(&self) -> bool {
        matches!(self, Self::Lines { chat: true, .. })
    }

    /// What the user says next; nothing when that is all.
    pub(super) async fn next(&mut self) -> Result<Option<String>, Failure> {
        match self {
            Self::Given(messages) => Ok(messages.pop()),
            Self::Lines { lines, chat } => loop {
                if *chat {
                    // Whoever cannot see the prompt can still type.
                    let _ = write!(io::stderr(), "> ").and_then(|()| io::stderr().flush());
                }
                match lines.recv().await {
                    None => return Ok(None),
                    Some(Ok(line)) if line.trim().is_empty() => {}
                    Some(Ok(line)) => return Ok(Some(line)),
                    Some(Err(error)) => {
                        let what = format!("cannot read standard input: {error}");
                        return Err(Failure::new(what));
                    }
                }
            },
        }
    }
}
