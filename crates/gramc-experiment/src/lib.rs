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

pub use analysis::comparison::{Comparison, IntervalValue, ShiftEstimate, Spread};
pub use analysis::drift::Drift;
pub use analysis::gate::Gate;
pub use analysis::labels::{Agreement, Label};
pub use analysis::planning::{POWER, Planning, PlanningVariance};
pub use analysis::rates::{CaseSuccesses, Flip, SuccessRate};
pub use analysis::tags::TagResult;
pub use analysis::unanswered::Unanswered;
pub use cases::call_checks::CallChecks;
pub use cases::case::{AttributesById, Case, CaseAttributes, UserMessage};
pub use cases::case_problems::{CasePlace, CaseProblem, CheckedCase, case_problems, check_case};
pub use cases::expected_calls::ExpectedCalls;
pub use cases::user::SimulatedUser;
pub use error::ExperimentError;
pub use evaluation::{EvaluatorUse, Judgement, Preference};
pub use experiment::{
    ArmSource, CaseText, DeclaredExperiment, Experiment, ExperimentOptions, FinishedExperiment,
    ProgressBar, merge_parts,
};
pub use grading::grader::Grader;
pub use method::Method;
pub use outcome::{Outcome, UnknownOutcome};
pub use report::Report;
pub use run::{Run, RunMetrics, RunSummary};
pub use running::arms::{ArmParts, HostFunction, recordings};
pub use running::manifest::{ArmManifest, BaselineTimes, Difference, ExperimentManifest};
pub use running::plan::{Plan, PlannedRun, Shard};
pub use running::runner::{Progress, StopReason};
