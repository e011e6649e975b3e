//! The rule table of each target.

pub(super) mod anthropic;
pub(super) mod anthropic_strict;
pub(super) mod bedrock;
pub(super) mod gemini;
pub(super) mod gemini_json;
pub(super) mod json_schema;
pub(super) mod mcp;
pub(super) mod mistral;
pub(super) mod ollama;
pub(super) mod openai;
pub(super) mod openai_functions;
pub(super) mod openai_responses;
pub(super) mod openai_strict;
