//! A session checks and runs the calls of one conversation.
//!
//! [`Session::call`] is the road of a call, one file for each step: `call`, `admission` (name, throttle,
//! check), `validation` (external validators), `approval`, `once`, `run`, `concurrency`, `timeout`,
//! `result`.

mod admission;
mod approval;
mod call;
mod check;
mod concurrency;
mod container;
mod observer;
mod once;
mod redaction;
mod result;
mod run;
mod state;
mod stream;
mod timeout;
mod unchecked;
mod validation;
mod warnings;

use std::collections::HashMap;
use std::fmt::{self, Debug};
use std::sync::Arc;

use gramc_schema::emit::TargetTools;
use parking_lot::Mutex;
use serde_json::{Map, Value};
use smol_str::SmolStr;

use crate::approval::Approvals;
use crate::bind::{Bound, CallTarget};
use crate::clock::{Clock, SystemClock};
use crate::implementations::Client;
use crate::invocation::{Implementation, SessionResources};
use crate::journal::CallJournal;
use crate::library::LibraryEntry;
use crate::stats::SessionStats;
use crate::verdict::{Call, CallError};

pub use admission::Admission;
pub use check::CheckedCall;
pub(crate) use concurrency::ConcurrencyLimit;
pub use observer::{CallObserver, FinishedCall};
pub use redaction::RedactedArguments;
pub use run::{AdmittedCall, RunFailure};
use state::SessionState;
pub use stream::{CallStream, StreamUpdate};

/// The maximum number of tools that the error for an unknown name lists.
const MAX_LISTED: usize = 100;
/// The maximum number of suggestions in that error.
const MAX_SUGGESTED: usize = 5;

/// The callers of a session, as far as the host knows them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Callers {
    /// Probably one model. Identical calls that fail are limited, but not those that succeed, which
    /// may be calls of several users.
    #[default]
    Unknown,
    /// One model in one conversation. All identical calls without progress are limited.
    OneModel,
    /// Several clients. Neither identical calls nor consecutive refused calls are limited.
    Many,
}

/// The state of one conversation, connection or run: throttle, attempts and expanded containers.
/// The library and the specification are immutable.
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
    callers: Callers,
    /// The calls of tools that run at most once.
    journal: Arc<CallJournal>,
    /// What executes the tools of the host.
    host: Option<Arc<dyn Implementation>>,
    observer: Option<Arc<CallObserver>>,
    /// Values of injected parameters, which take precedence over those of the library.
    injected: Map<String, Value>,
    /// The tools as the model sees them, if they were compiled for a target.
    target: Option<Arc<TargetTools>>,
}

impl Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Session")
    }
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
            callers: Callers::default(),
            journal: bound.0.journal.clone().unwrap_or_default(),
            host: None,
            observer: None,
            injected: Map::new(),
            target: None,
        }
    }

    /// Asks for approval of calls. Without this, calls that have to be approved are refused.
    #[must_use]
    pub fn with_approvals(mut self, approvals: Approvals) -> Self {
        self.approvals = approvals;
        self
    }

    /// Sets the callers of the session.
    #[must_use]
    pub fn with_callers(mut self, callers: Callers) -> Self {
        self.callers = callers;
        self
    }

    /// Reports the calls that [`Self::call_until`] runs to an observer.
    #[must_use]
    pub fn with_observer(mut self, observer: Arc<CallObserver>) -> Self {
        self.observer = Some(observer);
        self
    }

    /// Sets values of injected parameters, which take precedence over those of the library.
    #[must_use]
    pub fn with_injected(mut self, injected: Map<String, Value>) -> Self {
        self.injected = injected;
        self
    }

    /// Sets the tools as the model sees them. The changes of their target are undone in all calls.
    #[must_use]
    pub fn with_target(mut self, target: Arc<TargetTools>) -> Self {
        self.target = Some(target);
        self
    }

    /// A call as the specification has it.
    fn restore(&self, call: Call) -> Call {
        let Some(target) = &self.target else { return call };
        let (name, arguments) = target.restore(&call.name, call.arguments);
        Call { name, arguments, ..call }
    }

    /// Executes the tools of the kind `Client`, whose calls fail without this.
    #[must_use]
    pub fn with_host(mut self, host: Arc<dyn Implementation>) -> Self {
        self.host = Some(host);
        self
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

    fn is_run_by_host(&self, entry: &LibraryEntry) -> bool {
        self.host.is_some() && entry.implementation.kind() == Client.kind()
    }

    /// The implementation of a tool for this session.
    fn implementation(&self, entry: &LibraryEntry) -> Arc<dyn Implementation> {
        let host = self.host.as_ref().filter(|_| self.is_run_by_host(entry)).cloned();
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
            if let Some(CallTarget::Container(at)) = self.bound.find(name) {
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

    pub(super) fn find(&self, name: &str) -> Option<CallTarget> {
        self.bound.find(name).filter(|_| self.is_in_scope(name))
    }

    /// The bound library.
    pub fn bound(&self) -> &Bound {
        &self.bound
    }

    /// The error for an unknown name. If `expanded`, all containers count as expanded.
    pub(super) fn unknown_tool(&self, name: &str, expanded: bool) -> CallError {
        let mut suggestions = match self.scope {
            Some(_) => self.bound.near().suggest(name, MAX_LISTED),
            None => self.bound.near().suggest(name, MAX_SUGGESTED),
        };
        suggestions.retain(|suggestion| self.is_in_scope(&suggestion.name));
        suggestions.truncate(MAX_SUGGESTED);
        for suggestion in &mut suggestions {
            // A tool that can be called needs no hint to its container.
            if let Some(CallTarget::Tool(tool)) = self.bound.find(&suggestion.name)
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

    /// Begins a turn after a message of the user. Containers that expand for a turn collapse, and
    /// earlier calls may be repeated.
    pub fn begin_turn(&self) {
        self.state.lock().begin_turn();
    }

    /// Begins a reply of the model. Identical calls of one reply count as one.
    pub fn begin_reply(&self) {
        self.state.lock().throttle.begin_reply();
    }

    /// Expands the containers of a tool, if there are any.
    pub fn expand_containers_of(&self, tool: &str) {
        let changed = self.target.as_ref().and_then(|target| target.changed_name(tool));
        let tool = self.bound.find(changed.unwrap_or(tool));
        let Some(CallTarget::Tool(tool)) = tool else { return };
        let expand = self.bound.settings(None).expand;
        for &container in &self.bound.tool(tool).containers {
            self.state.lock().expand(container, expand);
        }
    }

    /// Expands a container, like a call of it. Does nothing if the name is unknown.
    pub fn expand(&self, container: &str) {
        if let Some(CallTarget::Container(at)) = self.find(container) {
            self.state.lock().expand(at, self.bound.settings(None).expand);
        }
    }

    /// Forgets the failures of a tool, so that it can be called again. Returns whether the tool
    /// exists.
    pub fn reset(&self, tool: &str) -> bool {
        let Some(CallTarget::Tool(tool)) = self.bound.find(tool) else { return false };
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

#[cfg(test)]
mod tests;
