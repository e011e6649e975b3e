//! Anthropic: tools, strict tools, and structured output.
//!
//! Sources:
//! - \[SO\] "Structured outputs", <https://platform.claude.com/docs/en/build-with-claude/structured-outputs>,
//!   section "JSON Schema limitations" (as of 2026-09).
//! - \[API\] Types of the package `anthropic` 2.12 (2026-11), generated from Anthropic's API description.
//! - \[SDK\] `anthropic/lib/_parse/_transform.py` of the same package: `transform_schema`.
//! - \[SAND\] "Self-hosted sandboxes", section on the schemas of custom tools (as quoted 2026-09).
//! - \[400\] Error messages of the service, as quoted in public issues.

use serde_json::Value;

use super::patterns;
use super::target::{FREE, List, Names, Rule, Target, Wrap, is_dashed, is_dotted};

/// \[API\] `ToolParam`.
const WRAP: Wrap = Wrap {
    list: List::Items,
    inner: None,
    fixed: &[],
    needed: &["name", "input_schema"],
    optional: &[
        "description",
        "strict",
        "allowed_callers",
        "cache_control",
        "defer_loading",
        "eager_input_streaming",
        "input_examples",
        "type",
    ],
    not_empty: &[],
    schema: &["input_schema"],
};

/// Rules for the schemas of tools, strict or not.
const TOOL_RULES: &[Rule] = &[
    // [API] `input_schema` is JSON Schema of draft 2020-12 with `type: object`.
    Rule::JsonSchema,
    Rule::RootObject,
    Rule::Resolved,
    Rule::Ends,
    // [400] "input_schema does not support oneOf, allOf, or anyOf at the top level"
    // (anthropics/claude-code#40075, 2026-03); [SAND].
    Rule::RootWithout(&["oneOf", "allOf", "anyOf"]),
    // [400] "Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'" (anthropics/claude-code#79418,
    // 2026-07); [SAND]. Open: properties below the root.
    Rule::RootKeys(Names::of(is_dotted, 64)),
];

// Open: [SAND] refuses `$ref` in custom tools of managed agents. The Messages API accepts it.

/// Rules for strict tools and structured output.
pub(super) const STRICT_RULES: &[Rule] = &[
    // [SO] "Supported" and "Pattern support"; the SDK moves other keywords to the description.
    Rule::Only(&[
        "type",
        "title",
        "description",
        "default",
        "enum",
        "const",
        "anyOf",
        "allOf",
        "properties",
        "required",
        "additionalProperties",
        "items",
        "minItems",
        "pattern",
        "format",
        "$ref",
        "$defs",
        "definitions",
    ]),
    Rule::Formats(&[
        "date-time",
        "time",
        "date",
        "duration",
        "email",
        "hostname",
        "uri",
        "ipv4",
        "ipv6",
        "uuid",
    ]),
    // [SO] "Array `minItems` (only values 0 and 1 supported)".
    Rule::Most("minItems", 1),
    // [SO] "`additionalProperties` (must be set to `false` for objects)".
    Rule::Closed,
    // [SO] `enum`: no complex types.
    Rule::EnumValues(is_scalar),
    // [SDK] raises for a schema without any of these.
    Rule::Typed(&["type", "$ref", "anyOf", "allOf", "enum", "const"]),
    // [SO] "Recursive schemas" are not supported.
    Rule::Acyclic(false),
    // [SDK] drops all keywords beside a reference except `$defs`.
    Rule::BesideReference(|key| key == "$defs"),
    // [SO] "Pattern support (regex)".
    Rule::Pattern(patterns::check_anthropic),
];

/// A string, number, boolean or null.
const fn is_scalar(value: &Value) -> bool {
    !matches!(value, Value::Array(_) | Value::Object(_))
}

pub(super) const TOOLS: Target = Target {
    wrap: Some(&WRAP),
    // [400] "tools.18.custom.name: String should have at most 128 characters" (anthropics/claude-code#96152,
    // 2026-09), "String should match pattern '^[a-zA-Z0-9_-]{1,128}$'" (github/copilot-cli#1879).
    names: Some(Names::of(is_dashed, 128)),
    rules: &[TOOL_RULES],
    if_strict: &[STRICT_RULES],
    ..FREE
};

pub(super) const STRICT_TOOLS: Target = Target {
    wrap: Some(&Wrap { needed: &["name", "input_schema", "strict"], ..WRAP }),
    strict: Some(true),
    ..TOOLS
};

/// \[API\] `JSONOutputFormatParam`.
pub(super) const OUTPUT_FORMAT: Target = Target {
    wrap: Some(&Wrap {
        list: List::Single,
        inner: None,
        fixed: &[("type", "json_schema")],
        needed: &["schema"],
        optional: &[],
        not_empty: &[],
        schema: &["schema"],
    }),
    // Open: whether a root other than an object is accepted.
    rules: &[&[Rule::JsonSchema, Rule::RootObject, Rule::Resolved, Rule::Ends], STRICT_RULES],
    ..FREE
};
