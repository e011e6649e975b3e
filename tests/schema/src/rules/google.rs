//! Gemini: `parameters` in the `OpenAPI` subset, `parametersJsonSchema`, and structured output.
//!
//! Sources:
//! - \[API\] `Schema`, `FunctionDeclaration` and `Tool` of Vertex AI's discovery document (`aiplatform.v1`, revision
//!   20261106), and the same types of `google-genai` 3.4 (2026-11).
//! - \[GEN\] `GenerationConfig.responseJsonSchema` of the Gemini API reference (2025 to 2026): the list of
//!   supported properties, cyclic references, and siblings of `$ref`.
//! - \[400\] Error messages of the service, as quoted in public issues.

use serde_json::{Map, Value};

use super::Violations;
use super::target::{FREE, Keys, List, Names, Rule, Target, Wrap, is_dotted};
use super::texts;
use super::walk::Node;
use crate::same::member;

/// \[API\] A letter or `_`, then letters, digits, `_`, `.`, `:` and `-`; at most 128 characters.
const FUNCTION_NAMES: Names = Names { first: is_word_start, other: is_function_name, most: 128 };

/// \[API\] `FunctionDeclaration.parameters`: names of parameters.
const PARAMETER_NAMES: Names = Names { first: is_word_start, other: is_word, most: 64 };

const fn is_word_start(c: char) -> bool {
    c.is_ascii_alphabetic() || c == '_'
}

const fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

const fn is_function_name(c: char) -> bool {
    is_dotted(c) || c == ':'
}

const WRAP: Wrap = Wrap {
    list: List::OnlyItem("functionDeclarations"),
    inner: None,
    fixed: &[],
    needed: &["name"],
    optional: &["description", "parameters", "response", "responseJsonSchema", "behavior"],
    not_empty: &[],
    schema: &["parameters"],
};

/// The fields of \[API\] `Schema` except `additionalProperties`, `ref` and `defs`, which the Gemini API does not
/// have (\[400\] "Cannot find field").
const FIELDS: Keys = &[
    "type",
    "format",
    "title",
    "description",
    "nullable",
    "enum",
    "items",
    "minItems",
    "maxItems",
    "properties",
    "required",
    "propertyOrdering",
    "minProperties",
    "maxProperties",
    "minimum",
    "maximum",
    "minLength",
    "maxLength",
    "pattern",
    "default",
    "example",
    "anyOf",
];

pub(super) const PARAMETERS: Target = Target {
    wrap: Some(&WRAP),
    names: Some(FUNCTION_NAMES),
    rules: &[&[
        Rule::GeminiSchema,
        Rule::RootObject,
        Rule::AllKeys(PARAMETER_NAMES),
        Rule::Only(FIELDS),
        Rule::Items,
        Rule::Resolved,
        Rule::Description(texts::check_exclusive_bounds),
    ]],
    ..FREE
};

/// Open: the reference does not list the supported keywords of `parametersJsonSchema`. The list of
/// `responseJsonSchema` is the only one.
const JSON_SCHEMA_RULES: &[Rule] = &[
    Rule::JsonSchema,
    // [API] "The schema must describe an object".
    Rule::RootObject,
    Rule::Resolved,
    Rule::Ends,
    Rule::Only(&[
        "$id",
        "$defs",
        "$ref",
        "$anchor",
        "type",
        "format",
        "title",
        "description",
        "enum",
        "items",
        "prefixItems",
        "minItems",
        "maxItems",
        "minimum",
        "maximum",
        "anyOf",
        "oneOf",
        "properties",
        "additionalProperties",
        "required",
        "propertyOrdering",
    ]),
    // Open: [GEN] supports `enum` for strings and numbers, and does not say whether others are refused.
    // [GEN] Cyclic references only within properties that are not required.
    Rule::Acyclic(true),
    // [GEN] Beside `$ref`, only properties that start with `$`.
    Rule::BesideReference(|key| key.starts_with('$')),
    Rule::Description(texts::check_exclusive_bounds),
];

pub(super) const PARAMETERS_JSON_SCHEMA: Target = Target {
    wrap: Some(&Wrap {
        optional: &[
            "description",
            "parametersJsonSchema",
            "response",
            "responseJsonSchema",
            "behavior",
        ],
        schema: &["parametersJsonSchema"],
        ..WRAP
    }),
    names: Some(FUNCTION_NAMES),
    rules: &[JSON_SCHEMA_RULES],
    ..FREE
};

/// Open: whether a root other than an object is accepted.
pub(super) const RESPONSE_JSON_SCHEMA: Target = Target {
    wrap: Some(&Wrap {
        list: List::Single,
        inner: None,
        fixed: &[("responseMimeType", "application/json")],
        needed: &["responseJsonSchema"],
        optional: &[],
        not_empty: &[],
        schema: &["responseJsonSchema"],
    }),
    rules: &[JSON_SCHEMA_RULES],
    ..FREE
};

/// Keywords with the types that allow them: \[API\] "If type is …", \[400\] "only allowed for … type"
/// (anomalyco/opencode#11889, 2026-02; diegosouzapw/OmniRoute#760, 2026-03).
const OF_TYPES: [(&str, Keys); 14] = [
    ("enum", &["string"]),
    ("minLength", &["string"]),
    ("maxLength", &["string"]),
    ("pattern", &["string"]),
    ("format", &["string", "number", "integer"]),
    ("minimum", &["number", "integer"]),
    ("maximum", &["number", "integer"]),
    ("items", &["array"]),
    ("minItems", &["array"]),
    ("maxItems", &["array"]),
    ("properties", &["object"]),
    ("required", &["object"]),
    ("minProperties", &["object"]),
    ("maxProperties", &["object"]),
];

/// \[400\] "format: only 'enum' and 'date-time' are supported for STRING type" (google-gemini/gemini-cli#3178,
/// 2025-07); the others by the reference of `Schema.format`. Open: \[API\] of 2026 names more for strings.
const FORMATS: [(&str, Keys); 3] = [
    ("string", &["enum", "date-time"]),
    ("number", &["float", "double"]),
    ("integer", &["int32", "int64"]),
];

/// Checks one schema of the `OpenAPI` subset, except for its keywords.
pub(super) fn check(tool: &str, node: &Node<'_>, violations: &mut Violations) {
    let path = &node.path;
    let Some(members) = node.schema.as_object() else {
        violations.add(tool, path, "is not an object");
        return;
    };
    let kind = members.get("type").and_then(Value::as_str).map(str::to_ascii_lowercase);
    let kind = kind.as_deref();
    if let Some(choices) = members.get("anyOf") {
        // [400] Vertex AI: "schema specified other fields alongside any_of" (2025 to 2026).
        if members.len() > 1 {
            violations.add(tool, path, "has other keywords next to `anyOf`");
        }
        if choices.as_array().is_none_or(Vec::is_empty) {
            violations.add(tool, &member(path, "anyOf"), "is not a list of schemas");
        }
    } else if kind.is_some_and(|kind| TYPES.contains(&kind)) {
        check_kinds(tool, path, members, kind.unwrap_or_default(), violations);
    } else if members.contains_key("type") {
        violations.add(tool, &member(path, "type"), "is not one type of OpenAPI 3.0");
    } else {
        // [400] "type: must be specified" (home-assistant/core#122403, 2024-07).
        violations.add(tool, path, "has neither `type` nor `anyOf`");
    }
    for (key, value) in members {
        if !has_kind(key, value) {
            violations.add(tool, &member(path, key), "has a value of another kind");
        }
    }
}

/// \[API\] `Type`, which is read without regard to case. `NULL` stands only alone.
const TYPES: [&str; 6] = ["string", "number", "integer", "boolean", "array", "object"];

/// Checks that the keywords of a schema suit its type.
fn check_kinds(
    tool: &str,
    path: &str,
    members: &Map<String, Value>,
    kind: &str,
    violations: &mut Violations,
) {
    for (keyword, kinds) in OF_TYPES {
        if members.contains_key(keyword) && !kinds.contains(&kind) {
            violations.add(tool, &member(path, keyword), &format!("is not allowed for {kind}"));
        }
    }
    let properties = members.get("properties").and_then(Value::as_object);
    // [400] "properties: should be non-empty for OBJECT type" (browser-use/browser-use#3786, 2025-12).
    if kind == "object" && properties.is_none_or(Map::is_empty) {
        violations.add(tool, path, "is an object without properties");
    }
    // [400] "required[0]: property is not defined".
    let required = members.get("required").and_then(Value::as_array).into_iter().flatten();
    for name in required.filter_map(Value::as_str) {
        if properties.is_none_or(|properties| !properties.contains_key(name)) {
            let told = format!("names `{name}`, which is no property");
            violations.add(tool, &member(path, "required"), &told);
        }
    }
    let format = members.get("format").and_then(Value::as_str);
    let known = FORMATS.iter().find(|(of, _)| *of == kind).map_or(&[][..], |(_, formats)| formats);
    if let Some(format) = format.filter(|format| !known.contains(format)) {
        let told = format!("`{format}` is not a format of {kind}");
        violations.add(tool, &member(path, "format"), &told);
    }
}

/// The kinds of values of \[API\] `Schema`.
fn has_kind(key: &str, value: &Value) -> bool {
    match key {
        "nullable" => value.is_boolean(),
        "type" | "title" | "description" | "pattern" | "format" => value.is_string(),
        "minimum" | "maximum" => value.is_number(),
        "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties" | "maxProperties" => {
            value.as_u64().is_some()
        }
        // [400] "enum: should be non-empty" (elastic/kibana#286302, 2026-08), and `TYPE_STRING` for values.
        "enum" => value
            .as_array()
            .is_some_and(|values| !values.is_empty() && values.iter().all(Value::is_string)),
        "required" | "propertyOrdering" => {
            value.as_array().is_some_and(|names| names.iter().all(Value::is_string))
        }
        "properties" | "items" => value.is_object(),
        _ => true,
    }
}
