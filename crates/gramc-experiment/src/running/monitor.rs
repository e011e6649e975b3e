//! Sequential monitoring of a running experiment.

use std::collections::HashSet;

use crate::method::Method;
use crate::outcome::Outcome;
use crate::running::manifest::ExperimentManifest;
use crate::running::run_stats::RunStats;
use gramc_stats::{Interval, MeanDifference, Sequential, mean};

/// Compares the success of each arm with the first, case by case in the order of the plan. The
/// confidence sequences are valid after every case, so the experiment may stop after any of them.
#[derive(Debug, Clone)]
pub struct SequentialMonitor {
    arms: Vec<(String, Sequential)>,
    /// The next case.
    next: usize,
    /// Differences up to this fraction do not matter.
    margin: f64,
    /// Cases that are skipped because a run failed.
    left_out: HashSet<usize>,
    /// The decision. No case is added after it, so that the result does not depend on the number of
    /// concurrent runs.
    enough: Option<String>,
}

impl SequentialMonitor {
    /// The monitor of an experiment, if it is sequential.
    pub fn of_manifest(manifest: &ExperimentManifest) -> Option<Self> {
        let Method { sequential, level, margin, .. } = manifest.method;
        sequential.then(|| Self::new(manifest.arm_names(), level, margin))
    }

    /// Creates a monitor that compares all arms with the first, at a joint confidence level.
    pub fn new<'n>(names: impl IntoIterator<Item = &'n str>, level: f64, margin: f64) -> Self {
        let names: Vec<_> = names.into_iter().skip(1).collect();
        #[expect(clippy::cast_precision_loss, reason = "there are few arms")]
        let each = 1.0 - (1.0 - level) / names.len().max(1) as f64;
        let arm = |name: &str| (name.to_owned(), Sequential::new(each));
        Self {
            arms: names.into_iter().map(arm).collect(),
            next: 0,
            margin,
            left_out: HashSet::new(),
            enough: None,
        }
    }

    /// Adds the cases that are finished. Returns the decision, if there is one.
    pub fn update(&mut self, stats: &RunStats) -> Option<&str> {
        while self.enough.is_none() && self.next < stats.plan.cases {
            if self.left_out.contains(&self.next) {
                self.next += 1;
                continue;
            }
            if !stats.is_complete(self.next) {
                break;
            }
            let successes = |arm: usize| {
                let of_arm = stats.block(self.next).filter(|run| run.arm == arm);
                let values = of_arm.filter_map(|run| Outcome::Success.value_of(run.summary));
                mean(&values.collect::<Vec<_>>())
            };
            let first = successes(0);
            for (at, (_, monitor)) in self.arms.iter_mut().enumerate() {
                let difference = successes(at + 1) - first;
                if difference.is_finite() {
                    monitor.add(difference);
                }
            }
            self.next += 1;
            let decisions = self.arms.iter().map(|arm| self.decision(&arm.0, &arm.1));
            let decisions = decisions.collect::<Option<Vec<_>>>();
            self.enough =
                decisions.map(|all| format!("after {} cases {}", self.next, all.join("; ")));
        }
        self.enough.as_deref()
    }

    /// Skips a case in which a run failed.
    pub(crate) fn leave_out(&mut self, block: usize) {
        self.left_out.insert(block);
    }

    fn decision(&self, name: &str, monitor: &Sequential) -> Option<String> {
        let Interval { low, high } = monitor.interval();
        if low > 0.0 {
            Some(format!("{name} is better"))
        } else if high < 0.0 {
            Some(format!("{name} is worse"))
        } else if low >= -self.margin && high <= self.margin {
            let points = 100.0 * self.margin;
            Some(format!("{name} differs by at most {points} points"))
        } else {
            None
        }
    }

    /// The confidence sequence and the p-value of an arm against the first.
    pub(crate) fn of(&self, arm: usize) -> Option<MeanDifference> {
        let (_, monitor) = self.arms.get(arm.checked_sub(1)?)?;
        Some(MeanDifference { interval: monitor.interval(), p_value: monitor.p_value() })
    }

    /// Whether a case has been added.
    pub(crate) fn has(&self, block: usize) -> bool {
        block < self.next && !self.left_out.contains(&block)
    }

    /// Whether any case has been added.
    pub(crate) fn has_cases(&self) -> bool {
        (0..self.next).any(|block| self.has(block))
    }
}
