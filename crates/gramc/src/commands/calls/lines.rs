//! Files of calls, one JSON object a line.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use gramc_agent::FinishReason;
use gramc_tools::{Call, ReplyEnding};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::failure::Failure;

/// The most bytes of one line.
const MAX_BYTES: u64 = 256 << 20;

/// The keys of a call other than `arguments`.
const KEYS: [&str; 7] = ["name", "id", "at", "result", "turn", "reset", "finish_reason"];

/// What a line says, each value as the text that it is.
pub(in crate::commands) type Entries<'l> = BTreeMap<String, &'l RawValue>;

/// A line of a file of calls.
#[expect(clippy::large_enum_variant, reason = "it is looked at and gone")]
pub(in crate::commands) enum CallLine {
    /// A call, with the moment that it is made at, and with the answer of the host where it
    /// executes the tool.
    Call { call: Call, at: Option<Duration>, result: Option<Value> },
    /// The user says something.
    Turn,
    /// A block is lifted: of this tool, or of all.
    Reset(Option<String>),
}

/// The lines of a file of calls, read one by one.
pub(super) struct Lines {
    path: PathBuf,
    reader: Box<dyn BufRead + Send>,
    number: usize,
    ended: bool,
}

impl Lines {
    pub(super) fn open(path: &Path) -> Result<Self, Failure> {
        let reader: Box<dyn BufRead + Send> = if path == Path::new("-") {
            Box::new(BufReader::new(io::stdin()))
        } else {
            let file = File::open(path).map_err(|error| Failure::path("read", path, &error))?;
            Box::new(BufReader::new(file))
        };
        Ok(Self { path: path.to_owned(), reader, number: 0, ended: false })
    }

    fn fail(&self, what: &str) -> Failure {
        let path = match self.path.to_str() {
            Some("-") => "<stdin>".to_owned(),
            _ => self.path.display().to_string(),
        };
        Failure::new(format!("{path}:{}: {what}", self.number))
    }

    fn read(&mut self) -> Result<Option<CallLine>, Failure> {
        loop {
            let mut bytes = Vec::new();
            self.number += 1;
            let read = self.reader.by_ref().take(MAX_BYTES).read_until(b'\n', &mut bytes);
            let length = read.map_err(|error| Failure::path("read", &self.path, &error))?;
            if length == 0 {
                return Ok(None);
            }
            if bytes.len() as u64 == MAX_BYTES {
                return Err(self.fail("this line is longer than 256 MiB"));
            }
            let text = String::from_utf8(bytes).map_err(|_| self.fail("invalid UTF-8"))?;
            let text = text.trim_start_matches('\u{feff}').trim_end();
            if text.is_empty() {
                continue;
            }
            let line = entries(text).and_then(|map| call_line(&map));
            if let Some(line) = line.map_err(|error| self.fail(&error.to_string()))? {
                return Ok(Some(line));
            }
        }
    }
}

/// A line is invalid.
#[derive(Debug, thiserror::Error)]
pub(in crate::commands) enum LineError {
    /// The line is not JSON.
    #[error("invalid JSON: {0}")]
    Json(String),
    /// The value of a key is not JSON.
    #[error("`{key}` is not valid JSON: {error}")]
    Value { key: String, error: String },
    /// The line or a value has another form.
    #[error("expected {0}")]
    Expected(&'static str),
    /// A key is missing.
    #[error("missing {0}")]
    Missing(&'static str),
    /// A call has an unknown key, and no arguments.
    #[error(
        "this call has no `arguments`, and `{0}` is no key of a call: write `arguments`, or leave it out"
    )]
    UnknownKey(String),
    /// An answer belongs to no question.
    #[error("no question with the id `{0}` waits for an answer")]
    NoQuestion(String),
    /// The answer to a question for approval is that of an invocation.
    #[error("`{0}` asks for approval: expected `approved`")]
    NotApproval(String),
    /// The answer to an invocation is an approval.
    #[error("`{0}` is an invocation: expected `result` or `error`")]
    NotInvocation(String),
}

/// Reads the entries of a line, which has to be an object.
pub(in crate::commands) fn entries(text: &str) -> Result<Entries<'_>, LineError> {
    let invalid = |error: serde_json::Error| LineError::Json(describe_json_error(&error));
    let raw: &RawValue = serde_json::from_str(text).map_err(invalid)?;
    if !raw.get().starts_with('{') {
        return Err(LineError::Expected("an object with `name` and `arguments`"));
    }
    // Arguments stay text: their own verdict limits their depth.
    serde_json::from_str(text).map_err(invalid)
}

/// Reads a line. `None` for the lines of a trace that are not calls.
pub(in crate::commands) fn call_line(map: &Entries<'_>) -> Result<Option<CallLine>, LineError> {
    if value(map, "turn")? == Some(Value::Bool(true)) {
        return Ok(Some(CallLine::Turn));
    }
    match value(map, "type")? {
        Some(Value::String(kind)) if kind == "user" => return Ok(Some(CallLine::Turn)),
        Some(Value::String(kind)) if kind != "call" => return Ok(None),
        _ => {}
    }
    match value(map, "reset")? {
        Some(Value::Bool(true)) => return Ok(Some(CallLine::Reset(None))),
        Some(Value::String(tool)) => return Ok(Some(CallLine::Reset(Some(tool)))),
        _ => {}
    }
    call(map).map(Some)
}

/// Reads the value of a key.
pub(in crate::commands) fn value(map: &Entries<'_>, key: &str) -> Result<Option<Value>, LineError> {
    let Some(raw) = map.get(key) else { return Ok(None) };
    serde_json::from_str(raw.get()).map(Some).map_err(|error| LineError::Value {
        key: key.to_owned(),
        error: describe_json_error(&error),
    })
}

/// The identifier of a line, if it has one.
pub(in crate::commands) fn id(map: &Entries<'_>) -> Result<Option<String>, LineError> {
    match value(map, "id")? {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(id)) => Ok(Some(id)),
        Some(Value::Number(id)) => Ok(Some(id.to_string())),
        Some(_) => Err(LineError::Expected("a string or a number as `id`")),
    }
}

fn call(map: &Entries<'_>) -> Result<CallLine, LineError> {
    let name = match value(map, "name")? {
        Some(Value::String(name)) => name,
        // No tool has such a name, as the verdict says.
        Some(Value::Null) => String::new(),
        Some(other) => other.to_string(),
        None => return Err(LineError::Missing("`name` of the called tool")),
    };
    let id = id(map)?;
    let arguments = match map.get("arguments") {
        Some(raw) if raw.get().starts_with('"') => match value(map, "arguments")? {
            Some(Value::String(text)) => Some(text),
            _ => None,
        },
        Some(raw) => Some(raw.get().to_owned()),
        None => {
            // An unknown key is most likely a misspelled `arguments`.
            if let Some(key) = map.keys().find(|key| !KEYS.contains(&key.as_str())) {
                return Err(LineError::UnknownKey(key.clone()));
            }
            None
        }
    };
    let at = match value(map, "at")? {
        None | Some(Value::Null) => None,
        Some(at) => {
            let seconds = at.as_f64().filter(|seconds| seconds.is_finite());
            let at = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
            Some(at.ok_or(LineError::Expected("a number of seconds, at least 0, as `at`"))?)
        }
    };
    let result = value(map, "result")?;
    let verdict = map.get("verdict").map(|raw| serde_json::from_str(raw.get()));
    let RecordedVerdict { error } = verdict.and_then(Result::ok).unwrap_or_default();
    let recorded = recorded_cut_off(&error.unwrap_or_default().error_type);
    let ending = ending(map)?;
    let ending = recorded.map_or(ending, ReplyEnding::CutOff);
    Ok(CallLine::Call { call: Call { id, name, arguments, ending, ..Call::default() }, at, result })
}

/// How the reply of the model ended.
pub(in crate::commands) fn ending(map: &Entries<'_>) -> Result<ReplyEnding, LineError> {
    match value(map, "finish_reason")? {
        Some(Value::String(word)) => Ok(FinishReason::of_provider(&word).ending()),
        None | Some(Value::Null) => Ok(ReplyEnding::Unknown),
        Some(_) => Err(LineError::Expected("a string as `finish_reason`")),
    }
}

/// The verdict on a recorded call, as far as it matters here.
#[derive(Default, Deserialize)]
struct RecordedVerdict {
    error: Option<RecordedError>,
}

#[derive(Default, Deserialize)]
struct RecordedError {
    #[serde(default)]
    error_type: String,
}

/// Why a recorded call was not complete, by the type of its error: it is not run later, either.
pub(super) fn recorded_cut_off(error_type: &str) -> Option<&'static str> {
    (error_type == "reply_cut_off").then_some("the recorded reply ended early")
}

/// What is wrong with the JSON of a line, with the column alone: it has one line.
fn describe_json_error(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.rsplit_once(" at line ") {
        Some((what, _)) => format!("{what}, at column {}", error.column()),
        None => text,
    }
}

impl Iterator for Lines {
    type Item = Result<CallLine, Failure>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let line = self.read().transpose();
        self.ended = !matches!(line, Some(Ok(_)));
        line
    }
}

impl Lines {
    /// The next line, without blocking other tasks.
    pub(super) async fn next_later(mut self) -> Result<(Option<CallLine>, Self), Failure> {
        let read = tokio::task::spawn_blocking(move || {
            let line = self.next().transpose();
            (line, self)
        });
        let failed = |_| Failure::new("internal error while reading the calls");
        let (line, lines) = read.await.map_err(failed)?;
        Ok((line?, lines))
    }
}
