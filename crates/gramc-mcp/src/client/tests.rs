//! Good and bad servers, of which `tests/real/hostile.py` plays most. They need `python3` alone.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::*;

/// Enough for a busy machine, and little for a person who waits for a test that fails.
const SOON: Duration = Duration::from_secs(20);
const HOSTILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/real/hostile.py");

/// The list that the mode `odd` of the script sends, with the exponents of `serde_json`.
const ODD: &str = concat!(
    r#"{"tools":[{"name":"odd","unknownKey":{"b":1,"a":[1.0,1e+5,-0,0.10,9007199254740993,"#,
    r#"12345678901234567890123]},"inputSchema":{"type":"object","properties":{"z":{"default":1.50},"#,
    r#""a":{"maximum":1e+400}},"x-own":null},"description":"ä"#,
    "\u{2028}",
    r#"/"}]}"#
);

/// Runs `work` as the command line does.
fn run<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let outcome = runtime.block_on(work);
    runtime.shutdown_background();
    outcome
}

pub(super) fn ask_command(words: &[&str], limit: Duration) -> Result<Value, McpError> {
    let words: Vec<_> = words.iter().map(|&word| word.to_owned()).collect();
    run(tools_of_command(&words, ProgramEnvironment::default(), limit, std::future::pending()))
        .map(|list| as_json(&list))
}

pub(super) fn ask_url(url: &str, limit: Duration) -> Result<Value, McpError> {
    run(tools_of_url(url, UrlOptions::default(), limit, std::future::pending()))
        .map(|list| as_json(&list))
}

fn as_json(list: &ListedTools) -> Value {
    json!({ "tools": list.tools })
}

fn ask_hostile(mode: &str, limit: Duration) -> Result<Value, McpError> {
    ask_command(&["python3", HOSTILE, mode], limit)
}

fn text(outcome: Result<Value, McpError>) -> String {
    match outcome {
        Ok(value) => value.to_string(),
        Err(error) => error.to_string(),
    }
}

/// Asserts that a mode fails, soon, and with a message that holds `parts`.
fn fails(mode: &str, limit: Duration, parts: &[&str]) {
    let message = ask_hostile(mode, limit).expect_err(mode).to_string();
    let begin = "cannot get the tools of the MCP server `python3`: ";
    assert!(message.starts_with(begin), "{mode}: {message}");
    for part in parts {
        assert!(message.contains(part), "{mode}: there is no `{part}` in: {message}");
    }
    assert!(!message.chars().any(|letter| letter.is_control() && letter != '\n'), "{message:?}");
}

#[test]
fn a_tool_comes_as_it_was_sent() {
    assert_eq!(text(ask_hostile("odd", SOON)), ODD);
}

#[test]
fn all_pages_come() {
    let list = ask_hostile("pages", SOON).expect("a list");
    let names: Vec<_> =
        list["tools"].as_array().unwrap().iter().map(|tool| &tool["name"]).collect();
    assert_eq!(names, ["tool0", "tool1", "tool2", "tool3"]);
    assert_eq!(list.as_object().unwrap().len(), 1);
}

#[test]
fn a_server_may_say_much_besides() {
    let list = text(ask_hostile("chatty", SOON));
    assert_eq!(list, r#"{"tools":[{"name":"quiet","inputSchema":{"type":"object"}}]}"#);
}

#[test]
fn a_server_that_ends_too_early_is_reported_with_its_last_words() {
    let ended = "it ended before it answered `initialize` (exit status: 3)\n\
                 Its last lines on standard error:\n   [31mno configuration  found [0m";
    fails("dies-at-once", SOON, &[ended]);
    let ended = "it ended before it answered `tools/list` (exit status: 1)\n\
                 Its last lines on standard error:\n  line 20\n  line 21";
    fails("dies-before-the-list", SOON, &[ended, "line 29"]);
    fails("dies-mid-answer", SOON, &["its response is invalid: EOF"]);
    fails("hangs-up", SOON, &["it hung up before it answered `tools/list`"]);
}

#[test]
fn what_is_not_the_protocol_is_reported() {
    fails(
        "rubbish",
        Duration::from_secs(2),
        &[
            "it did not answer `initialize` within 2 seconds",
            "On its standard output is text that is not part of the protocol:\n  Usage: server [options]",
        ],
    );
    fails("bad-json", SOON, &["its response is invalid: expected value"]);
    fails("deep", SOON, &["its response is invalid: recursion limit exceeded"]);
    fails("strange-introduction", SOON, &["it does not answer `initialize` as an MCP server does"]);
}

#[test]
fn errors_that_a_server_answers_with_are_reported() {
    fails("error", SOON, &["it answered `tools/list` with the error -32601: Method not found"]);
    fails("refuses", SOON, &["it answered `initialize` with the error -32000: no key"]);
}

#[test]
fn answers_without_a_list_are_reported() {
    fails("no-tools", SOON, &["its answer to `tools/list` holds no `tools`"]);
    fails("tools-no-list", SOON, &["`tools` of its answer to `tools/list` is not a list"]);
    fails("cursor-no-text", SOON, &["`nextCursor` of its answer to `tools/list` is not text"]);
}

#[test]
fn lists_without_an_end_are_bounded() {
    fails("endless-pages", SOON, &["its list of tools has more than 1000 pages"]);
    fails("huge-line", SOON, &["a message of it is longer than 64 megabytes"]);
    fails("huge-list", SOON, &["its list of tools is longer than 64 megabytes"]);
}

/// What can be used of a list is used.
#[test]
fn odd_lists_have_warnings() {
    let words = ["python3", HOSTILE, "same-cursor"].map(str::to_owned);
    let work =
        tools_of_command(&words, ProgramEnvironment::default(), SOON, std::future::pending());
    let list = run(work).unwrap();
    assert_eq!(list.tools.len(), 1);
    let warnings = [
        "`tool` is listed twice: the second one is omitted",
        "a tool without a name is omitted",
        "the list has no end: the cursor \"again\" came twice",
    ];
    assert!(list.warnings.iter().map(String::as_str).eq(warnings), "{:?}", list.warnings);
}

#[test]
fn a_slow_server_is_not_waited_for() {
    let limit = Duration::from_millis(1500);
    fails("slow", limit, &["it did not answer `tools/list` within 1.5 seconds"]);
    fails("slow-start", limit, &["it did not answer `initialize` within 1.5 seconds"]);
}

#[test]
fn commands_that_cannot_be_started_are_reported() {
    let of = |words: &[&str]| text(ask_command(words, SOON));
    assert_eq!(of(&[]), "the command of the MCP server is empty");
    assert_eq!(
        of(&["no-such-program", "--password=secret"]),
        "cannot get the tools of the MCP server `no-such-program`: there is no such program"
    );
    assert!(of(&[env!("CARGO_MANIFEST_DIR")]).ends_with("not a program one may run"));
}

#[test]
fn a_reason_to_stop_is_told() {
    let words = ["python3", HOSTILE, "slow"].map(str::to_owned);
    let stop = async {
        tokio::time::sleep(Duration::from_millis(200)).await;
        "we were interrupted".to_owned()
    };
    let work = tools_of_command(&words, ProgramEnvironment::default(), SOON, stop);
    let message = text(run(work).map(|list| as_json(&list)));
    let expected = "cannot get the tools of the MCP server `python3`: we were interrupted";
    assert_eq!(message, expected);
}

/// Nothing is left of a server that does not want to end, nor of what it started.
#[cfg(target_os = "linux")]
#[test]
fn no_process_is_left() {
    let folder = tempfile::tempdir().unwrap();
    for (mode, processes) in [
        ("stubborn", 1),
        ("leaves-a-child", 2),
        ("slow", 1),
        ("hangs-up", 1),
        ("odd", 1),
        ("huge-line", 1),
    ] {
        let file = folder.path().join(mode);
        let limit = Duration::from_secs(4);
        let outcome = ask_command(&["python3", HOSTILE, mode, file.to_str().unwrap()], limit);
        let good = matches!(mode, "stubborn" | "leaves-a-child" | "odd");
        assert_eq!(outcome.is_ok(), good, "{mode}: {}", text(outcome));
        let ids = std::fs::read_to_string(&file).unwrap();
        assert_eq!(ids.lines().count(), processes, "{mode}");
        for (at, id) in ids.lines().enumerate() {
            // The server itself is ours to bury. The others end when they get to it, and are buried
            // by whoever adopted them.
            let limit = Instant::now() + SOON;
            let gone = loop {
                let gone = match std::fs::read_to_string(format!("/proc/{id}/status")) {
                    Err(_) => true,
                    Ok(status) => at > 0 && status.contains("State:\tZ"),
                };
                if gone || at == 0 || Instant::now() > limit {
                    break gone;
                }
                std::thread::sleep(Duration::from_millis(10));
            };
            assert!(gone, "{mode}: process {at} is still there");
        }
    }
}

/// The script as an HTTP server; it ends with this value.
struct ScriptServer {
    child: Child,
    url: String,
}

impl ScriptServer {
    fn start(mode: &str) -> Self {
        let mut child = Command::new("python3")
            .args([HOSTILE, "--http", mode])
            .stdout(Stdio::piped())
            .spawn()
            .expect("python3 is there");
        let mut port = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut port).unwrap();
        let url = format!("http://127.0.0.1:{}/mcp?key=secret", port.trim());
        Self { child, url }
    }
}

impl Drop for ScriptServer {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

/// Asserts that a mode of the HTTP server fails, with a message that holds `part`.
fn site_fails(mode: &str, limit: Duration, part: &str) {
    let site = ScriptServer::start(mode);
    let message = ask_url(&site.url, limit).expect_err(mode).to_string();
    assert!(message.contains(part), "{mode}: there is no `{part}` in: {message}");
    assert!(!message.contains("secret"), "{mode}: {message}");
}

#[test]
fn a_tool_comes_over_http_as_it_was_sent() {
    for mode in ["json", "events", "old"] {
        let site = ScriptServer::start(mode);
        assert_eq!(text(ask_url(&site.url, SOON)), ODD, "{mode}");
    }
}

/// A connection that is dropped, and not closed, leaves no task behind, such as one that listens.
#[tokio::test]
async fn no_task_is_left() {
    let alive = || tokio::runtime::Handle::current().metrics().num_alive_tasks();
    for mode in ["old", "json"] {
        let site = ScriptServer::start(mode);
        let server = McpServer::url(&site.url).unwrap();
        server.connect().await.unwrap();
        assert!(alive() > 0, "{mode}");
        drop(server);
        let limit = Instant::now() + SOON;
        while alive() > 0 {
            assert!(Instant::now() < limit, "{mode}: {} tasks are left", alive());
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}

#[test]
fn all_pages_come_over_http() {
    let site = ScriptServer::start("pages");
    let list = ask_url(&site.url, SOON).expect("a list");
    let names: Vec<_> =
        list["tools"].as_array().unwrap().iter().map(|tool| &tool["name"]).collect();
    assert_eq!(names, ["tool0", "tool1", "tool2", "tool3"]);
}

#[test]
fn bad_http_servers_are_reported() {
    for (mode, part) in [
        ("locked", "it answered with HTTP status 401 Unauthorized"),
        ("locked-list", "it answered with HTTP status 403 Forbidden"),
        ("broken", "it answered with HTTP status 500 Internal Server Error"),
        ("web-page", "it sends text/html, which is not what an MCP server sends"),
        ("loop", "it answered with HTTP status 307 Temporary Redirect, which leads to http://127"),
        ("elsewhere", "which leads to http://localhost:1/mcp and is not followed"),
        ("error", "it answered `tools/list` with the error -32601: Method not found"),
        ("error-status", "it answered `tools/list` with the error -32602: no such page"),
        ("bad-json", "its response is invalid: expected value"),
        ("bad-event", "its response is invalid: expected value"),
        ("no-tools", "its answer to `tools/list` holds no `tools`"),
        ("huge", "a message of it is longer than 64 megabytes"),
        ("huge-event", "a message of it is longer than 64 megabytes"),
        ("cut", "end of file before message length reached"),
        ("no-event", "it hung up before it answered `tools/list`"),
    ] {
        site_fails(mode, SOON, part);
    }
    site_fails("slow", Duration::from_secs(1), "it did not answer `tools/list` within 1 seconds");
}

#[test]
fn addresses_where_nobody_is_are_reported() {
    let of = |url: &str| text(ask_url(url, SOON));
    for url in ["", "example.com/mcp", "file:///etc/passwd", "http://", "ftp://example.com"] {
        assert!(of(url).contains("must be a whole URL"), "{url}");
    }
    // The system never assigns this port.
    assert_eq!(
        of("http://me:secret@127.0.0.1:1/mcp?key=secret"),
        "cannot get the tools of the MCP server at http://127.0.0.1:1/mcp: Connection refused"
    );
}
