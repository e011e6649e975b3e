//! OpenAI's Responses API.

use super::openai;
use super::prelude::*;

pub(in super::super) static RULES: TargetSpec = TargetSpec {
    about: "the field `tools` of OpenAI's responses",
    shape: ToolShape::FlatFunction { strict: false },
    // According to bug reports, `oneOf` is rejected even if `strict` is false.
    keep: Keywords::ALL.without(&[K::OneOf]),
    fields: &[
        ToolField::same("allowed_callers"),
        ToolField { attribute: "defer", key: "defer_loading" },
    ],
    output: Some(OutputRule {
        key: "output_schema",
        only_objects: false,
        reason: None,
        is_lowered: false,
    }),
    ..openai::RULES
};

#[cfg(test)]
mod tests {
    use super::super::super::Target;
    use super::super::super::testing::all_become;

    #[test]
    fn each_form_becomes_what_the_target_takes() {
        all_become(
            Target::OpenAiResponses,
            &[
                (
                    r#"{"oneOf":[{"type":"string"},{"type":"integer"}],"title":"T"}"#,
                    r#"{"anyOf":[{"type":"string"},{"type":"integer"}],"title":"T"}"#,
                ),
                (
                    r#"{"type":"array","items":{"oneOf":[{"minLength":1},{"minimum":2}]}}"#,
                    r#"{"type":"array","items":{"anyOf":[{"minLength":1},{"minimum":2}]}}"#,
                ),
                (
                    r#"{"oneOf":[{"type":"string"},{"type":"string","minLength":2}],"anyOf":[{}]}"#,
                    r#"{"anyOf":[{}],"allOf":[{"anyOf":[{"type":"string"},{"type":"string","minLength":2}]}],"description":"Exactly one of the alternatives of one union applies."}"#,
                ),
            ],
        );
    }
}
