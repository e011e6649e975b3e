//! One conversation: what it has expanded, how often it called, what failed.

mod container;
mod masks;
mod redaction;
mod run;
mod state;
mod warnings;

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use smol_str::SmolStr;
use tokio_util::sync::CancellationToken;

use crate::bind::{Bound, CallTarget};
use crate::check::{Accepted, InvalidArguments, Problem, Rejection, ToolCheck};
use crate::clock::{Clock, SystemClock};
use crate::throttle::CallOutcome;
use crate::verdict::{Call, CallError, Success, Verdict, Warning};

pub use redaction::RedactedArguments;
pub use run::AdmittedCall;
use state::SessionState;
pub use state::{ContainerStats, SessionStats};

/// How many tools an answer to an unknown name lists.
const MAX_LISTED: usize = 100;
/// How many suggestions it makes.
const MAX_SUGGESTED: usize = 5;

/// What one conversation, one connection or one run changes: throttle, attempts, expansion. The
/// library and the specification stay as they are.
#[derive(Debug)]
pub struct Session {
    bound: Bound,
    clock: Arc<dyn Clock>,
    state: Mutex<SessionState>,
    /// What may be called, where that is not all that is bound; and whether it is named itself, or
    /// only stands in a container that is.
    scope: Option<HashMap<SmolStr, bool>>,
}

/// What comes of a call before anything runs.
#[expect(clippy::large_enum_variant, reason = "it is looked at and gone")]
#[derive(Debug)]
pub enum Admission<'s> {
    /// It is answered.
    Answered(Verdict),
    /// It may run.
    Ready(Box<AdmittedCall<'s>>),
}

impl Session {
    /// A session under the machine's clock.
    pub fn new(bound: &Bound) -> Self {
        Self::with_clock(bound, Arc::new(SystemClock::default()))
    }

    /// A session under a clock of the host's.
    pub fn with_clock(bound: &Bound, clock: Arc<dyn Clock>) -> Self {
        Self { bound: bound.clone(), clock, state: Mutex::default(), scope: None }
    }

    /// Of all that is bound, lets nothing be called but these tools and containers, with the
    /// functions of the containers. What is out of scope is unknown; a tool that is named itself
    /// can be called whether or not it stands in a container, too.
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

    /// Whether a tool can be called whatever its containers do.
    fn is_named_itself(&self, name: &str) -> bool {
        self.scope.as_ref().is_some_and(|scope| scope.get(name) == Some(&true))
    }

    fn named(&self, name: &str) -> Option<CallTarget> {
        self.bound.named(name).filter(|_| self.is_in_scope(name))
    }

    /// What the session's calls are bound to.
    pub fn bound(&self) -> &Bound {
        &self.bound
    }

    fn state(&self) -> MutexGuard<'_, SessionState> {
        // Nothing panics while it holds the lock, and a half-made note of a call does no harm.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Checks a call and runs it.
    pub async fn call(&self, call: Call) -> Verdict {
        self.call_until(call, CancellationToken::new()).await
    }

    /// Checks a call and runs it, until somebody cancels it.
    pub async fn call_until(&self, call: Call, cancelled: CancellationToken) -> Verdict {
        match self.begin(call) {
            Admission::Answered(verdict) => verdict,
            Admission::Ready(ready) => ready.run(cancelled).await,
        }
    }

    /// Checks a call. Hosts that execute tools themselves begin here, and hand the result to
    /// [`AdmittedCall::finish`].
    pub fn begin(&self, call: Call) -> Admission<'_> {
        let Call { id, name, arguments } = call;
        let arguments = arguments.unwrap_or_else(|| "{}".to_owned());
        let refuse = |name: String, error| {
            let warnings = Vec::new();
            Admission::Answered(Verdict { id: id.clone(), name, warnings, outcome: Err(error) })
        };
        let tool = match self.named(&name) {
            Some(CallTarget::Tool(tool)) => tool,
            Some(CallTarget::Container(container)) => {
                let outcome = self.call_container(container, &arguments);
                let warnings = Vec::new();
                return Admission::Answered(Verdict { id, name, warnings, outcome });
            }
            None => {
                self.state().count_unknown(self.bound.settings(None), self.clock.now());
                let error = self.unknown(&name, false);
                return refuse(name, error);
            }
        };
        let settings = self.bound.settings(Some(tool));
        // What is no JSON is told so before all else, and counts.
        if self.is_collapsed(tool) && self.malformed(tool, &arguments).is_none() {
            self.state().count_unknown(settings, self.clock.now());
            return refuse(name, self.not_expanded(tool));
        }
        let mut state = self.state();
        // The moment is asked for under the lock, so that calls enter the windows in order.
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
        let repeats = self.state().throttle.repeats_failure(tool, || hash_of(&arguments));
        let warnings = Vec::from_iter(repeats.then(|| Warning {
            code: "repeated-failure",
            message: format!(
                "`{name}` failed right before when it was called with these arguments"
            ),
        }));
        match self.checked(tool, &arguments) {
            Ok(accepted) => {
                self.state().accepted(tool);
                let admitted = (admitted, arguments);
                let ready = AdmittedCall::new(self, tool, id, name, accepted, warnings, admitted);
                Admission::Ready(Box::new(ready))
            }
            Err(error) => {
                let hash = hash_of(&arguments);
                let mut state = self.state();
                state.throttle.finish(admitted, hash, CallOutcome::Failure, self.clock.now());
                // A model is not asked about what the host gets wrong.
                let is_the_models = !matches!(error, CallError::Invocation { .. });
                let attempts = if is_the_models { state.refused(tool) } else { 0 };
                drop(state);
                let error = match settings.max_attempts {
                    most if most > 0 && attempts >= most => {
                        CallError::NeedsHumanReview { attempts, last: Box::new(error) }
                    }
                    _ => error,
                };
                Admission::Answered(Verdict { id, name, warnings, outcome: Err(error) })
            }
        }
    }

    /// Judges a call alone: nothing runs, nothing is remembered, and all containers count as
    /// expanded.
    pub fn judge(&self, call: Call) -> Verdict {
        let Call { id, name, arguments } = call;
        let arguments = arguments.unwrap_or_else(|| "{}".to_owned());
        let outcome = match self.named(&name) {
            Some(CallTarget::Tool(tool)) => self.checked(tool, &arguments).map(|accepted| {
                let masks = masks::SecretMasks::new(accepted.secrets);
                Success {
                    arguments: masks.arguments(&self.bound.tool(tool).spec, accepted.arguments),
                    repairs: accepted.repairs,
                    stripped: accepted.stripped,
                    ..Success::default()
                }
            }),
            Some(CallTarget::Container(container)) => self.judge_container(container, &arguments),
            None => Err(self.unknown(&name, true)),
        };
        Verdict { id, name, warnings: Vec::new(), outcome }
    }

    /// What is wrong with a text that cannot be read at all.
    fn malformed(&self, tool: u32, arguments: &str) -> Option<CallError> {
        let check = self.bound.check(tool).ok()?;
        let policy = self.bound.settings(Some(tool)).check;
        if ToolCheck::reads(arguments) {
            return None;
        }
        match check.check(arguments, policy) {
            Err(Rejection::Malformed(malformed)) => Some(CallError::Malformed(malformed)),
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
        // A validator is code of the host, as an implementation is.
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
                let masks = masks::SecretMasks::new(accepted.secrets);
                let found = found.into_iter().map(|problem| masks.problem(problem)).collect();
                Err(CallError::Validation(InvalidArguments::of_host(check, found)))
            }
            Err(Rejection::Malformed(malformed)) => Err(CallError::Malformed(malformed)),
            Err(Rejection::Invalid(mut invalid)) => {
                let masks = masks::SecretMasks::new(invalid.secrets().iter().cloned());
                // Of what is wrong already, nothing more is said, nor of what hangs on it.
                if !validators.is_empty()
                    && let Some(accepted) = invalid.accepted()
                {
                    let is_there = |found: &Problem| {
                        !found.pointer.is_empty() && accepted.pointer(&found.pointer).is_some()
                    };
                    let found = found(&accepted)?.into_iter().filter(is_there);
                    invalid.and(found.map(|problem| masks.problem(problem)).collect());
                }
                Err(CallError::Validation(invalid))
            }
        }
    }

    /// What is said of a name that there is not, where all containers count as expanded, or those
    /// that are.
    fn unknown(&self, name: &str, expanded: bool) -> CallError {
        let mut suggestions = match self.scope {
            Some(_) => self.bound.near().suggest(name, MAX_LISTED),
            None => self.bound.near().suggest(name, MAX_SUGGESTED),
        };
        suggestions.retain(|suggestion| self.is_in_scope(&suggestion.name));
        suggestions.truncate(MAX_SUGGESTED);
        for suggestion in &mut suggestions {
            // What can be called already needs no way to it.
            if let Some(CallTarget::Tool(tool)) = self.bound.named(&suggestion.name)
                && (expanded || !self.is_collapsed(tool))
            {
                suggestion.container = None;
            }
        }
        let available = self.names(expanded).into_iter().take(MAX_LISTED).collect();
        CallError::UnknownTool { suggestions, available }
    }

    /// The names that a model sees now: tools, those of expanded containers included, and
    /// containers.
    pub fn visible(&self) -> Vec<SmolStr> {
        self.names(false)
    }

    fn names(&self, expanded: bool) -> Vec<SmolStr> {
        let state = self.state();
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

    /// Begins a turn: the user has said something. Containers that expand for a turn collapse.
    pub fn begin_turn(&self) {
        self.state().begin_turn();
    }

    /// Expands the containers of a tool, where it is in some.
    pub fn expand_containers_of(&self, tool: &str) {
        let Some(CallTarget::Tool(tool)) = self.bound.named(tool) else { return };
        let expand = self.bound.settings(None).expand;
        for &container in &self.bound.tool(tool).containers {
            self.state().expand(container, expand);
        }
    }

    /// Expands a container, as its call does; nothing where there is none of the name.
    pub fn expand(&self, container: &str) {
        if let Some(CallTarget::Container(at)) = self.named(container) {
            self.state().expand(at, self.bound.settings(None).expand);
        }
    }

    /// Forgets the failures of a tool, so that it can be called again. Gives whether there is one of
    /// that name.
    pub fn reset(&self, tool: &str) -> bool {
        let Some(CallTarget::Tool(tool)) = self.bound.named(tool) else { return false };
        self.state().reset(tool);
        true
    }

    /// Forgets the failures of all tools.
    pub fn reset_all(&self) {
        self.state().reset_all();
    }

    /// What happened in the last minute, and what containers were called for in the whole session.
    pub fn stats(&self) -> SessionStats {
        self.state().stats(&self.bound, self.clock.now())
    }
}

/// A number that stands for arguments, the same however they are written.
fn hash_of(arguments: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    match serde_json::from_str(arguments) {
        Ok(value) => json_schema_kit::values::canonical(&value).hash(&mut hasher),
        Err(_) => arguments.hash(&mut hasher),
    }
    hasher.finish()
}

/// Whether a value stands for no arguments at all.
fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Object(map) => map.is_empty(),
        _ => false,
    }
}

#[cfg(test)]
mod tests;
