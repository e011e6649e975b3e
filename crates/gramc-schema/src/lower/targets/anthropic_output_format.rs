//! Structured output of Anthropic's Messages API.

use super::anthropic_strict;
use super::prelude::*;

pub(in super::super) static RULES: TargetSpec = TargetSpec {
    about: "the field `output_config.format` of Anthropic's messages, from a type",
    shape: ToolShape::OutputFormat,
    names: None,
    keys: None,
    limits: Limits { tools: None, ..anthropic_strict::RULES.limits },
    ..anthropic_strict::RULES
};
