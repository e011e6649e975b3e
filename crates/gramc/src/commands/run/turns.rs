//! What the user says: on the command line, or line by line.

mod editor;

use std::io::{self, IsTerminal as _, Write as _};

use tokio::sync::mpsc;

use self::editor::{Chat, Typed};
use crate::args::Run;
use crate::failure::Failure;
use crate::output::say;

/// The turns of a conversation.
pub(super) enum Turns {
    /// Those of the command line, the last one first.
    Given(Vec<String>),
    /// Lines of standard input.
    Lines {
        ask: mpsc::Sender<()>,
        lines: mpsc::Receiver<io::Result<String>>,
        /// Whether the input is a terminal.
        chat: bool,
    },
    /// Lines edited at a terminal.
    Edited(Chat),
}

impl Turns {
    pub(super) fn new(args: &Run) -> Self {
        if !args.messages.is_empty() {
            return Self::Given(args.messages.iter().rev().cloned().collect());
        }
        let history = if args.no_history { None } else { editor::history_file() };
        if let Some(chat) = Chat::new(history) {
            return Self::Edited(chat);
        }
        // A read cannot be cancelled, so it runs on its own thread, which is never joined. It reads
        // nothing during a turn, when the user may be asked for approval.
        let (ask, mut asked) = mpsc::channel(1);
        let (send, lines) = mpsc::channel(1);
        std::thread::spawn(move || {
            while asked.blocking_recv().is_some() {
                let Some(line) = io::stdin().lines().next() else { return };
                if send.blocking_send(line).is_err() {
                    return;
                }
            }
        });
        Self::Lines { ask, lines, chat: io::stdin().is_terminal() }
    }

    /// Whether the input is a terminal.
    pub(super) fn is_chat(&self) -> bool {
        matches!(self, Self::Lines { chat: true, .. } | Self::Edited(_))
    }

    /// What the user says next; nothing when that is all.
    pub(super) async fn next(&mut self) -> Result<Option<String>, Failure> {
        match self {
            Self::Given(messages) => Ok(messages.pop()),
            Self::Lines { ask, lines, chat } => loop {
                if *chat {
                    // The prompt is optional.
                    let _ = write!(io::stderr(), "> ").and_then(|()| io::stderr().flush());
                }
                // At the end of the input, the thread has ended.
                let _ = ask.send(()).await;
                match lines.recv().await {
                    None => return Ok(None),
                    Some(Ok(line)) if line.trim().is_empty() => {}
                    Some(Ok(line)) => return Ok(Some(line)),
                    Some(Err(error)) => return Err(unreadable(&error.to_string())),
                }
            },
            Self::Edited(chat) => {
                let mut interrupted = false;
                loop {
                    match chat.next().await {
                        Typed::End => return Ok(None),
                        Typed::Line(line) if line.trim().is_empty() => interrupted = false,
                        Typed::Line(line) => return Ok(Some(line)),
                        // As signals are numbered.
                        Typed::Interrupt if interrupted => return Err(Failure::Interrupted(2)),
                        Typed::Interrupt => {
                            interrupted = true;
                            say("press Ctrl-C again or Ctrl-D to end the conversation");
                        }
                        Typed::Failed(why) => return Err(unreadable(&why)),
                    }
                }
            }
        }
    }
}

fn unreadable(why: &str) -> Failure {
    Failure::new(format!("cannot read standard input: {why}"))
}
