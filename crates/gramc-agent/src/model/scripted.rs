//! Models that need no network: an echo model and scripts.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use gramc_schema::Target;
use parking_lot::Mutex;
use serde_json::{Map, Value, json};

use super::rules::ScriptRule;
use super::{Model, ModelError, ModelErrorKind, ModelRequest, ReplyDelta, ReplyFuture, StreamSink};
use crate::message::{AssistantMessage, FinishReason, Message, ModelCall, Reply};

/// A deterministic model that needs no network.
#[derive(Debug)]
pub struct ScriptedModel {
    name: String,
    script: Script,
}

#[derive(Debug)]
enum Script {
    /// Calls the first tool and repeats its result.
    Echo,
    /// Gives replies in order.
    Replies { replies: Arc<[Reply]>, next: Mutex<usize> },
    /// Gives the reply of the first rule that matches the last message.
    Rules(Arc<[ScriptRule]>),
}

/// A script that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ScriptError {
    /// The file cannot be read.
    #[error("cannot read script {}: {}", .0.display(), .1)]
    Read(PathBuf, io::Error),
    /// A line of a file, from 1, is invalid.
    #[error("{}:{}: {}", .0.display(), .1, .2)]
    Line(PathBuf, usize, String),
}

impl ScriptedModel {
    /// The model `scripted/echo`. It replies to the user with a call of the first tool, with
    /// arguments generated from its schema, and to a tool result by repeating it.
    pub fn echo() -> Self {
        Self { name: "scripted/echo".to_owned(), script: Script::Echo }
    }

    /// A model that gives these replies in order.
    pub fn replies(name: impl Into<String>, replies: Vec<Reply>) -> Self {
        Self {
            name: name.into(),
            script: Script::Replies { replies: replies.into(), next: Mutex::new(0) },
        }
    }

    /// A model that plays a script: JSON lines with `content`, `tool_calls` or both, and
    /// `finish_reason` if a reply is not complete; or a trace, whose replies are played. If a line
    /// has a `when`, the script is not played in order; each reply is that of the first line whose
    /// `when` matches the last message or is absent.
    pub fn file(path: &Path) -> Result<Self, ScriptError> {
        let text = std::fs::read_to_string(path)
            .map_err(|error| ScriptError::Read(path.to_owned(), error))?;
        let (mut replies, mut rules, mut ordered) = (Vec::new(), Vec::new(), true);
        for (text, line) in text.lines().zip(1..) {
            if text.trim().is_empty() {
                continue;
            }
            let invalid = |message: String| ScriptError::Line(path.to_owned(), line, message);
            let mut value: Value = serde_json::from_str(text)
                .map_err(|error| invalid(format!("invalid JSON: {error}")))?;
            match value.get("type").and_then(Value::as_str) {
                Some("reply") | None => {}
                // Other lines of a trace are not replies.
                Some(_) => continue,
            }
            let when = value.as_object_mut().and_then(|line| line.shift_remove("when"));
            ordered &= when.is_none();
            let reply: Reply = serde_json::from_value(value)
                .map_err(|error| invalid(format!("invalid reply: {error}")))?;
            let is_complete = reply.finish_reason == FinishReason::Stop;
            if is_complete && reply.message.content.is_none() && reply.message.tool_calls.is_empty()
            {
                return Err(invalid("expected `content`, `tool_calls` or both".to_owned()));
            }
            let rule = ScriptRule::new(when, reply.clone());
            rules.push(rule.map_err(|error| invalid(error.to_string()))?);
            replies.push(reply);
        }
        let name = format!("scripted/{}", path.display());
        if ordered {
            return Ok(Self::replies(name, replies));
        }
        Ok(Self { name, script: Script::Rules(rules.into()) })
    }

    fn reply(&self, request: &ModelRequest<'_>) -> Result<Reply, ModelError> {
        match &self.script {
            Script::Echo => Ok(echo(request)),
            Script::Replies { replies, next } => {
                let mut next = next.lock();
                let reply = replies.get(*next).cloned().ok_or_else(|| {
                    self.exhausted_error(&format!("reply after the first {}", replies.len()))
                })?;
                *next += 1;
                Ok(reply)
            }
            Script::Rules(rules) => {
                let last = request.messages.last();
                rules.iter().find_map(|rule| rule.reply(last)).ok_or_else(|| {
                    let text = last.filter(|it| !matches!(it, Message::Assistant(_)));
                    let text = text.and_then(Message::text).unwrap_or_default();
                    let text: String = text.chars().take(80).collect();
                    self.exhausted_error(&format!("rule that matches `{text}`"))
                })
            }
        }
    }

    fn exhausted_error(&self, missing: &str) -> ModelError {
        let detail = format!("{} has no {missing}", self.name);
        ModelError::new(ModelErrorKind::Exhausted, detail)
    }
}

impl Model for ScriptedModel {
    fn target(&self) -> Target {
        Target::OpenAi
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn takes_images(&self) -> bool {
        true
    }

    fn fork(&self) -> Option<Arc<dyn Model>> {
        let Script::Replies { replies, .. } = &self.script else { return None };
        let script = Script::Replies { replies: Arc::clone(replies), next: Mutex::new(0) };
        Some(Arc::new(Self { name: self.name.clone(), script }))
    }

    fn send<'a>(&'a self, request: ModelRequest<'a>, sink: StreamSink<'a>) -> ReplyFuture<'a> {
        let reply = self.reply(&request);
        if let Ok(Reply { message: AssistantMessage { content: Some(text), .. }, .. }) = &reply
            && request.stream
        {
            sink(ReplyDelta::Text(text));
        }
        Box::pin(std::future::ready(reply))
    }
}

fn echo(request: &ModelRequest<'_>) -> Reply {
    let mut message = AssistantMessage::default();
    match (request.messages.last(), request.tools.first()) {
        (Some(Message::User { .. }), Some(tool)) => {
            let function = &tool["function"];
            let arguments = sample(&function["parameters"], &function["parameters"], 0);
            let name = function["name"].as_str().unwrap_or_default().to_owned();
            let (id, arguments) = (String::new(), arguments.to_string());
            message.tool_calls.push(ModelCall { id, name, arguments });
        }
        (Some(Message::Tool { content, .. } | Message::User { content, .. }), _) => {
            message.content = Some(content.clone());
        }
        _ => message.content = Some(String::new()),
    }
    Reply { message, ..Reply::default() }
}

/// Maximum depth to which recursive schemas are followed.
const MAX_SCHEMA_DEPTH: usize = 12;

/// A value that most likely matches a schema.
fn sample(schema: &Value, root: &Value, depth: usize) -> Value {
    let known = ["const", "default"].iter().find_map(|key| schema.get(key));
    let first = |key: &str| schema.get(key).and_then(|all| all.get(0));
    if let Some(value) = known.or_else(|| first("enum")).or_else(|| first("examples")) {
        return value.clone();
    }
    if depth > MAX_SCHEMA_DEPTH {
        return Value::Null;
    }
    if let Some(to) = schema.get("$ref").and_then(Value::as_str) {
        let to = to.strip_prefix('#').and_then(|pointer| root.pointer(pointer));
        return to.map_or(Value::Null, |schema| sample(schema, root, depth + 1));
    }
    if let Some(member) = first("anyOf").or_else(|| first("oneOf")) {
        return sample(member, root, depth + 1);
    }
    let kind = &schema["type"];
    let kind = kind.get(0).unwrap_or(kind).as_str().unwrap_or_default();
    let number = |key: &str| schema.get(key).and_then(Value::as_u64);
    let number = |key| number(key).and_then(|it| usize::try_from(it).ok()).unwrap_or(0);
    match kind {
        "object" => object(schema, root, depth),
        "array" => {
            let least = number("minItems").min(16);
            let item = &schema["items"];
            let prefix = schema.get("prefixItems").and_then(Value::as_array);
            let at = |at: usize| prefix.and_then(|all| all.get(at)).unwrap_or(item);
            (0..least).map(|place| sample(at(place), root, depth + 1)).collect()
        }
        "string" => text(schema, number("minLength").min(1_000)),
        "integer" | "number" => schema.get("minimum").cloned().unwrap_or_else(|| json!(1)),
        "boolean" => json!(true),
        _ => Value::Null,
    }
}

/// An object with the required properties and those that have a default.
fn object(schema: &Value, root: &Value, depth: usize) -> Value {
    let required = schema.get("required").and_then(Value::as_array);
    let is_required = |key: &str| required.is_some_and(|all| all.iter().any(|name| name == key));
    let mut map = Map::new();
    let properties = schema.get("properties").and_then(Value::as_object);
    for (key, property) in properties.into_iter().flatten() {
        if is_required(key) || property.get("default").is_some() {
            map.insert(key.clone(), sample(property, root, depth + 1));
        }
    }
    map.into()
}

fn text(schema: &Value, least: usize) -> Value {
    let known = match schema.get("format").and_then(Value::as_str).unwrap_or_default() {
        "date" => "2026-01-31",
        "time" => "14:30:00Z",
        "date-time" => "2026-01-31T14:30:00Z",
        "duration" => "PT1H",
        "email" => "ada@example.org",
        "uri" => "https://example.org/",
        "uuid" => "123e4567-e89b-12d3-a456-426614174000",
        "ipv4" => "192.0.2.1",
        "ipv6" => "2001:db8::1",
        "hostname" => "example.org",
        _ => "text",
    };
    json!(format!("{known:x<least$}"))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failed step fails the test")]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_generated_from_schemas() {
        let schema = json!({
            "type": "object",
            "properties": {
                "name": {"type": "string", "default": "world"},
                "day": {"type": "string", "format": "date"},
                "size": {"type": "integer", "minimum": 3},
                "kind": {"$ref": "#/$defs/Kind"},
                "pair": {"type": "array", "prefixItems": [{"type": "boolean"}, {"type": "null"}],
                         "minItems": 2},
                "code": {"type": "string", "minLength": 6},
                "left_out": {"type": "string"},
            },
            "required": ["day", "size", "kind", "pair", "code"],
            "$defs": {"Kind": {"anyOf": [{"enum": ["a", "b"]}, {"type": "null"}]}},
        });
        let made = sample(&schema, &schema, 0);
        assert_eq!(
            made,
            json!({
                "name": "world", "day": "2026-01-31", "size": 3, "kind": "a",
                "pair": [true, null], "code": "textxx",
            })
        );
        let endless = json!({"$ref": "#"});
        assert_eq!(sample(&endless, &endless, 0), Value::Null);
    }

    #[test]
    fn invalid_scripts_are_reported() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("script.jsonl");
        let error = |text: &str| {
            std::fs::write(&path, text).unwrap();
            let error = ScriptedModel::file(&path).unwrap_err();
            error.to_string().replace(&path.display().to_string(), "script.jsonl")
        };
        assert!(error("{\n").starts_with("script.jsonl:1: invalid JSON: EOF"));
        assert_eq!(
            error("{\"content\": \"a\"}\n{}"),
            "script.jsonl:2: expected `content`, `tool_calls` or both"
        );
    }
}
