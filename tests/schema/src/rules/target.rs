//! The form of a target's rules. The rules themselves, each with its source, are in one file per provider.

use serde_json::{Map, Value};

use super::{anthropic, engines, google, openai, others};

/// Names of JSON Schema keywords, or of the keys of a tool.
pub(super) type Keys = &'static [&'static str];

/// The rules of one target.
#[derive(Clone, Copy)]
pub(super) struct Target {
    /// The form of the output; `None` for a map from names to schemas.
    pub(super) wrap: Option<&'static Wrap>,
    pub(super) names: Option<Names>,
    /// The required value of a tool's key `strict`.
    pub(super) strict: Option<bool>,
    pub(super) rules: &'static [&'static [Rule]],
    /// More rules for tools with `"strict": true`.
    pub(super) if_strict: &'static [&'static [Rule]],
    /// The rules for `outputSchema`.
    pub(super) result_rules: &'static [&'static [Rule]],
}

/// A target without rules.
pub(super) const FREE: Target =
    Target { wrap: None, names: None, strict: None, rules: &[], if_strict: &[], result_rules: &[] };

/// The allowed characters and the greatest length of a name.
#[derive(Clone, Copy)]
pub(super) struct Names {
    pub(super) first: fn(char) -> bool,
    pub(super) other: fn(char) -> bool,
    pub(super) most: usize,
}

impl Names {
    pub(super) const fn of(allowed: fn(char) -> bool, most: usize) -> Self {
        Self { first: allowed, other: allowed, most }
    }

    pub(super) fn allow(self, name: &str) -> bool {
        let mut characters = name.chars();
        characters.next().is_some_and(self.first)
            && characters.all(self.other)
            && name.chars().count() <= self.most
    }
}

/// Letters, digits, `_` and `-` of ASCII.
pub(super) const fn is_dashed(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-')
}

/// Those, and dots.
pub(super) const fn is_dotted(c: char) -> bool {
    is_dashed(c) || c == '.'
}

/// The form of a target's output around the schemas.
pub(super) struct Wrap {
    pub(super) list: List,
    /// The key of the tool inside an item of the list, whose only other keys are in `fixed`.
    pub(super) inner: Option<&'static str>,
    /// Keys with a fixed value, beside `inner` or in the tool itself.
    pub(super) fixed: &'static [(&'static str, &'static str)],
    pub(super) needed: Keys,
    pub(super) optional: Keys,
    /// Keys whose texts are not empty.
    pub(super) not_empty: Keys,
    /// The keys from a tool to its schema.
    pub(super) schema: Keys,
}

/// The place of the tools in an output.
pub(super) enum List {
    /// The output is the list.
    Items,
    /// The output is an object with this key only.
    Key(&'static str),
    /// The output is a list of one object with this key only.
    OnlyItem(&'static str),
    /// The output is the only item.
    Single,
}

/// A rule for the schemas of a tool.
#[derive(Clone, Copy)]
pub(super) enum Rule {
    /// The metaschema of draft 2020-12 accepts the schema.
    JsonSchema,
    /// A schema of the `OpenAPI` subset of Gemini.
    GeminiSchema,
    RootObject,
    /// The root has the keyword.
    RootWith(&'static str),
    RootWithout(Keys),
    RootOnly(Keys),
    BelowRootOnly(Keys),
    Only(Keys),
    Without(Keys),
    /// The allowed names of the root's properties.
    RootKeys(Names),
    /// The allowed names of all properties.
    AllKeys(Names),
    Formats(Keys),
    /// Returns the reason why a pattern is refused.
    Pattern(fn(&str) -> Option<&'static str>),
    /// The greatest value of a keyword.
    Most(&'static str, u64),
    /// Arrays have `items`.
    Items,
    /// Objects have `additionalProperties: false`.
    Closed,
    /// `additionalProperties` is not false.
    NotClosed,
    /// Schemas below the root have one of the keywords.
    Typed(Keys),
    /// `required` is the set of all properties.
    AllRequired,
    /// Only `additionalProperties` is a boolean instead of an object.
    OnlyObjects,
    /// The lists are not empty.
    NotEmpty(Keys),
    /// The kinds of values in `enum`.
    EnumValues(fn(&Value) -> bool),
    /// References are resolved inside the schema.
    Resolved,
    /// References that begin with `#` are.
    ResolvedInside,
    /// The allowed forms of references.
    References(fn(&str) -> bool, &'static str),
    /// The keywords allowed beside a reference.
    BesideReference(fn(&str) -> bool),
    /// The keywords allowed beside `anyOf`.
    BesideAnyOf(fn(&str) -> bool),
    /// No definition consists of itself only.
    Ends,
    /// No reference leads back to its own schema; with `true`, except through an optional property.
    Acyclic(bool),
    /// The number of objects inside each other.
    Depth(usize),
    /// Bounds of integers are whole numbers of 64 bits.
    WholeBounds,
    /// Some value is within the bounds.
    Satisfiable,
    /// No length beside a pattern or a format.
    LengthAlone,
    /// Returns the reason why a description contradicts its schema.
    Description(fn(&str, &Map<String, Value>) -> Option<&'static str>),
}

/// The target of a name.
pub(super) fn find_target(name: &str) -> Option<Target> {
    Some(match name {
        "json-schema" => others::JSON_SCHEMA,
        "openai" => openai::CHAT,
        "openai-functions" => openai::FUNCTIONS,
        "openai-strict" => openai::CHAT_STRICT,
        "openai-responses" => openai::RESPONSES,
        "openai-response-format" => openai::RESPONSE_FORMAT,
        "openai-text-format" => openai::TEXT_FORMAT,
        "anthropic" => anthropic::TOOLS,
        "anthropic-strict" => anthropic::STRICT_TOOLS,
        "anthropic-output-format" => anthropic::OUTPUT_FORMAT,
        "gemini" => google::PARAMETERS,
        "gemini-json" => google::PARAMETERS_JSON_SCHEMA,
        "gemini-response-schema" => google::RESPONSE_JSON_SCHEMA,
        "bedrock" => others::BEDROCK,
        "mistral" => others::MISTRAL,
        "ollama" => others::OLLAMA,
        "mcp" => others::MCP,
        "llamacpp" => engines::LLAMA_CPP,
        "vllm" => engines::VLLM,
        _ => return None,
    })
}
