//! Approval of calls before they run.

mod program;

use std::fmt::Debug;
use std::pin::Pin;
use std::sync::Arc;

use serde_json::{Map, Value, json};
use smol_str::SmolStr;
use tokio::sync::Mutex;

use crate::sanitize::beginning;

pub use program::ProgramApprover;

/// Which calls of a tool have to be approved. The stricter policy is the greater one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum ApprovalPolicy {
    /// None.
    #[default]
    Never,
    /// Those of a tool that is declared `destructive`.
    Destructive,
    /// All.
    Always,
}

impl ApprovalPolicy {
    /// The policy of a name in a specification or a library.
    pub fn of_name(name: &str) -> Option<Self> {
        match name {
            "never" => Some(Self::Never),
            "destructive" => Some(Self::Destructive),
            "always" => Some(Self::Always),
            _ => None,
        }
    }
}

/// A call that has to be approved.
#[derive(Debug, Clone, PartialEq)]
pub struct ApprovalRequest {
    /// The name of the tool.
    pub name: SmolStr,
    /// The arguments that would run, as an object. Injected values are left out and secrets masked.
    pub arguments: Value,
    /// The agent that makes the call, if an agent does.
    pub agent: Option<SmolStr>,
}

impl ApprovalRequest {
    /// The request as a JSON object.
    pub fn json(&self) -> Value {
        let mut map = Map::new();
        map.insert("name".to_owned(), json!(self.name.as_str()));
        map.insert("arguments".to_owned(), self.arguments.clone());
        if let Some(agent) = &self.agent {
            map.insert("agent".to_owned(), json!(agent.as_str()));
        }
        Value::Object(map)
    }
}

/// The source of a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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

impl DecidedBy {
    /// The name in verdicts.
    pub fn name(self) -> &'static str {
        match self {
            Self::Terminal => "terminal",
            Self::Program => "program",
            Self::Client => "client",
            Self::Host => "host",
        }
    }
}

/// The decision about a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApprovalDecision {
    /// Whether the call may run.
    pub approved: bool,
    /// The source of the decision.
    pub by: DecidedBy,
    /// The reason, if there is one: at most a few kilobytes without control characters.
    pub reason: Option<String>,
}

impl ApprovalDecision {
    /// A decision with a reason, which may be empty. The reason is cleaned and truncated.
    pub fn new(approved: bool, by: DecidedBy, reason: &str) -> Self {
        let reason = beginning(reason.trim());
        Self { approved, by, reason: (!reason.is_empty()).then_some(reason) }
    }

    pub(crate) fn json(&self) -> Value {
        let mut map = Map::new();
        map.insert("approved".to_owned(), json!(self.approved));
        map.insert("by".to_owned(), json!(self.by.name()));
        if let Some(reason) = &self.reason {
            map.insert("reason".to_owned(), json!(reason));
        }
        Value::Object(map)
    }
}

/// The future of a decision. Dropping it withdraws the question.
pub type DecisionFuture<'a> = Pin<Box<dyn Future<Output = Option<ApprovalDecision>> + Send + 'a>>;

/// Decides whether calls may run.
pub trait Approver: Debug + Send + Sync {
    /// Decides about a call. `None` if there is no way to ask.
    fn decide(&self, request: ApprovalRequest) -> DecisionFuture<'_>;
}

/// How the calls of sessions are approved.
#[derive(Debug, Clone, Default)]
pub struct Approvals {
    /// The policy for tools whose specification and library say nothing.
    default: ApprovalPolicy,
    approver: Option<Arc<dyn Approver>>,
    agent: Option<SmolStr>,
    /// Held while a decision is awaited, so that one call is asked about at a time.
    queue: Arc<Mutex<()>>,
}

impl Approvals {
    /// Refuses all calls that have to be approved. `default` applies to tools whose specification
    /// and library say nothing.
    pub fn new(default: ApprovalPolicy) -> Self {
        Self { default, ..Self::default() }
    }

    /// Asks an approver, about one call after the other.
    #[must_use]
    pub fn asking(mut self, approver: Arc<dyn Approver>) -> Self {
        self.approver = Some(approver);
        self
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

    pub(crate) fn default_policy(&self) -> ApprovalPolicy {
        self.default
    }

    pub(crate) fn agent(&self) -> Option<&SmolStr> {
        self.agent.as_ref()
    }

    pub(crate) async fn decide(&self, request: ApprovalRequest) -> Option<ApprovalDecision> {
        let approver = self.approver.as_ref()?;
        let _turn = self.queue.lock().await;
        approver.decide(request).await
    }
}
