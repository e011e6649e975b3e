//! Runs without an answer of the model, which are in no comparison.
//!
//! If they were more frequent in one arm, the remaining cases would be a selection that favors it.

use serde::Serialize;

use crate::running::run_stats::RunStats;
use crate::running::runner::StopReason;
use gramc_stats::mcnemar_exact;

/// The largest p-value of a difference in unanswered runs that withholds a verdict.
const MAX_P_VALUE: f64 = 0.05;

/// The runs of an arm that the model did not answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Unanswered {
    pub arm: String,
    /// The number of runs, of cases of which another run was answered.
    pub runs: usize,
    /// Why the arm cannot be compared with the first one, if it cannot.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub imbalance: Option<String>,
}

/// The unanswered runs of each arm. An arm and the first are unbalanced if the share of unanswered runs
/// differs by more than `margin`, or significantly by the sign test over cases.
#[expect(clippy::cast_precision_loss, reason = "the number of runs is far below 2^53")]
pub(crate) fn count_unanswered(
    stats: &RunStats,
    names: &[String],
    margin: f64,
    stop: &StopReason,
) -> Vec<Unanswered> {
    let plan = stats.plan;
    let repeats = plan.repeats as usize;
    // Where the experiment ended early, runs are missing that were never started.
    let counts =
        matches!(stop, StopReason::Done | StopReason::NoAnswer(..) | StopReason::Missing(_));
    // The missing runs of each arm, by case.
    let missing: Vec<Vec<usize>> = (0..plan.cases)
        .filter(|block| counts && stats.block(*block).next().is_some())
        .map(|block| {
            let mut of_arms = vec![repeats; names.len()];
            for run in stats.block(block) {
                of_arms[run.arm] -= 1;
            }
            of_arms
        })
        .collect();
    let all = missing.len() * repeats;
    let total = |arm: usize| missing.iter().map(|case| case[arm]).sum::<usize>();
    let count = |arm: usize| {
        let name = &names[arm];
        let (runs, first) = (total(arm), total(0));
        let more = missing.iter().filter(|case| case[arm] > case[0]).count() as u64;
        let fewer = missing.iter().filter(|case| case[arm] < case[0]).count() as u64;
        let share = runs.abs_diff(first) as f64 / all.max(1) as f64;
        let is_unbalanced = share > margin || mcnemar_exact(more, fewer) < MAX_P_VALUE;
        let imbalance = is_unbalanced.then(|| {
            let against = &names[0];
            format!(
                "the model did not answer {runs} of {all} runs of {name} and {first} of {against}, so \
                 they cannot be compared"
            )
        });
        Unanswered { arm: name.clone(), runs, imbalance }
    };
    (0..names.len()).map(count).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::running::run_stats::tests::{manifest, partial_stats};

    fn of(cases: usize, repeats: u32, answered: fn(usize, usize) -> bool) -> Vec<Unanswered> {
        let manifest = manifest(&["a", "b"], cases, repeats);
        let stats = partial_stats(&manifest, answered, |_, _| true);
        let names = ["a".to_owned(), "b".to_owned()];
        count_unanswered(&stats, &names, 0.05, &StopReason::NoAnswer(1, String::new()))
    }

    #[test]
    fn an_imbalance_is_one_that_chance_does_not_explain() {
        let runs = |all: &[Unanswered]| all.iter().map(|it| it.runs).collect::<Vec<_>>();
        let balanced = of(300, 1, |case, arm| case % 10 != arm);
        assert_eq!(runs(&balanced), [30, 30]);
        assert!(balanced.iter().all(|it| it.imbalance.is_none()));
        let few = of(300, 2, |case, arm| case > 3 || arm == 0);
        assert_eq!(runs(&few), [0, 8]);
        assert_eq!(few[1].imbalance, None);
        let many = of(300, 1, |case, arm| case > 5 || arm == 0);
        let told =
            "the model did not answer 6 of 300 runs of b and 0 of a, so they cannot be compared";
        assert_eq!(many[1].imbalance.as_deref(), Some(told));
        // Of few cases, each one matters.
        assert!(of(10, 1, |case, arm| case > 0 || arm == 0)[1].imbalance.is_some());
        // Where nothing was answered at all, there is nothing to compare.
        assert_eq!(runs(&of(10, 1, |case, _| case > 4)), [0, 0]);
    }
}
