//! The calls of `tests/corpus/calls`: reported calls of models, calls by the meaning of BAML's tests, valid calls
//! that look broken, calls with one certain repair, and ambiguous or truncated calls. Each names the acceptable
//! arguments, and whether a refusal is acceptable.

use gramc_calls::check::{Policy, ToolCheck};
use gramc_language_tests::reading::equal;
use gramc_syntax::{SourceFile, parse};
use gramc_tools::{Call, CallError, Session, ToolLibrary};
use serde_json::Value;

use super::{told, tool_check};

/// A call with the acceptable outcomes.
struct Case {
    id: String,
    spec: String,
    call: String,
    accept: Vec<Value>,
    refuse: bool,
    correct_names: bool,
}

fn read_rows(group: &str) -> Vec<Value> {
    let path = gramc_language_tests::root().join(format!("tests/corpus/calls/{group}.jsonl"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let read = |line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"));
    text.lines().map(read).collect()
}

fn read_cases(group: &str) -> Vec<Case> {
    read_rows(group)
        .into_iter()
        .map(|row| {
            let text = |key: &str| row[key].as_str().unwrap().to_owned();
            Case {
                id: text("id"),
                spec: text("spec"),
                call: text("call"),
                accept: row["accept"].as_array().unwrap().clone(),
                refuse: row["refuse"].as_bool().unwrap(),
                correct_names: row.get("correct_names").is_some(),
            }
        })
        .collect()
}

/// The error in the outcome of a call.
fn fault(case: &Case, check: &ToolCheck) -> Option<String> {
    let policy = Policy { correct_names: case.correct_names, ..Policy::default() };
    let outcome = check.check(&case.call, policy);
    let fits = match &outcome {
        Ok(accepted) => {
            let arguments: Value = serde_json::from_str(&accepted.arguments).unwrap();
            case.accept.iter().any(|expected| equal(expected, &arguments))
        }
        Err(_) => case.refuse,
    };
    (!fits).then(|| format!("{} {}\n  {}\n  {}", case.id, case.spec, case.call, told(&outcome)))
}

#[track_caller]
fn assert_right(group: &str) {
    let cases = read_cases(group);
    let faults: Vec<_> =
        cases.iter().filter_map(|case| fault(case, &tool_check(&case.spec))).collect();
    assert!(
        faults.is_empty(),
        "{} of {} calls of {group} are wrong:\n{}",
        faults.len(),
        cases.len(),
        faults.join("\n")
    );
}

#[test]
fn reported_calls_are_right() {
    assert_right("reported");
}

#[test]
fn calls_of_the_tests_of_baml_are_right() {
    assert_right("baml");
}

#[test]
fn valid_calls_that_look_broken_are_unchanged() {
    assert_right("valid");
}

#[test]
fn certain_repairs_are_made() {
    assert_right("repairs");
}

#[test]
fn ambiguous_calls_are_right() {
    assert_right("ambiguous");
}

/// The strings of an array, which may be missing.
fn strings<'r>(row: &'r Value, key: &str) -> Vec<&'r str> {
    row.get(key).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect()
}

/// The error in the answer to a call of an unknown tool. `!` marks destructive tools.
fn name_fault(row: &Value) -> Option<String> {
    let tools = strings(row, "tools").into_iter().map(|tool| match tool.strip_suffix('!') {
        Some(tool) => format!("[{tool}:Tool {{destructive: true}} | (id?::Text)==>(::Any)]"),
        None => format!("[{tool}:Tool | (id?::Text)==>(::Any)]"),
    });
    let file = SourceFile::new("names.gram", tools.collect::<Vec<_>>().join("\n"));
    let module = gramc_check::check(&[parse(file)]).module.unwrap();
    let (bound, _) = ToolLibrary::new("library").bind_partly(&module);
    let verdict = Session::new(&bound).validate(Call::new(row["name"].as_str().unwrap(), "{}"));
    let Err(CallError::UnknownTool { suggestions, .. }) = &verdict.outcome else {
        return Some(format!("{}: {verdict:?}", row["id"]));
    };
    let names: Vec<_> = suggestions.iter().map(|suggestion| suggestion.name.as_str()).collect();
    let message = verdict.message();
    let fits = match row.get("first").and_then(Value::as_str) {
        Some(first) => {
            names.first() == Some(&first)
                || names.is_empty() && message.contains(&format!("`{first}`"))
        }
        None => {
            strings(row, "never").iter().all(|never| !message.contains(&format!("`{never}`")))
                && strings(row, "never_alone").iter().all(|alone| names != [*alone])
        }
    };
    (!fits).then(|| format!("{} {}: {names:?} {message}", row["id"], row["name"]))
}

#[test]
fn suggested_names_are_right() {
    let rows = read_rows("names");
    let faults: Vec<_> = rows.iter().filter_map(name_fault).collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
