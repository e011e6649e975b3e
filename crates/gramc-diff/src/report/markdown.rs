//! Changes as Markdown.

use std::fmt::Write as _;

use super::{Allowed, label, printable, summary, version_line, witness_of};
use crate::{Breaking, Change, ChangeKind};

/// The changes as Markdown: a table, and the calls that break below it.
pub fn markdown(changes: &[Change], allowed: &Allowed) -> String {
    // Writing to a string does not fail.
    let mut out = format!("**{}**; {}\n", summary(changes), version_line(changes));
    if changes.is_empty() {
        return out;
    }
    out.push_str("\n| tool | change | | what changed |\n| --- | --- | --- | --- |\n");
    for change in changes {
        let label = match label(change, allowed) {
            "" => String::new(),
            label => format!("**{label}**"),
        };
        let _ = writeln!(
            out,
            "| {} | `{}` | {label} | {} |",
            cell(&code(&change.tool)),
            change.kind.name(),
            cell(&prose(&change.message)),
        );
    }
    let mut is_first = true;
    for change in changes {
        let Some((what, witness)) = witness_of(change) else { continue };
        if is_first {
            out.push_str("\nCalls and results that break:\n\n");
            is_first = false;
        }
        let _ = writeln!(out, "- {what}: {}", code(&witness));
    }
    out
}

/// The changes as a section of a changelog in the form of Keep a Changelog. Changes that break callers
/// are marked.
pub fn changelog(changes: &[Change]) -> String {
    let mut out = "## [Unreleased]\n".to_owned();
    let section = |change: &Change| match change.kind {
        ChangeKind::ToolAdded => "Added",
        ChangeKind::ToolRemoved => "Removed",
        _ => "Changed",
    };
    for title in ["Added", "Removed", "Changed"] {
        let entries: Vec<_> = changes.iter().filter(|change| section(change) == title).collect();
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

/// A text as a code span, whatever it holds.
fn code(text: &str) -> String {
    let text = printable(text);
    let mut fence = "`".to_owned();
    while text.contains(&fence) {
        fence.push('`');
    }
    let space = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{fence}{space}{text}{space}{fence}")
}

/// A message in which only its code spans are Markdown.
fn prose(message: &str) -> String {
    let message = printable(message);
    let mut out = String::with_capacity(message.len());
    for (at, part) in message.split('`').enumerate() {
        if at > 0 {
            out.push('`');
        }
        let is_code = at % 2 == 1;
        for c in part.chars() {
            if !is_code && matches!(c, '\\' | '*' | '_' | '<' | '>' | '[' | ']' | '#' | '&' | '@') {
                out.push('\\');
            }
            out.push(c);
        }
    }
    if message.matches('`').count() % 2 == 1 {
        return code(&message);
    }
    out
}

/// A text in a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}
