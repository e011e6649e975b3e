//! Structured output of OpenAI's Chat Completions API.

use super::openai_strict;
use super::prelude::*;

pub(in super::super) static RULES: TargetSpec = TargetSpec {
    about: "the field `response_format` of OpenAI's chat completions, from a type",
    shape: ToolShape::ResponseFormat,
    limits: Limits { tools: None, ..openai_strict::RULES.limits },
    ..openai_strict::RULES
};
