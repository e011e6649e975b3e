//! OpenAI's Chat Completions API, in strict mode.

use super::openai;
use super::prelude::*;

pub(in super::super) static RULES: TargetSpec = TargetSpec {
    about: "the field `tools` of OpenAI's chat completions, in strict mode, which enforces the \
            schema",
    shape: ToolShape::Function { strict: true },
    keep: CORE.and_those_of(Keywords::of(&[
        K::Format,
        K::Title,
        K::Const,
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
        K::MultipleOf,
        K::Ref,
    ])),
    formats: Some(&[FormatRule {
        kind: "string",
        formats: "date-time time date duration email hostname ipv4 ipv6 uuid",
    }]),
    objects: ObjectRule {
        closed: true,
        all_required: true,
        empty_as_text: true,
        required_exist: true,
        ..TargetSpec::OPEN.objects
    },
    types: TypeRule { always: true, several: SeveralTypes::List, ..TargetSpec::OPEN.types },
    any_of: AnyOfRule::Annotations,
    refs: RefRule::Defs { root: true, recursion: Recursion::Any },
    limits: Limits {
        properties: Some(5_000),
        enum_values: Some(1_000),
        large_enum_characters: Some(15_000),
        characters: Some(120_000),
        depth: Some(10),
        ..openai::RULES.limits
    },
    ..openai::RULES
};

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::super::super::testing::all_become;
    use super::super::super::{Became, Loss, Target};

    #[test]
    fn each_form_becomes_what_the_target_takes() {
        all_become(
            Target::OpenAiStrict,
            &[
                (
                    r#"{"type":"string","minLength":1,"maxLength":3,"pattern":"^a","format":"uuid"}"#,
                    r#"{"type":"string","minLength":1,"maxLength":3,"pattern":"^a","format":"uuid"}"#,
                ),
                (
                    r#"{"type":"integer","minimum":1,"exclusiveMaximum":9,"multipleOf":2}"#,
                    r#"{"type":"integer","minimum":1,"exclusiveMaximum":9,"multipleOf":2}"#,
                ),
                (
                    r#"{"type":["string","null"],"enum":["a",null]}"#,
                    r#"{"type":["string","null"],"enum":["a",null]}"#,
                ),
                (
                    r#"{"type":"string","format":"uri","default":"x"}"#,
                    r#"{"type":"string","description":"Format: uri. Default: \"x\"."}"#,
                ),
                (
                    r#"{"type":"string","description":"A name","default":"x","title":"T","$comment":"c"}"#,
                    r#"{"type":"string","description":"A name. Default: \"x\".","title":"T"}"#,
                ),
                (r#"{"const":"x"}"#, r#"{"type":"string","const":"x"}"#),
                (
                    r#"{"enum":[1,"a",true]}"#,
                    r#"{"type":["string","integer","boolean"],"enum":[1,"a",true]}"#,
                ),
                (
                    r#"{"enum":[{"a":1}]}"#,
                    r#"{"type":"string","description":"JSON text of an object that fits this JSON Schema: {\"enum\":[{\"a\":1}]}"}"#,
                ),
                ("{}", r#"{"type":"string","description":"JSON text of any value."}"#),
                (
                    r#"{"description":"Anything"}"#,
                    r#"{"type":"string","description":"Anything. JSON text of any value."}"#,
                ),
                (
                    r#"{"type":"object"}"#,
                    r#"{"type":"string","description":"JSON text of an object."}"#,
                ),
                (
                    r#"{"type":"object","properties":{},"additionalProperties":{}}"#,
                    r#"{"type":"string","description":"JSON text of an object."}"#,
                ),
                (
                    r#"{"type":["object","null"],"additionalProperties":{"type":"integer"}}"#,
                    r#"{"type":["string","null"],"description":"JSON text of an object. Each of its values: integer."}"#,
                ),
                (
                    r#"{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":true}"#,
                    r#"{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}"#,
                ),
                (
                    r#"{"type":"object","properties":{"a":{"type":"string"},"b":{"anyOf":[{"type":"integer"},{"type":"string"}],"description":"B"}},"required":["a","z"],"minProperties":1}"#,
                    r#"{"type":"object","properties":{"a":{"type":"string"},"b":{"anyOf":[{"type":"integer"},{"type":"string"},{"type":"null"}],"description":"B"}},"required":["a","b"],"additionalProperties":false,"description":"Also needed: `z`. At least 1 property."}"#,
                ),
                (
                    r#"{"type":"array"}"#,
                    r#"{"type":"array","items":{"type":"string","description":"JSON text of any value."}}"#,
                ),
                (
                    r#"{"type":"array","items":{"type":"string"},"uniqueItems":true,"minItems":2}"#,
                    r#"{"type":"array","items":{"type":"string"},"minItems":2,"description":"All items are different."}"#,
                ),
                (
                    r#"{"type":"array","items":[{"type":"number"},{"type":"number"}],"additionalItems":false,"minItems":2}"#,
                    r#"{"type":"array","minItems":2,"maxItems":2,"items":{"type":"number"},"description":"Items in this order: number; number."}"#,
                ),
                (
                    r#"{"oneOf":[{"type":"string"},{"type":"integer"}]}"#,
                    r#"{"anyOf":[{"type":"string"},{"type":"integer"}]}"#,
                ),
                (
                    r#"{"oneOf":[{"type":"string"},{"type":"string","format":"date"}]}"#,
                    r#"{"anyOf":[{"type":"string"},{"type":"string","format":"date"}],"description":"Exactly one of the alternatives applies."}"#,
                ),
                (
                    r#"{"type":"string","anyOf":[{"minLength":3},{"const":"a"}]}"#,
                    r#"{"anyOf":[{"minLength":3,"type":"string"},{"const":"a","type":"string"}]}"#,
                ),
                (
                    r#"{"allOf":[{"type":"string"},{"minLength":2}],"description":"D"}"#,
                    r#"{"description":"D","type":"string","minLength":2}"#,
                ),
                (
                    r#"{"type":"string","not":{"const":"a"}}"#,
                    r#"{"type":"string","description":"Does not fit this JSON Schema: {\"const\":\"a\"}"}"#,
                ),
                (
                    r#"{"type":["string","array"],"items":{"type":"string"},"maxLength":3}"#,
                    r#"{"anyOf":[{"type":"string","maxLength":3},{"type":"array","items":{"type":"string"}}]}"#,
                ),
            ],
        );
    }

    #[test]
    fn text_in_place_of_a_type_says_only_what_constrains() {
        let any = "JSON text of an object.";
        let table = [
            (r#"{"type":"object","propertyNames":{"type":"string"}}"#, any),
            (r#"{"type":"object","propertyNames":{},"additionalProperties":{}}"#, any),
            (r#"{"type":"object","minProperties":0,"patternProperties":{"^x":true}}"#, any),
            (r#"{"type":"object","unevaluatedProperties":true,"title":"T"}"#, any),
            (
                r#"{"type":"object","propertyNames":{"type":"string","minLength":0},"additionalProperties":{"type":"integer"}}"#,
                "JSON text of an object. Each of its values: integer.",
            ),
            (
                r#"{"type":"object","propertyNames":{"pattern":"^a"},"additionalProperties":{},"minProperties":0}"#,
                r#"JSON text of an object that fits this JSON Schema: {"type":"object","propertyNames":{"pattern":"^a"}}"#,
            ),
        ];
        for (from, description) in table {
            let from: serde_json::Value = serde_json::from_str(from).unwrap();
            for target in [Target::OpenAiStrict, Target::AnthropicStrict, Target::Gemini] {
                let schema = serde_json::json!({
                    "type": "object", "properties": {"p": from}, "required": ["p"]
                });
                let out = super::super::super::testing::lowered(target, &schema);
                let (schema, _) = super::super::super::testing::parts(target.spec(), &out.value);
                assert_eq!(schema["properties"]["p"]["description"], description, "{from}");
            }
        }
    }

    #[test]
    fn an_object_that_was_open_is_a_loss() {
        for target in [Target::OpenAiStrict, Target::AnthropicStrict] {
            let closed = |schema: serde_json::Value| {
                let losses = super::super::super::testing::lowered(target, &schema).losses;
                let closed = |loss: &&Loss| loss.became == Became::Closed;
                losses.iter().filter(closed).map(|loss| loss.path.clone()).collect::<Vec<_>>()
            };
            let inner =
                serde_json::json!({"type": "object", "properties": {"b": {"type": "null"}}});
            let paths = ["properties.a.additionalProperties", "additionalProperties"];
            let schema = serde_json::json!({"type": "object", "properties": {"a": inner}});
            assert_eq!(closed(schema.clone()), paths);
            let mut schema = schema;
            schema["additionalProperties"] = false.into();
            assert_eq!(closed(schema.clone()), paths[..1]);
            schema["additionalProperties"] = true.into();
            assert_eq!(closed(schema), paths);
        }
    }

    #[test]
    fn a_pinned_value_is_null() {
        let text = format!("Where. {}", super::super::super::PINNED);
        let schema = serde_json::json!({"type": "object", "properties": {
            "env": {"type": ["string", "null"], "description": text}
        }});
        let out = super::super::super::testing::lowered(Target::OpenAiStrict, &schema);
        let property = &out.value["function"]["parameters"]["properties"]["env"];
        assert_eq!(property["description"], "Where. Always null: the host sets it.");
        let sent = serde_json::json!({"env": null});
        assert_eq!(out.restore.arguments(sent), serde_json::json!({}));
    }

    #[test]
    fn references_stay_and_recursion_with_them() {
        let schema = serde_json::json!({
            "type": "object",
            "properties": {
                "a": {"$ref": "#/definitions/T"},
                "b": {"$ref": "#/definitions/T", "description": "B"},
                "c": {"$ref": "#/definitions/S", "maxLength": 9},
                "d": {"allOf": [{"$ref": "#/definitions/T"}], "description": "D"}
            },
            "required": ["a", "b", "c", "d"],
            "definitions": {
                "T": {"type": "object", "properties": {"t": {"$ref": "#/definitions/T"}}},
                "S": {"type": "string", "minLength": 2},
                "Unused": {"type": "string"}
            }
        });
        let union =
            |text: &str| serde_json::json!({"description": text, "anyOf": [{"$ref": "#/$defs/T"}]});
        let expected = serde_json::json!({
            "type": "object",
            "properties": {
                "a": {"$ref": "#/$defs/T"},
                "b": union("B"),
                "c": {"maxLength": 9, "type": "string", "minLength": 2},
                "d": union("D")
            },
            "required": ["a", "b", "c", "d"],
            "additionalProperties": false,
            "$defs": {
                "T": {
                    "type": "object",
                    "properties": {"t": {"anyOf": [{"$ref": "#/$defs/T"}, {"type": "null"}]}},
                    "required": ["t"],
                    "additionalProperties": false
                }
            }
        });
        super::super::super::testing::root_becomes(Target::OpenAiStrict, &schema, &expected, "");
    }
}
