//! The Gemini API, with JSON Schema.

use super::gemini::{LIMITS, NAMES};
use super::prelude::*;

pub(in super::super) static RULES: TargetSpec = TargetSpec {
    about: "the field `tools` of Gemini, with `parametersJsonSchema`",
    shape: ToolShape::Declaration { parameters: "parametersJsonSchema", omit_empty: false },
    names: Some(NAMES),
    output: Some(OutputRule {
        key: "responseJsonSchema",
        only_objects: true,
        reason: None,
        is_lowered: true,
    }),
    // All reference targets move into the root's definitions.
    root: RootRule { object: true, refused: Keywords::NONE, allowed: Keywords::of(&[K::Defs]) },
    keep: CORE.and_those_of(Keywords::of(&[
        K::Id,
        K::Ref,
        K::Anchor,
        K::Format,
        K::Title,
        K::PrefixItems,
        K::MinItems,
        K::MaxItems,
        K::Minimum,
        K::Maximum,
        K::OneOf,
        K::AdditionalProperties,
    ])),
    objects: ObjectRule { required_exist: true, ..TargetSpec::OPEN.objects },
    refs: RefRule::Defs { root: true, recursion: Recursion::Optional },
    limits: LIMITS,
    ..TargetSpec::OPEN
};

#[cfg(test)]
mod tests {
    use super::super::super::Target;
    use super::super::super::testing::all_become;

    #[test]
    fn each_form_becomes_what_the_target_takes() {
        all_become(
            Target::GeminiJson,
            &[
                (
                    r#"{"type":["string","null"],"enum":["a",null],"format":"uri","title":"T"}"#,
                    r#"{"type":["string","null"],"enum":["a",null],"format":"uri","title":"T"}"#,
                ),
                (
                    r#"{"oneOf":[{"type":"string"},{"type":"integer","minimum":1}],"description":"D"}"#,
                    r#"{"oneOf":[{"type":"string"},{"type":"integer","minimum":1}],"description":"D"}"#,
                ),
                (
                    r#"{"type":"object","additionalProperties":{"type":"string"}}"#,
                    r#"{"type":"object","additionalProperties":{"type":"string"}}"#,
                ),
                (
                    r#"{"type":"array","prefixItems":[{"type":"string"}],"items":false,"minItems":1}"#,
                    r#"{"type":"array","prefixItems":[{"type":"string"}],"items":false,"minItems":1}"#,
                ),
                ("{}", "{}"),
                (r#"{"const":5}"#, r#"{"enum":[5]}"#),
                (
                    r#"{"type":"string","minLength":2,"pattern":"^a","default":"aa"}"#,
                    r#"{"type":"string","description":"At least 2 characters. Matches the regular expression `^a`. Default: \"aa\"."}"#,
                ),
                (r#"{"type":"integer","exclusiveMinimum":0}"#, r#"{"type":"integer","minimum":1}"#),
            ],
        );
    }

    #[test]
    fn definitions_within_schemas_move_to_the_root() {
        for key in ["$defs", "definitions"] {
            let schema = serde_json::json!({
                "type": "object",
                "properties": {
                    "a": {
                        "type": "object",
                        "properties": {"b": {"$ref": format!("#/properties/a/{key}/X")}},
                        key: {"X": {"type": "string", "pattern": "^a"}, "Y": {"const": 1}}
                    },
                    "c": {"type": "string", key: {"Z": {"default": 1}}},
                    "d": {"anyOf": [{"type": "string"}], key: {"Z": {"default": 1}}}
                }
            });
            let expected = serde_json::json!({
                "type": "object",
                "properties": {
                    "a": {"type": "object", "properties": {"b": {"$ref": "#/$defs/X"}}},
                    "c": {"type": "string"},
                    "d": {"anyOf": [{"type": "string"}]}
                },
                "$defs": {"X": {
                    "type": "string",
                    "description": "Matches the regular expression `^a`."
                }}
            });
            super::super::super::testing::root_becomes(Target::GeminiJson, &schema, &expected, "");
        }
    }

    #[test]
    fn a_schema_holds_itself_through_optional_properties_only() {
        let tool = |required: serde_json::Value, inner: serde_json::Value| {
            serde_json::json!({
                "type": "object",
                "properties": {"a": {"$ref": "#/$defs/T"}},
                "$defs": {"T": {"type": "object", "properties": {"t": inner}, "required": required}}
            })
        };
        let reference = serde_json::json!({"$ref": "#/$defs/T"});
        let list = serde_json::json!({"type": "array", "items": reference});
        let text = serde_json::json!({
            "type": "string",
            "description": "JSON text of an object of the same form as `T`."
        });
        let texts = serde_json::json!({"type": "array", "items": text});
        let (no, yes) = (serde_json::json!([]), serde_json::json!(["t"]));
        for (required, inner, expected) in [
            (&no, &reference, &reference),
            (&no, &list, &list),
            (&yes, &reference, &text),
            (&yes, &list, &texts),
        ] {
            super::super::super::testing::root_becomes(
                Target::GeminiJson,
                &tool(required.clone(), inner.clone()),
                &tool(required.clone(), expected.clone()),
                "",
            );
        }
    }
}
