//! Traces: runs as JSON lines.
//!
//! Replies have the form that scripts have, so a trace can be played back. Calls have `name` and
//! `arguments`, so a trace can be checked again. Values of secret parameters are masked.

use std::borrow::Cow;
use std::io::{self, BufRead, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::message::Reply;
use crate::observer::{Event, Observer};
use crate::turn::TurnResult;

/// An invalid line of a trace.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{line}: {message}")]
pub struct TraceError {
    /// The number of the line, from 1.
    pub line: usize,
    /// Why the line is invalid.
    pub message: String,
}

/// One line of a trace: the agent and what happened to it.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub(crate) enum TraceLine<'l> {
    /// The first line.
    Run {
        agent: Cow<'l, str>,
        #[serde(default)]
        model: Cow<'l, str>,
    },
    /// A message of the user.
    User { agent: Cow<'l, str>, content: Cow<'l, str> },
    /// A reply of the model.
    Reply {
        agent: Cow<'l, str>,
        #[serde(flatten)]
        reply: Cow<'l, Reply>,
        #[serde(default)]
        ms: f64,
    },
    /// More text of a reply.
    Text { agent: Cow<'l, str>, content: Cow<'l, str> },
    /// A call begins in a reply.
    Begin { agent: Cow<'l, str>, id: Cow<'l, str>, name: Cow<'l, str> },
    /// More of the arguments of this call is certain.
    Partial {
        agent: Cow<'l, str>,
        id: Cow<'l, str>,
        #[serde(flatten)]
        update: Value,
    },
    /// A tool call and its verdict.
    Call(CallLine<'l>),
    /// The errors of an answer that does not have the agent's result type.
    Correction { agent: Cow<'l, str>, content: Cow<'l, str> },
    /// A failed model request that is retried.
    Retry {
        agent: Cow<'l, str>,
        #[serde(default)]
        error: Cow<'l, str>,
        #[serde(default)]
        wait_ms: f64,
    },
    /// Another model that is used because one is unavailable.
    Fallback {
        agent: Cow<'l, str>,
        #[serde(default)]
        model: Cow<'l, str>,
        #[serde(default)]
        error: Cow<'l, str>,
    },
    /// The end of a turn.
    End {
        agent: Cow<'l, str>,
        #[serde(flatten, skip_deserializing)]
        turn: Option<&'l TurnResult>,
    },
    /// A line of a later version.
    #[serde(other)]
    Unknown,
}

/// A tool call in a trace.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct CallLine<'l> {
    #[serde(default)]
    pub(crate) agent: Cow<'l, str>,
    #[serde(default)]
    pub(crate) id: Cow<'l, str>,
    pub(crate) name: Cow<'l, str>,
    #[serde(default)]
    pub(crate) arguments: Cow<'l, str>,
    /// Seconds from the start of the run to the call, for checks of throttles.
    #[serde(default)]
    pub(crate) at: f64,
    #[serde(default)]
    pub(crate) ms: f64,
    pub(crate) verdict: Value,
}

/// The parts of a verdict that summaries use.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct VerdictRecord {
    pub(crate) result: Option<Value>,
    pub(crate) message: Option<Value>,
    pub(crate) error: Option<ErrorRecord>,
    pub(crate) repairs: Vec<RepairRecord>,
}

/// The error of a rejected or failed call in a trace.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct ErrorRecord {
    /// The kind of the error, for example `validation_error`.
    pub error_type: String,
    /// The errors of the arguments, if the arguments are invalid.
    pub errors: Option<Vec<ParameterError>>,
}

/// The error of one argument.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct ParameterError {
    /// The name of the parameter.
    pub property: String,
    /// The code of the error, for example `NOT_IN_ENUM`.
    pub error_code: String,
    /// The value that the model sent.
    pub attempted_value: Value,
}

/// A tool call in a trace.
#[derive(Debug)]
pub struct CallRecord {
    /// The name of the tool.
    pub tool: String,
    /// The error of the call, if it was rejected or failed.
    pub error: Option<ErrorRecord>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct RepairRecord {
    pub(crate) path: String,
    pub(crate) rule: String,
}

/// Reads a trace. Empty lines are skipped.
pub(crate) fn read(
    text: &str,
) -> impl Iterator<Item = Result<(usize, TraceLine<'static>), TraceError>> {
    let lines = text.lines().zip(1..).filter(|(line, _)| !line.trim().is_empty());
    lines.map(|(text, line)| {
        // Tagged and flattened types lose numbers unless they are read from a `Value`.
        serde_json::from_str::<Value>(text)
            .and_then(serde_json::from_value)
            .map(|read| (line, read))
            .map_err(|error| TraceError { line, message: error.to_string() })
    })
}

/// Reads the tool calls of a trace. Invalid lines are skipped. Yields nothing if the first line does
/// not start a trace.
pub fn read_calls(input: impl BufRead) -> impl Iterator<Item = CallRecord> {
    let mut lines = input.lines().map_while(Result::ok);
    let first = lines.next().and_then(|line| read_line(&line));
    let is_trace = matches!(first, Some(TraceLine::Run { .. }));
    // Most lines are long replies, which are not worth parsing.
    let calls = lines.filter(|line| line.contains("\"verdict\""));
    calls.take_while(move |_| is_trace).filter_map(|line| {
        let Some(TraceLine::Call(call)) = read_line(&line) else { return None };
        let verdict = VerdictRecord::deserialize(&call.verdict).ok()?;
        Some(CallRecord { tool: call.name.into_owned(), error: verdict.error })
    })
}

fn read_line(line: &str) -> Option<TraceLine<'static>> {
    read(line).next()?.ok().map(|(_, line)| line)
}

/// Writes a run as a trace. Stops at the first line that cannot be written.
pub struct TraceWriter<W> {
    out: Arc<Mutex<(W, Option<io::Error>)>>,
    start: Instant,
    /// Whether replies are written while they grow.
    streams: bool,
    /// The ids of the calls that the agent runs in, joined by slashes.
    parent: String,
}

/// A line, and the calls that it is inside of.
#[derive(Serialize)]
struct NestedLine<'l> {
    #[serde(flatten)]
    line: &'l TraceLine<'l>,
    #[serde(skip_serializing_if = "str::is_empty")]
    parent: &'l str,
}

impl<W> std::fmt::Debug for TraceWriter<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TraceWriter").finish_non_exhaustive()
    }
}

impl<W: Write> TraceWriter<W> {
    /// Starts the trace of an agent's run on a model.
    pub fn new(out: W, agent: &str, model: &str) -> Self {
        let (out, start) = (Arc::new(Mutex::new((out, None))), Instant::now());
        let trace = Self { out, start, streams: false, parent: String::new() };
        trace.write(&TraceLine::Run { agent: agent.into(), model: model.into() });
        trace
    }

    /// Writes replies while they grow, too.
    #[must_use]
    pub fn with_growth(self) -> Self {
        Self { streams: true, ..self }
    }

    fn write(&self, line: &TraceLine<'_>) {
        let line = NestedLine { line, parent: &self.parent };
        let mut guard = self.out.lock();
        let (out, error) = &mut *guard;
        if error.is_some() {
            return;
        }
        let json = serde_json::to_string(&line).map_err(io::Error::from);
        let written = json.and_then(|json| out.write_all((json + "\n").as_bytes()));
        *error = written.and_then(|()| out.flush()).err();
    }

    /// The error that stopped the trace, if any.
    pub fn error(&self) -> Option<io::Error> {
        self.out.lock().1.take()
    }
}

impl<W: Write + Send> Observer for TraceWriter<W> {
    fn on_event(&self, agent: &str, event: &Event<'_>) {
        let agent = Cow::Borrowed(agent);
        self.write(&match *event {
            Event::TurnStarted { text } => TraceLine::User { agent, content: text.into() },
            Event::ModelReplied { reply, took } => {
                TraceLine::Reply { agent, reply: Cow::Borrowed(reply), ms: milliseconds(took) }
            }
            Event::ToolCalled { call, verdict, took } => TraceLine::Call(CallLine {
                agent,
                id: Cow::Borrowed(&call.id),
                name: Cow::Borrowed(&call.name),
                arguments: Cow::Borrowed(&call.arguments),
                at: self.start.elapsed().saturating_sub(took).as_secs_f64(),
                ms: milliseconds(took),
                verdict: verdict.json(),
            }),
            Event::AnswerRejected { correction, .. } => {
                TraceLine::Correction { agent, content: correction.into() }
            }
            Event::ModelRetried { error, wait } => TraceLine::Retry {
                agent,
                error: Cow::Borrowed(&error.detail),
                wait_ms: milliseconds(wait),
            },
            Event::ModelReplaced { error, model } => TraceLine::Fallback {
                agent,
                model: Cow::Borrowed(model),
                error: Cow::Borrowed(&error.detail),
            },
            Event::TurnEnded(turn) => TraceLine::End { agent, turn: Some(turn) },
            Event::ReplyText(text) if self.streams => {
                TraceLine::Text { agent, content: text.into() }
            }
            Event::CallBegan { id, name } if self.streams => {
                TraceLine::Begin { agent, id: id.into(), name: name.into() }
            }
            Event::CallGrew { id, update } if self.streams => {
                TraceLine::Partial { agent, id: id.into(), update: update.json() }
            }
            Event::ModelRequested { .. }
            | Event::ReplyText(_)
            | Event::CallBegan { .. }
            | Event::CallGrew { .. } => return,
        });
    }

    fn observe_call<'w>(&'w self, id: &str, _: &str) -> Option<Box<dyn Observer + 'w>> {
        let Self { start, streams, ref parent, .. } = *self;
        let parent = if parent.is_empty() { id.to_owned() } else { format!("{parent}/{id}") };
        Some(Box::new(Self { out: Arc::clone(&self.out), start, streams, parent }))
    }
}

/// Milliseconds, rounded to microseconds.
fn milliseconds(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e6).round() / 1e3
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failed step fails the test")]
mod tests {
    use super::*;

    #[test]
    fn written_lines_keep_their_form_and_are_read_back() {
        for line in [
            r#"{"type":"run","agent":"a","model":"m"}"#,
            r#"{"type":"user","agent":"a","content":"x"}"#,
            r#"{"type":"reply","agent":"a","content":"x","provider":{"n":1.5},"usage":{"input_tokens":3},"finish_reason":"stop","ms":2.125}"#,
            r#"{"type":"reply","agent":"a","tool_calls":[{"id":"1","name":"t","arguments":"{}"}],"finish_reason":"length","ms":2.0}"#,
            r#"{"type":"text","agent":"a","content":"x"}"#,
            r#"{"type":"begin","agent":"a","id":"1","name":"t"}"#,
            r#"{"type":"partial","agent":"a","id":"1","set":{"b":1.5},"append":{"c":"x"}}"#,
            r#"{"type":"call","agent":"a","id":"1","name":"t","arguments":"{}","at":0.5,"ms":1.0,"verdict":{"ok":true}}"#,
            r#"{"type":"correction","agent":"a","content":"x"}"#,
            r#"{"type":"retry","agent":"a","error":"busy","wait_ms":500.0}"#,
            r#"{"type":"fallback","agent":"a","model":"m","error":"busy"}"#,
        ] {
            let (_, read) = read(line).next().unwrap().unwrap();
            assert_eq!(serde_json::to_string(&read).unwrap(), line);
        }
    }
}
