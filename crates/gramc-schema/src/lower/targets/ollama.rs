//! Ollama's chat API.

use super::prelude::*;

pub(in super::super) static RULES: TargetSpec = TargetSpec {
    about: "the field `tools` of Ollama's chat, which drops unknown keys",
    shape: ToolShape::Function { strict: false },
    root: RootRule {
        object: true,
        refused: Keywords::of(&[K::Description]),
        allowed: Keywords::of(&[K::Defs]),
    },
    keep: CORE,
    refs: RefRule::Inline,
    ..TargetSpec::OPEN
};

#[cfg(test)]
mod tests {
    use super::super::super::Target;
    use super::super::super::testing::all_become;

    #[test]
    fn each_form_becomes_what_the_target_takes() {
        all_become(
            Target::Ollama,
            &[
                (
                    r#"{"type":["string","null"],"enum":["a",null],"description":"D"}"#,
                    r#"{"type":["string","null"],"enum":["a",null],"description":"D"}"#,
                ),
                ("{}", "{}"),
                (
                    r#"{"type":"object","additionalProperties":{"type":"string"}}"#,
                    r#"{"type":"object","description":"Every other property: string."}"#,
                ),
                (
                    r#"{"type":"object","properties":{"a":{"type":"string","title":"A"}},"required":["a"],"additionalProperties":false}"#,
                    r#"{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"description":"No other properties."}"#,
                ),
                (
                    r#"{"oneOf":[{"type":"string","minLength":2},{"type":"null"}]}"#,
                    r#"{"anyOf":[{"type":"string","description":"At least 2 characters."},{"type":"null"}]}"#,
                ),
                (r#"{"const":5}"#, r#"{"enum":[5]}"#),
            ],
        );
    }

    #[test]
    fn the_description_of_the_root_moves_to_the_tool() {
        let schema = serde_json::json!({"type": "object", "description": "D", "properties": {}});
        let expected = serde_json::json!({"type": "object", "properties": {}});
        super::super::super::testing::root_becomes(Target::Ollama, &schema, &expected, "D");
    }

    #[test]
    fn what_is_referred_to_stands_in_its_place() {
        let schema = serde_json::json!({
            "type": "object",
            "properties": {"a": {"$ref": "#/$defs/T"}},
            "$defs": {"T": {"type": "string"}}
        });
        let expected =
            serde_json::json!({"type": "object", "properties": {"a": {"type": "string"}}});
        super::super::super::testing::root_becomes(Target::Ollama, &schema, &expected, "");
    }
}
