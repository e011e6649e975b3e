//! Experiments whose agent is a function and whose arms are bound libraries.

mod options;
mod report;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use gramc::progress::RunBar;
use gramc_agent::model::Models;
use gramc_agent::{AgentFunction, AgentTeam, Limits, TeamError};
use gramc_experiment::{
    Arm, ArmParts, Case, Evaluators, ExperimentError, ExperimentManifest, Journal, Method, Plan,
    Progress, Report, RunConfig, SequentialMonitor, StopReason, case_faults, differences,
    find_evaluators, unpriced_model,
};
use gramc_model::Module;
use gramc_project::Price;
use gramc_project::files::{PROJECT_FILE, plain, project_root, read_project};
use tokio_util::sync::CancellationToken;

use crate::library::BoundLibrary;
use crate::specification::Specification;
pub use options::ExperimentOptions;
pub use report::{ExperimentReport, merge_parts};

/// Why there is no experiment, or no report.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct ExperimentFailure(String);

impl From<ExperimentError> for ExperimentFailure {
    fn from(error: ExperimentError) -> Self {
        Self(error.to_string())
    }
}

impl From<serde_json::Error> for ExperimentFailure {
    fn from(error: serde_json::Error) -> Self {
        Self(error.to_string())
    }
}

impl From<TeamError> for ExperimentFailure {
    fn from(error: TeamError) -> Self {
        Self(error.to_string())
    }
}

/// An arm: a library that is bound to a specification.
#[derive(Debug)]
pub struct ExperimentArm<'a> {
    /// The name.
    pub name: String,
    /// The agent, which is the same in all arms.
    pub agent: Arc<dyn AgentFunction>,
    /// The library.
    pub library: &'a BoundLibrary,
    /// The specification.
    pub specification: &'a Specification,
}

/// The cases of an experiment.
#[derive(Debug)]
pub enum Cases {
    /// A file of JSON lines.
    File(PathBuf),
    /// JSON lines.
    Lines(String),
}

impl Cases {
    /// The cases, and what identifies them.
    fn read(self) -> Result<(Vec<Case>, String), ExperimentFailure> {
        let (text, name) = match self {
            Self::Lines(text) => (text.into_bytes(), "cases".to_owned()),
            Self::File(path) => {
                let name = path.display().to_string();
                let text = std::fs::read(&path).map_err(|error| {
                    ExperimentFailure(format!("cannot read {name}: {}", plain(&error)))
                })?;
                (text, name)
            }
        };
        let cases = Case::read(&text[..], &name)?;
        let identity = Case::hash_all(&text, &cases)?;
        Ok((cases, identity))
    }
}

/// An experiment that can run.
#[derive(Debug)]
pub struct Experiment {
    manifest: ExperimentManifest,
    arms: Vec<Arm>,
    cases: Vec<Case>,
    running: RunConfig,
    report: Option<PathBuf>,
    progress: bool,
}

impl Experiment {
    /// Plans an experiment. Nothing runs.
    ///
    /// # Errors
    ///
    /// If the cases or the options are invalid, or if runs cannot meet the expectation of a case.
    pub fn new(
        arms: &[ExperimentArm<'_>],
        cases: Cases,
        options: ExperimentOptions,
    ) -> Result<Self, ExperimentFailure> {
        options.check()?;
        if arms.len() < 2 {
            return Err(ExperimentFailure("expected at least two arms".to_owned()));
        }
        let (cases, identity) = cases.read()?;
        let modules: Vec<&Module> = arms.iter().map(|arm| &**arm.specification.module()).collect();
        let faults = case_faults(&cases, &modules);
        if !faults.is_empty() {
            return Err(ExperimentFailure(faults.join("\n")));
        }
        let teams = arms.iter().map(|arm| team(arm, options.model.as_deref()));
        let teams = teams.collect::<Result<Vec<_>, _>>()?;
        let parts: Vec<_> = arms.iter().zip(&teams).map(|(arm, team)| parts(arm, team)).collect();
        let mut models = Models::new(|name| std::env::var(name).ok(), Path::new(""));
        let evaluators = find_evaluators(&cases, options.judge.as_deref(), &mut models);
        let evaluators = evaluators.map_err(|error| match error {
            ExperimentError::NoEvaluator { .. } => {
                ExperimentFailure(format!("{error}: set `judge`"))
            }
            error => error.into(),
        })?;
        let manifest = manifest(&parts, (&cases, identity), &evaluators, &options)?;
        if let Some(fault) = manifest.sequential_fault(&cases) {
            return Err(ExperimentFailure(format!("`sequential` {fault}")));
        }
        let running = running(&teams, evaluators, &options)?;
        let ExperimentOptions { report, progress, .. } = options;
        Ok(Self { manifest, arms: teams, cases, running, report, progress })
    }

    /// Runs what has not run yet, and writes the report into its folder, if there is one.
    ///
    /// # Errors
    ///
    /// If runs cannot be written, if it is cancelled, or if no run could be counted.
    pub async fn run(
        self,
        cancelled: &CancellationToken,
    ) -> Result<ExperimentReport, ExperimentFailure> {
        let Self { manifest, arms, cases, running, report: folder, progress } = self;
        let state = Journal::open_in(folder.as_deref(), &manifest)?;
        let monitor = SequentialMonitor::of_manifest(&manifest);
        let bar = progress.then(|| Arc::new(RunBar::new()));
        let shown: Arc<dyn Progress> = match &bar {
            Some(bar) => Arc::<RunBar>::clone(bar),
            None => Arc::new(()),
        };
        let cases = Arc::new(cases);
        let ended = gramc_experiment::run(arms, cases, running, state, monitor, shown, cancelled);
        let ended = ended.await;
        if let Some(bar) = bar {
            bar.end();
        }
        let (mut journal, stats, monitor, stop) = ended?;
        match &stop {
            StopReason::Cancelled => {
                let finished = stats.finished();
                return Err(ExperimentFailure(format!("cancelled after {finished} runs")));
            }
            StopReason::NoAnswer(runs, why) if stats.finished() == 0 => {
                let s = if *runs == 1 { "" } else { "s" };
                return Err(ExperimentFailure(format!(
                    "{runs} run{s} could not be counted: {why}"
                )));
            }
            _ => {}
        }
        let report = Report::new(manifest, &stats, monitor.as_ref(), &stop);
        ExperimentReport::written(report, &stop, &mut journal, folder.as_deref())
    }
}

/// The agent on the library of an arm.
fn team(arm: &ExperimentArm<'_>, model: Option<&str>) -> Result<Arm, ExperimentFailure> {
    let (module, bound) = (arm.specification.module(), &arm.library.bound);
    let team = AgentTeam::of_function(module, bound, Arc::clone(&arm.agent), model)?;
    Ok(Arm { name: arm.name.clone(), team: Arc::new(team) })
}

/// What an arm consists of.
fn parts<'p>(arm: &'p ExperimentArm<'_>, team: &'p Arm) -> ArmParts<'p> {
    let parts = &arm.library.parts;
    ArmParts {
        name: &arm.name,
        agent: team.team.agent(),
        model: team.team.model(),
        attributes: &[],
        module: arm.specification.module(),
        library: &parts.declared,
        functions: &parts.functions,
        recordings: &parts.recordings,
    }
}

/// Everything that runs depend on.
fn manifest(
    parts: &[ArmParts<'_>],
    (cases, identity): (&[Case], String),
    evaluators: &Evaluators,
    options: &ExperimentOptions,
) -> Result<ExperimentManifest, ExperimentFailure> {
    let first = &parts[0];
    let (default, sequential) = (Method::default(), options.sequential);
    Ok(ExperimentManifest {
        name: options.name.clone(),
        description: None,
        agent: first.agent.to_owned(),
        agent_version: options.agent_version.clone(),
        model: first.model.to_owned(),
        specification: first.specification(),
        arms: parts.iter().map(|part| part.manifest(first)).collect(),
        differences: differences(parts),
        cases: identity,
        plan: Plan {
            cases: cases.len(),
            arms: parts.len(),
            repeats: options.repeats,
            seed: options.seed,
        },
        method: Method {
            margin: options.margin.map_or(default.margin, |points| points / 100.0),
            sequential,
            primary: options.primary()?,
            ..default
        },
        settings: format!("time {:?}, sequential {sequential}", options.time_limit),
        evaluators: evaluators.identity(Path::new("")),
        attributes: Case::attributes(cases),
        baseline: None,
        concurrency: options.concurrency,
        shard: options.shard,
    })
}

fn running(
    arms: &[Arm],
    evaluators: Evaluators,
    options: &ExperimentOptions,
) -> Result<RunConfig, ExperimentFailure> {
    let prices = prices()?;
    if options.max_cost.is_some()
        && let Some(model) = unpriced_model(arms, &evaluators, &prices)
    {
        return Err(ExperimentFailure(format!(
            "`max_cost` needs the price of `{model}` in gram.toml, as \
             [prices] \"{model}\" = {{ input = 0.15, output = 0.6 }} for a million tokens each; \
             `model` names the model of the agent"
        )));
    }
    Ok(RunConfig {
        concurrency: options.concurrency as usize,
        rate: options.rate,
        limits: Limits { time: options.time_limit, ..Limits::default() },
        prices,
        max_cost: options.max_cost,
        max_tokens: options.max_tokens,
        max_time: options.max_time,
        shard: options.shard,
        replies: None,
        evaluators,
    })
}

/// The prices of the project that the current folder belongs to.
fn prices() -> Result<BTreeMap<String, Price>, ExperimentFailure> {
    let here = std::env::current_dir().unwrap_or_default();
    let Some(root) = project_root(&here) else { return Ok(BTreeMap::new()) };
    let path = root.join(PROJECT_FILE);
    let read = read_project(&path, &path.display().to_string());
    let (project, _) = read.map_err(|error| ExperimentFailure(error.to_string()))?;
    Ok(project.prices.into_iter().collect())
}
