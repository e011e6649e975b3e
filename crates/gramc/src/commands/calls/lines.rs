//! Files of calls, one JSON object a line.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use gram_tools::Call;
use serde_json::{Map, Value};

use crate::failure::Failure;

/// The most bytes of one line.
const LONGEST: u64 = 256 << 20;

/// A line of a file of calls.
pub(super) enum Line {
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
    reader: Box<dyn BufRead>,
    number: usize,
    ended: bool,
}

impl Lines {
    pub(super) fn open(path: &Path) -> Result<Self, Failure> {
        let reader: Box<dyn BufRead> = if path == Path::new("-") {
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

    fn read(&mut self) -> Result<Option<Line>, Failure> {
        loop {
            let mut bytes = Vec::new();
            self.number += 1;
            let read = self.reader.by_ref().take(LONGEST).read_until(b'\n', &mut bytes);
            let length = read.map_err(|error| Failure::path("read", &self.path, &error))?;
            if length == 0 {
                return Ok(None);
            }
            if bytes.len() as u64 == LONGEST {
                return Err(self.fail("this line is longer than 256 MiB"));
            }
            let text = String::from_utf8(bytes).map_err(|_| self.fail("this line is no UTF-8"))?;
            let text = text.trim_start_matches('\u{feff}').trim_end();
            if !text.is_empty() {
                return self.line(text).map(Some);
            }
        }
    }

    fn line(&self, text: &str) -> Result<Line, Failure> {
        let value: Value = serde_json::from_str(text)
            .map_err(|error| self.fail(&format!("this is no JSON: {}", told(&error))))?;
        let Value::Object(mut map) = value else {
            return Err(self.fail("a call is an object with `name` and `arguments`"));
        };
        if map.get("turn") == Some(&Value::Bool(true)) {
            return Ok(Line::Turn);
        }
        match map.get("reset") {
            Some(Value::Bool(true)) => return Ok(Line::Reset(None)),
            Some(Value::String(tool)) => return Ok(Line::Reset(Some(tool.clone()))),
            _ => {}
        }
        self.call(&mut map)
    }

    fn call(&self, map: &mut Map<String, Value>) -> Result<Line, Failure> {
        let Some(Value::String(name)) = map.remove("name") else {
            return Err(self.fail("this call has no `name`, which is the text that was called"));
        };
        let id = match map.remove("id") {
            None | Some(Value::Null) => None,
            Some(Value::String(id)) => Some(id),
            Some(Value::Number(id)) => Some(id.to_string()),
            Some(_) => return Err(self.fail("the `id` of a call is a text or a number")),
        };
        let arguments = map.remove("arguments").map(|arguments| match arguments {
            Value::String(text) => text,
            other => other.to_string(),
        });
        let at = match map.remove("at") {
            None | Some(Value::Null) => None,
            Some(at) => {
                let seconds = at.as_f64().filter(|seconds| seconds.is_finite());
                let at = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
                Some(at.ok_or_else(|| self.fail("`at` is a number of seconds, from 0 on"))?)
            }
        };
        Ok(Line::Call { call: Call { id, name, arguments }, at, result: map.remove("result") })
    }
}

/// What is wrong with the JSON of a line, with the column alone: it has one line.
fn told(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.rsplit_once(" at line ") {
        Some((what, _)) => format!("{what}, at column {}", error.column()),
        None => text,
    }
}

impl Iterator for Lines {
    type Item = Result<Line, Failure>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let line = self.read().transpose();
        self.ended = !matches!(line, Some(Ok(_)));
        line
    }
}
