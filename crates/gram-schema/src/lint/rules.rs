//! The rules, one file each.

pub(crate) mod boolean_trap;
pub(crate) mod deprecated_use;
pub(crate) mod description_too_long;
pub(crate) mod duplicate_description;
pub(crate) mod literal_inject;
pub(crate) mod missing_description;
pub(crate) mod naming;
pub(crate) mod portable;
pub(crate) mod portable_gram;
pub(crate) mod prefer_double_arrow;
pub(crate) mod result_not_object;
pub(crate) mod secret_in_default;
pub(crate) mod shadowed_type;
pub(crate) mod too_many_parameters;
pub(crate) mod too_many_tools;
pub(crate) mod unbounded_text;
pub(crate) mod unknown_attribute;
pub(crate) mod unknown_label;
pub(crate) mod unknown_lint;
pub(crate) mod unsound_import;
pub(crate) mod unused_allow;
pub(crate) mod unused_import;
pub(crate) mod unused_type;
pub(crate) mod vague_description;
pub(crate) mod vocabulary_conflict;
pub(crate) mod vocabulary_drift;

use super::rule::Rule;
use portable::{
    ANTHROPIC, ANTHROPIC_STRICT, BEDROCK, GEMINI, GEMINI_JSON, JSON_SCHEMA, MCP, MISTRAL, OLLAMA,
    OPENAI, OPENAI_FUNCTIONS, OPENAI_RESPONSES, OPENAI_STRICT,
};

/// All rules, in the order of their names.
pub static RULES: &[&Rule] = &[
    &boolean_trap::RULE,
    &deprecated_use::RULE,
    &description_too_long::RULE,
    &duplicate_description::RULE,
    &literal_inject::RULE,
    &missing_description::RULE,
    &naming::RULE,
    &ANTHROPIC,
    &ANTHROPIC_STRICT,
    &BEDROCK,
    &GEMINI,
    &GEMINI_JSON,
    &portable_gram::RULE,
    &JSON_SCHEMA,
    &MCP,
    &MISTRAL,
    &OLLAMA,
    &OPENAI,
    &OPENAI_FUNCTIONS,
    &OPENAI_RESPONSES,
    &OPENAI_STRICT,
    &prefer_double_arrow::RULE,
    &result_not_object::RULE,
    &secret_in_default::RULE,
    &shadowed_type::RULE,
    &too_many_parameters::RULE,
    &too_many_tools::RULE,
    &unbounded_text::RULE,
    &unknown_attribute::RULE,
    &unknown_label::RULE,
    &unknown_lint::RULE,
    &unsound_import::RULE,
    &unused_allow::RULE,
    &unused_import::RULE,
    &unused_type::RULE,
    &vague_description::RULE,
    &vocabulary_conflict::RULE,
    &vocabulary_drift::RULE,
];
