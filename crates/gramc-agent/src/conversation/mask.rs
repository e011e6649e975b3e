//! Masks the values of secret parameters in events and saved conversations.

use std::borrow::Cow;

use gramc_tools::{CallError, Success, Verdict};
use serde_json::Value;

use super::Conversation;
use crate::message::{AssistantMessage, Message, ModelCall};
use crate::turn::{TurnEnd, TurnResult};

impl Conversation {
    /// Remembers the values of secret parameters.
    pub(super) fn learn_secrets(&mut self, calls: &[ModelCall]) {
        for call in calls {
            let hidden = self.session.redact(&call.name, &call.arguments);
            self.mask_from_now_on(hidden.into_iter().flat_map(|it| it.secrets));
        }
    }

    /// Adds values to mask.
    pub(super) fn mask_from_now_on(&mut self, secrets: impl IntoIterator<Item = String>) {
        for secret in secrets {
            // The escaped form appears in arguments and results.
            let quoted = Value::from(secret.as_str()).to_string();
            let inside = quoted.strip_prefix('"').and_then(|it| it.strip_suffix('"'));
            for form in [inside.map(str::to_owned).unwrap_or_default(), secret] {
                if !self.secrets.contains(&form) {
                    self.secrets.push(form);
                }
            }
        }
    }

    pub(super) fn mask_turn(&self, turn: &TurnResult) -> TurnResult {
        let mut shown = turn.clone();
        if self.secrets.is_empty() {
            return shown;
        }
        shown.text = self.mask_text(&turn.text);
        shown.value = turn.value.as_ref().map(|value| mask_value(&self.secrets, value));
        if let TurnEnd::NeedsHumanReview { wrong } = &mut shown.end {
            *wrong = self.mask_text(wrong);
        }
        shown
    }

    pub(super) fn mask_messages<'m>(&self, messages: &'m [Message]) -> Cow<'m, [Message]> {
        if self.secrets.is_empty() {
            return messages.into();
        }
        let mut messages = messages.to_vec();
        for message in &mut messages {
            match message {
                // The result of a tool may contain the secret of another tool.
                Message::User { content, .. } | Message::Tool { content, .. } => {
                    *content = self.mask_text(content);
                }
                Message::Assistant(message) => *message = self.mask_message(message),
            }
        }
        messages.into()
    }

    pub(super) fn mask_message(&self, message: &AssistantMessage) -> AssistantMessage {
        if self.secrets.is_empty() {
            return message.clone();
        }
        AssistantMessage {
            content: message.content.as_ref().map(|text| self.mask_text(text)),
            tool_calls: self.mask_calls(&message.tool_calls),
            // Secrets may be anywhere in the data of the provider.
            provider: None,
        }
    }

    pub(super) fn mask_calls(&self, calls: &[ModelCall]) -> Vec<ModelCall> {
        let mask = |call: &ModelCall| {
            let hidden = self.session.redact(&call.name, &call.arguments);
            let arguments = hidden.map_or_else(|| call.arguments.clone(), |it| it.arguments);
            ModelCall { arguments: self.mask_text(&arguments), ..call.clone() }
        };
        calls.iter().map(mask).collect()
    }

    /// Masks the values of secret parameters in a text.
    pub fn mask_text(&self, text: &str) -> String {
        mask(&self.secrets, text)
    }
}

/// Text that grows, without secrets.
#[derive(Debug, Default)]
pub(super) struct MaskedText {
    /// The end of the text, which may begin a secret.
    held: String,
}

impl MaskedText {
    /// Adds a piece, and returns the text that cannot become part of a secret. `hold` holds all of it
    /// back.
    pub(super) fn push(&mut self, secrets: &[String], piece: &str, hold: bool) -> String {
        self.held.push_str(piece);
        if hold {
            return String::new();
        }
        let maskable = || secrets.iter().filter(|secret| is_maskable(secret));
        let text = &*self.held;
        let start_at_end = |secret: &String| {
            let ends = |length: &usize| secret.get(..*length).is_some_and(|it| text.ends_with(it));
            (1..secret.len().min(text.len() + 1)).rev().find(ends)
        };
        let length = maskable().filter_map(start_at_end).max().unwrap_or_default();
        let mut end = text.len() - length;
        // A secret that goes on after the end is held as a whole.
        let goes_on = |secret: &String, end: usize| {
            let mut all = text.match_indices(secret.as_str()).map(|(at, _)| at);
            all.find(|at| *at < end && end < at + secret.len())
        };
        while let Some(at) = maskable().find_map(|secret| goes_on(secret, end)) {
            end = at;
        }
        let rest = self.held.split_off(end);
        mask(secrets, &std::mem::replace(&mut self.held, rest))
    }

    /// The rest of the text.
    pub(super) fn finish(&mut self, secrets: &[String]) -> String {
        mask(secrets, &std::mem::take(&mut self.held))
    }
}

/// Whether a secret is masked in texts. A shorter one would match unrelated text.
fn is_maskable(secret: &str) -> bool {
    secret.len() >= 4
}

fn mask(secrets: &[String], text: &str) -> String {
    let secrets = secrets.iter().filter(|secret| is_maskable(secret));
    secrets.fold(text.to_owned(), |text, secret| text.replace(secret.as_str(), "***"))
}

/// Masks a value in its JSON form, which stays valid because the mask needs no escape.
pub(super) fn mask_value(secrets: &[String], value: &Value) -> Value {
    serde_json::from_str(&mask(secrets, &value.to_string())).unwrap_or_default()
}

/// Masks the secrets of other calls in a verdict. The session has masked those of the call itself.
pub(super) fn mask_verdict<'v>(secrets: &[String], verdict: &'v Verdict) -> Cow<'v, Verdict> {
    if secrets.is_empty() {
        return Cow::Borrowed(verdict);
    }
    let mut shown = verdict.clone();
    // The result holds the same, and is masked.
    shown.content = None;
    match &mut shown.outcome {
        Ok(success) => mask_success(secrets, success),
        Err(error) => mask_error(secrets, error),
    }
    if let Some(reason) = shown.approval.as_mut().and_then(|it| it.reason.as_mut()) {
        *reason = mask(secrets, reason);
    }
    if let Some(attempt) = &mut shown.attempt {
        mask_success(secrets, attempt);
    }
    for warning in &mut shown.warnings {
        warning.message = mask(secrets, &warning.message);
    }
    Cow::Owned(shown)
}

fn mask_success(secrets: &[String], success: &mut Success) {
    let Success { arguments, repairs, result, .. } = success;
    *arguments = mask(secrets, arguments);
    *result = result.as_ref().map(|result| mask_value(secrets, result));
    for repair in repairs {
        repair.from = mask(secrets, &repair.from).into();
        repair.to = repair.to.as_ref().map(|to| mask(secrets, to).into());
    }
}

fn mask_error(secrets: &[String], error: &mut CallError) {
    match error {
        CallError::Validation(invalid) => invalid.hide(|text| mask(secrets, text)),
        CallError::Invocation { detail } => *detail = mask(secrets, detail),
        CallError::ApprovalRefused { reason: Some(reason) } => *reason = mask(secrets, reason),
        CallError::ContainerInvocation { attempted, .. } => {
            *attempted = mask_value(secrets, attempted);
        }
        CallError::NeedsHumanReview { last, .. } => mask_error(secrets, last),
        CallError::Malformed(_)
        | CallError::UnknownTool { .. }
        | CallError::ContainerNotExpanded { .. }
        | CallError::ApprovalRequired
        | CallError::ApprovalRefused { reason: None }
        | CallError::OutcomeUnknown
        | CallError::Throttled { .. }
        | CallError::Timeout { .. } => {}
    }
}

#[cfg(test)]
mod tests {
    use gramc_language_tests::rng::Rng;

    use super::*;

    #[test]
    fn text_that_grows_is_masked_like_the_whole() {
        let secrets = ["hunter2-hunter", "hunt", "päss", "ssx-"].map(str::to_owned);
        let parts = ["hunter2-hunter", "hun", "hunt", "t", "pä", "ss", "x-", " ", "hunter2-"];
        for case in 0..2_000 {
            let mut rng = Rng::for_case(7, case);
            let mut masked = MaskedText::default();
            let (mut text, mut shown) = (String::new(), String::new());
            for _ in 0..rng.between(1, 8) {
                let part = rng.pick(&parts);
                text.push_str(part);
                shown.push_str(&masked.push(&secrets, part, rng.chance(10)));
            }
            shown.push_str(&masked.finish(&secrets));
            assert_eq!(shown, mask(&secrets, &text), "{text}");
        }
        let mut masked = MaskedText::default();
        let shown = ["It is hun", "ger, hun", "t"].map(|it| masked.push(&secrets, it, false));
        assert_eq!(shown, ["It is ", "hunger, ", ""]);
        assert_eq!(masked.finish(&secrets), "***");
    }
}
