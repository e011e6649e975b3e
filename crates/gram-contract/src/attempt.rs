//! One call of an implementation, and what it shows.

use gram_tools::invocation::InvocationErrorKind;
use gram_tools::{Admission, AdmittedCall, Bound, Call, CallError, RunFailure, Session, Verdict};
use json_schema_kit::values::same;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::report::Check;

/// The longest part of an answer that a message quotes, in characters.
const MAX_QUOTED: usize = 200;

/// What came of a call.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// An answer of the result type.
    Answer(Value),
    /// What it violates, and what happened.
    Violates(Check, String),
    /// It did not run, for this reason.
    NotRun(String),
}

impl Outcome {
    /// The outcome in a few words, for comparisons.
    pub(crate) fn describe(&self) -> String {
        match self {
            Self::Answer(value) => quoted(value),
            Self::Violates(_, message) | Self::NotRun(message) => message.clone(),
        }
    }

    /// Whether two implementations answer alike: with the same value, or both with a failure.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Answer(one), Self::Answer(other)) => same(one, other),
            (Self::Violates(one, _), Self::Violates(other, _)) => one == other,
            (Self::NotRun(_), Self::NotRun(_)) => true,
            _ => false,
        }
    }
}

/// A tool of a bound library. Each call has a session of its own, so that no throttle applies.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Target<'t> {
    pub(crate) bound: &'t Bound,
    pub(crate) tool: &'t str,
}

impl Target<'_> {
    /// Makes a valid call.
    pub(crate) async fn call(self, arguments: &Value) -> Outcome {
        let session = Session::new(self.bound);
        session.expand_containers_of(self.tool);
        let call = match session.begin(Call::new(self.tool, arguments.to_string())) {
            Admission::Answered(verdict) => return Outcome::NotRun(verdict.message()),
            Admission::Ready(call) => *call,
        };
        if call.approval_request().is_some() {
            return Outcome::NotRun("its calls have to be approved".to_owned());
        }
        match call.judge(&CancellationToken::new()).await {
            Admission::Answered(verdict) => Outcome::NotRun(verdict.message()),
            Admission::Ready(call) => run(*call).await,
        }
    }

    /// Makes the same valid call twice: the answers have to be the same. `None` if one of the calls got
    /// none.
    pub(crate) async fn call_twice(self, arguments: &Value) -> Option<Outcome> {
        let (Outcome::Answer(one), Outcome::Answer(other)) =
            (self.call(arguments).await, self.call(arguments).await)
        else {
            return None;
        };
        Some(if same(&one, &other) {
            Outcome::Answer(one)
        } else {
            let message = format!("answered {}, and then {}", quoted(&one), quoted(&other));
            Outcome::Violates(Check::Repeat, message)
        })
    }

    /// Makes an invalid call, past the check that would refuse it. It may be refused or answered, but no
    /// more than that.
    pub(crate) async fn call_invalid(self, arguments: &Value) -> Outcome {
        let session = Session::new(self.bound);
        let Some(call) = session.admit_unchecked(self.tool, arguments.to_string()) else {
            return Outcome::NotRun("there is no such tool".to_owned());
        };
        match run(call).await {
            // No type is promised for such a call.
            Outcome::Violates(Check::Result, _) => Outcome::Answer(Value::Null),
            Outcome::Violates(Check::Failure, message) => Outcome::NotRun(message),
            outcome => outcome,
        }
    }
}

/// Runs an implementation, whatever the policies say about running it again.
async fn run(call: AdmittedCall<'_>) -> Outcome {
    let answer = call.invoke(CancellationToken::new()).await;
    let check = match &answer {
        // Only what is wrong with the answer can still be told.
        Ok(_) => Check::Result,
        Err(RunFailure::TimeLimit) => Check::TimeLimit,
        Err(RunFailure::Error(error)) if error.kind == InvocationErrorKind::Failed => {
            Check::Failure
        }
        Err(RunFailure::Error(_)) => Check::Crash,
    };
    let verdict = call.end(answer);
    let mismatch = verdict.warnings.iter().find(|warning| warning.code == "result-mismatch");
    match (mismatch, &verdict.outcome) {
        (Some(warning), _) => Outcome::Violates(Check::Result, warning.message.clone()),
        (None, Ok(success)) => Outcome::Answer(success.result.clone().unwrap_or_default()),
        (None, Err(_)) => Outcome::Violates(check, failure(&verdict)),
    }
}

/// What a verdict says of a failure, without what it tells models.
fn failure(verdict: &Verdict) -> String {
    match &verdict.outcome {
        Err(CallError::Invocation { detail }) => detail.clone(),
        Err(CallError::Timeout { limit }) => format!("no answer within {limit:?}"),
        _ => verdict.message(),
    }
}

/// A value as JSON, shortened.
fn quoted(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(MAX_QUOTED) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
