//! A session checks and runs the calls of one conversation.

mod container;
mod observer;
mod once;
mod redaction;
mod run;
mod state;
mod unchecked;
mod warnings;

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use parking_lot::Mutex;
use serde_json::Value;
use smol_str::SmolStr;
use tokio_util::sync::CancellationToken;

use crate::approval::{ApprovalPolicy, Approvals};
use crate::bind::{Bound, CallTarget};
use crate::clock::{Clock, SystemClock};
use crate::implementations::Client;
use crate::invocation::{Implementation, RequestOrigin, SessionResources};
use crate::journal::CallJournal;
use crate::library::LibraryEntry;
use crate::stats::SessionStats;
use crate::throttle::{CallOutcome, ThrottleTicket};
use crate::verdict::{Call, CallError, Success, Verdict, Warning};
use gramc_calls::check::{
    Accepted, InvalidArguments, MalformedArguments, Problem, Rejection, ToolCheck,
};

use observer::SessionObserver;
pub use observer::{CallObserver, FinishedCall};
pub use redaction::RedactedArguments;
pub use run::{AdmittedCall, RunFailure};
use state::SessionState;

/// The maximum number of tools that the error for an unknown name lists.
const MAX_LISTED: usize = 100;
/// The maximum number of suggestions in that error.
const MAX_SUGGESTED: usize = 5;

/// The state of one conversation, connection or run: throttle, attempts and expanded containers.
/// The library and the specification are immutable.
#[derive(Debug)]
pub struct Session {
    bound: Bound,
    clock: Arc<dyn Clock>,
    state: Mutex<SessionState>,
    /// The callable names, if restricted. The value is whether the name itself is listed, and not
    /// only a container of it.
    scope: Option<HashMap<SmolStr, bool>>,
    /// Its own MCP servers, if it does not share those of the library.
    resources: Option<SessionResources>,
    approvals: Approvals,
    /// The calls of tools that run at most once.
    journal: Arc<CallJournal>,
    /// What executes the tools of the host.
    host: Option<Arc<dyn Implementation>>,
    observer: Option<SessionObserver>,
}

/// The outcome of checking a call, before anything runs.
#[expect(clippy::large_enum_variant, reason = "it is looked at and gone")]
#[derive(Debug)]
pub enum Admission<'s> {
    /// The call is complete.
    Answered(Verdict),
    /// The call may run.
    Ready(Box<AdmittedCall<'s>>),
}

impl Session {
    /// Creates a session with the system clock.
    pub fn new(bound: &Bound) -> Self {
        Self::with_clock(bound, Arc::new(SystemClock::default()))
    }

    /// Creates a session with a clock of the host.
    pub fn with_clock(bound: &Bound, clock: Arc<dyn Clock>) -> Self {
        Self {
            bound: bound.clone(),
            clock,
            state: Mutex::default(),
            scope: None,
            resources: None,
            approvals: Approvals::default(),
            journal: bound.journal().cloned().unwrap_or_default(),
            host: None,
            observer: None,
        }
    }

    /// Asks for approval of calls. Without this, calls that have to be approved are refused.
    #[must_use]
    pub fn with_approvals(mut self, approvals: Approvals) -> Self {
        self.approvals = approvals;
        self
    }

    /// Executes the tools of the kind `Client`, whose calls fail without this.
    #[must_use]
    pub fn with_host(mut self, host: Arc<dyn Implementation>) -> Self {
        self.host = Some(host);
        self
    }

    /// Whether the calls of a tool have to be approved. A library cannot weaken what the
    /// specification says.
    fn has_to_be_approved(&self, tool: u32) -> bool {
        let attribute = |key| self.bound.tool(tool).attribute(key);
        let own = attribute("approval").and_then(Value::as_str).and_then(ApprovalPolicy::of_name);
        let policy = own.max(self.bound.settings(Some(tool)).approval);
        match policy.unwrap_or(self.approvals.default_policy()) {
            ApprovalPolicy::Never => false,
            ApprovalPolicy::Destructive => attribute("destructive") == Some(&Value::Bool(true)),
            ApprovalPolicy::Always => true,
        }
    }

    /// Gives the session connections of its own to the MCP servers of the library, so that it does
    /// not share their state with other sessions. They end with the session.
    #[must_use]
    pub fn with_own_servers(mut self) -> Self {
        self.resources = Some(SessionResources::default());
        self
    }

    /// Its own MCP servers, if it does not share those of the library.
    pub fn resources(&self) -> Option<&SessionResources> {
        self.resources.as_ref()
    }

    /// Ends its own connections to MCP servers. They are opened again on demand.
    pub async fn close(&self) {
        if let Some(resources) = &self.resources {
            resources.close().await;
        }
    }

    /// The implementation of a tool for this session.
    fn implementation(&self, entry: &LibraryEntry) -> Arc<dyn Implementation> {
        let is_of_host = entry.implementation.kind() == Client.kind();
        let host = self.host.as_ref().filter(|_| is_of_host).cloned();
        let resources = || self.resources.as_ref();
        let own = host.or_else(|| entry.implementation.in_session(resources()?));
        own.unwrap_or_else(|| Arc::clone(&entry.implementation))
    }

    /// Restricts calls to these tools and containers, including the functions of the containers.
    /// Other names are unknown. A tool that is listed itself can be called even if it is in a
    /// collapsed container.
    #[must_use]
    pub fn scoped_to<'n>(mut self, names: impl IntoIterator<Item = &'n str>) -> Self {
        let mut scope = HashMap::new();
        for name in names {
            if let Some(CallTarget::Container(at)) = self.bound.named(name) {
                for &tool in &self.bound.container(at).members {
                    scope.entry(self.bound.tool(tool).spec.name.clone()).or_insert(false);
                }
            }
            scope.insert(SmolStr::from(name), true);
        }
        self.scope = Some(scope);
        self
    }

    fn is_in_scope(&self, name: &str) -> bool {
        self.scope.as_ref().is_none_or(|scope| scope.contains_key(name))
    }

    /// Whether a tool can be called even if its containers are collapsed.
    fn is_named_itself(&self, name: &str) -> bool {
        self.scope.as_ref().is_some_and(|scope| scope.get(name) == Some(&true))
    }

    fn named(&self, name: &str) -> Option<CallTarget> {
        self.bound.named(name).filter(|_| self.is_in_scope(name))
    }

    /// The bound library.
    pub fn bound(&self) -> &Bound {
        &self.bound
    }

    /// Checks a call and runs it.
    pub async fn call(&self, call: Call) -> Verdict {
        self.call_until(call, CancellationToken::new()).await
    }

    /// Checks a call without running it.
    pub fn begin(&self, call: Call) -> Admission<'_> {
        let Call { id, name, arguments, cut_off } = call;
        let arguments = arguments.unwrap_or_else(|| "{}".to_owned());
        let refuse =
            |name: String, error| Admission::Answered(Verdict::new(id.clone(), name, Err(error)));
        // The model did not mean this call, so it does not count as an attempt.
        if let Some(why) = cut_off {
            return refuse(name, MalformedArguments::cut_off(&arguments, why).into());
        }
        let tool = match self.named(&name) {
            Some(CallTarget::Tool(tool)) => tool,
            Some(CallTarget::Container(container)) => {
                let outcome = self.call_container(container, &arguments);
                return Admission::Answered(Verdict::new(id, name, outcome));
            }
            None => {
                self.state.lock().count_unknown(self.bound.settings(None), self.clock.now());
                let error = self.unknown(&name, false);
                return refuse(name, error);
            }
        };
        let settings = self.bound.settings(Some(tool));
        // Malformed arguments take precedence over a collapsed container, and count as a failure.
        if self.is_collapsed(tool) && self.malformed(tool, &arguments).is_none() {
            self.state.lock().count_unknown(settings, self.clock.now());
            return refuse(name, self.not_expanded(tool));
        }
        let mut state = self.state.lock();
        // The clock is read under the lock, so that calls enter the windows in order.
        let admitted = state.throttle.admit(Some(tool), &settings.throttle, self.clock.now());
        drop(state);
        let admitted = match admitted {
            Ok(admitted) => admitted,
            Err(throttled) => {
                let error = self.malformed(tool, &arguments).unwrap_or(CallError::Throttled {
                    rule: throttled.rule.name(),
                    limit: throttled.limit,
                    retry_after: throttled.retry_after,
                });
                return refuse(name, error);
            }
        };
        let repeats = self.state.lock().throttle.repeats_failure(tool, || hash_of(&arguments));
        let warnings = Vec::from_iter(repeats.then(|| Warning {
            code: "repeated-failure",
            message: format!(
                "`{name}` failed right before when it was called with these arguments"
            ),
        }));
        match self.checked(tool, &arguments) {
            Ok(accepted) => {
                let judged = self.external_validator(tool).is_none();
                if judged {
                    self.state.lock().accepted(tool);
                }
                let (session, admitted) = (self, (admitted, arguments));
                Admission::Ready(Box::new(AdmittedCall {
                    session,
                    tool,
                    id,
                    name,
                    accepted,
                    warnings,
                    judged,
                    approval: None,
                    admitted,
                    origin: RequestOrigin::default(),
                }))
            }
            Err(error) => {
                let error = self.refuse(tool, (admitted, &arguments), error);
                Admission::Answered(Verdict { warnings, ..Verdict::new(id, name, Err(error)) })
            }
        }
    }

    /// Records that a call was refused, and returns its error.
    fn refuse(
        &self,
        tool: u32,
        (admitted, arguments): (ThrottleTicket, &str),
        error: CallError,
    ) -> CallError {
        let hash = hash_of(arguments);
        let mut state = self.state.lock();
        state.throttle.finish(admitted, hash, CallOutcome::Failure, self.clock.now());
        // Errors of the host do not count as attempts of the model.
        let is_the_models = !matches!(error, CallError::Invocation { .. });
        let attempts = if is_the_models { state.refused(tool) } else { 0 };
        drop(state);
        match self.bound.settings(Some(tool)).max_attempts {
            most if most > 0 && attempts >= most => {
                CallError::NeedsHumanReview { attempts, last: Box::new(error) }
            }
            _ => error,
        }
    }

    /// The validator of a tool's calls that is a program or a service.
    fn external_validator(&self, tool: u32) -> Option<&dyn Implementation> {
        self.bound.tool(tool).entry.as_ref()?.external_validator.as_deref()
    }

    /// Checks a single call without running or recording it. All containers count as expanded.
    pub fn validate(&self, call: Call) -> Verdict {
        let Call { id, name, arguments, cut_off } = call;
        let arguments = arguments.unwrap_or_else(|| "{}".to_owned());
        if let Some(why) = cut_off {
            let error = MalformedArguments::cut_off(&arguments, why).into();
            return Verdict::new(id, name, Err(error));
        }
        let mut warnings = Vec::new();
        let outcome = match self.named(&name) {
            Some(CallTarget::Tool(tool)) => self.checked(tool, &arguments).map(|accepted| {
                warnings.extend(warnings::omitted_defaults(&accepted.omitted_defaults));
                let masks = self.bound.masks(tool, &accepted.secrets);
                Success {
                    arguments: masks.arguments(&self.bound.tool(tool).spec, accepted.arguments),
                    repairs: accepted.repairs,
                    stripped: accepted.stripped,
                    ..Success::default()
                }
            }),
            Some(CallTarget::Container(container)) => {
                self.validate_container(container, &arguments)
            }
            None => Err(self.unknown(&name, true)),
        };
        Verdict { warnings, ..Verdict::new(id, name, outcome) }
    }

    /// The error for arguments that are neither valid JSON nor repairable.
    fn malformed(&self, tool: u32, arguments: &str) -> Option<CallError> {
        let check = self.bound.check(tool).ok()?;
        let policy = self.bound.settings(Some(tool)).check;
        if ToolCheck::reads(arguments) {
            return None;
        }
        match check.check(arguments, policy) {
            Err(rejection @ Rejection::Malformed(_)) => Some(rejection.into()),
            _ => None,
        }
    }

    fn checked(&self, tool: u32, arguments: &str) -> Result<Accepted, CallError> {
        let check = self.bound.check(tool).map_err(|error| CallError::Invocation {
            detail: format!("the tool's schema cannot be checked against: {error}"),
        })?;
        let policy = self.bound.settings(Some(tool)).check;
        let checked = check.check(arguments, policy);
        let validators = self.bound.tool(tool).entry.as_ref().map(|entry| &entry.validators[..]);
        let validators = validators.unwrap_or_default();
        // Validators are host code, so they may panic.
        let found = |value: &Value| -> Result<Vec<_>, CallError> {
            let found = || validators.iter().flat_map(|validator| validator(value)).collect();
            catch_unwind(AssertUnwindSafe(found)).map_err(|_| CallError::Invocation {
                detail: "a validator of its arguments panicked".to_owned(),
            })
        };
        match checked {
            Ok(accepted) if validators.is_empty() => Ok(accepted),
            Ok(accepted) => {
                let found = found(&serde_json::from_str(&accepted.arguments).unwrap_or_default())?;
                if found.is_empty() {
                    return Ok(accepted);
                }
                let masks = self.bound.masks(tool, &accepted.secrets);
                let found = found.into_iter().map(|problem| masks.problem(problem)).collect();
                Err(CallError::Validation(InvalidArguments::of_host(check, found)))
            }
            Err(rejection @ Rejection::Malformed(_)) => Err(rejection.into()),
            Err(Rejection::Invalid(mut invalid)) => {
                let masks = self.bound.masks(tool, invalid.secrets()).into_owned();
                // Keep only problems of values that passed the check. The others may be
                // consequential errors.
                if !validators.is_empty()
                    && let Some(accepted) = invalid.accepted()
                {
                    let is_there = |found: &Problem| {
                        !found.pointer.is_empty() && accepted.pointer(&found.pointer).is_some()
                    };
                    let found = found(&accepted)?.into_iter().filter(is_there);
                    invalid.and(found.map(|problem| masks.problem(problem)).collect());
                }
                if !self.bound.secrets().is_empty() {
                    invalid.hide(|text| self.bound.library_masks().text(text));
                }
                Err(CallError::Validation(invalid))
            }
        }
    }

    /// The error for an unknown name. If `expanded`, all containers count as expanded.
    fn unknown(&self, name: &str, expanded: bool) -> CallError {
        let mut suggestions = match self.scope {
            Some(_) => self.bound.near().suggest(name, MAX_LISTED),
            None => self.bound.near().suggest(name, MAX_SUGGESTED),
        };
        suggestions.retain(|suggestion| self.is_in_scope(&suggestion.name));
        suggestions.truncate(MAX_SUGGESTED);
        for suggestion in &mut suggestions {
            // A tool that can be called needs no hint to its container.
            if let Some(CallTarget::Tool(tool)) = self.bound.named(&suggestion.name)
                && (expanded || !self.is_collapsed(tool))
            {
                suggestion.container = None;
            }
        }
        let available = self.names(expanded).into_iter().take(MAX_LISTED).collect();
        CallError::UnknownTool { suggestions, available }
    }

    /// The names that a model can call now: tools, including those of expanded containers, and
    /// containers.
    pub fn visible(&self) -> Vec<SmolStr> {
        self.names(false)
    }

    fn names(&self, expanded: bool) -> Vec<SmolStr> {
        let state = self.state.lock();
        let tools = self.bound.tools().iter();
        let tools = tools.filter(|tool| {
            expanded
                || tool.containers.is_empty()
                || self.is_named_itself(&tool.spec.name)
                || tool.containers.iter().any(|&at| state.is_expanded(at))
        });
        let tools = tools.map(|tool| tool.spec.name.clone());
        let containers = self.bound.containers().iter().map(|known| known.spec.name.clone());
        tools.chain(containers).filter(|name| self.is_in_scope(name)).collect()
    }

    /// Begins a turn after a message of the user. Containers that expand for a turn collapse.
    pub fn begin_turn(&self) {
        self.state.lock().begin_turn();
    }

    /// Expands the containers of a tool, if there are any.
    pub fn expand_containers_of(&self, tool: &str) {
        let Some(CallTarget::Tool(tool)) = self.bound.named(tool) else { return };
        let expand = self.bound.settings(None).expand;
        for &container in &self.bound.tool(tool).containers {
            self.state.lock().expand(container, expand);
        }
    }

    /// Expands a container, like a call of it. Does nothing if the name is unknown.
    pub fn expand(&self, container: &str) {
        if let Some(CallTarget::Container(at)) = self.named(container) {
            self.state.lock().expand(at, self.bound.settings(None).expand);
        }
    }

    /// Forgets the failures of a tool, so that it can be called again. Returns whether the tool
    /// exists.
    pub fn reset(&self, tool: &str) -> bool {
        let Some(CallTarget::Tool(tool)) = self.bound.named(tool) else { return false };
        self.state.lock().reset(tool);
        true
    }

    /// Forgets the failures of all tools.
    pub fn reset_all(&self) {
        self.state.lock().reset_all();
    }

    /// Statistics of the last minute, and of container calls in the whole session.
    pub fn stats(&self) -> SessionStats {
        self.state.lock().stats(&self.bound, self.clock.now())
    }
}

/// A hash of arguments that does not depend on how their JSON is written.
fn hash_of(arguments: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    match serde_json::from_str(arguments) {
        Ok(value) => gramc_json_schema::values::canonical(&value).hash(&mut hasher),
        Err(_) => arguments.hash(&mut hasher),
    }
    hasher.finish()
}

/// Whether a value means that there are no arguments.
fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Object(map) => map.is_empty(),
        _ => false,
    }
}

#[cfg(test)]
mod tests;
