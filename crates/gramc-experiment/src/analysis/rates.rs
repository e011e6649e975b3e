//! Success rates of the arms, and the cases that one arm wins.

use serde::Serialize;

use crate::analysis::counted::CountedCases;
use crate::method::Method;
use gramc_stats::{Interval, clustered_rate, mean, pass_at_k, pass_hat_k, wilson};

/// The success rate of an arm.
#[derive(Debug, Clone, Serialize)]
pub struct SuccessRate {
    pub arm: String,
    /// The number of runs of cases that count.
    pub runs: u64,
    /// The number of successful runs.
    pub successes: u64,
    /// The interval of the rate. The case is the unit, whatever the number of repeats.
    pub interval: Interval,
    /// pass@k: the probability that one of k runs succeeds, for k from 1, with repeats.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pass_at: Vec<f64>,
    /// pass^k: the probability that all of k runs succeed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pass_all: Vec<f64>,
    /// The intervals of pass@k.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pass_at_intervals: Vec<Interval>,
    /// The intervals of pass^k.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pass_all_intervals: Vec<Interval>,
}

/// The successful runs of an arm in a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct CaseSuccesses {
    /// The number of successful runs.
    pub successes: u64,
    pub runs: u64,
}

impl std::fmt::Display for CaseSuccesses {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} of {}", self.successes, self.runs)
    }
}

/// A case that one arm wins and another loses.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Flip {
    pub case: String,
    /// The winning arm, of which a larger share of the runs succeeds.
    pub winner: String,
    /// The losing arm.
    pub loser: String,
    /// The runs of the winner.
    pub won: CaseSuccesses,
    /// The runs of the loser.
    pub lost: CaseSuccesses,
    /// The places of a successful run of the winner and a failed run of the loser.
    #[serde(skip)]
    pub runs: [usize; 2],
}

/// The success rate of each arm. Empty if no case has an expectation.
pub(crate) fn rates(
    cases: &CountedCases<'_>,
    names: &[String],
    method: &Method,
) -> Vec<SuccessRate> {
    let repeats = u64::from(cases.stats.plan.repeats);
    let rate = |arm: usize| {
        let (mut blocks, mut by_case) = (Vec::new(), Vec::new());
        for &block in &cases.blocks {
            let runs = cases.stats.block(block).filter(|run| run.arm == arm);
            let known: Option<Vec<bool>> = runs.map(|run| run.summary.success).collect();
            let Some(known) = known else { continue };
            blocks.push(block);
            by_case.push(known.iter().filter(|success| **success).count() as u64);
        }
        let successes: u64 = by_case.iter().sum();
        let runs = by_case.len() as u64 * repeats;
        // `k` runs of a case are worth one at most.
        let over = |pass: fn(u64, u64, u64) -> Option<f64>, k: u64| {
            let values: Vec<f64> =
                by_case.iter().filter_map(|&successes| pass(repeats, successes, k)).collect();
            let units = cases.units(&blocks, &values);
            #[expect(clippy::cast_precision_loss, reason = "repeats are few")]
            let worth = repeats as f64 / k as f64;
            (mean(&units), clustered_rate(&units, worth, method.level))
        };
        let interval = if repeats == 1 && cases.are_plain(&blocks) {
            wilson(successes, runs, method.level)
        } else {
            over(pass_at_k, 1).1
        };
        let ks = || (1..=repeats).filter(|_| repeats > 1);
        let (pass_at, pass_at_intervals) = ks().map(|k| over(pass_at_k, k)).unzip();
        let (pass_all, pass_all_intervals) = ks().map(|k| over(pass_hat_k, k)).unzip();
        let rate = SuccessRate {
            arm: names[arm].clone(),
            runs,
            successes,
            interval,
            pass_at,
            pass_all,
            pass_at_intervals,
            pass_all_intervals,
        };
        (runs > 0).then_some(rate)
    };
    (0..names.len()).filter_map(rate).collect()
}

/// A rate in percent with its interval, such as `80.0 (61.2 to 91.0)`.
pub(crate) fn show_rate(value: f64, interval: Interval) -> String {
    let [value, low, high] =
        [value, interval.low, interval.high].map(|it| format!("{:.1}", 100.0 * it));
    format!("{value} ({low} to {high})")
}

/// The successful runs of an arm in a case, and the places of one that succeeded and one that failed.
struct ArmRuns {
    share: CaseSuccesses,
    succeeded: Option<usize>,
    failed: Option<usize>,
}

fn arm_runs(cases: &CountedCases<'_>, block: usize, arm: usize) -> ArmRuns {
    let mut all =
        ArmRuns { share: CaseSuccesses { successes: 0, runs: 0 }, succeeded: None, failed: None };
    let of_arm = cases.stats.block(block).filter(|run| run.arm == arm);
    for run in of_arm {
        let Some(success) = run.summary.success else { continue };
        all.share.runs += 1;
        all.share.successes += u64::from(success);
        let place = if success { &mut all.succeeded } else { &mut all.failed };
        place.get_or_insert(run.place);
    }
    all
}

/// The cases that one arm wins and another loses, in the order of the plan. Equal shares are neither.
pub(crate) fn flips(cases: &CountedCases<'_>, names: &[String]) -> Vec<Flip> {
    let mut flips = Vec::new();
    for &block in &cases.blocks {
        let first = arm_runs(cases, block, 0);
        for (arm, name) in names.iter().enumerate().skip(1) {
            let second = arm_runs(cases, block, arm);
            let [one, other] = [&first, &second].map(|it| it.share);
            let order = (one.successes * other.runs).cmp(&(other.successes * one.runs));
            let ((winner, won), (loser, lost)) = match order {
                std::cmp::Ordering::Equal => continue,
                std::cmp::Ordering::Greater => ((&names[0], &first), (name, &second)),
                std::cmp::Ordering::Less => ((name, &second), (&names[0], &first)),
            };
            // Of a larger share some succeed, and of a smaller one some fail.
            let (Some(success), Some(failure)) = (won.succeeded, lost.failed) else { continue };
            flips.push(Flip {
                case: cases.stats.name(block).to_owned(),
                winner: winner.clone(),
                loser: loser.clone(),
                won: won.share,
                lost: lost.share,
                runs: [success, failure],
            });
        }
    }
    flips
}

#[cfg(test)]
mod tests {
    use crate::cases::case::CaseAttributes;
    use crate::report::Report;
    use crate::running::run_stats::tests::{manifest, repeated_stats, stats};
    use crate::running::runner::StopReason;

    #[test]
    fn a_case_is_won_by_the_larger_share_of_its_runs() {
        let manifest = manifest(&["a", "b"], 3, 2);
        // In case 0 one of two runs of the second arm fails, in case 1 one of each.
        let stats = repeated_stats(&manifest, |case, arm, repeat| match case {
            0 => arm == 0 || repeat == 0,
            1 => repeat == 0,
            _ => true,
        });
        let report = Report::new(manifest, &stats, None, &StopReason::Done);
        let [flip] = &report.flips[..] else { unreachable!("{:?}", report.flips) };
        assert_eq!((&*flip.case, &*flip.winner, &*flip.loser), ("0", "a", "b"));
        let text = report.text();
        assert!(text.contains("1 case won by a and lost by b: 0 (2 of 2 / 1 of 2)"), "{text}");
        assert!(text.contains("a: a run succeeds in 83.3 ("), "{text}");
        assert!(text.contains("all of them in 66.7 ("), "{text}");
        let [low, high] = [0, 1].map(|end| report.json()["rates"][0]["interval"][end].clone());
        assert!(low.as_f64() > Some(0.2) && high.as_f64() <= Some(1.0), "{low} {high}");
    }

    #[test]
    fn clusters_widen_intervals_and_tags_have_rows() {
        let mut plain = manifest(&["a", "b"], 60, 1);
        let stats = stats(&plain, |case, arm| arm == 0 || case % 12 > 3);
        let width = |manifest: &crate::running::manifest::ExperimentManifest| {
            let report = Report::new(manifest.clone(), &stats, None, &StopReason::Done);
            let interval = report.comparisons[0].interval;
            (interval.high - interval.low, report)
        };
        let (narrow, _) = width(&plain);
        let attributes = |case: usize| CaseAttributes {
            cluster: Some((case / 4).to_string()),
            weight: None,
            tags: vec![if case < 30 { "early" } else { "late" }.to_owned()],
        };
        plain.attributes = (0..60).map(|case| (case.to_string(), attributes(case))).collect();
        let (wide, report) = width(&plain);
        assert!(wide > 1.4 * narrow, "{wide} {narrow}");
        assert_eq!((report.comparisons[0].cases, report.comparisons[0].units), (60, 15));
        let text = report.text();
        assert!(text.contains("\nearly      30   100.0 %"), "{text}");
        assert!(report.markdown().contains("| late | 30 | 100.0 % |"));
        assert_eq!(report.json()["tags"][1]["tag"], "late");
    }
}
