//! Models that need no network: one that repeats what is known, and one that plays a script.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use gram_schema::Target;
use serde_json::{Map, Value, json};

use super::rules::Rule;
use super::{Asked, Ear, Failure, Heard, Model, ModelError, Request};
use crate::message::{Message, ModelCall, Reply, Said};

/// A model whose answers are known before.
#[derive(Debug)]
pub struct Scripted {
    name: String,
    script: Script,
}

#[derive(Debug)]
enum Script {
    /// Calls the first tool, and says what comes of it.
    Echo,
    /// Replies, in order.
    Replies { replies: Arc<[Reply]>, next: Mutex<usize> },
    /// The first that fits the last message.
    Rules(Arc<[Rule]>),
}

impl Scripted {
    /// The model `scripted/echo`: answers the user by calling the first tool that there is, with
    /// arguments made from its schema, and a tool's result by saying it.
    pub fn echo() -> Self {
        Self { name: "scripted/echo".to_owned(), script: Script::Echo }
    }

    /// A model that gives these replies, one after the other.
    pub fn replies(name: impl Into<String>, replies: Vec<Reply>) -> Self {
        Self {
            name: name.into(),
            script: Script::Replies { replies: replies.into(), next: Mutex::new(0) },
        }
    }

    /// A model that plays a file back: a reply a line, as JSON with `content`, `tool_calls` or
    /// both; or a trace, of which the model's part is played. Where a line says `when` it is given,
    /// no order holds: the first line answers whose pattern fits the last message, or that has none.
    ///
    /// # Errors
    ///
    /// What is wrong with the file, and where.
    pub fn file(path: &Path) -> Result<Self, String> {
        let shown = path.display();
        let text = std::fs::read_to_string(path)
            .map_err(|error| format!("the script {shown} cannot be read: {error}"))?;
        let (mut replies, mut rules, mut ordered) = (Vec::new(), Vec::new(), true);
        for (line, number) in text.lines().zip(1..) {
            if line.trim().is_empty() {
                continue;
            }
            let wrong = |what: String| format!("{shown}:{number}: {what}");
            let mut value: Value = serde_json::from_str(line)
                .map_err(|error| wrong(format!("this is no JSON: {error}")))?;
            match value.get("type").and_then(Value::as_str) {
                Some("reply") | None => {}
                // The rest of a trace was done by others.
                Some(_) => continue,
            }
            let when = value.as_object_mut().and_then(|line| line.shift_remove("when"));
            ordered &= when.is_none();
            let reply: Reply = serde_json::from_value(value)
                .map_err(|error| wrong(format!("this is no reply of a model: {error}")))?;
            if reply.said.content.is_none() && reply.said.tool_calls.is_empty() {
                return Err(wrong("a reply has `content`, `tool_calls` or both".to_owned()));
            }
            rules.push(Rule::new(when, reply.clone()).map_err(wrong)?);
            replies.push(reply);
        }
        let name = format!("scripted/{shown}");
        if ordered {
            return Ok(Self::replies(name, replies));
        }
        Ok(Self { name, script: Script::Rules(rules.into()) })
    }

    fn reply(&self, request: &Request<'_>) -> Result<Reply, ModelError> {
        match &self.script {
            Script::Echo => Ok(echo(request)),
            Script::Replies { replies, next } => {
                let mut next = next.lock().unwrap_or_else(PoisonError::into_inner);
                let reply = replies.get(*next).cloned().ok_or_else(|| {
                    let count = replies.len();
                    ModelError::new(
                        Failure::Ended,
                        format!("{} has {count} replies, and was asked once more", self.name),
                    )
                })?;
                *next += 1;
                Ok(reply)
            }
            Script::Rules(rules) => {
                let last = request.messages.last();
                rules.iter().find_map(|rule| rule.reply(last)).ok_or_else(|| {
                    let heard = match last {
                        Some(Message::User { content } | Message::Tool { content, .. }) => content,
                        _ => "",
                    };
                    let heard: String = heard.chars().take(80).collect();
                    ModelError::new(
                        Failure::Ended,
                        format!("{} has no rule that fits `{heard}`", self.name),
                    )
                })
            }
        }
    }
}

impl Model for Scripted {
    fn target(&self) -> Target {
        Target::OpenAi
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn anew(&self) -> Option<Arc<dyn Model>> {
        let Script::Replies { replies, .. } = &self.script else { return None };
        let script = Script::Replies { replies: Arc::clone(replies), next: Mutex::new(0) };
        Some(Arc::new(Self { name: self.name.clone(), script }))
    }

    fn ask<'a>(&'a self, request: Request<'a>, ear: Ear<'a>) -> Asked<'a> {
        let reply = self.reply(&request);
        if let Ok(Reply { said: Said { content: Some(text), .. }, .. }) = &reply
            && request.stream
        {
            ear(Heard::Text(text));
        }
        Box::pin(std::future::ready(reply))
    }
}

fn echo(request: &Request<'_>) -> Reply {
    let said = match (request.messages.last(), request.tools.first()) {
        (Some(Message::User { .. }), Some(tool)) => {
            let function = &tool["function"];
            let arguments = sample(&function["parameters"], &function["parameters"], 0);
            let name = function["name"].as_str().unwrap_or_default().to_owned();
            let (id, arguments) = (String::new(), arguments.to_string());
            Said { tool_calls: vec![ModelCall { id, name, arguments }], ..Said::default() }
        }
        (Some(Message::Tool { content, .. } | Message::User { content }), _) => {
            Said { content: Some(content.clone()), ..Said::default() }
        }
        _ => Said { content: Some(String::new()), ..Said::default() },
    };
    Reply { said, ..Reply::default() }
}

/// How deep schemas are followed; recursive ones have no end.
const DEEPEST: usize = 12;

/// A value that a schema most likely takes.
fn sample(schema: &Value, root: &Value, depth: usize) -> Value {
    let known = ["const", "default"].iter().find_map(|key| schema.get(key));
    let first = |key: &str| schema.get(key).and_then(|all| all.get(0));
    if let Some(value) = known.or_else(|| first("enum")).or_else(|| first("examples")) {
        return value.clone();
    }
    if depth > DEEPEST {
        return Value::Null;
    }
    if let Some(to) = schema.get("$ref").and_then(Value::as_str) {
        let to = to.strip_prefix('#').and_then(|pointer| root.pointer(pointer));
        return to.map_or(Value::Null, |schema| sample(schema, root, depth + 1));
    }
    if let Some(member) = first("anyOf").or_else(|| first("oneOf")) {
        return sample(member, root, depth + 1);
    }
    let kind = match &schema["type"] {
        Value::Array(kinds) => kinds.first().and_then(Value::as_str).unwrap_or_default(),
        kind => kind.as_str().unwrap_or_default(),
    };
    let number = |key: &str| schema.get(key).and_then(Value::as_u64).unwrap_or(0);
    match kind {
        "object" => object(schema, root, depth),
        "array" => {
            let least = usize::try_from(number("minItems")).unwrap_or(0).min(16);
            let item = &schema["items"];
            let prefix = schema.get("prefixItems").and_then(Value::as_array);
            let at = |at: usize| prefix.and_then(|all| all.get(at)).unwrap_or(item);
            (0..least).map(|place| sample(at(place), root, depth + 1)).collect()
        }
        "string" => text(schema, usize::try_from(number("minLength")).unwrap_or(0).min(1_000)),
        "integer" | "number" => schema.get("minimum").cloned().unwrap_or_else(|| json!(1)),
        "boolean" => json!(true),
        _ => Value::Null,
    }
}

/// An object with what is required, and with what has a default.
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
#[allow(clippy::unwrap_used, reason = "a test stops where it cannot go on")]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_made_from_schemas() {
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
    fn scripts_say_where_they_are_wrong() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("script.jsonl");
        let told = |text: &str| {
            std::fs::write(&path, text).unwrap();
            let error = Scripted::file(&path).unwrap_err();
            error.replace(&path.display().to_string(), "script.jsonl")
        };
        assert!(told("{\n").starts_with("script.jsonl:1: this is no JSON: EOF"));
        assert_eq!(
            told("{\"content\": \"a\"}\n{}"),
            "script.jsonl:2: a reply has `content`, `tool_calls` or both"
        );
    }
}
