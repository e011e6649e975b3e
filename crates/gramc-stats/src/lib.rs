//! The statistics of paired experiments: two arms, the same cases, repeats.
//!
//! All functions are pure: nothing is drawn, so the same input gives the same result on any machine.
//! All functions are total: for invalid input (no cases, a
//! value that is not finite, a level that is not between 0 and 1) the result is NaN or `None`, as
//! documented.
//!
//! A difference is the second arm minus the first, for one case. With repeats, it is the difference
//! of the two means of the case: repeats of a case are not independent cases. `docs/statistics.md`
//! explains how to read each method, with the measured coverage of its intervals.
//!
//! ```
//! use gramc_stats::{mean_difference, success_difference};
//!
//! // Of 100 cases, only the first arm succeeds in 4, only the second in 16.
//! let differences = [vec![-1.0; 4], vec![1.0; 16], vec![0.0; 80]].concat();
//! let success = success_difference(&differences, 0.95);
//! assert!(success.p_value < 0.05);
//! assert!(success.interval.low > 0.02 && success.interval.contains(0.12));
//!
//! // The difference in tokens for each case.
//! let tokens = [-310.0, -120.0, -95.0, 40.0, -220.0, -180.0, -15.0, -260.0];
//! assert!(mean_difference(&tokens, 0.95).interval.high < 0.0);
//! ```

#![allow(
    clippy::cast_precision_loss,
    reason = "counts stay far below 2^53, and beyond it the last digits are irrelevant"
)]

mod clustered;
mod means;
mod normal;
mod paired;
mod power;
mod proportions;
mod ranks;
mod sequential;
#[cfg(test)]
mod tests;
mod trend;

use serde::Serialize;

pub use clustered::{MeanDifference, success_difference};
pub use means::{
    anytime_mean, cluster_units, clustered_rate, mean_difference, relative_difference,
};
pub use paired::{mean, median, quantile};
pub use power::{cases_needed_mean, detectable_mean};
pub use proportions::{cohens_kappa, mcnemar_exact, pass_at_k, pass_hat_k, wilson};
pub use ranks::{Shift, hodges_lehmann, wilcoxon};
pub use sequential::Sequential;
pub use trend::{Trend, trend};

/// A confidence interval.
///
/// Both ends are NaN if there is no interval. In JSON it is a list of both ends, null if they are NaN.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(into = "[f64; 2]")]
pub struct Interval {
    /// The lower end, inclusive.
    pub low: f64,
    /// The upper end, inclusive.
    pub high: f64,
}

impl From<Interval> for [f64; 2] {
    fn from(interval: Interval) -> Self {
        [interval.low, interval.high]
    }
}

impl Interval {
    /// No interval.
    pub const NONE: Self = Self { low: f64::NAN, high: f64::NAN };

    /// Whether a value is in the interval.
    pub fn contains(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }

    fn map(self, change: impl Fn(f64) -> f64) -> Self {
        Self { low: change(self.low), high: change(self.high) }
    }
}

/// The probability outside the interval on each side. `None` if the level is not between 0 and 1.
fn tail(level: f64) -> Option<f64> {
    (level > 0.0 && level < 1.0).then_some(f64::midpoint(1.0, -level))
}

/// The values divided by the largest absolute value, and that value, so that sums and powers do not
/// overflow. `None` if a value is not finite.
fn scale(values: &[f64]) -> Option<(Vec<f64>, f64)> {
    let largest = values.iter().fold(0.0_f64, |most, value| most.max(value.abs()));
    if !values.iter().all(|value| value.is_finite()) {
        return None;
    }
    let scale = if largest > 0.0 { largest } else { 1.0 };
    Some((values.iter().map(|value| value / scale).collect(), scale))
}
