//! Changes for a terminal.

use std::fmt::Write as _;

use super::{Allowed, label, printable, summary, version_line, witness_of};
use crate::Change;

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
