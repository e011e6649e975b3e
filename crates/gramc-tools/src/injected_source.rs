//! Where values come from that a library does not hold itself.

use std::env::VarError;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::Value;
use smol_str::SmolStr;

/// Where the value of an injected parameter comes from.
#[derive(Clone, PartialEq)]
pub enum InjectedSource {
    /// A variable of the environment, read when the library is bound.
    Environment(SmolStr),
    /// A file, read when the library is bound; a line break at its end is left out.
    File(PathBuf),
    /// The value itself.
    Value(Value),
}

impl InjectedSource {
    /// Whether the value is kept apart from the library, and so may be a secret.
    pub fn is_external(&self) -> bool {
        !matches!(self, Self::Value(_))
    }

    /// Reads the value as it is now.
    pub fn read(&self) -> Result<Value, SourceError> {
        match self {
            Self::Environment(name) => match std::env::var(name) {
                Ok(value) => Ok(Value::String(value)),
                Err(VarError::NotPresent) => Err(SourceError::NoVariable(name.clone())),
                Err(VarError::NotUnicode(_)) => Err(SourceError::NotUnicode(name.clone())),
            },
            Self::File(path) => match std::fs::read_to_string(path) {
                Ok(text) => Ok(Value::from(text.trim_end_matches(['\n', '\r']))),
                Err(error) => Err(SourceError::file(path, &error)),
            },
            Self::Value(value) => Ok(value.clone()),
        }
    }

    /// Reads the value as it is now; empty if it is not a string.
    pub fn read_text(&self) -> Result<String, SourceError> {
        Ok(self.read()?.as_str().unwrap_or_default().to_owned())
    }
}

/// Why a value cannot be read.
#[allow(missing_docs, reason = "each variant has its message")]
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SourceError {
    #[error("the environment variable {0} is not set")]
    NoVariable(SmolStr),
    #[error("the environment variable {0} is not valid Unicode")]
    NotUnicode(SmolStr),
    #[error("cannot read {path}: {reason}")]
    File { path: String, reason: String },
}

impl SourceError {
    /// The error of a file that cannot be read.
    pub(crate) fn file(path: &Path, error: &io::Error) -> Self {
        Self::File { path: path.display().to_string(), reason: error.to_string() }
    }
}

/// The sources that an attribute such as `inject` names: `env:NAME`, `file:PATH`, or a value.
pub fn sources(inject: &Value, folder: &Path) -> Vec<(SmolStr, InjectedSource)> {
    let map = inject.as_object();
    let named = |(name, value): (&String, &Value)| (name.as_str().into(), source(value, folder));
    map.into_iter().flatten().map(named).collect()
}

/// The source that a value names.
pub fn source(value: &Value, folder: &Path) -> InjectedSource {
    match value.as_str() {
        Some(text) => match (text.strip_prefix("env:"), text.strip_prefix("file:")) {
            (Some(name), _) => InjectedSource::Environment(name.into()),
            (_, Some(path)) => InjectedSource::File(folder.join(path)),
            _ => InjectedSource::Value(value.clone()),
        },
        None => InjectedSource::Value(value.clone()),
    }
}
