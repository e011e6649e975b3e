//! Compares two versions of tool definitions.
//!
//! Inputs and results are compared as sets of values, with a proof or a counterexample: a call that the
//! old version accepts and the new one refuses.
//!
//! ```
//! use gramc_check::check;
//! use gramc_diff::{Breaking, VersionStep, diff};
//! use gramc_syntax::{SourceFile, parse};
//! use serde_json::json;
//!
//! let read = |text: &str| {
//!     let checked = check(&[parse(SourceFile::new("hotel.gram", text))]);
//!     checked.module.expect("a file without errors has a module")
//! };
//! let old = read("[book:Tool | (city::Text)==>(nights::Int {range: 1..30})==>(::Any)]");
//! let new = read("[book:Tool | (city::Text)==>(nights::Int {range: 1..14})==>(::Any)]");
//!
//! let changes = diff(&old, &new);
//! let [change] = &changes[..] else { unreachable!() };
//! assert_eq!(change.message, "`nights` allowed 1 to 30 and now allows 1 to 14");
//! assert_eq!(change.breaking, Breaking::Yes);
//! let witness = change.witness.as_ref().expect("a breaking change of an input has a witness");
//! assert_eq!(witness.value, json!({"city": "a", "nights": 15}));
//! assert_eq!(VersionStep::of(&changes), VersionStep::Major);
//! ```

mod adapt;
mod change;
mod describe;
mod parts;
mod relation;
mod renames;
pub mod report;
mod restriction;
mod schemas;
mod tool;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use gramc_model::{Container, Module, Tool};
use smol_str::SmolStr;

pub use adapt::{Adaptation, AdaptedTool, NotAdapted, adapt};
pub use change::{Breaking, Change, ChangeKind, VersionStep, Witness};
use renames::Candidate;
use schemas::ToolSchemas;
use tool::{ToolVersion, tool_changes};

/// The changes from one version of a specification to another one: those of its tools, in the order of
/// the old version, then new tools, then those of its containers.
pub fn diff(old: &Module, new: &Module) -> Vec<Change> {
    let (old, new) = (Version::of(old), Version::of(new));
    let removed = old.without(&new);
    let added = new.without(&old);
    let renamed = renames::find(&removed, &added);
    let mut found = Vec::new();
    for (at, tool) in old.module.tools.iter().enumerate() {
        let gone = removed.iter().position(|candidate| candidate.tool.name == tool.name);
        let Some(gone) = gone else {
            if let Some(other) = new.place(&tool.name) {
                found.extend(tool_changes(old.tool(at), new.tool(other)));
            }
            continue;
        };
        match renamed.iter().find(|pair| pair.0 == gone) {
            Some((_, to)) => {
                let to = &added[*to].tool.name;
                found.push(rename(tool, to));
                if let Some(other) = new.place(to) {
                    found.extend(tool_changes(old.tool(at), new.tool(other)));
                }
            }
            None => found.push(removal(tool)),
        }
    }
    for (at, candidate) in added.iter().enumerate() {
        if !renamed.iter().any(|pair| pair.1 == at) {
            let tool = &candidate.tool.name;
            let message = format!("`{tool}` is new");
            found.push(Change::harmless(tool, ChangeKind::ToolAdded, message));
        }
    }
    containers(old.module, new.module, &mut found);
    found
}

/// The changes of some tools that both versions have, by their names. The others are left out.
pub fn diff_tools<'n>(
    old: &Module,
    new: &Module,
    names: impl Iterator<Item = &'n str>,
) -> Vec<(&'n str, Vec<Change>)> {
    let [before, after] = [old, new].map(|module| -> BTreeMap<&str, &Tool> {
        module.tools.iter().map(|tool| (tool.name.as_str(), tool)).collect()
    });
    let changes = names.filter_map(|name| {
        let (before, after) = (*before.get(name)?, *after.get(name)?);
        let schemas =
            [(old, before), (new, after)].map(|(it, tool)| ToolSchemas::of(&it.types, tool));
        let [old_schemas, new_schemas] = &schemas;
        let changes = tool_changes(
            ToolVersion { types: &old.types, tool: before, schemas: old_schemas },
            ToolVersion { types: &new.types, tool: after, schemas: new_schemas },
        );
        Some((name, changes))
    });
    changes.collect()
}

/// A version of a specification.
struct Version<'m> {
    module: &'m Module,
    schemas: Vec<ToolSchemas>,
    places: BTreeMap<&'m SmolStr, usize>,
}

impl<'m> Version<'m> {
    fn of(module: &'m Module) -> Self {
        let tools = module.tools.iter();
        Self {
            module,
            schemas: tools.clone().map(|tool| ToolSchemas::of(&module.types, tool)).collect(),
            places: tools.enumerate().map(|(at, tool)| (&tool.name, at)).collect(),
        }
    }

    fn place(&self, name: &SmolStr) -> Option<usize> {
        self.places.get(name).copied()
    }

    fn tool(&self, at: usize) -> ToolVersion<'_> {
        let Self { module, schemas, .. } = self;
        ToolVersion { types: &module.types, tool: &module.tools[at], schemas: &schemas[at] }
    }

    /// The tools that another version has not.
    fn without(&self, other: &Self) -> Vec<Candidate<'_>> {
        let all = self.module.tools.iter().zip(&self.schemas);
        all.filter(|(tool, _)| other.place(&tool.name).is_none())
            .map(|(tool, schemas)| Candidate { tool, schemas })
            .collect()
    }
}

fn removal(tool: &Tool) -> Change {
    let message = format!("`{}` is gone", tool.name);
    let change = Change::harmless(&tool.name, ChangeKind::ToolRemoved, message);
    Change { breaking: Breaking::Yes, ..change }
}

fn rename(tool: &Tool, to: &SmolStr) -> Change {
    let message = format!("`{}` is now called `{to}`", tool.name);
    let change = Change::harmless(&tool.name, ChangeKind::ToolRenamed, message);
    Change { breaking: Breaking::Yes, to: Some(to.clone()), ..change }
}

/// The changes of containers: their descriptions, and which tools are behind them.
fn containers(old: &Module, new: &Module, found: &mut Vec<Change>) {
    let mut report =
        |name: &SmolStr, kind, message| found.push(Change::harmless(name, kind, message));
    for Container { name, members, description, .. } in &old.containers {
        let Some(other) = new.container(name) else {
            report(name, ChangeKind::Policy, format!("the container `{name}` is gone"));
            continue;
        };
        let words = |text: &Option<SmolStr>| -> Vec<String> {
            let text = text.as_deref().unwrap_or_default();
            text.split_whitespace().map(str::to_owned).collect()
        };
        if words(description) != words(&other.description) {
            let message = "the description of the container changed".to_owned();
            report(name, ChangeKind::Description, message);
        }
        for tool in other.members.iter().filter(|tool| !members.contains(tool)) {
            let message = format!("`{tool}` is now in the container `{name}`");
            report(tool, ChangeKind::Policy, message);
        }
        for tool in members.iter().filter(|tool| !other.members.contains(tool)) {
            let message = format!("`{tool}` is no longer in the container `{name}`");
            report(tool, ChangeKind::Policy, message);
        }
    }
    for Container { name, .. } in &new.containers {
        if old.container(name).is_none() {
            report(name, ChangeKind::Policy, format!("the container `{name}` is new"));
        }
    }
}
