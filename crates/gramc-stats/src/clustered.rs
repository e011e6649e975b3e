//! The difference of success rates, with any number of repeats per case.

use statrs::distribution::{ContinuousCDF, StudentsT};

use crate::paired::sum;
use crate::{Interval, tail};

/// A confidence interval and the test that belongs to it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeanDifference {
    /// The interval of the difference.
    pub interval: Interval,
    /// The two-sided p-value. It is below `1 - level` exactly if the interval excludes 0.
    pub p_value: f64,
}

impl MeanDifference {
    /// No interval and no p-value.
    pub const NONE: Self = Self { interval: Interval::NONE, p_value: f64::NAN };

    /// Nothing, if an end overflows.
    pub(crate) fn finite(self) -> Self {
        let Interval { low, high } = self.interval;
        if low.is_finite() && high.is_finite() { self } else { Self::NONE }
    }
}

/// Pseudo-cases added in favor of each arm, as by Bonett and Price. With the 1/2 of Agresti and Min,
/// coverage is too low where most runs succeed (`tests/system/tests/clustered.rs`).
const PSEUDO_CASES: f64 = 1.0;
/// The number of cases with a difference of 1 that count towards the size of a pseudo-case. Without
/// them, a rare case that differs in all repeats is underestimated.
const PRIOR_CASES: f64 = 10.0;

/// Interval and test of the difference of success rates. `differences` has one number per case: the
/// difference of the two shares of successful runs. The case is the cluster, so any correlation
/// among its repeats is covered.
///
/// An adjusted Wald interval of the mean: pseudo-cases are added in favor of either arm (Agresti and
/// Min, Statistics in Medicine 24 (2005); Bonett and Price, Journal of Educational and Behavioral
/// Statistics 37 (2012)), and the quantile is that of Student's t. With repeats, a pseudo-case has
/// the size of the differences of this experiment, shrunk towards 1, the largest possible one.
///
/// Units of clusters of different sizes may be beyond -1 and 1. Then a pseudo-case is as large as the
/// largest of them.
///
/// NaN without cases, if a difference is not finite, and if the level is not between 0 and 1.
pub fn success_difference(differences: &[f64], level: f64) -> MeanDifference {
    let largest = differences.iter().fold(0.0_f64, |most, it| most.max(it.abs()));
    // Rounding may take a difference of means beyond 1.
    if largest > 1.0 + 1e-9 && largest.is_finite() {
        let scaled: Vec<f64> = differences.iter().map(|it| it / largest).collect();
        let MeanDifference { interval, p_value } = success_difference(&scaled, level);
        let interval = interval.map(|end| (end * largest).clamp(-1.0, 1.0));
        return MeanDifference { interval, p_value };
    }
    let Some(tail) = tail(level).filter(|_| are_valid(differences)) else {
        return MeanDifference::NONE;
    };
    let weight = differences.len() as f64 + 2.0 * PSEUDO_CASES;
    let Ok(distribution) = StudentsT::new(0.0, 1.0, weight - 1.0) else {
        return MeanDifference::NONE;
    };
    let center = sum(differences) / weight;
    // The pseudo-cases are at equal distances on both sides of 0.
    let pseudo = 2.0 * PSEUDO_CASES * (pseudo_square(differences) + center * center);
    let variance = (squares(differences, center) + pseudo) / (weight - 1.0);
    let error = (variance / weight).sqrt();
    let reach = error * -distribution.inverse_cdf(tail);
    MeanDifference {
        interval: Interval { low: (center - reach).max(-1.0), high: (center + reach).min(1.0) },
        p_value: (2.0 * distribution.cdf(-center.abs() / error)).min(1.0),
    }
}

fn are_valid(differences: &[f64]) -> bool {
    // Rounding may take a difference of means beyond 1.
    let largest = 1.0 + 1e-9;
    !differences.is_empty() && differences.iter().all(|it| it.abs() <= largest)
}

fn squares(values: &[f64], center: f64) -> f64 {
    sum(&values.iter().map(|it| (it - center).powi(2)).collect::<Vec<_>>())
}

/// The square of the size of a pseudo-case: the mean square of the differences that are not 0, with
/// some that are 1.
fn pseudo_square(differences: &[f64]) -> f64 {
    let differing = differences.iter().filter(|it| **it != 0.0).count() as f64;
    (squares(differences, 0.0) + PRIOR_CASES) / (differing + PRIOR_CASES)
}
