//! Runs, written down as JSON lines.
//!
//! A line is an object with a `type`: `run` at the start, `user`, `reply`, `call` and `end`. Replies
//! have the form that scripts have, so a trace can be played back; calls have `name` and
//! `arguments`, so that they can be checked again. What secret parameters held stands in none.

use std::io::{self, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};

use crate::event::{Event, Watch};
use crate::message::Reply;
use crate::turn::Turn;

/// Writes what it sees, a line each. After the first line that cannot be written, nothing more is.
pub struct Trace<W> {
    to: Mutex<(W, Option<io::Error>)>,
    began: Instant,
}

impl<W> std::fmt::Debug for Trace<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Trace").finish_non_exhaustive()
    }
}

impl<W: Write> Trace<W> {
    /// A trace of an agent's run on a model.
    pub fn new(to: W, agent: &str, model: &str) -> Self {
        let trace = Self { to: Mutex::new((to, None)), began: Instant::now() };
        trace.write(&json!({"type": "run", "agent": agent, "model": model}));
        trace
    }

    fn to(&self) -> MutexGuard<'_, (W, Option<io::Error>)> {
        self.to.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self, line: &Value) {
        let mut to = self.to();
        let (out, failed) = &mut *to;
        if failed.is_some() {
            return;
        }
        let written = out.write_all(format!("{line}\n").as_bytes()).and_then(|()| out.flush());
        *failed = written.err();
    }

    /// Why the trace is not whole, where it is not.
    pub fn error(&self) -> Option<io::Error> {
        self.to().1.take()
    }
}

impl<W: Write + Send> Watch for Trace<W> {
    fn see(&self, agent: &str, event: &Event<'_>) {
        match event {
            Event::Begun { text } => {
                self.write(&json!({"type": "user", "agent": agent, "content": text}));
            }
            Event::Replied { reply, took } => self.write(&reply_line(agent, reply, *took)),
            Event::Called { call, verdict, took } => self.write(&json!({
                "type": "call",
                "agent": agent,
                "id": call.id,
                "name": call.name,
                "arguments": call.arguments,
                // When it was made, for throttles that look at it again.
                "at": self.began.elapsed().saturating_sub(*took).as_secs_f64(),
                "ms": milliseconds(*took),
                "verdict": verdict.json(),
            })),
            Event::Misfit { correction, .. } => {
                self.write(&json!({"type": "correction", "agent": agent, "content": correction}));
            }
            Event::Again { error, wait } => self.write(&json!({
                "type": "retry",
                "agent": agent,
                "error": error.detail,
                "wait_ms": milliseconds(*wait),
            })),
            Event::Ended(turn) => self.write(&end_line(agent, turn)),
            Event::Asked { .. } | Event::Text(_) => {}
        }
    }
}

fn reply_line(agent: &str, reply: &Reply, took: Duration) -> Value {
    let mut line = Map::new();
    line.insert("type".to_owned(), "reply".into());
    line.insert("agent".to_owned(), agent.into());
    if let Ok(Value::Object(reply)) = serde_json::to_value(reply) {
        line.extend(reply);
    }
    line.insert("ms".to_owned(), milliseconds(took));
    line.into()
}

fn end_line(agent: &str, turn: &Turn) -> Value {
    let mut line = Map::new();
    line.insert("type".to_owned(), "end".into());
    line.insert("agent".to_owned(), agent.into());
    if let Value::Object(turn) = turn.json() {
        line.extend(turn);
    }
    line.into()
}

/// Milliseconds, to the microsecond.
fn milliseconds(time: Duration) -> Value {
    json!((time.as_secs_f64() * 1e6).round() / 1e3)
}
