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
use crate::grading::evaluators::RunEvaluators;
use crate::grading::grader::Grade;
use crate::grading::reply_cache::model_of_run;
use crate::grading::transcript::Transcript;
use crate::price;
use crate::program::Program;
use crate::run::{Run, RunMetrics};
use crate::running::plan::PlannedRun;
use crate::running::run_counter::{RunCounter, RunCounts};
use gramc_agent::model::{ModelError, ModelErrorKind};
use gramc_agent::{AgentTeam, Conversation, Message, TurnEnd, TurnResult, Usage, read_image};

/// The outcome of an attempted run.
pub(super) enum RunOutcome {
    Run(Box<Run>),
    Cancelled,
    /// Not counted. With the tokens and the cost.
    NoAnswer {
        detail: String,
        hopeless: bool,
        tokens: u64,
        cost: f64,
    },
}

/// A conversation that has ended.
struct EndedConversation {
    started_at: String,
    end: TurnEnd,
    /// Why the user failed, which says nothing about the arm.
    failed: Option<ExperimentError>,
    counts: RunCounts,
    measures: RunMetrics,
    transcript: Transcript,
    /// Knows the secrets.
    conversation: Conversation,
}

impl Runner {
    /// Runs a case in an arm, between its `setup` and its `teardown`.
    pub(super) async fn execute(&self, planned: PlannedRun) -> Result<RunOutcome, ExperimentError> {
        // Planned runs are generated from the numbers of cases and arms.
        let (Some(case), Some(arm)) = (self.cases.get(planned.case), self.arms.get(planned.arm))
        else {
            let message = "the plan does not match the cases and arms";
            return Err(ExperimentError::Internal(message.to_owned()));
        };
        let run = format!("{}\n{}\n{}", arm.name, planned.repeat, case.id);
        let evaluators = self.running.evaluators.of_run(&run, self.running.replies.as_ref());
        let setup = prepare(case.setup.as_ref(), case, planned.repeat);
        let outcome = match self.unless_ended(setup).await {
            None => RunOutcome::Cancelled,
            Some(Some(detail)) => RunOutcome::without(detail, true),
            Some(None) => {
                let ended = self.run_conversation(arm, case, &run, &evaluators).await;
                let work = self.evaluate(arm, case, planned, ended, &evaluators);
                self.unless_ended(work).await.unwrap_or(RunOutcome::Cancelled)
            }
        };
        let left = prepare(case.teardown.as_ref(), case, planned.repeat).await;
        let outcome = match (left, outcome) {
            (Some(detail), RunOutcome::Run(run)) => RunOutcome::NoAnswer {
                detail,
                hopeless: true,
                tokens: run.tokens.unwrap_or_default(),
                cost: run.cost.unwrap_or_default(),
            },
            (_, outcome) => outcome,
        };
        // The use of evaluators counts even if the run does not.
        Ok(match outcome {
            RunOutcome::NoAnswer { detail, hopeless, tokens, cost } => {
                let spent = evaluators.spent(&self.running.prices);
                let cost = cost + spent.cost.unwrap_or_default();
                let tokens = tokens.saturating_add(spent.tokens.unwrap_or_default());
                RunOutcome::NoAnswer { detail, hopeless, tokens, cost }
            }
            outcome => outcome,
        })
    }

    /// The result of some work, or `None` if the experiment ends first.
    async fn unless_ended<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        tokio::select! {
            biased;
            done = work => Some(done),
            () = self.ending.cancelled() => None,
        }
    }

    /// Holds the conversation of a case.
    async fn run_conversation(
        &self,
        arm: &Arm,
        case: &Case,
        run: &str,
        evaluators: &RunEvaluators,
    ) -> EndedConversation {
        let saved = Arc::default();
        let team = self.team(arm, run, &saved);
        let mut conversation = Conversation::new(&team, self.running.limits);
        let started_at = Utc::now().to_rfc3339_opts(SecondsFormat::Millis, true);
        let (counter, mut took) = (RunCounter::default(), Duration::ZERO);
        let (mut last, mut iterations) = (TurnResult::default(), 0);
        let mut dialogue = Dialogue::default();
        let mut turns = case.turns.iter();
        let failed = loop {
            let (text, images) = match (turns.next(), &case.user) {
                (Some(turn), _) => {
                    let images: Result<Vec<_>, _> =
                        turn.images.iter().map(|path| read_image(path)).collect();
                    match images {
                        Ok(images) => (turn.text.clone(), images),
                        Err(error) => break Some(error.into()),
                    }
                }
                (None, Some(user)) => {
                    let next = user.next(case, &mut dialogue, evaluators);
                    match self.unless_ended(next).await {
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
            let turn = conversation.turn_with((&text, images), &counter, &self.ending).await;
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
        let mut counts = counter.take();
        // The requests of a program are not observed.
        counts.iterations = counts.iterations.max(iterations);
        let transcript = Transcript {
            case: case.id.clone(),
            definition: Arc::clone(&case.definition),
            arm: arm.name.clone(),
            text: last.text,
            messages: conversation.save().messages,
            calls: std::mem::take(&mut counts.calls),
        };
        let calls = u32::try_from(transcript.calls.len()).unwrap_or(u32::MAX);
        let measures = RunMetrics { calls, latency_ms, ..self.measures(arm, &counts) };
        EndedConversation {
            started_at,
            end: last.end,
            failed,
            counts,
            measures,
            transcript,
            conversation,
        }
    }

    /// Grades a conversation, and compares it with those of other arms.
    async fn evaluate(
        &self,
        arm: &Arm,
        case: &Case,
        planned: PlannedRun,
        ended: EndedConversation,
        evaluators: &RunEvaluators,
    ) -> RunOutcome {
        let EndedConversation { started_at, end, failed, counts, measures, .. } = ended;
        let (transcript, conversation) = (ended.transcript, ended.conversation);
        let RunMetrics { calls, refused, repairs, attempts, iterations, tokens, cost, latency_ms } =
            measures;
        let without = |detail: String, hopeless: bool| RunOutcome::NoAnswer {
            detail,
            hopeless,
            tokens: tokens.unwrap_or_default(),
            cost: cost.unwrap_or_default(),
        };
        if let Some(error) = failed {
            return without(error.to_string(), true);
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
                return without(error.to_string(), hopeless);
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
            Err(error) => return without(error.to_string(), true),
        };
        let transcript = Arc::new(transcript);
        let (preferences, mut evaluation) = self.compare_arms(case, planned, &transcript).await;
        evaluation.add(evaluators.spent(&self.running.prices));
        // Graders see the answer as it is.
        for missed in &mut missed {
            *missed = conversation.mask_text(missed);
        }
        if case.grader.is_some() && end != TurnEnd::Answered {
            missed.insert(0, end.description());
        }
        let Transcript { messages, .. } = &*transcript;
        RunOutcome::Run(Box::new(Run {
            place: planned.place,
            case: case.id.clone(),
            arm: arm.name.clone(),
            repeat: planned.repeat,
            started_at,
            model: counts.model,
            seed: self.seed,
            success: case.grader.as_ref().map(|_| missed.is_empty()),
            judgement,
            preferences,
            evaluation,
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
            text: last_text(messages),
            messages: messages.clone(),
        }))
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
    fn team(&self, arm: &Arm, run: &str, saved: &Arc<AtomicU64>) -> Arc<AgentTeam> {
        let replies = self.running.replies.as_ref();
        if replies.is_none() && !arm.team.models().iter().any(|model| model.fork().is_some()) {
            return Arc::clone(&arm.team);
        }
        Arc::new(arm.team.with_models(|model| model_of_run(model, replies, run, saved)))
    }

    /// The measurements of an arm, apart from its calls and their time.
    fn measures(&self, arm: &Arm, counts: &RunCounts) -> RunMetrics {
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
            refused: counts.refused,
            repairs: counts.repairs,
            attempts: counts.attempts,
            iterations: counts.iterations,
            tokens: known.then(|| usage.total()),
            cost,
            ..RunMetrics::default()
        }
    }
}

impl RunOutcome {
    fn without(detail: String, hopeless: bool) -> Self {
        Self::NoAnswer { detail, hopeless, tokens: 0, cost: 0.0 }
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
