//! The rule table of each target.

pub(super) mod anthropic;
pub(super) mod anthropic_output_format;
pub(super) mod anthropic_strict;
pub(super) mod bedrock;
pub(super) mod gemini;
pub(super) mod gemini_json;
pub(super) mod gemini_response_schema;
pub(super) mod json_schema;
pub(super) mod llamacpp;
pub(super) mod mcp;
pub(super) mod mistral;
pub(super) mod ollama;
pub(super) mod openai;
pub(super) mod openai_functions;
pub(super) mod openai_response_format;
pub(super) mod openai_responses;
pub(super) mod openai_strict;
pub(super) mod openai_text_format;
pub(super) mod vllm;

/// The words of a table.
mod prelude {
    pub(super) use super::super::patterns::PatternRule;
    pub(super) use super::super::target_spec::{
        AnyOfRule, BoundRule, CORE, First, FormatRule, KeyRule, Limits, NameRule, ObjectRule,
        OutputRule, Recursion, RefRule, RootRule, SeveralTypes, TargetSpec, ToolField, ToolShape,
        TypeRule,
    };
    pub(super) use gramc_json_schema::keywords::{Keyword as K, Keywords};
}
