//! Amazon Bedrock's Converse API.

use super::prelude::*;

pub(in super::super) static RULES: TargetSpec = TargetSpec {
    about: "the tools of `toolConfig` of Amazon Bedrock's converse",
    shape: ToolShape::ToolSpec,
    names: Some(NameRule { first: First::Letter, signs: "_-", longest: 64 }),
    needs_description: true,
    ..TargetSpec::OPEN
};

#[cfg(test)]
mod tests {
    use super::super::super::Target;
    use super::super::super::testing::{all_stay, root_becomes};

    #[test]
    fn a_schema_comes_out_as_it_went_in() {
        all_stay(Target::Bedrock);
    }

    #[test]
    fn a_tool_without_a_description_gets_one() {
        let schema = serde_json::json!({"type": "object"});
        root_becomes(Target::Bedrock, &schema, &schema, "t");
    }
}
