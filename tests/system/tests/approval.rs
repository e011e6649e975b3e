//! Calls that have to be approved: by programs, by users at a terminal, by clients.

use serde_json::{Value, json};

use crate::calls::verdict_fault;
#[cfg(unix)]
use crate::chat::{terminal, typed};
use crate::mcp::Speaking;
use crate::support::{Folder, Gramc, binary, folder, gramc};

const SPEC: &str = r#"
[wipe:Tool {destructive: true} | (path::Text)==>(key::Text {secret: true, default: "none-at-all"})==>(::Any)]
[look:Tool | (path::Text)==>(::Any)]
[drop:Tool {approval: "always"} | (path::Text)==>(::Any)]
[cleaner:Agent {model: "scripted/script.jsonl"} | wipe, look, drop]
"#;
const LIBRARY: &str = r#"
[l:Library | (wipe:Builtin {name: "echo"}), (look:Builtin {name: "echo"}), (drop:Builtin {name: "echo"})]
"#;
/// Approves what is below /tmp, and says what it was asked.
const POLICY: &str = r#"
import json, os, sys
request = json.load(sys.stdin)
print(json.dumps(request), sorted(name for name in os.environ if "KEY" in name))
sys.exit(0 if request["arguments"]["path"].startswith("/tmp/") else 1)
"#;
const SCRIPT: &str = r#"
{"tool_calls": [{"name": "wipe", "arguments": {"path": "/data", "key": "hunter2"}}, {"name": "look", "arguments": {"path": "/data"}}]}
{"content": "Done."}
"#;

fn files() -> Folder {
    folder(&[
        ("spec.gram", SPEC),
        ("library.gram", LIBRARY),
        ("policy.py", POLICY),
        ("script.jsonl", SCRIPT.trim_start()),
    ])
}

fn within(folder: &Folder, line: &str) -> Gramc {
    gramc(line).within(folder.path()).env("OPENAI_API_KEY", "sk-hunter2")
}

fn call(folder: &Folder, tool: &str, path: &str) -> Gramc {
    let call = within(folder, &format!("call spec.gram {tool}"));
    let arguments = json!({"path": path, "key": "hunter2"}).to_string();
    call.arg(arguments).args("--library library.gram")
}

#[test]
fn a_program_approves_calls() {
    let files = files();
    let with = |tool, path| call(&files, tool, path).arg("--approve-with").arg("python3 policy.py");
    let approved = with("drop", "/tmp/x").run().exits(0).json();
    // The program gets no variables of the environment that may be secret.
    let request = r#"{"name": "drop", "arguments": {"path": "/tmp/x"}, "stripped": ["key"]} []"#;
    let approval = json!({"approved": true, "by": "program", "reason": request});
    assert_eq!(approved["approval"], approval);
    // Destructive tools are asked about without an attribute, and the question shows no secret.
    let destructive = with("wipe", "/tmp/x").run().exits(0).json();
    let request = r#"{"name": "wipe", "arguments": {"path": "/tmp/x", "key": "***"}} []"#;
    assert_eq!(destructive["approval"]["reason"], request, "{destructive}");
    assert_eq!(approved["result"], json!({"path": "/tmp/x"}));
    assert_eq!(verdict_fault(&approved), None, "{approved}");
    let refused = with("drop", "/etc").run().exits(1).json();
    assert_eq!(refused["approval"]["approved"], false, "{refused}");
    assert_eq!(refused["error"]["error_type"], "approval_refused");
    assert_eq!(verdict_fault(&refused), None, "{refused}");
    // What is neither destructive nor marked is not asked about.
    let run = with("look", "/etc").run().exits(0);
    assert_eq!(run.json().get("approval"), None, "{}", run.stdout);
    for tool in ["wipe", "drop"] {
        let required = call(&files, tool, "/tmp/x").run().exits(1).json();
        assert_eq!(required["error"]["error_type"], "approval_required");
        assert_eq!(verdict_fault(&required), None, "{required}");
    }
}

#[test]
fn a_program_that_cannot_decide_refuses() {
    let files = files();
    let with = |command: &str| call(&files, "drop", "/tmp/x").arg("--approve-with").arg(command);
    let missing = with("no-such-program").run().exits(1).json();
    let reason = missing["approval"]["reason"].as_str().unwrap_or_default();
    assert!(reason.contains("there is no such program"), "{missing}");
    with("").run().fails_with(&["the command of --approve-with is empty"]);
    with("python3 'policy.py").run().fails_with(&["invalid quoting", "--approve-with"]);
}

#[test]
fn an_agent_is_told_that_nobody_can_be_asked() {
    let files = files();
    let line = "run spec.gram Go! --library library.gram --trace trace.jsonl";
    let run = within(&files, line).run().exits(0);
    run.says(&[
        "! `wipe` requires approval, but this session cannot ask for it",
        r#"= {"path":"/data"}"#,
    ]);
    let trace = files.read("trace.jsonl");
    assert!(trace.contains("approval_required") && !trace.contains("hunter2"), "{trace}");
    // The arguments were right then, and are still.
    let again = within(&files, "replay spec.gram --library library.gram --trace trace.jsonl");
    assert_eq!(again.run().exits(0).stdout, "fixes 0, breaks 0, 2 unchanged\n");
}

#[test]
fn a_program_approves_the_calls_of_an_agent() {
    let files = files();
    let line = "run spec.gram Go! --library library.gram --trace trace.jsonl --approve-with";
    within(&files, line).arg("python3 policy.py").run().exits(0);
    let trace = files.read("trace.jsonl");
    let lines = trace.lines().map(|line| serde_json::from_str(line).expect("it is JSON"));
    let calls: Vec<Value> = lines.filter(|line: &Value| line["type"] == "call").collect();
    let of = |tool: &str| &calls.iter().find(|call| call["name"] == tool).expect(tool)["verdict"];
    let verdict = of("wipe");
    let reason = verdict["approval"]["reason"].as_str().unwrap_or_default();
    let request = r#""arguments": {"path": "/data", "key": "***"}, "agent": "cleaner"}"#;
    assert!(reason.contains(request), "{verdict}");
    assert_eq!(verdict["error"]["error_type"], "approval_refused");
    assert_eq!(of("look").get("approval"), None);
    assert!(!trace.contains("hunter2"), "{trace}");
}

#[test]
fn recordings_and_experiments_do_not_ask() {
    let files = files();
    files.write("calls.jsonl", r#"{"name": "drop", "arguments": {"path": "/tmp/x"}}"#);
    let line = "replay spec.gram --library library.gram --calls calls.jsonl";
    let refused = within(&files, line).run().exits(1).json();
    assert_eq!(refused["error"]["error_type"], "approval_required", "{refused}");
}

#[cfg(unix)]
#[test]
fn the_user_is_asked_at_the_terminal() {
    let files = files();
    let run = |steps: &Value| {
        let mut python = terminal();
        python.args(["run", "spec.gram", "Go!", "--library", "library.gram"]);
        python.args(["--trace", "trace.jsonl"]).current_dir(files.path());
        typed(python, steps)
    };
    let question = r#"? [cleaner] wipe {"path":"/data","key":"***"}"#;
    let prompt = "run this call? [y/N, or why not] ";
    let steps = json!([["see", question], ["see", prompt], ["type", "y\r"], ["see", "Done."]]);
    let told = run(&steps);
    assert_eq!((told.code, told.whole), (0, true), "{:?}", told.shown);
    let trace = files.read("trace.jsonl");
    assert!(trace.contains(r#""approval":{"approved":true,"by":"terminal"}"#), "{trace}");
    let steps = json!([["see", prompt], ["type", "not before noon\r"], ["see", "Done."]]);
    assert_eq!(run(&steps).code, 0);
    let trace = files.read("trace.jsonl");
    let approval = r#"{"approved":false,"by":"terminal","reason":"not before noon"}"#;
    assert!(trace.contains(approval), "{trace}");
    let steps = json!([["see", prompt], ["type", "\r"], ["see", "Done."]]);
    assert_eq!(run(&steps).code, 0);
    let trace = files.read("trace.jsonl");
    assert!(trace.contains(r#"{"approved":false,"by":"terminal"}"#), "{trace}");
}

#[cfg(unix)]
#[test]
fn a_chat_goes_on_after_a_question() {
    let files = files();
    let (calls, done) = SCRIPT.trim_start().split_once('\n').expect("there are two replies");
    for term in ["xterm", "dumb"] {
        files.write("script.jsonl", format!("{calls}\n{calls}\n{done}"));
        let mut python = terminal();
        python.args(["run", "spec.gram", "--library", "library.gram", "--no-history"]);
        python.current_dir(files.path()).env("TERM", term);
        let steps = json!([
            ["see", "> "],
            ["type", "Go!\r"],
            ["see", "run this call?"],
            // Ctrl-C ends the turn, and with it the question.
            ["type", "\u{3}"],
            ["see", "no answer: cancelled"],
            ["see", "> "],
            ["type", "Go on!\r"],
            ["see", "run this call?"],
            ["type", "y\r"],
            ["see", r#"= {"path":"/data","key":"***"}"#],
            ["see", "Done."],
            ["see", "> "],
            ["type", "\u{4}"],
        ]);
        let told = typed(python, &steps);
        assert!(told.whole, "{term}: {:?}", told.shown);
    }
}

#[test]
fn a_client_asks_its_user() {
    let files = files();
    let words = ["mcp", "spec.gram", "--library", "library.gram"];
    let start = |words: &[&str], capabilities: &Value| {
        let gramc = binary().to_str().expect("a path");
        Speaking::start_with(gramc, words, files.path(), capabilities)
    };
    let text = |answer: &Value| answer["content"][0]["text"].as_str().unwrap_or("").to_owned();
    let params = json!({"name": "drop", "arguments": {"path": "/data"}});
    let mut client = start(&words, &json!({"elicitation": {}}));
    for (action, told) in [("accept", r#"{"path":"/data"}"#), ("decline", "was not approved")] {
        client.say(
            &json!({"jsonrpc": "2.0", "id": action, "method": "tools/call", "params": params}),
        );
        let question = client.hear();
        assert_eq!(question["method"], "elicitation/create", "{question}");
        let message = &question["params"]["message"];
        assert_eq!(message, r#"Run `drop` with {"path":"/data"}?"#);
        let answer = json!({"action": action, "content": {}});
        client.say(&json!({"jsonrpc": "2.0", "id": question["id"], "result": answer}));
        let answer = client.hear();
        assert_eq!(answer["id"], action, "{answer}");
        assert!(text(&answer["result"]).contains(told), "{answer}");
    }
    assert_eq!(client.end(), Some(0));
    let mut client = start(&words, &json!({}));
    for tool in ["wipe", "drop"] {
        let refused = client.call(tool, &json!({"path": "/data"}));
        assert!(text(&refused).contains("this session cannot ask for it"), "{refused}");
    }
    // A program comes before the client.
    let words = [&words[..], &["--approve-with", "python3 policy.py"]].concat();
    let mut client = start(&words, &json!({"elicitation": {}}));
    assert_eq!(text(&client.call("drop", &json!({"path": "/tmp/x"}))), r#"{"path":"/tmp/x"}"#);
    let refused = client.call("drop", &json!({"path": "/data"}));
    assert!(text(&refused).contains("was not approved"), "{refused}");
}
