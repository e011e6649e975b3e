//! The error of a call as text for the model.

use std::fmt::Write as _;
use std::time::Duration;

use smol_str::SmolStr;

use super::{CallError, seconds};
use gramc_calls::check::InvalidArguments;
use gramc_calls::names::Suggestion;

/// The similarity in percent from which guidance asks for a suggested tool.
const CERTAIN: u8 = 80;

pub(super) fn format_duration(time: Duration) -> String {
    format!("{} s", seconds(time))
}

pub(super) fn error_message(name: &str, error: &CallError) -> String {
    match error {
        CallError::Validation(invalid) => match &invalid.problems()[..] {
            [only] => format!("`{name}`: {}", only.message),
            _ => format!("the arguments of `{name}` have {} errors", invalid.count()),
        },
        CallError::Malformed(malformed) => format!("`{name}`: {malformed}"),
        CallError::UnknownTool { suggestions, .. } => {
            let meant = match suggestions.first() {
                Some(Suggestion { name, container: Some(container), .. }) => {
                    format!("; did you mean `{name}` in `{container}`?")
                }
                Some(Suggestion { name, .. }) => format!("; did you mean `{name}`?"),
                None => String::new(),
            };
            match name {
                "" => "the call has no tool name".to_owned(),
                name => format!("there is no tool `{name}`{meant}"),
            }
        }
        CallError::ContainerInvocation { .. } => {
            format!("`{name}` is a container of functions and has no parameters")
        }
        CallError::ContainerNotExpanded { container, .. } => {
            format!("`{name}` is in the container `{container}`, which is not expanded")
        }
        CallError::ApprovalRequired => {
            format!("`{name}` requires approval, but this session cannot ask for it")
        }
        CallError::ApprovalRefused { reason: None } => {
            format!("the call of `{name}` was not approved")
        }
        CallError::ApprovalRefused { reason: Some(reason) } => {
            format!("the call of `{name}` was not approved: {reason}")
        }
        CallError::OutcomeUnknown => format!(
            "`{name}` runs at most once, and the outcome of an earlier call with the same arguments \
             is unknown"
        ),
        CallError::Throttled { rule, limit, .. } => match *rule {
            "repeated_failure" => format!("`{name}` failed {limit} times with the same arguments"),
            "repeated_result" => {
                format!("`{name}` returned the same result {limit} times for the same arguments")
            }
            "max_consecutive_failures" => {
                format!("`{name}` failed {limit} times in a row and is blocked for a while")
            }
            "same_tool_calls" => {
                format!("`{name}` was called {limit} times within a short time")
            }
            _ => format!("{limit} tools were called within a short time"),
        },
        CallError::Invocation { detail } => format!("`{name}` failed: {detail}"),
        CallError::Timeout { limit } => {
            format!("`{name}` did not respond within {}", format_duration(*limit))
        }
        CallError::NeedsHumanReview { attempts, .. } => {
            format!("{attempts} calls of `{name}` in a row were rejected: human review required")
        }
    }
}

/// Guidance for the model's next call.
pub(super) fn guidance(name: &str, error: &CallError) -> String {
    match error {
        CallError::Validation(invalid) => {
            let what = if invalid.count() == 1 { "this" } else { "these" };
            format!("Correct {what} and call `{name}` again.")
        }
        CallError::Malformed(_) => {
            format!("Call `{name}` again with its arguments as one complete JSON object.")
        }
        CallError::UnknownTool { suggestions, .. } => match suggestions.first() {
            Some(Suggestion { name, container: Some(container), .. }) => format!(
                "`{name}` is in the container `{container}`: call `{container}` without arguments \
                 first, then `{name}`."
            ),
            Some(Suggestion { name, nearness: CERTAIN.., .. }) => {
                format!("Call `{name}`, or another available tool.")
            }
            _ => "Call one of the available tools.".to_owned(),
        },
        CallError::ContainerInvocation { functions, meant, expanded, .. } => {
            container_guidance(name, functions, meant.as_ref(), *expanded)
        }
        CallError::ContainerNotExpanded { container, expanded: false } => {
            format!("Call `{container}` without arguments first, then `{name}`.")
        }
        CallError::ContainerNotExpanded { container, .. } => {
            format!("`{container}` is expanded now: call `{name}` again.")
        }
        CallError::ApprovalRefused { .. } => {
            "Do not repeat this call; do something else or tell the user.".to_owned()
        }
        CallError::OutcomeUnknown => {
            "Do not repeat this call; check the effects of the earlier one or tell the user."
                .to_owned()
        }
        CallError::Throttled { rule, retry_after, .. } => {
            let wait = format_duration(*retry_after);
            match *rule {
                "repeated_failure" => format!(
                    "Change the arguments, do something else or tell the user; the same call is \
                     possible again in {wait}."
                ),
                "repeated_result" => format!(
                    "Use this result or do something else; the same call is possible again in \
                     {wait}."
                ),
                _ => format!(
                    "Do something else or tell the user; `{name}` can be called again in {wait}."
                ),
            }
        }
        CallError::Invocation { .. } => {
            "Retry only if something has changed; otherwise tell the user.".to_owned()
        }
        CallError::Timeout { .. } => {
            "Retry with a smaller task, or tell the user that the tool takes too long.".to_owned()
        }
        CallError::ApprovalRequired | CallError::NeedsHumanReview { .. } => {
            format!("Do not call `{name}` again; describe the call to the user.")
        }
    }
}

/// The maximum number of functions that the guidance names.
const NAMED_FUNCTIONS: usize = 5;

fn container_guidance(
    name: &str,
    functions: &[SmolStr],
    meant: Option<&SmolStr>,
    expanded: bool,
) -> String {
    let then = match (meant, functions) {
        (Some(meant), _) => format!("`{meant}`"),
        (None, []) => "the required function".to_owned(),
        (None, all) => {
            let named: Vec<_> =
                all.iter().take(NAMED_FUNCTIONS).map(|name| format!("`{name}`")).collect();
            let more = if all.len() > NAMED_FUNCTIONS { ", ..." } else { "" };
            format!("one of its functions ({}{more})", named.join(", "))
        }
    };
    if expanded {
        return format!("`{name}` is expanded now: call {then} with the parameters.");
    }
    format!(
        "Make two separate tool calls: first `{name}` without arguments, to list its functions, \
         then {then} with the parameters."
    )
}

/// The error as text for the model.
pub(super) fn error_text(name: &str, error: &CallError) -> String {
    let message = error_message(name, error);
    let (stop, between) = match error {
        CallError::Validation(invalid) if invalid.count() > 1 => (":", problem_list(invalid)),
        CallError::NeedsHumanReview { last, .. } => match &**last {
            CallError::Validation(invalid) => (".", problem_list(invalid)),
            _ => (".", " ".to_owned()),
        },
        _ if message.ends_with(['.', '?', '!']) => ("", " ".to_owned()),
        _ => (".", " ".to_owned()),
    };
    format!("{message}{stop}{between}{}", guidance(name, error))
}

/// The problems as a list, on lines of their own.
fn problem_list(invalid: &InvalidArguments) -> String {
    let mut out = String::from("\n");
    for problem in invalid.problems() {
        // Writing to a string cannot fail.
        let _ = writeln!(out, "- {}", problem.message);
    }
    if invalid.more() > 0 {
        let _ = writeln!(out, "- and {} more", invalid.more());
    }
    out
}
