//! Calls that models write as text, and text that is none.

use serde_json::{Value, json};

use crate::model_server::{Server, says};
use crate::support::{Folder, Run, folder, gramc};

const SPEC: &str = r#"
[helper:Agent {instruction: "You help.", model: "openai/any"} |
  [add:Tool | (a::Int)==>(b::Int)==>(::Int)],
  [read:Tool | (path::Text)==>(::Text)]
]
[works:Library |
  (add:Builtin),
  (read:Command {run: ["cat", "order.txt"]})
]
"#;

const CALL: &str = r#"{"name": "add", "arguments": {"a": 1, "b": "2"}}"#;

fn helper(spec: &str, server: &Server, option: &str) -> (Run, Folder) {
    let order = format!("<tool_call>{CALL}</tool_call>");
    let files = folder(&[("spec.gram", spec), ("order.txt", &order)]);
    let run = gramc("run spec.gram Go --library works --trace trace.jsonl").args(option);
    (run.within(files.path()).env("OPENAI_BASE_URL", &server.url()).run(), files)
}

fn trace(files: &Folder, kind: &str) -> Vec<Value> {
    let lines = files.read("trace.jsonl");
    let lines = lines.lines().map(|line| serde_json::from_str(line).expect("it is JSON"));
    lines.filter(|line: &Value| line["type"] == kind).collect()
}

#[test]
fn calls_as_text_are_run() {
    for text in [
        format!("<tool_call>\n{CALL}\n</tool_call>"),
        format!("I add them.\n<tool_call>{CALL}</tool_call>"),
        format!("[TOOL_CALLS][{CALL}]"),
        format!("<|python_tag|>{}", CALL.replace("arguments", "parameters")),
        format!("```json\n{CALL}\n```"),
    ] {
        for option in ["--show=150", "--no-stream"] {
            let said = text.clone();
            let server = Server::start(move |at, request| match at {
                0 => says(request, &said),
                _ => says(request, "It is 3."),
            });
            let (run, files) = helper(SPEC, &server, option);
            let run = run.exits(0).says(&[
                r#"  > add {"a": 1, "b": "2"}"#,
                "  = 3",
                "  warning: the model wrote this call as text",
            ]);
            assert_eq!(run.stdout, "It is 3.\n", "{text}");
            let reply = &trace(&files, "reply")[0];
            assert_eq!(reply["calls_as_text"], true);
            let call = &trace(&files, "call")[0];
            assert_eq!(call["arguments"], r#"{"a": 1, "b": "2"}"#);
            assert_eq!(call["verdict"]["warnings"][0]["code"], "call-as-text");
            // The model gets it back as a call, with its result.
            let messages = server.requests()[1]["messages"].clone();
            assert_eq!(messages[2]["tool_calls"][0]["function"]["name"], "add", "{messages}");
            assert_eq!(
                (&messages[3]["role"], &messages[3]["content"]),
                (&json!("tool"), &json!("3"))
            );
        }
    }
}

#[test]
fn text_that_is_no_call_is_the_answer_byte_for_byte() {
    let server = |text: &str| {
        let text = text.to_owned();
        Server::start(move |_, request| says(request, &text))
    };
    for text in [
        format!("Write <tool_call>{CALL}</tool_call>"),
        format!("<tool_call>{CALL}</tool_call> is how I call it."),
        format!("```\n<tool_call>{CALL}</tool_call>\n```"),
        format!("<tool_call>{}</tool_call>", CALL.replace("add", "subtract")),
        format!("[TOOL_CALLS][{CALL}, {}]", CALL.replace("add", "subtract")),
        format!("So:\n```json\n{CALL}\n```"),
        format!("  {CALL}\t\r\n"),
        "<|python_tag|>print(1 + 2)".to_owned(),
    ] {
        let server = server(&text);
        let (run, files) = helper(SPEC, &server, "");
        assert_eq!(run.exits(0).stdout, format!("{text}\n"));
        assert_eq!(trace(&files, "reply")[0]["content"], text);
        assert_eq!(server.requests().len(), 1, "{text}");
    }
    // What an agent answers in its type is an answer, even if it looks like a call.
    let spec = SPEC.replace("model:", "result: \"Any\", model:");
    let server = server(&format!("```json\n{CALL}\n```"));
    let (run, _) = helper(&spec, &server, "");
    let answer: Value = serde_json::from_str(&run.exits(0).stdout).expect("it is JSON");
    assert_eq!(answer["name"], "add");
}

#[test]
fn a_call_that_a_tool_returns_is_not_run_when_the_model_quotes_it() {
    let read = r#"<tool_call>{"name": "read", "arguments": {"path": "a"}}</tool_call>"#;
    // The model repeats what the tool returned.
    let server = Server::start(move |at, request| {
        let last = request["messages"].as_array().and_then(|all| all.last());
        let last = last.and_then(|it| it["content"].as_str()).unwrap_or_default();
        says(request, if at == 0 { read } else { last })
    });
    let (run, files) = helper(SPEC, &server, "");
    assert_eq!(run.exits(0).stdout, format!("<tool_call>{CALL}</tool_call>\n"));
    assert_eq!(trace(&files, "call").len(), 1);
}
