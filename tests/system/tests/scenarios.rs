//! Scenarios of calls: what is promised, call by call, in files that people read.
//!
//! A scenario is a file of Markdown in `tests/scenarios`. Its first block of gram is the
//! specification, the second one the library. Each heading of the second level begins a session:
//! in its blocks, lines that begin with `>` are what `gramc replay` reads, and lines that begin
//! with `<` are what the verdict of the call before holds, at least. A text that begins and ends
//! with `…` is a part of the verdict's. A
//! line that begins with `$` gives the arguments of `gramc replay` that name the library.

use std::fs;
use std::path::Path;

use serde_json::Value;
use tempfile::tempdir;

use crate::calls::{call_fault, verdict_fault};
use crate::support::gramc;

/// A call or another line for `gramc replay`, and what its verdict holds.
struct Step {
    line: usize,
    sent: String,
    expected: Vec<(usize, Value)>,
}

/// A session and its heading.
struct Scene {
    heading: String,
    /// Further arguments of `gramc replay`.
    arguments: String,
    steps: Vec<Step>,
}

struct Scenario {
    spec: String,
    library: String,
    scenes: Vec<Scene>,
}

fn read(text: &str) -> Scenario {
    let (mut grams, mut scenes) = (Vec::<String>::new(), Vec::<Scene>::new());
    let mut block: Option<&str> = None;
    for (at, line) in text.lines().enumerate() {
        match (block, line) {
            (None, line) if line.starts_with("## ") => scenes.push(Scene {
                heading: line[3..].to_owned(),
                arguments: "--library library.gram".to_owned(),
                steps: Vec::new(),
            }),
            (None, line) if line.starts_with("```") => {
                block = Some(&line[3..]);
                if block == Some("gram") {
                    grams.push(String::new());
                }
            }
            (Some(_), "```") => block = None,
            (Some("gram"), line) => {
                let gram = grams.last_mut().unwrap();
                gram.push_str(line);
                gram.push('\n');
            }
            (Some("replay"), line) => {
                let scene = scenes.last_mut().expect("a session stands under a heading");
                let (mark, rest) = line.split_at_checked(2).expect("a line of a session");
                match mark {
                    "> " => {
                        let (sent, expected) = (rest.to_owned(), Vec::new());
                        scene.steps.push(Step { line: at + 1, sent, expected });
                    }
                    "< " => {
                        let value = serde_json::from_str(rest)
                            .unwrap_or_else(|error| panic!("line {}: {error}", at + 1));
                        scene.steps.last_mut().unwrap().expected.push((at + 1, value));
                    }
                    "$ " => rest.clone_into(&mut scene.arguments),
                    _ => panic!("line {}: {line}", at + 1),
                }
            }
            _ => {}
        }
    }
    let mut grams = grams.into_iter();
    let spec = grams.next().expect("a scenario has a specification");
    Scenario { spec, library: grams.next().expect("a scenario has a library"), scenes }
}

/// What of an expected value the actual one lacks.
fn lacks(expected: &Value, actual: &Value, at: &str) -> Option<String> {
    match (expected, actual) {
        (Value::Object(expected), Value::Object(actual)) => {
            expected.iter().find_map(|(key, expected)| {
                lacks(expected, actual.get(key).unwrap_or(&Value::Null), &format!("{at}.{key}"))
            })
        }
        (Value::Array(expected), Value::Array(actual)) if expected.len() == actual.len() => {
            let mut pairs = expected.iter().zip(actual).enumerate();
            pairs.find_map(|(index, (expected, actual))| {
                lacks(expected, actual, &format!("{at}.{index}"))
            })
        }
        (Value::String(part), Value::String(text))
            if part.len() > 6 && part.starts_with('…') && part.ends_with('…') =>
        {
            let part = part.trim_matches('…');
            (!text.contains(part)).then(|| format!("{at}: {text:?} has no {part:?}"))
        }
        (expected, actual) => {
            (expected != actual).then(|| format!("{at}: {actual} in the place of {expected}"))
        }
    }
}

fn play(name: &str, scenario: &Scenario) -> Vec<String> {
    let folder = tempdir().unwrap();
    let write = |file: &str, text: &str| fs::write(folder.path().join(file), text).unwrap();
    write("spec.gram", &scenario.spec);
    write("library.gram", &scenario.library);
    let mut faults = Vec::new();
    assert!(!scenario.scenes.is_empty(), "{name} promises nothing");
    for scene in &scenario.scenes {
        let calls: Vec<_> = scene.steps.iter().map(|step| step.sent.as_str()).collect();
        write("calls.jsonl", &(calls.join("\n") + "\n"));
        let run = gramc("replay spec.gram --calls calls.jsonl --stats")
            .args(&scene.arguments)
            .within(folder.path())
            .env("SCENARIO_TOKEN", "tok-4711-secret")
            .run();
        let (stdout, stderr) = (&run.stdout, &run.stderr);
        let mut verdicts = stdout.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        for step in &scene.steps {
            let sent = serde_json::from_str::<Value>(&step.sent).unwrap();
            if let Some(fault) = call_fault(&sent) {
                faults.push(format!("{name}:{}: this is no call: {fault}", step.line));
            }
            let steers = ["{\"turn\"", "{\"reset\""];
            if steers.iter().any(|start| step.sent.starts_with(start)) {
                continue;
            }
            let Some(verdict) = verdicts.next() else {
                faults.push(format!("{name}:{}: no verdict; {stderr}", step.line));
                break;
            };
            if let Some(fault) = verdict_fault(&verdict) {
                faults.push(format!("{name}:{}: this is no verdict: {fault}", step.line));
            }
            assert!(!step.expected.is_empty(), "{name}:{}: nothing is promised", step.line);
            for (line, expected) in &step.expected {
                // `stats` is compared at the end of the session.
                if expected.get("stats").is_some() {
                    continue;
                }
                if let Some(fault) = lacks(expected, &verdict, "verdict") {
                    faults.push(format!("{name}:{line}: {}: {fault}\n  {verdict}", scene.heading));
                }
            }
        }
        let stats = verdicts.next().unwrap_or_default();
        for (line, expected) in scene.steps.iter().flat_map(|step| &step.expected) {
            if expected.get("stats").is_some()
                && let Some(fault) = lacks(expected, &stats, "stats")
            {
                faults.push(format!("{name}:{line}: {}: {fault}\n  {stats}", scene.heading));
            }
        }
    }
    faults
}

fn scenario(name: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../tests/scenarios")
        .join(name)
        .with_extension("md");
    let text = fs::read_to_string(&path).unwrap();
    let faults = play(name, &read(&text));
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn late_binding() {
    scenario("late-binding");
}

#[test]
fn anti_thrashing() {
    scenario("anti-thrashing");
}

#[test]
fn containers() {
    scenario("containers");
}

#[test]
fn comprehensive_errors() {
    scenario("comprehensive-errors");
}

#[test]
fn workflow() {
    scenario("workflow");
}
