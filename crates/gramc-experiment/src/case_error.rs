//! The errors of cases.

use gramc_agent::ImageError;

/// A line is not a case.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CaseError {
    #[error(
        "expected `input`, `tags`, `criteria` and commands to be a string or a list of strings"
    )]
    NotStrings,
    #[error("invalid case: {0}")]
    Json(serde_json::Error),
    #[error("unknown key `{key}`; {help}")]
    UnknownKey { key: String, help: String },
    #[error("expected `{0}` to be a string or a number")]
    NotAName(&'static str),
    #[error("`id` contains a control character")]
    ControlCharacter,
    #[error("expected `weight` to be above 0")]
    Weight,
    #[error("expected `input` to have at least one string")]
    NoInput,
    #[error("`input` has more messages than `max_turns` of `user`")]
    TooManyMessages,
    #[error(transparent)]
    Image(#[from] ImageError),
    #[error("expected `max_turns` of `user` to be at least 1")]
    MaxTurns,
    #[error("`model` of `user` requires `goal`")]
    ModelWithoutGoal,
    #[error("`script` of `user` is empty")]
    EmptyScript,
    #[error("expected `user` to have one of `script`, `command` and `goal`")]
    UserKind,
    #[error("invalid command `{0}`")]
    Command(String),
    #[error("expected a command, found an empty one")]
    EmptyCommand,
    #[error("`expect` is empty: expected {0}")]
    NoCondition(&'static str),
    #[error("invalid regular expression `{pattern}`: {error}")]
    Pattern { pattern: String, error: regress::Error },
    #[error("`min_calls` is larger than `max_calls`")]
    CallCount,
    #[error("invalid JSON Schema: {0}")]
    Schema(Box<jsonschema::ValidationError<'static>>),
    #[error("`criteria` of `rubric` is empty")]
    NoCriteria,
    #[error("expected `threshold` of `rubric` to be from 0 to 1")]
    Threshold,
}
