//! Mean differences of any kind of number, and ratios of means.

use statrs::distribution::{ContinuousCDF, StudentsT};

use crate::clustered::MeanDifference;
use crate::paired::sum;
use crate::{Interval, mean, normal, scale, tail};

/// The units of analysis: one number for each cluster of cases. Their plain mean is the weighted mean
/// of all cases, and their standard error is the cluster-robust one, so that every function for
/// independent cases can be used. A case that is its own cluster and has the weight of all others
/// keeps its value.
///
/// The linearization of a ratio estimator (Cochran, "Sampling Techniques", 1977, 6.3). `clusters`
/// has the number of each case's cluster, from 0. Empty if the lengths differ or a weight is not
/// positive.
pub fn cluster_units(values: &[f64], weights: &[f64], clusters: &[usize]) -> Vec<f64> {
    let is_valid = values.len() == weights.len()
        && values.len() == clusters.len()
        && weights.iter().all(|weight| *weight > 0.0 && weight.is_finite());
    let Some(count) = clusters.iter().max().map(|last| last + 1).filter(|_| is_valid) else {
        return Vec::new();
    };
    let total = sum(weights);
    let weighted: Vec<f64> = values.iter().zip(weights).map(|(it, weight)| it * weight).collect();
    let center = sum(&weighted) / total;
    let each = total / count as f64;
    // The weighted sum of each cluster, less the mean contribution of its excess weight.
    let mut sums = vec![(0.0, 0.0, 0_u64); count];
    for ((value, weight), cluster) in weighted.iter().zip(weights).zip(clusters) {
        let (sum, weights, cases) = &mut sums[*cluster];
        *sum += value;
        *weights += weight;
        *cases += 1;
    }
    if sums.iter().any(|it| it.2 == 0) {
        return Vec::new();
    }
    if sums.iter().all(|it| it.2 == 1) && weights.iter().all(|it| it.total_cmp(&weights[0]).is_eq())
    {
        // Without rounding.
        return values.to_vec();
    }
    sums.iter().map(|(sum, weight, _)| center + (sum - weight * center) / each).collect()
}

/// Interval and test of a mean difference: Student's t. `units` has one number per case or cluster.
///
/// Among the intervals that have been compared on skewed numbers (t, BCa and studentized bootstrap),
/// it has the best coverage below 50 cases and is close to the others beyond.
///
/// NaN where nothing can be said: fewer than two units, units that are all equal, numbers that are
/// not finite, and a level that is not between 0 and 1.
pub fn mean_difference(units: &[f64], level: f64) -> MeanDifference {
    let (Some((values, scale)), Some(tail)) = (scale(units), tail(level)) else {
        return MeanDifference::NONE;
    };
    let Some((center, error, distribution)) = standard_error(&values) else {
        return MeanDifference::NONE;
    };
    let reach = error * -distribution.inverse_cdf(tail);
    MeanDifference {
        interval: Interval { low: center - reach, high: center + reach }.map(|end| end * scale),
        p_value: (2.0 * distribution.cdf(-center.abs() / error)).min(1.0),
    }
    .finite()
}

/// The mean, its standard error, and the distribution of their ratio. `None` if all are equal.
fn standard_error(values: &[f64]) -> Option<(f64, f64, StudentsT)> {
    let first = values.first()?;
    // Equal values must not differ by rounding.
    if values.iter().all(|value| (value - first).abs() <= ROUNDING) {
        return None;
    }
    let count = values.len() as f64;
    let center = mean(values);
    let error = (covariance((values, center), (values, center)) / count).sqrt();
    let distribution = StudentsT::new(0.0, 1.0, count - 1.0).ok()?;
    (error > 0.0).then_some((center, error, distribution))
}

/// Rounding error of a mean of values of at most 1.
const ROUNDING: f64 = 1e-13;

fn covariance(one: (&[f64], f64), other: (&[f64], f64)) -> f64 {
    let products = one.0.iter().zip(other.0).map(|(a, b)| (a - one.1) * (b - other.1));
    sum(&products.collect::<Vec<_>>()) / (one.0.len() as f64 - 1.0)
}

/// Interval of the relative difference of two means, `mean(second) / mean(first) - 1`, of paired
/// units. It contains a ratio exactly if the t-test of `mean(second - ratio * first)` does not reject
/// it, so the mean of the first arm is not taken as exact (Fieller, Journal of the Royal Statistical
/// Society B 16 (1954)).
///
/// NaN if the mean of the first arm is not clearly above 0, and for the same units as
/// [`mean_difference`].
pub fn relative_difference(first: &[f64], second: &[f64], level: f64) -> Interval {
    let (Some((first, one)), Some((second, other)), Some(tail)) =
        (scale(first), scale(second), tail(level))
    else {
        return Interval::NONE;
    };
    let count = first.len() as f64;
    let Ok(distribution) = StudentsT::new(0.0, 1.0, count - 1.0) else {
        return Interval::NONE;
    };
    if first.len() != second.len()
        || (standard_error(&first).is_none() && standard_error(&second).is_none())
    {
        return Interval::NONE;
    }
    let [a, b] = [(&first[..], mean(&first)), (&second[..], mean(&second))];
    let limit = distribution.inverse_cdf(tail).powi(2) / count;
    let square = a.1 * a.1 - limit * covariance(a, a);
    let half = a.1 * b.1 - limit * covariance(a, b);
    let constant = b.1 * b.1 - limit * covariance(b, b);
    if square <= 0.0 || a.1 <= 0.0 {
        return Interval::NONE;
    }
    // It is not below 0, but for rounding.
    let reach = (half * half - square * constant).max(0.0).sqrt();
    let scale = other / one;
    Interval { low: (half - reach) / square, high: (half + reach) / square }
        .map(|ratio| ratio * scale - 1.0)
}

/// The number of cases for which [`anytime_mean`] is the narrowest.
const NARROWEST_AT: f64 = 200.0;

/// Interval and test of a mean difference that hold at every look: with probability `level`, no
/// interval from the first look to the last excludes the true mean. For differences without bounds.
///
/// The asymptotic confidence sequence of Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas, "Time-uniform
/// central limit theory and asymptotic confidence sequences", Annals of Statistics 52 (2024), equation
/// (8): a normal mixture with the estimated variance. Looks should begin after some cases.
///
/// NaN for the same units as [`mean_difference`].
pub fn anytime_mean(units: &[f64], level: f64) -> MeanDifference {
    let (Some((values, scale)), Some(_)) = (scale(units), tail(level)) else {
        return MeanDifference::NONE;
    };
    let Some((center, error, _)) = standard_error(&values) else {
        return MeanDifference::NONE;
    };
    let alpha = 1.0 - level;
    // The best mixture for a number of cases, by their equation (11), in their approximation.
    let best = (-2.0 * alpha.ln() + (-2.0 * alpha.ln() + 1.0).ln()) / NARROWEST_AT;
    let weight = values.len() as f64 * best + 1.0;
    let share = weight / (weight - 1.0);
    let reach = error * (share * (weight.ln() - 2.0 * alpha.ln())).sqrt();
    let evidence = (center / error).powi(2) / (2.0 * share) - weight.ln() / 2.0;
    MeanDifference {
        interval: Interval { low: center - reach, high: center + reach }.map(|end| end * scale),
        p_value: (-evidence).exp().min(1.0),
    }
    .finite()
}

/// Interval of a rate of success with repeats, or of the rate at which all of some runs succeed.
/// `units` has the rate of each case, or the units of [`cluster_units`]. `runs` is the maximum number of
/// runs that a case is worth.
///
/// Wilson's interval for the number of independent runs that are as precise as these (Korn and
/// Graubard, Survey Methodology 24 (1998)), with Student's t. If all cases are alike, a case is
/// worth one run. NaN without units and if the level is not between 0 and 1.
pub fn clustered_rate(units: &[f64], runs: f64, level: f64) -> Interval {
    let Some(tail) = tail(level).filter(|_| units.iter().all(|it| it.is_finite())) else {
        return Interval::NONE;
    };
    let cases = units.len() as f64;
    if units.is_empty() {
        return Interval::NONE;
    }
    let rate = mean(units).clamp(0.0, 1.0);
    let binary = rate * (1.0 - rate);
    let Ok(distribution) = StudentsT::new(0.0, 1.0, cases + PRIOR_CASES - 1.0) else {
        return Interval::NONE;
    };
    let z = -normal::quantile(tail);
    // The variance of a case is estimated, too: some cases are assumed whose runs are all alike.
    let squares = units.iter().map(|it| (it - rate).powi(2)).sum::<f64>();
    let variance = (squares + PRIOR_CASES * binary) / (cases + PRIOR_CASES - 1.0);
    let worth = if variance > 0.0 { binary / variance } else { 1.0 };
    let effective = cases * worth.clamp(1.0_f64.min(runs), runs.max(1.0));
    let effective = effective * (z / distribution.inverse_cdf(tail)).powi(2);
    crate::proportions::score(rate * effective, effective, level)
}

/// The number of cases whose runs are all alike that [`clustered_rate`] adds to the variance.
const PRIOR_CASES: f64 = 6.0;
