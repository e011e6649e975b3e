//! Changes as a section of a changelog.

use std::fmt::Write as _;

use super::markdown::{code, prose};
use crate::{Breaking, Change, ChangeKind};

/// The changes as a section of a changelog in the form of Keep a Changelog. Changes that break callers
/// are marked.
pub fn changelog(changes: &[Change]) -> String {
    let mut out = "## [Unreleased]\n".to_owned();
    for (title, kinds) in [
        ("Added", &[ChangeKind::ToolAdded][..]),
        ("Removed", &[ChangeKind::ToolRemoved]),
        ("Changed", &[]),
    ] {
        let is_here = |change: &&Change| {
            let is_other = !matches!(change.kind, ChangeKind::ToolAdded | ChangeKind::ToolRemoved);
            kinds.contains(&change.kind) || (kinds.is_empty() && is_other)
        };
        let entries: Vec<_> = changes.iter().filter(is_here).collect();
        if entries.is_empty() {
            continue;
        }
        // Writing to a string does not fail.
        let _ = writeln!(out, "\n### {title}\n");
        for change in entries {
            let mark = match change.breaking {
                Breaking::Yes => " **breaking**",
                Breaking::Unknown => " **may break**",
                Breaking::No => "",
            };
            let name = code(&change.tool);
            let text = match change.kind {
                ChangeKind::ToolAdded | ChangeKind::ToolRemoved => name,
                ChangeKind::ToolRenamed => prose(&change.message),
                _ => format!("{name}: {}", prose(&change.message)),
            };
            let _ = writeln!(out, "- {text}.{mark}");
        }
    }
    if changes.is_empty() {
        out.push_str("\nNo changes.\n");
    }
    out
}
