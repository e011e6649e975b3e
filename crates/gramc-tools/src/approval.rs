//! Approval of calls before they run.

#[cfg(not(target_family = "wasm"))]
mod program;

use std::fmt::{self, Debug};
use std::pin::Pin;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use smol_str::SmolStr;
use tokio::sync::Mutex;

use crate::invocation::{InvocationError, ValueFuture};
use crate::sanitize::beginning;

#[cfg(not(target_family = "wasm"))]
pub use program::ProgramApprover;

/// Which calls of a tool have to be approved. The stricter policy is the greater one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ApprovalPolicy {
    /// None.
    #[default]
    Never,
    /// Those of a tool that is declared `destructive`.
    Destructive,
    /// All.
    Always,
}

/// A call that has to be approved.
#[derive(Debug, Clone, PartialEq)]
pub struct ApprovalRequest {
    /// The name of the tool.
    pub name: SmolStr,
    /// The arguments that would run, as an object. Injected values are left out and secrets masked.
    pub arguments: Value,
    /// The undeclared arguments that were removed.
    pub stripped: Vec<String>,
    /// The agent that makes the call, if an agent does.
    pub agent: Option<SmolStr>,
}

impl ApprovalRequest {
    /// The removed arguments as the end of a question. Empty if there are none.
    pub fn describe_removal(&self) -> String {
        match self.stripped.as_slice() {
            [] => String::new(),
            names => format!(", without the undeclared `{}`", names.join("`, `")),
        }
    }

    /// The request as a JSON object.
    pub fn json(&self) -> Value {
        let mut json = json!({"name": self.name.as_str(), "arguments": self.arguments});
        if !self.stripped.is_empty() {
            json["stripped"] = self.stripped.as_slice().into();
        }
        if let Some(agent) = &self.agent {
            json["agent"] = agent.as_str().into();
        }
        json
    }
}

/// The source of a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum DecidedBy {
    /// The user at a terminal.
    Terminal,
    /// A program.
    Program,
    /// An MCP client.
    Client,
    /// The host program.
    Host,
}

/// The decision about a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ApprovalDecision {
    /// Whether the call may run.
    pub approved: bool,
    /// The source of the decision.
    pub by: DecidedBy,
    /// The reason, if there is one: at most a few kilobytes without control characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl ApprovalDecision {
    /// A decision with a reason, which may be empty. The reason is cleaned and truncated.
    pub fn new(approved: bool, by: DecidedBy, reason: &str) -> Self {
        let reason = beginning(reason.trim());
        Self { approved, by, reason: (!reason.is_empty()).then_some(reason) }
    }

    /// The decision of a function of the host program, see [`Approvals::of_function`].
    fn of_host(answer: Result<Value, InvocationError>) -> Option<Self> {
        let decide = |approved, reason| Some(Self::new(approved, DecidedBy::Host, reason));
        match answer {
            Ok(Value::Bool(approved)) => decide(approved, ""),
            Ok(Value::String(reason)) => decide(false, &reason),
            Ok(Value::Null) => None,
            Ok(_) => decide(false, "the function that approves calls gave no decision"),
            // A call that nothing has approved does not run.
            Err(error) => decide(false, &error.detail),
        }
    }
}

/// The future of a decision. Dropping it withdraws the question.
pub type DecisionFuture<'a> = Pin<Box<dyn Future<Output = Option<ApprovalDecision>> + Send + 'a>>;

/// Decides whether calls may run.
pub trait Approver: Send + Sync {
    /// Decides about a call. `None` if there is no way to ask.
    fn decide(&self, request: ApprovalRequest) -> DecisionFuture<'_>;
}

/// Asks a function of the host program.
struct HostApprover<F>(F);

impl<F: Fn(ApprovalRequest) -> ValueFuture + Send + Sync> Approver for HostApprover<F> {
    fn decide(&self, request: ApprovalRequest) -> DecisionFuture<'_> {
        let answer = (self.0)(request);
        Box::pin(async { ApprovalDecision::of_host(answer.await) })
    }
}

impl Debug for dyn Approver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Approver")
    }
}

/// How the calls of sessions are approved.
#[derive(Debug, Clone, Default)]
pub struct Approvals {
    /// The policy for tools whose specification and library have none.
    pub(crate) default: ApprovalPolicy,
    approver: Option<Arc<dyn Approver>>,
    pub(crate) agent: Option<SmolStr>,
    /// Locked while a decision is awaited, so that one call is asked about at a time.
    queue: Arc<Mutex<()>>,
}

impl Approvals {
    /// Refuses all calls that have to be approved. `default` applies to tools whose specification
    /// and library have no policy.
    pub fn new(default: ApprovalPolicy) -> Self {
        Self { default, ..Self::default() }
    }

    /// Asks an approver, about one call after the other.
    #[must_use]
    pub fn asking(mut self, approver: Arc<dyn Approver>) -> Self {
        self.approver = Some(approver);
        self
    }

    /// Asks a function of the host program. True approves a call; false, a text with the reason,
    /// and an error refuse it. Null means that there is no way to ask. Calls of destructive tools
    /// have to be approved, unless their specification or library has another policy.
    pub fn of_function(
        ask: impl Fn(ApprovalRequest) -> ValueFuture + Send + Sync + 'static,
    ) -> Self {
        Self::new(ApprovalPolicy::Destructive).asking(Arc::new(HostApprover(ask)))
    }

    /// The same for the calls of an agent.
    #[must_use]
    pub fn of_agent(&self, agent: &str) -> Self {
        Self { agent: Some(agent.into()), ..self.clone() }
    }

    /// The same for sessions whose calls do not wait for those of other sessions.
    #[must_use]
    pub fn with_own_queue(&self) -> Self {
        Self { queue: Arc::default(), ..self.clone() }
    }

    /// Whether there is an approver.
    pub fn can_ask(&self) -> bool {
        self.approver.is_some()
    }

    pub(crate) async fn decide(&self, request: ApprovalRequest) -> Option<ApprovalDecision> {
        let approver = self.approver.as_ref()?;
        let _turn = self.queue.lock().await;
        approver.decide(request).await
    }
}
