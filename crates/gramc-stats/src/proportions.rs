//! Success rates and their differences between the arms.

use crate::{Interval, normal, tail};

/// Beyond so many trials, tails are those of the normal distribution with its correction for
/// continuity. It is off by one part in ten times the trials there, and the sum would take seconds.
const MAX_SUMMED: f64 = 1e10;

/// The two-sided p-value of McNemar's exact test, from the numbers of cases in which exactly one arm
/// succeeded. 1 if there are none.
///
/// Source: McNemar, Psychometrika 12 (1947); the exact form doubles the binomial tail.
pub fn mcnemar_exact(first_only: u64, second_only: u64) -> f64 {
    let (less, more) = (first_only.min(second_only) as f64, first_only.max(second_only) as f64);
    let trials = less + more;
    if trials > MAX_SUMMED {
        let z = (more - less - 1.0) / trials.sqrt();
        return (2.0 * normal::probability_above(z)).min(1.0);
    }
    // Probabilities in parts of the one in the middle, walking down from it: no logarithm, and
    // nothing that cancels. The walk ends where nothing is left that a number could hold.
    let middle = (trials / 2.0).floor();
    let (mut at, mut term) = (middle, 1.0);
    let (mut below, mut tail) = (0.0, 0.0);
    while at >= 0.0 && term >= f64::MIN_POSITIVE {
        if at <= less {
            tail += term;
        }
        below += term;
        term *= at / (trials - at + 1.0);
        at -= 1.0;
    }
    // Both halves are alike; an even number of trials has one in the middle that both would count.
    let alone = if trials % 2.0 == 0.0 { 1.0 } else { 0.0 };
    (2.0 * tail / (2.0 * below - alone)).min(1.0)
}

/// Wilson score interval of a success rate. NaN without trials, with more successes than trials, and
/// if the level is not between 0 and 1.
///
/// Source: Wilson, Journal of the American Statistical Association 22 (1927); no correction for
/// continuity.
pub fn wilson(successes: u64, trials: u64, level: f64) -> Interval {
    if trials == 0 || successes > trials {
        return Interval::NONE;
    }
    score(successes as f64, trials as f64, level)
}

/// Cohen's kappa of two raters: their agreement beyond that of chance, at most 1. `counts` has the
/// first rater's results in rows and the second's in columns. NaN if both raters give all the same.
///
/// Source: Cohen, Educational and Psychological Measurement 20 (1960).
pub fn cohens_kappa(counts: [[u64; 2]; 2]) -> f64 {
    let [[neither, second_only], [first_only, both]] = counts.map(|row| row.map(|it| it as f64));
    let all = neither + second_only + first_only + both;
    let (first, second) = (first_only + both, second_only + both);
    let chance = (first * second + (all - first) * (all - second)) / (all * all);
    ((neither + both) / all - chance) / (1.0 - chance)
}

pub(crate) fn score(successes: f64, trials: f64, level: f64) -> Interval {
    let Some(tail) = tail(level) else {
        return Interval::NONE;
    };
    let z = -normal::quantile(tail);
    let share = successes / trials;
    let weight = 1.0 + z * z / trials;
    let middle = (share + z * z / (2.0 * trials)) / weight;
    let variance = (share * (1.0 - share) + z * z / (4.0 * trials)) / trials;
    let reach = z * variance.sqrt() / weight;
    // The ends of nothing and of everything are known exactly.
    Interval {
        low: if successes == 0.0 { 0.0 } else { (middle - reach).max(0.0) },
        high: if successes >= trials { 1.0 } else { (middle + reach).min(1.0) },
    }
}

/// pass@k: the probability that at least one of `k` attempts succeeds, estimated from `successes` of
/// `trials`. `None` if `k` is 0 or more than the trials, or if there are more successes than trials.
///
/// The unbiased estimate of Chen et al., "Evaluating Large Language Models Trained on Code" (2021).
pub fn pass_at_k(trials: u64, successes: u64, k: u64) -> Option<f64> {
    are_possible(trials, successes, k).then(|| 1.0 - none_of(trials, successes, k))
}

/// pass^k: the probability that all of `k` attempts succeed, estimated from `successes` of `trials`.
/// `None` in the same cases as [`pass_at_k`].
///
/// The unbiased estimate of Yao et al., "τ-bench" (2024).
pub fn pass_hat_k(trials: u64, successes: u64, k: u64) -> Option<f64> {
    are_possible(trials, successes, k).then(|| none_of(trials, trials - successes, k))
}

fn are_possible(trials: u64, successes: u64, k: u64) -> bool {
    (1..=trials).contains(&k) && successes <= trials
}

/// The most factors that are multiplied.
const STEPS: u64 = 1_000_000;

/// How probable it is that `k` of `trials`, drawn without putting back, miss all that are `marked`.
fn none_of(trials: u64, marked: u64, k: u64) -> f64 {
    // The same in both: k drawn and some marked, or some drawn and k marked.
    let (few, many) = (marked.min(k), marked.max(k));
    if few > trials - many {
        return 0.0;
    }
    let share = |at: f64| 1.0 - many as f64 / (trials as f64 - at);
    if few <= STEPS {
        return (0..few).map(|at| share(at as f64)).product();
    }
    // For huge counts, a step covers the factors around its middle, which leaves some nine digits.
    let step = few as f64 / STEPS as f64;
    let logarithm = |at: u64| step * share((at as f64 + 0.5) * step - 0.5).ln();
    (0..STEPS).map(logarithm).sum::<f64>().exp()
}
