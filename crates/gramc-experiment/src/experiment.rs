//! Experiments: assembled, planned, run and reported for the command line and for other programs.

mod cases;
mod declared;
mod finished;
mod options;
mod outlook;
mod progress;

use std::path::Path;
use std::sync::Arc;

use gramc_agent::Limits;
use gramc_agent::model::Models;
use gramc_model::Module;
use tokio_util::sync::CancellationToken;

use crate::cases::case::Case;
use crate::cases::checks::{case_faults, find_evaluators};
use crate::error::ExperimentError;
use crate::grading::evaluators::Evaluators;
use crate::grading::reply_cache::ReplyCache;
use crate::hash::hash;
use crate::running::arms::{ArmParts, differences};
use crate::running::baseline::Baseline;
use crate::running::manifest::ExperimentManifest;
use crate::running::plan::Plan;
use crate::running::runner::{Arm, Progress, RunConfig, RunState, StopReason, run, unpriced_model};
pub use cases::CaseText;
pub use declared::{ArmSource, DeclaredExperiment};
use finished::read_labels;
pub use finished::{FinishedExperiment, merge_parts};
pub use options::ExperimentOptions;
pub use progress::ProgressBar;

/// An experiment that is planned and can run.
#[derive(Debug)]
pub struct Experiment {
    manifest: ExperimentManifest,
    arms: Vec<Arm>,
    cases: Vec<Case>,
    evaluators: Evaluators,
    baseline: Option<Baseline>,
    options: ExperimentOptions,
    /// Whether the runs of the baseline had other limits or sampling parameters.
    has_other_settings: bool,
}

impl Experiment {
    /// Plans an experiment. Nothing runs.
    pub fn new(
        parts: &[ArmParts<'_>],
        cases: CaseText,
        options: ExperimentOptions,
        models: &mut Models,
    ) -> Result<Self, ExperimentError> {
        options.check()?;
        let (Some(first), true) = (parts.first(), options.against.is_some() || parts.len() > 1)
        else {
            return Err(ExperimentError::TooFewArms);
        };
        let cases = cases.read(&options.only)?;
        let modules: Vec<&Module> = parts.iter().map(|part| part.module).collect();
        let faults = case_faults(&cases.cases, &modules);
        if !faults.is_empty() {
            return Err(ExperimentError::Cases(faults));
        }
        let against = options.against.as_deref();
        let baseline = against.map(|named| Baseline::find(named, &first.name)).transpose()?;
        let evaluators = find_evaluators(&cases.cases, options.judge.as_deref(), models)?;
        if baseline.is_some() && cases.cases.iter().any(Case::is_pairwise) {
            return Err(ExperimentError::PairwiseBaseline);
        }
        let recorded = baseline.as_ref().map(|baseline| baseline.manifest.plan.repeats);
        let repeats = options.repeats.or(recorded).unwrap_or(1);
        let plan =
            Plan { cases: cases.cases.len(), arms: parts.len(), repeats, seed: options.seed };
        let mut manifest = ExperimentManifest {
            name: options.name.clone(),
            description: options.description.clone(),
            agent: first.team.agent().to_owned(),
            agent_version: options.agent_version.clone(),
            model: first.team.model().to_owned(),
            specification: first.specification(),
            arms: parts.iter().map(|part| part.manifest(first)).collect(),
            differences: differences(parts),
            cases: cases.hash,
            plan,
            method: options.method(),
            evaluators: evaluators.identity(&options.folder),
            settings: options.settings(&script_hashes(parts)),
            attributes: Case::attributes(&cases.cases),
            baseline: None,
            concurrency: options.concurrency(),
            shard: options.shard,
        };
        let mut arms: Vec<Arm> = parts
            .iter()
            .map(|part| Arm { name: part.name.clone(), team: Arc::clone(&part.team) })
            .collect();
        let mut has_other_settings = false;
        if let Some(baseline) = &baseline {
            baseline.put_first(&mut manifest)?;
            // Scripts are models, and compared as such.
            let settings = |text: &str| text.split(", script ").next().map(str::to_owned);
            has_other_settings =
                settings(&baseline.manifest.settings) != settings(&manifest.settings);
            // It has run already.
            let name = manifest.arms[0].name.clone();
            arms.insert(0, Arm { name, team: Arc::clone(&first.team) });
        }
        if let Some(fault) = manifest.sequential_fault(&cases.cases) {
            return Err(ExperimentError::Sequential(fault));
        }
        let cases = cases.cases;
        Ok(Self { manifest, arms, cases, evaluators, baseline, options, has_other_settings })
    }

    /// The manifest.
    pub fn manifest(&self) -> &ExperimentManifest {
        &self.manifest
    }

    /// Whether the runs of the baseline had other limits or sampling parameters.
    pub fn has_other_settings(&self) -> bool {
        self.has_other_settings
    }

    /// Executes the runs that are not finished. If it fails, finished runs are kept.
    pub async fn run(
        self,
        progress: Arc<dyn Progress>,
        cancelled: &CancellationToken,
    ) -> Result<FinishedExperiment, ExperimentError> {
        let labels = read_labels(self.options.labels.as_deref(), &self.manifest)?;
        let config = self.config()?;
        let Self { manifest, arms, cases, baseline, options, .. } = self;
        let mut state = RunState::open(options.report.as_deref(), &manifest)?;
        if let Some(baseline) = baseline {
            baseline.add_runs(&cases, &manifest, &mut state)?;
        }
        let ran = run(arms, Arc::new(cases), config, state, progress, cancelled).await?;
        let (state, stop) = ran;
        Ok(FinishedExperiment::new(manifest, state, stop, labels.as_deref(), options.report))
    }

    /// Executes the runs that are not finished and writes the report into its folder, if there is one.
    /// Shows the progress if the options ask for it.
    pub async fn run_and_write(
        self,
        cancelled: &CancellationToken,
    ) -> Result<FinishedExperiment, ExperimentError> {
        let bar = self.options.progress.unwrap_or(true).then(|| Arc::new(ProgressBar::new()));
        let progress: Arc<dyn Progress> = match &bar {
            Some(bar) => Arc::<ProgressBar>::clone(bar),
            None => Arc::new(()),
        };
        let finished = self.run(progress, cancelled).await;
        if let Some(bar) = bar {
            bar.end();
        }
        let mut finished = finished?;
        let runs = finished.report.finished;
        match &finished.stop {
            StopReason::Cancelled => return Err(ExperimentError::Cancelled(runs)),
            StopReason::NoAnswer(..) if runs == 0 => {
                return Err(ExperimentError::NoAnswer(
                    finished.stop.sentence().unwrap_or_default(),
                ));
            }
            _ => {}
        }
        finished.write()?;
        Ok(finished)
    }

    /// The configuration of the runs.
    fn config(&self) -> Result<RunConfig, ExperimentError> {
        let options = &self.options;
        if options.max_cost.is_some()
            && let Some(model) = unpriced_model(&self.arms, &self.evaluators, &options.prices)
        {
            return Err(ExperimentError::NoPrice(model));
        }
        let replies = options.replies.as_deref();
        let replies = replies.map(|path| ReplyCache::open(path, options.offline)).transpose()?;
        Ok(RunConfig {
            concurrency: options.concurrency() as usize,
            rate: options.rate,
            limits: Limits {
                iterations: options.max_iterations,
                time: options.time_limit,
                ..Limits::default()
            },
            prices: options.prices.clone(),
            max_cost: options.max_cost,
            max_tokens: options.max_tokens,
            max_time: options.max_time,
            shard: options.shard,
            replies: replies.map(Arc::new),
            evaluators: self.evaluators.clone(),
        })
    }
}

/// The hashes of the scripts that are models of arms.
fn script_hashes(parts: &[ArmParts<'_>]) -> String {
    let scripts = parts.iter().filter_map(|part| part.team.model().strip_prefix("scripted/"));
    let mut scripts: Vec<_> = scripts.map(Path::new).collect();
    scripts.dedup();
    let hashes = scripts.into_iter().filter_map(|path| std::fs::read(path).ok()).map(hash);
    hashes.collect::<Vec<_>>().join(", ")
}
