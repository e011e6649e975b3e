//! Execution of one run.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use chrono::{SecondsFormat, Utc};
use serde_json::json;

use super::{Arm, Runner};
use crate::cases::case::Case;
use crate::cases::user::Dialogue;
use crate::error::ExperimentError;
use crate::evaluation::EvaluatorUse;
use crate::grading::evaluators::RunEvaluators;
use crate::grading::grader::Grade;
use crate::grading::reply_cache::model_of_run;
use crate::grading::transcript::Transcript;
use crate::price;
use crate::program::Program;
use crate::run::Run;
use crate::running::plan::PlannedRun;
use crate::running::run_counter::{RunCounter, RunCounts};
use gramc_agent::model::{ModelError, ModelErrorKind};
use gramc_agent::{AgentTeam, Conversation, Message, TurnEnd, TurnResult, Usage, read_image};

/// The outcome of an attempted run.
pub(super) enum RunOutcome {
    Run(Box<Run>),
    Cancelled,
    /// Not counted.
    NoAnswer(FailedRun),
}

/// A run that does not count.
pub(super) struct FailedRun {
    pub(super) detail: String,
    /// Whether other runs would fail, too.
    pub(super) hopeless: bool,
    pub(super) spent: Spending,
}

/// Tokens and cost, as far as they are known.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Spending {
    pub(super) tokens: u64,
    pub(super) cost: f64,
}

impl Spending {
    fn new(tokens: Option<u64>, cost: Option<f64>) -> Self {
        Self { tokens: tokens.unwrap_or_default(), cost: cost.unwrap_or_default() }
    }

    pub(super) fn add(&mut self, other: Self) {
        self.tokens = self.tokens.saturating_add(other.tokens);
        self.cost += other.cost;
    }
}

struct EndedConversation {
    /// The run, which is not graded.
    run: Run,
    end: TurnEnd,
    /// Why the user failed, which does not depend on the arm.
    failed: Option<ExperimentError>,
    transcript: Transcript,
    /// Masks the secrets.
    conversation: Conversation,
}

impl Runner {
    /// Runs a case in an arm, between its `setup` and its `teardown`.
    pub(super) async fn execute(&self, planned: PlannedRun) -> Result<RunOutcome, ExperimentError> {
        let (Some(case), Some(arm)) = (self.cases.get(planned.case), self.arms.get(planned.arm))
        else {
            let message = "the plan does not match the cases and arms";
            return Err(ExperimentError::Internal(message.to_owned()));
        };
        let run = format!("{}\n{}\n{}", arm.name, planned.repeat, case.id);
        let evaluators = self.running.evaluators.of_run(&run, self.running.replies.as_ref());
        let setup = prepare(case.setup.as_ref(), case, planned.repeat);
        let outcome = match self.run_until_end(setup).await {
            None => RunOutcome::Cancelled,
            Some(Some(detail)) => RunOutcome::failed(detail, true, &Run::default()),
            Some(None) => {
                let ended = self.run_conversation(arm, case, planned, &run, &evaluators).await;
                let work = self.evaluate(case, planned, ended, &evaluators);
                self.run_until_end(work).await.unwrap_or(RunOutcome::Cancelled)
            }
        };
        let left = prepare(case.teardown.as_ref(), case, planned.repeat).await;
        let mut outcome = match (left, outcome) {
            (Some(detail), RunOutcome::Run(run)) => RunOutcome::failed(detail, true, &run),
            (_, outcome) => outcome,
        };
        // The use of evaluators counts even if the run does not.
        if let RunOutcome::NoAnswer(failed) = &mut outcome {
            let EvaluatorUse { tokens, cost, .. } = evaluators.sum_usage(&self.running.prices);
            failed.spent.add(Spending::new(tokens, cost));
        }
        Ok(outcome)
    }

    /// The result of some work, or `None` if the experiment ends first.
    async fn run_until_end<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        tokio::select! {
            biased;
            done = work => Some(done),
            () = self.ending.cancelled() => None,
        }
    }

    /// Runs the conversation of a case. `name` is the unique name of the run.
    async fn run_conversation(
        &self,
        arm: &Arm,
        case: &Case,
        planned: PlannedRun,
        name: &str,
        evaluators: &RunEvaluators,
    ) -> EndedConversation {
        let saved = Arc::default();
        let team = self.team(arm, name, &saved);
        let mut conversation = Conversation::new(&team, self.running.limits);
        let started_at = Utc::now().to_rfc3339_opts(SecondsFormat::Millis, true);
        let (counter, mut took) = (RunCounter::default(), Duration::ZERO);
        let (mut last, mut iterations) = (TurnResult::default(), 0);
        let mut dialogue = Dialogue::default();
        let mut turns = case.turns.iter();
        let failed = loop {
            let (text, images) = match (turns.next(), &case.user) {
                (Some(turn), _) => {
                    let images = turn.images.iter().map(|path| read_image(path));
                    match images.collect::<Result<Vec<_>, _>>() {
                        Ok(images) => (turn.text.clone(), images),
                        Err(error) => break Some(error.into()),
                    }
                }
                (None, Some(user)) => {
                    let next = user.next(case, &mut dialogue, evaluators);
                    match self.run_until_end(next).await {
                        Some(Ok(Some(text))) => (text, Vec::new()),
                        Some(Ok(None)) if dialogue.turns.is_empty() => {
                            let message = "the simulated user wrote no message";
                            break Some(ExperimentError::content(&case.id, message));
                        }
                        Some(Ok(None)) => break None,
                        Some(Err(error)) => break Some(error),
                        None => {
                            last.end = TurnEnd::Cancelled;
                            break None;
                        }
                    }
                }
                (None, None) => break None,
            };
            let start = Instant::now();
            let turn = conversation.turn_with(&text, images, &counter, &self.ending).await;
            took += start.elapsed();
            iterations += turn.iterations;
            dialogue.turns.push((text, conversation.mask_text(&turn.text)));
            last = turn;
            if last.end != TurnEnd::Answered {
                break None;
            }
        };
        conversation.close().await;
        let saved = Duration::from_micros(saved.load(Ordering::Relaxed));
        let latency_ms = (took + saved).as_secs_f64() * 1e3;
        let counts = counter.take();
        let messages = conversation.save().messages;
        let (tokens, cost) = self.measure_usage(arm, &counts);
        let run = Run {
            place: planned.place,
            case: case.id.clone(),
            arm: arm.name.clone(),
            repeat: planned.repeat,
            started_at,
            model: counts.model,
            seed: self.seed,
            end: last.end.name().to_owned(),
            calls: u32::try_from(counts.calls.len()).unwrap_or(u32::MAX),
            refused: counts.refused,
            repairs: counts.repairs,
            attempts: counts.attempts,
            // The requests of a program are not observed.
            iterations: counts.iterations.max(iterations),
            tokens,
            cost,
            latency_ms,
            text: last_text(&messages),
            messages: messages.clone(),
            ..Run::default()
        };
        let transcript = Transcript {
            case: case.id.clone(),
            definition: Arc::clone(&case.definition),
            arm: arm.name.clone(),
            text: last.text,
            messages,
            calls: counts.calls,
        };
        EndedConversation { run, end: last.end, failed, transcript, conversation }
    }

    /// Grades a conversation, and compares it with those of other arms.
    async fn evaluate(
        &self,
        case: &Case,
        planned: PlannedRun,
        ended: EndedConversation,
        evaluators: &RunEvaluators,
    ) -> RunOutcome {
        let EndedConversation { mut run, end, failed, transcript, conversation } = ended;
        let iterations = run.iterations;
        if let Some(error) = failed {
            return RunOutcome::failed(error.to_string(), true, &run);
        }
        match &end {
            TurnEnd::Cancelled => return RunOutcome::Cancelled,
            TurnEnd::Failed(error) if !self.is_failure_of_arm(error, iterations) => {
                let hopeless = match error.kind {
                    ModelErrorKind::Exhausted | ModelErrorKind::Program => true,
                    // It answered an earlier request.
                    _ if iterations > 1 => false,
                    kind => matches!(
                        kind,
                        ModelErrorKind::UnknownModel
                            | ModelErrorKind::Rejected
                            | ModelErrorKind::InvalidRequest
                    ),
                };
                return RunOutcome::failed(error.to_string(), hopeless, &run);
            }
            _ => {}
        }
        let graded = match &case.grader {
            None => Ok(Grade::default()),
            Some(grader) if matches!(end, TurnEnd::Failed(_)) => Ok(grader.grade_of_failure()),
            Some(grader) => grader.grade(&transcript, evaluators).await,
        };
        let Grade { mut missed, judgement } = match graded {
            Ok(grade) => grade,
            // A failed grader is not held against the arm.
            Err(error) => return RunOutcome::failed(error.to_string(), true, &run),
        };
        let transcript = Arc::new(transcript);
        (run.preferences, run.evaluation) = self.compare_arms(case, planned, &transcript).await;
        run.evaluation.add(evaluators.sum_usage(&self.running.prices));
        // Graders see the answer as it is.
        for missed in &mut missed {
            *missed = conversation.mask_text(missed);
        }
        if case.grader.is_some() && end != TurnEnd::Answered {
            missed.insert(0, end.description());
        }
        run.success = case.grader.as_ref().map(|_| missed.is_empty());
        (run.missed, run.judgement) = (missed, judgement);
        RunOutcome::Run(Box::new(run))
    }

    /// Whether an arm caused the error: the model wrote a call that cannot be read, the provider
    /// rejects what a request contains, such as its length, or the agent's program fails, and other
    /// requests or runs succeeded. It would do so again.
    fn is_failure_of_arm(&self, error: &ModelError, iterations: u32) -> bool {
        let is_lasting =
            matches!(error.kind, ModelErrorKind::InvalidRequest | ModelErrorKind::Program);
        error.kind == ModelErrorKind::UnreadCall
            || is_lasting && (iterations > 1 || self.state.lock().runs.stats.finished > 0)
    }

    /// The agents of one run, with separate models.
    fn team(&self, arm: &Arm, run: &str, saved: &Arc<AtomicU64>) -> Arc<AgentTeam> {
        let replies = self.running.replies.as_ref();
        if replies.is_none() && !arm.team.models().iter().any(|model| model.fork().is_some()) {
            return Arc::clone(&arm.team);
        }
        Arc::new(arm.team.with_models(|model| model_of_run(model, replies, run, saved)))
    }

    /// The tokens and the cost of a run, if they are known.
    fn measure_usage(&self, arm: &Arm, counts: &RunCounts) -> (Option<u64>, Option<f64>) {
        let mut usage = Usage::default();
        let mut cost = Some(0.0);
        for (agent, used) in &counts.usage {
            usage.add(*used);
            let model = arm.team.model_name_of(agent).unwrap_or_default();
            let price = self.running.prices.get(model).filter(|_| used.total() > 0);
            cost = cost.zip(price).map(|(sum, price)| sum + price::cost(price, *used));
        }
        ((!usage.is_unknown()).then(|| usage.total()), cost)
    }
}

impl RunOutcome {
    /// A run that does not count, although it has used tokens.
    fn failed(detail: String, hopeless: bool, run: &Run) -> Self {
        let spent = Spending::new(run.tokens, run.cost);
        Self::NoAnswer(FailedRun { detail, hopeless, spent })
    }
}

/// Runs the `setup` or `teardown` of a case. Returns why it failed, if it did.
async fn prepare(program: Option<&Program>, case: &Case, repeat: u32) -> Option<String> {
    let program = program?;
    let input = json!({"case": case.id, "definition": case.definition(), "repeat": repeat});
    match program.run(&input).await {
        Ok(output) => output.failure(program),
        Err(error) => Some(error.to_string()),
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
