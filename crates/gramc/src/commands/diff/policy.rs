//! `gramc diff --policy`: calls that only the new version allows.

use gramc_diff::report::{Allowed, printable};
use gramc_diff::{Breaking, Change, ChangeKind, diff};
use gramc_project::ValidTexts;
use serde_json::{Value, json};

use crate::args::{Display, Format};
use crate::failure::{CLEAN, Outcome, PROBLEMS};
use crate::output;

/// A way in which the new version allows more.
struct Opening {
    tool: String,
    message: String,
    /// The arguments of a call that the old version refuses.
    call: Option<String>,
}

/// Prints the calls that the new version allows and the old one does not, and fails if there are any,
/// or if it cannot be proven that there are none.
pub(super) fn check(
    old: &ValidTexts,
    new: &ValidTexts,
    allowed: &Allowed,
    display: Display,
) -> Outcome {
    // A call that breaks on the way back is one that only the new version allows.
    let back = diff(&new.module, &old.module);
    let mut openings: Vec<Opening> = back.iter().filter_map(opening).collect();
    let policies = diff(&old.module, &new.module).into_iter();
    let policies = policies
        .filter(|it| it.kind == ChangeKind::Policy && !allowed.includes(ChangeKind::Policy));
    openings.extend(policies.map(|Change { tool, message, .. }| Opening {
        tool: tool.to_string(),
        message,
        call: None,
    }));
    let show = |opening: &Opening| match display.format {
        Format::Json => opening.json(),
        _ => opening.text(),
    };
    let mut text: String = openings.iter().map(show).collect();
    if openings.is_empty() && display.format != Format::Json {
        text.push_str("the new version allows no other calls\n");
    }
    output::print(&text)?;
    Ok(if openings.is_empty() { CLEAN } else { PROBLEMS })
}

impl Opening {
    fn json(&self) -> String {
        let Self { tool, message, call } = self;
        let call: Option<Value> = call.as_deref().and_then(|it| serde_json::from_str(it).ok());
        format!("{}\n", json!({"tool": tool, "message": message, "call": call}))
    }

    fn text(&self) -> String {
        let Self { tool, message, call } = self;
        let mut text = format!("{}: {}\n", printable(tool), printable(message));
        if let Some(call) = call {
            text.push_str(&printable(&format!("  now allowed: {tool} {call}")));
            text.push('\n');
        }
        text
    }
}

fn opening(change: &Change) -> Option<Opening> {
    let message = match (change.kind, change.breaking) {
        (_, Breaking::No) => return None,
        (ChangeKind::ToolRemoved, _) => "the tool can be called now".to_owned(),
        (ChangeKind::ToolRenamed, _) => "the tool has another name now".to_owned(),
        (kind, _) if !kind.is_input() => return None,
        (_, Breaking::Yes) => {
            let place = if change.pointer.is_empty() { "" } else { " at " };
            format!("accepts more{place}{}", change.pointer)
        }
        (_, Breaking::Unknown) => format!("may accept more: {}", change.message),
    };
    let call = change.witness.as_ref().map(|witness| witness.value.to_string());
    let tool = change.to.as_ref().unwrap_or(&change.tool).to_string();
    Some(Opening { tool, message, call })
}
