//! The schema of the parameters, and nothing else.

use super::super::rules::{RootRule, Rules};
use super::super::target::Target;
use json_schema_kit::keywords::Keywords;

/// The table.
pub(in super::super) static RULES: Rules = Rules {
    target: Target::JsonSchema,
    about: "the JSON Schema of each tool's parameters, by the name of the tool",
    root: RootRule { object: false, refused: Keywords::NONE, allowed: Keywords::NONE },
    ..Rules::OPEN
};
