//! Changes of MCP servers since the specification was written.

use gram_model::Tool;

use super::problem::{BindProblem, Incompatibility};
use super::{Bound, CallTarget};
use crate::library::LibraryEntry;

/// The treatment of a change of an MCP server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnChange {
    /// The library is not served.
    Refuse,
    /// The library is served with a warning.
    Warn,
    /// The library is served.
    Ignore,
}

impl OnChange {
    /// The treatment of a name.
    pub fn of_name(name: &str) -> Option<Self> {
        match name {
            "refuse" => Some(Self::Refuse),
            "warn" => Some(Self::Warn),
            "ignore" => Some(Self::Ignore),
            _ => None,
        }
    }

    /// The treatment of a change by default: the server is not served if it refuses what the
    /// specification allows.
    fn default_for(problem: &BindProblem) -> Self {
        match problem {
            BindProblem::Incompatible { incompatibility: Incompatibility::Result, .. }
            | BindProblem::OtherWording { .. } => Self::Warn,
            // It proves nothing.
            BindProblem::Undecided { .. } => Self::Ignore,
            _ => Self::Refuse,
        }
    }
}

/// That an MCP server describes a tool in other words than the specification.
pub(super) fn other_wording(tool: &Tool, entry: &LibraryEntry) -> Option<BindProblem> {
    let (own, theirs) = (tool.description.as_ref()?, entry.implementation.description()?);
    let is_same = own.split_whitespace().eq(theirs.split_whitespace());
    let is_mcp = entry.implementation.kind() == "Mcp";
    (is_mcp && !is_same).then(|| BindProblem::OtherWording { tool: tool.name.clone() })
}

impl Bound {
    /// Separates the problems of a library into those that keep it from being served and warnings,
    /// as the attribute `onChange` of its `Mcp` implementations says.
    pub fn judge_changes(
        &self,
        problems: Vec<BindProblem>,
    ) -> (Vec<BindProblem>, Vec<BindProblem>) {
        let (mut refused, mut warned) = (Vec::new(), Vec::new());
        let found = problems.into_iter().map(|problem| (OnChange::Refuse, problem));
        let warnings = self.warnings().iter().map(|problem| (OnChange::Warn, problem.clone()));
        for (severity, problem) in found.chain(warnings) {
            match self.on_change(&problem).unwrap_or(severity) {
                OnChange::Refuse => refused.push(problem),
                OnChange::Warn => warned.push(problem),
                OnChange::Ignore => {}
            }
        }
        (refused, warned)
    }

    /// The treatment of a problem, if it is a change of an MCP server.
    fn on_change(&self, problem: &BindProblem) -> Option<OnChange> {
        let is_change = matches!(
            problem,
            BindProblem::Faulty { .. }
                | BindProblem::Incompatible { .. }
                | BindProblem::OtherWording { .. }
                | BindProblem::Undecided { .. }
        );
        let Some(CallTarget::Tool(at)) = self.named(problem.tool()?) else { return None };
        let entry = self.tool(at).entry.as_ref()?;
        let is_mcp = entry.implementation.kind() == "Mcp";
        let default = || OnChange::default_for(problem);
        (is_change && is_mcp).then(|| entry.settings.on_change.unwrap_or_else(default))
    }
}
