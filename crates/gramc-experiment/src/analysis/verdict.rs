//! Verdicts of experiments.

use crate::analysis::comparison::Comparison;
use crate::analysis::counted::CountedCases;
use crate::analysis::gate::equal_difference;
use crate::analysis::planning::planning_of;
use crate::method::Method;
use crate::outcome::Outcome;
use crate::text::percent;
use gramc_stats::Interval;

/// The verdict on all arms.
pub(crate) fn verdict(
    cases: &CountedCases<'_>,
    comparisons: &[Comparison],
    method: &Method,
) -> String {
    let primary = method.primary.unwrap_or(Outcome::Success);
    let of_primary: Vec<_> = comparisons.iter().filter(|it| it.outcome == primary).collect();
    if comparisons.is_empty() {
        return "no case is finished in all arms".to_owned();
    }
    if of_primary.is_empty() {
        return match primary {
            Outcome::Success => "success is unknown because no case has an expectation".to_owned(),
            other => format!("no verdict: no data on {}", other.name()),
        };
    }
    let several = of_primary.len() > 1;
    let sentences = of_primary.iter().zip(1..).map(|(comparison, arm)| {
        let sentence = match primary {
            Outcome::Success => sentence(cases, comparison, arm, method),
            _ => sentence_on(comparison, method),
        };
        if several && !sentence.starts_with(&comparison.arm) {
            format!("{}: {sentence}", comparison.arm)
        } else {
            sentence
        }
    });
    sentences.collect::<Vec<_>>().join("; ")
}

/// Whether a difference is significant: by its interval and its p-value, which agree.
pub(crate) fn is_clear(comparison: &Comparison, level: f64) -> bool {
    let Interval { low, high } = comparison.interval;
    comparison.adjusted_p_value < 1.0 - level && (low > 0.0 || high < 0.0)
}

fn sentence(
    cases: &CountedCases<'_>,
    comparison: &Comparison,
    arm: usize,
    method: &Method,
) -> String {
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
    match planning_of(cases, arm, method).map(|it| it.more_cases) {
        Some(more) if more > 0 && !method.sequential => {
            format!("not enough cases: {more} more for {margin} points")
        }
        _ => format!("no clear difference: between {} and {} points", points(low), points(high)),
    }
}

/// The verdict on an arm by an outcome other than success.
fn sentence_on(comparison: &Comparison, method: &Method) -> String {
    let Comparison { arm, outcome, interval, estimate, cases, .. } = comparison;
    let (name, range) = (outcome.name(), outcome.show_interval(*interval));
    let word = if (*estimate > 0.0) == outcome.is_higher_better() { "better" } else { "worse" };
    let difference = outcome.show_difference(*estimate);
    if interval.low.is_nan() {
        return match equal_difference(comparison) {
            None => format!("not enough cases to compare {name}"),
            Some(0.0) => format!("no difference of {name} in each of {cases} cases"),
            Some(_) => format!("{arm} {word}: {name} {difference} in each of {cases} cases"),
        };
    }
    if !is_clear(comparison, method.level) {
        let range = range.replace(" to ", " and ");
        return format!("no clear difference of {name}: between {range}");
    }
    let level = percent(method.level);
    format!("{arm} {word}: {name} {difference} ({level} % interval {range})")
}

#[cfg(test)]
mod tests {
    use crate::report::Report;
    use crate::running::run_stats::tests::{manifest, repeated_stats, stats};
    use crate::running::runner::StopReason;

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
    fn a_plan_without_data_is_as_careful_as_one_case() {
        for repeats in [1, 2, 5] {
            let assumed = crate::analysis::planning::PlanningVariance::assume(0.05);
            let planned = assumed.cases_needed(repeats, 0.05, 0.95).unwrap_or_default();
            let manifest = manifest(&["a", "b"], 1, repeats);
            let stats = stats(&manifest, |_, _| true);
            let planning = Report::new(manifest, &stats, None, &StopReason::Done).planning;
            let needed = planning.map_or(0, |planning| planning.more_cases + 1);
            assert!((planned * 9 / 10..=planned).contains(&needed), "{planned} {needed}");
        }
    }

    #[test]
    fn planning_says_whether_repeats_help() {
        // Each case of the second arm fails every second time: repeats help. Or half of the cases
        // always fail: only more cases do.
        let planning = |succeeds: fn(usize, usize, u32) -> bool| {
            let manifest = manifest(&["a", "b"], 200, 4);
            let stats = repeated_stats(&manifest, succeeds);
            let planning = Report::new(manifest, &stats, None, &StopReason::Done).planning;
            planning.map(|it| it.variance)
        };
        let chance = planning(|_, arm, repeat| arm == 0 || repeat % 2 == 0);
        assert!(chance.is_some_and(|it| it.between < 0.02 && it.within > 0.25), "{chance:?}");
        let cases = planning(|case, arm, _| arm == 0 || case % 2 == 0);
        assert!(cases.is_some_and(|it| it.between > 0.2 && it.within < 0.02), "{cases:?}");
    }

    #[test]
    fn several_arms_do_not_contradict_their_intervals() {
        // So few losses that one comparison alone would be significant, and three are not.
        let losses: [fn(usize, usize) -> bool; 3] = [
            |case, arm| arm != 1 || case > 5,
            |case, arm| arm != 1 || case > 6,
            |case, arm| arm != 1 || case > 9,
        ];
        for succeeds in losses {
            let manifest = manifest(&["a", "b", "c", "d"], 60, 1);
            let stats = stats(&manifest, succeeds);
            let report = Report::new(manifest, &stats, None, &StopReason::Done);
            for it in &report.comparisons {
                let is_apart = it.interval.low > 0.0 || it.interval.high < 0.0;
                assert_eq!(is_apart, it.adjusted_p_value < 0.05, "{it:?}");
                assert_eq!(is_apart, report.clear(it), "{it:?}");
            }
        }
    }

    #[test]
    fn several_arms_are_told_apart() {
        let all = verdict(&["a", "b", "c"], 100, 1, |case, arm| arm != 1 || case % 4 > 0);
        let (b, c) = all.split_once("; ").unwrap_or_default();
        assert!(b.starts_with("b worse by 25.0 points"), "{all}");
        assert_eq!(c, "c: no difference larger than 3.2 points");
    }
}
