//! Answers from a recording.

use std::sync::Arc;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Map, Value};
use smol_str::SmolStr;

use super::{Declaration, LoadError};
use crate::injected_source::SourceError;
use crate::invocation::{Answer, AnswerFuture, Implementation, Invocation, InvocationError};
use crate::masks::MASK;
use crate::sanitize::beginning;
use gramc_json_schema::values::same;

/// A recording of a tool's calls, which answers as the tool did.
///
/// A call is answered by the recorded one with equal arguments. Where there are several, the first
/// call gets the first, the second the second, and all further ones the last.
#[derive(Debug, Clone)]
pub struct Replay {
    calls: Arc<[RecordedCall]>,
}

/// A line of a recording is no call.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line} of the recording is not a call: {detail}")]
pub struct ReplayError {
    /// The number of the line; the first is 1.
    pub line: usize,
    /// The reason.
    pub detail: String,
}

#[derive(Debug)]
struct RecordedCall {
    arguments: Map<String, Value>,
    outcome: Result<Value, RecordedFailure>,
}

/// The message of a recorded call that failed.
#[derive(Debug)]
struct RecordedFailure(String);

/// A line, as far as it matters: a call with its result, gramc's verdict on a call, or a line of a
/// trace, which has the verdict within.
#[derive(Deserialize)]
struct RecordedLine {
    #[serde(rename = "type")]
    kind: Option<String>,
    verdict: Option<Box<RecordedLine>>,
    name: Option<String>,
    stats: Option<IgnoredAny>,
    arguments: Option<Value>,
    ok: Option<bool>,
    // A result of null is one.
    #[serde(default, deserialize_with = "read_present")]
    result: Option<Value>,
    error: Option<Value>,
    message: Option<String>,
}

fn read_present<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(from).map(Some)
}

impl Replay {
    /// Reads a recording with one JSON object per line, and keeps the calls of `tool`. A line is a
    /// call with its result (`name`, `arguments`, `result`), a verdict of `gramc`, which adds `ok`
    /// and, for failures, `error`, or a line of a trace. Empty lines, summaries, other lines of
    /// traces and calls that did not run are ignored.
    pub fn read(text: &str, tool: &str) -> Result<Self, ReplayError> {
        let mut calls = Vec::new();
        for (at, line) in text.lines().enumerate() {
            if line.trim().is_empty() {
                continue;
            }
            let wrong = |detail: String| ReplayError { line: at + 1, detail };
            let mut line: RecordedLine =
                serde_json::from_str(line).map_err(|error| wrong(error.to_string()))?;
            if let Some(verdict) = line.verdict.take() {
                line = RecordedLine { name: line.name, ..*verdict };
            }
            match &line.name {
                // Summaries of `gramc` and what a trace says of models are between the calls.
                None if line.stats.is_some() || line.kind.is_some() => continue,
                None => return Err(wrong("it has no `name`".to_owned())),
                Some(name) if name != tool => continue,
                Some(_) => {}
            }
            calls.extend(call(line).map_err(|detail| wrong(detail.to_owned()))?);
        }
        Ok(Self { calls: calls.into() })
    }

    pub(super) fn load(declaration: Declaration<'_>) -> Result<Self, LoadError> {
        let path = declaration.folder.join(declaration.text("from"));
        let recorded =
            std::fs::read_to_string(&path).map_err(|error| SourceError::file(&path, &error))?;
        Self::read(&recorded, &declaration.name_or_tool("tool"))
            .map_err(|error| LoadError::Recording { path: path.display().to_string(), error })
    }

    /// How many calls of the tool the recording holds.
    pub fn len(&self) -> usize {
        self.calls.len()
    }

    /// Whether the recording holds no call of the tool.
    pub fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    fn answer(&self, invocation: &Invocation) -> Result<Answer, InvocationError> {
        let mut arguments = invocation.object()?;
        let hidden = &invocation.hidden;
        arguments.retain(|name, _| !is_hidden(hidden, name));
        let is_same =
            |call: &&RecordedCall| differing(&call.arguments, &arguments, hidden).is_empty();
        let matching = self.calls.iter().filter(is_same);
        let occurrence = usize::try_from(invocation.occurrence).unwrap_or(usize::MAX);
        // The last one that there is, at most the wanted one.
        let found = matching.take(occurrence.saturating_add(1)).last();
        match found.map(|call| &call.outcome) {
            Some(Ok(result)) => Ok(Answer::Json(result.clone())),
            Some(Err(RecordedFailure(message))) => Err(InvocationError::failure(message)),
            None => Err(InvocationError::failure(self.explain_missing(invocation, &arguments))),
        }
    }

    /// That there is no such call, and what the nearest one has other arguments for.
    fn explain_missing(&self, invocation: &Invocation, arguments: &Map<String, Value>) -> String {
        let start = format!("the recording holds no call of `{}`", invocation.tool);
        let nearest = self.calls.iter();
        let nearest = nearest.map(|call| differing(&call.arguments, arguments, &invocation.hidden));
        let Some(nearest) = nearest.min_by_key(Vec::len) else {
            return start;
        };
        let names: Vec<_> = nearest.iter().map(|name| format!("`{name}`")).collect();
        let count = match self.calls.len() {
            1 => "the only one that it holds".to_owned(),
            count => format!("the nearest of the {count} that it holds"),
        };
        format!("{start} with these arguments; {count} differs in {}", names.join(", "))
    }
}

/// The call of a line, if it ran.
fn call(line: RecordedLine) -> Result<Option<RecordedCall>, &'static str> {
    let outcome = match (line.ok, line.result) {
        (Some(false), _) => Err(RecordedFailure(message(line.error.as_ref(), line.message))),
        (_, Some(result)) => Ok(result),
        // Where calls are only checked, there are no results.
        (Some(true), None) => return Ok(None),
        (None, None) => return Err("it has no `result`"),
    };
    let arguments = match line.arguments {
        Some(Value::Object(arguments)) => arguments,
        // As models write them.
        Some(Value::String(text)) => {
            serde_json::from_str(&text).map_err(|_| "its `arguments` are not a JSON object")?
        }
        Some(_) => return Err("its `arguments` are not a JSON object"),
        // A call that never ran has no checked arguments.
        None if outcome.is_err() => return Ok(None),
        None => return Err("it has no `arguments`"),
    };
    Ok(Some(RecordedCall { arguments, outcome }))
}

/// The error message of a failed call.
fn message(error: Option<&Value>, message: Option<String>) -> String {
    let text = match error {
        Some(Value::String(text)) => Some(text.as_str()),
        Some(error) => ["detail", "error_message", "message"]
            .into_iter()
            .find_map(|key| error.get(key).and_then(Value::as_str)),
        None => None,
    };
    let text = text.map(str::to_owned).or(message);
    beginning(text.as_deref().unwrap_or("the recorded call failed"))
}

fn is_hidden(hidden: &[SmolStr], name: &str) -> bool {
    hidden.iter().any(|hidden| hidden == name)
}

/// The names of the arguments that differ from a recorded call, without hidden and masked ones.
fn differing<'a>(
    recorded: &'a Map<String, Value>,
    sent: &'a Map<String, Value>,
    hidden: &[SmolStr],
) -> Vec<&'a str> {
    let missing = sent.keys().filter(|name| !recorded.contains_key(*name));
    let other = |(name, value): &(&String, &Value)| {
        !is_hidden(hidden, name)
            && sent.get(*name).is_none_or(|other| **value != *MASK && !same(value, other))
    };
    recorded.iter().filter(other).map(|(name, _)| name).chain(missing).map(String::as_str).collect()
}

impl Implementation for Replay {
    fn kind(&self) -> &'static str {
        "Replay"
    }

    fn invoke(&self, invocation: Invocation) -> AnswerFuture {
        Box::pin(std::future::ready(self.answer(&invocation)))
    }

    fn counts(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test stops where something is missing")]

    use serde_json::json;

    use super::*;
    use crate::implementations::testing::invocation;
    use crate::invocation::InvocationErrorKind;

    const RECORDING: &str = r#"
{"name": "weather", "arguments": {"city": "Oslo", "days": 1}, "result": "snow"}
{"name": "news", "arguments": 5}
{"id": "1", "name": "weather", "ok": true, "arguments": {"days": 1.0, "city": "Oslo"}, "repairs": [], "result": {"sky": [1.50]}}
{"id": "2", "name": "weather", "ok": false, "arguments": {"city": "Rome"}, "error": {"error_type": "invocation_error", "tool": "weather", "detail": "no such station"}, "message": "long"}
{"id": "3", "name": "weather", "ok": false, "error": {"error_type": "unknown_tool"}, "message": "never ran"}
{"id": "4", "name": "weather", "ok": true, "arguments": {"city": "Kiel"}}
{"name": "weather", "arguments": "{\"city\": \"Bonn\"}", "result": null}
{"stats": {"calls_last_60_seconds": 5}}
"#;

    fn replay() -> Replay {
        // A line of another tool is not looked at closely, but must be an object with a name.
        Replay::read(RECORDING, "weather").unwrap()
    }

    async fn run(
        replay: &Replay,
        arguments: &str,
        occurrence: u32,
    ) -> Result<Answer, InvocationError> {
        replay.invoke(Invocation { occurrence, ..invocation("weather", arguments) }).await
    }

    #[tokio::test]
    async fn calls_with_equal_arguments_are_answered_in_turn() {
        let replay = replay();
        assert!(replay.counts());
        assert_eq!(replay.len(), 4);
        let oslo = r#"{"days": 1e0, "city": "Oslo"}"#;
        let sky: Value = serde_json::from_str(r#"{"sky": [1.50]}"#).unwrap();
        assert_eq!(run(&replay, oslo, 0).await, Ok(Answer::Json(json!("snow"))));
        assert_eq!(run(&replay, oslo, 1).await, Ok(Answer::Json(sky.clone())));
        assert_eq!(run(&replay, oslo, 7).await, Ok(Answer::Json(sky)));
        assert_eq!(run(&replay, r#"{"city": "Bonn"}"#, 0).await, Ok(Answer::Json(Value::Null)));
    }

    #[tokio::test]
    async fn recorded_failures_fail_again() {
        let error = run(&replay(), r#"{"city": "Rome"}"#, 0).await.unwrap_err();
        assert_eq!(error, InvocationError::new(InvocationErrorKind::Failed, "no such station"));
    }

    #[tokio::test]
    async fn a_call_that_is_not_recorded_names_what_differs() {
        let replay = replay();
        let error = run(&replay, r#"{"city": "Oslo", "days": 2, "x": 1}"#, 0).await.unwrap_err();
        assert_eq!(error.kind, InvocationErrorKind::Failed);
        assert_eq!(
            error.detail,
            "the recording holds no call of `weather` with these arguments; \
             the nearest of the 4 that it holds differs in `days`, `x`"
        );
        let other = Replay::read(RECORDING, "weather2").unwrap();
        assert!(other.is_empty());
        let error = run(&other, "{}", 0).await.unwrap_err();
        assert_eq!(error.detail, "the recording holds no call of `weather`");
    }

    #[tokio::test]
    async fn injected_and_secret_arguments_are_not_compared() {
        let call = invocation("weather", r#"{"city": "Bonn", "token": "x"}"#);
        let hidden: Arc<[SmolStr]> = Arc::new(["token".into()]);
        let answer = replay().invoke(Invocation { hidden: hidden.clone(), ..call.clone() }).await;
        assert_eq!(answer, Ok(Answer::Json(Value::Null)));
        assert!(replay().invoke(call.clone()).await.is_err());
        // Secrets are masked in recordings.
        let masked =
            r#"{"name": "weather", "arguments": {"city": "Bonn", "token": "***"}, "result": 1}"#;
        let masked = Replay::read(masked, "weather").unwrap();
        assert_eq!(masked.invoke(Invocation { hidden, ..call }).await, Ok(Answer::Json(json!(1))));
    }

    #[test]
    fn the_calls_of_a_trace_are_a_recording() {
        let trace = r#"
{"type":"run","agent":"a","model":"m"}
{"type":"user","agent":"a","content":"x"}
{"type":"reply","agent":"a","tool_calls":[{"id":"1","name":"weather","arguments":"{}"}],"ms":2.0}
{"type":"call","agent":"a","id":"1","name":"weather","arguments":"{\"city\": \"Oslo\"}","at":0.5,"ms":1.0,"verdict":{"id":"1","name":"weather","ok":true,"arguments":{"city":"Oslo","days":3},"result":"snow"}}
{"type":"call","agent":"a","id":"2","name":"weather","arguments":"{","at":0.5,"ms":1.0,"verdict":{"ok":false,"error":{"error_type":"malformed_arguments"},"message":"no JSON"}}
{"type":"end","agent":"a","text":"snow"}
"#;
        let replay = Replay::read(trace, "weather").unwrap();
        assert_eq!(replay.len(), 1);
        let call = invocation("weather", r#"{"city":"Oslo","days":3}"#);
        assert_eq!(replay.answer(&call).unwrap(), Answer::Json(json!("snow")));
    }

    #[test]
    fn lines_that_are_no_calls_are_named() {
        for (line, part) in [
            ("{", "EOF while parsing"),
            ("[]", "invalid length 0"),
            (r#"{"arguments": {}}"#, "it has no `name`"),
            (r#"{"name": "weather", "arguments": {}}"#, "it has no `result`"),
            (r#"{"name": "weather", "result": 1}"#, "it has no `arguments`"),
            (r#"{"name": "weather", "result": 1, "arguments": [1]}"#, "are not a JSON object"),
            (r#"{"name": "weather", "result": 1, "arguments": "x"}"#, "are not a JSON object"),
        ] {
            let error = Replay::read(&format!("\n{line}\n"), "weather").unwrap_err();
            assert_eq!(error.line, 2, "{line}");
            assert!(error.detail.contains(part), "{line}: {error}");
        }
    }

    #[test]
    fn numbers_are_equal_by_value() {
        let number = |text: &str| serde_json::from_str::<Value>(text).unwrap();
        assert!(same(&number("1"), &number("1.0")) && same(&number("0.1"), &number("1e-1")));
        assert!(!same(&number("9007199254740993"), &number("9007199254740992")));
        assert!(!same(&number("1"), &json!("1")));
    }
}
