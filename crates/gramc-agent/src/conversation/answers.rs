//! Whether a reply is an answer.

use std::time::Duration;

use gramc_tools::Settings;
use gramc_tools::invocation::Implementation;
use gramc_tools::validator::problems;
use serde_json::Value;

use super::{Conversation, TurnState, sleep_until};
use crate::answer::AnswerError;
use crate::message::{FinishReason, Message};
use crate::observer::Event;
use crate::turn::TurnEnd;

/// The maximum number of errors of a validator that the model is told at once.
const MAX_PROBLEMS: usize = 20;

impl Conversation {
    /// Checks the text of the model against the agent's result type, and asks the agent's validator.
    /// Returns `None` if the model has to answer again.
    pub(super) async fn check_answer(&mut self, state: &mut TurnState<'_>) -> Option<TurnEnd> {
        let (answer, validator) = (&state.member.answer, &state.member.validator);
        if answer.is_none() && validator.is_none() {
            return Some(TurnEnd::Answered);
        }
        state.attempts += 1;
        let read = match answer {
            Some(answer) => answer.read(&state.turn.text),
            None => Ok(Value::from(&*state.turn.text)),
        };
        let error = match (read, validator) {
            (Ok(value), Some(validator)) => {
                match validate(&**validator, &value, state, self.limits.time).await {
                    Ok(problems) if problems.is_empty() => {
                        state.turn.value = answer.as_ref().map(|_| value);
                        return Some(TurnEnd::Answered);
                    }
                    Ok(problems) => AnswerError::Invalid(problems),
                    Err(end) => return Some(end),
                }
            }
            (Ok(value), None) => {
                state.turn.value = answer.as_ref().map(|_| value);
                return Some(TurnEnd::Answered);
            }
            (Err(error), _) => error,
        };
        let wrong = error.to_string();
        let (attempt, correction) = (state.attempts, &*self.mask_text(&wrong));
        state.observer.on_event(&state.member.name, &Event::AnswerRejected { attempt, correction });
        if state.attempts >= self.limits.attempts {
            return Some(TurnEnd::NeedsHumanReview { wrong });
        }
        let content = format!(
            "Invalid answer: {wrong}.\nAnswer again with the complete JSON and nothing else."
        );
        self.messages.push(Message::user(content));
        None
    }

    /// Tells the model that its reply is not complete. Returns the end of the turn after too many
    /// such replies in a row.
    pub(super) fn reject_reply(
        &mut self,
        finish_reason: FinishReason,
        why: &'static str,
        has_calls: bool,
        state: &mut TurnState<'_>,
    ) -> Option<TurnEnd> {
        state.cut_off += 1;
        let advice = match finish_reason {
            FinishReason::Length => "Answer again in fewer words, or call fewer tools at once.",
            FinishReason::ContentFilter => "Rephrase your answer.",
            FinishReason::Stop | FinishReason::Stopped | FinishReason::Error => {
                "Answer again, or call a tool."
            }
        };
        let correction = format!("Invalid answer: {why}.");
        // The result of the last call says the same.
        if !has_calls {
            let attempt = state.cut_off;
            let event = Event::AnswerRejected { attempt, correction: &correction };
            state.observer.on_event(&state.member.name, &event);
        }
        if state.cut_off >= self.limits.attempts {
            return Some(match finish_reason {
                FinishReason::ContentFilter => TurnEnd::Filtered,
                _ => TurnEnd::Truncated { why },
            });
        }
        if !has_calls {
            self.messages.push(Message::user(format!("{correction} {advice}")));
        }
        None
    }
}

/// Asks a validator about an answer. Returns its errors for the model, or the end of the turn if there
/// is no verdict.
async fn validate(
    validator: &dyn Implementation,
    answer: &Value,
    state: &TurnState<'_>,
    time: Option<Duration>,
) -> Result<Vec<String>, TurnEnd> {
    let (name, answer) = (&state.member.name, answer.to_string());
    let found = tokio::select! {
        biased;
        () = state.cancelled.cancelled() => return Err(TurnEnd::Cancelled),
        found = problems(validator, name, &answer, Settings::default().timeout) => found,
        () = sleep_until(state.deadline) => return Err(TurnEnd::Time(time.unwrap_or_default())),
    };
    let found = found.map_err(|why| {
        let wrong = format!("the validator of the answer {why}");
        TurnEnd::NeedsHumanReview { wrong }
    })?;
    let described = found.iter().map(|problem| match problem.property() {
        path if path.is_empty() => problem.message.clone(),
        path => format!("`{path}`: {}", problem.message),
    });
    Ok(described.take(MAX_PROBLEMS).collect())
}
