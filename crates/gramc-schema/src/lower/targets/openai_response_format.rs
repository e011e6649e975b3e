//! Structured output of OpenAI's Chat Completions API.

use super::super::target::Target;
use super::super::target_spec::{Limits, TargetSpec, ToolShape};
use super::openai_strict;

/// The rules.
pub(in super::super) static RULES: TargetSpec = TargetSpec {
    target: Target::OpenAiResponseFormat,
    about: "the field `response_format` of OpenAI's chat completions, from a type",
    shape: ToolShape::ResponseFormat,
    limits: Limits { tools: None, ..openai_strict::RULES.limits },
    ..openai_strict::RULES
};
