//! The lints, one file each.

pub(crate) mod boolean_trap;
pub(crate) mod checker;
pub(crate) mod deprecated_use;
pub(crate) mod description_too_long;
pub(crate) mod duplicate_description;
pub(crate) mod hidden_characters;
pub(crate) mod literal_inject;
pub(crate) mod literal_looks_like_type;
pub(crate) mod mismatched_implementation;
pub(crate) mod missing_description;
pub(crate) mod naming;
pub(crate) mod portable;
pub(crate) mod portable_gram;
pub(crate) mod prefer_bare_types;
pub(crate) mod prefer_double_arrow;
pub(crate) mod result_not_object;
pub(crate) mod secret_in_default;
pub(crate) mod shadowed_type;
pub(crate) mod suspicious_instructions;
pub(crate) mod suspicious_type;
pub(crate) mod too_many_parameters;
pub(crate) mod too_many_tools;
pub(crate) mod unbounded_text;
pub(crate) mod unknown_lint;
pub(crate) mod unused_allow;
pub(crate) mod unused_doc_comment;
pub(crate) mod unused_import;
pub(crate) mod unused_type;
pub(crate) mod vague_description;
pub(crate) mod vocabulary_conflict;
pub(crate) mod vocabulary_drift;

use gramc_syntax::Code;

use crate::lint::Lint;
use portable::{
    ANTHROPIC, ANTHROPIC_STRICT, BEDROCK, GEMINI, GEMINI_JSON, JSON_SCHEMA, LLAMACPP, MCP, MISTRAL,
    OLLAMA, OPENAI, OPENAI_FUNCTIONS, OPENAI_RESPONSES, OPENAI_STRICT, VLLM,
};

/// All lints, in the order of their names.
pub static LINTS: &[&Lint] = &[
    &boolean_trap::LINT,
    &deprecated_use::LINT,
    &description_too_long::LINT,
    &duplicate_description::LINT,
    &hidden_characters::LINT,
    &literal_inject::LINT,
    &literal_looks_like_type::LINT,
    &mismatched_implementation::LINT,
    &missing_description::LINT,
    &naming::LINT,
    &ANTHROPIC,
    &ANTHROPIC_STRICT,
    &BEDROCK,
    &GEMINI,
    &GEMINI_JSON,
    &portable_gram::LINT,
    &JSON_SCHEMA,
    &LLAMACPP,
    &MCP,
    &MISTRAL,
    &OLLAMA,
    &OPENAI,
    &OPENAI_FUNCTIONS,
    &OPENAI_RESPONSES,
    &OPENAI_STRICT,
    &VLLM,
    &prefer_bare_types::LINT,
    &prefer_double_arrow::LINT,
    &result_not_object::LINT,
    &secret_in_default::LINT,
    &shadowed_type::LINT,
    &checker::SUSPICIOUS_ATTRIBUTE,
    &suspicious_instructions::LINT,
    &suspicious_type::LINT,
    &too_many_parameters::LINT,
    &too_many_tools::LINT,
    &unbounded_text::LINT,
    &checker::UNKNOWN_ATTRIBUTE,
    &checker::UNKNOWN_LABEL,
    &unknown_lint::LINT,
    &checker::UNSOUND_IMPORT,
    &unused_allow::LINT,
    &unused_doc_comment::LINT,
    &unused_import::LINT,
    &unused_type::LINT,
    &vague_description::LINT,
    &vocabulary_conflict::LINT,
    &vocabulary_drift::LINT,
];

impl Lint {
    /// The lint of a name.
    pub fn of(name: &str) -> Option<&'static Self> {
        LINTS.iter().copied().find(|lint| lint.code.name == name)
    }
}

/// All codes of diagnostics: of syntax, of declarations, and of lints.
pub fn all_codes() -> impl Iterator<Item = &'static Code> {
    let errors = gramc_syntax::codes::SYNTAX_CODES.iter().chain(gramc_check::codes::CHECK_CODES);
    errors.copied().chain(LINTS.iter().map(|lint| &lint.code))
}
