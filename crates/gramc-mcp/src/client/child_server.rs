//! MCP servers as child processes, over standard input and output.

use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;

use gramc_tools::ProgramEnvironment;
use gramc_tools::{ProcessGroup, StartError};
use rmcp::RoleClient;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::Transport;
use serde::de::IgnoredAny;
use tokio::io::{self, AsyncRead, AsyncWriteExt as _, BufReader};
use tokio::process::ChildStdin;
use tokio::sync::{Mutex, mpsc, watch};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::failure_log::FailureLog;
use super::lines::{LineRead, read_line, read_message, whose};
use super::pending_calls::stub;

/// How long a server may take to end by itself, and then to end when it is asked to.
const GRACE: Duration = Duration::from_secs(1);
/// How long to read the pipes of a server that has ended. A process that it started may keep them
/// open.
const LEFTOVERS: Duration = Duration::from_millis(200);
/// The most bytes of a line of standard error that are kept.
const ERROR_LINE: usize = 4 << 10;
/// The messages that may wait to be read.
const QUEUE: usize = 64;

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
    _stop: DropGuard,
    stop: CancellationToken,
}

impl ChildServer {
    /// Starts a server, and returns it with its pipes. The error is a phrase that follows its
    /// name.
    pub(super) fn start(
        program: &str,
        arguments: &[String],
        environment: &ProgramEnvironment,
        failures: &Arc<FailureLog>,
    ) -> Result<(Self, ChildTransport), StartError> {
        let (group, pipes) = ProcessGroup::start(program, arguments, environment)?;
        let (sender, messages) = mpsc::channel(QUEUE);
        let readers = [
            tokio::spawn(read_messages(pipes.output, sender, Arc::clone(failures))),
            tokio::spawn(read_errors(pipes.errors, Arc::clone(failures))),
        ];
        let stop = CancellationToken::new();
        let (tell, state) = watch::channel(ChildState::Runs);
        tokio::spawn(keep(group, readers, stop.clone(), tell));
        let input = Arc::new(Mutex::new(Some(pipes.input)));
        let pipes = ChildTransport { input, messages, failures: Arc::clone(failures) };
        Ok((Self { state, _stop: stop.clone().drop_guard(), stop }, pipes))
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

/// Reads the server's messages until it closes its output or the receiver is dropped.
async fn read_messages(
    output: impl AsyncRead + Unpin,
    messages: mpsc::Sender<ServerJsonRpcMessage>,
    failures: Arc<FailureLog>,
) {
    let mut output = BufReader::new(output);
    let mut line = Vec::new();
    while let Ok(Some(read)) = read_message(&mut output, &mut line, || failures.room()).await {
        let message = match read {
            // The server ended in the middle of it, which its output's end says better.
            LineRead::Whole if is_cut(&line) && failures.calls.room().is_some() => None,
            LineRead::Whole => {
                let text = String::from_utf8_lossy(&line);
                if text.trim().is_empty() { None } else { failures.message(&text).await }
            }
            // A list, or anything before there are calls.
            LineRead::Long if failures.calls.room().is_none() => return failures.too_long(),
            LineRead::Long => {
                let beginning = String::from_utf8_lossy(&line[..line.len().min(1 << 10)]);
                let beginning = beginning.into_owned();
                match whose(&mut output, std::mem::take(&mut line)).await {
                    Ok(Some(id)) => failures.calls.find(&id).map(|call| {
                        call.too_large();
                        stub(id)
                    }),
                    Ok(None) => {
                        failures.rubbish(&beginning);
                        None
                    }
                    Err(_) => return failures.too_long(),
                }
            }
        };
        if let Some(message) = message
            && !(failures.lets_through(&message).await && messages.send(message).await.is_ok())
        {
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
async fn read_errors(errors: impl AsyncRead + Unpin, failures: Arc<FailureLog>) {
    let mut errors = BufReader::new(errors);
    let mut line = Vec::new();
    while let Ok(Some(())) = read_line(&mut errors, &mut line, ERROR_LINE).await {
        failures.record_line(&line);
    }
}

/// The pipes as `rmcp` wants them.
pub(super) struct ChildTransport {
    input: Arc<Mutex<Option<ChildStdin>>>,
    messages: mpsc::Receiver<ServerJsonRpcMessage>,
    failures: Arc<FailureLog>,
}

impl Transport<RoleClient> for ChildTransport {
    type Error = io::Error;

    fn send(
        &mut self,
        message: ClientJsonRpcMessage,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let input = Arc::clone(&self.input);
        // Before the message goes out, since the answer may be quick.
        self.failures.calls.expect(&message);
        let answering = self.failures.answering(&message);
        async move {
            let _answering = answering;
            let mut line = serde_json::to_vec(&message)?;
            line.push(b'\n');
            let mut input = input.lock().await;
            let input = input.as_mut().ok_or(io::ErrorKind::BrokenPipe)?;
            input.write_all(&line).await?;
            input.flush().await
        }
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        self.messages.recv().await
    }

    async fn close(&mut self) -> io::Result<()> {
        self.input.lock().await.take();
        Ok(())
    }
}
