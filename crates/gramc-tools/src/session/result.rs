//! Completes calls: checks the result of the implementation and masks secrets in it.

use std::borrow::Cow;
use std::mem;

use gramc_calls::check::ToolCheck;
use serde_json::{Value, json};

use super::admission::hash_of;
use super::run::{AdmittedCall, RunFailure};
use super::{Callers, warnings};
use crate::ToolContent;
use crate::invocation::{Answer, InvocationErrorKind};
use crate::masks::SecretMasks;
use crate::throttle::CallOutcome;
use crate::verdict::{CallError, Success, Verdict, Warning};

/// The warning code for a result with a negative success flag that its type does not declare. It counts
/// as a failure.
const UNSUCCESSFUL: &str = "unsuccessful";

impl AdmittedCall<'_> {
    /// Completes a call with what [`Self::invoke`] returned.
    pub fn end(self, answer: Result<Answer, RunFailure>) -> Verdict {
        let masks = self.session.bound.masks(self.tool, &self.accepted.secrets);
        let spec = &self.session.bound.tool(self.tool).spec;
        let arguments = masks.arguments(spec, &self.accepted.arguments);
        let (mut content, mut found, mut is_cancelled) = (None, Vec::new(), false);
        let outcome = match answer {
            Ok(answer) => self.value(answer).and_then(|(value, own)| {
                let result = self.check_result(value, &arguments, &masks, &mut found)?;
                content = own;
                Ok(result)
            }),
            Err(RunFailure::TimeLimit) => {
                found = warnings::of_arguments(&arguments);
                Err(CallError::Timeout { limit: self.settings().timeout })
            }
            Err(RunFailure::Error(error)) => {
                is_cancelled = error.kind == InvocationErrorKind::Cancelled;
                if !is_cancelled {
                    // They may have caused the failure.
                    found = warnings::of_arguments(&arguments);
                }
                content = error.content.map(|content| *content);
                Err(CallError::Invocation { detail: masks.text(&error.detail) })
            }
        };
        if let Some(content) = &mut content {
            found.extend(mark(content, &masks));
        }
        let is_failure = found.iter().any(|warning| warning.code == UNSUCCESSFUL);
        let ended = self.outcome(outcome.as_ref().ok().filter(|_| !is_failure));
        let arguments = match arguments {
            Cow::Owned(masked) => Some(masked),
            Cow::Borrowed(_) => None,
        };
        let Self { session, id, name, mut warnings, approval, mut accepted, ticket, .. } = self;
        warnings.extend(found.into_iter().map(|warning| warning.mask(&masks)));
        // A call that the host cancelled has no outcome.
        if !is_cancelled {
            let hash = || hash_of(&accepted.arguments);
            session.state.lock().throttle.finish(ticket, hash, ended, session.clock.now());
        }
        let arguments = arguments.unwrap_or_else(|| mem::take(&mut accepted.arguments));
        let success = Success::new(accepted, arguments);
        let (outcome, attempt) = match outcome {
            Ok(result) => (Ok(Success { result: Some(result), ..success }), None),
            Err(error) => (Err(error), Some(Box::new(success))),
        };
        Verdict { warnings, attempt, content, approval, ..Verdict::new(id, name, outcome) }
    }

    /// The outcome of the call for the throttle. `None` stands for a failure.
    fn outcome(&self, result: Option<&Value>) -> CallOutcome {
        let Some(result) = result else { return CallOutcome::Failure };
        let tool = self.session.bound.tool(self.tool);
        let is = |key: &str, value: bool| tool.attribute(key) == Some(&Value::Bool(value));
        let compares = self.session.callers == Callers::OneModel && !is("idempotent", false);
        let result = compares.then(|| hash_of(&result.to_string()));
        CallOutcome::Success { result, has_effect: !is("readOnly", true) }
    }

    /// Whether a result is an error that its type does not declare: its success flag is negative, and
    /// the type does not constrain the flag.
    fn is_undeclared_error(&self, value: &Value) -> bool {
        let is_free = |flag: &&str| {
            let mut other = value.clone();
            other[*flag] = json!({"": flag});
            self.fits(&other)
        };
        let mut flags = warnings::negative_flags(value).peekable();
        flags.peek().is_some() && (!self.fits(value) || flags.any(|flag| is_free(&flag)))
    }

    /// The value of an answer, and the answer itself if it has the form of MCP.
    fn value(&self, answer: Answer) -> Result<(Value, Option<ToolContent>), CallError> {
        match answer {
            Answer::Json(value) => Ok((value, None)),
            Answer::Raw(text) => Ok((self.text_value(&text, true)?, None)),
            Answer::Content(content) => Ok((self.content_value(&content)?, Some(content))),
        }
    }

    /// The value of a text. That of a program may be JSON for a string, and end in a line break. A server's
    /// text where JSON is expected stays text.
    fn text_value(&self, text: &str, is_output: bool) -> Result<Value, CallError> {
        let takes_text = self.result_check().is_none_or(ToolCheck::takes_text);
        match serde_json::from_str::<Value>(text) {
            Ok(value) if !takes_text || (is_output && value.is_string()) => Ok(value),
            // If the result may be a string, text that happens to be other JSON is still a string.
            Ok(value) if !value.is_string() && !self.is_plain_text() && self.fits(&value) => {
                Ok(value)
            }
            Err(error) if is_output && !takes_text => {
                let detail = format!("the response is not valid JSON: {error}");
                Err(CallError::Invocation { detail })
            }
            _ if is_output => {
                let text = text.strip_suffix('\n').unwrap_or(text);
                Ok(text.strip_suffix('\r').unwrap_or(text).into())
            }
            _ => Ok(text.into()),
        }
    }

    /// The value of a result in the form of MCP: its structured content, or else its text, which may
    /// be JSON, or else the list of its blocks.
    fn content_value(&self, content: &ToolContent) -> Result<Value, CallError> {
        // The text content is the server's rendering for readers of text.
        let wants_structured = !self.is_plain_text() || content.blocks().is_empty();
        if let Some(value) = content.structured_content().filter(|_| wants_structured) {
            return Ok(self.unwrap_result(value.clone()));
        }
        match content.text() {
            Some(text) => self.text_value(&text, false),
            None => Ok(content.blocks().into()),
        }
    }

    /// Unwraps the result of an MCP server. The Python SDK wraps results that are not objects in an
    /// object with the property `result`.
    fn unwrap_result(&self, value: Value) -> Value {
        match value {
            Value::Object(mut map)
                if map.len() == 1 && map.get("result").is_some_and(|it| self.fits(it)) =>
            {
                let whole = Value::Object(map.clone());
                if self.fits(&whole) { whole } else { map.remove("result").unwrap_or(whole) }
            }
            value => value,
        }
    }

    /// The check of the result. `None` if its type has no constraints.
    fn result_check(&self) -> Option<&ToolCheck> {
        self.session.bound.result(self.tool).ok().flatten()
    }

    /// Whether the result can only be a string.
    pub(super) fn is_plain_text(&self) -> bool {
        self.result_check().is_some_and(ToolCheck::takes_only_text)
    }

    fn fits(&self, value: &Value) -> bool {
        self.result_check().is_none_or(|check| check.fits(&value.to_string()).is_ok())
    }

    /// Checks a result and masks its secrets. A mismatch is an error if results are strict.
    fn check_result(
        &self,
        value: Value,
        arguments: &str,
        masks: &SecretMasks,
        found: &mut Vec<Warning>,
    ) -> Result<Value, CallError> {
        let settings = self.settings();
        let text = value.to_string();
        if let Some(Err(refused)) = self.result_check().map(|check| check.fits(&text)) {
            let why = refused.of_result();
            let message = format!("the result does not match its type: {why}");
            if settings.strict_result {
                return Err(CallError::Invocation { detail: masks.text(&message) });
            }
            found.push(Warning { code: "result-mismatch", message });
        }
        found.extend(warnings::omitted_defaults(&self.accepted.omitted_defaults));
        found.extend(warnings::large(text.len(), settings.max_response));
        if self.is_undeclared_error(&value) {
            let message = "the result reports a failure".to_owned();
            found.push(Warning { code: UNSUCCESSFUL, message });
        }
        // The messages only quote masked values.
        let result = masks.result(value);
        found.extend(warnings::of_arguments(arguments));
        found.extend(warnings::repeated_paths(&result, "result"));
        Ok(result)
    }
}

/// Masks the secrets in a result in the form of MCP. Returns warnings about what was changed, and
/// about what is wrong with it.
fn mark(content: &mut ToolContent, masks: &SecretMasks) -> Vec<Warning> {
    let mut warnings = Vec::new();
    if let Some(why) = content.violation.take() {
        let message =
            format!("the result does not match the output schema of the MCP server: {why}");
        warnings.push(Warning { code: "output-schema-mismatch", message });
    }
    if !masks.is_empty() && content.change(|value| masks.result(value)) {
        let message = "secrets in the result are masked".to_owned();
        warnings.push(Warning { code: "masked-result", message });
    }
    warnings
}
