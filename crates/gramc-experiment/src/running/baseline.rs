//! Baselines: an arm whose runs come from an earlier experiment.

use std::collections::HashMap;
use std::path::Path;

use serde::Deserialize;

use crate::cases::case::Case;
use crate::error::ExperimentError;
use crate::run::Run;
use crate::running::journal::Journal;
use crate::running::manifest::{ArmManifest, BaselineTimes, Difference, ExperimentManifest};
use crate::running::runner::RunState;

/// An arm of an earlier experiment, which is the first arm of another one.
#[derive(Debug)]
pub(crate) struct Baseline {
    folder: String,
    journal: Journal,
    pub(crate) manifest: ExperimentManifest,
    arm: ArmManifest,
}

impl Baseline {
    /// Reads the baseline `DIR` or `DIR:ARM`. Without an arm, it is the one that is named as `like`,
    /// else the first one.
    pub(crate) fn find(named: &str, like: &str) -> Result<Self, ExperimentError> {
        match named.rsplit_once(':') {
            Some((folder, arm)) if !Path::new(named).exists() => {
                Self::read(Path::new(folder), Some(arm), like)
            }
            _ => Self::read(Path::new(named), None, like),
        }
    }

    fn read(path: &Path, arm: Option<&str>, like: &str) -> Result<Self, ExperimentError> {
        let (journal, manifest, _) = Journal::read(path)?;
        let find = |name: &str| manifest.arms.iter().find(|arm| arm.name == name);
        let found = match arm {
            Some(name) => find(name),
            None => find(like).or(manifest.arms.first()),
        };
        let found = found.cloned().ok_or_else(|| {
            let names: Vec<_> = manifest.arm_names().collect();
            let wanted = arm.unwrap_or_default();
            let message =
                format!("there is no arm `{wanted}`; expected one of {}", names.join(", "));
            ExperimentError::content(path.display(), message)
        })?;
        Ok(Self { folder: path.display().to_string(), journal, manifest, arm: found })
    }

    /// Makes the arm the first one of an experiment. Its name is another one if there is such an arm.
    pub(crate) fn put_first(
        &self,
        manifest: &mut ExperimentManifest,
    ) -> Result<(), ExperimentError> {
        let ExperimentManifest { agent, model, specification, .. } = &self.manifest;
        let differences = [
            (self.manifest.cases != manifest.cases, "cases"),
            (self.manifest.evaluators != manifest.evaluators, "judges or simulated users"),
            (self.manifest.plan.repeats != manifest.plan.repeats, "repeats"),
        ];
        if let Some((_, what)) = differences.into_iter().find(|(differs, _)| *differs) {
            let message =
                format!("the {what} of the baseline differ from those of this experiment");
            return Err(ExperimentError::content(&self.folder, message));
        }
        let mut first = self.arm.clone();
        let agent = first.agent.take().unwrap_or_else(|| agent.clone());
        let model = first.model.take().unwrap_or_else(|| model.clone());
        let specification = first.specification.take().unwrap_or_else(|| specification.clone());
        while manifest.arms.iter().any(|arm| arm.name == first.name) {
            first.name.push_str("-baseline");
        }
        for difference in &mut manifest.differences {
            difference.arms.insert(0, "not recorded".to_owned());
        }
        for arm in &mut manifest.arms {
            let own = |own: &mut Option<String>, old: &str, new: &str| {
                let value = own.take().unwrap_or_else(|| old.to_owned());
                *own = (value != new).then_some(value);
            };
            own(&mut arm.agent, &manifest.agent, &agent);
            own(&mut arm.model, &manifest.model, &model);
            own(&mut arm.specification, &manifest.specification, &specification);
        }
        let mut compare = |what: &str, differs: &dyn Fn(&ArmManifest) -> bool| {
            if manifest.arms.iter().any(differs) {
                let word = |arm| if differs(arm) { "another one" } else { "as recorded" };
                let words = manifest.arms.iter().map(|arm| word(arm).to_owned());
                let arms = std::iter::once("as recorded".to_owned()).chain(words).collect();
                let what = Some(what.to_owned());
                manifest.differences.push(Difference { tool: None, what, arms });
            }
        };
        compare("library", &|arm| arm.library != first.library);
        compare("specification", &|arm| arm.specification.is_some());
        compare("attributes of the agent", &|arm| arm.attributes != first.attributes);
        for (what, value, of) in [
            ("agent", &agent, (|arm| arm.agent.as_ref()) as fn(&ArmManifest) -> Option<&String>),
            ("model", &model, |arm| arm.model.as_ref()),
        ] {
            manifest.differences.retain(|it| it.what.as_deref() != Some(what));
            if manifest.arms.iter().any(|arm| of(arm).is_some()) {
                let words = manifest.arms.iter().map(|arm| of(arm).unwrap_or(value).clone());
                let arms = std::iter::once(value.clone()).chain(words).collect();
                let what = Some(what.to_owned());
                manifest.differences.insert(0, Difference { tool: None, what, arms });
            }
        }
        (manifest.agent, manifest.model, manifest.specification) = (agent, model, specification);
        manifest.arms.insert(0, first);
        manifest.plan.arms += 1;
        manifest.baseline = Some(self.times()?);
        Ok(())
    }

    fn times(&self) -> Result<BaselineTimes, ExperimentError> {
        /// A run without its transcript.
        #[derive(Deserialize)]
        struct RunTime {
            arm: String,
            #[serde(default)]
            started_at: String,
        }
        let mut times: Option<BaselineTimes> = None;
        for run in self.journal.all_as::<RunTime>() {
            let RunTime { arm, started_at: at } = run?;
            if arm != self.arm.name {
                continue;
            }
            let times =
                times.get_or_insert_with(|| BaselineTimes { first: at.clone(), last: at.clone() });
            if at < times.first {
                times.first = at;
            } else if at > times.last {
                times.last = at;
            }
        }
        let none = || ExperimentError::content(&self.folder, "the baseline has no runs");
        times.ok_or_else(none)
    }

    fn runs(&self) -> impl Iterator<Item = Result<Run, ExperimentError>> + '_ {
        self.journal.all().filter(|run| run.as_ref().map_or(true, |run| run.arm == self.arm.name))
    }

    /// Adds its runs to a journal that lacks them.
    pub(crate) fn add_runs(
        &self,
        cases: &[Case],
        manifest: &ExperimentManifest,
        state: &mut RunState,
    ) -> Result<(), ExperimentError> {
        let ExperimentManifest { plan, shard, arms, .. } = manifest;
        let missing = plan.planned_runs().filter(|planned| {
            let is_wanted = planned.arm == 0 && plan.is_in(*shard, planned.place);
            is_wanted && state.stats.run(planned.place).is_none()
        });
        let key = |case: &str, repeat: u32| (case.to_owned(), repeat);
        let mut places: HashMap<_, _> = missing
            .filter_map(|run| Some((key(&cases.get(run.case)?.id, run.repeat), run.place)))
            .collect();
        for run in self.runs() {
            let run = run?;
            let Some(place) = places.remove(&key(&run.case, run.repeat)) else { continue };
            state.add(&Run { place, arm: arms[0].name.clone(), ..run })?;
        }
        if places.is_empty() {
            return Ok(());
        }
        let message =
            format!("the baseline lacks {} runs; complete its experiment first", places.len());
        Err(ExperimentError::content(&self.folder, message))
    }
}
