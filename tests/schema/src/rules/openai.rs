//! OpenAI: chat completions, the older `functions`, responses, and structured output.
//!
//! Sources:
//! - \[SO\] Guide "Structured model outputs", <https://developers.openai.com/api/docs/guides/structured-outputs>,
//!   section "Supported schemas" (as of 2025-07 to 2026-09; 10 levels and 5,000 properties since 2025).
//! - \[API\] Types of the package `openai` 3.54 (2026-11), generated from OpenAI's `OpenAPI` description.
//! - \[SDK\] `openai/lib/_pydantic.py` of the same package: `_ensure_strict_json_schema`.
//! - \[400\] Error messages of the service, as quoted in public issues.

use super::patterns;
use super::target::{FREE, Keys, List, Names, Rule, Target, Wrap, is_dashed};
use super::texts;

/// \[API\] `FunctionDefinition.name`, `JSONSchema.name`.
pub(super) const NAMES: Names = Names::of(is_dashed, 64);

const FUNCTION: Keys = &["name"];

/// \[API\] `ChatCompletionFunctionToolParam`.
const CHAT_WRAP: Wrap = Wrap {
    list: List::Items,
    inner: Some("function"),
    fixed: &[("type", "function")],
    needed: FUNCTION,
    optional: &["description", "parameters", "strict"],
    not_empty: &[],
    schema: &["parameters"],
};

/// \[API\] `completion_create_params.Function`, which has no `strict`.
const FUNCTIONS_WRAP: Wrap =
    Wrap { inner: None, fixed: &[], optional: &["description", "parameters"], ..CHAT_WRAP };

/// \[API\] `FunctionToolParam` of responses.
const RESPONSES_WRAP: Wrap = Wrap {
    inner: None,
    needed: &["name", "parameters", "strict"],
    optional: &["description", "allowed_callers", "async", "defer_loading", "output_schema"],
    ..CHAT_WRAP
};

/// Rules for the parameters of functions, strict or not.
pub(super) const FUNCTION_RULES: &[Rule] = &[
    Rule::JsonSchema,
    Rule::Resolved,
    Rule::Ends,
    // [400] "schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top
    // level" (langchain-ai/langchainjs#9804, 2026-01).
    Rule::RootObject,
    Rule::RootWithout(&["oneOf", "anyOf", "allOf", "enum", "not"]),
    // [400] "object schema missing properties", for roots (tailcallhq/forgecode#1359, 2025-08).
    Rule::RootWith("properties"),
    // [400] "array schema missing items" (langgenius/dify#32894, 2026-03).
    Rule::Items,
    // [400] "regex lookaround is not supported" (vercel/ai#21037, 2026-09), and "is not a 'regex'": patterns
    // are compiled by the module `re` of Python (BerriAI/litellm#40485, 2026-09).
    Rule::Pattern(patterns::check_openai),
];

// Open: whether an open `additionalProperties` needs a type without `strict`; one report of 2026-08 says so
// (chattermate/chattermate.chat#303).

/// Rules for strict functions and structured output.
const STRICT_RULES: &[Rule] = &[
    // [SO] "Supported types", "Supported properties", "Definitions are supported"; `const` by "Limitations on
    // total string size"; lengths by the list for fine-tuned models. [400] refuses others by "'…' is not
    // permitted", among them `default`, `oneOf`, `allOf`, `propertyNames`, `uniqueItems`. Open: annotations
    // other than `description`.
    Rule::Only(&[
        "type",
        "description",
        "title",
        "enum",
        "const",
        "anyOf",
        "properties",
        "required",
        "additionalProperties",
        "items",
        "minItems",
        "maxItems",
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "multipleOf",
        "minLength",
        "maxLength",
        "pattern",
        "format",
        "$ref",
        "$defs",
        "definitions",
    ]),
    // [SO] "Supported properties", `format`.
    Rule::Formats(&[
        "date-time",
        "time",
        "date",
        "duration",
        "email",
        "hostname",
        "ipv4",
        "ipv6",
        "uuid",
    ]),
    // [SO] "`additionalProperties: false` must always be set in objects".
    Rule::Closed,
    // [400] "schema must have a 'type' key" (can1357/oh-my-pi#211, 2026-02). Open: whether `enum` suffices.
    Rule::Typed(&["type", "$ref", "anyOf"]),
    // [SO] "All fields must be `required`".
    Rule::AllRequired,
    // [SO] "Recursive schemas are supported": `#`, and definitions. [400] "reference can only point to
    // definitions defined at the top level of the schema" (dotnet/extensions#6918, 2025-10).
    Rule::References(is_top_level_definition, "is neither `#` nor `#/$defs/…`"),
    // [SDK] A reference beside other keywords is replaced by its target.
    Rule::BesideReference(|_| false),
    // [SO] "Objects have limitations on nesting depth and size". Open: whether arrays count as levels, and
    // whether levels of a definition count where it is used.
    Rule::Depth(10),
    Rule::Description(texts::check_no_omission),
];

fn is_top_level_definition(reference: &str) -> bool {
    let name = ["#/$defs/", "#/definitions/"].iter().find_map(|it| reference.strip_prefix(it));
    reference == "#" || name.is_some_and(|name| !name.contains('/'))
}

/// \[SO\] "Root objects must not be `anyOf` and must be an object", for structured output.
const OUTPUT_ROOT: &[Rule] = &[
    Rule::JsonSchema,
    Rule::Resolved,
    Rule::Ends,
    Rule::RootObject,
    Rule::RootWithout(&["anyOf"]),
    Rule::Items,
    Rule::Pattern(patterns::check_openai),
];

pub(super) const CHAT: Target = Target {
    wrap: Some(&CHAT_WRAP),
    names: Some(NAMES),
    rules: &[FUNCTION_RULES],
    if_strict: &[STRICT_RULES],
    ..FREE
};

pub(super) const FUNCTIONS: Target = Target { wrap: Some(&FUNCTIONS_WRAP), if_strict: &[], ..CHAT };

pub(super) const CHAT_STRICT: Target = Target {
    wrap: Some(&Wrap {
        needed: &["name", "parameters", "strict"],
        optional: &["description"],
        ..CHAT_WRAP
    }),
    strict: Some(true),
    ..CHAT
};

pub(super) const RESPONSES: Target = Target { wrap: Some(&RESPONSES_WRAP), ..CHAT };

/// \[API\] `ResponseFormatJSONSchema`.
pub(super) const RESPONSE_FORMAT: Target = Target {
    wrap: Some(&Wrap {
        list: List::Single,
        inner: Some("json_schema"),
        fixed: &[("type", "json_schema")],
        needed: &["name", "schema", "strict"],
        optional: &["description"],
        not_empty: &[],
        schema: &["schema"],
    }),
    strict: Some(true),
    rules: &[OUTPUT_ROOT],
    ..CHAT
};

/// \[API\] `ResponseFormatTextJSONSchemaConfigParam`.
pub(super) const TEXT_FORMAT: Target = Target {
    wrap: Some(&Wrap {
        list: List::Single,
        inner: None,
        fixed: &[("type", "json_schema")],
        needed: &["name", "schema", "strict"],
        optional: &["description"],
        not_empty: &[],
        schema: &["schema"],
    }),
    ..RESPONSE_FORMAT
};
