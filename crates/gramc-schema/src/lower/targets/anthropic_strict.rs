//! Anthropic's Messages API, in strict mode.

use super::anthropic;
use super::prelude::*;

pub(in super::super) static RULES: TargetSpec = TargetSpec {
    about: "the field `tools` of Anthropic's messages, in strict mode, which enforces the schema",
    shape: ToolShape::InputSchema { strict: true },
    // `pattern` is left out: the API supports only simple regular expressions, and the official
    // Python package moves all of them into the description.
    keep: CORE.and_those_of(Keywords::of(&[
        K::Format,
        K::Title,
        K::Const,
        K::Default,
        K::AdditionalProperties,
        K::MinItems,
        K::Ref,
    ])),
    // Anthropic's documentation on structured outputs lists these formats. Others are rejected.
    formats: Some(&[FormatRule {
        kind: "string",
        formats: "date-time time date duration email hostname uri ipv4 ipv6 uuid",
    }]),
    bounds: BoundRule { min_items: Some(1), ..TargetSpec::OPEN.bounds },
    objects: ObjectRule {
        closed: true,
        empty_as_text: true,
        required_exist: true,
        ..TargetSpec::OPEN.objects
    },
    // The official Python package does not support a list of types, and drops the sibling keywords
    // of `$ref`.
    types: TypeRule { always: true, several: SeveralTypes::AnyOf, ..TargetSpec::OPEN.types },
    arrays_need_items: true,
    any_of: AnyOfRule::Annotations,
    refs: RefRule::Defs { root: true, recursion: Recursion::Never },
    limits: Limits {
        tools: Some(20),
        optional_properties: Some(24),
        unions: Some(16),
        ..Limits::NONE
    },
    ..anthropic::RULES
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
                    r#"{"type":"string","format":"uri","default":"a","enum":["a"],"description":"Matches the regular expression `^a`."}"#,
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
    fn several_types_are_alternatives_of_one_each() {
        all_become(
            Target::AnthropicStrict,
            &[
                (
                    r#"{"type":["string","null"],"description":"D","maxLength":3,"format":"date","default":null}"#,
                    r#"{"description":"D","default":null,"anyOf":[{"type":"string","format":"date","description":"At most 3 characters."},{"type":"null"}]}"#,
                ),
                (
                    r#"{"type":["string","integer","null"],"enum":["a",1,null],"title":"T"}"#,
                    r#"{"title":"T","anyOf":[{"type":"string","enum":["a"]},{"type":"integer","enum":[1]},{"type":"null"}]}"#,
                ),
                // A type without a matching enum value accepts nothing, so it is dropped.
                (
                    r#"{"type":["string","null"],"enum":["a"]}"#,
                    r#"{"anyOf":[{"type":"string","enum":["a"]}]}"#,
                ),
                (
                    r#"{"type":["integer","null"],"const":5}"#,
                    r#"{"anyOf":[{"type":"integer","const":5}]}"#,
                ),
                (
                    r#"{"type":["integer","null"],"format":"int32","minimum":0}"#,
                    r#"{"anyOf":[{"type":"integer","description":"Format: int32. At least 0."},{"type":"null"}]}"#,
                ),
                (
                    r#"{"enum":["a",null]}"#,
                    r#"{"anyOf":[{"type":"string","enum":["a"]},{"type":"null"}]}"#,
                ),
                (
                    r#"{"type":["array","null"],"items":{"type":["number","null"]},"minItems":1}"#,
                    r#"{"anyOf":[{"type":"array","items":{"anyOf":[{"type":"number"},{"type":"null"}]},"minItems":1},{"type":"null"}]}"#,
                ),
                (
                    r#"{"type":["object","null"],"properties":{"a":{"type":"string"}},"required":["a"],"description":"D"}"#,
                    r#"{"description":"D","anyOf":[{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false},{"type":"null"}]}"#,
                ),
                // The description of the text goes into the member for the text.
                (
                    r#"{"type":["object","null"],"description":"D","default":{"a":1}}"#,
                    r#"{"description":"D","anyOf":[{"type":"string","description":"JSON text of an object. Default: {\"a\":1}."},{"type":"null"}]}"#,
                ),
                (r#"{"type":["string"]}"#, r#"{"type":"string"}"#),
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
            "properties": {"a": {"description": "A", "anyOf": [{"$ref": "#/$defs/T"}]}},
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
