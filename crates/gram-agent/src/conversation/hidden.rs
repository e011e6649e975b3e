//! What secret parameters held, kept out of all that is shown and kept.

use std::borrow::Cow;

use gram_tools::{CallError, Success, Verdict};
use serde_json::Value;

use super::Conversation;
use crate::message::{Message, ModelCall, Said};
use crate::turn::{End, Turn};

impl Conversation {
    /// Remembers what secret parameters of calls hold.
    pub(super) fn learn_secrets(&mut self, calls: &[ModelCall]) {
        for call in calls {
            let hidden = self.session.hidden(&call.name, &call.arguments);
            for secret in hidden.into_iter().flat_map(|it| it.secrets) {
                // As it stands in JSON, too.
                let quoted = Value::from(secret.as_str()).to_string();
                let inside = quoted.strip_prefix('"').and_then(|it| it.strip_suffix('"'));
                for form in [inside.map(str::to_owned).unwrap_or_default(), secret] {
                    if !self.secrets.contains(&form) {
                        self.secrets.push(form);
                    }
                }
            }
        }
    }

    /// What came of a turn, without secrets.
    pub(super) fn hide_turn<'t>(&self, turn: &'t Turn) -> Cow<'t, Turn> {
        if self.secrets.is_empty() {
            return Cow::Borrowed(turn);
        }
        let mut shown = turn.clone();
        shown.text = self.hide_text(&turn.text);
        shown.value = turn.value.as_ref().map(|value| hide_value(&self.secrets, value));
        if let End::NeedsHumanReview { wrong } = &mut shown.end {
            *wrong = self.hide_text(wrong);
        }
        Cow::Owned(shown)
    }

    /// Messages without secrets.
    pub(super) fn hide_messages<'m>(&self, messages: &'m [Message]) -> Cow<'m, [Message]> {
        if self.secrets.is_empty() {
            return messages.into();
        }
        let hide = |message: &Message| match message {
            Message::User { content } => Message::User { content: self.hide_text(content) },
            Message::Assistant(said) => match self.hide_said(said) {
                Some(said) => Message::Assistant(said),
                None => message.clone(),
            },
            // A tool may be told a secret of another one, and say it.
            Message::Tool { id, name, content } => {
                let (id, name) = (id.clone(), name.clone());
                Message::Tool { id, name, content: self.hide_text(content) }
            }
        };
        messages.iter().map(hide).collect::<Vec<_>>().into()
    }

    /// What a model says, without secrets, where there are any.
    pub(super) fn hide_said(&self, said: &Said) -> Option<Said> {
        if self.secrets.is_empty() {
            return None;
        }
        let content = said.content.as_ref().map(|text| self.hide_text(text));
        // What only the provider reads may hold them anywhere.
        Some(Said { content, tool_calls: self.hide_calls(&said.tool_calls), provider: None })
    }

    /// Calls without secrets.
    pub(super) fn hide_calls(&self, calls: &[ModelCall]) -> Vec<ModelCall> {
        let hide = |call: &ModelCall| {
            let hidden = self.session.hidden(&call.name, &call.arguments);
            let arguments = hidden.map_or_else(|| call.arguments.clone(), |it| it.arguments);
            ModelCall { arguments: self.hide_text(&arguments), ..call.clone() }
        };
        calls.iter().map(hide).collect()
    }

    /// A text without secrets.
    pub fn hide_text(&self, text: &str) -> String {
        hide(&self.secrets, text)
    }
}

/// A text without secrets.
fn hide(secrets: &[String], text: &str) -> String {
    // A shorter one would be found everywhere.
    let secrets = secrets.iter().filter(|secret| secret.len() >= 4);
    secrets.fold(text.to_owned(), |text, secret| text.replace(secret.as_str(), "***"))
}

/// A value without secrets. What stands in their place needs no escape, so it stays JSON.
fn hide_value(secrets: &[String], value: &Value) -> Value {
    serde_json::from_str(&hide(secrets, &value.to_string())).unwrap_or_default()
}

/// What came of a call, without what secret parameters of other calls held; those of its own are
/// masked already.
pub(super) fn hide_verdict<'v>(secrets: &[String], verdict: &'v Verdict) -> Cow<'v, Verdict> {
    if secrets.is_empty() {
        return Cow::Borrowed(verdict);
    }
    let mut shown = verdict.clone();
    match &mut shown.outcome {
        Ok(Success { arguments, repairs, result, .. }) => {
            *arguments = hide(secrets, arguments);
            *result = result.as_ref().map(|result| hide_value(secrets, result));
            for repair in repairs {
                repair.from = hide(secrets, &repair.from).into();
                repair.to = repair.to.as_ref().map(|to| hide(secrets, to).into());
            }
        }
        Err(error) => hide_error(secrets, error),
    }
    for warning in &mut shown.warnings {
        warning.message = hide(secrets, &warning.message);
    }
    Cow::Owned(shown)
}

fn hide_error(secrets: &[String], error: &mut CallError) {
    match error {
        CallError::Validation(invalid) => invalid.hide(|text| hide(secrets, text)),
        CallError::Invocation { detail } => *detail = hide(secrets, detail),
        CallError::ContainerInvocation { attempted, .. } => {
            *attempted = hide_value(secrets, attempted);
        }
        CallError::NeedsHumanReview { last, .. } => hide_error(secrets, last),
        CallError::Malformed(_)
        | CallError::UnknownTool { .. }
        | CallError::ContainerNotExpanded { .. }
        | CallError::Throttled { .. }
        | CallError::Timeout { .. } => {}
    }
}
