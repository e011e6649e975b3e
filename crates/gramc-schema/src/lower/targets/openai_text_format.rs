//! Structured output of OpenAI's Responses API.

use super::openai_strict;
use super::prelude::*;

pub(in super::super) static RULES: TargetSpec = TargetSpec {
    about: "the field `text.format` of OpenAI's responses, from a type",
    shape: ToolShape::TextFormat,
    limits: Limits { tools: None, ..openai_strict::RULES.limits },
    ..openai_strict::RULES
};
