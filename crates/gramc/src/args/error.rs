//! Errors of arguments.

/// An argument is invalid.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ArgError {
    /// The argument has another form.
    #[error("expected {0}")]
    Expected(&'static str),
    /// An entry is not a key and a value.
    #[error("expected KEY=VALUE, found `{0}`")]
    NoKeyValue(String),
    /// The value of a key is not a number.
    #[error("expected a number for `{key}`, found `{value}`")]
    NoNumber { key: String, value: String },
    /// A key is unknown.
    #[error("unknown key `{key}`; {help}")]
    UnknownKey { key: String, help: String },
}
