//! Agents with several models: the next one is used if one is unavailable.

use serde_json::{Value, json};

use crate::model_server::{Answer, Server, calls, says};
use crate::support::{Folder, Gramc, Run, folder, gramc};

const SPEC: &str = r#"
[helper:Agent {instruction: "You help.", models: ["openai/first", "ollama/second"]} |
  [add:Tool | (a::Int)==>(b::Int)==>(::Int)]
]
[works:Library | (add:Builtin)]
"#;

fn run(first: &str, second: &Server, turns: &[&str], options: &str) -> (Run, Folder) {
    let files = folder(&[("spec.gram", SPEC)]);
    let run = gramc("run spec.gram --library works --trace trace.jsonl").args(options);
    let run = run.within(files.path()).env("OPENAI_BASE_URL", first);
    let run = turns.iter().fold(run.env("OLLAMA_BASE_URL", &second.url()), Gramc::arg);
    (run.run(), files)
}

fn refuses(status: u16, error: &Value) -> Server {
    let error = error.clone();
    Server::start(move |_, _| {
        let headers = vec![("retry-after", "0".to_owned())];
        Answer::Json(status, headers, json!({"error": error.clone()}))
    })
}

fn adds() -> Server {
    Server::start(|at, request| match at {
        0 => calls(request, &[("add", r#"{"a": 1, "b": 2}"#)]),
        _ => says(request, "It is 3."),
    })
}

#[test]
fn the_next_model_is_used_when_one_is_unavailable() {
    for (status, error, requests) in [
        (404, json!({"message": "model `first` not found"}), 1),
        (400, json!({"message": "no such model", "code": "model_not_found"}), 1),
        (503, json!({"message": "overloaded"}), 5),
        (429, json!({"message": "slow down"}), 5),
    ] {
        let (first, second) = (refuses(status, &error), adds());
        let (run, files) = run(&first.url(), &second, &["Add", "Again"], "");
        let run = run.exits(0).says(&[&format!("HTTP status {status}"), "; using ollama/second"]);
        assert_eq!(run.stdout, "It is 3.\nIt is 3.\n");
        // The conversation stays with the model that replied.
        assert_eq!((first.requests().len(), second.requests().len()), (requests, 3), "{status}");
        assert_eq!(second.requests()[0]["model"], "second");
        let lines = files.read("trace.jsonl");
        let lines = lines.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
        let kinds: Vec<_> = lines.filter(|line| line["type"] == "fallback").collect();
        assert_eq!(kinds.len(), 1);
        assert_eq!(kinds[0]["model"], "ollama/second");
        let told = kinds[0]["error"].as_str().unwrap_or_default();
        assert!(told.contains(&format!("HTTP status {status}")), "{told}");
        gramc("trace trace.jsonl").within(files.path()).run().exits(0);
    }
}

#[test]
fn a_model_that_cannot_be_reached_is_replaced() {
    let second = adds();
    let (run, _) = run("http://127.0.0.1:1/v1", &second, &["Add"], "");
    let told = ["cannot connect to the provider at http://127.0.0.1:1: ", "; using ollama/second"];
    assert_eq!(run.exits(0).says(&told).stdout, "It is 3.\n");
}

#[test]
fn an_error_of_the_request_is_no_reason_for_another_model() {
    for (status, error) in [
        (400, json!({"message": "the schema of `add` is invalid", "code": "invalid_request"})),
        (401, json!({"message": "no such key"})),
        (413, json!({"message": "too long"})),
    ] {
        let (first, second) = (refuses(status, &error), adds());
        let (run, _) = run(&first.url(), &second, &["Add"], "");
        run.exits(2).says(&[&format!("no answer: the provider returned HTTP status {status}")]);
        assert_eq!((first.requests().len(), second.requests().len()), (1, 0), "{status}");
    }
}

#[test]
fn without_another_model_the_last_error_ends_the_turn() {
    let gone = json!({"message": "no such model"});
    let (first, second) = (refuses(404, &gone), refuses(404, &gone));
    let (first_run, _) = run(&first.url(), &second, &["Add"], "");
    first_run.exits(2).says(&["; using ollama/second", "no answer: the provider returned HTTP"]);
    // `--model` replaces all of them.
    let (given, _) = run(&first.url(), &second, &["Add"], "--model openai/other");
    let given = given.exits(2);
    assert!(!given.stderr.contains("using ollama"), "{}", given.stderr);
    assert_eq!((first.requests().len(), second.requests().len()), (2, 1));
}

#[test]
fn the_attribute_is_checked() {
    let found = |attributes: &str| {
        let text = format!("[f:Tool | (a::Text)==>(::Text)] [a:Agent {{{attributes}}} | f]");
        let run = gramc("check - --format concise").input(text).run();
        (run.code, run.stdout + &run.stderr)
    };
    let says = |attributes: &str, words: &str| {
        let (code, said) = found(attributes);
        assert_eq!(code, Some(1), "{attributes}: {said}");
        assert!(said.contains(words), "{attributes}: {said}");
    };
    assert_eq!(found(r#"models: ["openai/a", "scripted/echo"]"#).0, Some(0));
    says(
        r#"model: "openai/a", models: ["openai/b"]"#,
        "error[conflicting-attributes] `model` and `models` exclude each other",
    );
    says(r#"models: ["openai/a", "opena/b"]"#, "error[unknown-model] unknown provider `opena`");
    says(r#"models: ["gpt-4o"]"#, "error[unknown-model] `gpt-4o` is not the name of a model");
    let wrong = "error[attribute-value] `models` expects a list of models, such as \
                 [\"openai/gpt-4o-mini\"]";
    for attributes in ["models: []", "models: \"openai/a\"", "models: [5]"] {
        says(attributes, wrong);
    }
}

#[test]
fn an_experiment_uses_the_first_model_only() {
    let spec = SPEC.replace("openai/first", "scripted/script.jsonl");
    let both = spec + "[second:Library | (add:Builtin)]\n";
    let cases = "{\"input\": \"Add\", \"expect\": {\"contains\": \"Done\"}}\n";
    let files = folder(&[
        ("spec.gram", &both),
        ("script.jsonl", "{\"content\": \"Done.\"}\n"),
        ("cases.jsonl", cases),
    ]);
    let line = "ab spec.gram --library works --library second --cases cases.jsonl --report kept";
    gramc(line).within(files.path()).run().exits(0);
    let report: Value = serde_json::from_str(&files.read("kept/report.json")).expect("JSON");
    assert_eq!(report["model"], "scripted/script.jsonl");
}
