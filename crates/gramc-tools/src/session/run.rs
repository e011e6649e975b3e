//! Runs admitted calls.

use std::fmt::Write as _;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt as _;
use serde_json::{Map, Value};
use smol_str::SmolStr;
use tokio_util::sync::CancellationToken;

use super::Session;
use super::admission::{Admission, hash_of};
use crate::approval::ApprovalDecision;
use crate::invocation::{
    Answer, Implementation, Invocation, InvocationError, InvocationErrorKind, RequestOrigin,
};
use crate::library::LibraryEntry;
use crate::settings::Settings;
use crate::throttle::ThrottleTicket;
use crate::verdict::{CallError, Verdict, Warning};
use gramc_calls::check::Accepted;

/// An admitted call.
#[derive(Debug)]
pub struct AdmittedCall<'s> {
    pub(super) session: &'s Session,
    pub(super) tool: u32,
    pub(super) id: Option<String>,
    pub(super) name: String,
    pub(super) accepted: Accepted,
    /// The values of injected parameters that the call or the session supplies.
    pub(super) injected: Vec<(SmolStr, Value)>,
    pub(super) warnings: Vec<Warning>,
    /// Whether the validators have accepted it.
    pub(super) judged: bool,
    /// That it may run, if it has to be approved.
    pub(super) approval: Option<ApprovalDecision>,
    pub(super) ticket: ThrottleTicket,
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
    pub(super) fn error(kind: InvocationErrorKind, detail: &str) -> Self {
        Self::Error(InvocationError::new(kind, detail))
    }

    pub(super) fn cancellation() -> Self {
        Self::error(InvocationErrorKind::Cancelled, "the call was cancelled")
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
        let of_library = &self.session.bound.tool(self.tool).injected;
        let of_library = of_library.iter().filter(|(name, _)| !self.is_supplied(name));
        let mut arguments = self.accepted.arguments.clone();
        for (name, value) in of_library.chain(&self.injected) {
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

    /// Whether the call or the session supplies the value of an injected parameter.
    fn is_supplied(&self, parameter: &str) -> bool {
        self.injected.iter().any(|(name, _)| name == parameter)
    }

    /// The arguments as an implementation with another signature gets them.
    fn mapped_arguments(&self, entry: &LibraryEntry) -> String {
        let arguments = self.arguments();
        let mapping = entry.mapping.as_ref().filter(|_| !self.session.is_run_by_host(entry));
        let Some(mapping) = mapping else { return arguments };
        let arguments: Map<String, Value> = serde_json::from_str(&arguments).unwrap_or_default();
        let mut mapped = mapping.apply(&arguments);
        // Injected parameters are passed on unless the mapping names them.
        let hidden = &self.session.bound.tool(self.tool).hidden;
        for name in hidden.iter().filter(|name| !mapping.names(name)) {
            if let Some(value) = arguments.get(name.as_str()) {
                mapped.entry(name.as_str()).or_insert_with(|| value.clone());
            }
        }
        Value::Object(mapped).to_string()
    }

    /// Whether a request may be sent again.
    fn is_repeatable(&self) -> bool {
        let tool = self.session.bound.tool(self.tool);
        tool.attribute("once") != Some(&Value::Bool(true))
            && tool.attribute("idempotent") != Some(&Value::Bool(false))
    }

    pub(super) fn settings(&self) -> &'s Settings {
        self.session.bound.settings(Some(self.tool))
    }

    /// Completes a call that does not run.
    pub(super) fn refuse(self, error: CallError) -> Verdict {
        let Self { session, id, name, warnings, approval, ticket, .. } = self;
        session.state.lock().throttle.withdraw(ticket);
        Verdict { warnings, approval, ..Verdict::new(id, name, Err(error)) }
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
                    () = cancelled.cancelled() => return call.end(Err(RunFailure::cancellation())),
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
            let detail = "no implementation in the library";
            return Err(RunFailure::error(InvocationErrorKind::Unreachable, detail));
        };
        if let Some((_, why)) = tool.missing.iter().find(|(name, _)| !self.is_supplied(name)) {
            return Err(RunFailure::error(InvocationErrorKind::Unreachable, why));
        }
        let implementation = self.session.implementation(entry);
        let invocation = self.invocation(entry, &*implementation, cancelled.clone());
        let limit = tool.limit.clone();
        let work = async move {
            let _permit = limit.acquire().await;
            implementation.invoke(invocation).await
        };
        let caught = AssertUnwindSafe(work).catch_unwind();
        tokio::select! {
            biased;
            () = cancelled.cancelled() => Err(RunFailure::cancellation()),
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
        entry: &LibraryEntry,
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
            arguments: self.mapped_arguments(entry).into(),
            text_result: self.is_plain_text(),
            max_answer: self.settings().most_output(),
            is_repeatable: self.is_repeatable(),
            occurrence,
            hidden: Arc::clone(&tool.hidden),
            origin: self.origin.clone(),
            cancelled,
        }
    }
}
