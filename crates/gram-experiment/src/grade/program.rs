//! Programs that grade runs.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};

use crate::ExperimentError;
use crate::run::Transcript;

/// Maximum duration of a grading program.
const TIME_LIMIT: Duration = Duration::from_mins(1);
/// Maximum bytes of its output that are kept.
const MAX_OUTPUT: u64 = 2_000;
/// How long a pipe may stay open after the program has ended.
const LEFTOVERS: Duration = Duration::from_millis(200);
/// The exit codes of shells for a program that cannot be started or found.
const NOT_STARTED: [i32; 2] = [126, 127];

/// Why a program cannot be run, if that is known in advance: nothing has its name.
pub(super) fn fault(program: &str) -> Option<String> {
    let is_there = if program.contains(std::path::is_separator) {
        Path::new(program).is_file()
    } else {
        let folders = std::env::var_os("PATH").unwrap_or_default();
        std::env::split_paths(&folders).any(|folder| is_program(&folder.join(program)))
    };
    (!is_there).then(|| format!("there is no program `{program}`"))
}

fn is_program(path: &Path) -> bool {
    let with_suffix = PathBuf::from(format!("{}{}", path.display(), std::env::consts::EXE_SUFFIX));
    path.is_file() || with_suffix.is_file()
}

/// Runs a grading program with the transcript on standard input. Exit code 0 means success, and any
/// other one that the run does not meet the expectation, with the output as the reason.
///
/// # Errors
///
/// The program cannot be started, is killed, or takes too long.
pub(super) async fn grade(
    command: &[String],
    transcript: &Transcript,
) -> Result<Option<String>, ExperimentError> {
    let (program, arguments) =
        command.split_first().map_or(("", &[][..]), |(first, rest)| (first.as_str(), rest));
    let failed = |message: String| ExperimentError::Grader { program: program.to_owned(), message };
    let mut child = tokio::process::Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .map_err(|error| failed(error.to_string()))?;
    let input_json = input(transcript);
    let (mut input, output, errors) =
        (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let write = async {
        if let Some(input) = &mut input {
            // The program may exit without reading everything.
            let _ = input.write_all(input_json.as_bytes()).await;
        }
        drop(input);
    };
    let reading = [tokio::spawn(beginning(output)), tokio::spawn(beginning(errors))];
    let run = async { tokio::join!(write, child.wait()).1 };
    let Ok(status) = tokio::time::timeout(TIME_LIMIT, run).await else {
        return Err(failed(format!("it runs longer than {} s", TIME_LIMIT.as_secs())));
    };
    let status = status.map_err(|error| failed(error.to_string()))?;
    if status.success() {
        return Ok(None);
    }
    let mut said = String::new();
    for mut pipe in reading {
        // What the program started may keep the pipe open.
        let text = tokio::time::timeout(LEFTOVERS, &mut pipe).await;
        pipe.abort();
        let text = text.ok().and_then(Result::ok).unwrap_or_default();
        if !text.trim().is_empty() {
            said.push_str(if said.is_empty() { ": " } else { "\n" });
            said.push_str(text.trim());
        }
    }
    match status.code() {
        Some(code) if !NOT_STARTED.contains(&code) => {
            Ok(Some(format!("`{program}` failed ({status}){said}")))
        }
        _ => Err(failed(format!("it did not grade ({status}){said}"))),
    }
}

/// The transcript, without the name of the arm.
fn input(transcript: &Transcript) -> String {
    let Transcript { case, definition, text, messages, calls, .. } = transcript;
    // It was read before.
    let definition: Value = serde_json::from_str(definition).unwrap_or_default();
    let calls = calls
        .iter()
        .map(|call| json!({"name": call.name, "arguments": call.arguments, "ok": call.ok}));
    let calls: Value = calls.collect();
    json!({
        "case": case, "definition": definition, "text": text, "messages": messages, "calls": calls,
    })
    .to_string()
}

/// The beginning of a text. The rest is read, so that the program can end.
async fn beginning(pipe: Option<impl AsyncRead + Unpin>) -> String {
    let Some(mut pipe) = pipe else { return String::new() };
    let mut bytes = Vec::new();
    // What was read before an error counts.
    let _ = (&mut pipe).take(MAX_OUTPUT).read_to_end(&mut bytes).await;
    let _ = tokio::io::copy(&mut pipe, &mut tokio::io::sink()).await;
    String::from_utf8_lossy(&bytes).into_owned()
}
