//! Execution of experiments.

mod execution;
mod pairs;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::cases::case::Case;
use crate::error::ExperimentError;
use crate::grading::evaluators::Evaluators;
use crate::grading::reply_cache::ReplyCache;
use crate::price::models_without_price;
use crate::run::Run;
use crate::running::journal::Journal;
use crate::running::manifest::ExperimentManifest;
use crate::running::monitor::SequentialMonitor;
use crate::running::plan::{PlannedRun, Shard};
use crate::running::run_stats::RunStats;
use execution::{FailedRun, RunOutcome, Spending};
use gramc_agent::{AgentTeam, Limits};
use gramc_project::Price;
use pairs::WaitingTranscripts;

/// Consecutive runs without an answer of the model that end an experiment.
const MAX_CONSECUTIVE_FAILURES: u32 = 10;

#[derive(Debug, Clone)]
pub(crate) struct Arm {
    /// The name of the library.
    pub name: String,
    /// The agent on the library.
    pub team: Arc<AgentTeam>,
}

/// A model of the arms or the evaluators that has no price, so that a limit of the cost cannot be kept.
pub(crate) fn unpriced_model(
    arms: &[Arm],
    evaluators: &Evaluators,
    prices: &BTreeMap<String, Price>,
) -> Option<String> {
    let models = arms.iter().flat_map(|arm| models_without_price(&arm.team, prices));
    let judges = evaluators.names().filter(|name| !prices.contains_key(*name));
    models.chain(judges).next().map(str::to_owned)
}

/// How an experiment runs.
#[derive(Debug)]
pub(crate) struct RunConfig {
    /// Maximum concurrent runs.
    pub concurrency: usize,
    /// Maximum runs started per second.
    pub rate: Option<f64>,
    pub limits: Limits,
    /// Prices by model.
    pub prices: BTreeMap<String, Price>,
    /// Maximum total cost. No run starts beyond it.
    pub max_cost: Option<f64>,
    /// Maximum total tokens. No run starts beyond it.
    pub max_tokens: Option<u64>,
    /// Maximum duration. No run starts after it.
    pub max_time: Option<Duration>,
    /// The shard to run, or `None` for all runs.
    pub shard: Option<Shard>,
    /// The cache of model replies.
    pub replies: Option<Arc<ReplyCache>>,
    /// The models of judges and simulated users.
    pub evaluators: Evaluators,
}

/// Why an experiment stopped.
#[derive(Debug, Clone, PartialEq)]
pub enum StopReason {
    /// All runs are finished.
    Done,
    /// A limit was reached.
    Early(String),
    /// Sequential monitoring reached a decision.
    Decided(String),
    /// The caller cancelled it.
    Cancelled,
    /// The model failed in this number of runs, which are not counted. With the last error.
    NoAnswer(usize, String),
    /// Runs are missing in the parts of the experiment.
    Missing(String),
}

impl StopReason {
    /// The reason as a sentence, unless all runs are finished.
    pub fn sentence(&self) -> Option<String> {
        match self {
            Self::Done => None,
            Self::Early(reason) | Self::Decided(reason) | Self::Missing(reason) => {
                Some(reason.clone())
            }
            Self::Cancelled => Some("cancelled".to_owned()),
            Self::NoAnswer(runs, error) => {
                let s = if *runs == 1 { "" } else { "s" };
                Some(format!("{runs} run{s} could not be counted: {error}"))
            }
        }
    }
}

/// Receives the progress of an experiment.
pub trait Progress: Send + Sync {
    /// Reports the number of finished runs and of all runs.
    fn finished(&self, finished: usize, of: usize);
}

impl Progress for () {
    fn finished(&self, _: usize, _: usize) {}
}

/// The finished runs of an experiment.
#[derive(Debug)]
pub(crate) struct RunState {
    pub(crate) journal: Journal,
    pub(crate) stats: RunStats,
    pub(crate) monitor: Option<SequentialMonitor>,
}

impl RunState {
    /// Opens the journal in a folder, or one that keeps no runs.
    pub(crate) fn open(
        folder: Option<&Path>,
        manifest: &ExperimentManifest,
    ) -> Result<Self, ExperimentError> {
        let (journal, stats) = match folder {
            Some(folder) => Journal::open(folder, manifest)?,
            None => (Journal::none(), RunStats::new(manifest)),
        };
        Ok(Self { journal, stats, monitor: SequentialMonitor::of_manifest(manifest) })
    }

    /// Adds a run to the journal and the statistics.
    pub(crate) fn add(&mut self, run: &Run) -> Result<(), ExperimentError> {
        self.journal.write(run)?;
        self.stats.add(run);
        Ok(())
    }
}

/// Executes the runs that are not finished. Returns the new state and why it stopped.
/// If it fails, finished runs stay in the journal.
pub(crate) async fn run(
    arms: Vec<Arm>,
    cases: Arc<Vec<Case>>,
    running: RunConfig,
    mut runs: RunState,
    progress: Arc<dyn Progress>,
    cancelled: &CancellationToken,
) -> Result<(RunState, StopReason), ExperimentError> {
    let plan = runs.stats.plan;
    let planned = plan.planned_runs().filter(|planned| plan.is_in(running.shard, planned.place));
    let mut missing: Vec<_> = planned.collect();
    let of = missing.len();
    missing.retain(|planned| runs.stats.run(planned.place).is_none());
    let concurrency = running.concurrency.clamp(1, 1_024);
    let waiting = WaitingTranscripts::read(&cases, &mut runs)?;
    let mut state = RunnerState {
        missing: missing.into_iter(),
        runs,
        stop: None,
        failed: 0,
        failed_in_a_row: 0,
        unanswered: Spending::default(),
        last: String::new(),
        began: Instant::now(),
        next: tokio::time::Instant::now(),
    };
    state.check_decision();
    let work = Arc::new(Runner {
        arms,
        cases,
        running,
        progress,
        of,
        seed: plan.seed,
        waiting,
        state: Mutex::new(state),
        ending: cancelled.child_token(),
    });
    work.progress.finished(work.state.lock().runs.stats.finished, of);
    let mut workers = JoinSet::new();
    for _ in 0..concurrency {
        workers.spawn(Arc::clone(&work).work());
    }
    let mut failed = None;
    while let Some(ended) = workers.join_next().await {
        // Panics of tools are caught elsewhere, so a panic here is an internal error.
        let ended = ended.unwrap_or_else(|error| Err(ExperimentError::Internal(error.to_string())));
        if let Err(error) = ended {
            work.ending.cancel();
            failed = failed.or(Some(error));
        }
    }
    if let Some(error) = failed {
        return Err(error);
    }
    let was_cancelled = cancelled.is_cancelled();
    let work = Arc::into_inner(work)
        .ok_or_else(|| ExperimentError::Internal("a run did not end".to_owned()))?;
    let mut state = work.state.into_inner();
    let stop = match state.stop.take() {
        _ if was_cancelled => StopReason::Cancelled,
        Some(stop) => stop,
        None if state.failed > 0 => {
            StopReason::NoAnswer(state.failed, std::mem::take(&mut state.last))
        }
        None => StopReason::Done,
    };
    Ok((state.runs, stop))
}

/// The state shared by all workers.
struct Runner {
    arms: Vec<Arm>,
    cases: Arc<Vec<Case>>,
    running: RunConfig,
    progress: Arc<dyn Progress>,
    /// The number of runs.
    of: usize,
    /// The seed of the plan.
    seed: u64,
    /// Transcripts that a judge will compare.
    waiting: WaitingTranscripts,
    state: Mutex<RunnerState>,
    /// Cancels running runs.
    ending: CancellationToken,
}

struct RunnerState {
    missing: std::vec::IntoIter<PlannedRun>,
    runs: RunState,
    /// Why no more runs start.
    stop: Option<StopReason>,
    /// Runs in which the model failed.
    failed: usize,
    /// Consecutive runs in which the model failed.
    failed_in_a_row: u32,
    /// The tokens and the cost of failed runs.
    unanswered: Spending,
    last: String,
    began: Instant,
    /// When the next run may start.
    next: tokio::time::Instant,
}

impl RunnerState {
    /// Stops the experiment if the monitor has reached a decision.
    fn check_decision(&mut self) {
        let RunState { stats, monitor, .. } = &mut self.runs;
        if let Some(why) = monitor.as_mut().and_then(|monitor| monitor.update(stats)) {
            self.stop.get_or_insert_with(|| StopReason::Decided(why.to_owned()));
        }
    }

    /// The limit that is reached, if any.
    fn reached_limit(&self, running: &RunConfig) -> Option<StopReason> {
        let tokens = self.runs.stats.tokens.saturating_add(self.unanswered.tokens);
        let cost = self.runs.stats.cost + self.unanswered.cost;
        let limit = if running.max_tokens.is_some_and(|most| tokens >= most) {
            format!("reached the token limit with {tokens} tokens")
        } else if running.max_cost.is_some_and(|most| cost >= most) {
            format!("reached the cost limit with {cost:.4}")
        } else if running.max_time.is_some_and(|most| self.began.elapsed() >= most) {
            "reached the time limit".to_owned()
        } else {
            return None;
        };
        Some(StopReason::Early(limit))
    }
}

impl Runner {
    /// The next run, and when it begins.
    fn next(&self) -> Option<(PlannedRun, Option<tokio::time::Instant>)> {
        if self.is_over() {
            return None;
        }
        let mut state = self.state.lock();
        let planned = state.missing.next()?;
        let at = self.running.rate.map(|rate| {
            let at = state.next.max(tokio::time::Instant::now());
            state.next = at + Duration::from_secs_f64((1.0 / rate).min(86_400.0));
            at
        });
        Some((planned, at))
    }

    fn is_over(&self) -> bool {
        let mut state = self.state.lock();
        if state.stop.is_none() {
            state.stop = state.reached_limit(&self.running);
        }
        state.stop.is_some() || self.ending.is_cancelled()
    }

    async fn work(self: Arc<Self>) -> Result<(), ExperimentError> {
        while let Some((planned, at)) = self.next() {
            if let Some(at) = at {
                tokio::select! {
                    biased;
                    () = self.ending.cancelled() => return Ok(()),
                    () = tokio::time::sleep_until(at) => {}
                }
                // The experiment may have stopped during the wait.
                if self.is_over() {
                    return Ok(());
                }
            }
            match self.execute(planned).await? {
                RunOutcome::Run(run) => self.finish(&run)?,
                RunOutcome::Cancelled => return Ok(()),
                RunOutcome::NoAnswer(failed) => self.add_failure(planned, failed),
            }
        }
        Ok(())
    }

    fn finish(&self, run: &Run) -> Result<(), ExperimentError> {
        let mut state = self.state.lock();
        state.runs.add(run)?;
        let has_unknown = run.tokens.is_none() || run.evaluation.has_unknown_tokens();
        if has_unknown && self.running.max_tokens.is_some() {
            let why = "the provider does not report tokens, so the token limit cannot be checked";
            state.stop.get_or_insert(StopReason::Early(why.to_owned()));
        } else if run.cost.is_none() && self.running.max_cost.is_some() {
            let why = "the cost of runs is unknown, so the cost limit cannot be checked";
            state.stop.get_or_insert(StopReason::Early(why.to_owned()));
        }
        state.failed_in_a_row = 0;
        state.check_decision();
        let finished = state.runs.stats.finished;
        drop(state);
        self.progress.finished(finished, self.of);
        Ok(())
    }

    /// A run in which the model failed is not counted. It is repeated when the experiment resumes.
    fn add_failure(&self, planned: PlannedRun, run: FailedRun) {
        let FailedRun { detail, hopeless, spent } = run;
        let mut state = self.state.lock();
        state.failed += 1;
        state.failed_in_a_row += 1;
        state.unanswered.add(spent);
        let block = state.runs.stats.plan.block().max(1);
        if let Some(monitor) = &mut state.runs.monitor {
            monitor.leave_out(planned.place / block);
        }
        // A permanent error in the first run will occur in all runs.
        let hopeless = hopeless && state.runs.stats.finished == 0;
        if hopeless || state.failed_in_a_row >= MAX_CONSECUTIVE_FAILURES {
            let failed = state.failed;
            state.stop.get_or_insert(StopReason::NoAnswer(failed, detail.clone()));
        }
        state.last = detail;
    }
}
