//! Execution of experiments.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use chrono::{SecondsFormat, Utc};
use parking_lot::Mutex;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::ExperimentError;
use crate::case::Case;
use crate::journal::Journal;
use crate::monitor::SequentialMonitor;
use crate::plan::{PlannedRun, Shard};
use crate::price;
use crate::reply_cache::{CachedModel, ReplyCache};
use crate::run::{Run, RunCounter, RunCounts, RunMetrics, Transcript};
use crate::run_stats::RunStats;
use gram_agent::AgentTeam;
use gram_agent::Conversation;
use gram_agent::model::{Model, ModelError, ModelErrorKind};
use gram_agent::{Limits, TurnEnd};
use gram_agent::{Message, Usage};
use gram_project::Price;

/// Consecutive runs without an answer of the model that end an experiment.
const MAX_CONSECUTIVE_FAILURES: u32 = 10;

/// An arm of an experiment.
#[derive(Debug, Clone)]
pub struct Arm {
    /// The name of the library.
    pub name: String,
    /// The agent on the library.
    pub team: Arc<AgentTeam>,
}

/// How an experiment runs.
#[derive(Debug)]
pub struct RunConfig {
    /// Maximum concurrent runs.
    pub concurrency: usize,
    /// Maximum runs started per second.
    pub rate: Option<f64>,
    /// The limits of each run.
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

/// Receives the progress of an experiment.
pub trait Progress: Send + Sync {
    /// Reports the number of finished runs and of all runs.
    fn finished(&self, finished: usize, of: usize);
}

impl Progress for () {
    fn finished(&self, _: usize, _: usize) {}
}

/// Executes the runs that are not finished.
///
/// # Errors
///
/// If a run cannot be written. Finished runs stay in the journal.
pub async fn run(
    arms: Vec<Arm>,
    cases: Arc<Vec<Case>>,
    running: RunConfig,
    (journal, stats): (Journal, RunStats),
    monitor: Option<SequentialMonitor>,
    progress: Arc<dyn Progress>,
    cancelled: &CancellationToken,
) -> Result<(Journal, RunStats, Option<SequentialMonitor>, StopReason), ExperimentError> {
    let plan = stats.plan();
    let of = plan.planned_runs().filter(|planned| plan.is_in(running.shard, planned.place)).count();
    let missing = plan
        .planned_runs()
        .filter(|planned| {
            plan.is_in(running.shard, planned.place) && stats.run(planned.place).is_none()
        })
        .collect::<Vec<_>>();
    let concurrency = running.concurrency.clamp(1, 1_024);
    let mut state = RunnerState {
        missing: missing.into_iter(),
        journal,
        stats,
        monitor,
        stop: None,
        failed: 0,
        failed_in_a_row: 0,
        unanswered: (0, 0.0),
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
        state: Mutex::new(state),
        ending: cancelled.child_token(),
    });
    work.progress.finished(work.state.lock().stats.finished(), of);
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
    let state = work.state.into_inner();
    let stop = match state.stop {
        _ if was_cancelled => StopReason::Cancelled,
        Some(stop) => stop,
        None if state.failed > 0 => StopReason::NoAnswer(state.failed, state.last),
        None => StopReason::Done,
    };
    Ok((state.journal, state.stats, state.monitor, stop))
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
    state: Mutex<RunnerState>,
    /// Cancels running runs.
    ending: CancellationToken,
}

struct RunnerState {
    missing: std::vec::IntoIter<PlannedRun>,
    journal: Journal,
    stats: RunStats,
    monitor: Option<SequentialMonitor>,
    /// Why no more runs start.
    stop: Option<StopReason>,
    /// Runs in which the model failed.
    failed: usize,
    /// Consecutive runs in which the model failed.
    failed_in_a_row: u32,
    /// Tokens and cost of failed runs.
    unanswered: (u64, f64),
    last: String,
    began: Instant,
    /// When the next run may start.
    next: tokio::time::Instant,
}

impl RunnerState {
    /// Stops the experiment if the monitor has reached a decision.
    fn check_decision(&mut self) {
        if let Some(monitor) = &mut self.monitor
            && let Some(why) = monitor.update(&self.stats)
        {
            let why = why.to_owned();
            self.stop.get_or_insert(StopReason::Decided(why));
        }
    }

    /// The limit that is reached, if any.
    fn reached_limit(&self, running: &RunConfig) -> Option<StopReason> {
        let tokens = self.stats.tokens().saturating_add(self.unanswered.0);
        let cost = self.stats.cost() + self.unanswered.1;
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
            match self.one(planned).await? {
                RunOutcome::Run(run) => self.finish(&run)?,
                RunOutcome::Cancelled => return Ok(()),
                RunOutcome::NoAnswer { detail, hopeless, tokens, cost } => {
                    self.add_failure(planned, detail, hopeless, (tokens, cost));
                }
            }
        }
        Ok(())
    }

    fn finish(&self, run: &Run) -> Result<(), ExperimentError> {
        let mut state = self.state.lock();
        let RunnerState { journal, stats, .. } = &mut *state;
        journal.write(run)?;
        stats.add(run);
        if run.tokens.is_none() && self.running.max_tokens.is_some() {
            let why = "the provider does not report tokens, so the token limit cannot be checked";
            state.stop.get_or_insert(StopReason::Early(why.to_owned()));
        } else if run.cost.is_none() && self.running.max_cost.is_some() {
            let why = "the cost of runs is unknown, so the cost limit cannot be checked";
            state.stop.get_or_insert(StopReason::Early(why.to_owned()));
        }
        state.failed_in_a_row = 0;
        state.check_decision();
        let finished = state.stats.finished();
        drop(state);
        self.progress.finished(finished, self.of);
        Ok(())
    }

    /// A run in which the model failed is not counted. It is repeated when the experiment resumes.
    fn add_failure(&self, planned: PlannedRun, detail: String, hopeless: bool, spent: (u64, f64)) {
        let mut state = self.state.lock();
        state.failed += 1;
        state.failed_in_a_row += 1;
        state.unanswered.0 = state.unanswered.0.saturating_add(spent.0);
        state.unanswered.1 += spent.1;
        let block = state.stats.plan().block().max(1);
        if let Some(monitor) = &mut state.monitor {
            monitor.leave_out(planned.place / block);
        }
        // A permanent error in the first run will occur in all runs.
        let hopeless = hopeless && state.stats.finished() == 0;
        if hopeless || state.failed_in_a_row >= MAX_CONSECUTIVE_FAILURES {
            let failed = state.failed;
            state.stop.get_or_insert(StopReason::NoAnswer(failed, detail.clone()));
        }
        state.last = detail;
    }

    async fn one(&self, planned: PlannedRun) -> Result<RunOutcome, ExperimentError> {
        // Planned runs are generated from the numbers of cases and arms.
        let (Some(case), Some(arm)) = (self.cases.get(planned.case), self.arms.get(planned.arm))
        else {
            let message = "the plan does not match the cases and arms";
            return Err(ExperimentError::Internal(message.to_owned()));
        };
        let saved = Arc::new(AtomicU64::new(0));
        let team = self.team(arm, case, planned, &saved);
        let mut conversation = Conversation::new(&team, self.running.limits);
        let started_at = Utc::now().to_rfc3339_opts(SecondsFormat::Millis, true);
        let (counter, start) = (RunCounter::default(), Instant::now());
        let (mut answer, mut end, mut iterations) = (String::new(), TurnEnd::Answered, 0);
        for text in &case.turns {
            let turn = conversation.turn(text, &counter, &self.ending).await;
            (answer, end) = (turn.text, turn.end);
            iterations += turn.iterations;
            if end != TurnEnd::Answered {
                break;
            }
        }
        let saved = Duration::from_micros(saved.load(Ordering::Relaxed));
        let latency_ms = (start.elapsed() + saved).as_secs_f64() * 1e3;
        conversation.close().await;
        let mut counts = counter.take();
        // The requests of a program are not observed.
        counts.iterations = counts.iterations.max(iterations);
        let RunMetrics { calls, refused, repairs, attempts, iterations, tokens, cost, latency_ms } =
            self.measures(arm, &counts, latency_ms);
        match &end {
            TurnEnd::Cancelled => return Ok(RunOutcome::Cancelled),
            TurnEnd::Failed(error) if !self.is_failure_of_arm(error, iterations) => {
                let hopeless = matches!(
                    error.kind,
                    ModelErrorKind::UnknownModel
                        | ModelErrorKind::Rejected
                        | ModelErrorKind::InvalidRequest
                        | ModelErrorKind::Exhausted
                        | ModelErrorKind::Program
                );
                return Ok(RunOutcome::without(error.to_string(), hopeless, tokens, cost));
            }
            _ => {}
        }
        let transcript = Transcript {
            case: case.id.clone(),
            definition: Arc::clone(&case.definition),
            arm: arm.name.clone(),
            text: answer,
            messages: conversation.save().messages,
            calls: counts.calls,
        };
        let mut missed = match &case.grader {
            // There is nothing to grade.
            Some(_) if matches!(end, TurnEnd::Failed(_)) => Vec::new(),
            Some(grader) => match grader.grade(&transcript).await {
                Ok(missed) => missed,
                // A failed grader says nothing about the arm.
                Err(error) => {
                    return Ok(RunOutcome::without(error.to_string(), true, tokens, cost));
                }
            },
            None => Vec::new(),
        };
        for missed in &mut missed {
            *missed = conversation.mask_text(missed);
        }
        if case.grader.is_some() && end != TurnEnd::Answered {
            missed.insert(0, end.description());
        }
        Ok(RunOutcome::Run(Box::new(Run {
            place: planned.place,
            case: transcript.case,
            arm: transcript.arm,
            repeat: planned.repeat,
            started_at,
            model: counts.model,
            seed: self.seed,
            success: case.grader.as_ref().map(|_| missed.is_empty()),
            missed,
            end: end.name().to_owned(),
            calls,
            refused,
            repairs,
            attempts,
            iterations,
            tokens,
            cost,
            latency_ms,
            text: last_text(&transcript.messages),
            messages: transcript.messages,
        })))
    }

    /// Whether an arm caused the error: the provider rejects what a request contains, such as its
    /// length, or the agent's program fails, and other requests or runs succeeded. It would do so
    /// again.
    fn is_failure_of_arm(&self, error: &ModelError, iterations: u32) -> bool {
        let is_lasting =
            matches!(error.kind, ModelErrorKind::InvalidRequest | ModelErrorKind::Program);
        is_lasting && (iterations > 1 || self.state.lock().stats.finished() > 0)
    }

    /// The agents of one run, with separate models.
    fn team(
        &self,
        arm: &Arm,
        case: &Case,
        planned: PlannedRun,
        saved: &Arc<AtomicU64>,
    ) -> Arc<AgentTeam> {
        let replies = self.running.replies.as_ref();
        if replies.is_none() && !arm.team.models().iter().any(|model| model.fork().is_some()) {
            return Arc::clone(&arm.team);
        }
        Arc::new(arm.team.with_models(|model| {
            let model = model.fork().unwrap_or_else(|| Arc::clone(model));
            let Some(replies) = replies else { return model };
            let run = format!("{}\n{}\n{}", arm.name, planned.repeat, case.id);
            let kept: Arc<dyn Model> = Arc::new(CachedModel {
                model,
                replies: Arc::clone(replies),
                run,
                requests: Mutex::default(),
                saved: Arc::clone(saved),
            });
            kept
        }))
    }

    fn measures(&self, arm: &Arm, counts: &RunCounts, latency_ms: f64) -> RunMetrics {
        let mut usage = Usage::default();
        let mut cost = Some(0.0);
        for (agent, used) in &counts.usage {
            usage.add(*used);
            let model = arm.team.model_name_of(agent).unwrap_or_default();
            let price = self.running.prices.get(model).filter(|_| used.total() > 0);
            cost = cost.zip(price).map(|(sum, price)| sum + price::cost(price, *used));
        }
        let known = usage.input_tokens.is_some() || usage.output_tokens.is_some();
        RunMetrics {
            calls: u32::try_from(counts.calls.len()).unwrap_or(u32::MAX),
            refused: counts.refused,
            repairs: counts.repairs,
            attempts: counts.attempts,
            iterations: counts.iterations,
            tokens: known.then(|| usage.total()),
            cost,
            latency_ms,
        }
    }
}

/// The last text of the model, with secrets masked.
fn last_text(messages: &[Message]) -> String {
    let mut texts = messages.iter().rev().filter_map(|message| match message {
        Message::Assistant(message) => message.content.clone(),
        _ => None,
    });
    texts.next().unwrap_or_default()
}

/// The outcome of an attempted run.
enum RunOutcome {
    Run(Box<Run>),
    Cancelled,
    NoAnswer { detail: String, hopeless: bool, tokens: u64, cost: f64 },
}

impl RunOutcome {
    fn without(detail: String, hopeless: bool, tokens: Option<u64>, cost: Option<f64>) -> Self {
        let (tokens, cost) = (tokens.unwrap_or_default(), cost.unwrap_or_default());
        Self::NoAnswer { detail, hopeless, tokens, cost }
    }
}
