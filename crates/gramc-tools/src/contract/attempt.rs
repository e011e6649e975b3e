//! One call of an implementation, and what it shows.

use crate::bind::CallTarget;
use crate::invocation::{Answer, InvocationErrorKind};
use crate::{Admission, AdmittedCall, Bound, Call, CallError, RunFailure, Session, Verdict};
use gramc_json_schema::shorten::shorten;
use gramc_json_schema::values::same;
use serde::de::IgnoredAny;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::report::Check;

/// The longest part of an answer that a message quotes, in characters.
const MAX_QUOTED: usize = 200;

/// What came of a call.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// An answer of the result type.
    Answer(Value),
    /// What it violates, what happened, and the answer if there was one.
    Violates {
        check: Check,
        message: String,
        answer: Option<String>,
    },
    NotRun(String),
}

impl Outcome {
    /// A violation without an answer.
    pub(crate) fn violation(check: Check, message: String) -> Self {
        Self::Violates { check, message, answer: None }
    }

    /// The outcome in a few words, for comparisons.
    pub(crate) fn describe(&self) -> String {
        match self {
            Self::Answer(value) => quote(value),
            Self::Violates { message, .. } | Self::NotRun(message) => message.clone(),
        }
    }

    /// Whether two implementations answer alike: with the same value, or both with a failure.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Answer(one), Self::Answer(other)) => same(one, other),
            (Self::Violates { answer: one, .. }, Self::Violates { answer: other, .. }) => {
                one == other
            }
            (Self::NotRun(_), Self::NotRun(_)) => true,
            _ => false,
        }
    }
}

/// A tool of a bound library. Each call has a session of its own, so that no throttle applies.
#[derive(Clone, Copy)]
pub(crate) struct Target<'t> {
    pub(crate) bound: &'t Bound,
    pub(crate) tool: &'t str,
}

impl Target<'_> {
    /// Whether the check accepts arguments that the schema allows. It rejects undeclared arguments
    /// that may be meant for declared ones.
    pub(crate) fn accepts(self, arguments: &Value) -> bool {
        let Some(CallTarget::Tool(at)) = self.bound.find(self.tool) else { return false };
        let policy = self.bound.settings(Some(at)).check;
        self.bound
            .check(at)
            .map_or(true, |check| check.check(&arguments.to_string(), policy).is_ok())
    }

    /// Makes a valid call.
    pub(crate) async fn call(self, arguments: &Value) -> Outcome {
        let session = Session::new(self.bound);
        session.expand_containers_of(self.tool);
        let call = match session.begin(Call::new(self.tool, arguments.to_string())) {
            Admission::Answered(verdict) => return Outcome::NotRun(failure(&verdict)),
            Admission::Ready(call) => *call,
        };
        if call.approval_request().is_some() {
            return Outcome::NotRun("its calls have to be approved".to_owned());
        }
        match call.judge(&CancellationToken::new()).await {
            Admission::Answered(verdict) => match verdict.outcome {
                Err(CallError::Validation(_)) => {
                    Outcome::NotRun("its validator refuses the calls".to_owned())
                }
                _ => Outcome::violation(Check::Crash, failure(&verdict)),
            },
            Admission::Ready(call) => run(*call).await,
        }
    }

    /// Makes a valid call again: the answer has to be the first one. `None` if there is none.
    pub(crate) async fn repeat(self, arguments: &Value, first: &Value) -> Option<Outcome> {
        let Outcome::Answer(second) = self.call(arguments).await else { return None };
        Some(if same(first, &second) {
            Outcome::Answer(second)
        } else {
            let message = format!("answered {}, and then {}", quote(first), quote(&second));
            Outcome::violation(Check::Repeat, message)
        })
    }

    /// Makes the same valid call twice.
    pub(crate) async fn call_twice(self, arguments: &Value) -> Option<Outcome> {
        let Outcome::Answer(first) = self.call(arguments).await else { return None };
        self.repeat(arguments, &first).await
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
            Outcome::Violates { check: Check::Result, .. } => Outcome::Answer(Value::Null),
            Outcome::Violates { check: Check::Failure, message, .. } => Outcome::NotRun(message),
            outcome => outcome,
        }
    }
}

/// Runs an implementation, whatever the policies say about running it again.
async fn run(call: AdmittedCall<'_>) -> Outcome {
    let answer = call.invoke(CancellationToken::new()).await;
    let shown = match &answer {
        Ok(Answer::Json(value)) => Some(value.to_string()),
        Ok(Answer::Raw(text)) => Some(text.clone()),
        Ok(Answer::Content(content)) => Some(Value::from(content.blocks()).to_string()),
        Err(_) => None,
    };
    let is_raw = matches!(answer, Ok(Answer::Raw(_)));
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
        (Some(warning), _) => {
            Outcome::Violates { check, message: warning.message.clone(), answer: shown }
        }
        (None, Ok(success)) => Outcome::Answer(success.result.clone().unwrap_or_default()),
        (None, Err(_)) => {
            let text = shown.as_deref().unwrap_or_default();
            let is_unreadable = is_raw && serde_json::from_str::<IgnoredAny>(text).is_err();
            let check = if is_unreadable { Check::Crash } else { check };
            let answer = shown.filter(|_| !is_unreadable);
            Outcome::Violates { check, message: failure(&verdict), answer }
        }
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

fn quote(answer: &Value) -> String {
    shorten(&answer.to_string(), MAX_QUOTED)
}
