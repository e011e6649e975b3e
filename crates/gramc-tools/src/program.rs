//! Runs programs that read an input and write an output.

use std::process::ExitStatus;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::ChildStdin;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use crate::environment::ProgramEnvironment;
use crate::invocation::{InvocationError, InvocationErrorKind};
use crate::process::ProcessGroup;
use crate::sanitize::{TEXT_LENGTH, clean, sanitize_line};

/// How long a pipe may be empty after its program has ended, before it counts as read. A process
/// that the program started may keep it open.
const LEFTOVERS: Duration = Duration::from_millis(200);
/// How many bytes are read at once; as many as a pipe holds on Linux.
const PART: usize = 64 << 10;

/// The end of a program that ran.
pub(crate) struct FinishedProgram {
    /// The program, for messages.
    pub(crate) who: String,
    pub(crate) status: ExitStatus,
    /// What it wrote to standard output.
    pub(crate) output: Vec<u8>,
    /// The end of what it wrote to standard error.
    complained: Vec<u8>,
}

impl FinishedProgram {
    /// The error of a program that did not succeed.
    pub(crate) fn failure(&self) -> InvocationError {
        // Where it was cut is marked, since of a secret an end may be left there.
        let cut = self.complained.len() > TEXT_LENGTH;
        let start =
            self.complained.iter().skip(usize::from(cut)).position(|byte| byte & 0xC0 != 0x80);
        let start = if cut { start.unwrap_or(0) + 1 } else { 0 };
        let complaint =
            clean(&String::from_utf8_lossy(self.complained.get(start..).unwrap_or_default()));
        let complaint = if cut { format!("…{complaint}") } else { complaint };
        // On Unix a status without a code is a signal.
        let (kind, what) = match self.status.code() {
            Some(_) => (InvocationErrorKind::Failed, "failed"),
            None => (InvocationErrorKind::Died, "was killed"),
        };
        let complaint = match complaint.trim_start() {
            "" => " and wrote nothing to standard error".to_owned(),
            complaint => format!(" and wrote to standard error:\n{complaint}"),
        };
        InvocationError::new(kind, format!("{} {what} ({}){complaint}", self.who, self.status))
    }
}

/// Runs a program to its end. It gets the input on its standard input, and may write at most `max`
/// bytes. Dropping the future kills it and all that it started.
pub(crate) async fn run_program(
    run: &[String],
    environment: &ProgramEnvironment,
    input: &[u8],
    max: usize,
) -> Result<FinishedProgram, InvocationError> {
    let Some((program, arguments)) = run.split_first() else {
        return Err(InvocationError::unreachable("the command is empty"));
    };
    // The arguments may hold a password, and stay out of messages.
    let who = format!("the program `{}`", sanitize_line(program));
    let started = ProcessGroup::start(program, arguments, environment);
    let (mut group, pipes) = started
        .map_err(|why| InvocationError::unreachable(format!("{who} cannot be run: {why}")))?;
    let mut said = Vec::new();
    let mut complained = Vec::new();
    let ended = CancellationToken::new();
    // To leave this early drops the group, and so kills it.
    let (status, (), (), ()) = tokio::try_join!(
        async {
            let status = group.wait().await;
            ended.cancel();
            status.map_err(|error| InvocationError::crash(format!("{who} was lost: {error}")))
        },
        write(pipes.input, input, &ended),
        async {
            read(pipes.output, &ended, |part| {
                if part.len() > max - said.len() {
                    return Err(InvocationError::too_large(&who, max));
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
    Ok(FinishedProgram { who, status, output: said, complained })
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
