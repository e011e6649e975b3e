//! The explanation of a report: notes below its tables, and its methods.

use std::fmt::Write as _;

use crate::outcome::Outcome;
use crate::report::Report;
use crate::text::percent;

impl Report {
    /// The note below the table of comparisons.
    pub(crate) fn note(&self) -> String {
        let mut note =
            "Differences are paired by case, each arm minus the first; success in percentage \
                        points. A star marks significant differences."
                .to_owned();
        if self.manifest.arms.len() > 2 {
            note += " Intervals and p-values are adjusted for the number of arms (Bonferroni).";
        }
        if let Some(primary) = self.manifest.method.primary {
            let _ = write!(
                note,
                " The primary outcome is {}; those of the others are adjusted for their number \
                 (Bonferroni).",
                primary.name()
            );
        }
        if self.comparisons.iter().any(|it| it.units != it.cases) {
            note += " Intervals are over clusters of cases.";
        }
        if self.finished_cases > self.cases {
            let _ = write!(
                note,
                " All rows are about the {} monitored cases; {} more finished after the decision.",
                self.cases,
                self.finished_cases - self.cases
            );
        }
        let concurrency = self.manifest.concurrency;
        let has_latency = self.comparisons.iter().any(|it| it.outcome == Outcome::Latency);
        if has_latency && concurrency > 1 {
            let _ = write!(
                note,
                " Latencies include waiting for each other: {concurrency} runs were in parallel."
            );
        }
        note
    }
}

/// The explanation of the outcomes and methods, by paragraph.
pub(crate) fn method(report: &Report) -> Vec<String> {
    let manifest = &report.manifest;
    let level = percent(manifest.method.level);
    let times = match manifest.plan.repeats {
        1 => "once".to_owned(),
        repeats => format!("{repeats} times"),
    };
    let mut told: Vec<&str> = Vec::new();
    for comparison in &report.comparisons {
        if !told.contains(&comparison.method) {
            told.push(comparison.method);
        }
    }
    let has = |outcome| report.comparisons.iter().any(|it| it.outcome == outcome);
    let plan = format!(
        "Every case ran in every arm, {times} in each. The runs of a case were adjacent and in random \
         order (seed {}), so that changes over time affected all arms equally. Only cases that are \
         finished in all arms count. Differences are paired by case, each arm minus the first.",
        manifest.plan.seed
    );
    let methods = format!(
        "Methods: {}. Of 100 experiments such as this one, the {level} % intervals of about {level} \
         contain the true difference. A dash means that nothing can be said, because there are too \
         few cases or all are alike.",
        told.join("; "),
    );
    let paragraphs = [
        (true, &*plan),
        (
            manifest.baseline.is_some(),
            "That does not hold for the first arm, whose runs come from an earlier experiment.",
        ),
        (true, &methods),
        (
            manifest.arms.len() > 2,
            "With more than two arms, p-values and intervals are adjusted for the number of arms \
             (Bonferroni), so that all intervals of an outcome hold together.",
        ),
        (
            has(Outcome::Score) || has(Outcome::Preference),
            "Scores and preferences come from a model that reads the criteria and the conversations, \
             and does not learn which arm a conversation is from. The order of two conversations is \
             random. A model can be wrong in ways that a human reader is not: human labels show \
             how often.",
        ),
        (
            manifest.method.sequential,
            "The experiment was monitored sequentially. Intervals and p-values are valid after every \
             case.",
        ),
        (
            has(Outcome::Attempts),
            "Attempts are the most calls that a tool needed in a run until one was accepted. Refused \
             calls were rejected before they ran. Repairs are corrected values of calls.",
        ),
    ];
    let shown = paragraphs.into_iter().filter(|(is_shown, _)| *is_shown);
    shown.map(|(_, text)| text.to_owned()).collect()
}
