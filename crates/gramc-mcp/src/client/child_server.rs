//! MCP servers as child processes, over standard input and output.

use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;

use gramc_tools::ProgramEnvironment;
use gramc_tools::{ProcessGroup, StartError};
use serde::de::IgnoredAny;
use tokio::io::{AsyncRead, AsyncWriteExt as _, BufReader};
use tokio::process::ChildStdin;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::inbox::{Inbox, InboxGuard, PendingReply};
use super::wire::Wire;
use crate::lines::{LineRead, read_line, read_message, whose};

/// How long a server may take to end by itself, and then to end when it is asked to.
const GRACE: Duration = Duration::from_secs(1);
/// How long to read the pipes of a server that has ended. A process that it started may keep them
/// open.
const LEFTOVERS: Duration = Duration::from_millis(200);
/// The most bytes of a line of standard error that are kept.
const ERROR_LINE: usize = 4 << 10;

#[derive(Debug)]
enum ChildState {
    Runs,
    /// It is gone. Holds how it ended, if it did so by itself.
    Ended(Option<ExitStatus>),
}

impl ChildState {
    fn is_ended(&self) -> bool {
        matches!(self, Self::Ended(_))
    }

    fn status(&self) -> Option<ExitStatus> {
        match self {
            Self::Runs => None,
            Self::Ended(status) => *status,
        }
    }
}

/// A child process. When this is dropped, it is ended, as far as the runtime lives on.
pub(super) struct ChildServer {
    state: watch::Receiver<ChildState>,
    /// Closes the standard input.
    _closing: DropGuard,
    _stop: DropGuard,
    stop: CancellationToken,
}

impl ChildServer {
    /// Starts a server, and returns it with its standard input. The error is a phrase that follows
    /// its name.
    pub(super) fn start(
        program: &str,
        arguments: &[String],
        environment: &ProgramEnvironment,
        inbox: &Arc<Inbox>,
    ) -> Result<(Self, ChildInput), StartError> {
        let (group, pipes) = ProcessGroup::start(program, arguments, environment)?;
        let input = ChildInput::new(pipes.input);
        let readers = [
            tokio::spawn(read_messages(pipes.output, Arc::clone(inbox), input.clone())),
            tokio::spawn(read_errors(pipes.errors, Arc::clone(inbox))),
        ];
        let stop = CancellationToken::new();
        let (tell, state) = watch::channel(ChildState::Runs);
        tokio::spawn(keep(group, readers, stop.clone(), tell));
        let closing = input.closed.clone().drop_guard();
        let server = Self { state, _closing: closing, _stop: stop.clone().drop_guard(), stop };
        Ok((server, input))
    }

    /// Ends the server and all that it started; it should have no pipe any more. Gives how it
    /// ended, if it did so by itself.
    pub(super) async fn end(&mut self) -> Option<ExitStatus> {
        self.stop.cancel();
        self.state.wait_for(ChildState::is_ended).await.ok()?.status()
    }

    /// How the server ended, if it did, or does soon.
    pub(super) async fn exit_status(&self) -> Option<ExitStatus> {
        let mut state = self.state.clone();
        timeout(GRACE, state.wait_for(ChildState::is_ended)).await.ok()?.ok()?.status()
    }
}

/// Waits until the server has ended or should end, then ends it and the processes that it started,
/// as the protocol requires: its input is closed already; if that is not enough, it is terminated,
/// then killed. If the runtime ends first, the group is dropped, which kills it.
async fn keep(
    mut group: ProcessGroup,
    mut readers: [JoinHandle<()>; 2],
    stop: CancellationToken,
    tell: watch::Sender<ChildState>,
) {
    let status = tokio::select! {
        status = group.wait() => status.ok(),
        () = stop.cancelled() => timeout(GRACE, group.wait()).await.ok().and_then(Result::ok),
    };
    #[cfg(unix)]
    if status.is_none() && group.terminate().is_ok() {
        let _ = timeout(GRACE, group.wait()).await;
    }
    group.kill();
    let _ = timeout(GRACE, group.wait()).await;
    for reader in &mut readers {
        if timeout(LEFTOVERS, &mut *reader).await.is_err() {
            reader.abort();
        }
    }
    // The receiver may be gone.
    let _ = tell.send(ChildState::Ended(status));
}

/// Reads the server's messages until it closes its output or the work ends.
async fn read_messages(output: impl AsyncRead + Unpin, inbox: Arc<Inbox>, input: ChildInput) {
    let mut output = BufReader::new(output);
    let mut line = Vec::new();
    let wire = Wire::Child(input);
    let guard = InboxGuard(inbox);
    let inbox = &guard.0;
    while let Ok(Some(read)) = read_message(&mut output, &mut line, || inbox.max_message()).await {
        match read {
            // The server ended in the middle of it, which its output's end says better.
            LineRead::Whole if is_cut(&line) && inbox.awaits_call() => {}
            LineRead::Whole => {
                let text = String::from_utf8_lossy(&line);
                let text = text.trim_start_matches('\u{feff}').trim();
                if !text.is_empty() {
                    inbox.receive(text, None, &wire).await;
                }
            }
            // A list, or what comes before the first call.
            LineRead::Long if !inbox.awaits_call() => inbox.reject_long_message(),
            LineRead::Long => {
                let beginning = String::from_utf8_lossy(&line[..line.len().min(1 << 10)]);
                let beginning = beginning.into_owned();
                let is_accepted = match whose(&mut output, std::mem::take(&mut line)).await {
                    Ok(Some(id)) => inbox.find(id).is_none_or(|it| it.reject_long_answer()),
                    Ok(None) => {
                        inbox.failures.record_invalid(&beginning);
                        true
                    }
                    Err(_) => false,
                };
                if !is_accepted {
                    inbox.reject_long_message();
                }
            }
        }
        if inbox.is_closed() {
            return;
        }
    }
}

/// Whether a message has no end, which it may lack only as a line.
fn is_cut(line: &[u8]) -> bool {
    !line.ends_with(b"\n") && serde_json::from_slice::<IgnoredAny>(line).is_err()
}

/// Keeps the last lines of standard error. It must be read to the end: a server whose pipe is
/// full would wait.
async fn read_errors(errors: impl AsyncRead + Unpin, inbox: Arc<Inbox>) {
    let mut errors = BufReader::new(errors);
    let mut line = Vec::new();
    while let Ok(Some(())) = read_line(&mut errors, &mut line, ERROR_LINE).await {
        inbox.failures.record_line(&line);
    }
}

/// The standard input of a server. Messages are written in the order in which they are sent.
#[derive(Clone)]
pub(super) struct ChildInput {
    lines: mpsc::UnboundedSender<Line>,
    closed: CancellationToken,
}

/// A message, and the request of the server that it answers, if it answers one.
struct Line {
    text: String,
    _reply: Option<PendingReply>,
}

impl ChildInput {
    fn new(mut input: ChildStdin) -> Self {
        let (lines, mut queue) = mpsc::unbounded_channel::<Line>();
        let closed = CancellationToken::new();
        let own = Self { lines, closed: closed.clone() };
        // A task of its own, so that no message is cut when its sender stops waiting.
        tokio::spawn(closed.run_until_cancelled_owned(async move {
            while let Some(mut line) = queue.recv().await {
                line.text.push('\n');
                let written = input.write_all(line.text.as_bytes()).await;
                if written.is_err() || input.flush().await.is_err() {
                    return;
                }
            }
        }));
        own
    }

    /// Sends a message. Fails if the server does not read any more.
    pub(super) fn send(&self, text: String, reply: Option<PendingReply>) -> Result<(), ()> {
        self.lines.send(Line { text, _reply: reply }).map_err(drop)
    }

    /// Closes the standard input.
    pub(super) fn close(&self) {
        self.closed.cancel();
    }
}
