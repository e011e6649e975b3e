//! The metaschema of draft 2020-12: the kind of each keyword's value.
//!
//! The tests compare this with a validator of the metaschema.

use serde_json::{Number, Value};

use super::walk;
use crate::same::{decimal, member};

/// The kind of a keyword's value.
#[derive(Debug, Clone, Copy)]
enum Kind {
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
    /// A name for references.
    Anchor,
    /// A reference without a fragment.
    Address,
}

const TYPES: [&str; 7] = ["null", "boolean", "object", "array", "number", "string", "integer"];

/// The kind of a keyword's value; `None` for words unknown to the metaschema.
fn kind_of(keyword: &str) -> Option<Kind> {
    Some(match keyword {
        "$schema" | "$ref" | "$dynamicRef" | "$comment" | "title" | "description" | "format"
        | "pattern" | "contentEncoding" | "contentMediaType" => Kind::Text,
        "$id" => Kind::Address,
        "$anchor" | "$dynamicAnchor" => Kind::Anchor,
        "deprecated" | "readOnly" | "writeOnly" | "uniqueItems" => Kind::Flag,
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" => Kind::Number,
        "multipleOf" => Kind::Factor,
        "minLength" | "maxLength" | "minItems" | "maxItems" | "minContains" | "maxContains"
        | "minProperties" | "maxProperties" => Kind::Count,
        "enum" | "examples" => Kind::List,
        "required" => Kind::Names,
        "dependentRequired" => Kind::NamedNames,
        "type" => Kind::Types,
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
        | "contentSchema" => Kind::Schema,
        "anyOf" | "oneOf" | "allOf" | "prefixItems" => Kind::Schemas,
        "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas" => {
            Kind::Named
        }
        _ => return None,
    })
}

/// The problems of a schema and the schemas inside it, each with its path.
pub(super) fn find_problems(root: &Value, path: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for node in walk::nodes(root, path) {
        match node.schema {
            Value::Bool(_) => {}
            Value::Object(members) => {
                for (keyword, value) in members {
                    if let Some(problem) =
                        kind_of(keyword).and_then(|kind| find_problem(kind, value))
                    {
                        found.push((member(&node.path, keyword), problem.to_owned()));
                    }
                }
            }
            _ => found.push((node.path, "is no schema".to_owned())),
        }
    }
    found
}

/// The problem of a keyword's value.
fn find_problem(kind: Kind, value: &Value) -> Option<&'static str> {
    let is_schema = |value: &Value| value.is_object() || value.is_boolean();
    let (right, told) = match kind {
        Kind::Text => (value.is_string(), "is not a text"),
        Kind::Flag => (value.is_boolean(), "is neither true nor false"),
        Kind::Number => (value.is_number(), "is not a number"),
        Kind::Factor => (matches!(value, Value::Number(it) if above_zero(it)), "is not above 0"),
        Kind::Count => (matches!(value, Value::Number(it) if is_count(it)), "is not a count"),
        Kind::List => (value.is_array(), "is not a list"),
        Kind::Names => (is_names(value), "is not a list of distinct names"),
        Kind::Types => (is_types(value), "is not a type or a list of distinct types"),
        Kind::Schema => (is_schema(value), "is no schema"),
        Kind::Schemas => {
            let right =
                value.as_array().is_some_and(|it| !it.is_empty() && it.iter().all(is_schema));
            (right, "is not a list of schemas")
        }
        Kind::Named => {
            let right = value.as_object().is_some_and(|it| it.values().all(is_schema));
            (right, "is not an object of schemas")
        }
        Kind::NamedNames => {
            let right = value.as_object().is_some_and(|it| it.values().all(is_names));
            (right, "is not an object of lists of names")
        }
        Kind::Anchor => (value.as_str().is_some_and(is_anchor), "is not an anchor"),
        Kind::Address => {
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
