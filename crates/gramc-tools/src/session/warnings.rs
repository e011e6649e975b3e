//! Warnings about calls and results.

use gramc_json_schema::pointer::dotted;
use gramc_json_schema::shorten::shorten;
use serde_json::Value;
use smol_str::SmolStr;

use crate::verdict::{STRIPPED, Warning};

/// The negative success flags of a result. They are those of tool results on the wire: `isError` in
/// MCP, and the names that HTTP services and agents' tools use.
pub(super) fn negative_flags(result: &Value) -> impl Iterator<Item = &'static str> {
    let positive = ["success", "ok", "succeeded"].map(|flag| (flag, false));
    let flags = positive.into_iter().chain(["isError", "is_error", "failed"].map(|it| (it, true)));
    flags
        .filter(|(flag, negative)| result.get(flag) == Some(&Value::Bool(*negative)))
        .map(|it| it.0)
}

/// Warns about arguments that were removed.
pub(super) fn stripped_arguments(pointers: &[SmolStr]) -> Option<Warning> {
    let names = list_names(pointers)?;
    let message = match pointers.len() {
        1 => format!("{names} is not declared and was removed from the arguments"),
        _ => format!("{names} are not declared and were removed from the arguments"),
    };
    Some(Warning { code: STRIPPED, message })
}

/// Warns about defaults that the schema rejects.
pub(super) fn omitted_defaults(pointers: &[SmolStr]) -> Option<Warning> {
    let names = list_names(pointers)?;
    let message = match pointers.len() {
        1 => format!("the default of {names} is not filled in, because the schema rejects it"),
        _ => format!("the defaults of {names} are not filled in, because the schema rejects them"),
    };
    Some(Warning { code: "omitted-default", message })
}

/// `None` if there are no pointers.
fn list_names(pointers: &[SmolStr]) -> Option<String> {
    let names: Vec<_> = pointers.iter().map(|pointer| format!("`{}`", dotted(pointer))).collect();
    (!names.is_empty()).then(|| names.join(", "))
}

/// Reports that a call did not run again.
pub(super) fn already_done(tool: &str) -> Warning {
    let message = format!(
        "`{tool}` runs at most once: this is the result of an earlier call with the same arguments"
    );
    Warning { code: "already-done", message }
}

/// Warns about arguments, as JSON, that are probably not meant.
pub(super) fn of_arguments(arguments: &str) -> Vec<Warning> {
    if !arguments.contains(['/', '\\']) {
        return Vec::new();
    }
    let arguments = serde_json::from_str(arguments).unwrap_or_default();
    let mut all = repeated_paths(&arguments, "arguments");
    all.extend(unescaped_backslashes(&arguments));
    all
}

/// Warns about strings in which a model forgot to escape backslashes: a Windows path with a line
/// break or a tab, a pattern with a backspace.
fn unescaped_backslashes(arguments: &Value) -> Option<Warning> {
    fn find(value: &Value) -> Option<&str> {
        match value {
            Value::String(text) => {
                let mut start = text.chars();
                let is_path = start.next().is_some_and(|it| it.is_ascii_alphabetic())
                    && start.next() == Some(':')
                    && start.next().is_some_and(char::is_control)
                    && start.next().is_some_and(char::is_alphanumeric);
                (is_path || text.contains(['\u{8}', '\u{c}'])).then_some(text)
            }
            Value::Array(items) => items.iter().find_map(find),
            Value::Object(map) => map.values().find_map(find),
            _ => None,
        }
    }
    let text = shorten(find(arguments)?, 80);
    let message = format!("{text:?} contains control characters: write each backslash as \\\\");
    Some(Warning { code: "unescaped-backslashes", message })
}

/// Warns about a response that is larger than the limit.
pub(super) fn large(size: usize, limit: usize) -> Option<Warning> {
    (limit > 0 && size > limit).then(|| Warning {
        code: "large-response",
        message: format!("the response has {size} bytes, more than {limit}: request less data"),
    })
}

/// The maximum number of paths that are reported.
const MAX_PATHS: usize = 5;

/// Warns about paths with repeated segments, which models write when they join paths twice.
pub(super) fn repeated_paths(value: &Value, of: &str) -> Vec<Warning> {
    let mut paths = Vec::new();
    find(value, &mut paths);
    let warning = |path: &str| Warning {
        code: "repeated-path",
        message: format!("the path {path:?} in the {of} repeats its own segments"),
    };
    paths.into_iter().map(warning).collect()
}

fn find<'v>(value: &'v Value, paths: &mut Vec<&'v str>) {
    if paths.len() == MAX_PATHS {
        return;
    }
    match value {
        Value::String(text) if repeats(text) && !paths.contains(&text.as_str()) => paths.push(text),
        Value::Array(items) => items.iter().for_each(|item| find(item, paths)),
        Value::Object(map) => map.values().for_each(|item| find(item, paths)),
        _ => {}
    }
}

/// The maximum length of a path in bytes: the limit of most systems.
const MAX_PATH_LENGTH: usize = 4096;

/// Whether a string is a path with a sequence of segments that is repeated immediately.
fn repeats(text: &str) -> bool {
    if text.len() > MAX_PATH_LENGTH || text.contains(['\n', ' ']) || text.contains("://") {
        return false;
    }
    let segments: Vec<_> = text.split(['/', '\\']).filter(|segment| !segment.is_empty()).collect();
    let count = segments.len();
    (1..=count / 2).any(|length| {
        (0..=count - 2 * length).any(|at| {
            let (first, second) = (&segments[at..at + length], &segments[at + length..]);
            second.starts_with(first)
                && first.iter().any(|segment| segment.len() > 1 && *segment != "..")
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_path_is_reported_once() {
        let value = serde_json::json!({"a": "/x/yz/yz", "b": ["/x/yz/yz", "q/q1/q1"], "c": "/x"});
        let messages: Vec<_> =
            repeated_paths(&value, "arguments").into_iter().map(|it| it.message).collect();
        assert_eq!(messages.len(), 2, "{messages:?}");
        assert!(messages[0].contains("\"/x/yz/yz\"") && messages[1].contains("\"q/q1/q1\""));
    }

    #[test]
    fn paths_that_repeat_themselves_are_found() {
        for path in ["src/src/main.rs", "/data/a/site/data/a/site/x", "C:\\tmp\\tmp\\a"] {
            assert!(repeats(path), "{path}");
        }
        for path in ["src/main.rs", "../../a", "a b/a b", "http://a/a", "1/1", "a/bc/a/bd", ""] {
            assert!(!repeats(path), "{path}");
        }
    }
}
