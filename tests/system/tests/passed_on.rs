//! What `gramc mcp` passes on between a client and the server behind it, besides calls of tools.
//! The server is `tests/real/upstream.py`.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::mcp::Speaking;
use crate::support::{Folder, binary, folder, root};

const SPEC: &str = "[say:Tool | (text::Text)==>(::Any)] [work:Tool | ()==>(::Any)]
[wait:Tool | ()==>(::Any)] [ask:Tool | (text::Text)==>(::Any)] [change:Tool | ()==>(::Any)]";
const WORDS: [&str; 4] = ["mcp", "guard.gram", "--library", "upstream.gram"];

/// An implementation of all tools of the server, which has a resource and a prompt of a name.
fn server(name: &str, more: &str) -> String {
    let mut command = vec!["python3", "upstream.py", "none", "pids"];
    command.extend(Some(name).filter(|name| !name.is_empty()));
    format!("(`*`:Mcp {{command: {}{more}}})", json!(command))
}

fn files(implementations: &str) -> Folder {
    let upstream = std::fs::read_to_string(root().join("tests/real/upstream.py")).expect("text");
    let library = format!("[upstream:Library | {implementations}]");
    folder(&[("guard.gram", SPEC), ("upstream.gram", &library), ("upstream.py", &upstream)])
}

/// A client with capabilities, and the guard's answer to `initialize`.
fn client(folder: &Folder, capabilities: &Value) -> (Speaking, Value) {
    let gramc = binary().to_str().expect("a path");
    Speaking::with_capabilities(gramc, &WORDS, folder.path(), capabilities)
}

/// Sends a request, and gives all messages up to its answer.
fn told(client: &mut Speaking, id: &str, method: &str, params: &Value) -> (Vec<Value>, Value) {
    client.say(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
    let mut before = Vec::new();
    loop {
        let message = client.hear();
        if message["id"] == id {
            return (before, message);
        }
        before.push(message);
    }
}

fn called(client: &mut Speaking, name: &str, arguments: &Value) -> (Vec<Value>, Value) {
    let meta = json!({"progressToken": "mine"});
    let params = json!({"name": name, "arguments": arguments, "_meta": meta});
    told(client, "call", "tools/call", &params)
}

fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{result} has no text"))
}

#[test]
fn resources_and_prompts_pass_with_all_keys() {
    let folder = files(&server("", ""));
    let (mut client, hello) = client(&folder, &json!({}));
    let all = json!({
        "tools": {"listChanged": true},
        "resources": {"subscribe": true, "listChanged": true},
        "prompts": {"listChanged": true},
        "logging": {},
        "completions": {},
    });
    assert_eq!(hello["capabilities"], all);
    let first = client.ask("resources/list", &json!({}))["result"].clone();
    assert_eq!(
        first["resources"].to_string(),
        r#"[{"uri":"test://text","name":"text","mimeType":"text/plain","_meta":{"own/key":1.5}}]"#
    );
    let second = client.ask("resources/list", &json!({"cursor": first["nextCursor"]}));
    assert_eq!(second["result"], json!({"resources": [{"uri": "test://blob", "name": "blob"}]}));
    let wrong = client.ask("resources/list", &json!({"cursor": "what?"}));
    assert_eq!(wrong["error"]["code"], -32602);
    let templates = client.ask("resources/templates/list", &json!({}));
    let item = json!({"uriTemplate": "test://item/{id}", "name": "item"});
    assert_eq!(templates["result"], json!({"resourceTemplates": [item]}));
    let read = client.ask("resources/read", &json!({"uri": "test://item/5"}));
    let item = json!({"uri": "test://item/5", "text": "the text of test://item/5", "_meta": {"own/key": 2}});
    assert_eq!(read["result"], json!({"contents": [item]}));
    // An error of the server stays what it is.
    let wrong = client.ask("resources/read", &json!({"uri": "other://x"}));
    let error =
        json!({"code": -32002, "message": "no such resource", "data": {"uri": "other://x"}});
    assert_eq!(wrong["error"], error);
    for method in ["resources/subscribe", "resources/unsubscribe"] {
        assert_eq!(client.ask(method, &json!({"uri": "test://text"}))["result"], json!({}));
    }
    let prompts = client.ask("prompts/list", &json!({}))["result"].clone();
    let who = json!([{"name": "who", "required": true}]);
    assert_eq!(
        prompts,
        json!({"prompts": [{"name": "greet", "arguments": who, "_meta": {"a": 1}}]})
    );
    let params = json!({"name": "greet", "arguments": {"who": "Ada"}});
    let prompt = client.ask("prompts/get", &params)["result"].clone();
    assert_eq!(prompt["messages"][0]["content"]["text"], "greet Ada");
    let reference = json!({"type": "ref/prompt", "name": "greet"});
    let params = json!({"ref": reference, "argument": {"name": "who", "value": "A"}});
    let completed = client.ask("completion/complete", &params)["result"].clone();
    assert_eq!(completed, json!({"completion": {"values": ["Ada", "Alan"], "hasMore": false}}));
    assert_eq!(client.end(), Some(0));
}

#[test]
fn a_library_that_names_single_tools_passes_no_resources_on() {
    let one = server("", "").replace("`*`", "say");
    let folder = files(&one);
    folder.write("guard.gram", "[say:Tool | (text::Text)==>(::Any)]");
    let (mut client, hello) = client(&folder, &json!({}));
    assert_eq!(hello["capabilities"], json!({"tools": {"listChanged": true}, "logging": {}}));
    for method in ["resources/list", "resources/templates/list", "prompts/list"] {
        assert_eq!(client.ask(method, &json!({}))["error"]["code"], -32601, "{method}");
    }
    let read = client.ask("resources/read", &json!({"uri": "test://text"}));
    assert_eq!(read["error"]["code"], -32601);
}

#[test]
fn lists_of_several_servers_are_joined() {
    let folder = files(&format!("{}, {}", server("one", ""), server("two", ", only: []")));
    let (mut client, _) = client(&folder, &json!({}));
    let mut list = |method: &str, entries: &str, name: &str| {
        let (mut all, mut params) = (Vec::new(), json!({}));
        loop {
            let page = client.ask(method, &params)["result"].clone();
            let found = page[entries].as_array().expect("a list").clone();
            all.extend(found.iter().map(|it| it[name].as_str().expect("a name").to_owned()));
            match page.get("nextCursor") {
                Some(cursor) => params = json!({ "cursor": cursor }),
                None => return all,
            }
        }
    };
    let resources = list("resources/list", "resources", "uri");
    assert_eq!(resources, ["test://text", "test://blob", "test://one", "test://two"]);
    assert_eq!(list("prompts/list", "prompts", "name"), ["greet", "one", "two"]);
    let templates = list("resources/templates/list", "resourceTemplates", "uriTemplate");
    assert_eq!(templates, ["test://item/{id}"]);
    for name in ["one", "two", "greet"] {
        let prompt = client.ask("prompts/get", &json!({ "name": name }))["result"].clone();
        let said = prompt["messages"][0]["content"]["text"].as_str().expect("a text");
        assert!(said.starts_with(name), "{said}");
        let read = client.ask("resources/read", &json!({"uri": format!("test://{name}")}));
        assert_eq!(read["result"]["contents"][0]["uri"], format!("test://{name}"));
    }
    let run = crate::support::gramc(&WORDS.join(" ")).within(folder.path()).run().exits(0);
    for said in ["resource `test://text`", "resource template `test://item/{id}`", "prompt `greet`"]
    {
        let said =
            format!("warning: the {said} of the MCP server `python3` is shadowed by that of");
        assert!(run.stderr.contains(&said), "{said}: {}", run.stderr);
    }
    assert!(!run.stderr.contains("`one`"), "{}", run.stderr);
}

#[test]
fn progress_and_log_messages_come_before_the_result() {
    let folder = files(&server("", ""));
    let (mut client, _) = client(&folder, &json!({}));
    assert_eq!(client.ask("logging/setLevel", &json!({"level": "debug"}))["result"], json!({}));
    let (told, answer) = called(&mut client, "work", &json!({}));
    assert_eq!(text(&answer["result"]), "worked at the level debug");
    let of = |method: &str| -> Vec<Value> {
        let of = told.iter().filter(|message| message["method"] == method);
        of.map(|message| message["params"].clone()).collect()
    };
    let progress = |step: u32| json!({"progressToken": "mine", "progress": step, "total": 3, "message": format!("step {step}")});
    assert_eq!(json!(of("notifications/progress")), json!([progress(1), progress(2), progress(3)]));
    let log = |step: u32| json!({"level": "info", "logger": "work", "data": {"step": step}});
    assert_eq!(of("notifications/message"), [log(1), log(2), log(3)]);
    assert_eq!(told.len(), 6, "{told:?}");
}

#[test]
fn changes_of_the_server_are_told() {
    let folder = files(&server("", ""));
    let (mut client, _) = client(&folder, &json!({}));
    let (told, _) = called(&mut client, "change", &json!({}));
    let told: Vec<_> =
        told.iter().map(|message| message["method"].as_str().expect("a method")).collect();
    let changes = ["resources/list_changed", "prompts/list_changed", "resources/updated"];
    assert_eq!(told, changes.map(|change| format!("notifications/{change}")));
}

#[test]
fn a_client_answers_the_questions_of_the_server() {
    let capabilities = json!({"elicitation": {}, "sampling": {}, "roots": {"listChanged": true}});
    let folder = files(&server("", ""));
    let (mut client, _) = client(&folder, &capabilities);
    let params = json!({"message": "Who?", "requestedSchema": {"type": "object", "properties": {}}, "own": 1.50});
    for (method, result) in [
        ("elicitation/create", json!({"action": "accept", "content": {"name": "Ada"}})),
        (
            "sampling/createMessage",
            json!({"role": "assistant", "content": {"type": "text", "text": "hi"}, "model": "m"}),
        ),
        ("roots/list", json!({"roots": [{"uri": "file:///a", "name": "a"}]})),
    ] {
        let params_of_call = json!({"name": "ask", "arguments": {"text": method}});
        client.say(
            &json!({"jsonrpc": "2.0", "id": "x", "method": "tools/call", "params": params_of_call}),
        );
        let mut question = client.hear();
        assert_eq!(question["method"], method, "{question}");
        let mut asked = question["params"].take();
        asked.as_object_mut().expect("an object").shift_remove("_meta");
        assert_eq!(asked.to_string(), params.to_string());
        client.say(&json!({"jsonrpc": "2.0", "id": question["id"], "result": result}));
        let answer = client.hear();
        assert_eq!(answer["id"], "x");
        let found: Value = serde_json::from_str(text(&answer["result"])).expect("JSON");
        assert_eq!(found["reply"], json!({ "result": result }));
        assert_eq!(found["client"], capabilities);
    }
    // The client refuses.
    let params = json!({"name": "ask", "arguments": {"text": "roots/list"}});
    client.say(&json!({"jsonrpc": "2.0", "id": "y", "method": "tools/call", "params": params}));
    let question = client.hear();
    let error = json!({"code": -1, "message": "no", "data": {"own": 1}});
    client.say(&json!({"jsonrpc": "2.0", "id": question["id"], "error": error}));
    let found: Value = serde_json::from_str(text(&client.hear()["result"])).expect("JSON");
    assert_eq!(found["reply"], json!({ "error": error }));
    client.say(&json!({"jsonrpc": "2.0", "method": "notifications/roots/list_changed"}));
    assert_eq!(client.hear()["params"], json!({"level": "info", "data": "other roots"}));
    assert_eq!(client.end(), Some(0));
}

/// The parameters of a request in revision 2026-07-28.
fn modern(params: &Value, capabilities: &Value) -> Value {
    let mut params = params.clone();
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": capabilities,
    });
    params
}

#[test]
fn a_client_of_the_new_revision_answers_the_questions_of_an_older_server() {
    let capabilities = json!({"elicitation": {}});
    let folder = files(&server("", ""));
    let gramc = binary().to_str().expect("a path");
    let mut client = Speaking::silent(gramc, &WORDS, folder.path());
    let known = client.ask("server/discover", &modern(&json!({}), &capabilities));
    assert!(known["result"]["supportedVersions"].is_array(), "{known}");
    let call = json!({"name": "ask", "arguments": {"text": "elicitation/create"}});
    let asked = client.ask("tools/call", &modern(&call, &capabilities));
    let asked = &asked["result"];
    let question = &asked["inputRequests"]["elicitation/create"];
    assert_eq!(question["params"]["message"], "Who?", "{asked}");
    let answer = json!({"action": "accept", "content": {"name": "Ada"}});
    let mut again = call.clone();
    again["inputResponses"] = json!({ "elicitation/create": answer });
    again["requestState"] = asked["requestState"].clone();
    let answered = client.ask("tools/call", &modern(&again, &capabilities));
    let found: Value = serde_json::from_str(text(&answered["result"])).expect("JSON");
    assert_eq!(found["reply"], json!({ "result": answer }));
    assert_eq!(found["client"], capabilities);
    assert_eq!(client.end(), Some(0));
}

#[test]
fn tasks_of_an_older_server_are_tasks_of_the_new_revision() {
    let capabilities = json!({"extensions": {"io.modelcontextprotocol/tasks": {}}});
    let (folder, _) = study();
    let gramc = binary().to_str().expect("a path");
    let mut client = Speaking::silent(gramc, &WORDS, folder.path());
    let mut ask = |method: &str, params: &Value| {
        client.ask(method, &modern(params, &capabilities))["result"].clone()
    };
    ask("server/discover", &json!({}));
    let call = |text: &str| json!({"name": "study", "arguments": {"text": text}});
    let task = ask("tools/call", &call("bees"));
    assert_eq!((&task["resultType"], &task["status"]), (&json!("task"), &json!("working")));
    let id = json!({"taskId": task["taskId"]});
    let start = Instant::now();
    let ended = loop {
        let state = ask("tasks/get", &id);
        if state["status"] != "working" {
            break state;
        }
        assert!(start.elapsed() < Duration::from_secs(30), "{state}");
    };
    assert_eq!(ended["status"], "completed", "{ended}");
    assert!(text(&ended["result"]).contains("bees"), "{ended}");
    // One that does not end by itself is cancelled.
    let task = ask("tools/call", &call("forever"));
    let id = json!({"taskId": task["taskId"]});
    ask("tasks/cancel", &id);
    let start = Instant::now();
    while ask("tasks/get", &id)["status"] != "cancelled" {
        assert!(start.elapsed() < Duration::from_secs(30));
    }
}

#[test]
fn a_client_without_the_capability_is_not_asked() {
    let folder = files(&server("", ""));
    let (mut client, _) = client(&folder, &json!({"roots": {}}));
    for method in ["elicitation/create", "sampling/createMessage"] {
        let (told, answer) = called(&mut client, "ask", &json!({ "text": method }));
        assert!(told.is_empty(), "{told:?}");
        let found: Value = serde_json::from_str(text(&answer["result"])).expect("JSON");
        assert_eq!(found["reply"]["error"]["code"], -32601);
        assert_eq!(found["client"], json!({"roots": {}}));
    }
}

#[test]
fn a_cancelled_call_is_cancelled_on_the_server() {
    let folder = files(&server("", ""));
    let (mut client, _) = client(&folder, &json!({}));
    let params = json!({"name": "wait", "arguments": {}});
    client.say(&json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params}));
    std::thread::sleep(Duration::from_millis(500));
    let params = json!({"requestId": 7, "reason": "enough"});
    client.say(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}));
    let start = Instant::now();
    while !folder.file("cancelled").exists() {
        assert!(start.elapsed() < Duration::from_secs(30), "the server hears of nothing");
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(text(&client.call("say", &json!({"text": "hi"}))), "hi");
}

#[test]
fn secrets_are_masked_in_what_is_passed_on() {
    let folder = files(&server("", ", env: {TOKEN: \"file:token\"}"));
    folder.write("token", "s3cret-value\n");
    let (mut client, _) = client(&folder, &json!({}));
    let read = client.ask("resources/read", &json!({"uri": "test://s3cret-value"}));
    assert_eq!(read["result"]["contents"][0]["text"], "the text of test://***");
    let prompt =
        client.ask("prompts/get", &json!({"name": "greet", "arguments": {"who": "s3cret-value"}}));
    assert_eq!(prompt["result"]["messages"][0]["content"]["text"], "greet ***");
    let wrong = client.ask("resources/read", &json!({"uri": "other://s3cret-value"}));
    assert!(!wrong.to_string().contains("s3cret-value"), "{wrong}");
}

/// Tools that a specification has no words for.
fn study() -> (Folder, Value) {
    let dialect = "https://json-schema.org/draft/2020-12/schema";
    let schema = json!({
        "$schema": dialect, "type": "object",
        "properties": {"text": {"type": "string"}}, "required": ["text"],
    });
    let older = json!({"$schema": "http://json-schema.org/draft-07/schema#", "type": "object"});
    let icons = json!([{"src": "https://example.com/a.png", "mimeType": "image/png"}]);
    let study = json!({
        "name": "study", "inputSchema": schema, "execution": {"taskSupport": "required"},
        "icons": icons, "_meta": {"own/key": {"a": 1}},
    });
    let tools = json!([study, {"name": "older", "inputSchema": older, "outputSchema": schema}]);
    let spec = "[study:Tool | (text::Text)==>(::Any)] [older:Tool | ()==>(::Any)]";
    let command = r#"(`*`:Mcp {timeout: 2s, command: ["python3", "upstream.py", "none"]})"#;
    let folder = files(command);
    folder.write("guard.gram", spec);
    folder.write("none", tools.to_string());
    (folder, study)
}

#[test]
fn what_a_specification_has_no_words_for_is_passed_on_with_the_tool() {
    let (folder, study) = study();
    let (mut client, _) = client(&folder, &json!({}));
    let listed = client.ask("tools/list", &json!({}));
    let [own, older] = &listed["result"]["tools"].as_array().expect("a list")[..] else {
        panic!("{listed}");
    };
    assert_eq!((&own["icons"], &own["_meta"]), (&study["icons"], &study["_meta"]));
    assert_eq!(own["inputSchema"]["$schema"], study["inputSchema"]["$schema"]);
    // The schemas are ours, so a dialect that is not is not named.
    assert_eq!(older["inputSchema"].get("$schema"), None);
    client.end();
}

#[test]
fn a_tool_that_runs_as_a_task_is_called_as_one() {
    let (folder, _) = study();
    let (mut client, _) = client(&folder, &json!({}));
    let (_, answer) = called(&mut client, "study", &json!({"text": "bees"}));
    assert_eq!(text(&answer["result"]), "studied bees");
    let related = "io.modelcontextprotocol/related-task";
    assert_eq!(answer["result"]["_meta"][related]["taskId"], "bees");
    // Outside of a guard, too.
    let call = crate::support::gramc("call guard.gram study --library upstream.gram");
    let call = call.arg(r#"{"text": "ants"}"#).within(folder.path()).run().exits(0);
    assert_eq!(call.json()["result"], "studied ants");
    // What takes too long is cancelled where it runs.
    let (_, late) = called(&mut client, "study", &json!({"text": "forever"}));
    assert!(text(&late["result"]).contains("did not respond within 2 s"), "{late}");
    let start = Instant::now();
    let cancelled = || std::fs::read_to_string(folder.path().join("cancelled")).unwrap_or_default();
    while cancelled() != "forever" && start.elapsed() < Duration::from_secs(10) {
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(cancelled(), "forever");
    client.end();
}
