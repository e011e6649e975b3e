//! `gramc mcp`, as clients meet it: over standard input and output, and over HTTP.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::{Folder, binary, command, folder, gramc, root};

const SPEC: &str = r#"
/** Greets somebody */
[greet:Tool | (name::Text {default: "world"})==>(::Any)]
/** Adds two numbers */
[add:Tool | (a::Int)==>(b::Int)==>(::Int)]
/** Groups what is about numbers */
[maths:Container | add]
"#;
const LIBRARY: &str = r#"[echoes:Library | (greet:Builtin {name: "echo"}), (add:Builtin)]"#;
/// A specification with a warning.
const ODD: &str = r#"[greet:Tool {desciption: "x"} | (name::Text {default: "world"})==>(::Any)]"#;
const ALONE: &str = r#"[alone:Library | (greet:Builtin {name: "echo"})]"#;
/// Enough for what ends at once, on a busy machine.
const SOON: Duration = Duration::from_secs(30);

pub(crate) fn files() -> Folder {
    folder(&[
        ("spec.gram", SPEC),
        ("library.gram", LIBRARY),
        ("odd.gram", ODD),
        ("alone.gram", ALONE),
        ("wrong.gram", "[greet:Tool | (name::Txt)==>(::Any)]"),
    ])
}

/// An MCP server over standard input and output, and what is said to it.
pub(crate) struct Speaking {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    asked: u64,
}

impl Speaking {
    /// Starts a server, and says hello.
    pub(crate) fn start(program: &str, words: &[&str], folder: &std::path::Path) -> Self {
        Self::with_capabilities(program, words, folder, &json!({})).0
    }

    /// Starts a server, and says hello as a client with these capabilities.
    pub(crate) fn start_with(
        program: &str,
        words: &[&str],
        folder: &std::path::Path,
        capabilities: &Value,
    ) -> Self {
        Self::with_capabilities(program, words, folder, capabilities).0
    }

    /// Starts a server as a client with capabilities, and gives its answer to `initialize`.
    pub(crate) fn with_capabilities(
        program: &str,
        words: &[&str],
        folder: &std::path::Path,
        capabilities: &Value,
    ) -> (Self, Value) {
        let mut speaking = Self::silent(program, words, folder);
        let mut hello = hello();
        hello["capabilities"] = capabilities.clone();
        let hello = speaking.ask("initialize", &hello);
        assert_eq!(hello["result"]["protocolVersion"], "2025-11-25", "{hello}");
        speaking.say(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        (speaking, hello["result"].clone())
    }

    /// Starts a server, and says nothing.
    pub(crate) fn silent(program: &str, words: &[&str], folder: &std::path::Path) -> Self {
        let mut child = command(program)
            .args(words)
            .current_dir(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .expect("the server starts");
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().expect("it is a pipe"));
        Self { child, input, output, asked: 0 }
    }

    fn gramc(folder: &Folder, words: &[&str]) -> Self {
        Self::start(binary().to_str().expect("a path"), words, folder.path())
    }

    pub(crate) fn say(&mut self, message: &Value) {
        let input = self.input.as_mut().expect("it is open");
        writeln!(input, "{message}").expect("the server reads");
    }

    pub(crate) fn hear(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).expect("the server writes");
        let message: Value =
            serde_json::from_str(&line).unwrap_or_else(|e| panic!("{e}: {line:?}"));
        assert_eq!(message["jsonrpc"], "2.0", "{line}");
        message
    }

    /// Sends a request and gives its answer; notifications before it are passed over.
    pub(crate) fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.asked += 1;
        let id = self.asked;
        self.say(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        loop {
            let message = self.hear();
            if message["id"] == id && message.get("method").is_none() {
                return message;
            }
        }
    }

    pub(crate) fn call(&mut self, name: &str, arguments: &Value) -> Value {
        let answer = self.ask("tools/call", &json!({"name": name, "arguments": arguments}));
        answer["result"].clone()
    }

    /// Hangs up, and gives the exit code.
    pub(crate) fn end(mut self) -> Option<i32> {
        drop(self.input.take());
        let code = code_of(&mut self.child);
        let mut rest = String::new();
        self.output.read_to_string(&mut rest).expect("the rest can be read");
        assert_eq!(rest, "");
        code
    }
}

impl Drop for Speaking {
    fn drop(&mut self) {
        // A server that a failed test left behind; else it has ended.
        let _ = self.child.kill();
    }
}

pub(crate) fn hello() -> Value {
    let who = json!({"name": "test", "version": "1"});
    json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": who})
}

/// Waits for a program to end, which it has to do soon.
fn code_of(child: &mut Child) -> Option<i32> {
    let start = Instant::now();
    loop {
        match child.try_wait().expect("it can be waited for") {
            Some(status) => return status.code(),
            None if start.elapsed() > SOON => panic!("it does not end"),
            None => std::thread::sleep(Duration::from_millis(5)),
        }
    }
}

fn terminate(child: &Child) {
    let status = command("kill").arg("-TERM").arg(child.id().to_string()).status();
    assert!(status.expect("there is a kill").success());
}

fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{result} has no text"))
}

fn names(list: &Value) -> Vec<&str> {
    let tools = list["result"]["tools"].as_array().expect("a list of tools");
    tools.iter().map(|tool| tool["name"].as_str().expect("a name")).collect()
}

#[test]
fn a_client_over_standard_input_lists_calls_and_hangs_up() {
    let folder = files();
    let words = ["mcp", "spec.gram", "--library", "library.gram"];
    let mut client = Speaking::gramc(&folder, &words);
    assert_eq!(names(&client.ask("tools/list", &json!({}))), ["greet", "maths"]);
    let greeted = client.call("greet", &json!({"name": "Ada", "shout": true}));
    assert_eq!(text(&greeted), r#"{"name":"Ada"}"#);
    let removed = "`shout` is not declared and was removed from the arguments";
    assert_eq!(greeted["content"][1]["text"], format!("Note: {removed}."));
    let warning = json!({"code": "stripped-arguments", "message": removed});
    assert_eq!(greeted["_meta"]["gramc/warnings"], json!([warning]));
    let refused = client.call("add", &json!({"a": 1, "b": 2}));
    assert_eq!(refused["isError"], true);
    assert!(text(&refused).contains("Call `maths` without arguments first"), "{refused}");
    client.call("maths", &json!({}));
    assert_eq!(names(&client.ask("tools/list", &json!({}))), ["greet", "maths", "add"]);
    assert_eq!(text(&client.call("add", &json!({"a": "1", "b": 2}))), "3");
    assert_eq!(client.end(), Some(0));
}

#[test]
fn schemas_follow_the_rules_of_a_client() {
    let spec = r#"[find:Tool {description: "Finds"} |
        (`$top`::Int {range: 1...})==>(key?::Text {secret: true})==>(labels::Map<Text>)==>(::Any)]"#;
    let library = r#"[l:Library | (find:Builtin {name: "echo"})]"#;
    let folder = folder(&[("spec.gram", spec), ("library.gram", library)]);
    let words =
        ["mcp", "spec.gram", "--library", "library.gram", "--trace", "trace.jsonl", "--for"];
    for (target, key, labels) in [
        ("anthropic", "_top", json!({"a": "b"})),
        ("openai-strict", "$top", json!("{\"a\": \"b\"}")),
        ("gemini", "_top", json!("{\"a\": \"b\"}")),
    ] {
        let mut client = Speaking::gramc(&folder, &[&words[..], &[target]].concat());
        let list = client.ask("tools/list", &json!({}));
        let tool = &list["result"]["tools"][0];
        let properties = &tool["inputSchema"]["properties"];
        let kind = if labels.is_string() { "string" } else { "object" };
        assert_eq!(properties["labels"]["type"], kind, "{target}: {tool}");
        let mut arguments = json!({"labels": labels, "key": "hunter2"});
        arguments[key] = 3.into();
        assert!(properties.get(key).is_some(), "{target}: {tool}");
        let result = client.call("find", &arguments);
        let expected = json!({"$top": 3, "key": "***", "labels": {"a": "b"}});
        let received: Value = serde_json::from_str(text(&result)).expect("it is JSON");
        assert_eq!(received, expected, "{target}: {result}");
        assert_eq!(client.end(), Some(0));
        assert!(!folder.read("trace.jsonl").contains("hunter2"), "{target}");
    }
}

#[test]
fn a_change_of_the_list_is_told_over_the_same_line() {
    let folder = files();
    let words = ["mcp", "spec.gram", "--library", "library.gram"];
    let mut client = Speaking::gramc(&folder, &words);
    let params = json!({"name": "maths"});
    client.say(&json!({"jsonrpc": "2.0", "id": "x", "method": "tools/call", "params": params}));
    let told = [client.hear(), client.hear()];
    assert!(told.iter().any(|it| it["method"] == "notifications/tools/list_changed"), "{told:?}");
    assert!(told.iter().any(|it| it["id"] == "x"), "{told:?}");
}

/// Servers may say something before their client is ready to hear it.
#[test]
fn early_messages_of_a_server_follow_the_introduction() {
    let folder = files();
    let server = root().join("tests/real/hostile.py");
    let command = format!("python3 {} chatty", server.display());
    let words = ["mcp", "--command", &command];
    let mut client = Speaking::silent(binary().to_str().expect("a path"), &words, folder.path());
    client.say(&json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello()}));
    let answer = client.hear();
    assert_eq!(answer["result"]["serverInfo"]["name"], "hostile", "{answer}");
    client.say(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    let told = [client.hear(), client.hear()];
    let methods = ["notifications/message", "notifications/own"];
    assert!(told.iter().map(|it| &it["method"]).eq(&methods), "{told:?}");
    assert_eq!(names(&client.ask("tools/list", &json!({}))), ["quiet"]);
    assert_eq!(client.end(), Some(0));
}

#[test]
fn standard_output_carries_nothing_but_the_protocol() {
    let folder = files();
    for format in ["human", "concise", "json", "sarif", "github"] {
        let words = ["mcp", "odd.gram", "--library", "alone.gram", "--format", format];
        let mut client = Speaking::gramc(&folder, &words);
        assert_eq!(names(&client.ask("tools/list", &json!({}))), ["greet"]);
        assert_eq!(client.end(), Some(0));
    }
}

#[test]
fn what_is_piped_in_is_answered_before_the_end() {
    let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello()});
    let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let call = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call",
        "params": {"name": "sayHello", "arguments": {"personName": "Ada"}}});
    let line = "mcp examples/hello-world.gram --library examples/friendly.gram";
    let run = gramc(line).input(format!("{hello}\n{initialized}\n{call}\n")).run().clean();
    assert!(run.stdout.lines().count() == 2 && run.stdout.contains("Hello, Ada!"), "{run:?}");
    // Who hangs up at once was no client, and nothing went wrong.
    gramc(line).run().clean();
}

#[test]
fn exit_codes_tell_what_keeps_it_from_serving() {
    let folder = files();
    let run = |line: &str| gramc(line).within(folder.path()).env("EMPTY", "").run();
    run("mcp wrong.gram --library library.gram").exits(1).says(&["`Txt`"]);
    run("mcp spec.gram --library alone.gram")
        .exits(1)
        .says(&["error: `add` has no implementation"]);
    run("mcp missing.gram --library library.gram").fails_with(&["missing.gram"]);
    run("mcp - --library library.gram").fails_with(&["standard input is used by the client"]);
    run("mcp spec.gram --library library.gram --token-env TOKEN").fails_with(&["--http"]);
    let http = |rest: &str| run(&format!("mcp spec.gram --library library.gram --http {rest}"));
    http("0.0.0.0:0").fails_with(&["is not a loopback address", "--token-env"]);
    http("0 --token-env NO_SUCH_TOKEN").fails_with(&["`NO_SUCH_TOKEN`", "is not set"]);
    http("0 --token-env EMPTY").fails_with(&["the token is empty"]);
    http("70000").fails_with(&["cannot listen at `70000`"]);
    http("nowhere").fails_with(&["expected a port or HOST:PORT"]);
    let other = std::net::TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let port = other.local_addr().expect("it has one").port();
    let in_use = http(&port.to_string()).fails_with(&["address already in use\n"]);
    assert!(!in_use.stderr.contains("os error"), "{}", in_use.stderr);
}

/// A server over HTTP.
pub(crate) struct Serving {
    child: Child,
    pub(crate) url: String,
}

impl Serving {
    /// Starts `gramc mcp` with the words, and waits until it listens.
    pub(crate) fn start(words: &[&str], folder: &std::path::Path, token: Option<&str>) -> Self {
        let token: Vec<_> = token.map(|token| ("MCP_TOKEN", token)).into_iter().collect();
        Self::with_env(words, folder, &token)
    }

    /// Starts `gramc mcp` with variables.
    pub(crate) fn with_env(
        words: &[&str],
        folder: &std::path::Path,
        variables: &[(&str, &str)],
    ) -> Self {
        let mut child = command(binary())
            .arg("mcp")
            .args(words)
            .current_dir(folder)
            .envs(variables.iter().copied())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary starts");
        let mut said = String::new();
        let mut errors = BufReader::new(child.stderr.take().expect("it is a pipe"));
        errors.read_line(&mut said).expect("it can be read");
        let url = said.trim().strip_prefix("serving MCP at ").unwrap_or_else(|| panic!("{said}"));
        let url = url.to_owned();
        // Later output does not matter, but has to be read.
        std::thread::spawn(move || errors.lines().for_each(drop));
        Self { child, url }
    }

    /// Posts a message, and gives the whole answer, headers and all.
    pub(crate) fn post(&self, message: &Value, headers: &[&str]) -> String {
        let place = self.url.trim_start_matches("http://").trim_end_matches("/mcp");
        let mut stream = TcpStream::connect(place).expect("it listens");
        let body = message.to_string();
        let headers: String = headers.iter().flat_map(|header| [header, "\r\n"]).collect();
        let request = format!(
            "POST /mcp HTTP/1.1\r\nHost: {place}\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nConnection: close\r\n\
             Content-Length: {}\r\n{headers}\r\n{body}",
            body.len()
        );
        stream.write_all(request.as_bytes()).expect("it reads");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("it answers");
        answer
    }

    /// Ends the session that a header names.
    pub(crate) fn delete(&self, session: &str) {
        self.ask_for("DELETE /mcp", &[session]);
    }

    /// Gets a page, and gives the whole answer, headers and all.
    pub(crate) fn get(&self, path: &str, headers: &[&str]) -> String {
        self.ask_for(&format!("GET {path}"), headers)
    }

    fn ask_for(&self, what: &str, headers: &[&str]) -> String {
        let place = self.url.trim_start_matches("http://").trim_end_matches("/mcp");
        let mut stream = TcpStream::connect(place).expect("it listens");
        let headers: String = headers.iter().flat_map(|header| [header, "\r\n"]).collect();
        let request =
            format!("{what} HTTP/1.1\r\nHost: {place}\r\nConnection: close\r\n{headers}\r\n");
        stream.write_all(request.as_bytes()).expect("it reads");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("it answers");
        answer
    }

    /// Tells it to end, and gives the exit code and what stood on standard output.
    pub(crate) fn end(mut self) -> (Option<i32>, String) {
        terminate(&self.child);
        let code = code_of(&mut self.child);
        let mut output = String::new();
        let stdout = self.child.stdout.as_mut().expect("it is a pipe");
        stdout.read_to_string(&mut output).expect("it can be read");
        (code, output)
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
    }
}

#[test]
fn a_client_over_http_has_a_session_until_the_server_is_told_to_end() {
    let folder = files();
    let words = ["spec.gram", "--library", "library.gram", "--http", "0"];
    let server = Serving::start(&words, folder.path(), None);
    assert!(server.url.starts_with("http://127.0.0.1:"), "{}", server.url);
    let ask = |id: u64, method: &str, params: Value, headers: &[&str]| {
        let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        server.post(&message, headers)
    };
    let greeted = ask(1, "initialize", hello(), &[]);
    let session = greeted
        .lines()
        .find(|line| line.to_ascii_lowercase().starts_with("mcp-session-id:"))
        .unwrap_or_else(|| panic!("no session in {greeted}"));
    let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    assert!(server.post(&initialized, &[session]).contains("202"));
    let params = json!({"name": "greet", "arguments": {"name": "Ada"}});
    let called = ask(2, "tools/call", params, &[session]);
    assert!(called.contains(r#"{\"name\":\"Ada\"}"#), "{called}");
    // Who comes from another site is not let in.
    let stranger = ask(3, "initialize", hello(), &["Origin: http://evil.example"]);
    assert!(stranger.starts_with("HTTP/1.1 403"), "{stranger}");
    assert_eq!(server.end(), (Some(0), String::new()));
}

#[test]
fn a_token_of_the_environment_is_asked_for() {
    let folder = files();
    let words = [
        "spec.gram",
        "--library",
        "library.gram",
        "--http",
        "0.0.0.0:0",
        "--token-env",
        "MCP_TOKEN",
    ];
    let mut server = Serving::start(&words, folder.path(), Some("s3cret-token"));
    server.url = server.url.replace("0.0.0.0", "127.0.0.1");
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello()});
    assert!(server.post(&message, &[]).starts_with("HTTP/1.1 401"));
    let wrong = server.post(&message, &["Authorization: Bearer other"]);
    assert!(wrong.starts_with("HTTP/1.1 401") && !wrong.contains("s3cret"), "{wrong}");
    let right = server.post(&message, &["Authorization: Bearer s3cret-token"]);
    assert!(right.starts_with("HTTP/1.1 200"), "{right}");
    assert_eq!(server.end(), (Some(0), String::new()));
}

#[cfg(unix)]
#[test]
fn a_server_that_is_told_to_end_ends_what_it_started() {
    let hostile = root().join("tests/real/hostile.py");
    let command = json!(["python3", hostile, "acts", "pids"]);
    let folder = files();
    folder.write("acts.gram", "[act:Tool | (do::Text)==>(::Any)]");
    folder.write("behind.gram", format!("[behind:Library | (act:Mcp {{command: {command}}})]"));
    let mut client = Speaking::gramc(&folder, &["mcp", "acts.gram", "--library", "behind.gram"]);
    let params = json!({"name": "act", "arguments": {"do": "never-answers"}});
    client.say(&json!({"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": params}));
    let start = Instant::now();
    let pids = loop {
        let pids = std::fs::read_to_string(folder.file("pids")).unwrap_or_default();
        if pids.ends_with('\n') {
            break pids;
        }
        assert!(start.elapsed() < SOON, "the server behind it does not start");
        std::thread::sleep(Duration::from_millis(5));
    };
    terminate(&client.child);
    assert_eq!(code_of(&mut client.child), Some(0));
    for pid in pids.lines() {
        let alive = || std::path::Path::new(&format!("/proc/{pid}")).exists();
        let start = Instant::now();
        while alive() {
            assert!(start.elapsed() < SOON, "{pid} still runs");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}
