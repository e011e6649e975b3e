//! JSON values as values of gram.

use gramc_json_schema::text::MAX_DEPTH;
use serde_json::Value;

use super::text;

/// A value that an attribute has: a text of several lines between fences.
pub(super) fn attribute(value: &Value) -> String {
    match value {
        Value::String(text) => text::block(text),
        value => self::value(value),
    }
}

/// A JSON value: as plain gram where that can write it, else as JSON in a tagged string.
pub fn value(value: &Value) -> String {
    if let Some(text) = plain(value, Nesting::Map) {
        return text;
    }
    if depth(value) <= MAX_DEPTH {
        return schema(value);
    }
    // Only arrays and maps of gram can nest so deep, with JSON inside of them.
    match value {
        Value::Array(items) => array(items.iter().map(self::value)),
        Value::Object(map) => self::map(map.iter().map(|(key, value)| (key, self::value(value)))),
        scalar => scalar.to_string(),
    }
}

/// The maximum length of JSON on one line.
const MAX_JSON_LINE: usize = 60;

/// The maximum depth of indented JSON.
const MAX_INDENTED_DEPTH: usize = 24;

/// A schema, word for word: on lines of its own where it is long.
pub(super) fn schema(schema: &Value) -> String {
    let short = schema.to_string();
    if short.len() > MAX_JSON_LINE
        && depth(schema) <= MAX_INDENTED_DEPTH
        && let Some(fenced) = print_fence(schema)
    {
        return fenced;
    }
    format!("json{}", text::quote(&short, '`'))
}

/// JSON between fences, where nothing can be escaped, if it stays the same there.
fn print_fence(value: &Value) -> Option<String> {
    let text = serde_json::to_string_pretty(value).ok()?;
    let hidden = |c: char| c.is_control() && c != '\n';
    (!text.contains("```") && !text.contains(hidden)).then(|| format!("```json\n{text}\n```"))
}

/// What plain gram may hold in some place.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Nesting {
    Scalar,
    Array,
    Map,
}

/// A value that plain gram can write: an array of scalars, a map of scalars and such arrays.
fn plain(value: &Value, most: Nesting) -> Option<String> {
    match value {
        Value::Null => Some("null".to_owned()),
        Value::Bool(flag) => Some(flag.to_string()),
        Value::Number(number) => {
            let text = number.to_string();
            (!text.contains(['e', 'E'])).then_some(text)
        }
        Value::String(text) => Some(text::string(text)),
        Value::Array(items) if most >= Nesting::Array && !items.is_empty() => {
            let items: Option<Vec<_>> =
                items.iter().map(|item| plain(item, Nesting::Scalar)).collect();
            Some(array(items?.into_iter()))
        }
        Value::Object(entries) if most == Nesting::Map => {
            let entries: Option<Vec<_>> = entries
                .iter()
                .map(|(key, value)| Some((key, plain(value, Nesting::Array)?)))
                .collect();
            Some(map(entries?.into_iter()))
        }
        _ => None,
    }
}

fn array(items: impl Iterator<Item = String>) -> String {
    format!("[{}]", items.collect::<Vec<_>>().join(", "))
}

fn map<'v>(entries: impl Iterator<Item = (&'v String, String)>) -> String {
    let entries = entries.map(|(key, value)| text::entry(key, value));
    format!("{{{}}}", entries.collect::<Vec<_>>().join(", "))
}

/// How deep arrays and objects nest in a value.
fn depth(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or_default(),
        Value::Object(map) => 1 + map.values().map(depth).max().unwrap_or_default(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn printed(value: &Value) -> String {
        self::value(value)
    }

    #[test]
    fn values_are_plain_gram_or_json() {
        for (value, expected) in [
            (json!([1, "a", null, true]), r#"[1, "a", null, true]"#),
            (json!({"a": 1, "b c": ["x"]}), r#"{a: 1, `b c`: ["x"]}"#),
            (json!({}), "{}"),
            (json!([]), "json`[]`"),
            (json!([[1]]), "json`[[1]]`"),
            (json!({"a": {"b": "`\\"}}), r#"json`{"a":{"b":"\`\\\\"}}`"#),
        ] {
            assert_eq!(printed(&value), expected);
        }
        let number: Value = serde_json::from_str("1.50e3").unwrap_or_default();
        assert_eq!(printed(&number), format!("json`{number}`"));
    }

    #[test]
    fn long_json_stands_on_lines_of_its_own() {
        let words = ["one word", "another word", "a third word", "and a fourth one"];
        let text = printed(&json!({"a": {"b": words}}));
        assert!(
            text.starts_with("```json\n{\n  \"a\": {\n") && text.ends_with("\n}\n```"),
            "{text}"
        );
        let text = printed(&json!({"a": {"b": words, "c": "```"}}));
        assert!(text.starts_with("json`{") && !text.contains('\n'), "{text}");
    }

    #[test]
    fn what_json_cannot_nest_is_nested_by_gram() {
        let deep = (0..130).fold(json!(1), |inner, _| json!([inner]));
        let text = printed(&deep);
        assert!(text.starts_with("[[[json`[[[[") && text.ends_with("]]`]]]"), "{text}");
    }
}
