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

/// The call in the formats of models.
const FORMATS: &[&str] = &[
    "<tool_call>\n{\"name\": \"add\", \"arguments\": {\"a\": 1, \"b\": 2}}\n</tool_call>",
    "I add them.\n<tool_call>{\"name\": \"add\", \"arguments\": {\"a\": 1, \"b\": 2},}</tool_call>",
    "<tool_call>{'name': 'add', 'arguments': {'a': 1, 'b': 2}}</tool_call>",
    "<tool_call>{\"name\": \"add\", \"arguments\": {\"a\": 1, \"b\": 2}}",
    "<tool_call>\n<function=add>\n<parameter=a>\n1\n</parameter>\n<parameter=b>\n2\n</parameter>\n\
     </function>\n</tool_call>",
    "<tool_call>add\n<arg_key>a</arg_key>\n<arg_value>1</arg_value>\n<arg_key>b</arg_key>\n\
     <arg_value>2</arg_value>\n</tool_call>",
    "<function=add>{\"a\": 1, \"b\": 2}</function>",
    "<|python_tag|>{\"name\": \"add\", \"parameters\": {\"a\": 1, \"b\": 2}}",
    "{\"type\": \"function\", \"name\": \"add\", \"parameters\": {\"a\": 1, \"b\": 2}}",
    "[TOOL_CALLS] [{\"name\": \"add\", \"arguments\": {\"a\": 1, \"b\": 2}}]",
    "[TOOL_CALLS]add[ARGS]{\"a\": 1, \"b\": 2}",
    "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>add\n```json\n\
     {\"a\": 1, \"b\": 2}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
    "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>add<｜tool▁sep｜>{\"a\": 1, \"b\": 2}\
     <｜tool▁call▁end｜><｜tool▁calls▁end｜>",
    "<|tool_calls_section_begin|><|tool_call_begin|>functions.add:0<|tool_call_argument_begin|>\
     {\"a\": 1, \"b\": 2}<|tool_call_end|><|tool_calls_section_end|>",
    "<|channel|>analysis<|message|>I add.<|end|><|start|>assistant<|channel|>commentary \
     to=functions.add <|constrain|>json<|message|>{\"a\": 1, \"b\": 2}<|call|>",
    "[add(a=1, b=2)]",
    "```tool_code\nprint(add(a=1, b=2))\n```",
    "<function_calls>\n<invoke name=\"add\">\n<parameter name=\"a\">1</parameter>\n\
     <parameter name=\"b\">2</parameter>\n</invoke>\n</function_calls>",
    "```json\n{\"name\": \"add\", \"arguments\": {\"a\": 1, \"b\": 2}}\n```",
    "<think>\nI could write <tool_call>.\n</think>\n[add(a=1, b=2)]",
];

#[test]
fn calls_as_text_are_run() {
    for (at, text) in FORMATS.iter().enumerate() {
        let option = if at % 2 == 0 { "--show=150" } else { "--no-stream" };
        let server = Server::start(move |at, request| match at {
            0 => says(request, text),
            _ => says(request, "It is 3."),
        });
        let (run, files) = helper(SPEC, &server, option);
        let run = run.exits(0).says(&["  = 3", "  warning: the model wrote this call as text"]);
        assert_eq!(run.stdout, "It is 3.\n", "{text}");
        let reply = &trace(&files, "reply")[0];
        assert_eq!(reply["calls_as_text"], true);
        let calls = trace(&files, "call");
        assert_eq!(calls.len(), 1, "{text}");
        assert_eq!(calls[0]["verdict"]["warnings"][0]["code"], "call-as-text");
        // The model gets it back as a call, with its result.
        let messages = server.requests()[1]["messages"].clone();
        assert_eq!(messages[2]["tool_calls"][0]["function"]["name"], "add", "{messages}");
        assert_eq!((&messages[3]["role"], &messages[3]["content"]), (&json!("tool"), &json!("3")));
    }
}

#[test]
fn arguments_as_text_are_checked_by_the_types_of_the_parameters() {
    let spec = r#"
[helper:Agent {instruction: "You help.", model: "openai/any"} |
  [save:Tool {destructive: true} |
    (path::Text)==>(lines::`Int[]`)==>(options::{force: Bool, mode?: Text})==>(size?::Number)==>(::Text)]
]
[works:Library {approval: "never"} | (save:Command {run: ["cat"]})]
"#;
    let elements = "<tool_call>\n<function=save>\n<parameter=path>\n007\n</parameter>\n\
                    <parameter=lines>\n[1, 2]\n</parameter>\n\
                    <parameter=options>\n{\"force\": true, \"mode\": \"1\"}\n</parameter>\n\
                    <parameter=size>\n2.5\n</parameter>\n</function>\n</tool_call>";
    let python = "[save(path='007', lines=[1, 2], options={'force': True, 'mode': '1'}, size=2.5)]";
    for text in [elements, python] {
        let server = Server::start(move |at, request| match at {
            0 => says(request, text),
            _ => says(request, "Saved."),
        });
        let (run, files) = helper(spec, &server, "");
        run.exits(0);
        let verdict = &trace(&files, "call")[0]["verdict"];
        let arguments = json!({
            "path": "007", "lines": [1, 2], "options": {"force": true, "mode": "1"}, "size": 2.5
        });
        assert_eq!(verdict["arguments"], arguments, "{verdict}");
    }
}

#[test]
fn a_call_with_an_unknown_name_is_rejected_with_a_suggestion() {
    let server = Server::start(move |at, request| match at {
        0 => says(request, "<tool_call>{\"name\": \"ad\", \"arguments\": {}}</tool_call>"),
        _ => says(request, "It is 3."),
    });
    let (run, files) = helper(SPEC, &server, "");
    assert_eq!(run.exits(0).stdout, "It is 3.\n");
    let verdict = trace(&files, "call")[0]["verdict"].to_string();
    assert!(verdict.contains("unknown_tool") && verdict.contains("`add`"), "{verdict}");
}

#[test]
fn a_call_that_cannot_be_read_is_no_answer() {
    for (text, format) in [
        ("<tool_call>{\"name\": \"add\", \"arguments\": {\"a\": 1", "Hermes `<tool_call>{…}`"),
        ("I add.\n<function=add>\n<parameter=a>\n1", "Qwen3-Coder `<function=…>`"),
        ("[TOOL_CALLS]add[ARGS]{\"a\": 1", "Mistral `[TOOL_CALLS]name[ARGS]`"),
    ] {
        for option in ["--show=150", "--no-stream"] {
            let server = Server::start(move |_, request| says(request, text));
            let (run, files) = helper(SPEC, &server, option);
            let message = format!(
                "no answer: cannot read the call in the text of the reply: expected the format {format}"
            );
            assert_eq!(run.exits(2).says(&[&message]).stdout, "", "{text}");
            assert_eq!(trace(&files, "reply")[0]["content"], text);
            assert_eq!(server.requests().len(), 1, "{text}");
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
        format!("So:\n```json\n{CALL}\n```"),
        format!("  {}\t\r\n", CALL.replace("add", "subtract")),
        "[add(a=1, b=2)] adds two numbers.".to_owned(),
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
    for text in [CALL.to_owned(), format!("```json\n{CALL}\n```")] {
        let server = server(&text);
        let (run, _) = helper(&spec, &server, "");
        let answer: Value = serde_json::from_str(&run.exits(0).stdout).expect("it is JSON");
        assert_eq!(answer["name"], "add");
    }
    // An agent without tools writes about calls.
    let text = format!("<tool_call>{CALL}");
    let server = server(&text);
    let spec =
        "[helper:Agent {instruction: \"You help.\", model: \"openai/any\"}]\n[works:Library]";
    let (run, _) = helper(spec, &server, "");
    assert_eq!(run.exits(0).stdout, format!("{text}\n"));
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
