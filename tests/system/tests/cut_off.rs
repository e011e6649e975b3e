//! Replies of models that a limit, a filter or an error ended: they are no answers, and their last
//! calls are not run.

use serde_json::{Value, json};

use crate::model_server::{Answer, Server, calls, says};
use crate::support::{Folder, Gramc, Run, folder, gramc};

const SPEC: &str = r#"
[helper:Agent {instruction: "You help.", model: "openai/any"} |
  [add:Tool | (a::Int)==>(b::Int {default: 0})==>(::Int)]
]
[works:Library | (add:Builtin)]
"#;

/// An answer of a server of chat completions that ended for another reason.
fn ended(answer: Answer, reason: &Value) -> Answer {
    let set = |body: &mut Value| {
        if body["choices"][0]["finish_reason"].is_string() {
            body["choices"][0]["finish_reason"] = reason.clone();
        }
    };
    match answer {
        Answer::Json(status, headers, mut body) => {
            set(&mut body);
            Answer::Json(status, headers, body)
        }
        Answer::Stream(mut chunks, whole) => {
            chunks.iter_mut().for_each(set);
            Answer::Stream(chunks, whole)
        }
        other => other,
    }
}

fn helper(server: &Server, options: &str) -> (Run, Folder) {
    let files = folder(&[("spec.gram", SPEC)]);
    let run = gramc("run spec.gram Add --library works --conversation talk.json");
    let run = run.args("--trace trace.jsonl").args(options).within(files.path());
    (run.env("OPENAI_BASE_URL", &server.url()).run(), files)
}

fn results(files: &Folder) -> Vec<String> {
    let kept: Value = serde_json::from_str(&files.read("talk.json")).expect("it is JSON");
    let messages = kept["messages"].as_array().expect("there are messages").iter();
    let results = messages.filter(|message| message["role"] == "tool");
    results.map(|it| it["content"].as_str().expect("it is text").to_owned()).collect()
}

fn trace(files: &Folder, kind: &str) -> Vec<Value> {
    let lines = files.read("trace.jsonl");
    let lines = lines.lines().map(|line| serde_json::from_str(line).expect("it is JSON"));
    lines.filter(|line: &Value| line["type"] == kind).collect()
}

#[test]
fn a_call_that_is_cut_off_is_not_run() {
    for (reason, name, why) in [
        (json!("length"), "length", "the reply reached the token limit"),
        (json!("content_filter"), "content_filter", "a content filter stopped the reply"),
        (json!("error"), "error", "the provider did not finish the reply"),
        (Value::Null, "error", "the provider did not finish the reply"),
    ] {
        for (option, last) in [
            ("--show=150", r#"{"a": 3, "b": 4}"#),
            ("--no-stream", r#"{"a": 3, "b": 4}"#),
            ("--show=150", r#"{"a": 3"#),
            ("--no-stream", r#"{"a": 3"#),
        ] {
            let reason = reason.clone();
            let server = Server::start(move |at, request| match at {
                0 => ended(
                    calls(request, &[("add", r#"{"a": 1, "b": "2""#), ("add", last)]),
                    &reason,
                ),
                _ => says(request, "Done."),
            });
            let (run, files) = helper(&server, option);
            assert_eq!(run.exits(0).stdout, "Done.\n");
            let results = results(&files);
            assert_eq!((results.len(), &*results[0]), (2, "3"), "{results:?}");
            let told = format!("`add`: the arguments are incomplete: {why} (line 1, column ");
            assert!(results[1].starts_with(&told), "{results:?}");
            assert!(results[1].ends_with("as one complete JSON object."), "{results:?}");
            let replies = trace(&files, "reply");
            assert_eq!(replies[0]["finish_reason"], name);
            assert_eq!(replies[1]["finish_reason"], "stop");
            let verdicts = trace(&files, "call");
            assert_eq!(verdicts[0]["verdict"]["ok"], true);
            assert_eq!(verdicts[1]["verdict"]["error"]["error_type"], "reply_cut_off");
        }
    }
}

#[test]
fn a_recorded_call_that_was_cut_off_is_not_run_later_either() {
    let server = Server::start(|at, request| match at {
        0 => ended(calls(request, &[("add", r#"{"a": 3, "b": 4}"#)]), &json!("length")),
        _ => says(request, "Done."),
    });
    let (run, files) = helper(&server, "");
    run.exits(0);
    let again = |line: &str| gramc(line).within(files.path()).run();
    for line in [
        "replay spec.gram --library works --calls trace.jsonl",
        "validate spec.gram --calls trace.jsonl",
    ] {
        let verdict = again(line).exits(1).json();
        assert_eq!(verdict["error"]["error_type"], "reply_cut_off", "{verdict}");
    }
    let run = again("replay spec.gram --trace trace.jsonl --library works").exits(0);
    assert_eq!(run.stdout, "fixes 0, breaks 0, 1 unchanged\n");
    // What the model said is played with its end.
    let run = again("run spec.gram Add --library works --replay trace.jsonl").exits(0);
    assert_eq!(run.says(&["  ! `add`: the arguments are incomplete"]).stdout, "Done.\n");
    let run = again("trace trace.jsonl").exits(0);
    assert!(run.stdout.starts_with("1 turn, 2 replies, 1 call, 1 truncated, "), "{}", run.stdout);
    let summary = again("trace trace.jsonl --format json").exits(0).json();
    assert_eq!((&summary["truncated"], &summary["filtered"]), (&json!(1), &json!(0)));
}

#[test]
fn an_answer_that_is_cut_off_is_asked_for_again() {
    for option in ["--show=150", "--no-stream"] {
        let server = Server::start(|at, request| match at {
            0 | 4 => ended(says(request, "Half of an ans"), &json!("length")),
            1 => ended(says(request, "Half of a bad"), &json!("content_filter")),
            2 => says(request, " "),
            3 => calls(request, &[("add", r#"{"a": 1, "b": 2}"#)]),
            _ => says(request, "A whole answer."),
        });
        // The empty reply is the third one in a row.
        let (run, files) = helper(&server, option);
        run.exits(1).says(&["no answer: the reply is empty"]);
        assert_eq!(server.requests().len(), 3);
        let told: Vec<_> = server.requests()[2]["messages"]
            .as_array()
            .expect("there are messages")
            .iter()
            .map(|message| message["content"].as_str().expect("it is text").to_owned())
            .collect();
        assert_eq!(
            told[1..],
            [
                "Add",
                "Half of an ans",
                "Invalid answer: the reply reached the token limit. Answer again in fewer \
                 words, or call fewer tools at once.",
                "Half of a bad",
                "Invalid answer: a content filter stopped the reply. Rephrase your \
                 answer.",
            ]
        );
        // The conversation goes on with what is left of it.
        let run = gramc("run spec.gram Again --library works --conversation talk.json");
        let run = run.args(option).within(files.path()).env("OPENAI_BASE_URL", &server.url()).run();
        assert_eq!(run.exits(0).stdout, "A whole answer.\n");
        assert_eq!(server.requests().len(), 6);
    }
}

#[test]
fn a_model_that_never_finishes_gives_no_answer() {
    let ends = |reason: &'static str, text: &'static str, called: bool| {
        let server = Server::start(move |_, request| {
            let call = ("add", r#"{"a": 1, "b": 2}"#);
            let answer = if called { calls(request, &[call]) } else { says(request, text) };
            ended(answer, &json!(reason))
        });
        let (run, files) = helper(&server, "--format json");
        assert_eq!(server.requests().len(), 3, "{reason} {text}");
        let turn = run.exits(1).json();
        assert_eq!(trace(&files, "end")[0]["end"], turn["end"]);
        (turn["end"].clone(), turn["detail"].clone(), turn["text"].clone())
    };
    let truncated = |detail: &str, text: &str| (json!("truncated"), json!(detail), json!(text));
    let limit = "the reply reached the token limit";
    assert_eq!(ends("length", "Half", false), truncated(limit, "Half"));
    assert_eq!(ends("length", "", true), truncated(limit, ""));
    assert_eq!(ends("stop", "", false), truncated("the reply is empty", ""));
    let detail = json!("a content filter stopped the reply");
    assert_eq!(ends("content_filter", "", false), (json!("filtered"), detail, json!("")));
}

#[test]
fn an_agent_that_is_called_has_no_answer_then() {
    let spec = r#"
[chief:Agent {model: "scripted/chief.jsonl"} | clerk]
[clerk:Agent {model: "scripted/clerk.jsonl", description: "Adds"}]
[works:Library]
"#;
    let ask = r#"{"tool_calls": [{"name": "clerk", "arguments": {"message": "Add"}}]}"#;
    let cut = r#"{"tool_calls": [{"name": "clerk", "arguments": {"message": "Add"}}], "finish_reason": "max_tokens"}"#;
    let chief = [cut, ask, r#"{"content": "I see."}"#].join("\n");
    let clerk = "{\"content\": \"Half\", \"finish_reason\": \"length\"}\n".repeat(3);
    let files = folder(&[("spec.gram", spec), ("chief.jsonl", &chief), ("clerk.jsonl", &clerk)]);
    let run = gramc("run spec.gram Go --library works").within(files.path()).run().exits(0);
    assert_eq!(run.stdout, "I see.\n");
    // The first call is refused, and the second one finds a clerk that never finishes.
    run.says(&[
        "  ! `clerk`: the arguments are incomplete: the reply reached the token limit",
        "[clerk]   ! Invalid answer: the reply reached the token limit.",
        "  ! `clerk` failed: the agent did not answer: the reply reached the token limit",
    ]);
}

#[test]
fn scripts_say_how_a_reply_ended() {
    let script = [
        r#"{"content": "Half", "finish_reason": "length"}"#,
        r#"{"finish_reason": "content_filter"}"#,
        r#"{"content": "Whole"}"#,
    ];
    let files = folder(&[("spec.gram", SPEC), ("script.jsonl", &script.join("\n"))]);
    let run = |files: &Folder| {
        gramc("run spec.gram Add --library works --model scripted/script.jsonl")
            .within(files.path())
            .run()
    };
    let told = ["reached the token limit", "a content filter stopped the reply"];
    assert_eq!(run(&files).exits(0).says(&told).stdout, "Whole\n");
    files.write("script.jsonl", r#"{"content": "Half", "finish_reason": "lenght"}"#);
    run(&files).fails_with(&["script.jsonl:1: invalid reply: unknown variant `lenght`"]);
}

#[test]
fn runs_of_an_experiment_say_that_they_were_cut_off() {
    let spec = r#"
[helper:Agent {model: "scripted/script.jsonl"} | [add:Tool | (a::Int)==>(b::Int)==>(::Int)]]
[first:Library | (add:Builtin)]
[second:Library | (add:Builtin)]
"#;
    let half = "{\"content\": \"Half\", \"finish_reason\": \"length\"}\n".repeat(3);
    let cases = "{\"input\": \"Add\", \"expect\": {\"contains\": \"Half\"}}\n".repeat(2);
    let files = folder(&[("spec.gram", spec), ("script.jsonl", &half), ("cases.jsonl", &cases)]);
    let line = "ab spec.gram --library first --library second --cases cases.jsonl --report kept";
    gramc(line).within(files.path()).run().exits(0);
    let runs = files.read("kept/runs.jsonl");
    assert_eq!(runs.lines().count(), 4);
    for run in runs.lines() {
        let run: Value = serde_json::from_str(run).expect("it is JSON");
        assert_eq!((&run["end"], &run["success"]), (&json!("truncated"), &json!(false)), "{run}");
        assert_eq!(run["missed"], json!(["the reply reached the token limit"]));
    }
}

#[test]
fn hosts_say_how_a_reply_ended() {
    let files = folder(&[("spec.gram", SPEC)]);
    let call = |reason: &str| {
        format!(
            "{{\"id\": 1, \"name\": \"add\", \"arguments\": {{\"a\": 1}}, \"finish_reason\": {reason}}}\n"
        )
    };
    for command in ["session spec.gram --library works", "validate spec.gram --calls -"] {
        for (reason, cut_off) in [
            ("\"length\"", true),
            ("\"max_tokens\"", true),
            ("\"SAFETY\"", true),
            ("\"tool_use\"", false),
            ("\"stop\"", false),
            ("null", false),
        ] {
            let run = gramc(command).input(call(reason)).within(files.path()).run();
            let verdict = run.json();
            assert_eq!(verdict["ok"], !cut_off, "{command} {reason}");
            let expected = if cut_off { json!("reply_cut_off") } else { Value::Null };
            assert_eq!(verdict["error"]["error_type"], expected, "{command} {reason}");
        }
    }
    let run = gramc("validate spec.gram --calls -").input(call("5")).within(files.path()).run();
    run.fails_with(&["<stdin>:1: expected a string as `finish_reason`"]);
}

#[test]
fn a_destructive_tool_never_runs_on_brackets_that_gramc_closed() {
    let spec = r#"
[wipe:Tool {destructive: true} | (path::Text)==>(deep::Bool {default: true})==>(::Any)]
[read:Tool | (path::Text)==>(deep::Bool {default: true})==>(::Any)]
[works:Library {approval: "never"} | (wipe:Builtin {name: "echo"}), (read:Builtin {name: "echo"})]
"#;
    let files = folder(&[("spec.gram", spec)]);
    let call = |tool: &str, arguments: &str| {
        let run = Gramc::args(gramc("call spec.gram"), tool).arg(arguments);
        run.args("--library works").within(files.path()).run()
    };
    for arguments in
        [r#"{"path": "a""#, r#"{"path": "a", "deep": true"#, "```json\n{\"path\": \"a\"\n"]
    {
        let read = call("read", arguments).exits(0).json();
        assert_eq!(read["result"], json!({"path": "a", "deep": true}));
        let wipe = call("wipe", arguments).exits(1).json();
        assert_eq!(wipe["error"]["error_type"], "unclosed_arguments", "{wipe}");
        let told = "`wipe`: the arguments are incomplete: missing closing bracket, and a \
                    destructive tool requires complete arguments";
        assert!(wipe["message"].as_str().is_some_and(|it| it.starts_with(told)), "{wipe}");
    }
    assert_eq!(call("wipe", r#"{"path": "a"}"#).exits(0).json()["ok"], true);
    // An MCP client may send text as arguments.
    let request = |id: u32, method: &str, params: Value| {
        json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string() + "\n"
    };
    let client = json!({"name": "test", "version": "1"});
    let hello = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client});
    let params = json!({"name": "wipe", "arguments": "{\"path\": \"a\""});
    let lines = request(1, "initialize", hello)
        + "{\"jsonrpc\": \"2.0\", \"method\": \"notifications/initialized\"}\n"
        + &request(2, "tools/call", params);
    let run = gramc("mcp spec.gram --library works").within(files.path()).input(lines).run();
    let answer = run.exits(0).stdout.lines().last().unwrap_or_default().to_owned();
    assert!(answer.contains("a destructive tool requires complete arguments"), "{answer}");
}
