//! Structured output of the Gemini API.

use super::gemini_json;
use super::prelude::*;

pub(in super::super) static RULES: TargetSpec = TargetSpec {
    about: "the fields `responseMimeType` and `responseJsonSchema` of Gemini's `generationConfig`, from a type",
    shape: ToolShape::ResponseSchema,
    names: None,
    limits: Limits { tools: None, ..gemini_json::RULES.limits },
    ..gemini_json::RULES
};
