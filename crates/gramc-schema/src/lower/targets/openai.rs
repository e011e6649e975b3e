//! OpenAI's Chat Completions API.

use super::prelude::*;

/// The names that OpenAI and compatible APIs accept.
pub(super) const NAMES: NameRule = NameRule { first: First::Any, signs: "_-", longest: 64 };

/// The rules, which OpenAI's other targets extend.
pub(in super::super) static RULES: TargetSpec = TargetSpec {
    about: "the field `tools` of OpenAI's chat completions",
    shape: ToolShape::Function { strict: false },
    names: Some(NAMES),
    root: RootRule {
        object: true,
        refused: Keywords::of(&[K::OneOf, K::AnyOf, K::AllOf, K::Enum, K::Not]),
        allowed: Keywords::NONE,
    },
    // A request with another pattern is rejected.
    patterns: PatternRule::NoLookaround,
    arrays_need_items: true,
    // Only some deployments are known to reject long descriptions.
    limits: Limits { tools: Some(128), description: Some(1024), ..Limits::NONE },
    ..TargetSpec::OPEN
};

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::super::super::Target;
    use super::super::super::testing::all_become;

    #[test]
    fn each_form_becomes_what_the_target_takes() {
        all_become(
            Target::OpenAi,
            &[
                (
                    r#"{"type":"object","properties":{"Content-Type":{"default":1}},"oneOf":[{"required":["a"]}],"x-own":1}"#,
                    r#"{"type":"object","properties":{"Content-Type":{"default":1}},"oneOf":[{"required":["a"]}],"x-own":1}"#,
                ),
                (r#"{"type":"array"}"#, r#"{"type":"array","items":{}}"#),
                (
                    r#"{"type":["array","null"],"prefixItems":[{"type":"array"}]}"#,
                    r#"{"type":["array","null"],"prefixItems":[{"type":"array","items":{}}],"items":{}}"#,
                ),
            ],
        );
    }

    #[test]
    fn properties_of_combined_schemas_become_those_of_the_root() {
        let schema = serde_json::json!({
            "type": "object",
            "oneOf": [
                {"oneOf": [
                    {"properties": {"k": {"const": "a"}, "x": {"type": "string"}}, "required": ["k", "x"]},
                    {"allOf": [{"$ref": "#/$defs/B"}, {"required": ["k"]}]}
                ]},
                {"properties": {"k": {"const": "c"}}, "required": ["k"]}
            ],
            "$defs": {"B": {"properties": {"k": {"const": "b"}, "y": {"type": "integer"}}}}
        });
        let out = super::super::super::testing::lowered(Target::OpenAi, &schema).value;
        let parameters = &out["function"]["parameters"];
        let expected = serde_json::json!({
            "k": {"anyOf": [{"const": "a"}, {"const": "b"}, {"const": "c"}]},
            "x": {"type": "string"},
            "y": {"type": "integer"}
        });
        assert_eq!(parameters["properties"], expected, "{out:#}");
        assert_eq!(parameters["required"], serde_json::json!(["k"]));
    }

    #[test]
    fn unions_of_recursive_schemas_are_read_once() {
        // Each way through the definitions is different, and there are 12^32 of them.
        let mut definitions = serde_json::Map::new();
        for n in 0..12 {
            let members: Vec<_> =
                (0..12).map(|to| serde_json::json!({"$ref": format!("#/$defs/D{to}")})).collect();
            let schema = serde_json::json!({"properties": {format!("p{n}"): {}}, "anyOf": members});
            definitions.insert(format!("D{n}"), schema);
        }
        let schema = serde_json::json!({"anyOf": definitions["D0"]["anyOf"], "$defs": definitions});
        let out = super::super::super::testing::lowered(Target::OpenAi, &schema).value;
        let properties = out["function"]["parameters"]["properties"].as_object().unwrap();
        assert_eq!(properties.len(), 12, "{out:#}");
    }

    #[test]
    fn unions_are_told_in_words_if_these_say_all() {
        let member = |property: serde_json::Value, more: serde_json::Value| {
            let mut member = serde_json::json!({
                "type": "object", "properties": {"x": property}, "required": ["x"]
            });
            member.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            member
        };
        let text = || serde_json::json!({"type": "string"});
        for (members, expected) in [
            (
                vec![
                    member(text(), serde_json::json!({"additionalProperties": false})),
                    member(text(), serde_json::json!({"required": ["x", "y"]})),
                ],
                "Exactly one of these applies: with `x`, without other properties; with `x`, `y`.",
            ),
            // The words would not say which schema belongs to which member.
            (
                vec![
                    member(text(), serde_json::json!({})),
                    member(serde_json::json!({"type": "integer"}), serde_json::json!({})),
                ],
                "JSON Schema",
            ),
            (
                vec![
                    member(text(), serde_json::json!({"minProperties": 2})),
                    member(text(), serde_json::json!({})),
                ],
                "JSON Schema",
            ),
        ] {
            let schema = serde_json::json!({"type": "object", "oneOf": members});
            let out = super::super::super::testing::lowered(Target::OpenAi, &schema).value;
            let description = out["function"]["description"].as_str().unwrap();
            assert!(description.contains(expected), "{description}");
        }
    }

    #[test]
    fn patterns_with_lookaround_or_backreferences_become_sentences() {
        for target in [Target::OpenAi, Target::OpenAiResponses, Target::OpenAiStrict] {
            all_become(
                target,
                &[
                    (
                        r#"{"type":"string","pattern":"^(?!\\.)[a-z]+$"}"#,
                        r#"{"type":"string","description":"Matches the regular expression `^(?!\\.)[a-z]+$`."}"#,
                    ),
                    (
                        r#"{"type":"string","pattern":"^(a)\\1$","description":"D"}"#,
                        r#"{"type":"string","description":"D. Matches the regular expression `^(a)\\1$`."}"#,
                    ),
                    (
                        r#"{"type":"string","pattern":"\\(?=[(?!]$"}"#,
                        r#"{"type":"string","pattern":"\\(?=[(?!]$"}"#,
                    ),
                ],
            );
            let schema = serde_json::json!({"type": "object", "properties": {"pattern": {
                "type": "string", "pattern": "(?<=a)b"
            }}});
            let losses = super::super::super::testing::lowered(target, &schema).losses;
            let found = losses.iter().find(|loss| loss.constraint == "pattern").unwrap();
            assert_eq!(found.path, "properties.pattern.pattern");
        }
    }

    #[test]
    fn the_root_is_a_plain_object() {
        let text = |text: &str| -> serde_json::Value { serde_json::from_str(text).unwrap() };
        for (from, to, description) in [
            (
                r#"{"properties":{"a":{}},"not":{"required":["a"]},"$schema":"s"}"#,
                r#"{"type":"object","properties":{"a":{}},"$schema":"s"}"#,
                "Not together: `a`.",
            ),
            (
                r#"{"type":"object","properties":{"a":{},"b":{}},"anyOf":[{"required":["a"]},{"required":["b"]}]}"#,
                r#"{"type":"object","properties":{"a":{},"b":{}}}"#,
                "Give at least one of `a`, `b`.",
            ),
            (
                r#"{"allOf":[{"type":"object","properties":{"a":{}}},{"required":["a"]}]}"#,
                r#"{"type":"object","properties":{"a":{}},"required":["a"]}"#,
                "",
            ),
            (
                r##"{"$ref":"#/$defs/A","$defs":{"A":{"type":"object","properties":{"a":{}}}}}"##,
                r#"{"$defs":{"A":{"type":"object","properties":{"a":{}}}},"type":"object","properties":{"a":{}}}"#,
                "",
            ),
            (
                r#"{"type":"string"}"#,
                r#"{"type":"object","properties":{}}"#,
                r#"The arguments as a whole fit this JSON Schema: {"type":"string"}"#,
            ),
            ("true", r#"{"type":"object"}"#, ""),
            (
                r#"{"type":"object","enum":[{"a":1}]}"#,
                r#"{"type":"object"}"#,
                r#"One of: {"a":1}."#,
            ),
        ] {
            super::super::super::testing::root_becomes(
                Target::OpenAi,
                &text(from),
                &text(to),
                description,
            );
        }
    }
}
