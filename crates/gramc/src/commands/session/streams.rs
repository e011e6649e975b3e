//! Calls with arguments in several lines.

use std::collections::HashMap;

use gramc_tools::{CallStream, ReplyEnding, Session};
use serde_json::{Value, json};

use super::{MAX_LINE, MAX_RUNNING};
use crate::commands::calls::lines::{self, Entries, LineError};

/// A line about a call in pieces.
enum StreamLine {
    Begin(String),
    Chunk(String),
    End(ReplyEnding),
    Stop,
}

/// The outcome of such a line.
pub(super) enum StreamStep {
    /// The answer, if there is one.
    Print(Option<String>),
    /// The arguments are complete.
    End(Box<CallStream>, ReplyEnding),
}

/// The incomplete calls, by their ids.
#[derive(Default)]
pub(super) struct Streams(HashMap<String, CallStream>);

impl Streams {
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn contains(&self, id: &str) -> bool {
        self.0.contains_key(id)
    }

    /// Handles a line. `None` for lines about anything else.
    pub(super) fn take(
        &mut self,
        session: &Session,
        entries: &Entries<'_>,
    ) -> Result<Option<StreamStep>, LineError> {
        let Some(line) = read_line(entries)? else { return Ok(None) };
        let id = lines::id(entries)?.ok_or(LineError::Missing("`id` of the call"))?;
        if let StreamLine::Begin(name) = line {
            if self.contains(&id) {
                return Err(LineError::Expected("a call that has not begun"));
            }
            if self.len() >= MAX_RUNNING {
                return Err(LineError::Expected("fewer open calls"));
            }
            let mut stream = session.begin_stream(&name, Some(id.clone()));
            let update = describe_update(&id, &mut stream);
            self.0.insert(id, stream);
            return Ok(Some(StreamStep::Print(update)));
        }
        let unknown = || LineError::Expected("the `id` of a call that has begun");
        if let StreamLine::Chunk(chunk) = line {
            let stream = self.0.get_mut(&id).ok_or_else(unknown)?;
            if (stream.arguments().text().len() + chunk.len()) as u64 > MAX_LINE {
                self.0.remove(&id);
                return Err(LineError::Expected("arguments of at most 32 MiB; the call ended"));
            }
            stream.feed(&chunk);
            return Ok(Some(StreamStep::Print(describe_update(&id, stream))));
        }
        let stream = self.0.remove(&id).ok_or_else(unknown)?;
        Ok(Some(match line {
            StreamLine::End(ending) => StreamStep::End(Box::new(stream), ending),
            _ => StreamStep::Print(Some(session.stop_stream(stream).json().to_string())),
        }))
    }
}

fn read_line(entries: &Entries<'_>) -> Result<Option<StreamLine>, LineError> {
    for key in ["begin", "chunk", "end", "stop"] {
        let line = match (key, lines::value(entries, key)?) {
            (_, None) => continue,
            ("begin", Some(Value::String(name))) => StreamLine::Begin(name),
            ("chunk", Some(Value::String(chunk))) => StreamLine::Chunk(chunk),
            ("begin" | "chunk", Some(_)) => {
                return Err(LineError::Expected("a string as `begin` or `chunk`"));
            }
            ("end", Some(Value::Bool(true))) => StreamLine::End(lines::ending(entries)?),
            ("stop", Some(Value::Bool(true))) => StreamLine::Stop,
            _ => return Err(LineError::Expected("true as `end` or `stop`")),
        };
        return Ok(Some(line));
    }
    Ok(None)
}

fn describe_update(id: &str, stream: &mut CallStream) -> Option<String> {
    let update = stream.update();
    if update.is_empty() {
        return None;
    }
    let mut partial = json!({"id": id});
    if let (Value::Object(partial), Value::Object(update)) = (&mut partial, update.json()) {
        partial.extend(update);
    }
    Some(json!({"partial": partial}).to_string())
}
