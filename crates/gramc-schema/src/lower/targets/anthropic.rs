//! Anthropic's Messages API.

use super::prelude::*;

/// The rules, which strict mode extends.
pub(in super::super) static RULES: TargetSpec = TargetSpec {
    about: "the field `tools` of Anthropic's messages",
    shape: ToolShape::InputSchema { strict: false },
    // Some clients accept at most 64 characters.
    names: Some(NameRule { first: First::Any, signs: "_-", longest: 128 }),
    fields: &[
        ToolField::same("cache_control"),
        ToolField::same("allowed_callers"),
        ToolField::same("eager_input_streaming"),
        ToolField { attribute: "examples", key: "input_examples" },
        ToolField { attribute: "defer", key: "defer_loading" },
    ],
    root: RootRule {
        object: true,
        refused: Keywords::of(&[K::OneOf, K::AllOf, K::AnyOf]),
        allowed: Keywords::NONE,
    },
    keys: Some(KeyRule {
        rule: NameRule { first: First::Any, signs: "_.-", longest: 64 },
        root_only: true,
    }),
    ..TargetSpec::OPEN
};

#[cfg(test)]
mod tests {
    use super::super::super::Target;
    use super::super::super::testing::{all_stay, root_becomes};

    #[test]
    fn a_schema_comes_out_as_it_went_in() {
        all_stay(Target::Anthropic);
    }

    #[test]
    fn schemas_of_older_drafts_are_written_in_the_current_one() {
        let schema = serde_json::json!({
            "type": "object",
            "properties": {
                "at": {
                    "type": "array",
                    "items": [{"type": "number", "minimum": 0, "exclusiveMinimum": true}],
                    "additionalItems": false
                }
            }
        });
        let expected = serde_json::json!({
            "type": "object",
            "properties": {
                "at": {
                    "type": "array",
                    "prefixItems": [{"type": "number", "exclusiveMinimum": 0}],
                    "items": false
                }
            }
        });
        for target in [Target::Anthropic, Target::OpenAi, Target::Mistral, Target::Mcp] {
            root_becomes(target, &schema, &expected, "");
        }
        root_becomes(Target::Bedrock, &schema, &expected, "t");
    }

    #[test]
    fn keys_of_parameters_are_changed_and_the_root_is_a_plain_object() {
        let schema = serde_json::json!({
            "type": "object",
            "properties": {"a b": {"type": "object", "properties": {"c d": {}}}, "año": {}, "a.b": {}},
            "required": ["a b", "a.b"],
            "oneOf": [{"required": ["año"]}, {"required": ["a.b"]}]
        });
        let expected = serde_json::json!({
            "type": "object",
            "properties": {"a_b": {"type": "object", "properties": {"c d": {}}}, "a_o": {}, "a.b": {}},
            "required": ["a_b", "a.b"]
        });
        let text = "Give exactly one of `a_o`, `a.b`.";
        root_becomes(Target::Anthropic, &schema, &expected, text);
    }

    #[test]
    fn what_names_a_changed_key_names_the_new_one() {
        let schema = serde_json::json!({
            "type": "object",
            "properties": {
                "a b": {"type": "object", "properties": {"a b": {"$ref": "#/properties/a%20b"}}},
                "c": {"$ref": "#/properties/a b/properties/a b", "default": {"$ref": "#/properties/a b"}}
            },
            "dependentRequired": {"a b": ["c"], "c": ["a b"]},
            "if": {"properties": {"a b": {"required": ["a b"]}}, "not": {"required": ["a b"]}}
        });
        let expected = serde_json::json!({
            "type": "object",
            "properties": {
                "a_b": {"type": "object", "properties": {"a b": {"$ref": "#/properties/a_b"}}},
                "c": {"$ref": "#/properties/a_b/properties/a b", "default": {"$ref": "#/properties/a b"}}
            },
            "dependentRequired": {"a_b": ["c"], "c": ["a_b"]},
            "if": {"properties": {"a_b": {"required": ["a b"]}}, "not": {"required": ["a_b"]}}
        });
        root_becomes(Target::Anthropic, &schema, &expected, "");
    }
}
