//! Runs an experiment.

use std::collections::{BTreeMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::ExperimentError;
use crate::case::Case;
use crate::journal::Journal;
use crate::plan::{Shard, Slot};
use crate::record::{Counter, Counts, Measures, Run, Seen};
use crate::replies::{Kept, Replies};
use crate::sequel::Looks;
use crate::tally::Tally;
use gram_agent::Conversation;
use gram_agent::Crew;
use gram_agent::model::{Failure, Model};
use gram_agent::{End, Limits};
use gram_agent::{Message, Usage};

/// So many runs in a row without an answer of the model end an experiment: it cannot be reached.
const MOST_FAILED: u32 = 10;

/// An arm that can run.
#[derive(Debug, Clone)]
pub struct Arm {
    /// Its name.
    pub name: String,
    /// The agent on its library.
    pub crew: Arc<Crew>,
}

/// What a model's tokens cost, for a million each.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Price {
    /// What is sent.
    pub input: f64,
    /// What comes back.
    pub output: f64,
}

/// How an experiment runs.
#[derive(Debug)]
pub struct Running {
    /// How many runs go on at once.
    pub concurrency: usize,
    /// How many begin in a second at most.
    pub rate: Option<f64>,
    /// The limits of each run.
    pub limits: Limits,
    /// What tokens cost, by model.
    pub prices: BTreeMap<String, Price>,
    /// No run begins when all together cost so much.
    pub most_cost: Option<f64>,
    /// No run begins when all together took so many tokens.
    pub most_tokens: Option<u64>,
    /// No run begins after so long.
    pub most_time: Option<Duration>,
    /// Which part runs; nothing for all.
    pub shard: Option<Shard>,
    /// Where replies of models are kept.
    pub replies: Option<Arc<Replies>>,
}

impl Default for Running {
    fn default() -> Self {
        Self {
            concurrency: 8,
            rate: None,
            limits: Limits::default(),
            prices: BTreeMap::new(),
            most_cost: None,
            most_tokens: None,
            most_time: None,
            shard: None,
            replies: None,
        }
    }
}

/// Why an experiment is over.
#[derive(Debug, Clone, PartialEq)]
pub enum Stop {
    /// All runs are finished.
    Done,
    /// It ended before; why, in words.
    Early(String),
    /// What is known is enough; why, in words.
    Decided(String),
    /// Somebody ended it.
    Cancelled,
    /// The model gave no answer in so many runs, which are not counted; the last reason.
    NoAnswer(usize, String),
}

/// Who is told of finished runs.
pub trait Progress: Send + Sync {
    /// So many runs are finished now, of so many.
    fn finished(&self, finished: usize, of: usize);
}

impl Progress for () {
    fn finished(&self, _: usize, _: usize) {}
}

/// Runs what is not finished yet.
///
/// # Errors
///
/// When a run cannot be written down, or a program that grades cannot be run. What was written
/// before stays.
pub async fn run(
    arms: Vec<Arm>,
    cases: Arc<Vec<Case>>,
    running: Running,
    (journal, tally): (Journal, Tally),
    looks: Option<Looks>,
    progress: Arc<dyn Progress>,
    cancelled: &CancellationToken,
) -> Result<(Journal, Tally, Option<Looks>, Stop), ExperimentError> {
    let plan = tally.plan();
    let of = plan.slots().filter(|slot| plan.is_in(running.shard, slot.place)).count();
    let missing = plan
        .slots()
        .filter(|slot| plan.is_in(running.shard, slot.place) && tally.run(slot.place).is_none())
        .collect::<Vec<_>>();
    let concurrency = running.concurrency.clamp(1, 1_024);
    let mut state = State {
        missing: missing.into_iter(),
        journal,
        tally,
        looks,
        stop: None,
        failed: 0,
        row: 0,
        unanswered: (0, 0.0),
        last: String::new(),
        began: Instant::now(),
        next: tokio::time::Instant::now(),
    };
    state.look();
    let work = Arc::new(Work {
        arms,
        cases,
        running,
        progress,
        of,
        state: Mutex::new(state),
        ending: cancelled.child_token(),
    });
    work.progress.finished(work.state().tally.finished(), of);
    let mut workers = JoinSet::new();
    for _ in 0..concurrency {
        workers.spawn(Arc::clone(&work).work());
    }
    let mut failed = None;
    while let Some(ended) = workers.join_next().await {
        // A worker panics only where a tool's own code does outside its guard; that is no verdict.
        let ended = ended.unwrap_or_else(|error| Err(ExperimentError::new(error.to_string())));
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
        .ok_or_else(|| ExperimentError::new("a run goes on after the end of its experiment"))?;
    let state = work.state.into_inner().unwrap_or_else(PoisonError::into_inner);
    let stop = match state.stop {
        _ if was_cancelled => Stop::Cancelled,
        Some(stop) => stop,
        None if state.failed > 0 => Stop::NoAnswer(state.failed, state.last),
        None => Stop::Done,
    };
    Ok((state.journal, state.tally, state.looks, stop))
}

/// What all workers share.
struct Work {
    arms: Vec<Arm>,
    cases: Arc<Vec<Case>>,
    running: Running,
    progress: Arc<dyn Progress>,
    /// How many runs there are.
    of: usize,
    state: Mutex<State>,
    /// Ends runs that are under way.
    ending: CancellationToken,
}

struct State {
    missing: std::vec::IntoIter<Slot>,
    journal: Journal,
    tally: Tally,
    looks: Option<Looks>,
    /// Why no more runs begin.
    stop: Option<Stop>,
    /// How many runs had no answer of the model.
    failed: usize,
    /// How many of them in a row.
    row: u32,
    /// What they took and cost all the same.
    unanswered: (u64, f64),
    last: String,
    began: Instant,
    /// When the next run may begin.
    next: tokio::time::Instant,
}

impl State {
    /// Looks whether what is known is enough.
    fn look(&mut self) {
        if let Some(looks) = &mut self.looks
            && let Some(why) = looks.look(&self.tally)
        {
            let why = why.to_owned();
            self.stop.get_or_insert(Stop::Decided(why));
        }
    }

    /// Which budget is spent.
    fn spent(&self, running: &Running) -> Option<Stop> {
        let tokens = self.tally.tokens().saturating_add(self.unanswered.0);
        let cost = self.tally.cost() + self.unanswered.1;
        let told = if running.most_tokens.is_some_and(|most| tokens >= most) {
            format!("the budget of tokens is spent: {tokens}")
        } else if running.most_cost.is_some_and(|most| cost >= most) {
            format!("the budget of money is spent: {cost:.4}")
        } else if running.most_time.is_some_and(|most| self.began.elapsed() >= most) {
            "the time is over".to_owned()
        } else {
            return None;
        };
        Some(Stop::Early(told))
    }
}

impl Work {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next run, and when it begins.
    fn next(&self) -> Option<(Slot, Option<tokio::time::Instant>)> {
        if self.is_over() {
            return None;
        }
        let mut state = self.state();
        let slot = state.missing.next()?;
        let at = self.running.rate.map(|rate| {
            let at = state.next.max(tokio::time::Instant::now());
            state.next = at + Duration::from_secs_f64((1.0 / rate).min(86_400.0));
            at
        });
        Some((slot, at))
    }

    fn is_over(&self) -> bool {
        let mut state = self.state();
        if state.stop.is_none() {
            state.stop = state.spent(&self.running);
        }
        state.stop.is_some() || self.ending.is_cancelled()
    }

    async fn work(self: Arc<Self>) -> Result<(), ExperimentError> {
        while let Some((slot, at)) = self.next() {
            if let Some(at) = at {
                tokio::select! {
                    biased;
                    () = self.ending.cancelled() => return Ok(()),
                    () = tokio::time::sleep_until(at) => {}
                }
                // Much may have ended meanwhile.
                if self.is_over() {
                    return Ok(());
                }
            }
            match self.one(slot).await? {
                Came::Run(run) => self.finish(&run)?,
                Came::Cancelled => return Ok(()),
                Came::NoAnswer { detail, hopeless, tokens, cost } => {
                    self.without_answer(slot, detail, hopeless, (tokens, cost));
                }
            }
        }
        Ok(())
    }

    fn finish(&self, run: &Run) -> Result<(), ExperimentError> {
        let mut state = self.state();
        let State { journal, tally, .. } = &mut *state;
        journal.write(run)?;
        tally.add(run);
        if run.tokens.is_none() && self.running.most_tokens.is_some() {
            let why = "the provider does not say what runs take, so the budget cannot be kept";
            state.stop.get_or_insert(Stop::Early(why.to_owned()));
        } else if run.cost.is_none() && self.running.most_cost.is_some() {
            let why = "what runs cost is not known, so the budget cannot be kept";
            state.stop.get_or_insert(Stop::Early(why.to_owned()));
        }
        state.row = 0;
        state.look();
        let finished = state.tally.finished();
        drop(state);
        self.progress.finished(finished, self.of);
        Ok(())
    }

    /// A run without an answer says nothing about its arm, so it is not counted, and comes again
    /// when the experiment goes on.
    fn without_answer(&self, slot: Slot, detail: String, hopeless: bool, spent: (u64, f64)) {
        let mut state = self.state();
        state.failed += 1;
        state.row += 1;
        state.unanswered.0 = state.unanswered.0.saturating_add(spent.0);
        state.unanswered.1 += spent.1;
        let block = state.tally.plan().block().max(1);
        if let Some(looks) = &mut state.looks {
            looks.leave_out(slot.place / block);
        }
        // A key that is refused is refused from the start.
        let hopeless = hopeless && state.tally.finished() == 0;
        if hopeless || state.row >= MOST_FAILED {
            let failed = state.failed;
            state.stop.get_or_insert(Stop::NoAnswer(failed, detail.clone()));
        }
        state.last = detail;
    }

    async fn one(&self, slot: Slot) -> Result<Came, ExperimentError> {
        // Slots are made of the numbers of cases and arms.
        let (Some(case), Some(arm)) = (self.cases.get(slot.case), self.arms.get(slot.arm)) else {
            return Err(ExperimentError::new("the plan is not of these cases and arms"));
        };
        let spared = Arc::new(AtomicU64::new(0));
        let crew = self.crew(arm, case, slot, &spared);
        let mut conversation = Conversation::new(&crew, self.running.limits);
        let (counter, began) = (Counter::default(), Instant::now());
        let (mut text, mut end) = (String::new(), End::Answered);
        for said in &case.turns {
            let turn = conversation.turn(said, &counter, &self.ending).await;
            (text, end) = (turn.text, turn.end);
            if end != End::Answered {
                break;
            }
        }
        let spared = Duration::from_micros(spared.load(Ordering::Relaxed));
        let latency_ms = (began.elapsed() + spared).as_secs_f64() * 1e3;
        match &end {
            End::Cancelled => return Ok(Came::Cancelled),
            End::Failed(error) => {
                let hopeless = matches!(error.kind, Failure::Refused | Failure::Ended);
                let Measures { tokens, cost, .. } = self.measures(arm, &counter.take(), latency_ms);
                return Ok(Came::without(error.to_string(), hopeless, tokens, cost));
            }
            _ => {}
        }
        let counts = counter.take();
        let Measures { calls, refused, repairs, attempts, iterations, tokens, cost, latency_ms } =
            self.measures(arm, &counts, latency_ms);
        let seen = Seen {
            case: case.id.clone(),
            arm: arm.name.clone(),
            text,
            messages: conversation.save().messages,
            calls: counts.calls,
        };
        let mut missed = match &case.grader {
            Some(grader) => match grader.misses(&seen).await {
                Ok(missed) => missed,
                // Who cannot grade says nothing about the arm, either.
                Err(error) => return Ok(Came::without(error.to_string(), true, tokens, cost)),
            },
            None => Vec::new(),
        };
        for missed in &mut missed {
            *missed = conversation.hide_text(missed);
        }
        if case.grader.is_some() && end != End::Answered {
            missed.insert(0, end.words());
        }
        Ok(Came::Run(Box::new(Run {
            place: slot.place,
            case: seen.case,
            arm: seen.arm,
            repeat: slot.repeat,
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
            text: last_text(&seen.messages),
            messages: seen.messages,
        })))
    }

    /// The agents of one run, with models of its own.
    fn crew(&self, arm: &Arm, case: &Case, slot: Slot, spared: &Arc<AtomicU64>) -> Arc<Crew> {
        let replies = self.running.replies.as_ref();
        if replies.is_none() && !arm.crew.models().iter().any(|model| model.anew().is_some()) {
            return Arc::clone(&arm.crew);
        }
        Arc::new(arm.crew.with_models(|model| {
            let model = model.anew().unwrap_or_else(|| Arc::clone(model));
            let Some(replies) = replies else { return model };
            let run = format!("{}\n{}\n{}", arm.name, slot.repeat, case.id);
            let kept: Arc<dyn Model> = Arc::new(Kept {
                model,
                replies: Arc::clone(replies),
                run,
                asked: Mutex::default(),
                spared: Arc::clone(spared),
            });
            kept
        }))
    }

    fn measures(&self, arm: &Arm, counts: &Counts, latency_ms: f64) -> Measures {
        let mut usage = Usage::default();
        let mut cost = Some(0.0);
        for (agent, used) in &counts.usage {
            usage.add(*used);
            let model = arm.crew.model_of(agent).unwrap_or_default();
            let price = self.running.prices.get(model).filter(|_| used.total() > 0);
            cost = cost.zip(price).map(|(cost, price)| cost + price.of(*used));
        }
        let known = usage.input_tokens.is_some() || usage.output_tokens.is_some();
        Measures {
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

/// The last text of the model, in messages without secrets.
fn last_text(messages: &[Message]) -> String {
    let mut texts = messages.iter().rev().filter_map(|message| match message {
        Message::Assistant(said) => said.content.clone(),
        _ => None,
    });
    texts.next().unwrap_or_default()
}

impl Price {
    #[expect(clippy::cast_precision_loss, reason = "nobody pays for so many tokens")]
    fn of(self, usage: Usage) -> f64 {
        let [input, output] =
            [usage.input_tokens, usage.output_tokens].map(|count| count.unwrap_or(0) as f64);
        (input * self.input + output * self.output) / 1e6
    }
}

/// What a run came to.
enum Came {
    Run(Box<Run>),
    Cancelled,
    NoAnswer { detail: String, hopeless: bool, tokens: u64, cost: f64 },
}

impl Came {
    fn without(detail: String, hopeless: bool, tokens: Option<u64>, cost: Option<f64>) -> Self {
        let (tokens, cost) = (tokens.unwrap_or_default(), cost.unwrap_or_default());
        Self::NoAnswer { detail, hopeless, tokens, cost }
    }
}

/// The models of agents that have no price, in order.
pub fn unpriced<'c>(crew: &'c Crew, prices: &BTreeMap<String, Price>) -> Vec<&'c str> {
    let mut seen = HashSet::new();
    let models = crew.models().iter().map(|model| model.name());
    models.filter(|name| !prices.contains_key(*name) && seen.insert(*name)).collect()
}
