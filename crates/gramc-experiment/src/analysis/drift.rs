//! Changes of outcomes over the order of the runs, such as a provider that becomes slower.

use gramc_stats::{Trend, mean, trend};
use serde::Serialize;

use crate::analysis::counted::CountedCases;
use crate::outcome::Outcome;
use crate::text::p_value;

/// The minimum number of cases for a trend.
const MIN_CASES: usize = 10;

/// The highest p-value of a drift that is worth a sentence.
const NOTABLE: f64 = 0.01;

/// How an outcome changes over the order of the cases, in all arms together. The order is random, so
/// without drift there is no trend.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Drift {
    pub outcome: Outcome,
    /// The rank correlation with the order: above 0 if later runs have more.
    pub correlation: f64,
    /// The p-value, adjusted for the number of outcomes (Bonferroni).
    pub p_value: f64,
}

/// The drift of each outcome that varies.
#[expect(clippy::cast_precision_loss, reason = "outcomes are few")]
pub(crate) fn drift(cases: &CountedCases<'_>) -> Vec<Drift> {
    if cases.blocks.len() < MIN_CASES {
        return Vec::new();
    }
    let of_outcome = |outcome: Outcome| {
        let of_case = |block: &usize| {
            let runs = cases.stats.block(*block).map(|run| outcome.value_of(run.summary));
            runs.collect::<Option<Vec<_>>>().map(|values| mean(&values))
        };
        let values: Option<Vec<f64>> = cases.blocks.iter().map(of_case).collect();
        let Trend { correlation, p_value } = trend(&values?);
        (!p_value.is_nan()).then_some(Drift { outcome, correlation, p_value })
    };
    let mut all: Vec<_> = Outcome::ALL.into_iter().filter_map(of_outcome).collect();
    let count = all.len() as f64;
    for drift in &mut all {
        drift.p_value = (drift.p_value * count).min(1.0);
    }
    all
}

/// A sentence about the outcomes that drift clearly.
pub(crate) fn note(drift: &[Drift]) -> Option<String> {
    let notable = drift.iter().filter(|it| it.p_value < NOTABLE).map(|drift| {
        let Drift { outcome, correlation, p_value: p } = *drift;
        let word = if correlation > 0.0 { "rises" } else { "falls" };
        let p = p_value(p).replace("< ", "p < ");
        let p = if p.starts_with('p') { p } else { format!("p = {p}") };
        let shown = format!("{correlation:+.2}").replace('-', "−");
        format!("{} {word} (rank correlation {shown}, {p})", outcome.name())
    });
    let notable: Vec<_> = notable.collect();
    (!notable.is_empty()).then(|| {
        format!(
            "Over the order of the runs, {}. This affects all arms alike.",
            notable.join(", and ")
        )
    })
}

#[cfg(test)]
mod tests {
    use crate::report::Report;
    use crate::running::run_stats::tests::{manifest, repeated_stats};
    use crate::running::runner::StopReason;

    #[test]
    fn later_runs_may_be_worse() {
        let manifest = manifest(&["a", "b"], 60, 1);
        let order: Vec<usize> = manifest.plan.planned_runs().map(|run| run.case).collect();
        let place = |case: usize| order.iter().position(|it| *it == case).unwrap_or_default() / 2;
        let worse = repeated_stats(&manifest, |case, _, _| place(case) < 30);
        let report = Report::new(manifest.clone(), &worse, None, &StopReason::Done);
        let text = report.text();
        assert!(
            text.contains(
                "Over the order of the runs, success falls (rank correlation −0.87, p < 0.0001)."
            ),
            "{text}"
        );
        assert_eq!(report.json()["drift"][0]["outcome"], "success");
        let even = repeated_stats(&manifest, |case, _, _| place(case) % 3 > 0);
        let text = Report::new(manifest, &even, None, &StopReason::Done).text();
        assert!(!text.contains("Over the order"), "{text}");
    }
}
