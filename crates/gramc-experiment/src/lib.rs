//! Compares agents on libraries, the arms of an experiment, by running them on the same cases.
//!
//! A [`Plan`] lists the runs of an experiment: each case in each arm, with repeats, in an order
//! derived from a seed. [`run`] executes the missing runs and writes each finished one to a
//! [`Journal`], so that an interrupted experiment can be resumed. A [`Report`] compares the arms.

mod analysis;
mod arms;
mod baseline;
mod call_checks;
mod case;
mod case_problems;
mod checks;
mod counted;
mod drift;
mod evaluation;
mod evaluators;
mod expected_calls;
mod gate;
mod grade;
mod hash;
mod journal;
mod labels;
mod manifest;
mod merge;
mod methods;
mod monitor;
mod outcome;
mod page;
mod plan;
mod planning;
mod price;
mod program;
mod rates;
mod reply_cache;
mod report;
mod report_files;
mod run;
mod run_stats;
mod runner;
mod table;
mod tags;
mod unanswered;
mod user;
mod verdict;

use std::fmt::Display;
use std::path::Path;

pub use analysis::{Comparison, IntervalValue, ShiftEstimate, Spread};
pub use arms::{ArmParts, HostFunction, differences, recordings};
pub use baseline::Baseline;
pub use call_checks::CallChecks;
pub use case::{AttributesById, Case, CaseAttributes, UserMessage};
pub use case_problems::{
    CasePlace, CaseProblem, CheckedCase, case_problems, check_case, known_keys,
};
pub use checks::{case_faults, sequential_fault, unpriced_model};
pub use drift::Drift;
pub use evaluation::{EvaluatorUse, Judgement, Preference};
pub use evaluators::Evaluators;
pub use expected_calls::ExpectedCalls;
pub use gate::Gate;
pub use grade::{GradedConversation, Grader};
pub use hash::hash;
pub use journal::Journal;
pub use labels::{Agreement, Label};
pub use manifest::{ArmManifest, BaselineTimes, Difference, ExperimentManifest, Method};
pub use merge::Parts;
pub use monitor::SequentialMonitor;
pub use outcome::Outcome;
pub use plan::{Plan, PlannedRun, Shard};
pub use planning::{POWER, Planning, PlanningVariance};
pub use rates::{CaseSuccesses, Flip, SuccessRate};
pub use reply_cache::ReplyCache;
pub use report::Report;
pub use run::{RecordedCall, Run, RunMetrics};
pub use run_stats::{RunStats, RunSummary};
pub use runner::{Arm, Progress, RunConfig, StopReason, run};
pub use tags::TagResult;
pub use unanswered::Unanswered;
pub use user::SimulatedUser;

impl ExperimentError {
    fn io(action: &'static str, path: &Path, error: &dyn Display) -> Self {
        Self::Io { action, path: path.display().to_string(), message: error.to_string() }
    }

    fn content(place: impl Display, message: impl Into<String>) -> Self {
        Self::Content { place: place.to_string(), message: message.into() }
    }
}

/// An experiment that cannot be planned, run or reported.
#[derive(Debug, thiserror::Error)]
pub enum ExperimentError {
    /// A file or folder cannot be accessed.
    #[error("cannot {action} {path}: {message}")]
    Io {
        /// The operation.
        action: &'static str,
        /// The file or folder.
        path: String,
        /// The cause.
        message: String,
    },
    /// Another process uses a file or folder.
    #[error("{path} is in use by another gramc; wait for it, or use another path")]
    Locked {
        /// The file or folder.
        path: String,
    },
    /// The content of a file is invalid.
    #[error("{place}: {message}")]
    Content {
        /// The file, and the line if there is one.
        place: String,
        /// Why it is invalid.
        message: String,
    },
    /// A folder contains another experiment.
    #[error("{path} contains another experiment: {difference}; use another folder")]
    OtherExperiment {
        /// The folder.
        path: String,
        /// The first difference.
        difference: &'static str,
    },
    /// A gate is invalid.
    #[error("invalid gate `{gate}`: {message}")]
    Gate {
        /// The gate.
        gate: String,
        /// Why it is invalid.
        message: String,
    },
    /// A shard is invalid.
    #[error("invalid shard `{0}`: expected PART/TOTAL, such as 3/16")]
    Shard(String),
    /// A program of a case cannot be run.
    #[error("cannot run `{program}`: {message}")]
    Program {
        /// The program.
        program: String,
        /// The cause.
        message: String,
    },
    /// A judge or a simulated user gave no answer.
    #[error("cannot evaluate with `{model}`: {message}")]
    Evaluator {
        /// The model.
        model: String,
        /// The cause.
        message: String,
    },
    /// A case needs a model for its judge or user, and none is named.
    #[error("the case `{case}` needs a model for its judge or user")]
    NoEvaluator {
        /// The case.
        case: String,
    },
    /// The model of a judge or a simulated user is not available.
    #[error(transparent)]
    Model(#[from] gramc_agent::model::ModelNameError),
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
