//! Comparison of the runs of a case in different arms by a judge.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use parking_lot::Mutex;

use super::{RunState, Runner};
use crate::cases::case::Case;
use crate::error::ExperimentError;
use crate::evaluation::{EvaluatorUse, Preference};
use crate::grading::transcript::Transcript;
use crate::hash::hash;
use crate::run::Run;
use crate::running::plan::PlannedRun;

/// The arm of a transcript, which waits for those of other arms.
type Waiting = Vec<(usize, Arc<Transcript>)>;

/// Transcripts of cases whose answers are compared, until those of all arms are known, by case and
/// repeat. All runs of a case are scheduled together, so they are few.
#[derive(Debug, Default)]
pub(super) struct WaitingTranscripts(Mutex<HashMap<(usize, u32), Waiting>>);

impl WaitingTranscripts {
    /// Reads those of an interrupted experiment.
    pub(super) fn read(cases: &[Case], runs: &mut RunState) -> Result<Self, ExperimentError> {
        let RunState { journal, stats, .. } = runs;
        let mut waiting = HashMap::<_, Waiting>::new();
        if !cases.iter().any(Case::is_pairwise) {
            return Ok(Self::default());
        }
        let is_wanted = |planned: &PlannedRun| {
            let block = planned.place / stats.plan.block().max(1);
            cases.get(planned.case).is_some_and(Case::is_pairwise)
                && stats.run(planned.place).is_some()
                && !stats.is_complete(block)
        };
        let planned: Vec<_> = stats.plan.planned_runs().filter(is_wanted).collect();
        journal.sort();
        for planned in planned {
            for run in journal.runs([planned.place]) {
                let Run { case, arm, text, messages, .. } = run?;
                let transcript = Transcript { case, arm, text, messages, ..Transcript::default() };
                let known = waiting.entry((planned.case, planned.repeat)).or_default();
                known.push((planned.arm, Arc::new(transcript)));
            }
        }
        Ok(Self(Mutex::new(waiting)))
    }

    /// Adds a transcript. Returns the pairs of the first arm and another one that are complete now.
    fn add(
        &self,
        planned: PlannedRun,
        arms: usize,
        transcript: &Arc<Transcript>,
    ) -> Vec<[Arc<Transcript>; 2]> {
        let mut all = self.0.lock();
        let waiting = all.entry((planned.case, planned.repeat)).or_default();
        let others = waiting.iter().filter(|(arm, _)| planned.arm == 0 || *arm == 0);
        let pair = |(_, other): &(usize, Arc<Transcript>)| {
            let [own, other] = [transcript, other].map(Arc::clone);
            if planned.arm == 0 { [own, other] } else { [other, own] }
        };
        let pairs = others.map(pair).collect();
        waiting.push((planned.arm, Arc::clone(transcript)));
        let arms_known: HashSet<_> = waiting.iter().map(|(arm, _)| *arm).collect();
        if arms_known.len() == arms {
            all.remove(&(planned.case, planned.repeat));
        }
        pairs
    }
}

impl Runner {
    /// Compares a run with those of other arms that are finished. A comparison that fails is left out.
    pub(super) async fn compare_arms(
        &self,
        case: &Case,
        planned: PlannedRun,
        transcript: &Arc<Transcript>,
    ) -> (Vec<Preference>, EvaluatorUse) {
        let Some(rubric) = case.grader.as_ref().and_then(|grader| grader.pairwise()) else {
            return Default::default();
        };
        let (mut preferences, mut used) = (Vec::new(), EvaluatorUse::default());
        for [first, other] in self.waiting.add(planned, self.arms.len(), transcript) {
            // The same for a pair, whichever of its runs ends last.
            let pair = format!("{}\n{}\n{}\ncomparison", other.arm, planned.repeat, case.id);
            let evaluators = self.running.evaluators.of_run(&pair, self.running.replies.as_ref());
            // Judges favor a position, so the order is random.
            let digest = hash(format!("{}\n{pair}", self.seed));
            let is_first = digest.bytes().next().is_some_and(|digit| digit % 2 == 0);
            preferences.extend(rubric.compare([&first, &other], is_first, &evaluators).await);
            used.add(evaluators.sum_usage(&self.running.prices));
        }
        (preferences, used)
    }
}
