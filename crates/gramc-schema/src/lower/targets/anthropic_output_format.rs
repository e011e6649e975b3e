//! Structured output of Anthropic's Messages API.

use super::super::target::Target;
use super::super::target_spec::{Limits, TargetSpec, ToolShape};
use super::anthropic_strict;

/// The rules.
pub(in super::super) static RULES: TargetSpec = TargetSpec {
    target: Target::AnthropicOutputFormat,
    about: "the field `output_config.format` of Anthropic's messages, from a type",
    shape: ToolShape::OutputFormat,
    names: None,
    keys: None,
    limits: Limits { tools: None, ..anthropic_strict::RULES.limits },
    ..anthropic_strict::RULES
};
