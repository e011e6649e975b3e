//! Compares agents on libraries, the arms of an experiment, by running them on the same cases.
//!
//! An [`Experiment`] is planned: each case runs in each arm, with repeats, in an order derived from a
//! seed. [`Experiment::run`] executes the missing runs and writes each finished one to a journal, so
//! that an interrupted experiment can be resumed. A [`Report`] compares the arms.
//!
//! The modules form floors. Each imports only from its own folder and from the floors below it:
//!
//! 1. the ground: errors, hashes, outcomes, runs, methods, prices and programs
//! 2. `grading`: graders, judges and their cache of replies
//! 3. `cases`: reading and checking cases, and simulated users
//! 4. `running`: plans, arms, manifests, journals and the execution of runs
//! 5. `analysis`: comparisons, gates and verdicts
//! 6. `report`: reports as text, Markdown, HTML and JSON
//! 7. `experiment`: [`Experiment`], for the command line and other programs

mod analysis;
mod case_error;
mod cases;
mod error;
mod evaluation;
mod experiment;
mod grading;
mod hash;
mod method;
mod outcome;
mod price;
mod program;
mod report;
mod run;
mod running;
mod text;

pub use analysis::gate::Gate;
pub use cases::call_checks::CallChecks;
pub use cases::case::Case;
pub use cases::case_problems::{CasePlace, CaseProblem, case_problems, check_case};
pub use cases::expected_calls::ExpectedCalls;
pub use error::ExperimentError;
pub use experiment::{
    ArmSource, CaseText, DeclaredExperiment, Experiment, ExperimentOptions, FinishedExperiment,
    ProgressBar, merge_parts,
};
pub use grading::grader::Grader;
pub use outcome::Outcome;
pub use report::Report;
pub use run::Run;
pub use running::arms::{ArmParts, HostFunction, recordings};
pub use running::plan::Shard;
pub use running::runner::{Progress, StopReason};
