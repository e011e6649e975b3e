//! Bedrock, Mistral, Ollama, MCP, and JSON Schema without a provider.

use super::anthropic;
use super::openai;
use super::target::{FREE, List, Names, Rule, Target, Wrap, is_dashed, is_dotted};

/// JSON Schema of draft 2020-12 alone.
pub(super) const JSON_SCHEMA: Target =
    Target { rules: &[&[Rule::JsonSchema, Rule::ResolvedInside]], ..FREE };

/// `bedrock-runtime`, service model of `botocore` 1.44.5 (2026-11): `Tool`, `ToolSpecification`, `ToolName`
/// (`[a-zA-Z0-9_-]+`, 1 to 64), `ToolInputSchema` (root of type `object`). A strict tool: "Get validated JSON
/// results from models", section "Supported JSON Schema features", of the Bedrock User Guide: the limits of
/// Anthropic's structured outputs.
pub(super) const BEDROCK: Target = Target {
    wrap: Some(&Wrap {
        list: List::Items,
        inner: Some("toolSpec"),
        fixed: &[],
        needed: &["name", "inputSchema"],
        optional: &["description", "strict"],
        not_empty: &["description"],
        schema: &["inputSchema", "json"],
    }),
    names: Some(Names::of(is_dashed, 64)),
    rules: &[&[Rule::JsonSchema, Rule::RootObject, Rule::Resolved, Rule::Ends]],
    if_strict: &[anthropic::STRICT_RULES],
    ..FREE
};

/// `mistral_common/protocol/instruct/validator.py`, `_validate_function`: the metaschema of draft 7, and names
/// of `^[a-zA-Z0-9_-]{1,64}$`. Draft 7 knows a subset of the keywords of 2020-12, with the same values.
/// The service has refused `$id` and `$schema` since 2025-08 (BerriAI/litellm#13389), whose fix also drops
/// `additionalProperties: false`. Open: the keywords that its grammar compiler supports.
pub(super) const MISTRAL: Target = Target {
    wrap: Some(&Wrap {
        list: List::Items,
        inner: Some("function"),
        fixed: &[("type", "function")],
        needed: &["name", "parameters"],
        optional: &["description", "strict"],
        not_empty: &[],
        schema: &["parameters"],
    }),
    names: Some(openai::NAMES),
    rules: &[&[
        Rule::JsonSchema,
        Rule::Resolved,
        Rule::Ends,
        Rule::Without(&["$id", "$schema"]),
        Rule::NotClosed,
    ]],
    ..FREE
};

/// `api/types.go` of Ollama (2026): `ToolFunction`, `ToolFunctionParameters`, `ToolProperty`. Ollama drops
/// what these types do not have (ollama/ollama#11444, 2025-07), and keeps `items` and `$defs` unread. A lost
/// keyword is a complaint, the lost key `strict` is none. Open: names.
pub(super) const OLLAMA: Target = Target {
    wrap: Some(&Wrap {
        list: List::Items,
        inner: Some("function"),
        fixed: &[("type", "function")],
        needed: &["name", "parameters"],
        optional: &["description", "strict"],
        not_empty: &[],
        schema: &["parameters"],
    }),
    rules: &[&[
        Rule::JsonSchema,
        Rule::Resolved,
        Rule::Ends,
        Rule::RootOnly(&["type", "$defs", "items", "required", "properties"]),
        Rule::BelowRootOnly(&[
            "anyOf",
            "type",
            "items",
            "description",
            "enum",
            "properties",
            "required",
        ]),
        // A `ToolProperty` is read from an object.
        Rule::OnlyObjects,
    ]],
    ..FREE
};

/// MCP specification, "Server features / Tools" (2025-11-25 and 2026-07-28) and its schema: `Tool` and
/// `ToolAnnotations`; "Tool Names": 1 to 128 of letters, digits, `_`, `-` and `.`. Schemas are JSON Schema of
/// 2020-12, and `inputSchema` has `type: object`. `outputSchema`, too, until 2025-11-25; 2026-07-28 allows any.
pub(super) const MCP: Target = Target {
    wrap: Some(&Wrap {
        list: List::Key("tools"),
        inner: None,
        fixed: &[],
        needed: &["name", "inputSchema"],
        optional: &[
            "title",
            "description",
            "outputSchema",
            "annotations",
            "_meta",
            "execution",
            "icons",
        ],
        not_empty: &[],
        schema: &["inputSchema"],
    }),
    names: Some(Names::of(is_dotted, 128)),
    rules: &[&[Rule::JsonSchema, Rule::RootObject, Rule::ResolvedInside, Rule::Ends]],
    result_rules: &[&[Rule::JsonSchema, Rule::ResolvedInside, Rule::Ends]],
    ..FREE
};
