//! Programs that get the arguments on standard input and answer on standard output.

use std::fmt;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::ChildStdin;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use super::{Loader, environment, flag, raw_answer, run_unless_cancelled, texts, too_large};
use crate::environment::ProgramEnvironment;
use crate::invocation::{
    Answer, AnswerFuture, Implementation, Invocation, InvocationError, InvocationErrorKind,
};
use crate::process::ProcessGroup;
use crate::sanitize::{TEXT_LENGTH, clean, sanitize_line};

/// How long a pipe may be empty after its program has ended, before it counts as read. A process
/// that the program started may keep it open.
const LEFTOVERS: Duration = Duration::from_millis(200);
/// How many bytes are read at once; as many as a pipe holds on Linux.
const PART: usize = 64 << 10;

/// A program. It gets the arguments as one JSON object on its standard input, and answers on its
/// standard output, with JSON, or with text where the tool's result is text.
///
/// A non-zero exit is a failure, with the end of what the program wrote to standard error. What
/// the program started is killed when it has answered or the call is dropped.
#[derive(Clone)]
pub struct Command {
    run: Arc<[String]>,
    environment: Arc<ProgramEnvironment>,
    is_content: bool,
}

impl Command {
    /// The program and its arguments, run in `folder`. A program whose name holds a path separator
    /// is looked for from `folder`, any other where the system looks for programs.
    pub fn new(run: Vec<String>, folder: impl Into<PathBuf>) -> Self {
        Self::with_environment(run, ProgramEnvironment::in_folder(&folder.into()))
    }

    /// The program and its arguments, run with an environment.
    pub fn with_environment(run: Vec<String>, environment: ProgramEnvironment) -> Self {
        Self { run: run.into(), environment: Arc::new(environment), is_content: false }
    }

    pub(super) fn load(
        loader: &Loader<'_>,
        declared: &gram_model::Implementation,
    ) -> Result<Self, String> {
        let environment = environment(loader, declared)?;
        let is_content = flag(declared, "content");
        Ok(Self { is_content, ..Self::with_environment(texts(declared, "run"), environment) })
    }
}

impl fmt::Debug for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The arguments may hold a password.
        let program = self.run.first().map(String::as_str);
        f.debug_struct("Command")
            .field("program", &program.unwrap_or_default())
            .field("environment", &self.environment)
            .finish_non_exhaustive()
    }
}

impl Implementation for Command {
    fn kind(&self) -> &'static str {
        "Command"
    }

    fn invoke(&self, invocation: Invocation) -> AnswerFuture {
        let Self { run, environment, is_content } = self.clone();
        let cancelled = invocation.cancelled.clone();
        Box::pin(run_unless_cancelled(cancelled, async move {
            answer(&run, &environment, &invocation, is_content).await
        }))
    }

    fn secrets(&self) -> &[String] {
        self.environment.secrets()
    }
}

async fn answer(
    run: &[String],
    environment: &ProgramEnvironment,
    invocation: &Invocation,
    is_content: bool,
) -> Result<Answer, InvocationError> {
    let Some((program, arguments)) = run.split_first() else {
        return Err(InvocationError::new(InvocationErrorKind::Unreachable, "the command is empty"));
    };
    // The arguments may hold a password, and stay out of messages.
    let who = format!("the program `{}`", sanitize_line(program));
    let started = ProcessGroup::start(program, arguments, environment);
    let (mut group, pipes) = started.map_err(|why| {
        let detail = format!("{who} cannot be run: {why}");
        InvocationError::new(InvocationErrorKind::Unreachable, detail)
    })?;
    let mut said = Vec::new();
    let mut complained = Vec::new();
    let ended = CancellationToken::new();
    // To leave this early drops the group, and so kills it.
    let (status, (), (), ()) = tokio::try_join!(
        async {
            let status = group.wait().await;
            ended.cancel();
            status.map_err(|error| {
                InvocationError::new(InvocationErrorKind::Died, format!("{who} was lost: {error}"))
            })
        },
        write(pipes.input, invocation.arguments.as_bytes(), &ended),
        async {
            let max = invocation.max_answer;
            read(pipes.output, &ended, |part| {
                if part.len() > max - said.len() {
                    return Err(too_large(&who, max));
                }
                said.extend_from_slice(part);
                Ok(())
            })
            .await
        },
        read(pipes.errors, &ended, |part| {
            complained.extend_from_slice(part);
            // One byte more shows that there was more.
            let extra = complained.len().saturating_sub(TEXT_LENGTH + 1);
            complained.drain(..extra);
            Ok(())
        }),
    )?;
    group.kill();
    if !status.success() {
        return Err(failed(&who, status, &complained));
    }
    raw_answer(&who, said, is_content)
}

fn failed(who: &str, status: ExitStatus, complained: &[u8]) -> InvocationError {
    // Where it was cut is marked, since of a secret an end may be left there.
    let cut = complained.len() > TEXT_LENGTH;
    let start = complained.iter().skip(usize::from(cut)).position(|byte| byte & 0xC0 != 0x80);
    let start = if cut { start.unwrap_or(0) + 1 } else { 0 };
    let complaint = clean(&String::from_utf8_lossy(complained.get(start..).unwrap_or_default()));
    let complaint = if cut { format!("…{complaint}") } else { complaint };
    // On Unix a status without a code is a signal.
    let (kind, what) = match status.code() {
        Some(_) => (InvocationErrorKind::Failed, "failed"),
        None => (InvocationErrorKind::Died, "was killed"),
    };
    let complaint = match complaint.trim_start() {
        "" => " and wrote nothing to standard error".to_owned(),
        complaint => format!(" and wrote to standard error:\n{complaint}"),
    };
    InvocationError::new(kind, format!("{who} {what} ({status}){complaint}"))
}

/// Gives the program its input. One that does not read it, or not all of it, may still answer.
async fn write(
    mut input: ChildStdin,
    bytes: &[u8],
    ended: &CancellationToken,
) -> Result<(), InvocationError> {
    tokio::select! {
        _ = input.write_all(bytes) => {}
        () = ended.cancelled() => {}
    }
    Ok(())
}

/// Reads a pipe to its end, or until it has been empty for a while after the program has ended.
async fn read(
    mut pipe: impl AsyncRead + Unpin,
    ended: &CancellationToken,
    mut take: impl FnMut(&[u8]) -> Result<(), InvocationError>,
) -> Result<(), InvocationError> {
    let mut part = vec![0; PART];
    loop {
        let length = tokio::select! {
            biased;
            length = pipe.read(&mut part) => length,
            () = async { ended.cancelled().await; sleep(LEFTOVERS).await } => Ok(0),
        };
        match length {
            // An error means that the pipe is gone, and so does its end.
            Ok(0) | Err(_) => return Ok(()),
            Ok(length) => take(&part[..length])?,
        }
    }
}

#[cfg(all(test, unix))]
mod tests;
