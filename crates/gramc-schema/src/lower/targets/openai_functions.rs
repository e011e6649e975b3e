//! The deprecated field `functions` of OpenAI's Chat Completions API.

use super::openai;
use super::prelude::*;

pub(in super::super) static RULES: TargetSpec = TargetSpec {
    about: "the older field `functions` of OpenAI's chat completions",
    shape: ToolShape::BareFunction,
    ..openai::RULES
};
