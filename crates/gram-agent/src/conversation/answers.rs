//! Whether a reply is an answer.

use super::{Conversation, TurnState};
use crate::message::{FinishReason, Message};
use crate::observer::Event;
use crate::turn::TurnEnd;

impl Conversation {
    /// Checks the text of the model against the agent's result type. Returns `None` if the model
    /// has to answer again.
    pub(super) fn check_answer(&mut self, state: &mut TurnState<'_>) -> Option<TurnEnd> {
        let Some(answer) = &state.member.answer else { return Some(TurnEnd::Answered) };
        state.attempts += 1;
        let wrong = match answer.read(&state.turn.text) {
            Ok(value) => {
                state.turn.value = Some(value);
                return Some(TurnEnd::Answered);
            }
            Err(wrong) => wrong,
        };
        let (attempt, correction) = (state.attempts, &*self.mask_text(&wrong));
        state.observer.on_event(&state.member.name, &Event::AnswerRejected { attempt, correction });
        if state.attempts >= self.limits.attempts {
            return Some(TurnEnd::NeedsHumanReview { wrong });
        }
        let content = format!(
            "Your answer is not valid: {wrong}.\nAnswer again with the complete JSON and nothing \
             else."
        );
        self.messages.push(Message::User { content });
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
            FinishReason::ContentFilter => "Answer again in other words.",
            FinishReason::Stop | FinishReason::Error => "Answer again, or call a tool.",
        };
        let correction = format!("This was no answer: {why}.");
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
            self.messages.push(Message::User { content: format!("{correction} {advice}") });
        }
        None
    }
}
