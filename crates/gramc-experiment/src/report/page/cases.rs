//! The list of all cases, which the script of the page filters.

use std::collections::HashMap;

use serde::Deserialize;
use serde_json::{Value, json};

use super::transcripts::script_safe;
use crate::error::ExperimentError;
use crate::running::journal::Journal;
use crate::running::manifest::ExperimentManifest;

/// Maximum bytes of the list. A case takes about 100.
const MAX_LIST_BYTES: usize = 16 << 20;

/// Maximum reasons shown of an arm in a case, and their maximum characters.
const MAX_REASONS: usize = 3;
const MAX_REASON_CHARS: usize = 200;

/// Maximum different reasons, and tags.
const MAX_TEXTS: usize = 10_000;

/// The fields of a run that the list shows.
#[derive(Deserialize)]
struct ListedRun {
    place: usize,
    case: String,
    arm: String,
    success: Option<bool>,
    #[serde(default)]
    missed: Vec<String>,
    end: String,
    #[serde(default)]
    calls: u64,
    #[serde(default)]
    refused: u64,
    #[serde(default)]
    repairs: u64,
    tokens: Option<u64>,
    cost: Option<f64>,
    latency_ms: f64,
}

/// The result of a case in an arm and in the first one. The script knows these numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(super) enum CaseResult {
    FirstWins = 0,
    OtherWins = 1,
    Flaky = 2,
    BothFail = 3,
    BothSucceed = 4,
    Unanswered = 5,
    Ungraded = 6,
}

impl CaseResult {
    pub(super) const ALL: [Self; 7] = [
        Self::FirstWins,
        Self::OtherWins,
        Self::Flaky,
        Self::BothFail,
        Self::BothSucceed,
        Self::Unanswered,
        Self::Ungraded,
    ];

    /// The result by the success rates. An arm wins only with a higher rate.
    fn of(first: &ArmRuns, other: &ArmRuns, repeats: u64) -> Self {
        if first.runs < repeats || other.runs < repeats {
            return Self::Unanswered;
        }
        if first.graded < first.runs || other.graded < other.runs {
            return Self::Ungraded;
        }
        match (first.successes, other.successes) {
            (first, other) if first > other => Self::FirstWins,
            (first, other) if first < other => Self::OtherWins,
            (0, _) => Self::BothFail,
            (first, _) if first == repeats => Self::BothSucceed,
            _ => Self::Flaky,
        }
    }

    /// A description for users.
    pub(super) fn label(self, first: &str, other: &str) -> String {
        match self {
            Self::FirstWins => format!("won by {first}"),
            Self::OtherWins => format!("won by {other}"),
            Self::Flaky => "flaky, same rate".to_owned(),
            Self::BothFail => "both failed".to_owned(),
            Self::BothSucceed => "both succeeded".to_owned(),
            Self::Unanswered => "unanswered".to_owned(),
            Self::Ungraded => "no expectation".to_owned(),
        }
    }
}

/// The runs of a case in an arm. Measurements are totals.
#[derive(Debug, Default)]
struct ArmRuns {
    runs: u64,
    graded: u64,
    successes: u64,
    calls: u64,
    refused: u64,
    repairs: u64,
    tokens: Option<u64>,
    cost: Option<f64>,
    latency_ms: f64,
    reasons: Vec<usize>,
    /// The places of the first run that succeeded, and of the first other one.
    samples: [Option<usize>; 2],
}

impl ArmRuns {
    fn add(&mut self, run: &ListedRun) {
        self.tokens = sum(self.runs, self.tokens, run.tokens);
        self.cost = sum(self.runs, self.cost, run.cost);
        self.runs += 1;
        self.graded += u64::from(run.success.is_some());
        self.successes += u64::from(run.success == Some(true));
        self.calls += run.calls;
        self.refused += run.refused;
        self.repairs += run.repairs;
        self.latency_ms += run.latency_ms;
        self.samples[usize::from(run.success != Some(true))].get_or_insert(run.place);
    }

    fn json(&self) -> Value {
        json!([
            self.runs,
            self.graded,
            self.successes,
            self.calls,
            self.refused,
            self.repairs,
            self.tokens,
            self.cost,
            (1000.0 * self.latency_ms).round() / 1000.0,
            self.reasons,
        ])
    }
}

/// A total that is unknown if it is unknown of one run.
fn sum<T: std::ops::Add<Output = T>>(runs: u64, total: Option<T>, value: Option<T>) -> Option<T> {
    match (runs, total, value) {
        (0, _, value) => value,
        (_, Some(total), Some(value)) => Some(total + value),
        _ => None,
    }
}

/// Numbers for texts that occur often.
#[derive(Default)]
struct Texts {
    all: Vec<String>,
    known: HashMap<String, usize>,
}

impl Texts {
    /// The number of a text. None if there are too many texts.
    fn number(&mut self, text: String) -> Option<usize> {
        if let Some(number) = self.known.get(&text) {
            return Some(*number);
        }
        let number = Some(self.all.len()).filter(|number| *number < MAX_TEXTS)?;
        self.all.push(text.clone());
        self.known.insert(text, number);
        Some(number)
    }
}

/// A case of the list.
struct CaseRow {
    name: String,
    tags: Vec<usize>,
    arms: Vec<ArmRuns>,
    /// The result of each arm after the first.
    results: Vec<CaseResult>,
}

/// All cases that have a finished run, in the order of the plan.
pub(super) struct CaseList {
    rows: Vec<CaseRow>,
    tags: Texts,
    reasons: Texts,
    /// The number of cases without a finished run.
    pub(super) missing: usize,
}

impl CaseList {
    /// Reads the runs of the journal, without their transcripts.
    pub(super) fn read(
        journal: &Journal,
        manifest: &ExperimentManifest,
    ) -> Result<Self, ExperimentError> {
        let plan = manifest.plan;
        let numbers: HashMap<_, _> =
            manifest.arm_names().enumerate().map(|(arm, name)| (name, arm)).collect();
        let (mut tags, mut reasons) = (Texts::default(), Texts::default());
        let (mut rows, mut last) = (Vec::<CaseRow>::new(), None);
        for run in journal.all_as::<ListedRun>() {
            let mut run = run?;
            let Some(arm) = numbers.get(run.arm.as_str()) else { continue };
            let block = run.place / plan.block().max(1);
            if last != Some(block) {
                last = Some(block);
                let mut arms = Vec::new();
                arms.resize_with(manifest.arms.len(), ArmRuns::default);
                let name = std::mem::take(&mut run.case);
                let of_case = manifest.attributes.get(&name).map(|it| &it.tags[..]);
                let of_case = of_case.unwrap_or_default().iter();
                let tags = of_case.filter_map(|tag| tags.number(tag.clone())).collect();
                rows.push(CaseRow { name, tags, arms, results: Vec::new() });
            }
            let Some(row) = rows.last_mut() else { continue };
            let arm = &mut row.arms[*arm];
            arm.add(&run);
            let unmet = std::mem::take(&mut run.missed);
            let ended = (run.end != "answered").then(|| std::mem::take(&mut run.end));
            for reason in ended.into_iter().chain(unmet) {
                if arm.reasons.len() == MAX_REASONS {
                    break;
                }
                let reason = reason.chars().take(MAX_REASON_CHARS).collect();
                arm.reasons.extend(reasons.number(reason));
                arm.reasons.dedup();
            }
        }
        let repeats = u64::from(plan.repeats);
        for row in &mut rows {
            let (first, others) = row.arms.split_at(1);
            let of = |other| first.first().map(|first| CaseResult::of(first, other, repeats));
            row.results = others.iter().filter_map(of).collect();
        }
        let missing = plan.cases.saturating_sub(rows.len());
        Ok(Self { rows, tags, reasons, missing })
    }

    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// The number of cases with this result in an arm, from 0 for the one after the first.
    pub(super) fn count(&self, arm: usize, result: CaseResult) -> usize {
        self.rows.iter().filter(|row| row.results.get(arm) == Some(&result)).count()
    }

    /// The positions of the cases, in the order in which their transcripts matter.
    pub(super) fn by_interest(&self) -> Vec<usize> {
        let mut all: Vec<_> = (0..self.rows.len()).collect();
        all.sort_by_key(|at| self.rows[*at].results.iter().min().copied());
        all
    }

    /// The places of the runs of a case whose transcripts are shown: of each arm one that succeeded and
    /// one that did not.
    pub(super) fn samples(&self, at: usize) -> impl Iterator<Item = usize> + '_ {
        self.rows[at].arms.iter().flat_map(|arm| arm.samples.into_iter().flatten())
    }

    /// The list as JSON that is safe in a script, and the number of cases that exceed its maximum size.
    pub(super) fn json(&self, manifest: &ExperimentManifest) -> (String, usize) {
        let head = json!({
            "arms": manifest.arm_names().collect::<Vec<_>>(),
            "repeats": manifest.plan.repeats,
            "tags": self.tags.all,
            "reasons": self.reasons.all,
        });
        let mut out = script_safe(&head.to_string());
        out.pop();
        out.push_str(",\"cases\":[");
        let mut listed = 0;
        for row in &self.rows {
            let results: Vec<_> = row.results.iter().map(|result| *result as u8).collect();
            let arms: Vec<_> = row.arms.iter().map(ArmRuns::json).collect();
            let line = json!([row.name, results, row.tags, arms]);
            let line = script_safe(&line.to_string());
            if out.len() + line.len() > MAX_LIST_BYTES {
                break;
            }
            if listed > 0 {
                out.push(',');
            }
            out.push_str(&line);
            listed += 1;
        }
        out.push_str("]}");
        (out, self.rows.len() - listed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_arm_wins_only_with_a_higher_rate() {
        let runs =
            |runs, graded, successes| ArmRuns { runs, graded, successes, ..ArmRuns::default() };
        let of = |first, other| CaseResult::of(&first, &other, 2);
        assert_eq!(of(runs(2, 2, 2), runs(2, 2, 1)), CaseResult::FirstWins);
        assert_eq!(of(runs(2, 2, 0), runs(2, 2, 1)), CaseResult::OtherWins);
        assert_eq!(of(runs(2, 2, 1), runs(2, 2, 1)), CaseResult::Flaky);
        assert_eq!(of(runs(2, 2, 0), runs(2, 2, 0)), CaseResult::BothFail);
        assert_eq!(of(runs(2, 2, 2), runs(2, 2, 2)), CaseResult::BothSucceed);
        assert_eq!(of(runs(2, 2, 2), runs(1, 1, 0)), CaseResult::Unanswered);
        assert_eq!(of(runs(2, 0, 0), runs(2, 0, 0)), CaseResult::Ungraded);
    }
}
