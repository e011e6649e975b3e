//! A server that is a child process and speaks over its standard input and output.

use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use process_wrap::tokio::{ChildWrapper, CommandWrap};
use rmcp::RoleClient;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::Transport;
use serde_json::Value;
use tokio::io::{
    self, AsyncBufRead, AsyncBufReadExt as _, AsyncRead, AsyncWriteExt as _, BufReader,
};
use tokio::process::{ChildStdin, Command};
use tokio::sync::{Mutex, mpsc};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::BYTE_LIMIT;
use super::ask::{self, Broken};
use super::trouble::{Trouble, shown};
use crate::failure::Failure;

/// How long a server may take to end by itself, and then to end when it is asked to.
const GRACE: Duration = Duration::from_secs(1);
/// How long to wait for what a server that has ended left in its pipes. A process that it started
/// may hold them open for ever.
const LEFTOVERS: Duration = Duration::from_millis(200);
/// The most bytes of a line of standard error that are kept.
const ERROR_LINE: usize = 4 << 10;
/// The messages that may wait to be read.
const QUEUE: usize = 64;

/// Starts the server, asks it for its tools and ends it, whatever happens.
pub(super) async fn tools(words: &[String], limit: Duration) -> Result<Value, Failure> {
    let Some((program, arguments)) = words.split_first() else {
        return Err(Failure::new("the MCP server's command is empty"));
    };
    // The arguments may hold a password, and stay out of messages.
    let failed = |why: &str, details: &str| {
        Failure::new(format!(
            "cannot get the tools of the MCP server `{}`: {why}{details}",
            shown(program)
        ))
    };
    let trouble = Arc::new(Trouble::new("On its standard output"));
    let (mut server, pipes) = Server::start(program, arguments, &trouble)
        .map_err(|error| failed(&start_error(&error), ""))?;
    let outcome = ask::tools(pipes, limit, &trouble).await;
    let ended = server.end().await;
    outcome.map_err(|broken| {
        let why = trouble.reason().unwrap_or(match broken {
            Broken::Reason(why) => why,
            Broken::Closed(request) => match ended {
                Some(status) => format!("it ended before it answered `{request}` ({status})"),
                None => format!("it hung up before it answered `{request}`"),
            },
        });
        failed(&why, &trouble.details())
    })
}

fn start_error(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "there is no such program".to_owned(),
        io::ErrorKind::PermissionDenied => "that is not a program one may run".to_owned(),
        _ => format!("it cannot be started: {error}"),
    }
}

/// A child process, and what reads from it.
struct Server {
    child: Box<dyn ChildWrapper>,
    readers: Vec<JoinHandle<()>>,
}

impl Server {
    fn start(
        program: &str,
        arguments: &[String],
        trouble: &Arc<Trouble>,
    ) -> io::Result<(Self, Pipes)> {
        let mut command = Command::new(program);
        command
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        let mut command = CommandWrap::from(command);
        // `npx` and `uvx` start the server as a child of theirs, which has to end with them.
        #[cfg(unix)]
        command.wrap(process_wrap::tokio::ProcessGroup::leader());
        let mut child = command.spawn()?;
        let missing = || io::Error::other("it has no pipes");
        let input = child.stdin().take().ok_or_else(missing)?;
        let output = child.stdout().take().ok_or_else(missing)?;
        let errors = child.stderr().take().ok_or_else(missing)?;
        let (sender, messages) = mpsc::channel(QUEUE);
        let readers = vec![
            tokio::spawn(read_messages(output, sender, Arc::clone(trouble))),
            tokio::spawn(read_errors(errors, Arc::clone(trouble))),
        ];
        let pipes = Pipes { input: Arc::new(Mutex::new(Some(input))), messages };
        Ok((Self { child, readers }, pipes))
    }

    /// Ends the server and all that it started. Its pipe is closed already, which asks it to end;
    /// then it is told to, then it is made to, as the protocol has it. Gives how it ended, if it
    /// did so by itself.
    async fn end(&mut self) -> Option<String> {
        let status = timeout(GRACE, self.child.wait()).await;
        #[cfg(unix)]
        if status.is_err() {
            /// The number of SIGTERM, the same on every Unix.
            const SIGTERM: i32 = 15;
            if self.child.signal(SIGTERM).is_ok() {
                let _ = timeout(GRACE, self.child.wait()).await;
            }
        }
        // The process may have left others behind; if there are none, this fails, as it should.
        let _ = self.child.start_kill();
        let _ = timeout(GRACE, self.child.wait()).await;
        for reader in &mut self.readers {
            if timeout(LEFTOVERS, &mut *reader).await.is_err() {
                reader.abort();
            }
        }
        Some(status.ok()?.ok()?.to_string())
    }
}

/// Reads the server's messages until it closes its output or nobody wants them any more.
async fn read_messages(
    output: impl AsyncRead + Unpin,
    messages: mpsc::Sender<ServerJsonRpcMessage>,
    trouble: Arc<Trouble>,
) {
    let mut output = BufReader::new(output);
    let mut line = Vec::new();
    while let Ok(Some(length)) = read_line(&mut output, &mut line, BYTE_LIMIT).await {
        if length > BYTE_LIMIT {
            trouble.too_long();
            return;
        }
        let text = String::from_utf8_lossy(&line);
        if text.trim().is_empty() {
            continue;
        }
        if let Some(message) = trouble.message(&text)
            && messages.send(message).await.is_err()
        {
            return;
        }
    }
}

/// Keeps the last lines of standard error. It must be read to the end: a server whose pipe is
/// full would wait.
async fn read_errors(errors: impl AsyncRead + Unpin, trouble: Arc<Trouble>) {
    let mut errors = BufReader::new(errors);
    let mut line = Vec::new();
    while let Ok(Some(_)) = read_line(&mut errors, &mut line, ERROR_LINE).await {
        trouble.hear(&line);
    }
}

/// Reads a line into `line`, at most about `limit` bytes of it, and gives its whole length;
/// nothing at the end.
async fn read_line(
    reader: &mut (impl AsyncBufRead + Unpin),
    line: &mut Vec<u8>,
    limit: usize,
) -> io::Result<Option<usize>> {
    line.clear();
    let mut length = 0_usize;
    loop {
        let bytes = reader.fill_buf().await?;
        if bytes.is_empty() {
            return Ok((length > 0).then_some(length));
        }
        let end = bytes.iter().position(|&byte| byte == b'\n');
        let taken = end.map_or(bytes.len(), |end| end + 1);
        if line.len() < limit {
            line.extend_from_slice(&bytes[..taken]);
        }
        length = length.saturating_add(taken);
        reader.consume(taken);
        // A line that never ends must not be waited for either.
        if end.is_some() || length > BYTE_LIMIT {
            return Ok(Some(length));
        }
    }
}

/// The pipes as `rmcp` wants them.
struct Pipes {
    input: Arc<Mutex<Option<ChildStdin>>>,
    messages: mpsc::Receiver<ServerJsonRpcMessage>,
}

impl Transport<RoleClient> for Pipes {
    type Error = io::Error;

    fn send(
        &mut self,
        message: ClientJsonRpcMessage,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let input = Arc::clone(&self.input);
        async move {
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
