//! Only the schema of the parameters.

use super::super::target::Target;
use super::super::target_spec::{RootRule, TargetSpec};
use gramc_json_schema::keywords::Keywords;

/// The rules.
pub(in super::super) static RULES: TargetSpec = TargetSpec {
    target: Target::JsonSchema,
    about: "the JSON Schema of each tool's parameters, by the name of the tool",
    root: RootRule { object: false, refused: Keywords::NONE, allowed: Keywords::NONE },
    ..TargetSpec::OPEN
};
