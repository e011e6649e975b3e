//! Comparison of the arms of an experiment.

use serde::{Deserialize, Serialize, Serializer};

use crate::monitor::SequentialMonitor;
use crate::outcome::Outcome;
use crate::run_stats::{RunStats, RunSummary};
use paired_stats::{
    Interval, Resampling, Shift, SuccessDifference, bca_mean, hodges_lehmann, holm, mean, median,
    pass_at_k, pass_hat_k, quantile, success_difference, wilcoxon, wilson,
};

/// How arms are compared.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Method {
    /// The confidence level, between 0 and 1.
    pub level: f64,
    /// The smallest difference of success that matters, as a fraction.
    pub margin: f64,
    /// The number of bootstrap resamples.
    pub resamples: usize,
    /// The seed of resampling.
    pub seed: u64,
    /// Whether the experiment is monitored sequentially and stops at a decision.
    pub sequential: bool,
}

impl Default for Method {
    fn default() -> Self {
        Self { level: 0.95, margin: 0.05, resamples: 10_000, seed: 0, sequential: false }
    }
}

impl Method {
    fn resampling(&self) -> Resampling {
        Resampling { resamples: self.resamples, seed: self.seed, level: self.level }
    }
}

/// The comparison of an arm with the first arm in one outcome.
#[derive(Debug, Clone, Serialize)]
pub struct Comparison {
    /// The arm.
    pub arm: String,
    /// The first arm.
    pub against: String,
    /// The outcome.
    pub outcome: Outcome,
    /// The number of cases with this outcome.
    pub cases: usize,
    /// The mean paired difference, this arm minus the first. A fraction for success.
    pub estimate: f64,
    /// The confidence interval of the difference.
    #[serde(serialize_with = "pair")]
    pub interval: Interval,
    /// The p-value of the difference.
    pub p_value: f64,
    /// The p-value adjusted for multiple arms (Holm).
    pub adjusted_p_value: f64,
    /// The statistical methods.
    pub method: &'static str,
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
    #[serde(serialize_with = "pair")]
    pub interval: Interval,
}

/// A summary of the values of an arm's runs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Spread {
    /// The mean.
    pub mean: f64,
    /// The median.
    pub median: f64,
    /// The 95th percentile.
    pub p95: f64,
}

/// The success rate of an arm.
#[derive(Debug, Clone, Serialize)]
pub struct SuccessRate {
    /// The arm.
    pub arm: String,
    /// The number of runs of cases that are finished in all arms.
    pub runs: u64,
    /// The number of successful runs.
    pub successes: u64,
    /// The Wilson interval of the rate, without repeats.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "maybe_pair")]
    pub interval: Option<Interval>,
    /// pass@k: the probability that one of k runs succeeds, for k from 1, with repeats.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pass_at: Vec<f64>,
    /// pass^k: the probability that all of k runs succeed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pass_all: Vec<f64>,
}

/// A case that one arm wins and another loses.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Flip {
    /// The case.
    pub case: String,
    /// The winning arm, in which more than half of the runs succeed.
    pub winner: String,
    /// The losing arm.
    pub loser: String,
    /// The places of a successful run of the winner and a failed run of the loser.
    #[serde(skip)]
    pub runs: [usize; 2],
}

/// Serializes an interval. JSON has null for ends that are not finite.
fn pair<S: Serializer>(value: &Interval, serializer: S) -> Result<S::Ok, S::Error> {
    [value.low, value.high].serialize(serializer)
}

#[expect(clippy::ref_option, reason = "serde passes fields so")]
fn maybe_pair<S: Serializer>(value: &Option<Interval>, serializer: S) -> Result<S::Ok, S::Error> {
    value.map(|interval| [interval.low, interval.high]).serialize(serializer)
}

/// Compares all arms with the first in all known outcomes. Only cases that are finished in all arms
/// count.
pub(crate) fn compare(
    stats: &RunStats,
    names: &[String],
    monitor: Option<&SequentialMonitor>,
    method: &Method,
) -> Vec<Comparison> {
    let mut all = Vec::new();
    for outcome in Outcome::ALL {
        let mut of_outcome: Vec<_> = (1..names.len())
            .filter_map(|arm| one(stats, names, arm, outcome, monitor, method))
            .collect();
        let p_values: Vec<_> = of_outcome.iter().map(|it| it.p_value).collect();
        for (comparison, adjusted) in of_outcome.iter_mut().zip(holm(&p_values)) {
            comparison.adjusted_p_value = adjusted;
        }
        all.append(&mut of_outcome);
    }
    all
}

/// The paired differences, and the values of both arms.
struct PairedValues {
    differences: Vec<f64>,
    first: Vec<f64>,
    second: Vec<f64>,
}

fn pairs(stats: &RunStats, arm: usize, outcome: Outcome) -> PairedValues {
    let mut pairs = PairedValues { differences: Vec::new(), first: Vec::new(), second: Vec::new() };
    for block in stats.complete_cases() {
        let values = |wanted: usize| {
            let of_arm = stats.block(block).filter(|run| run.1 == wanted);
            of_arm.map(|run| outcome.value_of(run.3)).collect::<Option<Vec<_>>>()
        };
        if let (Some(first), Some(second)) = (values(0), values(arm)) {
            pairs.differences.push(mean(&second) - mean(&first));
            pairs.first.extend(first);
            pairs.second.extend(second);
        }
    }
    pairs
}

fn one(
    stats: &RunStats,
    names: &[String],
    arm: usize,
    outcome: Outcome,
    monitor: Option<&SequentialMonitor>,
    method: &Method,
) -> Option<Comparison> {
    let PairedValues { differences, first, second } = pairs(stats, arm, outcome);
    if differences.is_empty() {
        return None;
    }
    let how = &method.resampling();
    let seen = monitor.filter(|_| outcome == Outcome::Success).and_then(|monitor| monitor.of(arm));
    let (mut cases, mut estimate) = (differences.len(), mean(&differences));
    let (interval, p_value, told, shift);
    if let Some((looked, difference, valid, p)) = seen {
        cases = usize::try_from(looked).unwrap_or(usize::MAX);
        estimate = difference;
        (interval, p_value, shift) = (valid, p, None);
        told = "paired difference; confidence sequence and p-value by betting, valid at every look";
    } else if outcome == Outcome::Success {
        shift = None;
        SuccessDifference { interval, p_value } = success_difference(&differences, how.level);
        told = "paired difference of cases; adjusted Wald interval over cases and its t-test";
    } else {
        // A bootstrap of so few cases says nothing.
        interval = if differences.len() < MIN_BOOTSTRAP_CASES {
            Interval { low: f64::NAN, high: f64::NAN }
        } else {
            bca_mean(&differences, how)
        };
        p_value = wilcoxon(&differences);
        let Shift { estimate, interval } = hodges_lehmann(&differences, how.level);
        shift = Some(ShiftEstimate { estimate, interval });
        told = "paired difference of cases; BCa bootstrap over cases, Wilcoxon signed-rank test";
    }
    Some(Comparison {
        arm: names[arm].clone(),
        against: names[0].clone(),
        outcome,
        cases,
        estimate,
        interval,
        p_value,
        adjusted_p_value: p_value,
        method: told,
        shift,
        first: Spread::of(&first),
        second: Spread::of(&second),
    })
}

impl Spread {
    fn of(values: &[f64]) -> Self {
        Self { mean: mean(values), median: median(values), p95: quantile(values, 0.95) }
    }
}

const MIN_BOOTSTRAP_CASES: usize = 6;

/// The paired differences of success of an arm and the first, by case.
pub(crate) fn success_differences(stats: &RunStats, arm: usize) -> Vec<f64> {
    pairs(stats, arm, Outcome::Success).differences
}

/// The success rate of each arm. Empty if no case has an expectation.
pub(crate) fn rates(stats: &RunStats, names: &[String], level: f64) -> Vec<SuccessRate> {
    let repeats = u64::from(stats.plan().repeats);
    let rate = |(arm, name): (usize, &String)| {
        let mut rate = SuccessRate {
            arm: name.clone(),
            runs: 0,
            successes: 0,
            interval: None,
            pass_at: Vec::new(),
            pass_all: Vec::new(),
        };
        let mut by_case = Vec::new();
        for block in stats.complete_cases() {
            let runs = stats.block(block).filter(|run| run.1 == arm);
            let known: Option<Vec<bool>> = runs.map(|run| run.3.success).collect();
            let Some(known) = known else { continue };
            let successes = known.iter().filter(|success| **success).count() as u64;
            rate.runs += known.len() as u64;
            rate.successes += successes;
            by_case.push(successes);
        }
        if repeats == 1 {
            rate.interval = Some(wilson(rate.successes, rate.runs, level));
        } else {
            let over = |pass: fn(u64, u64, u64) -> Option<f64>, k: u64| {
                let values = by_case.iter().filter_map(|&successes| pass(repeats, successes, k));
                mean(&values.collect::<Vec<_>>())
            };
            rate.pass_at = (1..=repeats).map(|k| over(pass_at_k, k)).collect();
            rate.pass_all = (1..=repeats).map(|k| over(pass_hat_k, k)).collect();
        }
        (rate.runs > 0).then_some(rate)
    };
    names.iter().enumerate().filter_map(rate).collect()
}

/// The cases that one arm wins and another loses, in the order of the plan.
pub(crate) fn flips(stats: &RunStats, names: &[String]) -> Vec<Flip> {
    let mut flips = Vec::new();
    for block in stats.complete_cases() {
        let wins = |arm: usize| {
            let runs: Vec<(usize, bool)> = stats
                .block(block)
                .filter(|run| run.1 == arm)
                .filter_map(|(place, _, _, run): (_, _, _, &RunSummary)| {
                    Some((place, run.success?))
                })
                .collect();
            let wins = 2 * runs.iter().filter(|run| run.1).count() > runs.len();
            let shown = runs.iter().find(|run| run.1 == wins).map(|run| run.0);
            shown.map(|place| (wins, place))
        };
        let Some(first) = wins(0) else { continue };
        for (arm, name) in names.iter().enumerate().skip(1) {
            let Some(second) = wins(arm).filter(|second| second.0 != first.0) else { continue };
            let ((winner, won), (loser, lost)) = if first.0 {
                ((&names[0], first.1), (name, second.1))
            } else {
                ((name, second.1), (&names[0], first.1))
            };
            flips.push(Flip {
                case: stats.name(block).to_owned(),
                winner: winner.clone(),
                loser: loser.clone(),
                runs: [won, lost],
            });
        }
    }
    flips
}

/// The histogram of an outcome by arm, for charts.
#[derive(Debug, Clone)]
pub(crate) struct Histogram {
    /// The outcome.
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
pub(crate) fn histograms(stats: &RunStats, arms: usize) -> Vec<Histogram> {
    let mut all = Vec::new();
    for outcome in Outcome::ALL.into_iter().filter(|it| *it != Outcome::Success) {
        let mut values = vec![Vec::new(); arms];
        for (_, arm, _, run) in stats.complete_cases().flat_map(|block| stats.block(block)) {
            values[arm].extend(outcome.value_of(run));
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
