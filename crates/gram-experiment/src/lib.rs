//! Experiments: the same agent on two libraries or more, case by case, with honest statistics.
//!
//! An experiment is a [`Plan`] of runs: each case in each arm, so many times, in an order that a seed
//! gives. [`run`] does what is not done yet and writes each finished run into a [`Journal`], so that an
//! experiment that was broken off goes on. A [`Report`] compares the arms.

mod about;
mod analysis;
mod arms;
mod case;
mod gate;
mod grade;
mod journal;
mod outcome;
mod page;
mod plan;
mod record;
mod replies;
mod report;
mod runner;
mod sequel;
mod table;
mod tally;
mod verdict;

use std::fmt;

pub use about::{About, ArmAbout, Difference, hash};
pub use analysis::{Comparison, Flip, Method, Rate, Shifted, Spread};
pub use arms::{Declared, differences};
pub use case::Case;
pub use gate::Gate;
pub use grade::Grader;
pub use journal::Journal;
pub use outcome::Outcome;
pub use plan::{Plan, Shard, Slot};
pub use record::{Measures, Run};
pub use replies::Replies;
pub use report::Report;
pub use runner::{Arm, Price, Progress, Running, Stop, run, unpriced};
pub use sequel::Looks;
pub use tally::{Measured, Tally};

/// Why an experiment cannot be made, run or reported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExperimentError(String);

impl ExperimentError {
    pub(crate) fn new(what: impl Into<String>) -> Self {
        Self(what.into())
    }
}

impl fmt::Display for ExperimentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ExperimentError {}
