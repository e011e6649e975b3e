//! The call journal, for tools that run at most once with the same arguments.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

/// What became of the calls of tools with `once: true`.
///
/// A call is recorded before it runs, and its outcome afterwards. A call whose outcome was never
/// recorded may have run, so it is not run again. With a file, this holds for all processes that use
/// the file, one after the other; without one, for the calls of a session.
#[derive(Debug, Default)]
pub struct CallJournal(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    calls: HashMap<String, CallState>,
    file: Option<JournalFile>,
}

#[derive(Debug)]
enum CallState {
    Started,
    Done(Value),
}

#[derive(Debug)]
struct JournalFile {
    file: File,
    /// The length up to the last complete line, in bytes.
    length: u64,
}

/// A journal cannot be used.
#[allow(missing_docs, reason = "each variant has its message")]
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error("another program is using it")]
    InUse,
    #[error("line {line} is not a line of a call journal: {detail}")]
    Invalid { line: usize, detail: String },
}

/// What is known of a call that is about to run.
#[derive(Debug, PartialEq)]
pub(crate) enum Earlier {
    /// Nothing: it may run, and is recorded as started.
    None,
    /// It was started, and may have run.
    Started,
    /// It ran, with this result.
    Done(Value),
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "lowercase")]
enum JournalLine {
    Started { call: String, tool: String, arguments: Value },
    Failed { call: String },
    Done { call: String, result: Value },
}

/// The maximum length of a line in bytes.
const MAX_LINE: u64 = 64 << 20;

const START: &[u8] = br#"{"state":""#;

/// Identifies a call by its tool and arguments, however their JSON is written.
pub(crate) fn call_key(tool: &str, arguments: &str) -> String {
    let arguments = match serde_json::from_str(arguments) {
        Ok(value) => gramc_json_schema::values::canonical(&value),
        Err(_) => arguments.to_owned(),
    };
    hex(&Sha256::digest(format!("{tool}\0{arguments}")))
}

/// Bytes as hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut out, byte| {
        // Writing to a `String` cannot fail.
        let _ = write!(out, "{byte:02x}");
        out
    })
}

impl CallJournal {
    /// Opens the journal in a file, which is made if there is none.
    pub fn open(path: &Path) -> Result<Self, JournalError> {
        let file = OpenOptions::new().read(true).append(true).create(true).open(path)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(JournalError::InUse),
            Err(TryLockError::Error(error)) => return Err(error.into()),
        }
        let (mut calls, mut length) = (HashMap::new(), 0_u64);
        let (mut reader, mut text) = (BufReader::new(&file), Vec::new());
        for line in 1.. {
            text.clear();
            let read = reader.by_ref().take(MAX_LINE + 1).read_until(b'\n', &mut text)?;
            if read as u64 > MAX_LINE {
                let detail = format!("it is longer than {} MiB", MAX_LINE >> 20);
                return Err(JournalError::Invalid { line, detail });
            }
            let is_ours = text.starts_with(START) || START.starts_with(&text);
            // A line without its end was never completed, so what it says did not happen.
            if !text.ends_with(b"\n") && is_ours {
                break;
            }
            // Tagged types lose numbers unless they are read from a `Value`.
            let parsed = serde_json::from_slice::<Value>(&text).and_then(serde_json::from_value);
            let invalid = |error: serde_json::Error| JournalError::Invalid {
                line,
                detail: error.to_string(),
            };
            match parsed.map_err(invalid)? {
                JournalLine::Started { call, .. } => calls.insert(call, CallState::Started),
                JournalLine::Failed { call } => calls.remove(&call),
                JournalLine::Done { call, result } => calls.insert(call, CallState::Done(result)),
            };
            length += read as u64;
        }
        file.set_len(length)?;
        let file = Some(JournalFile { file, length });
        Ok(Self(Mutex::new(State { calls, file })))
    }

    /// Records that a call starts, unless it was started before. `arguments` are for readers of the
    /// file.
    /// If that fails, the call must not run.
    pub(crate) fn start(&self, call: &str, tool: &str, arguments: &str) -> io::Result<Earlier> {
        let mut state = self.0.lock();
        match state.calls.get(call) {
            Some(CallState::Started) => return Ok(Earlier::Started),
            Some(CallState::Done(result)) => return Ok(Earlier::Done(result.clone())),
            None => {}
        }
        if let Some(file) = &mut state.file {
            let arguments = serde_json::from_str(arguments).unwrap_or_default();
            let (call, tool) = (call.to_owned(), tool.to_owned());
            file.append(&JournalLine::Started { call, tool, arguments })?;
            file.file.sync_data()?;
        }
        state.calls.insert(call.to_owned(), CallState::Started);
        Ok(Earlier::None)
    }

    /// Records that a call ran and what its result is, or with `None`, that it had no effect. Where
    /// that cannot be recorded, the outcome stays unknown to later processes.
    pub(crate) fn end(&self, call: &str, result: Option<Value>) {
        let mut state = self.0.lock();
        let call = call.to_owned();
        if let Some(file) = &mut state.file {
            let line = match &result {
                Some(result) => JournalLine::Done { call: call.clone(), result: result.clone() },
                None => JournalLine::Failed { call: call.clone() },
            };
            let _ = file.append(&line);
        }
        match result {
            Some(result) => state.calls.insert(call, CallState::Done(result)),
            None => state.calls.remove(&call),
        };
    }
}

impl JournalFile {
    /// Appends a line, or leaves the file as it was.
    fn append(&mut self, line: &JournalLine) -> io::Result<()> {
        let text = serde_json::to_string(line)? + "\n";
        if text.len() as u64 > MAX_LINE {
            return Err(io::Error::other(format!("the call has more than {} MiB", MAX_LINE >> 20)));
        }
        if let Err(error) = self.file.write_all(text.as_bytes()) {
            let _ = self.file.set_len(self.length);
            return Err(error);
        }
        self.length += text.len() as u64;
        Ok(())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failed step fails the test")]
mod tests {
    use serde_json::json;

    use super::*;

    fn start(journal: &CallJournal, call: &str) -> Earlier {
        journal.start(call, "pay", r#"{"amount":1.50}"#).unwrap()
    }

    #[test]
    fn a_call_starts_once_until_it_is_known_to_have_had_no_effect() {
        let journal = CallJournal::default();
        assert_eq!(start(&journal, "a"), Earlier::None);
        assert_eq!(start(&journal, "a"), Earlier::Started);
        assert_eq!(start(&journal, "b"), Earlier::None);
        journal.end("a", None);
        assert_eq!(start(&journal, "a"), Earlier::None);
        journal.end("a", Some(json!(5)));
        assert_eq!(start(&journal, "a"), Earlier::Done(json!(5)));
    }

    #[test]
    fn a_file_keeps_what_earlier_processes_did() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.jsonl");
        let exact: Value = serde_json::from_str("1.50").unwrap();
        let journal = CallJournal::open(&path).unwrap();
        for call in ["started", "done", "failed"] {
            assert_eq!(start(&journal, call), Earlier::None);
        }
        journal.end("done", Some(exact.clone()));
        journal.end("failed", None);
        assert!(matches!(CallJournal::open(&path), Err(JournalError::InUse)));
        drop(journal);
        // A process was killed while it wrote.
        let whole = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, format!("{whole}{{\"state\":\"done\",\"call\":\"star")).unwrap();
        let journal = CallJournal::open(&path).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), whole);
        assert_eq!(start(&journal, "started"), Earlier::Started);
        assert_eq!(start(&journal, "done"), Earlier::Done(exact));
        assert_eq!(start(&journal, "failed"), Earlier::None);
    }

    #[test]
    fn a_file_that_is_no_journal_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notes.txt");
        std::fs::write(&path, "{\"state\":\"failed\",\"call\":\"a\"}\nnotes\n").unwrap();
        let error = CallJournal::open(&path).unwrap_err().to_string();
        assert!(error.starts_with("line 2 is not a line of a call journal"), "{error}");
        assert!(std::fs::read_to_string(&path).unwrap().ends_with("notes\n"));
        #[cfg(unix)]
        assert!(CallJournal::open(Path::new("/dev/zero")).is_err());
        std::fs::write(&path, "notes").unwrap();
        assert!(CallJournal::open(&path).is_err());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "notes");
    }

    #[test]
    fn calls_are_the_same_however_they_are_written() {
        let key = call_key("pay", r#"{"a": 1, "b": "x"}"#);
        assert_eq!(call_key("pay", r#"{"b":"x","a":1.0}"#), key);
        assert_ne!(call_key("pay", r#"{"b":"y","a":1.0}"#), key);
        assert_ne!(call_key("refund", r#"{"a": 1, "b": "x"}"#), key);
    }
}
