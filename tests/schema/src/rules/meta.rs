//! Whether a schema is one: what each keyword of draft 2020-12 must hold, by its metaschema.
//!
//! The tests compare this with a validator's own reading of the metaschema.

use serde_json::{Number, Value};

use super::walk;
use crate::same::{decimal, member};

/// The kinds of value that keywords have.
#[derive(Debug, Clone, Copy)]
enum Holds {
    Text,
    Flag,
    Number,
    /// A number above 0.
    Factor,
    /// A number without fraction, 0 or above.
    Count,
    List,
    /// A list of distinct texts.
    Names,
    Types,
    Schema,
    /// A list of at least one schema.
    Schemas,
    /// An object of schemas.
    Named,
    /// An object of lists of distinct texts.
    NamedNames,
    /// A word that references may name.
    Anchor,
    /// A reference without a fragment.
    Address,
}

const TYPES: [&str; 7] = ["null", "boolean", "object", "array", "number", "string", "integer"];

/// What a keyword holds; `None` for words that the metaschema does not know.
fn holds(keyword: &str) -> Option<Holds> {
    Some(match keyword {
        "$schema" | "$ref" | "$dynamicRef" | "$comment" | "title" | "description" | "format"
        | "pattern" | "contentEncoding" | "contentMediaType" => Holds::Text,
        "$id" => Holds::Address,
        "$anchor" | "$dynamicAnchor" => Holds::Anchor,
        "deprecated" | "readOnly" | "writeOnly" | "uniqueItems" => Holds::Flag,
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" => Holds::Number,
        "multipleOf" => Holds::Factor,
        "minLength" | "maxLength" | "minItems" | "maxItems" | "minContains" | "maxContains"
        | "minProperties" | "maxProperties" => Holds::Count,
        "enum" | "examples" => Holds::List,
        "required" => Holds::Names,
        "dependentRequired" => Holds::NamedNames,
        "type" => Holds::Types,
        "items"
        | "additionalProperties"
        | "propertyNames"
        | "contains"
        | "not"
        | "if"
        | "then"
        | "else"
        | "unevaluatedItems"
        | "unevaluatedProperties"
        | "contentSchema" => Holds::Schema,
        "anyOf" | "oneOf" | "allOf" | "prefixItems" => Holds::Schemas,
        "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas" => {
            Holds::Named
        }
        _ => return None,
    })
}

/// What is wrong with a schema and the schemas inside it, each with its path.
pub(super) fn problems(root: &Value, path: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for node in walk::nodes(root, path) {
        match node.schema {
            Value::Bool(_) => {}
            Value::Object(members) => {
                for (keyword, value) in members {
                    if let Some(wrong) = holds(keyword).and_then(|kind| wrong(kind, value)) {
                        found.push((member(&node.path, keyword), wrong.to_owned()));
                    }
                }
            }
            _ => found.push((node.path, "is no schema".to_owned())),
        }
    }
    found
}

/// What is wrong with a keyword's value.
fn wrong(kind: Holds, value: &Value) -> Option<&'static str> {
    let is_schema = |value: &Value| value.is_object() || value.is_boolean();
    let (right, told) = match kind {
        Holds::Text => (value.is_string(), "is not a text"),
        Holds::Flag => (value.is_boolean(), "is neither true nor false"),
        Holds::Number => (value.is_number(), "is not a number"),
        Holds::Factor => (matches!(value, Value::Number(it) if above_zero(it)), "is not above 0"),
        Holds::Count => (matches!(value, Value::Number(it) if is_count(it)), "is not a count"),
        Holds::List => (value.is_array(), "is not a list"),
        Holds::Names => (is_names(value), "is not a list of distinct names"),
        Holds::Types => (is_types(value), "is not a type or a list of distinct types"),
        Holds::Schema => (is_schema(value), "is no schema"),
        Holds::Schemas => {
            let right =
                value.as_array().is_some_and(|it| !it.is_empty() && it.iter().all(is_schema));
            (right, "is not a list of schemas")
        }
        Holds::Named => {
            let right = value.as_object().is_some_and(|it| it.values().all(is_schema));
            (right, "is not an object of schemas")
        }
        Holds::NamedNames => {
            let right = value.as_object().is_some_and(|it| it.values().all(is_names));
            (right, "is not an object of lists of names")
        }
        Holds::Anchor => (value.as_str().is_some_and(is_anchor), "is not an anchor"),
        Holds::Address => {
            let right = value
                .as_str()
                .is_some_and(|text| !text.strip_suffix('#').unwrap_or(text).contains('#'));
            (right, "is not an address without a fragment")
        }
    };
    (!right).then_some(told)
}

fn is_anchor(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "_-.".contains(c))
}

fn is_names(value: &Value) -> bool {
    value.as_array().is_some_and(|names| distinct(names) && names.iter().all(Value::is_string))
}

fn is_types(value: &Value) -> bool {
    let known = |kind: &Value| kind.as_str().is_some_and(|kind| TYPES.contains(&kind));
    match value {
        Value::Array(kinds) => !kinds.is_empty() && distinct(kinds) && kinds.iter().all(known),
        other => known(other),
    }
}

fn distinct(values: &[Value]) -> bool {
    values.iter().enumerate().all(|(at, value)| !values[..at].contains(value))
}

fn above_zero(number: &Number) -> bool {
    decimal(&number.to_string()).is_none_or(|(negative, digits, _)| !negative && !digits.is_empty())
}

/// Whether a number has no fraction and is not below 0.
fn is_count(number: &Number) -> bool {
    decimal(&number.to_string()).is_some_and(|(negative, _, power)| !negative && power >= 0)
}
