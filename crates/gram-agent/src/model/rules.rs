//! Scripts of rules: what a model says, by what it was told last.

use regress::{Match, Regex};
use serde::Deserialize;
use serde_json::Value;

use crate::message::{Message, ModelCall, Reply, Said};

/// A reply, and when it is given.
#[derive(Debug)]
pub(super) struct Rule {
    when: Option<When>,
    reply: Reply,
}

/// What the last message has to be.
#[derive(Debug)]
struct When {
    /// Whether it is the user's; else it is a tool's.
    user: bool,
    /// The tool that it comes from, where that matters.
    name: Option<String>,
    pattern: Regex,
}

/// The same, as it is written: `{"user": PATTERN}` or `{"tool": PATTERN, "name": TOOL}`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    user: Option<String>,
    tool: Option<String>,
    name: Option<String>,
}

impl Rule {
    /// A rule of a line's `when`, which may be missing, and its reply.
    pub(super) fn new(when: Option<Value>, reply: Reply) -> Result<Self, String> {
        let Some(when) = when else { return Ok(Self { when: None, reply }) };
        let written: Written = serde_json::from_value(when)
            .map_err(|error| format!("`when` wants `user` or `tool`, a pattern: {error}"))?;
        let (user, pattern) = match (written.user, written.tool) {
            (Some(pattern), None) => (true, pattern),
            (None, Some(pattern)) => (false, pattern),
            _ => return Err("`when` wants either `user` or `tool`, a pattern".to_owned()),
        };
        let pattern = Regex::new(&pattern)
            .map_err(|error| format!("`{pattern}` is no regular expression: {error}"))?;
        Ok(Self { when: Some(When { user, name: written.name, pattern }), reply })
    }

    /// The reply to a message, where this rule has one. `$1` and `${name}` stand for what the groups
    /// of the pattern matched, and `$0` for all that it did.
    pub(super) fn reply(&self, last: Option<&Message>) -> Option<Reply> {
        let Some(when) = &self.when else { return Some(self.reply.clone()) };
        let text = match last? {
            Message::User { content } if when.user => content,
            Message::Tool { name, content, .. }
                if !when.user && when.name.as_ref().is_none_or(|wanted| wanted == name) =>
            {
                content
            }
            _ => return None,
        };
        let found = when.pattern.find(text)?;
        let fill = |template: &str| filled(template, text, &found);
        let Reply { said, usage } = &self.reply;
        let call = |call: &ModelCall| {
            let arguments = match serde_json::from_str(&call.arguments) {
                Ok(value) => filled_value(value, &fill).to_string(),
                Err(_) => fill(&call.arguments),
            };
            ModelCall { arguments, ..call.clone() }
        };
        let said = Said {
            content: said.content.as_deref().map(fill),
            tool_calls: said.tool_calls.iter().map(call).collect(),
            provider: said.provider.clone(),
        };
        Some(Reply { said, usage: *usage })
    }
}

/// Fills what groups matched into all texts of a value.
fn filled_value(value: Value, fill: &impl Fn(&str) -> String) -> Value {
    match value {
        Value::String(text) => fill(&text).into(),
        Value::Array(items) => items.into_iter().map(|item| filled_value(item, fill)).collect(),
        Value::Object(map) => {
            map.into_iter().map(|(key, value)| (key, filled_value(value, fill))).collect()
        }
        other => other,
    }
}

fn filled(template: &str, text: &str, found: &Match) -> String {
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

/// What a group matched. Asking for one that there is not is nothing.
fn group(found: &Match, number: usize) -> Option<std::ops::Range<usize>> {
    if number == 0 {
        return Some(found.range());
    }
    found.captures.get(number - 1).cloned().flatten()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test stops where it cannot go on")]
mod tests {
    use serde_json::json;

    use super::*;

    fn rule(line: Value) -> Rule {
        let mut line = line;
        let when = line.as_object_mut().unwrap().remove("when");
        Rule::new(when, serde_json::from_value(line).unwrap()).unwrap()
    }

    #[test]
    fn what_groups_match_stands_in_the_reply() {
        let rule = rule(json!({
            "when": {"user": r"I am (?<name>\w+), (\d+)"},
            "content": "$0: ${name}, $2, $9, $$1, $ and ${none}.",
            "tool_calls": [{"name": "greet", "arguments": {"who": ["${name}"], "age": 3}}],
        }));
        let said = Message::User { content: "Hello, I am Zoë, 7".into() };
        // Words of a pattern without the flag `u` are words of ASCII.
        assert!(rule.reply(Some(&said)).is_none());
        let said = Message::User { content: "Hello, I am Ada, 7".into() };
        let reply = rule.reply(Some(&said)).unwrap().said;
        assert_eq!(reply.content.unwrap(), "I am Ada, 7: Ada, 7, , $1, $ and .");
        assert_eq!(reply.tool_calls[0].arguments, r#"{"who":["Ada"],"age":3}"#);
    }

    #[test]
    fn rules_look_at_the_last_message() {
        let of = |name: &str| Message::Tool {
            id: String::new(),
            name: name.into(),
            content: "21 °C".into(),
        };
        let heard = rule(json!({"when": {"tool": ".*", "name": "heat"}, "content": "$0"}));
        assert_eq!(heard.reply(Some(&of("heat"))).unwrap().said.content.unwrap(), "21 °C");
        assert!(heard.reply(Some(&of("cold"))).is_none());
        assert!(heard.reply(Some(&Message::User { content: "heat".into() })).is_none());
        assert!(rule(json!({"content": "?"})).reply(None).is_some());
    }

    #[test]
    fn what_is_no_rule_is_told() {
        let told = |when| Rule::new(Some(when), Reply::default()).unwrap_err();
        assert_eq!(told(json!({})), "`when` wants either `user` or `tool`, a pattern");
        assert!(told(json!({"usr": "a"})).starts_with("`when` wants `user` or `tool`, a pattern:"));
        assert!(told(json!({"user": "("})).starts_with("`(` is no regular expression: "));
    }
}
