//! llama.cpp's server, which turns the schemas of tools into grammars.

use super::openai::NAMES;
use super::prelude::*;

/// The keywords that both llama.cpp and xgrammar turn into grammars, or that only describe.
pub(super) const KEYWORDS: Keywords = CORE.and_those_of(Keywords::of(&[
    K::Format,
    K::Title,
    K::Const,
    K::Default,
    K::Examples,
    K::Deprecated,
    K::AdditionalProperties,
    K::MinItems,
    K::MaxItems,
    K::MinLength,
    K::MaxLength,
    K::Pattern,
    K::Minimum,
    K::Maximum,
    K::ExclusiveMinimum,
    K::ExclusiveMaximum,
    K::Ref,
]));

/// The rules, as the converter of October 2026 has them. It drops a pattern that it does not
/// support, and older ones refuse the request.
pub(in super::super) static RULES: TargetSpec = TargetSpec {
    about: "the field `tools` of llama.cpp's server, which enforces the schema with a grammar",
    shape: ToolShape::Function { strict: false },
    names: Some(NAMES),
    keep: KEYWORDS,
    formats: Some(&[FormatRule { kind: "string", formats: "date time date-time uuid" }]),
    patterns: PatternRule::Anchored,
    // The parser of grammars refuses more repetitions.
    bounds: BoundRule {
        min_items: Some(2_000),
        max_items: Some(1_999),
        min_length: Some(2_000),
        whole: true,
        integers_only: true,
        ..TargetSpec::OPEN.bounds
    },
    types: TypeRule { with_constraints: true, ..TargetSpec::OPEN.types },
    enum_alone: true,
    // Keywords next to `anyOf` and `$ref` are ignored.
    any_of: AnyOfRule::Annotations,
    refs: RefRule::Defs { root: false, recursion: Recursion::Any },
    ..TargetSpec::OPEN
};

#[cfg(test)]
mod tests {
    use super::super::super::Target;
    use super::super::super::testing::{all_become, root_becomes};

    #[test]
    fn each_form_becomes_what_the_target_takes() {
        all_become(
            Target::LlamaCpp,
            &[
                (
                    r#"{"type":"string","pattern":"^\\d{2}$","format":"date","default":"x"}"#,
                    r#"{"type":"string","pattern":"^[0-9]{2}$","format":"date","default":"x"}"#,
                ),
                (
                    r#"{"type":"string","pattern":"a","format":"uri"}"#,
                    r#"{"type":"string","description":"Format: uri. Matches the regular expression `a`."}"#,
                ),
                (
                    r#"{"type":"string","minLength":5000}"#,
                    r#"{"type":"string","minLength":2000,"description":"At least 5000 characters."}"#,
                ),
                ("true", "{}"),
                (
                    r#"{"type":"number","exclusiveMinimum":0,"maximum":9}"#,
                    r#"{"type":"number","description":"More than 0. At most 9."}"#,
                ),
                (
                    r#"{"type":["integer","null"],"minimum":0}"#,
                    r#"{"type":["integer","null"],"minimum":0}"#,
                ),
                (
                    r#"{"type":"array","items":true,"uniqueItems":true}"#,
                    r#"{"type":"array","description":"All items are different."}"#,
                ),
                (
                    r#"{"type":"array","prefixItems":[{"type":"string"}],"items":false,"minItems":1}"#,
                    r#"{"type":"array","minItems":1,"maxItems":1,"items":{"type":"string"},"description":"Items in this order: string."}"#,
                ),
                (
                    r#"{"type":"string","enum":[]}"#,
                    r#"{"type":"string","description":"No value is accepted."}"#,
                ),
                (
                    r#"{"type":"object","properties":{"a":{"type":"string"}},"anyOf":[{"properties":{"b":{"type":"null"}}}]}"#,
                    r#"{"anyOf":[{"properties":{"b":{"type":"null"},"a":{"type":"string"}},"type":"object"}]}"#,
                ),
            ],
        );
    }

    #[test]
    fn definitions_have_plain_names_and_the_root_is_one() {
        let schema = serde_json::json!({
            "type": "object",
            "properties": {"a": {"$ref": "#/$defs/A%20b~1c"}, "more": {"$ref": "#"}},
            "$defs": {"A b/c": {"type": "string"}}
        });
        let properties = serde_json::json!({
            "a": {"$ref": "#/$defs/A_b_c"}, "more": {"$ref": "#/$defs/Arguments"}
        });
        let expected = serde_json::json!({
            "type": "object",
            "properties": properties,
            "$defs": {
                "A_b_c": {"type": "string"},
                "Arguments": {"type": "object", "properties": properties}
            }
        });
        root_becomes(Target::LlamaCpp, &schema, &expected, "");
    }
}
