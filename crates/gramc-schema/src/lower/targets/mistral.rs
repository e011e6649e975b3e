//! Mistral's chat completions.

use super::openai::NAMES;
use super::prelude::*;

pub(in super::super) static RULES: TargetSpec = TargetSpec {
    about: "the field `tools` of Mistral's chat completions",
    shape: ToolShape::Function { strict: false },
    names: Some(NAMES),
    keep: Keywords::ALL.without(&[K::Id, K::Schema]),
    objects: ObjectRule { never_closed: true, ..TargetSpec::OPEN.objects },
    ..TargetSpec::OPEN
};

#[cfg(test)]
mod tests {
    use super::super::super::Target;
    use super::super::super::testing::all_become;

    #[test]
    fn each_form_becomes_what_the_target_takes() {
        all_become(
            Target::Mistral,
            &[
                (
                    r#"{"type":"object","properties":{"a":{"oneOf":[{}]}},"additionalProperties":true}"#,
                    r#"{"type":"object","properties":{"a":{"oneOf":[{}]}},"additionalProperties":true}"#,
                ),
                (
                    r#"{"type":"object","properties":{"a":{"$id":"x"}},"additionalProperties":false}"#,
                    r#"{"type":"object","properties":{"a":{}},"description":"No other properties."}"#,
                ),
            ],
        );
    }
}
