//! Where values come from that a library does not hold itself.

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
    pub(crate) fn is_external(&self) -> bool {
        !matches!(self, Self::Value(_))
    }

    /// The value as it is now.
    pub(crate) fn read(&self) -> Result<Value, String> {
        match self {
            Self::Environment(name) => match std::env::var(name) {
                Ok(value) => Ok(Value::String(value)),
                Err(std::env::VarError::NotPresent) => {
                    Err(format!("the environment has no variable {name}"))
                }
                Err(_) => Err(format!("the environment variable {name} is not valid Unicode")),
            },
            Self::File(path) => match std::fs::read_to_string(path) {
                Ok(text) => Ok(Value::from(text.trim_end_matches(['\n', '\r']))),
                Err(error) => Err(format!("cannot read {}: {error}", path.display())),
            },
            Self::Value(value) => Ok(value.clone()),
        }
    }
}

/// The sources that an attribute such as `inject` names: `env:NAME`, `file:PATH`, or a value.
pub(crate) fn sources(inject: &Value, folder: &Path) -> Vec<(SmolStr, InjectedSource)> {
    let map = inject.as_object();
    let named = |(name, value): (&String, &Value)| (name.as_str().into(), source(value, folder));
    map.into_iter().flatten().map(named).collect()
}

/// The source that a value names.
pub(crate) fn source(value: &Value, folder: &Path) -> InjectedSource {
    match value.as_str() {
        Some(text) => match (text.strip_prefix("env:"), text.strip_prefix("file:")) {
            (Some(name), _) => InjectedSource::Environment(name.into()),
            (_, Some(path)) => InjectedSource::File(folder.join(path)),
            _ => InjectedSource::Value(value.clone()),
        },
        None => InjectedSource::Value(value.clone()),
    }
}
