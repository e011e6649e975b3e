//! Only the schema of the parameters.

use super::prelude::*;

pub(in super::super) static RULES: TargetSpec = TargetSpec {
    about: "the JSON Schema of each tool's parameters, by the name of the tool",
    root: RootRule { object: false, refused: Keywords::NONE, allowed: Keywords::NONE },
    ..TargetSpec::OPEN
};
