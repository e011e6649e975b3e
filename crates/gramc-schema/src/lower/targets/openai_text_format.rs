//! Structured output of OpenAI's Responses API.

use super::super::target::Target;
use super::super::target_spec::{Limits, TargetSpec, ToolShape};
use super::openai_strict;

/// The rules.
pub(in super::super) static RULES: TargetSpec = TargetSpec {
    target: Target::OpenAiTextFormat,
    about: "the field `text.format` of OpenAI's responses, from a type",
    shape: ToolShape::TextFormat,
    limits: Limits { tools: None, ..openai_strict::RULES.limits },
    ..openai_strict::RULES
};
