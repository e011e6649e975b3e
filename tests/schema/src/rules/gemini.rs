//! Gemini's `parameters`: a subset of `OpenAPI` 3.0, which no JSON Schema validator knows.

use serde_json::{Map, Value};

use super::Violations;
use super::walk::{Node, is_kind};
use crate::same::member;

const TYPES: [&str; 6] = ["string", "number", "integer", "boolean", "array", "object"];

/// Checks one schema. Which keywords it may have is checked elsewhere, as for all targets.
pub(super) fn check(tool: &str, node: &Node<'_>, violations: &mut Violations) {
    let path = &node.path;
    let Some(members) = node.schema.as_object() else {
        violations.add(tool, path, "is not an object");
        return;
    };
    if let Some(choices) = members.get("anyOf") {
        if members.len() > 1 {
            violations.add(tool, path, "has other keywords next to `anyOf`");
        }
        if choices.as_array().is_none_or(Vec::is_empty) {
            violations.add(tool, &member(path, "anyOf"), "is not a list of schemas");
        }
    } else {
        match members.get("type") {
            Some(Value::String(kind)) if TYPES.contains(&kind.as_str()) => {}
            Some(_) => {
                violations.add(tool, &member(path, "type"), "is not one type of OpenAPI 3.0");
            }
            None => violations.add(tool, path, "has neither `type` nor `anyOf`"),
        }
    }
    let properties = members.get("properties");
    let empty = properties.is_none_or(|it| it.as_object().is_none_or(Map::is_empty));
    if empty && (is_kind(node.schema, "object") || properties.is_some()) {
        violations.add(tool, path, "is an object without properties");
    }
    words(tool, path, members, violations);
    values(tool, path, members, violations);
}

/// `enum` and `format`.
fn words(tool: &str, path: &str, members: &Map<String, Value>, violations: &mut Violations) {
    let text = members.get("type").is_some_and(|kind| kind == "string");
    if let Some(choices) = members.get("enum") {
        let texts =
            choices.as_array().is_some_and(|it| !it.is_empty() && it.iter().all(Value::is_string));
        if !texts || !text {
            violations.add(tool, &member(path, "enum"), "is not a list of texts for a text");
        }
    }
    match members.get("format") {
        Some(Value::String(format)) if text && format != "enum" && format != "date-time" => {
            let told = format!("`{format}` is not `enum` or `date-time`");
            violations.add(tool, &member(path, "format"), &told);
        }
        Some(Value::String(_)) | None => {}
        Some(_) => violations.add(tool, &member(path, "format"), "is not a text"),
    }
}

/// What the other keywords hold.
fn values(tool: &str, path: &str, members: &Map<String, Value>, violations: &mut Violations) {
    let count = |value: &Value| value.as_u64().is_some();
    for (key, value) in members {
        let right = match key.as_str() {
            "nullable" => value.is_boolean(),
            "title" | "description" | "pattern" => value.is_string(),
            "minimum" | "maximum" => value.is_number(),
            "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties"
            | "maxProperties" => count(value),
            "required" => value.as_array().is_some_and(|names| names.iter().all(Value::is_string)),
            "properties" | "items" => value.is_object(),
            _ => true,
        };
        if !right {
            violations.add(tool, &member(path, key), "holds a value of another kind");
        }
    }
}
