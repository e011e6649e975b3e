//! The text of the cases of an experiment.

use std::path::Path;

use gramc_project::files::plain;

use crate::cases::case::Case;
use crate::error::ExperimentError;

/// The text of cases, JSON lines.
#[derive(Debug)]
pub struct CaseText {
    text: Vec<u8>,
    name: String,
}

/// Cases and the hash of their text and images.
pub(super) struct HashedCases {
    pub(super) cases: Vec<Case>,
    pub(super) hash: String,
}

impl CaseText {
    /// The text of a file of this name.
    pub fn new(text: impl Into<Vec<u8>>, name: impl Into<String>) -> Self {
        Self { text: text.into(), name: name.into() }
    }

    /// Reads a file.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, ExperimentError> {
        let path = path.as_ref();
        let text = std::fs::read(path);
        let text = text.map_err(|error| ExperimentError::io("read", path)(plain(&error)))?;
        Ok(Self::new(text, path.display().to_string()))
    }

    /// The cases, or those with these ids if there are any.
    pub(super) fn read(self, only: &[String]) -> Result<HashedCases, ExperimentError> {
        let Self { text, name } = self;
        let mut cases = Case::read(&text[..], &name)?;
        let mut hash = Case::hash_all(&text, &cases)?;
        let ids = |cases: &[Case]| cases.iter().map(|case| case.id.clone()).collect::<Vec<_>>();
        for id in only {
            let known = ids(&cases);
            if !known.contains(id) {
                let message = format!("{name} has no case `{id}`");
                return Err(ExperimentError::unknown_name(
                    message,
                    id,
                    known.iter().map(|it| &**it),
                ));
            }
        }
        if !only.is_empty() {
            cases.retain(|case| only.contains(&case.id));
            // Other cases are another experiment.
            hash = format!("{hash} {}", ids(&cases).join(","));
        }
        Ok(HashedCases { cases, hash })
    }
}
