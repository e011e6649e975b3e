//! Structured output of the Gemini API.

use super::super::target::Target;
use super::super::target_spec::{Limits, TargetSpec, ToolShape};
use super::gemini_json;

/// The rules.
pub(in super::super) static RULES: TargetSpec = TargetSpec {
    target: Target::GeminiResponseSchema,
    about: "the fields `responseMimeType` and `responseJsonSchema` of Gemini's `generationConfig`, from a type",
    shape: ToolShape::ResponseSchema,
    names: None,
    limits: Limits { tools: None, ..gemini_json::RULES.limits },
    ..gemini_json::RULES
};
