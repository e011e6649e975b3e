//! The Model Context Protocol.

use super::prelude::*;

pub(in super::super) static RULES: TargetSpec = TargetSpec {
    about: "the answer to `tools/list` of the Model Context Protocol, revision 2026-07-28",
    shape: ToolShape::Mcp,
    names: Some(NameRule { first: First::Any, signs: "_.-", longest: 128 }),
    fields: &[ToolField::same("icons"), ToolField::same("execution"), ToolField::same("_meta")],
    output: Some(OutputRule {
        key: "outputSchema",
        only_objects: true,
        reason: Some("MCP's clients take schemas of results only if they are objects"),
        is_lowered: false,
    }),
    ..TargetSpec::OPEN
};

#[cfg(test)]
mod tests {
    use super::super::super::Target;
    use super::super::super::testing::{all_stay, root_becomes};

    #[test]
    fn a_schema_comes_out_as_it_went_in() {
        all_stay(Target::Mcp);
    }

    #[test]
    fn the_root_is_an_object_and_else_as_it_was() {
        let schema = serde_json::json!({"$schema": "s", "type": "object", "anyOf": [{"not": {}}]});
        root_becomes(Target::Mcp, &schema, &schema, "");
        let expected = serde_json::json!({"type": "object", "title": "T"});
        root_becomes(Target::Mcp, &serde_json::json!({"title": "T"}), &expected, "");
    }
}
