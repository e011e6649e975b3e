//! Completes calls: checks the result of the implementation and masks secrets in it.

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
    pub fn end(mut self, answer: Result<Answer, RunFailure>) -> Verdict {
        let masks = self.session.bound.masks(self.tool, &self.accepted.secrets);
        let (mut content, mut is_cancelled) = (None, false);
        let outcome = match answer {
            Ok(answer) => self.value(answer).and_then(|(value, own)| {
                let success = self.check_result(value, &masks)?;
                content = own;
                Ok(success)
            }),
            Err(RunFailure::TimeLimit) => {
                self.explain_failure(&masks);
                Err(CallError::Timeout { limit: self.settings().timeout })
            }
            Err(RunFailure::Error(error)) => {
                is_cancelled = error.kind == InvocationErrorKind::Cancelled;
                if !is_cancelled {
                    self.explain_failure(&masks);
                }
                content = error.content.map(|content| *content);
                Err(CallError::Invocation { detail: masks.text(&error.detail) })
            }
        };
        if let Some(content) = &mut content {
            self.warnings.extend(mark(content, &masks));
        }
        let attempt = outcome.is_err().then(|| {
            let accepted = &mut self.accepted;
            let arguments = std::mem::take(&mut accepted.arguments);
            let spec = &self.session.bound.tool(self.tool).spec;
            Box::new(Success {
                arguments: masks.arguments(spec, arguments),
                repairs: std::mem::take(&mut accepted.repairs),
                more_repairs: accepted.more_repairs,
                stripped: std::mem::take(&mut accepted.stripped),
                result: None,
            })
        });
        let ended = self.outcome(&outcome);
        let Self { session, id, name, warnings, approval, attempt: sent, .. } = self;
        // A call that the host cancelled has no outcome.
        if !is_cancelled {
            let hash = || hash_of(&sent.arguments);
            session.state.lock().throttle.finish(sent.ticket, hash, ended, session.clock.now());
        }
        let verdict = Verdict::new(id, name, outcome);
        Verdict { warnings, attempt, content, approval, ..verdict }
    }

    /// The outcome of the call for the throttle.
    fn outcome(&self, outcome: &Result<Success, CallError>) -> CallOutcome {
        let is_failure = self.warnings.iter().any(|warning| warning.code == UNSUCCESSFUL);
        let Some(success) = outcome.as_ref().ok().filter(|_| !is_failure) else {
            return CallOutcome::Failure;
        };
        let tool = self.session.bound.tool(self.tool);
        let is = |key: &str, value: bool| tool.attribute(key) == Some(&Value::Bool(value));
        let compares = self.session.callers == Callers::OneModel && !is("idempotent", false);
        let result = success.result.as_ref().filter(|_| compares);
        let result = result.map(|result| hash_of(&result.to_string()));
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

    /// Adds warnings about what may have caused a failure of the implementation.
    fn explain_failure(&mut self, masks: &SecretMasks) {
        let spec = &self.session.bound.tool(self.tool).spec;
        let arguments = masks.arguments(spec, self.accepted.arguments.clone());
        for mut warning in warnings::of_arguments(&arguments) {
            warning.message = masks.text(&warning.message);
            self.warnings.push(warning);
        }
    }

    /// The value of an answer, and the answer itself if it has the form of MCP.
    fn value(&self, answer: Answer) -> Result<(Value, Option<ToolContent>), CallError> {
        match answer {
            Answer::Json(value) => Ok((value, None)),
            Answer::Raw(text) => Ok((self.raw_value(&text)?, None)),
            Answer::Content(content) => Ok((self.content_value(&content)?, Some(content))),
        }
    }

    fn raw_value(&self, text: &str) -> Result<Value, CallError> {
        let wants_text = self.takes_text();
        match serde_json::from_str::<Value>(text) {
            // If the result may be a string, text that happens to be other JSON is still a string.
            Ok(value) if !wants_text || value.is_string() => Ok(value),
            Ok(value) if self.fits(&value) && !self.is_plain_text() => Ok(value),
            _ if wants_text => {
                let text = text.strip_suffix('\n').unwrap_or(text);
                Ok(Value::from(text.strip_suffix('\r').unwrap_or(text)))
            }
            Ok(value) => Ok(value),
            Err(error) => Err(not_json(&error)),
        }
    }

    /// The value of a result in the form of MCP: its structured content, or else its text, which may
    /// be JSON, or else the list of its blocks.
    fn content_value(&self, content: &ToolContent) -> Result<Value, CallError> {
        let is_plain_text = self.is_plain_text();
        // The text content is the server's rendering for readers of text.
        let wants_structured = !is_plain_text || content.blocks().is_empty();
        if let Some(value) = content.structured_content().filter(|_| wants_structured) {
            return Ok(self.unwrap_result(value.clone()));
        }
        let Some(text) = content.text() else { return Ok(content.blocks().into()) };
        let takes_text = self.takes_text();
        match serde_json::from_str::<Value>(&text) {
            Ok(value) if !takes_text => Ok(value),
            // A text in quotes stays as it is.
            Ok(value) if !is_plain_text && !value.is_string() && self.fits(&value) => Ok(value),
            _ if takes_text => Ok(text.into()),
            Ok(value) => Ok(value),
            Err(error) => Err(not_json(&error)),
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

    /// Whether the result can only be a string.
    pub(super) fn is_plain_text(&self) -> bool {
        matches!(self.session.bound.result(self.tool), Ok(Some(check)) if check.takes_only_text())
    }

    fn fits(&self, value: &Value) -> bool {
        match self.session.bound.result(self.tool) {
            Ok(Some(check)) => check.fits(&value.to_string()).is_ok(),
            _ => true,
        }
    }

    /// Checks a result and adds warnings. A mismatch is an error if results are strict.
    fn check_result(&mut self, value: Value, masks: &SecretMasks) -> Result<Success, CallError> {
        let tool = self.session.bound.tool(self.tool);
        let settings = self.settings();
        let mut warnings = Vec::new();
        let text = value.to_string();
        if let Ok(Some(check)) = self.session.bound.result(self.tool)
            && let Err(refused) = check.fits(&text)
        {
            let why = masks.text(&refused.of_result());
            if settings.strict_result {
                let detail = format!("the result does not match its type: {why}");
                return Err(CallError::Invocation { detail });
            }
            let message = format!("the result does not match its type: {why}");
            warnings.push(Warning { code: "result-mismatch", message });
        }
        warnings.extend(warnings::omitted_defaults(&self.accepted.omitted_defaults));
        warnings.extend(warnings::large(text.len(), settings.max_response));
        if self.is_undeclared_error(&value) {
            let message = "the result reports a failure".to_owned();
            warnings.push(Warning { code: UNSUCCESSFUL, message });
        }
        // The messages below only quote masked values.
        let arguments = std::mem::take(&mut self.accepted.arguments);
        let arguments = masks.arguments(&tool.spec, arguments);
        let result = masks.result(value);
        warnings.extend(warnings::of_arguments(&arguments));
        warnings.extend(warnings::repeated_paths(&result, "result"));
        for warning in &mut warnings {
            warning.message = masks.text(&warning.message);
        }
        self.warnings.append(&mut warnings);
        Ok(Success {
            arguments,
            repairs: std::mem::take(&mut self.accepted.repairs),
            more_repairs: self.accepted.more_repairs,
            stripped: std::mem::take(&mut self.accepted.stripped),
            result: Some(result),
        })
    }

    /// Whether the result may be a string.
    fn takes_text(&self) -> bool {
        match self.session.bound.result(self.tool) {
            Ok(Some(check)) => check.takes_text(),
            _ => true,
        }
    }
}

fn not_json(error: &serde_json::Error) -> CallError {
    CallError::Invocation { detail: format!("the response is not valid JSON: {error}") }
}

/// Masks the secrets in a result in the form of MCP. Returns warnings about what was changed, and
/// about what is wrong with it.
fn mark(content: &mut ToolContent, masks: &SecretMasks) -> Vec<Warning> {
    let mut warnings = Vec::new();
    if let Some(why) = content.violation.take() {
        let why = masks.text(&why);
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
