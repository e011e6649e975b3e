//! Runs admitted calls.

use std::fmt::Write as _;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt as _;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::{Admission, Session, hash_of, warnings};
use crate::ToolContent;
use crate::approval::{ApprovalDecision, ApprovalRequest};
use crate::invocation::{
    Answer, Implementation, Invocation, InvocationError, InvocationErrorKind, RequestOrigin,
};
use crate::masks::SecretMasks;
use crate::settings::Settings;
use crate::throttle::{CallOutcome, ThrottleTicket};
use crate::validator::problems;
use crate::verdict::{CallError, Success, Verdict, Warning};
use gramc_calls::check::{Accepted, InvalidArguments};

/// An admitted call.
#[derive(Debug)]
pub struct AdmittedCall<'s> {
    pub(super) session: &'s Session,
    pub(super) tool: u32,
    pub(super) id: Option<String>,
    pub(super) name: String,
    pub(super) accepted: Accepted,
    pub(super) warnings: Vec<Warning>,
    /// Whether the validators have accepted it.
    pub(super) judged: bool,
    /// That it may run, if it has to be approved.
    pub(super) approval: Option<ApprovalDecision>,
    /// The throttle ticket, and the arguments as received.
    pub(super) admitted: (ThrottleTicket, String),
    /// The request of an MCP client that makes the call.
    pub(super) origin: RequestOrigin,
}

/// Why an implementation returned no answer.
#[derive(Debug)]
pub enum RunFailure {
    /// It failed.
    Error(InvocationError),
    /// It took longer than the time limit of the tool.
    TimeLimit,
}

impl RunFailure {
    fn error(kind: InvocationErrorKind, detail: &str) -> Self {
        Self::Error(InvocationError::new(kind, detail))
    }

    fn cancelled() -> Self {
        Self::error(InvocationErrorKind::Cancelled, "it was cancelled")
    }
}

impl<'s> AdmittedCall<'s> {
    /// The tool's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether the implementation reports progress to the client.
    pub fn reports_progress(&self) -> bool {
        let entry = self.session.bound.tool(self.tool).entry.as_ref();
        entry.is_some_and(|entry| self.session.implementation(entry).reports_progress(&self.origin))
    }

    /// Sets the request of an MCP client that makes the call.
    #[must_use]
    pub fn with_origin(mut self, origin: RequestOrigin) -> Self {
        self.origin = origin;
        self
    }

    /// The arguments for the implementation: a JSON object with injected values.
    pub fn arguments(&self) -> String {
        let injected = &self.session.bound.tool(self.tool).injected;
        let mut arguments = self.accepted.arguments.clone();
        for (name, value) in injected {
            if arguments.pop().is_some() {
                if arguments.len() > 1 {
                    arguments.push(',');
                }
                let name = Value::from(name.as_str());
                // Writing to a string cannot fail.
                let _ = write!(arguments, "{name}:{value}}}");
            }
        }
        arguments
    }

    /// Whether a request may be sent again.
    fn is_repeatable(&self) -> bool {
        let tool = self.session.bound.tool(self.tool);
        tool.attribute("once") != Some(&Value::Bool(true))
            && tool.attribute("idempotent") != Some(&Value::Bool(false))
    }

    fn settings(&self) -> &'s Settings {
        self.session.bound.settings(Some(self.tool))
    }

    /// The question whether it may run, if it has to be approved and is not yet.
    pub fn approval_request(&self) -> Option<ApprovalRequest> {
        if self.approval.is_some() || !self.session.has_to_be_approved(self.tool) {
            return None;
        }
        let spec = &self.session.bound.tool(self.tool).spec;
        let masks = self.session.bound.masks(self.tool, &self.accepted.secrets);
        let arguments = masks.arguments(spec, self.accepted.arguments.clone());
        Some(ApprovalRequest {
            name: spec.name.clone(),
            arguments: serde_json::from_str(&arguments).unwrap_or_default(),
            agent: self.session.approvals.agent().cloned(),
        })
    }

    /// Answers [`Self::approval_request`]. `None` if there was no way to ask. A call that is not
    /// approved is complete; it counts towards no limit, and is no failure of its tool.
    pub fn decide(mut self, decision: Option<ApprovalDecision>) -> Admission<'s> {
        let masks = self.session.bound.masks(self.tool, &self.accepted.secrets);
        let decision = decision.map(|it| ApprovalDecision {
            reason: it.reason.map(|reason| masks.text(&reason)),
            ..it
        });
        let error = match &decision {
            Some(ApprovalDecision { approved: true, .. }) => {
                self.approval = decision;
                return Admission::Ready(Box::new(self));
            }
            Some(refusal) => CallError::ApprovalRefused { reason: refusal.reason.clone() },
            None => CallError::ApprovalRequired,
        };
        self.approval = decision;
        Admission::Answered(self.refuse(error))
    }

    /// Completes a call that does not run.
    pub(super) fn refuse(self, error: CallError) -> Verdict {
        let Self { session, id, name, warnings, approval, admitted: (admitted, _), .. } = self;
        session.state.lock().throttle.withdraw(admitted);
        Verdict { warnings, approval, ..Verdict::new(id, name, Err(error)) }
    }

    /// Asks the validator that is a program or a service, if there is one and it has not been asked.
    /// A call that it does not accept is complete.
    pub async fn judge(mut self, cancelled: &CancellationToken) -> Admission<'s> {
        let session = self.session;
        let validator = session.external_validator(self.tool).filter(|_| !self.judged);
        let Some(validator) = validator else { return Admission::Ready(Box::new(self)) };
        let limit = self.settings().time_limit();
        let found = tokio::select! {
            biased;
            () = cancelled.cancelled() => {
                return Admission::Answered(self.end(Err(RunFailure::cancelled())));
            }
            found = problems(validator, &self.name, &self.accepted.arguments, limit) => found,
        };
        let masks = session.bound.masks(self.tool, &self.accepted.secrets);
        let error = match (found, session.bound.check(self.tool)) {
            (Ok(found), _) if found.is_empty() => {
                session.state.lock().accepted(self.tool);
                self.judged = true;
                return Admission::Ready(Box::new(self));
            }
            (Ok(found), Ok(check)) => {
                let found = found.into_iter().map(|problem| masks.problem(problem)).collect();
                CallError::Validation(InvalidArguments::of_host(check, found))
            }
            (Ok(_), Err(error)) => CallError::Invocation { detail: error.to_string() },
            (Err(why), _) => {
                let detail = format!("the validator of its arguments {}", masks.text(&why));
                CallError::Invocation { detail }
            }
        };
        let Self { tool, id, name, warnings, admitted: (admitted, sent), .. } = self;
        let error = session.refuse(tool, (admitted, &sent), error);
        Admission::Answered(Verdict { warnings, ..Verdict::new(id, name, Err(error)) })
    }

    /// Runs the implementation until it answers, times out or is cancelled. Before that, asks the
    /// validator and for approval, unless that is done or not needed.
    pub async fn run(self, cancelled: CancellationToken) -> Verdict {
        let call = match self.judge(&cancelled).await {
            Admission::Answered(verdict) => return verdict,
            Admission::Ready(call) => *call,
        };
        let call = match call.approval_request() {
            None => call,
            Some(request) => {
                let session = call.session;
                let decided = session.approvals.decide(request);
                let decision = tokio::select! {
                    biased;
                    () = cancelled.cancelled() => return call.end(Err(RunFailure::cancelled())),
                    decision = decided => decision,
                };
                match call.decide(decision) {
                    Admission::Answered(verdict) => return verdict,
                    Admission::Ready(call) => *call,
                }
            }
        };
        if call.session.bound.tool(call.tool).attribute("once") == Some(&Value::Bool(true)) {
            return call.run_once(cancelled).await;
        }
        let answer = call.invoke(cancelled).await;
        call.end(answer)
    }

    /// Completes a call with an answer from elsewhere, such as a recording. Nothing runs, so approval
    /// is not needed.
    pub fn finish(self, answer: Result<Answer, InvocationError>) -> Verdict {
        self.end(answer.map_err(RunFailure::Error))
    }

    /// Runs the implementation alone: neither a validator nor anyone who approves calls is asked, and
    /// nothing is recorded. [`Self::end`] completes the call with the answer.
    pub async fn invoke(&self, cancelled: CancellationToken) -> Result<Answer, RunFailure> {
        let bound = &self.session.bound;
        let tool = bound.tool(self.tool);
        let Some(entry) = &tool.entry else {
            let detail = "the library has no implementation of it";
            return Err(RunFailure::error(InvocationErrorKind::Unreachable, detail));
        };
        let implementation = self.session.implementation(entry);
        let invocation = self.invocation(&*implementation, cancelled.clone());
        let limit = tool.limit.clone();
        let work = async move {
            let _place = match &limit {
                // The semaphore is never closed, so this does not fail.
                Some(limit) => limit.acquire().await.ok(),
                None => None,
            };
            implementation.invoke(invocation).await
        };
        let caught = AssertUnwindSafe(work).catch_unwind();
        tokio::select! {
            biased;
            () = cancelled.cancelled() => Err(RunFailure::cancelled()),
            outcome = self.origin.within(self.settings().time_limit(), caught) => match outcome {
                None => Err(RunFailure::TimeLimit),
                Some(Err(_)) => {
                    Err(RunFailure::error(InvocationErrorKind::Died, "the implementation panicked"))
                }
                Some(Ok(answer)) => answer.map_err(RunFailure::Error),
            },
        }
    }

    fn invocation(
        &self,
        implementation: &dyn Implementation,
        cancelled: CancellationToken,
    ) -> Invocation {
        let occurrence = if implementation.counts() {
            let hash = hash_of(&self.accepted.arguments);
            self.session.state.lock().occurrence(self.tool, hash)
        } else {
            0
        };
        let tool = self.session.bound.tool(self.tool);
        Invocation {
            tool: tool.spec.name.clone(),
            arguments: self.arguments().into(),
            text_result: self.is_plain_text(),
            max_answer: self.settings().most_output(),
            is_repeatable: self.is_repeatable(),
            occurrence,
            hidden: Arc::clone(&tool.hidden),
            origin: self.origin.clone(),
            cancelled,
        }
    }

    /// Whether the result may be a string.
    fn takes_text(&self) -> bool {
        match self.session.bound.result(self.tool) {
            Ok(Some(check)) => check.takes_text(),
            _ => true,
        }
    }

    /// Completes a call with what [`Self::invoke`] returned.
    pub fn end(mut self, answer: Result<Answer, RunFailure>) -> Verdict {
        let masks = self.session.bound.masks(self.tool, &self.accepted.secrets);
        let mut content = None;
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
                if error.kind != InvocationErrorKind::Cancelled {
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
                stripped: std::mem::take(&mut accepted.stripped),
                result: None,
            })
        });
        let failed =
            outcome.is_err() || self.warnings.iter().any(|warning| warning.code == UNSUCCESSFUL);
        let Self { session, id, name, warnings, approval, admitted: (admitted, sent), .. } = self;
        let (ended, hash) =
            if failed { (CallOutcome::Failure, hash_of(&sent)) } else { (CallOutcome::Success, 0) };
        session.state.lock().throttle.finish(admitted, hash, ended, session.clock.now());
        let verdict = Verdict::new(id, name, outcome);
        Verdict { warnings, attempt, content, approval, ..verdict }
    }

    /// Adds warnings about what may have caused a failure of the implementation.
    fn explain_failure(&mut self, masks: &SecretMasks) {
        let spec = &self.session.bound.tool(self.tool).spec;
        let arguments = masks.arguments(spec, self.accepted.arguments.clone());
        for mut warning in repeated_paths(&arguments) {
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
        if let Some(value) = content.structured().filter(|_| wants_structured) {
            return Ok(self.unwrapped(value.clone()));
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
    fn unwrapped(&self, value: Value) -> Value {
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
    fn is_plain_text(&self) -> bool {
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
                let detail = format!("its result is not what the tool promises: {why}");
                return Err(CallError::Invocation { detail });
            }
            let message = format!("the result is not what the tool promises: {why}");
            warnings.push(Warning { code: "result-mismatch", message });
        }
        warnings.extend(warnings::omitted_defaults(&self.accepted.omitted_defaults));
        warnings.extend(warnings::large(text.len(), settings.max_response));
        if warnings::reports_failure(&value) {
            let message = "the result reports a failure".to_owned();
            warnings.push(Warning { code: UNSUCCESSFUL, message });
        }
        // The messages below only quote masked values.
        let arguments = std::mem::take(&mut self.accepted.arguments);
        let arguments = masks.arguments(&tool.spec, arguments);
        let result = masks.result(value);
        warnings.extend(repeated_paths(&arguments));
        warnings.extend(warnings::repeated_paths(&result, "result"));
        for warning in &mut warnings {
            warning.message = masks.text(&warning.message);
        }
        self.warnings.append(&mut warnings);
        Ok(Success {
            arguments,
            repairs: std::mem::take(&mut self.accepted.repairs),
            stripped: std::mem::take(&mut self.accepted.stripped),
            result: Some(result),
        })
    }
}

/// Warns about paths in the JSON of arguments that repeat themselves.
fn repeated_paths(arguments: &str) -> Vec<Warning> {
    if !arguments.contains(['/', '\\']) {
        return Vec::new();
    }
    let arguments = serde_json::from_str(arguments).unwrap_or_default();
    warnings::repeated_paths(&arguments, "arguments")
}

fn not_json(error: &serde_json::Error) -> CallError {
    CallError::Invocation { detail: format!("the response is not valid JSON: {error}") }
}

/// Masks the secrets in a result in the form of MCP. Returns warnings about what was changed, and
/// about what is wrong with it.
fn mark(content: &mut ToolContent, masks: &SecretMasks) -> Vec<Warning> {
    let mut warnings = Vec::new();
    if let Some(why) = content.take_violation() {
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

/// The warning code for a result whose success flag is negative. It counts as a failure.
pub(super) const UNSUCCESSFUL: &str = "unsuccessful";
