//! Verdicts of experiments.

use serde::Serialize;

use crate::analysis::{Comparison, Method, success_differences};
use crate::outcome::Outcome;
use crate::run_stats::RunStats;
use paired_stats::{Interval, cases_needed_mean, planning_variance};

/// The power that estimates of additional cases assume.
pub(crate) const POWER: f64 = 0.8;

/// The verdict on all arms.
pub(crate) fn verdict(stats: &RunStats, comparisons: &[Comparison], method: &Method) -> String {
    let of_success: Vec<_> =
        comparisons.iter().filter(|it| it.outcome == Outcome::Success).collect();
    if comparisons.is_empty() {
        return "no case is finished in all arms".to_owned();
    }
    if of_success.is_empty() {
        return "success is unknown because no case has an expectation".to_owned();
    }
    let several = of_success.len() > 1;
    let sentences = of_success.iter().zip(1..).map(|(comparison, arm)| {
        let sentence = sentence(stats, comparison, arm, method);
        if several && !sentence.starts_with(&comparison.arm) {
            format!("{}: {sentence}", comparison.arm)
        } else {
            sentence
        }
    });
    sentences.collect::<Vec<_>>().join("; ")
}

/// Whether a difference is significant by both its interval and its p-value.
pub(crate) fn is_clear(comparison: &Comparison, level: f64) -> bool {
    let Interval { low, high } = comparison.interval;
    comparison.adjusted_p_value < 1.0 - level && (low > 0.0 || high < 0.0)
}

fn sentence(stats: &RunStats, comparison: &Comparison, arm: usize, method: &Method) -> String {
    let Interval { low, high } = comparison.interval;
    let points = |fraction: f64| format!("{:.1}", 100.0 * fraction).replace('-', "−");
    if is_clear(comparison, method.level) {
        let (word, low, high) =
            if comparison.estimate > 0.0 { ("better", low, high) } else { ("worse", -high, -low) };
        return format!(
            "{} {word} by {} points ({} % interval {} to {})",
            comparison.arm,
            points(comparison.estimate.abs()),
            percent(method.level),
            points(low),
            points(high),
        );
    }
    let widest = low.abs().max(high.abs());
    if widest <= method.margin {
        // Rounded up, so that the rounded statement is true.
        return format!("no difference larger than {} points", points((widest * 1e3).ceil() / 1e3));
    }
    let margin = percent(method.margin);
    match more(stats, comparison, arm, method) {
        Some(more) if more > 0 && !method.sequential => {
            format!("not enough cases: {more} more for {margin} points")
        }
        _ => format!("no clear difference: between {} and {} points", points(low), points(high)),
    }
}

/// The additional cases that an experiment needs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Planning {
    /// The number of additional cases, with as many repeats as before.
    pub more_cases: u64,
    /// The difference of success to detect, as a fraction.
    pub difference: f64,
    /// The probability of detecting it.
    pub power: f64,
}

/// The number of additional cases needed to detect a difference as large as the margin, for the arm
/// that needs the most. `None` without data on success.
pub(crate) fn planning(
    stats: &RunStats,
    comparisons: &[Comparison],
    method: &Method,
) -> Option<Planning> {
    let of_success = comparisons.iter().filter(|it| it.outcome == Outcome::Success);
    let needed = of_success.zip(1..).filter_map(|(it, arm)| more(stats, it, arm, method));
    let more_cases = needed.max()?;
    Some(Planning { more_cases, difference: method.margin, power: POWER })
}

/// The number of additional cases needed to detect a difference as large as the margin.
fn more(stats: &RunStats, comparison: &Comparison, arm: usize, method: &Method) -> Option<u64> {
    // A difference as large as the margin implies at least this variance: some cases differ in all
    // repeats, or more cases in one of them.
    let least = method.margin / f64::from(stats.plan().repeats.max(1));
    let variance = planning_variance(&success_differences(stats, arm)).max(least);
    let needed = cases_needed_mean(method.margin, variance.sqrt(), 1.0 - method.level, POWER)?;
    Some(needed.saturating_sub(comparison.cases as u64))
}

/// A fraction in percent, with at most two decimals.
pub(crate) fn percent(fraction: f64) -> String {
    let percent = (1e4 * fraction).round() / 1e2;
    percent.to_string()
}

#[cfg(test)]
mod tests {
    use crate::report::Report;
    use crate::run_stats::tests::{manifest, stats};
    use crate::runner::StopReason;

    fn verdict(arms: &[&str], cases: usize, repeats: u32, of: fn(usize, usize) -> bool) -> String {
        let manifest = manifest(arms, cases, repeats);
        let stats = stats(&manifest, of);
        Report::new(manifest, &stats, None, &StopReason::Done).verdict
    }

    #[test]
    fn verdicts_claim_no_more_than_the_numbers() {
        let two = ["control", "treatment"];
        let better = verdict(&two, 100, 1, |case, arm| arm == 1 || case % 5 > 0);
        assert_eq!(better, "treatment better by 20.0 points (95 % interval 11.3 to 27.9)");
        let worse = verdict(&two, 100, 3, |case, arm| arm == 0 || case % 5 > 0);
        assert!(worse.starts_with("treatment worse by 20.0 points (95 % interval "), "{worse}");
        let same = verdict(&two, 100, 1, |case, _| case % 2 == 0);
        assert_eq!(same, "no difference larger than 2.8 points");
        let few = verdict(&two, 10, 1, |case, arm| case > 1 || arm == 1 && case == 0);
        assert!(few.starts_with("not enough cases: "), "{few}");
        assert!(few.ends_with(" more for 5 points"), "{few}");
        assert_eq!(verdict(&two, 0, 1, |_, _| true), "no case is finished in all arms");
    }

    #[test]
    fn equal_cases_are_not_enough_whatever_their_repeats() {
        let needed = |repeats| {
            let manifest = manifest(&["a", "b"], 5, repeats);
            let stats = stats(&manifest, |_, _| true);
            let planning = Report::new(manifest, &stats, None, &StopReason::Done).planning;
            planning.map_or(0, |planning| planning.more_cases + 5)
        };
        let once = needed(1);
        assert!(once > 200, "{once}");
        for repeats in [2, 5] {
            assert!(needed(repeats) * u64::from(repeats) >= once, "{repeats}");
        }
    }

    #[test]
    fn several_arms_are_told_apart() {
        let all = verdict(&["a", "b", "c"], 100, 1, |case, arm| arm != 1 || case % 4 > 0);
        let (b, c) = all.split_once("; ").unwrap_or_default();
        assert!(b.starts_with("b worse by 25.0 points"), "{all}");
        assert_eq!(c, "c: no difference larger than 2.8 points");
    }
}
