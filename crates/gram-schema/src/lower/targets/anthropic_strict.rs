//! Anthropic's messages, in strict mode.

use super::super::keyword::{Keyword as K, Keywords};
use super::super::rules::{
    AnyOfRule, FormatRule, Limits, ObjectRule, Recursion, RefRule, Rules, SeveralTypes, Shape, TypeRule,
};
use super::super::target::Target;
use super::anthropic::{EXTRAS, KEYS, NAMES, ROOT};

/// The table.
pub(in super::super) static RULES: Rules = Rules {
    target: Target::AnthropicStrict,
    about: "the field `tools` of Anthropic's messages, in strict mode, which holds a model to the \
            schema",
    shape: Shape::InputSchema { strict: true },
    names: Some(NAMES),
    extras: EXTRAS,
    root: ROOT,
    keys: Some(KEYS),
    keep: Keywords::of(&[
        K::Type,
        K::Format,
        K::Title,
        K::Description,
        K::Enum,
        K::Const,
        K::Default,
        K::Properties,
        K::Required,
        K::AdditionalProperties,
        K::Items,
        K::MinItems,
        K::Pattern,
        K::AnyOf,
        K::Ref,
    ]),
    // Other formats are refused, says Anthropic's page on structured outputs.
    formats: Some(&[FormatRule {
        kind: "string",
        formats: &[
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
        ],
    }]),
    largest_min_items: Some(1),
    objects: ObjectRule {
        closed: true,
        never_closed: false,
        all_required: false,
        empty_as_text: true,
        required_exist: true,
    },
    // The official package for Python takes no list of types, and drops what stands beside `$ref`.
    types: TypeRule { always: true, several: SeveralTypes::AnyOf },
    arrays_need_items: true,
    any_of: AnyOfRule::Annotations,
    refs: RefRule::Defs { siblings: false, recursion: Recursion::Never },
    limits: Limits {
        tools: Some(20),
        optional_properties: Some(24),
        unions: Some(16),
        ..Limits::NONE
    },
    ..Rules::OPEN
};

#[cfg(test)]
mod tests {
    use super::super::super::Target;
    use super::super::super::testing::all_become;

    #[test]
    fn each_form_becomes_what_the_target_takes() {
        all_become(
            Target::AnthropicStrict,
            &[
                (
                    r#"{"type":"string","pattern":"^a","format":"uri","default":"a","enum":["a"]}"#,
                    r#"{"type":"string","pattern":"^a","format":"uri","default":"a","enum":["a"]}"#,
                ),
                (
                    r#"{"type":"integer","minimum":1,"exclusiveMaximum":9,"multipleOf":2}"#,
                    r#"{"type":"integer","description":"At least 1. Less than 9. A multiple of 2."}"#,
                ),
                (
                    r#"{"type":"string","minLength":1,"maxLength":2,"format":"int32"}"#,
                    r#"{"type":"string","description":"Format: int32. At least 1 character. At most 2 characters."}"#,
                ),
                (
                    r#"{"type":"array","items":{"type":"string"},"minItems":1}"#,
                    r#"{"type":"array","items":{"type":"string"},"minItems":1}"#,
                ),
                (
                    r#"{"type":"array","items":{"type":"string"},"minItems":2,"maxItems":3}"#,
                    r#"{"type":"array","items":{"type":"string"},"minItems":1,"description":"At least 2 items. At most 3 items."}"#,
                ),
                (
                    r#"{"type":"object","properties":{"a":{"type":"string"}}}"#,
                    r#"{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":false}"#,
                ),
                (
                    r#"{"type":"object","additionalProperties":{"type":"string"},"default":{}}"#,
                    r#"{"type":"string","description":"JSON text of an object. Each of its values: string. Default: {}."}"#,
                ),
                (
                    r#"{"type":"object","properties":{"a b":{"type":"null"}},"required":["a b"]}"#,
                    r#"{"type":"object","properties":{"a b":{"type":"null"}},"required":["a b"],"additionalProperties":false}"#,
                ),
            ],
        );
    }

    #[test]
    fn a_schema_that_holds_itself_becomes_text_at_the_circle() {
        let schema = serde_json::json!({
            "type": "object",
            "properties": {"a": {"$ref": "#/$defs/T", "description": "A"}},
            "$defs": {"T": {"type": "object", "properties": {"t": {"$ref": "#/$defs/T"}}}}
        });
        let expected = serde_json::json!({
            "type": "object",
            "properties": {"a": {"$ref": "#/$defs/T", "description": "A"}},
            "additionalProperties": false,
            "$defs": {
                "T": {
                    "type": "object",
                    "properties": {
                        "t": {
                            "type": "string",
                            "description": "JSON text of an object of the same form as `T`."
                        }
                    },
                    "additionalProperties": false
                }
            }
        });
        super::super::super::testing::root_becomes(Target::AnthropicStrict, &schema, &expected, "");
    }
}
