//! Comparison of the arms of an experiment.

use serde::Serialize;

use crate::analysis::counted::CountedCases;
use crate::method::{Method, comparisons};
use crate::outcome::Outcome;
use crate::running::monitor::SequentialMonitor;
use gramc_stats::{
    Interval, MeanDifference, Shift, anytime_mean, hodges_lehmann, mean, mean_difference, median,
    quantile, relative_difference, success_difference, wilcoxon,
};

/// The comparison of an arm with the first arm in one outcome.
#[derive(Debug, Clone, Serialize)]
pub struct Comparison {
    pub arm: String,
    /// The first arm.
    pub against: String,
    pub outcome: Outcome,
    /// The number of cases with this outcome.
    pub cases: usize,
    /// The number of units: clusters, and cases without one.
    pub units: usize,
    /// The mean paired difference, this arm minus the first. A fraction for success.
    pub estimate: f64,
    /// The confidence interval of the difference.
    pub interval: Interval,
    /// The p-value of the difference.
    pub p_value: f64,
    /// The p-value adjusted for the number of arms and, with a primary outcome, of the other outcomes
    /// (Bonferroni), as the interval is.
    pub adjusted_p_value: f64,
    /// The statistical methods.
    pub method: &'static str,
    /// The interval of the relative difference of the means, for gates in percent. It accounts for the
    /// uncertainty of the first mean.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub relative: Option<Interval>,
    /// The Hodges-Lehmann shift, for outcomes other than success.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shift: Option<ShiftEstimate>,
    /// The distribution in the first arm.
    pub first: Spread,
    /// The distribution in this arm.
    pub second: Spread,
}

/// A Hodges-Lehmann shift.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct ShiftEstimate {
    /// The estimate, in the unit of the outcome.
    pub estimate: f64,
    /// The confidence interval.
    pub interval: Interval,
    /// The p-value of Wilcoxon's signed-rank test of the shift.
    pub p_value: f64,
}

/// A summary of the values of an arm's runs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Spread {
    pub mean: f64,
    pub median: f64,
    /// The 95th percentile.
    pub p95: f64,
}

/// Compares all arms with the first in all known outcomes, in the cases that count.
pub(crate) fn compare(
    cases: &CountedCases<'_>,
    names: &[String],
    monitor: Option<&SequentialMonitor>,
    method: &Method,
) -> Vec<Comparison> {
    let mut known: Vec<_> = Outcome::ALL.into_iter().filter(|it| cases.has(*it)).collect();
    // The primary outcome comes first.
    known.sort_by_key(|outcome| method.primary.is_some_and(|primary| primary != *outcome));
    let of_outcome = |outcome| {
        // Bonferroni: the intervals hold together, and agree with the adjusted p-values.
        let others =
            if method.primary.is_none_or(|it| it == outcome) { 1 } else { known.len() - 1 };
        #[expect(clippy::cast_precision_loss, reason = "outcomes are few")]
        let tests = comparisons(names.len()) * others as f64;
        (1..names.len())
            .filter_map(move |arm| compare_arm(cases, names, arm, outcome, tests, monitor, method))
    };
    known.iter().copied().flat_map(of_outcome).collect()
}

/// Compares an arm with the first. `tests` is the number of tests that hold together.
fn compare_arm(
    cases: &CountedCases<'_>,
    names: &[String],
    arm: usize,
    outcome: Outcome,
    tests: f64,
    monitor: Option<&SequentialMonitor>,
    method: &Method,
) -> Option<Comparison> {
    let units = cases.pairs(arm, outcome);
    if units.cases == 0 {
        return None;
    }
    let level = 1.0 - (1.0 - method.level) / tests;
    let found = &units.differences;
    let seen = monitor.filter(|_| outcome == Outcome::Success).and_then(|monitor| monitor.of(arm));
    let unless_few = |least: usize, test: fn(&[f64], f64) -> MeanDifference| match found.len() {
        few if few < least => MeanDifference::NONE,
        _ => test(found, level),
    };
    let (mut shift, mut relative) = (None, None);
    let (MeanDifference { interval, p_value }, told) = if let Some(seen) = seen {
        (seen, "paired difference; confidence sequence and p-value by betting, valid at every look")
    } else if method.sequential {
        (
            unless_few(MIN_SEQUENTIAL_UNITS, anytime_mean),
            "paired difference of cases; asymptotic confidence sequence, valid at every look",
        )
    } else if outcome.is_share() {
        (
            success_difference(found, level),
            "paired difference of cases; adjusted Wald interval over cases and its t-test",
        )
    } else {
        relative = (found.len() >= MIN_UNITS)
            .then(|| relative_difference(&units.first, &units.second, level));
        shift = units.is_plain.then(|| ShiftEstimate::of(&units.of_cases, level, tests));
        let found = unless_few(MIN_UNITS, mean_difference);
        (found, "paired difference of cases; Student's t over cases")
    };
    Some(Comparison {
        arm: names[arm].clone(),
        against: names[0].clone(),
        outcome,
        cases: units.cases,
        units: units.differences.len(),
        estimate: mean(&units.differences),
        interval,
        p_value,
        // `min` would make 1 of nothing.
        adjusted_p_value: if p_value.is_nan() { p_value } else { (p_value * tests).min(1.0) },
        method: told,
        relative,
        shift,
        first: Spread::of(&units.first, &units.runs[0]),
        second: Spread::of(&units.second, &units.runs[1]),
    })
}

impl ShiftEstimate {
    fn of(differences: &[f64], level: f64, tests: f64) -> Self {
        let Shift { estimate, interval } = hodges_lehmann(differences, level);
        // Equal cases allow no conclusion.
        if interval.low < interval.high {
            Self { estimate, interval, p_value: (wilcoxon(differences) * tests).min(1.0) }
        } else {
            Self { estimate, interval: Interval::NONE, p_value: f64::NAN }
        }
    }
}

impl Spread {
    fn of(units: &[f64], runs: &[f64]) -> Self {
        Self { mean: mean(units), median: median(runs), p95: quantile(runs, 0.95) }
    }
}

/// The minimum number of units for an interval of unbounded numbers.
const MIN_UNITS: usize = 6;
/// The asymptotic confidence sequence holds from about so many units on.
const MIN_SEQUENTIAL_UNITS: usize = 30;

/// The histogram of an outcome by arm, for charts.
#[derive(Debug, Clone)]
pub(crate) struct Histogram {
    pub outcome: Outcome,
    /// The lower end of the first bin.
    pub low: f64,
    /// The upper end of the last bin, which includes higher values.
    pub high: f64,
    /// Counts by arm and bin.
    pub arms: Vec<Vec<u64>>,
}

const BINS: usize = 24;

/// The histograms of all outcomes that vary, except success.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "bins are few"
)]
pub(crate) fn histograms(cases: &CountedCases<'_>, arms: usize) -> Vec<Histogram> {
    let mut all = Vec::new();
    for outcome in Outcome::ALL.into_iter().filter(|it| !it.is_share()) {
        let mut values = vec![Vec::new(); arms];
        for run in cases.blocks.iter().flat_map(|block| cases.stats.block(*block)) {
            values[run.arm].extend(outcome.value_of(run.summary));
        }
        let every: Vec<f64> = values.iter().flatten().copied().collect();
        let (low, high) = (quantile(&every, 0.0), quantile(&every, 0.99));
        // Both are NaN without values.
        if low.partial_cmp(&high) != Some(std::cmp::Ordering::Less) {
            continue;
        }
        let bins = |values: &Vec<f64>| {
            let mut bins = vec![0; BINS];
            for value in values {
                let at = ((value - low) / (high - low) * BINS as f64) as usize;
                bins[at.min(BINS - 1)] += 1;
            }
            bins
        };
        all.push(Histogram { outcome, low, high, arms: values.iter().map(bins).collect() });
    }
    all
}
