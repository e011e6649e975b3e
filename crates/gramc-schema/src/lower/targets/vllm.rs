//! vLLM, which turns the schemas of tools into grammars by xgrammar.

use super::llamacpp::KEYWORDS;
use super::openai::NAMES;
use super::prelude::*;

/// The rules, as vLLM checks them before it asks xgrammar 0.2.
pub(in super::super) static RULES: TargetSpec = TargetSpec {
    about: "the field `tools` of vLLM's server, which enforces the schema with xgrammar",
    shape: ToolShape::Function { strict: false },
    names: Some(NAMES),
    keep: KEYWORDS.and_those_of(Keywords::of(&[
        K::PrefixItems,
        K::MinProperties,
        K::MaxProperties,
    ])),
    formats: Some(&[FormatRule {
        kind: "string",
        formats: "email date time date-time duration ipv4 ipv6 hostname uuid uri uri-reference uri-template json-pointer relative-json-pointer",
    }]),
    patterns: PatternRule::WholeText,
    bounds: BoundRule { whole: true, length_with_pattern: false, ..TargetSpec::OPEN.bounds },
    types: TypeRule { with_constraints: true, ..TargetSpec::OPEN.types },
    enum_alone: true,
    // Keywords next to `anyOf` are ignored.
    any_of: AnyOfRule::Annotations,
    refs: RefRule::Defs { root: true, recursion: Recursion::Any },
    ..TargetSpec::OPEN
};

#[cfg(test)]
mod tests {
    use super::super::super::Target;
    use super::super::super::testing::{all_become, root_becomes};

    #[test]
    fn siblings_of_a_union_at_the_root_move_into_its_members() {
        let schema = serde_json::json!({
            "type": "object",
            "properties": {"title": {"type": "string"}},
            "required": ["title"],
            "oneOf": [
                {"properties": {"id": {"type": "string"}}, "required": ["id"]},
                {"properties": {"number": {"type": "integer"}}, "required": ["number"]}
            ]
        });
        let member = |key: &str, ty: &str| {
            serde_json::json!({
                "properties": {key: {"type": ty}, "title": {"type": "string"}},
                "required": [key, "title"],
                "type": "object"
            })
        };
        let expected = serde_json::json!({
            "type": "object",
            "anyOf": [member("id", "string"), member("number", "integer")]
        });
        let text = "Exactly one of the alternatives applies.";
        for target in [Target::Vllm, Target::LlamaCpp] {
            root_becomes(target, &schema, &expected, text);
        }
        let schema = serde_json::json!({
            "type": "object",
            "properties": {"id": {"type": "string"}, "name": {"type": "string"}},
            "anyOf": [{"required": ["id"]}, {"required": ["name"]}]
        });
        let expected = serde_json::json!({"type": "object", "properties": schema["properties"]});
        let text = "Give at least one of `id`, `name`.";
        for target in [Target::Vllm, Target::LlamaCpp] {
            root_becomes(target, &schema, &expected, text);
        }
    }

    #[test]
    fn each_form_becomes_what_the_target_takes() {
        all_become(
            Target::Vllm,
            &[
                (
                    r#"{"type":"string","pattern":"^\\d{2}$","minLength":2}"#,
                    r#"{"type":"string","pattern":"^\\d{2}$","description":"At least 2 characters."}"#,
                ),
                (
                    r#"{"type":"string","pattern":"(?!a)b","format":"x"}"#,
                    r#"{"type":"string","description":"Format: x. Matches the regular expression `(?!a)b`."}"#,
                ),
                (
                    r#"{"type":"integer","minimum":1.5,"exclusiveMaximum":9.5,"multipleOf":2}"#,
                    r#"{"type":"integer","minimum":2,"exclusiveMaximum":10,"description":"A multiple of 2."}"#,
                ),
                (
                    r#"{"type":"integer","minimum":1e20,"maximum":18446744073709551615}"#,
                    r#"{"type":"integer","description":"At least 1e+20. At most 18446744073709551615."}"#,
                ),
                (
                    r#"{"type":"number","minimum":5,"maximum":1.5}"#,
                    r#"{"type":"number","description":"At least 5. At most 1.5."}"#,
                ),
                (
                    r#"{"type":"object","minProperties":1}"#,
                    r#"{"type":"object","description":"At least 1 property."}"#,
                ),
                (
                    r#"{"type":"array","prefixItems":[{},{}],"items":false,"minItems":2,"maxItems":1}"#,
                    r#"{"type":"array","prefixItems":[{},{}],"items":false,"description":"At least 2 items. At most 1 item."}"#,
                ),
                (
                    r#"{"type":"number","exclusiveMinimum":1,"maximum":1}"#,
                    r#"{"type":"number","description":"More than 1. At most 1."}"#,
                ),
                (
                    r#"{"type":"array","prefixItems":[{"type":"string"}],"items":false,"minItems":1}"#,
                    r#"{"type":"array","prefixItems":[{"type":"string"}],"items":false,"minItems":1}"#,
                ),
                (
                    r#"{"minLength":1,"pattern":"cat"}"#,
                    r#"{"type":"string","minLength":1,"description":"Matches the regular expression `cat`."}"#,
                ),
                (
                    r#"{"enum":["a","bcd",5],"minLength":2,"type":["string","integer"]}"#,
                    r#"{"enum":["bcd",5],"type":["string","integer"]}"#,
                ),
                (r#"{"const":5,"maximum":3}"#, r#"{"description":"No value is accepted."}"#),
                (
                    r#"{"allOf":[{"type":"object","properties":{"a":{}}},{"minProperties":1}]}"#,
                    r#"{"type":"object","properties":{"a":{}},"minProperties":1}"#,
                ),
            ],
        );
    }
}
