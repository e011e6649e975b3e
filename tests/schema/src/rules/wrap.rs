//! The wrapping of tools: which keys it has, and where the name and the schemas are.

use serde_json::{Map, Value};

use super::Violations;
use super::dialect::{Dialect, Wrap};
use crate::same::{item, member};

/// A tool of the output.
pub(super) struct Tool<'a> {
    /// Its name, and the name's place.
    pub(super) name: &'a str,
    /// The path of the tool.
    pub(super) path: String,
    /// Whether it says that it is strict.
    pub(super) strict: bool,
    /// The schema of its parameters and its path; there may be none where the target allows that.
    pub(super) schema: Option<(String, &'a Value)>,
    /// The schema of its result and its path.
    pub(super) result: Option<(String, &'a Value)>,
}

/// The keys of an object that wraps something: those that must be there, and those that may.
struct Keys {
    needed: &'static [&'static str],
    allowed: &'static [&'static str],
}

/// The tools of an output. What is wrong with their wrapping goes into the violations, and a tool
/// that cannot be found in it is left out.
pub(super) fn tools<'a>(
    dialect: &Dialect,
    output: &'a Value,
    violations: &mut Violations,
) -> Vec<Tool<'a>> {
    if dialect.wrap == Wrap::Schemas {
        let Some(schemas) = output.as_object() else {
            violations.add("", "$", "is not an object of schemas");
            return Vec::new();
        };
        return schemas
            .iter()
            .map(|(name, schema)| {
                let path = member("$", name);
                let schema = Some((path.clone(), schema));
                Tool { name, path, strict: false, schema, result: None }
            })
            .collect();
    }
    if let Wrap::Output(around, needed, allowed, key) = dialect.wrap {
        return self::output(output, around, &Keys { needed, allowed }, key, violations)
            .into_iter()
            .collect();
    }
    let Some((path, list)) = list(dialect.wrap, output, violations) else { return Vec::new() };
    list.iter()
        .enumerate()
        .filter_map(|(at, tool)| one(dialect, tool, &item(&path, at), violations))
        .collect()
}

/// A type for answers.
fn output<'a>(
    output: &'a Value,
    around: Option<&str>,
    keys: &Keys,
    key: &str,
    violations: &mut Violations,
) -> Option<Tool<'a>> {
    let (mut value, mut path) = (output, "$".to_owned());
    if let Some(around) = around {
        if output.as_object().is_none_or(|members| members.len() != 2) {
            violations.add("", "$", "has other keys than `type` and one more");
        }
        path = member(&path, around);
        value = output.get(around)?;
    }
    if key != "responseJsonSchema" && output.get("type").is_none_or(|kind| kind != "json_schema") {
        violations.add("", "$", "is not of the type `json_schema`");
    }
    let members = object("", &path, value, keys, violations)?;
    texts("", &path, members, violations);
    let name = members.get("name").and_then(Value::as_str).unwrap_or_default();
    let schema = members.get(key).map(|schema| (member(&path, key), schema));
    let strict = members.get("strict") == Some(&Value::Bool(true));
    Some(Tool { name, path, strict, schema, result: None })
}

/// The list of tools and its path.
fn list<'a>(
    wrap: Wrap,
    output: &'a Value,
    violations: &mut Violations,
) -> Option<(String, &'a Vec<Value>)> {
    let (path, found) = match wrap {
        Wrap::Mcp => {
            let outer =
                object("", "$", output, &Keys { needed: &["tools"], allowed: &[] }, violations)?;
            ("$.tools", outer.get("tools"))
        }
        Wrap::Gemini(_) => {
            let Some([only]) = output.as_array().map(Vec::as_slice) else {
                violations.add("", "$", "is not a list of one object with `functionDeclarations`");
                return None;
            };
            let keys = Keys { needed: &["functionDeclarations"], allowed: &[] };
            let outer = object("", "$[0]", only, &keys, violations)?;
            ("$[0].functionDeclarations", outer.get("functionDeclarations"))
        }
        _ => ("$", Some(output)),
    };
    match found {
        Some(Value::Array(list)) => Some((path.to_owned(), list)),
        Some(_) => {
            violations.add("", path, "is not a list of tools");
            None
        }
        None => None,
    }
}

/// One tool.
fn one<'a>(
    dialect: &Dialect,
    value: &'a Value,
    path: &str,
    violations: &mut Violations,
) -> Option<Tool<'a>> {
    let named = |tool: &'a Value| tool.get("name").and_then(Value::as_str);
    let (inner, at) = match dialect.wrap {
        Wrap::Function => (value.get("function"), member(path, "function")),
        Wrap::Bedrock => (value.get("toolSpec"), member(path, "toolSpec")),
        _ => (Some(value), path.to_owned()),
    };
    let name = inner.and_then(named).unwrap_or("?");
    match dialect.wrap {
        Wrap::Function => {
            let keys = Keys { needed: &["type", "function"], allowed: &[] };
            let outer = object(name, path, value, &keys, violations)?;
            is_function(name, path, outer, violations);
        }
        Wrap::Bedrock => {
            let keys = Keys { needed: &["toolSpec"], allowed: &[] };
            object(name, path, value, &keys, violations)?;
        }
        _ => {}
    }
    let keys = keys(dialect);
    let tool = object(name, &at, inner?, &keys, violations)?;
    texts(name, &at, tool, violations);
    if dialect.wrap == Wrap::FlatFunction {
        is_function(name, &at, tool, violations);
    }
    match (tool.get("strict"), dialect.strict) {
        (Some(Value::Bool(strict)), Some(wanted)) if *strict != wanted => {
            violations.add(name, &member(&at, "strict"), &format!("is not {wanted}"));
        }
        (None | Some(Value::Bool(_)), _) => {}
        _ => violations.add(name, &member(&at, "strict"), "is neither true nor false"),
    }
    match dialect.wrap {
        Wrap::Mcp => mcp(name, &at, tool, violations),
        Wrap::Bedrock if tool.get("description").is_some_and(|text| text == "") => {
            violations.add(name, &member(&at, "description"), "has no character");
        }
        _ => {}
    }
    let key = match dialect.wrap {
        Wrap::Anthropic => "input_schema",
        Wrap::Mcp | Wrap::Bedrock => "inputSchema",
        Wrap::Gemini(key) => key,
        _ => "parameters",
    };
    let mut schema = tool.get(key).map(|found| (member(&at, key), found));
    if dialect.wrap == Wrap::Bedrock
        && let Some((at, outer)) = schema
    {
        let keys = Keys { needed: &["json"], allowed: &[] };
        let outer = object(name, &at, outer, &keys, violations)?;
        schema = outer.get("json").map(|found| (member(&at, "json"), found));
    }
    let result = tool.get("outputSchema").map(|found| (member(&at, "outputSchema"), found));
    let strict = tool.get("strict") == Some(&Value::Bool(true));
    named(inner?).map(|name| Tool { name, path: at, strict, schema, result })
}

/// The keys of a tool.
fn keys(dialect: &Dialect) -> Keys {
    let (needed, allowed): (&[_], &[_]) = match (dialect.wrap, dialect.strict) {
        (Wrap::Function, Some(true)) => (&["name", "parameters", "strict"], &["description"]),
        (Wrap::Function, _) => (&["name", "parameters"], &["description", "strict"]),
        (Wrap::FlatFunction, _) => (&["type", "name", "parameters", "strict"], &["description"]),
        (Wrap::Anthropic, Some(true)) => (&["name", "input_schema", "strict"], &["description"]),
        (Wrap::Anthropic, _) => (&["name", "input_schema"], &["description"]),
        (Wrap::Gemini("parameters"), _) => (&["name"], &["description", "parameters"]),
        (Wrap::Gemini(_), _) => (&["name"], &["description", "parametersJsonSchema"]),
        (Wrap::Bedrock, _) => (&["name", "inputSchema"], &["description"]),
        (Wrap::Mcp, _) => (
            &["name", "inputSchema"],
            &["title", "description", "outputSchema", "annotations", "_meta", "execution", "icons"],
        ),
        (Wrap::OldFunction | Wrap::Schemas | Wrap::Output(..), _) => {
            (&["name", "parameters"], &["description"])
        }
    };
    Keys { needed, allowed }
}

/// An object with these keys and no others.
fn object<'a>(
    name: &str,
    path: &str,
    value: &'a Value,
    keys: &Keys,
    violations: &mut Violations,
) -> Option<&'a Map<String, Value>> {
    let Some(members) = value.as_object() else {
        violations.add(name, path, "is not an object");
        return None;
    };
    for key in keys.needed.iter().filter(|key| !members.contains_key(**key)) {
        violations.add(name, path, &format!("has no `{key}`"));
    }
    for key in members.keys() {
        if !keys.needed.contains(&key.as_str()) && !keys.allowed.contains(&key.as_str()) {
            violations.add(name, &member(path, key), "is a key that the target does not know");
        }
    }
    Some(members)
}

fn is_function(name: &str, path: &str, members: &Map<String, Value>, violations: &mut Violations) {
    if members.get("type").is_some_and(|kind| kind != "function") {
        violations.add(name, &member(path, "type"), "is not `function`");
    }
}

/// That name, title and description are texts.
fn texts(name: &str, path: &str, members: &Map<String, Value>, violations: &mut Violations) {
    for key in ["name", "title", "description"] {
        if members.get(key).is_some_and(|text| !text.is_string()) {
            violations.add(name, &member(path, key), "is not a text");
        }
    }
}

/// The keys of an MCP tool other than its schemas. Annotations may have keys that MCP does not name.
fn mcp(name: &str, path: &str, tool: &Map<String, Value>, violations: &mut Violations) {
    for key in ["_meta", "annotations", "execution"] {
        if tool.get(key).is_some_and(|value| !value.is_object()) {
            violations.add(name, &member(path, key), "is not an object");
        }
    }
    if tool.get("icons").is_some_and(|icons| !icons.is_array()) {
        violations.add(name, &member(path, "icons"), "is not a list");
    }
    let Some(Value::Object(annotations)) = tool.get("annotations") else { return };
    let at = member(path, "annotations");
    for (key, value) in annotations {
        let wrong = match key.as_str() {
            "title" => (!value.is_string()).then_some("is not a text"),
            "readOnlyHint" | "destructiveHint" | "idempotentHint" | "openWorldHint" => {
                (!value.is_boolean()).then_some("is neither true nor false")
            }
            _ => None,
        };
        if let Some(wrong) = wrong {
            violations.add(name, &member(&at, key), wrong);
        }
    }
}
