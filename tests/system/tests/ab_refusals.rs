//! Experiments in which a provider answers some requests with errors.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use crate::model_server::{Answer, Server, calls, says};
use crate::support::{Folder, Gramc, Run, folder, gramc};

const SPEC: &str = "[clerk:Agent {model: \"openai/any\"} | [look:Tool | (id::Int)==>(::Text)]]";
/// Answers of 30 kB for every fifth id.
const LIBRARIES: &str = r#"
[short:Library | (look:Command {run: ["echo", "found"]})]
[long:Library | (look:Command {run: ["sh", "-c", "a=$(cat); case $a in *[05]\\}) head -c 30000 /dev/zero | tr '\\0' x;; *) echo found;; esac"]})]
"#;

fn files(cases: usize) -> Folder {
    let case =
        |id| json!({"id": id, "input": format!("Look for {id}"), "expect": {"contains": "found"}});
    let cases: Vec<_> = (0..cases).map(|id| case(id).to_string()).collect();
    folder(&[
        ("spec.gram", SPEC),
        ("libraries.gram", LIBRARIES),
        ("cases.jsonl", &cases.join("\n")),
    ])
}

fn compare(files: &Folder, server: &Server, arms: [&str; 2], options: &[&str]) -> Run {
    let [first, second] = arms.map(|arm| format!("--library libraries.gram:{arm}"));
    let run = gramc("ab spec.gram --cases cases.jsonl").args(&first).args(&second);
    let run = options.iter().fold(run, Gramc::arg);
    let has_report = options.contains(&"--report");
    let run = if has_report { run } else { run.args("--report out") };
    let run = run.within(files.path()).env("OPENAI_BASE_URL", &server.url());
    run.run()
}

/// Calls the tool, and then answers with its result.
fn answer(request: &Value) -> Answer {
    let messages = request["messages"].as_array().expect("a list");
    let last = messages.last().expect("there is a message");
    let text = last["content"].as_str().unwrap_or_default();
    match text.strip_prefix("Look for ") {
        Some(id) => calls(request, &[("look", &format!("{{\"id\": {id}}}"))]),
        None => says(request, text),
    }
}

fn error(status: u16, code: &str) -> Answer {
    Answer::Json(status, Vec::new(), json!({"error": {"message": code, "code": code}}))
}

fn report(files: &Folder) -> Value {
    serde_json::from_str(&files.read("out/report.json")).expect("it is JSON")
}

#[test]
fn an_arm_whose_results_the_provider_refuses_is_worse() {
    let server = Server::start(|_, request| match request.to_string().len() {
        20_000.. => error(400, "context_length_exceeded"),
        _ => answer(request),
    });
    let files = files(300);
    let run = compare(
        &files,
        &server,
        ["short", "long"],
        &["--gate", "success >= -1pp", "--concurrency", "4"],
    );
    run.exits(1).says(&["gate `success >= -1pp` failed: long against short is between −"]);
    let report = report(&files);
    let verdict = report["verdict"].as_str().expect("a text");
    assert!(verdict.starts_with("long worse by 20.0 points (95 % interval "), "{verdict}");
    assert_eq!(
        report["unanswered"],
        json!([{"arm": "short", "runs": 0}, {"arm": "long", "runs": 0}])
    );
    assert_eq!((&report["cases"], &report["stopped"]), (&json!(300), &Value::Null));
    let runs = files.read("out/runs.jsonl");
    let failed: Vec<_> = runs.lines().filter(|line| line.contains(r#""end":"failed""#)).collect();
    assert_eq!(failed.len(), 60);
    assert!(failed.iter().all(|line| line.contains("context_length_exceeded")), "{}", failed[0]);
    // There is nothing left to do.
    let requests = server.requests().len();
    compare(&files, &server, ["short", "long"], &[]).exits(0);
    assert_eq!(server.requests().len(), requests);
}

#[test]
fn more_unanswered_runs_of_one_arm_withhold_the_verdict() {
    // After a call with a long result, the provider is gone for that conversation.
    let server = Server::start(|_, request| match request.to_string().len() {
        20_000.. => error(401, "no_such_key"),
        _ => answer(request),
    });
    let files = files(30);
    let options = &["--gate", "success >= -50pp"];
    let run = compare(&files, &server, ["short", "long"], options).exits(2);
    let why =
        "the model did not answer 6 of 30 runs of long and 0 of short, so they cannot be compared";
    let run = run.says(&[&format!("gate `success >= -50pp` failed: {why}")]);
    assert!(run.stdout.starts_with(&format!("no verdict: {why}\n")), "{}", run.stdout);
    assert!(run.stdout.contains("runs without an answer: short 0, long 6"), "{}", run.stdout);
    assert_eq!(
        report(&files)["unanswered"][1],
        json!({"arm": "long", "runs": 6, "imbalance": why})
    );
}

#[test]
fn an_error_before_the_first_answer_counts_against_no_arm() {
    // A provider that takes no request at all, as with a wrong key.
    let server = Server::start(|_, _| error(400, "invalid_key"));
    let files = files(30);
    compare(&files, &server, ["short", "long"], &[]).fails_with(&["HTTP status 400"]);
    assert!(server.requests().len() <= 8, "{}", server.requests().len());
    // With the right key, everything runs.
    let server = Server::start(|_, request| answer(request));
    compare(&files, &server, ["short", "long"], &[]).exits(0);
    assert_eq!(report(&files)["runs"], 60);
}

/// A provider that answered once will answer again: the first run to end need not be the first one.
#[test]
fn an_error_in_the_middle_of_the_first_run_ends_nothing() {
    let seen = AtomicUsize::new(0);
    let server = Server::start(move |_, request| match seen.fetch_add(1, Ordering::Relaxed) {
        1 => error(401, "expired_key"),
        _ => answer(request),
    });
    let files = files(4);
    let run = compare(&files, &server, ["short", "long"], &["--concurrency", "1"]);
    assert!(run.stderr.contains("1 run could not be counted"), "{}", run.stderr);
    let runs = files.read("out/runs.jsonl");
    assert_eq!(runs.lines().filter(|line| line.contains("\"place\"")).count(), 7, "{runs}");
}

#[test]
fn errors_that_pass_are_no_failures() {
    let seen = AtomicUsize::new(0);
    let server = Server::start(move |_, request| match seen.fetch_add(1, Ordering::Relaxed) % 7 {
        3 => Answer::Json(
            503,
            vec![("retry-after", "0".to_owned())],
            json!({"error": {"message": "busy"}}),
        ),
        _ => answer(request),
    });
    let files = files(20);
    compare(&files, &server, ["short", "long"], &[]).exits(0);
    assert_eq!(report(&files)["stopped"], Value::Null);
}

#[test]
fn cases_that_no_run_can_meet_are_told_before_anything_runs() {
    let server = Server::start(|_, request| answer(request));
    let files = files(2);
    for (expect, why) in [
        (
            r#"{"calls": [{"name": "lok"}]}"#,
            "error: case `1` expects a call of an unknown tool `lok`; did you mean `look`?",
        ),
        (
            r#"{"command": "no-such-judge --strict"}"#,
            "error: case `1`: `expect`: there is no program `no-such-judge`",
        ),
    ] {
        files
            .write("cases.jsonl", format!("{{\"input\": \"Look for 1\", \"expect\": {expect}}}\n"));
        let run = compare(&files, &server, ["short", "long"], &[]).exits(1);
        run.says(&[why, "nothing was run"]);
    }
    assert!(server.requests().is_empty());
}

#[test]
fn a_grader_gets_the_case_without_the_arm_and_its_output_is_kept() {
    let server = Server::start(|_, request| answer(request));
    let files = files(2);
    let judge = "cat > seen.json; echo 'too short: 5 letters'; exit 1";
    let case = json!({
        "id": "a", "input": "Look for 1", "wanted": [1.50], "expect": {"command": ["sh", "-c", judge]},
    });
    files.write("cases.jsonl", format!("{case}\n"));
    compare(&files, &server, ["short", "long"], &[]).exits(0);
    let seen: Value = serde_json::from_str(&files.read("seen.json")).expect("it is JSON");
    assert_eq!((&seen["case"], &seen["definition"]), (&json!("a"), &case));
    assert!(!seen.to_string().contains("short\"") && seen.get("arm").is_none(), "{seen}");
    let runs = files.read("out/runs.jsonl");
    assert_eq!(
        runs.matches("`sh` failed (exit status: 1): too short: 5 letters").count(),
        2,
        "{runs}"
    );
    // A judge that breaks is no vote.
    files.write("cases.jsonl", format!("{}\n", case.to_string().replace("exit 1", "kill -9 $$")));
    let run = compare(&files, &server, ["short", "long"], &["--report", "other"]);
    run.fails_with(&["`sh`", "it did not run to its end (signal: 9"]);
}
