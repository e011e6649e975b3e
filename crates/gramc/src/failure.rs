//! Failures of commands. Diagnostics about the input are not failures.

use std::fmt;
use std::io;
use std::path::Path;

use gramc_project::LoadError;
use gramc_project::files::plain;

use crate::output::say;

/// The input is clean.
pub(crate) const CLEAN: i32 = 0;
/// The input has errors, or warnings that are denied.
pub(crate) const PROBLEMS: i32 = 1;
/// The command could not do its work.
pub(crate) const FAILED: i32 = 2;

/// Why a command could not do its work.
#[derive(Debug)]
pub(crate) enum Failure {
    /// A message for the user.
    Message(String),
    /// What is wrong with an input that is not in gram, which therefore has no diagnostics.
    InvalidInput(String),
    /// The output was closed.
    BrokenPipe,
    /// The program received the signal of this number.
    Interrupted(i32),
}

pub(crate) type Outcome = Result<i32, Failure>;

impl Failure {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self::Message(message.into())
    }

    /// Something about a file or folder failed.
    pub(crate) fn path(what: &str, path: &Path, error: &io::Error) -> Self {
        Self::new(format!("cannot {what} {}: {}", path.display(), plain(error)))
    }

    /// Writing output failed.
    pub(crate) fn output(error: &io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Self::BrokenPipe;
        }
        Self::new(format!("cannot write the output: {}", plain(error)))
    }

    /// An unknown name: suggests the most similar of the `known` names, or else `help`.
    pub(crate) fn unknown_name<'n>(
        message: &str,
        name: &str,
        known: impl Iterator<Item = &'n str>,
        help: Option<String>,
    ) -> Self {
        match gramc_model::did_you_mean(name, known).or(help) {
            Some(help) => Self::new(format!("{message}; {help}")),
            None => Self::new(message),
        }
    }

    /// Reports the failure to the user, and returns the exit code.
    pub(crate) fn report(&self) -> i32 {
        match self {
            Self::Message(message) | Self::InvalidInput(message) => {
                say(format_args!("gramc: {message}"));
                if matches!(self, Self::Message(_)) { FAILED } else { PROBLEMS }
            }
            Self::BrokenPipe => FAILED,
            // As shells have it.
            Self::Interrupted(signal) => 128 + signal,
        }
    }
}

/// An error with its message. Use [`Failure::path`] for errors that do not name their file.
impl<E: std::error::Error + 'static> From<E> for Failure {
    fn from(error: E) -> Self {
        let error: &(dyn std::error::Error + 'static) = &error;
        match error.downcast_ref() {
            Some(LoadError::Document(..)) => Self::InvalidInput(error.to_string()),
            _ => Self::new(error.to_string()),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Message(message) | Self::InvalidInput(message) => f.write_str(message),
            Self::BrokenPipe => f.write_str("the output was closed"),
            Self::Interrupted(_) => f.write_str("interrupted"),
        }
    }
}
