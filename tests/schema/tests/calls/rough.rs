//! Arguments roughened as models do it: values that are not quite what is wanted, and texts that
//! are not quite JSON.

use gramc_language_tests::rng::Rng;
use serde_json::{Map, Value};

/// A value with something changed in about `percent` of its parts. What a schema asks for is
/// looked at, so that only what can be told back is changed.
pub(crate) fn roughened(
    rng: &mut Rng,
    root: &Value,
    schema: &Value,
    value: &Value,
    percent: usize,
) -> Value {
    let schema = behind(root, schema);
    let kind = schema.get("type").and_then(Value::as_str).unwrap_or_default();
    let free = ["enum", "const"].iter().all(|key| schema.get(key).is_none());
    let now = rng.chance(percent);
    match (kind, value) {
        ("integer" | "number", Value::Number(number)) if now && free => {
            let text = number.to_string();
            let plain = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
            match rng.below(4) {
                0 if plain && kind == "integer" => {
                    serde_json::from_str(&format!("{text}.0")).unwrap()
                }
                1 => Value::from(format!(" {text} ")),
                2 if !text.starts_with('-') => Value::from(format!("+{text}")),
                _ => Value::from(text),
            }
        }
        ("boolean", Value::Bool(truth)) if now && free => {
            let words =
                if *truth { ["true", "True", "Yes", "1"] } else { ["false", "FALSE", "no", "off"] };
            Value::from(rng.pick(&words))
        }
        ("string", Value::String(text)) if now && !free => {
            Value::from(if rng.chance(50) { text.to_uppercase() } else { text.to_lowercase() })
        }
        ("array", Value::Array(items)) => {
            let items_schema = schema.get("items").unwrap_or(&Value::Bool(true));
            let prefix = schema.get("prefixItems").and_then(Value::as_array);
            if now && free && rng.chance(60) {
                return Value::from(value.to_string());
            }
            let single = items.len() == 1 && prefix.is_none() && !items[0].is_null();
            if now && free && single && !items[0].is_array() {
                return items[0].clone();
            }
            let part = |at: usize| prefix.and_then(|all| all.get(at)).unwrap_or(items_schema);
            let all = items.iter().enumerate();
            all.map(|(at, item)| roughened(rng, root, part(at), item, percent)).collect()
        }
        ("object", Value::Object(map)) => {
            if now && free && rng.chance(30) {
                return Value::from(value.to_string());
            }
            object(rng, root, schema, map, percent)
        }
        _ => value.clone(),
    }
}

/// The targets of references.
fn behind<'s>(root: &'s Value, mut schema: &'s Value) -> &'s Value {
    for _ in 0..8 {
        let Some(to) = schema.get("$ref").and_then(Value::as_str) else { break };
        let Some(target) = root.pointer(to.trim_start_matches('#')) else { break };
        schema = target;
    }
    schema
}

fn object(
    rng: &mut Rng,
    root: &Value,
    schema: &Value,
    map: &Map<String, Value>,
    percent: usize,
) -> Value {
    let properties = schema.get("properties").and_then(Value::as_object);
    let mut out = Map::new();
    for (name, value) in map {
        let value = match properties.and_then(|known| known.get(name)) {
            Some(schema) => roughened(rng, root, schema, value, percent),
            None => value.clone(),
        };
        out.insert(name.clone(), value);
    }
    let plain = ["enum", "const", "maxProperties", "propertyNames", "anyOf", "oneOf"];
    if !plain.iter().all(|key| schema.get(key).is_none()) {
        return Value::Object(out);
    }
    let required = schema.get("required").and_then(Value::as_array);
    let optional = |name: &String| {
        !required.is_some_and(|names| names.iter().any(|known| known == name.as_str()))
    };
    for (name, own) in properties.into_iter().flatten() {
        let simple = own.get("type").is_some_and(|kind| kind.is_string() && kind != "null");
        if simple && !out.contains_key(name) && optional(name) && rng.chance(percent) {
            out.insert(name.clone(), Value::Null);
        }
    }
    let declares = properties.is_some_and(|known| !known.is_empty());
    if declares && schema.get("additionalProperties").is_none() && rng.chance(percent) {
        out.insert("thought_about_it".to_owned(), "It is what the user wants.".into());
    }
    Value::Object(out)
}

/// How a text is written that is not quite JSON.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "each is a slip of its own")]
pub(crate) struct Style {
    fence: bool,
    commas: bool,
    single: bool,
    bare_keys: bool,
    comments: bool,
    python: bool,
    unclosed: bool,
}

impl Style {
    pub(crate) fn random(rng: &mut Rng) -> Self {
        let mut chance = || rng.chance(30);
        Self {
            fence: chance(),
            commas: chance(),
            single: chance(),
            bare_keys: chance(),
            comments: chance(),
            python: chance(),
            unclosed: chance(),
        }
    }

    /// Writes a value so.
    pub(crate) fn text(self, rng: &mut Rng, value: &Value) -> String {
        let mut out = String::new();
        self.write(rng, value, &mut out);
        if self.unclosed {
            while rng.chance(60) && out.ends_with(['}', ']']) {
                out.pop();
            }
        }
        if self.fence {
            let word = rng.pick(&["json", "", "JSON"]);
            out = format!("```{word}\n{out}\n```");
        }
        out
    }

    fn space(self, rng: &mut Rng, out: &mut String) {
        if self.comments && rng.chance(20) {
            out.push_str(rng.pick(&[" // said\n", " /* so: {it} */ ", " # is\n"]));
        }
    }

    fn write(self, rng: &mut Rng, value: &Value, out: &mut String) {
        match value {
            Value::Array(items) => {
                out.push('[');
                for (at, item) in items.iter().enumerate() {
                    out.push_str(if at > 0 { ", " } else { "" });
                    self.space(rng, out);
                    self.write(rng, item, out);
                }
                self.end(rng, items.is_empty(), out);
                out.push(']');
            }
            Value::Object(map) => {
                out.push('{');
                for (at, (key, value)) in map.iter().enumerate() {
                    out.push_str(if at > 0 { ", " } else { "" });
                    self.space(rng, out);
                    self.key(rng, key, out);
                    out.push_str(": ");
                    self.write(rng, value, out);
                }
                self.end(rng, map.is_empty(), out);
                out.push('}');
            }
            Value::String(text) => self.quoted(rng, text, out),
            Value::Bool(true) if self.python => out.push_str("True"),
            Value::Bool(false) if self.python => out.push_str("False"),
            Value::Null if self.python => out.push_str("None"),
            other => out.push_str(&other.to_string()),
        }
    }

    fn end(self, rng: &mut Rng, empty: bool, out: &mut String) {
        if self.commas && !empty && rng.chance(60) {
            out.push(',');
        }
        self.space(rng, out);
    }

    fn key(self, rng: &mut Rng, key: &str, out: &mut String) {
        let mut letters = key.chars();
        let word = letters.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
            && letters.all(|c| c.is_ascii_alphanumeric() || c == '_');
        if self.bare_keys && word {
            out.push_str(key);
        } else {
            self.quoted(rng, key, out);
        }
    }

    fn quoted(self, rng: &mut Rng, text: &str, out: &mut String) {
        let json = Value::from(text).to_string();
        if !(self.single && rng.chance(70)) {
            out.push_str(&json);
            return;
        }
        let inner = &json[1..json.len() - 1];
        out.push('\'');
        out.push_str(&inner.replace("\\\"", "\"").replace('\'', "\\'"));
        out.push('\'');
    }
}
