//! Measurements of all finished runs, without their messages.

use std::collections::HashMap;

use smol_str::SmolStr;

use crate::evaluation::EvaluatorUse;
use crate::run::{Run, RunSummary};
use crate::running::manifest::ExperimentManifest;
use crate::running::plan::Plan;

/// The measurements of all finished runs, by place.
#[derive(Debug)]
pub struct RunStats {
    pub(crate) plan: Plan,
    /// Arm and repeat, by place.
    planned_runs: Vec<(u16, u32)>,
    arms: Vec<String>,
    runs: Vec<Option<RunSummary>>,
    /// Case ids, in the order of the plan.
    names: Vec<Option<SmolStr>>,
    pub(crate) finished: usize,
    /// The tokens and the cost of all runs but those of a baseline.
    pub(crate) tokens: u64,
    pub(crate) cost: f64,
    /// The comparisons with the first arm by a judge, by the place of the other arm's run.
    preferences: HashMap<usize, f64>,
    /// The use of judges and simulated users.
    pub(crate) evaluation: EvaluatorUse,
    /// Whether the first arm is a baseline, which spends nothing.
    has_baseline: bool,
}

/// A finished run of a case.
#[derive(Debug, Clone, Copy)]
pub struct FinishedRun<'s> {
    /// The place in the plan.
    pub place: usize,
    pub arm: usize,
    /// The repeat, from 0.
    pub repeat: u32,
    /// The success and measurements.
    pub summary: &'s RunSummary,
}

impl RunStats {
    /// Creates statistics without runs.
    pub fn new(manifest: &ExperimentManifest) -> Self {
        let plan = manifest.plan;
        let planned = |planned: crate::running::plan::PlannedRun| {
            // The number of arms is small.
            (u16::try_from(planned.arm).unwrap_or(u16::MAX), planned.repeat)
        };
        Self {
            plan,
            planned_runs: plan.planned_runs().map(planned).collect(),
            arms: manifest.arm_names().map(str::to_owned).collect(),
            runs: vec![None; plan.runs()],
            names: vec![None; plan.cases],
            finished: 0,
            tokens: 0,
            cost: 0.0,
            preferences: HashMap::new(),
            evaluation: EvaluatorUse::default(),
            has_baseline: manifest.baseline.is_some(),
        }
    }

    /// Adds a run. Returns whether it is planned and new.
    pub fn add(&mut self, run: &Run) -> bool {
        let is_planned = self.planned_runs.get(run.place).is_some_and(|&(arm, repeat)| {
            repeat == run.repeat && self.arms.get(usize::from(arm)) == Some(&run.arm)
        });
        let (true, Some(known @ None)) = (is_planned, self.runs.get_mut(run.place)) else {
            return false;
        };
        let judged = run.judgement.as_ref().map(|it| (it.score, it.passes));
        *known = Some(RunSummary { success: run.success, judged, measures: run.measures() });
        if let Some(name @ None) = self.names.get_mut(run.place / self.plan.block().max(1)) {
            *name = Some(SmolStr::new(&run.case));
        }
        self.finished += 1;
        for preference in &run.preferences {
            if let Some(place) = self.place_of_arm(run, &preference.arm) {
                self.preferences.insert(place, preference.share);
            }
        }
        if !self.has_baseline || self.arms.first() != Some(&run.arm) {
            self.evaluation.add(run.evaluation);
            let tokens = run.tokens.unwrap_or_default() + run.evaluation.tokens.unwrap_or_default();
            self.tokens = self.tokens.saturating_add(tokens);
            self.cost += run.cost.unwrap_or_default() + run.evaluation.cost.unwrap_or_default();
        }
        true
    }

    /// The place of an arm's run in the same case and repeat.
    fn place_of_arm(&self, run: &Run, arm: &str) -> Option<usize> {
        let size = self.plan.block().max(1);
        let start = run.place / size * size;
        (start..start + size).find(|place| {
            self.planned_runs.get(*place).is_some_and(|&(of, repeat)| {
                repeat == run.repeat && self.arms.get(usize::from(of)).is_some_and(|it| it == arm)
            })
        })
    }

    /// How a judge compared a run with the first arm's, by the place of the run: 1 if it is better.
    pub fn preference(&self, place: usize) -> Option<f64> {
        self.preferences.get(&place).copied()
    }

    /// The measurements of a run, if it is finished.
    pub fn run(&self, place: usize) -> Option<&RunSummary> {
        self.runs.get(place).and_then(Option::as_ref)
    }

    /// The id of a case, by its position in the plan. Empty if none of its runs is finished.
    pub fn name(&self, block: usize) -> &str {
        self.names.get(block).and_then(Option::as_ref).map_or("", SmolStr::as_str)
    }

    /// The finished runs of a case.
    pub fn block(&self, block: usize) -> impl Iterator<Item = FinishedRun<'_>> {
        let size = self.plan.block();
        let places = block * size..(block + 1) * size;
        places.filter_map(|place| {
            let &(arm, repeat) = self.planned_runs.get(place)?;
            let summary = self.run(place)?;
            Some(FinishedRun { place, arm: arm.into(), repeat, summary })
        })
    }

    /// Whether all runs of a case are finished.
    pub fn is_complete(&self, block: usize) -> bool {
        self.block(block).count() == self.plan.block()
    }

    /// The positions of the cases whose runs are all finished.
    pub fn complete_cases(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.plan.cases).filter(|block| self.is_complete(*block))
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::cases::case::AttributesById;
    use crate::method::Method;
    use crate::running::manifest::ArmManifest;

    /// An experiment with these arms, cases and repeats.
    pub(crate) fn manifest(arms: &[&str], cases: usize, repeats: u32) -> ExperimentManifest {
        let arm = |name: &&str| ArmManifest { name: (*name).to_owned(), ..ArmManifest::default() };
        ExperimentManifest {
            name: None,
            description: None,
            agent: "helper".to_owned(),
            agent_version: None,
            model: "scripted/none".to_owned(),
            specification: String::new(),
            arms: arms.iter().map(arm).collect(),
            differences: Vec::new(),
            cases: String::new(),
            plan: Plan { cases, arms: arms.len(), repeats, seed: 7 },
            method: Method::default(),
            settings: String::new(),
            evaluators: String::new(),
            attributes: AttributesById::new(),
            baseline: None,
            concurrency: 1,
            shard: None,
        }
    }

    /// All runs of an experiment. `succeeds` decides by case and arm.
    pub(crate) fn stats(
        manifest: &ExperimentManifest,
        succeeds: fn(usize, usize) -> bool,
    ) -> RunStats {
        partial_stats(manifest, |_, _| true, succeeds)
    }

    /// The answered runs of an experiment. `answered` and `succeeds` decide by case and arm.
    pub(crate) fn partial_stats(
        manifest: &ExperimentManifest,
        answered: fn(usize, usize) -> bool,
        succeeds: fn(usize, usize) -> bool,
    ) -> RunStats {
        let run = |case, arm, _| succeeds(case, arm);
        runs_of(manifest, answered, run)
    }

    /// All runs of an experiment. `succeeds` decides by case, arm and repeat.
    pub(crate) fn repeated_stats(
        manifest: &ExperimentManifest,
        succeeds: impl Fn(usize, usize, u32) -> bool,
    ) -> RunStats {
        runs_of(manifest, |_, _| true, succeeds)
    }

    fn runs_of(
        manifest: &ExperimentManifest,
        answered: fn(usize, usize) -> bool,
        succeeds: impl Fn(usize, usize, u32) -> bool,
    ) -> RunStats {
        let mut stats = RunStats::new(manifest);
        let all = manifest.plan.planned_runs();
        for planned in all.filter(|planned| answered(planned.case, planned.arm)) {
            assert!(stats.add(&Run {
                place: planned.place,
                case: planned.case.to_string(),
                arm: manifest.arms[planned.arm].name.clone(),
                repeat: planned.repeat,
                started_at: String::new(),
                model: None,
                seed: 0,
                success: Some(succeeds(planned.case, planned.arm, planned.repeat)),
                judgement: None,
                preferences: Vec::new(),
                evaluation: EvaluatorUse::default(),
                missed: Vec::new(),
                end: "answered".to_owned(),
                calls: 1,
                refused: 0,
                repairs: 0,
                attempts: 1,
                iterations: 2,
                tokens: None,
                cost: None,
                latency_ms: 1.0,
                text: String::new(),
                messages: Vec::new(),
            }));
        }
        stats
    }

    #[test]
    fn a_run_counts_once_and_only_if_it_is_planned() {
        let manifest = manifest(&["a", "b"], 3, 2);
        let mut stats = stats(&manifest, |_, _| true);
        assert_eq!((stats.finished, stats.complete_cases().count()), (12, 3));
        let mut run: Run = serde_json::from_str(
            r#"{"place": 0, "case": "0", "arm": "a", "repeat": 0, "end": "answered", "calls": 0,
                "refused": 0, "repairs": 0, "attempts": 0, "iterations": 1, "latency_ms": 1.5,
                "text": "", "messages": []}"#,
        )
        .unwrap_or_else(|error| unreachable!("{error}"));
        assert!(!stats.add(&run), "it was there before");
        run.place = 12;
        assert!(!stats.add(&run), "it is not planned");
    }
}
