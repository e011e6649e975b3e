//! The Gemini API, with its own subset of `OpenAPI`.

use super::prelude::*;

/// The names that Gemini accepts. Older deployments accept at most 64 characters.
pub(super) const NAMES: NameRule =
    NameRule { first: First::LetterOrUnderscore, signs: "_.:-", longest: 128 };

/// Gemini's limits of a request.
pub(super) const LIMITS: Limits = Limits { tools: Some(128), ..Limits::NONE };

pub(in super::super) static RULES: TargetSpec = TargetSpec {
    about: "the field `tools` of Gemini, with `parameters` in its own subset of OpenAPI 3.0",
    shape: ToolShape::Declaration { parameters: "parameters", omit_empty: true },
    names: Some(NAMES),
    output: Some(OutputRule {
        key: "response",
        only_objects: true,
        reason: None,
        is_lowered: true,
    }),
    // A union has no sibling keywords, but the root has properties.
    root: RootRule { object: true, refused: Keywords::of(&[K::AnyOf]), allowed: Keywords::NONE },
    keys: Some(KeyRule {
        rule: NameRule { first: First::LetterOrUnderscore, signs: "_", longest: 64 },
        root_only: false,
    }),
    keep: CORE.and_those_of(Keywords::of(&[
        K::Nullable,
        K::Format,
        K::Title,
        K::Default,
        K::Example,
        K::MinProperties,
        K::MaxProperties,
        K::MinItems,
        K::MaxItems,
        K::MinLength,
        K::MaxLength,
        K::Pattern,
        K::Minimum,
        K::Maximum,
    ])),
    formats: Some(&[
        FormatRule { kind: "string", formats: "enum date-time" },
        FormatRule { kind: "integer", formats: "int32 int64" },
        FormatRule { kind: "number", formats: "float double" },
    ]),
    objects: ObjectRule { empty_as_text: true, required_exist: true, ..TargetSpec::OPEN.objects },
    types: TypeRule { always: true, several: SeveralTypes::Nullable, ..TargetSpec::OPEN.types },
    arrays_need_items: true,
    enum_of_text_only: true,
    any_of: AnyOfRule::Nothing,
    refs: RefRule::Inline,
    limits: LIMITS,
    ..TargetSpec::OPEN
};

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::super::super::Target;
    use super::super::super::testing::all_become;

    #[test]
    fn each_form_becomes_what_the_target_takes() {
        all_become(
            Target::Gemini,
            &[
                (
                    r#"{"type":"string","minLength":1,"maxLength":3,"pattern":"^a","format":"date-time","default":"x","title":"T"}"#,
                    r#"{"type":"string","minLength":1,"maxLength":3,"pattern":"^a","format":"date-time","default":"x","title":"T"}"#,
                ),
                (
                    r#"{"type":"integer","format":"int32","minimum":1,"maximum":2}"#,
                    r#"{"type":"integer","format":"int32","minimum":1,"maximum":2}"#,
                ),
                (
                    r#"{"type":"string","format":"uri"}"#,
                    r#"{"type":"string","description":"Format: uri."}"#,
                ),
                (
                    r#"{"type":"string","enum":["","a"]}"#,
                    r#"{"type":"string","description":"One of: \"\", \"a\"."}"#,
                ),
                (
                    r#"{"type":"string","enum":[""]}"#,
                    r#"{"type":"string","description":"Always: \"\"."}"#,
                ),
                (r#"{"type":["string","null"]}"#, r#"{"type":"string","nullable":true}"#),
                (
                    r#"{"type":["string","integer"],"minLength":2}"#,
                    r#"{"anyOf":[{"type":"string","minLength":2},{"type":"integer"}]}"#,
                ),
                (
                    r#"{"anyOf":[{"type":"string"},{"type":"null"}],"description":"D","default":null}"#,
                    r#"{"type":"string","nullable":true,"description":"D","default":null}"#,
                ),
                (
                    r#"{"anyOf":[{"type":"string"},{"type":"integer"},{"type":"null"}]}"#,
                    r#"{"anyOf":[{"type":"string","nullable":true},{"type":"integer","nullable":true}]}"#,
                ),
                (
                    r#"{"type":"integer","exclusiveMinimum":0,"exclusiveMaximum":10}"#,
                    r#"{"type":"integer","minimum":1,"maximum":9}"#,
                ),
                (
                    r#"{"type":"number","exclusiveMinimum":0,"multipleOf":0.5}"#,
                    r#"{"type":"number","minimum":0,"description":"More than 0. A multiple of 0.5."}"#,
                ),
                (
                    r#"{"type":"integer","exclusiveMinimum":1.5,"exclusiveMaximum":-2.5}"#,
                    r#"{"type":"integer","minimum":2,"maximum":-3}"#,
                ),
                (
                    r#"{"type":"number","minimum":2,"exclusiveMinimum":1,"exclusiveMaximum":0.5,"maximum":7}"#,
                    r#"{"type":"number","minimum":2,"maximum":0.5,"description":"More than 1. Less than 0.5."}"#,
                ),
                (r#"{"const":"a"}"#, r#"{"type":"string","enum":["a"]}"#),
                (
                    r#"{"type":"integer","enum":[1,2]}"#,
                    r#"{"type":"integer","description":"One of: 1, 2."}"#,
                ),
                (r#"{"const":true}"#, r#"{"type":"boolean","description":"Always: true."}"#),
                (
                    r#"{"type":"null"}"#,
                    r#"{"type":"string","nullable":true,"description":"Always null."}"#,
                ),
                (r#"{"enum":["a",null]}"#, r#"{"type":"string","enum":["a"],"nullable":true}"#),
                (
                    r#"{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":false}"#,
                    r#"{"type":"object","properties":{"a":{"type":"string"}},"description":"No other properties."}"#,
                ),
                (
                    r#"{"type":"object","properties":{"a-b":{"type":"string"},"a_b":{"type":"string"}},"required":["a-b","zz"]}"#,
                    r#"{"type":"object","properties":{"a_b_2":{"type":"string"},"a_b":{"type":"string"}},"required":["a_b_2"],"description":"Also needed: `zz`."}"#,
                ),
                (
                    r#"{"type":"object","properties":{}}"#,
                    r#"{"type":"string","description":"JSON text of an object."}"#,
                ),
                (
                    r#"{"type":"array","uniqueItems":true,"examples":[[1]]}"#,
                    r#"{"type":"array","items":{"type":"string","description":"JSON text of any value."},"description":"All items are different. Example: [1]."}"#,
                ),
            ],
        );
    }

    #[test]
    fn what_is_referred_to_stands_in_its_place_and_unions_stand_alone() {
        let schema = serde_json::json!({
            "type": "object",
            "properties": {
                "a": {"$ref": "#/$defs/T", "description": "A"},
                "b": {"anyOf": [{"type": "string"}, {"type": "integer"}], "description": "B"}
            },
            "$defs": {"T": {
                "type": "object",
                "description": "T",
                "properties": {"t": {"type": "array", "items": {"$ref": "#/$defs/T"}}}
            }}
        });
        let expected = serde_json::json!({
            "type": "object",
            "properties": {
                "a": {
                    "description": "A",
                    "type": "object",
                    "properties": {"t": {"type": "array", "items": {
                        "type": "string",
                        "description": "JSON text of an object of the same form as `T` at `a`."
                    }}}
                },
                "b": {"anyOf": [{"type": "string"}, {"type": "integer"}]}
            }
        });
        super::super::super::testing::root_becomes(Target::Gemini, &schema, &expected, "`b`: B");
    }

    #[test]
    fn sentences_name_what_the_model_sees() {
        let schema = serde_json::json!({
            "type": "object",
            "properties": {
                "my pet": {"$ref": "#/$defs/Pet"},
                "x-y": {"type": "array", "items": {"$ref": "#/properties/tree"}},
                "tree": {
                    "type": "object",
                    "properties": {"sub tree": {"$ref": "#/properties/tree"}}
                },
                "a-b": {"anyOf": [{"type": "string"}, {"type": "integer"}], "description": "B"}
            },
            "dependentRequired": {"a-b": ["my pet", "tree"]},
            "if": {"required": ["x-y"]},
            "then": {"properties": {"a-b": {"const": 1}}},
            "anyOf": [{"required": ["a-b"]}, {"required": ["x-y"]}],
            "$defs": {
                "Pet": {"anyOf": [{"$ref": "#/$defs/Cat"}, {"$ref": "#/$defs/Dog"}]},
                "Cat": {"type": "object", "properties": {"lives": {"type": "integer"}}},
                "Dog": {"type": "object", "properties": {
                    "best friends": {"type": "array", "items": {"$ref": "#/$defs/Dog"}}
                }}
            }
        });
        let text = |form: &str| {
            let text = format!("JSON text of an object of the same form as {form}.");
            serde_json::json!({"type": "string", "description": text})
        };
        let tree = |form: &str| serde_json::json!({"type": "object", "properties": {"sub_tree": text(form)}});
        let expected = serde_json::json!({
            "type": "object",
            "properties": {
                "my_pet": {"anyOf": [
                    {"type": "object", "properties": {"lives": {"type": "integer"}}},
                    {"type": "object", "properties": {
                        "best_friends": {"type": "array", "items": text("`Dog` at `my_pet`")}
                    }}
                ]},
                "x_y": {"type": "array", "items": tree("`x_y[]`")},
                "tree": {"type": "object", "properties": {"sub_tree": tree("`tree.sub_tree`")}},
                "a_b": {"anyOf": [{"type": "string"}, {"type": "integer"}]}
            }
        });
        let condition = "If it fits the JSON Schema {\"required\":[\"x_y\"]}, it also fits \
                         {\"properties\":{\"a_b\":{\"const\":1}}}.";
        let description = [
            "Give at least one of `a_b`, `x_y`.",
            "`a_b`: B.",
            condition,
            "With `a_b`, also needed: `my_pet`, `tree`.",
        ];
        super::super::super::testing::root_becomes(
            Target::Gemini,
            &schema,
            &expected,
            &description.join(" "),
        );
        // A loss contains the original value.
        let out = super::super::super::testing::lowered(Target::Gemini, &schema);
        let loss = out.losses.iter().find(|loss| loss.constraint == "dependentRequired").unwrap();
        assert_eq!(loss.value, serde_json::json!({"a-b": ["my pet", "tree"]}));
    }

    #[test]
    fn inlining_ends_where_schemas_double() {
        let mut definitions = serde_json::Map::new();
        for at in 0..40 {
            let next = serde_json::json!({"$ref": format!("#/$defs/d{}", at + 1)});
            let both = serde_json::json!({"type": "object", "properties": {"l": next, "r": next}});
            definitions.insert(format!("d{at}"), both);
        }
        definitions.insert("d40".to_owned(), serde_json::json!({"type": "string"}));
        let schema = serde_json::json!({
            "type": "object",
            "properties": {"p": {"$ref": "#/$defs/d0"}},
            "$defs": definitions
        });
        let out = super::super::super::testing::lowered(Target::Gemini, &schema);
        assert!(out.value.to_string().len() < 1_000_000);
        assert!(out.value.to_string().contains("JSON text"));
    }
}
