//! `gramc mcp --config`: several servers, `tests/real/upstream.py`, as one.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::mcp::{Serving, Speaking, hello};
use crate::support::{Folder, Run, binary, folder, gramc, root};

const WORDS: [&str; 3] = ["mcp", "--config", "servers.json"];
/// A tool that takes some steps of a quarter of a second, and reports progress if it is told to.
const STEPS: &str = r#"[{"name": "steps", "inputSchema": {"type": "object", "properties": {
    "count": {"type": "integer"}, "progress": {"type": "boolean"}}, "required": ["count"]}}]"#;

/// A server whose resource and prompt have its name. It lists the tools of the file `NAME.json`, if
/// that exists, and writes its process ids to `NAME.pids`.
fn server(name: &str) -> Value {
    let (tools, pids) = (format!("{name}.json"), format!("{name}.pids"));
    json!({"command": "python3", "args": ["upstream.py", tools, pids, name]})
}

fn write(folder: &Folder, servers: &Value) {
    folder.write("servers.json", json!({ "mcpServers": servers }).to_string());
}

fn files(servers: &Value) -> Folder {
    let upstream = std::fs::read_to_string(root().join("tests/real/upstream.py")).expect("text");
    let folder = folder(&[("upstream.py", &upstream)]);
    write(&folder, servers);
    folder
}

fn client(folder: &Folder, more: &[&str]) -> (Speaking, Value) {
    let gramc = binary().to_str().expect("a path");
    let words = [&WORDS[..], more].concat();
    Speaking::with_capabilities(gramc, &words, folder.path(), &json!({}))
}

/// Runs the gateway for a client that says hello and hangs up.
fn run(folder: &Folder) -> Run {
    let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello()});
    gramc(&WORDS.join(" ")).input(format!("{hello}\n")).within(folder.path()).run()
}

fn tools(client: &mut Speaking) -> Vec<String> {
    let list = client.ask("tools/list", &json!({}))["result"]["tools"].clone();
    let tools = list.as_array().expect("a list").iter();
    tools.map(|tool| tool["name"].as_str().expect("a name").to_owned()).collect()
}

fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{result} has no text"))
}

/// Waits until the gateway says that its tools have changed.
fn wait_for_change(client: &mut Speaking) {
    while client.hear()["method"] != "notifications/tools/list_changed" {}
}

fn pids(folder: &Folder, server: &str) -> Vec<String> {
    let pids = std::fs::read_to_string(folder.file(&format!("{server}.pids"))).unwrap_or_default();
    pids.lines().map(str::to_owned).collect()
}

fn is_running(pid: &str) -> bool {
    std::path::Path::new(&format!("/proc/{pid}")).exists()
}

#[test]
fn several_servers_are_one() {
    let folder = files(&json!({"one": server("one"), "number two": server("two")}));
    let (mut client, hello) = client(&folder, &[]);
    let instructions = hello["instructions"].as_str().expect("a text");
    assert_eq!(
        instructions,
        "Instructions of the MCP server `one` (tools `one__*`):\nAsk before you act.\n\n\
         Instructions of the MCP server `number two` (tools `number_two__*`):\nAsk before you act."
    );
    let tools = tools(&mut client);
    assert_eq!(tools.len(), 16);
    assert!(
        tools.contains(&"one__say".to_owned()) && tools.contains(&"number_two__say".to_owned())
    );
    for (prefix, count) in [("one", "1"), ("one", "2"), ("number_two", "1")] {
        assert_eq!(text(&client.call(&format!("{prefix}__count"), &json!({}))), count);
    }
    let prompts = client.ask("prompts/list", &json!({}))["result"].clone();
    let names: Vec<_> = prompts["prompts"].as_array().expect("a list").iter().collect();
    let names: Vec<_> = names.iter().filter_map(|prompt| prompt["name"].as_str()).collect();
    assert_eq!(names, ["one__greet", "one__one", "number_two__greet", "number_two__two"]);
    assert_eq!(prompts.get("nextCursor"), None);
    for name in ["one__greet", "number_two__greet", "number_two__two"] {
        let prompt = client.ask("prompts/get", &json!({ "name": name }))["result"].clone();
        let said = prompt["messages"][0]["content"]["text"].as_str().expect("a text");
        assert_eq!(said, format!("{} nobody", name.split("__").nth(1).expect("two parts")));
    }
    let reference = json!({"type": "ref/prompt", "name": "number_two__two"});
    let params = json!({"ref": reference, "argument": {"name": "who", "value": "A"}});
    let completed = client.ask("completion/complete", &params);
    assert_eq!(completed["result"]["completion"]["values"][0], "Ada", "{completed}");
    let read = client.ask("resources/read", &json!({"uri": "test://two"}));
    assert_eq!(read["result"]["contents"][0]["uri"], "test://two");
    assert_eq!(client.end(), Some(0));
    assert_eq!([pids(&folder, "one").len(), pids(&folder, "two").len()], [1, 1]);
}

#[test]
fn the_only_server_has_no_prefix() {
    let off = json!({"command": "no-such-program", "disabled": true});
    let folder = files(&json!({"one": server("one"), "off": off}));
    let (mut client, hello) = client(&folder, &[]);
    assert_eq!(hello["serverInfo"]["name"], "upstream");
    assert_eq!(hello["instructions"], "Ask before you act.");
    assert_eq!(text(&client.call("say", &json!({"text": "hi"}))), "hi");
    assert_eq!(client.end(), Some(0));
}

#[test]
fn long_and_equal_names_get_a_hash() {
    let long = "x".repeat(62);
    let folder = files(&json!({"a": server("a"), "a__b": server("b")}));
    let tools_of = |names: &[&str]| {
        let tool = |name: &&str| json!({"name": name, "inputSchema": {"type": "object"}});
        Value::from(names.iter().map(tool).collect::<Vec<_>>()).to_string()
    };
    folder.write("a.json", tools_of(&["b__count", &long]));
    folder.write("b.json", tools_of(&["count"]));
    let (mut client, _) = client(&folder, &[]);
    let names = tools(&mut client);
    assert_eq!(names.iter().collect::<HashSet<_>>().len(), 3, "{names:?}");
    assert_eq!(names[0], "a__b__count");
    assert!(names[1].starts_with("a__xxx") && names[1].len() == 64, "{names:?}");
    assert!(names[2].starts_with("a__b__count_"), "{names:?}");
    assert_eq!(text(&client.call(&names[2], &json!({}))), "1");
    assert_eq!(text(&client.call(&names[1], &json!({}))), "unknown tool");
    let note = format!("note: the tool `{long}` of `a` is served as `{}`", names[1]);
    run(&folder).exits(0).says(&[&note, "note: the tool `count` of `a__b` is served as"]);
}

#[test]
fn one_odd_tool_stops_no_other() {
    let folder = files(&json!({"one": server("one"), "two": server("two")}));
    let odd = json!([
        {"name": "reference", "inputSchema": {"$ref": "#/$defs/nowhere"}},
        {"name": "text", "inputSchema": "object"},
        {"name": "null", "inputSchema": null},
        {"name": "", "inputSchema": {"type": "object"}},
        {"name": "say", "inputSchema": {"type": "object"}},
        {"name": "out", "inputSchema": {"type": "object"}, "outputSchema": null},
    ]);
    folder.write("one.json", odd.to_string());
    let (mut client, _) = client(&folder, &[]);
    let names = tools(&mut client);
    assert!(
        ["one__say", "one__out"].iter().all(|it| names.iter().any(|name| name == it)),
        "{names:?}"
    );
    assert_eq!(text(&client.call("two__say", &json!({"text": "hi"}))), "hi");
    assert_eq!(client.end(), Some(0));
    run(&folder).exits(0).says(&[
        "`one__reference` is left out",
        "leads nowhere",
        "`one__text` is left out",
    ]);
}

#[test]
fn a_dead_server_is_reported_and_tried_again_alone() {
    let late = json!({"command": "./late.sh"});
    let folder = files(&json!({"one": server("one"), "late": late}));
    run(&folder).exits(0).says(&[
        "warning: the MCP server `late` cannot be started: there is no such program",
        "; retrying",
    ]);
    let (mut client, hello) = client(&folder, &[]);
    assert!(hello["capabilities"]["prompts"].is_object(), "{hello}");
    assert_eq!(tools(&mut client).len(), 8);
    assert_eq!(client.ask("prompts/list", &json!({}))["result"]["prompts"][1]["name"], "one__one");
    let script = "#!/bin/sh\nexec python3 upstream.py none late.pids late\n";
    folder.write("late.new", script);
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(folder.file("late.new"), executable).expect("it is ours");
    std::fs::rename(folder.file("late.new"), folder.file("late.sh")).expect("it is ours");
    wait_for_change(&mut client);
    assert_eq!(tools(&mut client).len(), 16);
    assert_eq!(text(&client.call("late__say", &json!({"text": "hi"}))), "hi");
    // It ends, and cannot be started again: its tools stay, and calls fail at once.
    std::fs::remove_file(folder.file("late.sh")).expect("it is there");
    let kill = |server: &str| {
        let pid = pids(&folder, server).pop().expect("it was started");
        let killed = std::process::Command::new("kill").args(["-9", &pid]).status();
        assert!(killed.expect("kill runs").success());
    };
    kill("late");
    while is_running(&pids(&folder, "late")[0]) {
        std::thread::sleep(Duration::from_millis(10));
    }
    for _ in 0..2 {
        let start = Instant::now();
        let result = client.call("late__count", &json!({}));
        assert!(result["isError"] == true && text(&result).contains("`late`"), "{result}");
        assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
    }
    assert_eq!(text(&client.call("one__count", &json!({}))), "1");
    // One that can be started again is.
    kill("one");
    wait_for_change(&mut client);
    assert_eq!(text(&client.call("one__count", &json!({}))), "1");
    assert_eq!(pids(&folder, "one").len(), 3, "one for the first run, two for this client");
    assert_eq!(client.end(), Some(0));
}

#[test]
fn a_silent_server_delays_the_others_for_ten_seconds_at_most() {
    let silent = json!({"command": "sleep", "args": ["1000"]});
    let folder = files(&json!({"one": server("one"), "silent": silent}));
    let start = Instant::now();
    let (mut client, _) = client(&folder, &[]);
    assert_eq!(tools(&mut client).len(), 8);
    assert!(start.elapsed() < Duration::from_secs(18), "{:?}", start.elapsed());
    let start = Instant::now();
    assert_eq!(client.ask("prompts/list", &json!({}))["result"]["prompts"][1]["name"], "one__one");
    assert_eq!(text(&client.call("one__count", &json!({}))), "1");
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
    assert_eq!(client.end(), Some(0));
}

#[test]
fn a_changed_file_changes_only_its_servers() {
    let folder = files(&json!({"one": server("one"), "two": server("two")}));
    let (mut client, _) = client(&folder, &[]);
    assert_eq!(text(&client.call("one__count", &json!({}))), "1");
    write(&folder, &json!({"one": server("one"), "three": server("three")}));
    wait_for_change(&mut client);
    let start = Instant::now();
    let has = |tools: &[String], name: &str| tools.iter().any(|tool| tool == name);
    loop {
        let tools = tools(&mut client);
        if has(&tools, "three__say") && !has(&tools, "two__say") {
            break;
        }
        assert!(start.elapsed() < Duration::from_secs(30), "{tools:?}");
    }
    let two = pids(&folder, "two").pop().expect("it was started");
    while is_running(&two) {
        assert!(start.elapsed() < Duration::from_secs(30), "two is still running");
        std::thread::sleep(Duration::from_millis(10));
    }
    // An invalid file, and an invalid entry, change nothing.
    folder.write("servers.json", "{");
    std::thread::sleep(Duration::from_millis(400));
    write(&folder, &json!({"one": {"command": "${NOT_SET_ANYWHERE}"}, "three": server("three")}));
    std::thread::sleep(Duration::from_millis(400));
    assert_eq!(text(&client.call("one__count", &json!({}))), "2");
    assert_eq!(text(&client.call("three__count", &json!({}))), "1");
    assert_eq!(client.end(), Some(0));
    for server in ["one", "two", "three"] {
        assert_eq!(pids(&folder, server).len(), 1, "{server}");
    }
}

#[test]
fn entries_that_cannot_be_used_are_reported() {
    let folder = files(&json!({
        "typo": {"command": "true", "tiemout": 5, "autoApprove": []},
        "short": {"command": "true", "timeout": 60},
        "variable": {"command": "true", "env": {"TOKEN": "${NOT_SET_ANYWHERE}"}},
        "input": {"url": "http://127.0.0.1:9/mcp", "headers": {"Authorization": "${input:key}"}},
        "types": {"command": "true", "env": "TOKEN=s3cret-value"},
        "both": {"command": "true", "url": "http://127.0.0.1:9/mcp"},
        "none": {"args": ["s3cret-value"]},
        "url": {"url": "s3cret-value"},
    }));
    let out = gramc(&WORDS.join(" ")).within(folder.path()).run().exits(0).says(&[
        "warning: `typo`: the key `tiemout` is ignored; did you mean `timeout`?",
        "warning: `short`: `timeout` is 60 milliseconds",
        "error: the MCP server `variable`: the environment variable `NOT_SET_ANYWHERE` is not set",
        "error: the MCP server `input`: the input `key` cannot be prompted for: use `${env:VARIABLE}`",
        "error: the MCP server `types`: `env` must be an object of strings",
        "error: the MCP server `both`: expected `command` or `url`",
        "error: the MCP server `none`: expected `command` or `url`",
        "error: the MCP server `url`: cannot reach the MCP server: its address must be a whole URL",
    ]);
    assert!(
        !out.stderr.contains("s3cret") && !out.stderr.contains("autoApprove"),
        "{}",
        out.stderr
    );
    for (text, said) in [
        ("{\"mcpServers\": ", "servers.json: invalid JSON: EOF while parsing"),
        ("{\"server\": {}}", "servers.json: expected an object with `mcpServers` or `servers`"),
        ("{\"servers\": {}}", "servers.json: no MCP server can be used"),
    ] {
        folder.write("servers.json", text);
        gramc(&WORDS.join(" ")).within(folder.path()).run().fails_with(&[said]);
    }
    gramc("mcp --config servers.json --command true").run().exits(2).says(&["--command"]);
    gramc("mcp --timeout 5 spec.gram").run().exits(2).says(&["--timeout"]);
    gramc("mcp").run().exits(2).says(&["<SPEC>"]);
}

#[test]
fn variables_and_folders_are_those_of_clients() {
    let folder = files(&json!({}));
    std::fs::create_dir_all(folder.file(".vscode")).expect("it can be made");
    let pids = "${UNSET_OR_NOT:-inside}.pids";
    let args = json!(["${workspaceFolder}/upstream.py", "none", pids]);
    let servers = json!({"one": {"type": "stdio", "command": "${env:PYTHON}", "args": args}});
    folder.write(".vscode/mcp.json", format!("\u{feff}{}", json!({ "servers": servers })));
    let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello()});
    let gramc = gramc("mcp --config .vscode/mcp.json").within(folder.path());
    let run = gramc.env("PYTHON", "python3").input(format!("{hello}\n")).run().clean();
    assert!(run.stdout.contains("\"name\":\"upstream\""), "{}", run.stdout);
    assert!(folder.file("inside.pids").exists());
}

#[test]
fn progress_begins_the_time_limit_again() {
    let mut slow = server("two");
    slow["timeout"] = 3000.into();
    let folder = files(&json!({"one": server("one"), "two": slow}));
    folder.write("one.json", STEPS);
    folder.write("two.json", STEPS);
    let (mut client, _) = client(&folder, &["--timeout", "1"]);
    let mut call =
        |tool: &str, progress: bool| client.call(tool, &json!({"count": 6, "progress": progress}));
    assert_eq!(text(&call("one__steps", true)), "6 steps");
    let late = call("one__steps", false);
    assert!(late["isError"] == true && text(&late).contains("1 s"), "{late}");
    assert_eq!(text(&call("two__steps", false)), "6 steps");
    assert_eq!(client.end(), Some(0));
}

#[test]
fn a_search_finds_the_tools_of_all_servers() {
    let folder = files(&json!({"one": server("one"), "two": server("two")}));
    let (mut client, _) = client(&folder, &["--search", "--trace", "trace.jsonl"]);
    assert_eq!(tools(&mut client), ["find_tools", "call_tool"]);
    let found = client.call("find_tools", &json!({"query": "count"}));
    assert!(text(&found).contains("one__count") && text(&found).contains("two__count"), "{found}");
    let call = json!({"name": "two__say", "arguments": {"text": "hi"}});
    assert_eq!(text(&client.call("call_tool", &call)), "hi");
    assert_eq!(client.end(), Some(0));
    assert!(folder.read("trace.jsonl").contains("\"two__say\""));
}

#[test]
fn each_session_over_http_has_its_own_servers() {
    let folder = files(&json!({"one": server("one"), "two": server("two")}));
    let words = [&WORDS[1..], &["--http", "0"]].concat();
    let serving = Serving::start(&words, folder.path(), None);
    let session = || {
        let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello()});
        let answer = serving.post(&hello, &[]);
        let header = answer.lines().find(|it| it.to_lowercase().starts_with("mcp-session-id"));
        header.expect("a session").to_owned()
    };
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": "two__count", "arguments": {}}});
    for _ in 0..2 {
        let session = session();
        let answer = serving.post(&call, &[&session]);
        assert!(answer.contains(r#""text":"1""#), "{answer}");
        serving.delete(&session);
    }
    assert_eq!(pids(&folder, "two").len(), 2);
    drop(serving);
    let start = Instant::now();
    while pids(&folder, "one").iter().any(|pid| is_running(pid)) {
        assert!(start.elapsed() < Duration::from_secs(30), "a server is left behind");
        std::thread::sleep(Duration::from_millis(10));
    }
}
