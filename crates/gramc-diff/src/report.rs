//! Changes as text for people.

mod markdown;

use std::fmt::Write as _;

use gramc_json_schema::shorten::shorten;

use crate::{Breaking, Change, ChangeKind, VersionStep, Witness};

pub use markdown::{changelog, markdown};

/// The characters of a witness that are shown.
const MAX_WITNESS: usize = 300;

/// What is expected, so that it does not count as a failure.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Allowed(pub Vec<ChangeKind>);

impl Allowed {
    /// Whether changes of a kind are allowed to break callers.
    pub fn includes(&self, kind: ChangeKind) -> bool {
        self.0.contains(&kind)
    }

    /// Whether a change breaks callers and is not allowed to.
    pub fn forbids(&self, change: &Change) -> bool {
        change.breaking == Breaking::Yes && !self.includes(change.kind)
    }
}

/// The changes by tool, the calls that break, and the version step that semantic versioning asks for.
pub fn human(changes: &[Change], allowed: &Allowed) -> String {
    // Writing to a string does not fail.
    let mut out = String::new();
    let mut tool = None;
    for change in changes {
        if tool != Some(&change.tool) {
            let _ = writeln!(out, "{}", printable(&change.tool));
            tool = Some(&change.tool);
        }
        let label = match label(change, allowed) {
            "" => String::new(),
            label => format!("{label}: "),
        };
        let _ = writeln!(out, "  {:<15} {label}{}", change.kind.name(), printable(&change.message));
        if let Some((what, witness)) = witness_of(change) {
            let _ = writeln!(out, "  {:<15} {what}: {witness}", "");
        }
    }
    if !changes.is_empty() {
        out.push('\n');
    }
    let _ = writeln!(out, "{}\n{}", summary(changes), version_line(changes));
    out
}

/// How a change is labelled.
fn label(change: &Change, allowed: &Allowed) -> &'static str {
    match change.breaking {
        Breaking::Yes if allowed.includes(change.kind) => "breaking, allowed",
        Breaking::Yes => "breaking",
        Breaking::Unknown => "undecided",
        Breaking::No => "",
    }
}

/// What a witness shows, and the witness as a call or as a result.
fn witness_of(change: &Change) -> Option<(&'static str, String)> {
    let Witness { value, repaired } = change.witness.as_ref()?;
    let value = shorten(&printable(&value.to_string()), MAX_WITNESS);
    Some(match *repaired {
        _ if change.kind.is_result() => ("now possible", value),
        true => ("refused, but repaired at run time", format!("{} {value}", change.tool)),
        false => ("now refused", format!("{} {value}", change.tool)),
    })
}

/// A text that cannot steer a terminal.
pub fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

/// The number of changes, in words.
fn summary(changes: &[Change]) -> String {
    let count = |breaking| changes.iter().filter(|change| change.breaking == breaking).count();
    let (breaking, unknown) = (count(Breaking::Yes), count(Breaking::Unknown));
    let others = changes.len() - breaking - unknown;
    let s = |count: usize| if count == 1 { "" } else { "s" };
    if changes.is_empty() {
        return "no changes".to_owned();
    }
    let mut out = match breaking {
        0 => "no breaking changes".to_owned(),
        count => format!("{count} breaking change{}", s(count)),
    };
    // Writing to a string does not fail.
    if unknown > 0 {
        let _ = write!(out, ", {unknown} undecided change{}", s(unknown));
    }
    if others > 0 {
        let _ = write!(out, ", {others} other change{}", s(others));
    }
    out
}

/// The version step that the changes ask for, as a sentence.
fn version_line(changes: &[Change]) -> String {
    match VersionStep::of(changes) {
        VersionStep::None => "semantic versioning: no new version".to_owned(),
        step => format!("semantic versioning: {} version", step.name()),
    }
}
