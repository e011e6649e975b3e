//! The error of this crate.

use std::fmt::Display;
use std::path::Path;

/// An experiment that cannot be planned, run or reported.
#[derive(Debug, thiserror::Error)]
pub enum ExperimentError {
    /// A file or folder cannot be accessed: the action, the path and the cause.
    #[error("cannot {0} {1}: {2}")]
    Io(&'static str, String, String),
    /// Another process uses a file or folder.
    #[error("{0} is in use by another gramc; wait for it, or use another path")]
    Locked(String),
    /// The content of a file is invalid. With the file, and the line if there is one.
    #[error("{0}: {1}")]
    Content(String, String),
    /// A folder contains another experiment. With the first difference.
    #[error("{0} contains another experiment: {1}; use another folder")]
    OtherExperiment(String, &'static str),
    /// A gate is invalid.
    #[error("invalid gate `{0}`: {1}")]
    Gate(String, String),
    /// A shard is invalid.
    #[error("invalid shard `{0}`: expected PART/TOTAL, such as 3/16")]
    Shard(String),
    /// A program of a case cannot be run.
    #[error("cannot run `{0}`: {1}")]
    Program(String, String),
    /// The model of a judge or a simulated user gave no answer.
    #[error("cannot evaluate with `{0}`: {1}")]
    Evaluator(String, String),
    /// A case needs a model for its judge or user, and none is named.
    #[error("the case `{0}` needs a model for its judge or user: set `judge`")]
    NoEvaluator(String),
    /// The model of a judge or a simulated user is not available.
    #[error(transparent)]
    Model(#[from] gramc_agent::model::ModelNameError),
    /// An option is invalid.
    #[error("{0}")]
    Options(String),
    /// An attribute of an experiment that the specification declares is invalid.
    #[error("{0}")]
    Declaration(String),
    /// A name is unknown.
    #[error("{0}")]
    Unknown(String),
    /// The settings of the project cannot be read.
    #[error("{0}")]
    Project(String),
    /// There is nothing to compare.
    #[error("expected at least two arms")]
    TooFewArms,
    /// Cases name unknown tools or programs.
    #[error("{}", .0.join("\n"))]
    Cases(Vec<String>),
    /// Answers of a baseline cannot be compared by a judge.
    #[error("a baseline does not support `pairwise`: its runs are not judged again")]
    PairwiseBaseline,
    /// The experiment cannot be monitored sequentially.
    #[error("`sequential` {0}")]
    Sequential(&'static str),
    /// The cost limit cannot be checked without the price of a model.
    #[error(
        "`max_cost` needs the price of `{0}` in gram.toml, as [prices] \"{0}\" = {{ input = 0.15, \
         output = 0.6 }} for a million tokens each; `model` names the model of the agent"
    )]
    NoPrice(String),
    /// The agent of an arm cannot run.
    #[error(transparent)]
    Agent(#[from] gramc_agent::TeamError),
    /// The experiment was cancelled after this number of runs.
    #[error("cancelled after {0} runs")]
    Cancelled(usize),
    /// No run could be counted.
    #[error("{0}")]
    NoAnswer(String),
    /// Folders are not the parts of one experiment.
    #[error("{0}")]
    Parts(String),
    /// Parts of an experiment are missing.
    #[error("missing parts: {0}")]
    MissingParts(String),
    /// An image of a case cannot be read.
    #[error(transparent)]
    Image(#[from] gramc_agent::ImageError),
    /// A run ended unexpectedly.
    #[error("internal error: {0}")]
    Internal(String),
}

impl ExperimentError {
    pub(crate) fn io<E: Display>(action: &'static str, path: &Path) -> impl Fn(E) -> Self {
        move |error| Self::Io(action, path.display().to_string(), error.to_string())
    }

    pub(crate) fn lock_error(path: &Path) -> Self {
        Self::Locked(path.display().to_string())
    }

    /// A name that none of the `known` names equals.
    pub(crate) fn unknown_name<'n>(
        message: String,
        name: &str,
        known: impl Iterator<Item = &'n str>,
    ) -> Self {
        Self::Unknown(match gramc_model::did_you_mean(name, known) {
            Some(help) => format!("{message}; {help}"),
            None => message,
        })
    }

    pub(crate) fn content(place: impl Display, message: impl Into<String>) -> Self {
        Self::Content(place.to_string(), message.into())
    }
}
