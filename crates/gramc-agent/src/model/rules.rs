//! Rules of scripts: replies that depend on the last message.

use regress::{Match, Regex};
use serde::Deserialize;
use serde_json::Value;

use crate::message::{AssistantMessage, Message, ModelCall, Reply};

/// A reply and its condition.
#[derive(Debug)]
pub(super) struct ScriptRule {
    when: Option<Condition>,
    reply: Reply,
}

/// A condition on the last message.
#[derive(Debug)]
struct Condition {
    /// Whether it must be a message of the user or of a tool.
    user: bool,
    /// The tool, or `None` for any tool.
    name: Option<String>,
    pattern: Regex,
}

/// A condition in a script: `{"user": PATTERN}` or `{"tool": PATTERN, "name": TOOL}`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ConditionSpec {
    user: Option<String>,
    tool: Option<String>,
    name: Option<String>,
}

/// A `when` that is not a condition.
#[derive(Debug, thiserror::Error)]
pub(super) enum RuleError {
    #[error("expected `when` to have a `user` or `tool` pattern: {0}")]
    Fields(#[from] serde_json::Error),
    #[error("expected `when` to have either a `user` or a `tool` pattern")]
    Pattern,
    #[error("invalid regular expression `{pattern}`: {error}")]
    Regex { pattern: String, error: regress::Error },
}

impl ScriptRule {
    /// Creates a rule from the `when` of a line, if any, and its reply.
    pub(super) fn new(when: Option<Value>, reply: Reply) -> Result<Self, RuleError> {
        let Some(when) = when else { return Ok(Self { when: None, reply }) };
        let spec: ConditionSpec = serde_json::from_value(when)?;
        let (user, pattern) = match (spec.user, spec.tool) {
            (Some(pattern), None) => (true, pattern),
            (None, Some(pattern)) => (false, pattern),
            _ => return Err(RuleError::Pattern),
        };
        let pattern = Regex::new(&pattern).map_err(|error| RuleError::Regex { pattern, error })?;
        Ok(Self { when: Some(Condition { user, name: spec.name, pattern }), reply })
    }

    /// The reply to a message, or `None` if the condition does not match. `$1` and `${name}` expand to
    /// the groups of the pattern, `$0` to the whole match.
    pub(super) fn reply(&self, last: Option<&Message>) -> Option<Reply> {
        let Some(when) = &self.when else { return Some(self.reply.clone()) };
        let text = match last? {
            Message::User { content, .. } if when.user => content,
            Message::Tool { name, content, .. }
                if !when.user && when.name.as_ref().is_none_or(|wanted| wanted == name) =>
            {
                content
            }
            _ => return None,
        };
        let found = when.pattern.find(text)?;
        let fill = |template: &str| expand(template, text, &found);
        let message = &self.reply.message;
        let call = |call: &ModelCall| {
            let arguments = match serde_json::from_str(&call.arguments) {
                Ok(value) => expand_value(value, &fill).to_string(),
                Err(_) => fill(&call.arguments),
            };
            ModelCall { arguments, ..call.clone() }
        };
        let message = AssistantMessage {
            content: message.content.as_deref().map(fill),
            tool_calls: message.tool_calls.iter().map(call).collect(),
            provider: message.provider.clone(),
        };
        Some(Reply { message, ..self.reply.clone() })
    }
}

/// Expands groups in all strings of a value.
fn expand_value(value: Value, fill: &impl Fn(&str) -> String) -> Value {
    match value {
        Value::String(text) => fill(&text).into(),
        Value::Array(items) => items.into_iter().map(|item| expand_value(item, fill)).collect(),
        Value::Object(map) => {
            map.into_iter().map(|(key, value)| (key, expand_value(value, fill))).collect()
        }
        other => other,
    }
}

fn expand(template: &str, text: &str, found: &Match) -> String {
    let (mut out, mut rest) = (String::new(), template);
    while let Some((before, after)) = rest.split_once('$') {
        out.push_str(before);
        let digits = after.len() - after.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let named = after.strip_prefix('{').and_then(|after| after.split_once('}'));
        let range = if let Some((name, after)) = named {
            rest = after;
            match name.parse() {
                Ok(number) => group(found, number),
                Err(_) => found.named_group(name),
            }
        } else if digits > 0 {
            let (number, after) = after.split_at(digits);
            rest = after;
            number.parse().ok().and_then(|number| group(found, number))
        } else {
            out.push('$');
            rest = after.strip_prefix('$').unwrap_or(after);
            None
        };
        out.push_str(range.and_then(|range| text.get(range)).unwrap_or_default());
    }
    out.push_str(rest);
    out
}

/// The range of a group, or `None` if the group does not exist or did not match.
fn group(found: &Match, number: usize) -> Option<std::ops::Range<usize>> {
    if number == 0 {
        return Some(found.range());
    }
    found.captures.get(number - 1).cloned().flatten()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failed step fails the test")]
mod tests {
    use serde_json::json;

    use super::*;

    fn rule(line: Value) -> ScriptRule {
        let mut line = line;
        let when = line.as_object_mut().unwrap().remove("when");
        ScriptRule::new(when, serde_json::from_value(line).unwrap()).unwrap()
    }

    #[test]
    fn groups_expand_in_the_reply() {
        let rule = rule(json!({
            "when": {"user": r"I am (?<name>\w+), (\d+)"},
            "content": "$0: ${name}, $2, $9, $$1, $ and ${none}.",
            "tool_calls": [{"name": "greet", "arguments": {"who": ["${name}"], "age": 3}}],
        }));
        let message = Message::user("Hello, I am Zoë, 7");
        // `\w` matches ASCII only.
        assert!(rule.reply(Some(&message)).is_none());
        let message = Message::user("Hello, I am Ada, 7");
        let reply = rule.reply(Some(&message)).unwrap().message;
        assert_eq!(reply.content.unwrap(), "I am Ada, 7: Ada, 7, , $1, $ and .");
        assert_eq!(reply.tool_calls[0].arguments, r#"{"who":["Ada"],"age":3}"#);
    }

    #[test]
    fn rules_match_the_last_message() {
        let of = |name: &str| Message::Tool {
            id: String::new(),
            name: name.into(),
            content: "21 °C".into(),
            images: Vec::new(),
        };
        let heard = rule(json!({"when": {"tool": ".*", "name": "heat"}, "content": "$0"}));
        assert_eq!(heard.reply(Some(&of("heat"))).unwrap().message.content.unwrap(), "21 °C");
        assert!(heard.reply(Some(&of("cold"))).is_none());
        assert!(heard.reply(Some(&Message::user("heat"))).is_none());
        assert!(rule(json!({"content": "?"})).reply(None).is_some());
    }

    #[test]
    fn invalid_rules_are_reported() {
        let error = |when| ScriptRule::new(Some(when), Reply::default()).unwrap_err().to_string();
        assert_eq!(error(json!({})), "expected `when` to have either a `user` or a `tool` pattern");
        let typo = error(json!({"usr": "a"}));
        assert!(typo.starts_with("expected `when` to have a `user` or `tool` pattern: "), "{typo}");
        assert!(error(json!({"user": "("})).starts_with("invalid regular expression `(`: "));
    }
}
