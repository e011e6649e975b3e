//! The statistical settings of an experiment.

use serde::{Deserialize, Serialize};

use crate::outcome::Outcome;

/// How arms are compared.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Method {
    /// The confidence level, between 0 and 1.
    pub level: f64,
    /// The smallest difference of success that matters, as a fraction.
    pub margin: f64,
    /// Whether the experiment is monitored sequentially and stops at a decision.
    pub sequential: bool,
    /// The outcome that decides. Those of all others are adjusted for their number. Without it, no
    /// outcome is adjusted for the others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub primary: Option<Outcome>,
}

impl Default for Method {
    fn default() -> Self {
        Self { level: 0.95, margin: 0.05, sequential: false, primary: None }
    }
}

impl Method {
    /// Whether success decides.
    pub fn judges_success(&self) -> bool {
        self.primary.is_none_or(|outcome| outcome == Outcome::Success)
    }

    /// The level of each comparison, at which all comparisons of an outcome hold together.
    pub fn level_of_each(&self, arms: usize) -> f64 {
        1.0 - (1.0 - self.level) / comparisons(arms)
    }
}

/// The number of comparisons of an outcome.
#[expect(clippy::cast_precision_loss, reason = "there are few arms")]
pub(crate) fn comparisons(arms: usize) -> f64 {
    arms.saturating_sub(1).max(1) as f64
}
