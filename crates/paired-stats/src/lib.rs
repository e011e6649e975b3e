//! The statistics of paired experiments: two arms, the same cases, repeats.
//!
//! All functions are pure: what is random comes from a seed, so the same numbers give the same
//! answer, on any machine and on any number of threads. All are total, too: whatever they are given,
//! they answer and come to an end. Where nothing can be said (no case, a value that is no number, a
//! level that is not between 0 and 1), the answer is NaN or `None`, as each of them says.
//!
//! A difference is always that of a case, the second arm less the first. With repeats, it is the
//! difference of the two means of the case: repeats of one case are no new cases. What each method
//! means to the reader of a report, and how often its intervals hold what they should, stands in
//! `grammar/statistics.md`.
//!
//! ```
//! use paired_stats::{Resampling, Table, bca_mean, mcnemar_exact, newcombe};
//!
//! // Of 100 cases, both arms succeed in 60, the first one alone in 4, the second one alone in 16.
//! let table = Table { both: 60, first_only: 4, second_only: 16, neither: 20 };
//! assert!(mcnemar_exact(table.first_only, table.second_only) < 0.05);
//! let difference = newcombe(&table, 0.95);
//! assert!(difference.low > 0.03 && difference.contains(0.12));
//!
//! // The tokens that the second arm took more or less than the first one, case by case.
//! let tokens = [-310.0, -120.0, -95.0, 40.0, -220.0, -180.0, -15.0, -260.0];
//! assert!(bca_mean(&tokens, &Resampling::default()).high < 0.0);
//! ```

#![allow(
    clippy::cast_precision_loss,
    reason = "counts stay far below 2^53, and where they do not, the last digits matter to nobody"
)]

mod binomial;
mod bootstrap;
mod lattice;
mod normal;
mod paired;
mod power;
mod proportions;
mod ranks;
mod sampling;
mod sequential;
mod signs;
#[cfg(test)]
mod tests;

use serde::Serialize;

pub use bootstrap::bca_mean;
pub use paired::{holm, mean, median, quantile};
pub use power::{cases_needed, cases_needed_mean, detectable};
pub use proportions::{Table, mcnemar_exact, newcombe, pass_at_k, pass_hat_k, wilson};
pub use ranks::{Shift, hodges_lehmann, wilcoxon};
pub use sequential::Sequential;
pub use signs::sign_flip;

/// What a quantity lies between, at some level of confidence.
///
/// Both ends are NaN where there is no such interval; JSON has null for them then.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Interval {
    /// The lower end, which belongs to the interval.
    pub low: f64,
    /// The upper end, which belongs to it, too.
    pub high: f64,
}

impl Interval {
    /// Where there is nothing to say.
    const NONE: Self = Self { low: f64::NAN, high: f64::NAN };

    /// Whether a value lies in it.
    pub fn contains(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }

    fn map(self, change: impl Fn(f64) -> f64) -> Self {
        Self { low: change(self.low), high: change(self.high) }
    }
}

/// How the methods resample that do.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Resampling {
    /// How many samples are drawn. A million is the most; more are not drawn.
    pub resamples: usize,
    /// What the random numbers come from.
    pub seed: u64,
    /// How often intervals should hold the true value, between 0 and 1.
    pub level: f64,
}

impl Default for Resampling {
    /// 10,000 samples, seed 0, 95 %.
    fn default() -> Self {
        Self { resamples: 10_000, seed: 0, level: 0.95 }
    }
}

impl Resampling {
    /// The most samples that are drawn: their means take eight megabytes.
    const MOST: usize = 1_000_000;

    fn count(&self) -> usize {
        self.resamples.min(Self::MOST)
    }
}

/// The probability that an interval of this level leaves out on each side. `None` where the level is
/// not between 0 and 1.
fn tail(level: f64) -> Option<f64> {
    (level > 0.0 && level < 1.0).then_some(f64::midpoint(1.0, -level))
}

/// The values, divided by the largest among them, and that largest, so that no sum and no power of
/// them overflows. `None` where one of them is no finite number.
fn scaled(values: &[f64]) -> Option<(Vec<f64>, f64)> {
    let largest = values.iter().fold(0.0_f64, |most, value| most.max(value.abs()));
    if !values.iter().all(|value| value.is_finite()) {
        return None;
    }
    let scale = if largest > 0.0 { largest } else { 1.0 };
    Some((values.iter().map(|value| value / scale).collect(), scale))
}
