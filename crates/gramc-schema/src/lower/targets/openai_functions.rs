//! The deprecated field `functions` of OpenAI's Chat Completions API.

use super::super::target::Target;
use super::super::target_spec::{TargetSpec, ToolShape};
use super::openai;

/// The rules.
pub(in super::super) static RULES: TargetSpec = TargetSpec {
    target: Target::OpenAiFunctions,
    about: "the older field `functions` of OpenAI's chat completions",
    shape: ToolShape::BareFunction,
    ..openai::RULES
};
