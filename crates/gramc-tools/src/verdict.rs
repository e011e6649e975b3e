//! The verdict on a call, as data and as text for the model.

mod message;

use std::time::Duration;

use serde::Serialize;
use serde_json::{Map, Value, json};
use smol_str::SmolStr;

use crate::approval::ApprovalDecision;
use crate::masks::SecretMasks;
use crate::throttle::Throttled;
use crate::{Image, ToolContent};
use gramc_calls::check::{
    Accepted, InvalidArguments, MalformedArguments, Problem, Rejection, Repair,
};
use gramc_calls::names::Suggestion;
use gramc_json_schema::pointer::dotted;
use message::{error_message, error_text, format_duration, guidance};

/// A tool call of a model.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Call {
    /// The identifier of the call.
    pub id: Option<String>,
    /// The name that was called.
    pub name: String,
    /// The JSON text of the arguments as the model wrote it, if any.
    pub arguments: Option<String>,
    /// How the reply of the model ended, as far as this call is concerned.
    pub ending: ReplyEnding,
    /// Values of injected parameters, which take precedence over those of the session.
    pub injected: Map<String, Value>,
    /// Metadata of the request, such as the context of a trace.
    pub meta: Map<String, Value>,
}

/// How the reply of a model ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ReplyEnding {
    /// The provider did not report it.
    #[default]
    Unknown,
    /// The reply is complete.
    Complete,
    /// The reply ended early, with the reason. The call is refused, because its arguments may be
    /// incomplete.
    CutOff(&'static str),
}

impl Call {
    /// Creates a call with the JSON text of its arguments.
    pub fn new(name: impl Into<String>, arguments: impl Into<String>) -> Self {
        Self { name: name.into(), arguments: Some(arguments.into()), ..Self::default() }
    }
}

/// The code of the warning about arguments that were removed.
pub(crate) const STRIPPED: &str = "stripped-arguments";

/// The outcome of a call.
#[derive(Debug, Clone)]
pub struct Verdict {
    /// The identifier of the call.
    pub id: Option<String>,
    /// The name that was called.
    pub name: String,
    /// Warnings about the call.
    pub warnings: Vec<Warning>,
    /// The result, or the error.
    pub outcome: Result<Success, CallError>,
    /// The arguments of a call that ran and failed, with their repairs.
    pub attempt: Option<Box<Success>>,
    /// The result in the form of MCP, if the implementation returned it so. Secrets are masked.
    pub content: Option<ToolContent>,
    /// The decision, if the call had to be approved and there was a way to ask.
    pub approval: Option<ApprovalDecision>,
}

/// The outcome of a successful call.
#[derive(Debug, Clone, Default)]
pub struct Success {
    /// The arguments that the implementation received, as a JSON object. Injected values are left
    /// out and secrets masked.
    pub arguments: String,
    /// The repairs to the arguments.
    pub repairs: Vec<Repair>,
    /// The number of repairs in addition to these.
    pub more_repairs: usize,
    /// The undeclared parameters that were stripped, as JSON pointers.
    pub stripped: Vec<SmolStr>,
    /// The result. `None` if no implementation ran.
    pub result: Option<Value>,
}

impl Success {
    /// The outcome of a call that did not run. `arguments` are those of `accepted` without secrets.
    pub(crate) fn new(accepted: Accepted, arguments: String) -> Self {
        let Accepted { repairs, more_repairs, stripped, .. } = accepted;
        Self { arguments, repairs, more_repairs, stripped, result: None }
    }
}

/// A warning about a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Warning {
    /// The stable code of the warning.
    pub code: &'static str,
    /// The problem and how to avoid it.
    pub message: String,
}

impl Warning {
    pub(crate) fn mask(self, masks: &SecretMasks) -> Self {
        Self { message: masks.text(&self.message), ..self }
    }
}

/// Why a call failed.
#[derive(Debug, Clone)]
pub enum CallError {
    /// The arguments are invalid.
    Validation(InvalidArguments),
    /// The arguments cannot be read.
    Malformed(MalformedArguments),
    /// There is no such tool.
    UnknownTool {
        /// Similar names, best first.
        suggestions: Vec<Suggestion>,
        /// The tools that can be called now.
        available: Vec<SmolStr>,
    },
    /// A container was called with parameters.
    ContainerInvocation {
        /// The parameters.
        attempted: Value,
        /// The functions in the container, in order.
        functions: Vec<SmolStr>,
        /// The function that the parameters name, if any.
        meant: Option<SmolStr>,
        /// Whether the container was expanded anyway.
        expanded: bool,
    },
    /// A function of a collapsed container was called.
    ContainerNotExpanded {
        /// The container.
        container: SmolStr,
        /// Whether the container was expanded anyway.
        expanded: bool,
    },
    /// The call has to be approved, and there is no way to ask.
    ApprovalRequired,
    /// The call was not approved.
    ApprovalRefused {
        /// The reason, if there is one.
        reason: Option<String>,
    },
    /// The tool runs at most once, and what became of an earlier call with the same arguments is
    /// unknown.
    OutcomeUnknown,
    /// There were too many calls or failures, or the call repeats without progress.
    Throttled {
        /// The rule's name.
        rule: &'static str,
        /// The rule's limit.
        limit: u32,
        /// When to try again.
        retry_after: Duration,
    },
    /// The implementation returned no valid answer.
    Invocation {
        /// The error message.
        detail: String,
    },
    /// The implementation timed out.
    Timeout {
        /// The timeout.
        limit: Duration,
    },
    /// Too many calls in a row were refused, so that a human review is required.
    NeedsHumanReview {
        /// The number of consecutive refused calls.
        attempts: u32,
        /// The error of the last attempt.
        last: Box<CallError>,
    },
}

impl From<MalformedArguments> for CallError {
    fn from(malformed: MalformedArguments) -> Self {
        Self::Malformed(malformed)
    }
}

impl From<Throttled> for CallError {
    fn from(throttled: Throttled) -> Self {
        let Throttled { rule, limit, retry_after } = throttled;
        Self::Throttled { rule: rule.name(), limit, retry_after }
    }
}

impl From<Rejection> for CallError {
    fn from(rejection: Rejection) -> Self {
        match rejection {
            Rejection::Malformed(malformed) => Self::Malformed(malformed),
            Rejection::Invalid(invalid) => Self::Validation(invalid),
        }
    }
}

impl CallError {
    /// The error type, as used in verdicts.
    pub fn error_type(&self) -> &'static str {
        match self {
            Self::Validation(_) => "validation_error",
            Self::Malformed(malformed) => malformed.error_type(),
            Self::UnknownTool { .. } => "unknown_tool",
            Self::ContainerInvocation { .. } => "container_invocation_error",
            Self::ContainerNotExpanded { .. } => "container_not_expanded",
            Self::ApprovalRequired => "approval_required",
            Self::ApprovalRefused { .. } => "approval_refused",
            Self::OutcomeUnknown => "outcome_unknown",
            Self::Throttled { .. } => "throttled",
            Self::Invocation { .. } => "invocation_error",
            Self::Timeout { .. } => "timeout",
            Self::NeedsHumanReview { .. } => "needs_human_review",
        }
    }
}

impl Verdict {
    /// Creates a verdict without warnings.
    pub fn new(id: Option<String>, name: String, outcome: Result<Success, CallError>) -> Self {
        let (warnings, attempt, content, approval) = (Vec::new(), None, None, None);
        Self { id, name, warnings, outcome, attempt, content, approval }
    }

    /// Whether the call succeeded.
    pub fn is_ok(&self) -> bool {
        self.outcome.is_ok()
    }

    /// The arguments that the implementation received, with their repairs. `None` if the call was
    /// refused.
    pub fn accepted(&self) -> Option<&Success> {
        self.outcome.as_ref().ok().or(self.attempt.as_deref())
    }

    /// The verdict as a JSON object.
    pub fn json(&self) -> Value {
        let mut map = Map::new();
        let mut put = |key: &str, value: Value| {
            map.insert(key.to_owned(), value);
        };
        if let Some(id) = &self.id {
            put("id", json!(id));
        }
        put("name", json!(self.name));
        put("ok", json!(self.is_ok()));
        if let Some(decision) = &self.approval {
            put("approval", json!(decision));
        }
        if let Some(accepted) = self.accepted() {
            let stripped = accepted.stripped.iter().map(|pointer| json!(dotted(pointer)));
            put("arguments", serde_json::from_str(&accepted.arguments).unwrap_or_default());
            put("repairs", accepted.repairs.iter().map(repair_json).collect());
            if accepted.more_repairs > 0 {
                put("more_repairs", accepted.more_repairs.into());
            }
            put("stripped", stripped.collect());
        }
        if self.is_ok() || !self.warnings.is_empty() {
            put("warnings", json!(self.warnings));
        }
        match &self.outcome {
            Ok(Success { result: Some(result), .. }) => put("result", result.clone()),
            Ok(_) => {}
            Err(error) => {
                put("error", error_json(&self.name, error));
                put("message", json!(self.message()));
            }
        }
        Value::Object(map)
    }

    /// The message for the model: the [text](Self::text), and removed arguments.
    pub fn message(&self) -> String {
        match self.stripped_note() {
            Some(note) => format!("{}\n{note}", self.text()),
            None => self.text(),
        }
    }

    /// The result, or the error with guidance. Images are only named.
    pub fn text(&self) -> String {
        match &self.outcome {
            Ok(Success { result: Some(Value::String(text)), .. }) => text.clone(),
            Ok(Success { result, .. }) => self.exact_text().unwrap_or_else(|| {
                result.as_ref().map_or_else(|| "ok".to_owned(), Value::to_string)
            }),
            Err(error) => error_text(&self.name, error) + &self.notes(),
        }
    }

    /// A sentence for the model about arguments that were removed from a successful call.
    pub fn stripped_note(&self) -> Option<String> {
        let warning = self.warnings.iter().find(|warning| warning.code == STRIPPED);
        warning.filter(|_| self.is_ok()).map(note)
    }

    /// The text of a result in the form of MCP that has no structured content.
    fn exact_text(&self) -> Option<String> {
        let content =
            self.content.as_ref().filter(|content| content.structured_content().is_none())?;
        content.text_beside_images()
    }

    /// The images of the result, or of the failure that the tool reports.
    pub fn images(&self) -> Vec<Image> {
        self.content.as_ref().map(ToolContent::images).unwrap_or_default()
    }

    /// What to do after a failed call, without the error itself.
    pub fn guidance(&self) -> Option<String> {
        let error = self.outcome.as_ref().err()?;
        Some(guidance(&self.name, error) + &self.notes())
    }

    fn notes(&self) -> String {
        self.warnings.iter().flat_map(|warning| ["\n".to_owned(), note(warning)]).collect()
    }
}

/// A warning as text for the model.
fn note(warning: &Warning) -> String {
    format!("Note: {}.", warning.message)
}

/// Parses a received value, which is stored as JSON text.
fn sent(json: &str) -> Value {
    serde_json::from_str(json).unwrap_or_else(|_| Value::from(json))
}

fn repair_json(repair: &Repair) -> Value {
    json!({
        "path": dotted(&repair.pointer),
        "rule": repair.rule.name(),
        "from": sent(&repair.from),
        "to": repair.to.as_deref().map_or(Value::Null, sent),
    })
}

fn problem_json(problem: &Problem) -> Value {
    json!({
        "property": problem.property(),
        "pointer": problem.pointer.as_str(),
        "attempted_value": problem.attempted.as_deref().map(sent),
        "error_code": problem.code.as_str(),
        "error_message": problem.message,
    })
}

fn problems_json(invalid: &InvalidArguments) -> Value {
    let mut json = json!({
        "errors": invalid.problems().iter().map(problem_json).collect::<Vec<_>>(),
    });
    if invalid.more() > 0 {
        json["more_errors"] = invalid.more().into();
    }
    json
}

fn error_json(name: &str, error: &CallError) -> Value {
    let names = |names: &[SmolStr]| -> Value { names.iter().map(SmolStr::as_str).collect() };
    let details = match error {
        CallError::Validation(invalid) => {
            let mut json = problems_json(invalid);
            json["schema_hint"] = invalid.schema_hint().into();
            json
        }
        CallError::Malformed(MalformedArguments { line, column, what, .. }) => {
            json!({"line": line, "column": column, "detail": what})
        }
        CallError::UnknownTool { suggestions, available } => json!({
            "attempted_name": name,
            "suggestions": suggestions.iter().map(|it| it.name.as_str()).collect::<Vec<_>>(),
            "available_tools": names(available),
        }),
        CallError::ContainerInvocation { attempted, functions, .. } => json!({
            "container_name": name,
            "attempted_parameters": attempted,
            "available_functions": names(functions),
        }),
        CallError::ContainerNotExpanded { container, .. } => {
            json!({"container_name": container.as_str(), "attempted_name": name})
        }
        CallError::ApprovalRequired
        | CallError::ApprovalRefused { .. }
        | CallError::OutcomeUnknown => json!({"tool": name}),
        CallError::Throttled { rule, limit, retry_after } => {
            let retry_after = seconds(*retry_after);
            json!({"tool": name, "rule": rule, "limit": limit, "retry_after_seconds": retry_after})
        }
        CallError::Invocation { detail } => json!({"tool": name, "detail": detail}),
        CallError::Timeout { limit } => {
            let detail = format!("no response within {}", format_duration(*limit));
            json!({"tool": name, "detail": detail})
        }
        CallError::NeedsHumanReview { attempts, last } => {
            let errors = match &**last {
                CallError::Validation(invalid) => problems_json(invalid),
                CallError::Malformed(malformed) => json!({"errors": [{
                    "property": "", "pointer": "", "attempted_value": null,
                    "error_code": "TYPE_MISMATCH", "error_message": malformed.to_string(),
                }]}),
                _ => json!({"errors": []}),
            };
            join_objects([json!({"needs_human_review": true, "attempts": attempts}), errors])
        }
    };
    let message = error_message(name, error);
    join_objects([
        json!({"error_type": error.error_type()}),
        details,
        json!({"error_message": message, "retry_guidance": guidance(name, error)}),
    ])
}

/// The entries of all objects as one object.
fn join_objects<const N: usize>(objects: [Value; N]) -> Value {
    let objects = objects.into_iter().filter_map(|object| match object {
        Value::Object(map) => Some(map),
        _ => None,
    });
    Value::Object(objects.flatten().collect())
}

/// A duration in seconds, without a fraction if it is whole.
fn seconds(time: Duration) -> Value {
    if time.subsec_nanos() == 0 {
        json!(time.as_secs())
    } else {
        json!((time.as_secs_f64() * 1000.0).round() / 1000.0)
    }
}
