//! Changes of MCP servers since the specification was written.

use gramc_json_schema::annotations;
use gramc_json_schema::keywords::Keyword;
use gramc_json_schema::pointer::dotted;
use gramc_model::{Tool, Types};
use serde::Deserialize;
use serde_json::Value;
use smol_str::SmolStr;

use super::compatibility::schemas_of;
use super::problem::{BindProblem, Incompatibility};
use super::{Bound, CallTarget};
use crate::library::LibraryEntry;

/// The treatment of a change of an MCP server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OnChange {
    /// The library is not served.
    Refuse,
    /// The library is served with a warning.
    Warn,
    /// The library is served.
    Ignore,
}

impl OnChange {
    /// The treatment of a change by default: the server is not served if it refuses what the
    /// specification allows.
    fn default_for(problem: &BindProblem) -> Self {
        match problem {
            BindProblem::Incompatible { incompatibility: Incompatibility::Result, .. }
            | BindProblem::OtherWording { .. }
            | BindProblem::OtherHint { .. } => Self::Warn,
            // It proves nothing.
            BindProblem::Undecided { .. } => Self::Ignore,
            _ => Self::Refuse,
        }
    }
}

/// The hints of MCP, and the attributes that state them.
const HINTS: [(&str, &str); 4] = [
    ("readOnly", "readOnlyHint"),
    ("destructive", "destructiveHint"),
    ("idempotent", "idempotentHint"),
    ("openWorld", "openWorldHint"),
];

/// What an MCP server says of a tool in other words than the specification. Only what both say
/// something of is compared.
pub(super) fn differences(types: &Types, tool: &Tool, entry: &LibraryEntry) -> Vec<BindProblem> {
    if entry.implementation.kind() != "Mcp" {
        return Vec::new();
    }
    let Some(listed) = entry.listing() else { return Vec::new() };
    let mut parts = Vec::new();
    let theirs = listed.get("description").and_then(Value::as_str);
    let is_other =
        |own: &SmolStr, theirs: &str| !own.split_whitespace().eq(theirs.split_whitespace());
    if let (Some(own), Some(theirs)) = (&tool.description, theirs)
        && is_other(own, theirs)
    {
        parts.push(format!("`{}`", tool.name));
    }
    if let Some(theirs) = listed.get("inputSchema") {
        let (own, _) = schemas_of(types, tool);
        let changes = annotations::changes(&own, theirs).into_iter();
        let worded = changes.filter(|it| {
            it.keyword == Keyword::Description
                && !it.pointer.is_empty()
                && it.old.is_some()
                && it.new.is_some()
        });
        parts.extend(worded.map(|it| format!("`{}` of `{}`", dotted(&it.pointer), tool.name)));
    }
    let mut found = Vec::new();
    if !parts.is_empty() {
        let what = parts.join(", ");
        found.push(BindProblem::OtherWording { tool: tool.name.clone(), what });
    }
    for (attribute, hint) in HINTS {
        let own = tool.attributes.iter().find(|(key, _)| key == attribute);
        let own = own.and_then(|(_, value)| value.as_bool());
        let theirs = listed.get("annotations").and_then(|all| all.get(hint)?.as_bool());
        if let (Some(own), Some(theirs)) = (own, theirs)
            && own != theirs
        {
            found.push(BindProblem::OtherHint { tool: tool.name.clone(), attribute, theirs });
        }
    }
    found
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
                | BindProblem::OtherHint { .. }
                | BindProblem::Undecided { .. }
        );
        let Some(CallTarget::Tool(at)) = self.find(problem.tool()?) else { return None };
        let entry = self.tool(at).entry.as_ref()?;
        let is_mcp = entry.implementation.kind() == "Mcp";
        let default = || OnChange::default_for(problem);
        (is_change && is_mcp).then(|| entry.settings.on_change.unwrap_or_else(default))
    }
}
