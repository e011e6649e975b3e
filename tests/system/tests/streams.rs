//! `gramc run --stream`: replies as JSON lines while the model writes them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Map, Value, json};

use crate::model_server::{Answer, Ending, Server, calls, message, says, slowly};
use crate::providers::{ALL, Provider, Said};
use crate::support::{Folder, Gramc, Run, folder, gramc};

const SPEC: &str = r#"
[helper:Agent {instruction: "You help."} | note, login]
[note:Tool | (count::Int)==>(text::Text)==>(tags::Text[] {optional: true})==>(::Any)]
[login:Tool | (password::Text {secret: true})==>(user::Text)==>(::Any)]
[works:Library | (note:Builtin {name: "echo"}), (login:Builtin {name: "echo"})]
"#;

/// Arguments with a wrong value at the beginning, and a long text.
const WRONG: &str = r#"{"count": "many", "text": "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60"}"#;
const RIGHT: &str = r#"{"count": 2, "text": "A \"long\" text, é"}"#;

fn run_streaming(files: &Folder, server: &Server, options: &str) -> Gramc {
    let run = gramc("run spec.gram Note --library works --stream --conversation talk.json");
    let run = run.args(options).within(files.path());
    ["OPENAI", "ANTHROPIC", "GEMINI"]
        .iter()
        .fold(run, |run, name| run.env(&format!("{name}_BASE_URL"), &server.url()))
}

fn helper(server: &Server, model: &str) -> (Run, Folder) {
    let files = folder(&[("spec.gram", SPEC)]);
    (run_streaming(&files, server, &format!("--model {model} --trace trace.jsonl")).run(), files)
}

/// The lines of a run, without times.
fn lines(run: &Run) -> Vec<Value> {
    let line = |line: &str| {
        let mut line: Value = serde_json::from_str(line).expect("each line is JSON");
        let map = line.as_object_mut().expect("each line is an object");
        for time in ["ms", "at", "wait_ms"] {
            map.shift_remove(time);
        }
        line
    };
    run.stdout.lines().map(line).collect()
}

fn show_lines(lines: &[Value]) -> String {
    let lines: Vec<_> = lines.iter().map(Value::to_string).collect();
    lines.join("\n") + "\n"
}

fn of_type<'l>(lines: &'l [Value], kind: &str) -> Vec<&'l Value> {
    lines.iter().filter(|line| line["type"] == kind).collect()
}

/// The arguments of each call as they grew, by agent and id. Each line extends them.
fn join_partials(lines: &[Value]) -> BTreeMap<String, Map<String, Value>> {
    let mut all: BTreeMap<String, Map<String, Value>> = BTreeMap::new();
    for line in lines {
        let id = format!("{}{}", line["parent"].as_str().unwrap_or_default(), line["id"]);
        match line["type"].as_str().expect("each line has one") {
            "begin" => assert!(all.insert(id, Map::new()).is_none(), "{line}"),
            "partial" => {
                let call = all.get_mut(&id).expect("it has begun");
                for (name, value) in line["set"].as_object().into_iter().flatten() {
                    let before = call.insert(name.clone(), value.clone());
                    let before = before.as_ref().and_then(Value::as_str).unwrap_or_default();
                    let after = value.as_str().unwrap_or_default();
                    assert!(after.starts_with(before), "{line}: {before}");
                }
                for (name, text) in line["append"].as_object().into_iter().flatten() {
                    let before = call.get(name).and_then(Value::as_str).unwrap_or_default();
                    let text = text.as_str().expect("it is a text");
                    call.insert(name.clone(), format!("{before}{text}").into());
                }
            }
            "retry" => all.clear(),
            _ => {}
        }
    }
    all
}

#[test]
fn a_request_is_stopped_once_a_call_cannot_be_valid() {
    let taken = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&taken);
    let server = Server::start(move |at, request| match at {
        0 => slowly(calls(request, &[("note", WRONG)]), &counted),
        1 => calls(request, &[("note", RIGHT)]),
        _ => says(request, "It is done."),
    });
    let (run, files) = helper(&server, "openai/any");
    let run = run.exits(0);
    insta::assert_snapshot!("a_request_is_stopped", show_lines(&lines(&run)));
    // The connection was closed early.
    let count = taken.load(Ordering::Relaxed);
    assert!(count < 20, "{count}");
    // The model gets the call and its error.
    let messages = &server.requests()[1]["messages"];
    let call = &messages[2]["tool_calls"][0]["function"]["arguments"];
    assert_eq!(*call, json!(r#"{"malformed_arguments":"{\"count\": \"many\", "}"#), "{messages}");
    let error = messages[3]["content"].as_str().expect("it is a text");
    assert!(error.starts_with("`note`: `count` must be an integer, got \"many\""), "{error}");
    // A trace can be played again, with the same outcome.
    let trace = files.read("trace.jsonl");
    assert!(!trace.contains(r#""type":"partial""#) && !trace.contains(r#""type":"begin""#));
    let again = gramc("run spec.gram Note --library works --stream --replay trace.jsonl");
    let again = again.within(files.path()).run().exits(0);
    let (first, second) = (lines(&run), lines(&again));
    assert_eq!(of_type(&first, "reply"), of_type(&second, "reply"));
    assert_eq!(of_type(&first, "call"), of_type(&second, "call"));
    let summary = gramc("trace trace.jsonl").within(files.path()).run().exits(0);
    assert!(summary.stdout.contains("2 calls, 1 stopped, "), "{}", summary.stdout);
}

#[test]
fn all_providers_stop_and_start_again() {
    const WRONG_CALLS: Said = Said::Calls(&[("note", WRONG)]);
    const RIGHT_CALLS: Said = Said::Calls(&[("note", RIGHT)]);
    for provider in ALL {
        let taken = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&taken);
        let server = Server::start(move |at, _| match at {
            0 => slowly(provider.says(WRONG_CALLS, true), &counted),
            1 => provider.says(RIGHT_CALLS, true),
            _ => provider.says(Said::Text("It is done."), true),
        });
        let (run, _) = helper(&server, provider.model());
        let lines = lines(&run.exits(0));
        let text: String =
            of_type(&lines, "text").iter().filter_map(|line| line["content"].as_str()).collect();
        assert_eq!(text, "It is done.", "{provider:?}");
        let ends = of_type(&lines, "end");
        assert_eq!((ends.len(), &ends[0]["text"]), (1, &json!("It is done.")));
        assert_eq!(of_type(&lines, "reply").len(), 3, "{provider:?} {}", show_lines(&lines));
        let verdicts = of_type(&lines, "call");
        let error = &verdicts[0]["verdict"]["error"];
        assert_eq!(error["errors"][0]["property"], "count", "{provider:?}");
        let partial = of_type(&lines, "partial")[0];
        assert_eq!(partial["error"]["errors"], error["errors"], "{provider:?}");
        let grown = join_partials(&lines);
        let id = verdicts[1]["id"].to_string();
        assert_eq!(json!(grown[&id]), verdicts[1]["verdict"]["arguments"], "{provider:?}");
        // Gemini does not stream arguments, so its replies are complete in these tests.
        if provider != Provider::Gemini {
            let count = taken.load(Ordering::Relaxed);
            assert!(count < 20, "{provider:?} {count}");
            assert_eq!(ends[0]["usage"]["stopped"], 1, "{provider:?}");
            assert_eq!(ends[0]["usage"]["input_tokens"], 40, "{provider:?}");
            let request = server.requests()[1].to_string();
            assert!(request.contains("malformed_arguments"), "{provider:?} {request}");
        }
    }
}

#[test]
fn complete_calls_of_a_stopped_reply_are_run() {
    let taken = Arc::new(AtomicUsize::new(0));
    let server = Server::start(move |at, request| match at {
        0 => slowly(calls(request, &[("note", RIGHT), ("note", WRONG), ("note", RIGHT)]), &taken),
        _ => says(request, "It is done."),
    });
    let (run, _) = helper(&server, "openai/any");
    let lines = lines(&run.exits(0));
    let verdicts = of_type(&lines, "call");
    let outcomes: Vec<_> =
        verdicts.iter().map(|line| (&line["id"], &line["verdict"]["ok"])).collect();
    assert_eq!(outcomes, [(&json!("c0"), &json!(true)), (&json!("c1"), &json!(false))]);
    assert_eq!(json!(join_partials(&lines)["\"c0\""]), verdicts[0]["verdict"]["arguments"]);
    assert!(!server.requests()[1].to_string().contains("c2"));
}

#[test]
fn calls_that_are_written_at_the_same_time_are_kept_apart() {
    let server = Server::start(|at, request| {
        if at > 0 {
            return says(request, "It is done.");
        }
        let both = [RIGHT, r#"{"count": 3, "text": "Other", "tags": ["a", "b"]}"#];
        let Answer::Stream(first, whole) = calls(request, &[("note", both[0]), ("note", both[1])])
        else {
            panic!("it is a stream");
        };
        // One piece of each call in turn.
        let (calls, ends): (Vec<_>, Vec<_>) =
            first.into_iter().partition(|it| it["choices"][0]["delta"]["tool_calls"].is_array());
        let index = |it: &Value| it["choices"][0]["delta"]["tool_calls"][0]["index"].as_u64();
        let (one, other): (Vec<_>, Vec<_>) = calls.into_iter().partition(|it| index(it) == Some(0));
        let longer = one.len().max(other.len());
        let turns = (0..longer).flat_map(|at| [one.get(at), other.get(at)]).flatten().cloned();
        Answer::Stream(turns.chain(ends).collect(), whole)
    });
    let (run, _) = helper(&server, "openai/any");
    let lines = lines(&run.exits(0));
    let grown = join_partials(&lines);
    let verdicts = of_type(&lines, "call");
    assert_eq!(verdicts.len(), 2);
    for verdict in verdicts {
        let id = verdict["id"].to_string();
        assert_eq!(json!(grown[&id]), verdict["verdict"]["arguments"], "{}", show_lines(&lines));
    }
}

#[test]
fn secrets_are_in_no_line() {
    const SECRET: &str = "hunter2-hunter2";
    let login = r#"{"user": "ada", "password": "hunter2-hunter2"}"#;
    let server = Server::start(move |at, request| match at {
        // The other call quotes the secret, and so does the text of the next reply.
        0 => calls(
            request,
            &[("login", login), ("note", r#"{"count": 1, "text": "hunter2-hunter2"}"#)],
        ),
        1 => calls(request, &[("note", r#"{"count": 1, "text": "It was hunter2-hunter2 again"}"#)]),
        2 => calls(request, &[("note", r#"{"count": ["hunter2-hunter2"], "text": 1}"#)]),
        _ => {
            let chunk = |text: &str| json!({"choices": [{"delta": {"content": text}}]});
            let end = json!({"choices": [{"delta": {}, "finish_reason": "stop"}]});
            let mut chunks: Vec<_> =
                ["I said hunt", "er2-hun", "ter2 and hunt", "ed"].map(chunk).to_vec();
            chunks.push(end);
            Answer::Stream(chunks, true)
        }
    });
    let (run, _) = helper(&server, "openai/any");
    let run = run.exits(0);
    assert!(!run.stdout.contains(SECRET), "{}", run.stdout);
    let lines = lines(&run);
    let begun: Vec<_> = of_type(&lines, "begin").iter().map(|line| line["name"].clone()).collect();
    assert_eq!(begun, ["login", "note", "note", "note"]);
    // Nothing of the call with the secret is streamed.
    let grown = join_partials(&lines);
    let ids: Vec<_> = of_type(&lines, "begin").iter().map(|line| line["id"].to_string()).collect();
    assert_eq!(grown[&ids[0]], Map::new());
    assert_eq!(json!(grown[&ids[1]]), json!({"count": 1, "text": "***"}));
    assert_eq!(json!(grown[&ids[2]]), json!({"count": 1, "text": "It was *** again"}));
    let text: String =
        of_type(&lines, "text").iter().filter_map(|line| line["content"].as_str()).collect();
    assert_eq!(text, "I said *** and hunted");
}

#[test]
fn replies_that_are_not_streamed_have_the_same_lines() {
    let answer = |at: usize, request: &Value| match at {
        0 => message(
            &json!({"stream": false}),
            &json!({"content": "Now.", "tool_calls": [
                {"id": "c0", "function": {"name": "note", "arguments": RIGHT}},
            ]}),
        ),
        _ => says(request, "It is done."),
    };
    let server = Server::start(answer);
    let (run, files) = helper(&server, "openai/any");
    let first = lines(&run.exits(0));
    let kinds: Vec<_> = first.iter().map(|line| line["type"].as_str().expect("one")).collect();
    let kinds: Vec<_> = kinds.into_iter().filter(|kind| *kind != "text").collect();
    assert_eq!(kinds, ["run", "user", "begin", "partial", "reply", "call", "reply", "end"]);
    assert_eq!(first[3]["set"], json!({"count": 2, "text": "A \"long\" text, é"}));
    // Scripts, and calls as text.
    let called = r#"{"content": "<tool_call>{\"name\": \"note\", \"arguments\": {\"count\": 2, \"text\": \"x\"}}</tool_call>"}"#;
    files.write("script.jsonl", format!("{called}\n{{\"content\": \"Done.\"}}\n"));
    let run = run_streaming(&files, &server, "--model scripted/script.jsonl").run().exits(0);
    insta::assert_snapshot!("a_call_as_text", show_lines(&lines(&run)));
}

#[test]
fn retries_void_what_was_streamed() {
    let server = Server::start(|at, request| match at {
        0 => {
            let Answer::Stream(mut chunks, _) = calls(request, &[("note", RIGHT)]) else {
                panic!("it is a stream");
            };
            chunks.truncate(8);
            let events = chunks.into_iter().map(|chunk| ("message", chunk));
            Answer::Events(events.collect(), Ending::Broken)
        }
        1 => calls(request, &[("note", RIGHT)]),
        _ => says(request, "It is done."),
    });
    let (run, _) = helper(&server, "openai/any");
    let lines = lines(&run.exits(0));
    let begun = of_type(&lines, "begin");
    assert_eq!((begun.len(), begun[0]), (2, begun[1]));
    assert_eq!(of_type(&lines, "retry").len(), 1);
    let verdict = &of_type(&lines, "call")[0]["verdict"];
    assert_eq!(json!(join_partials(&lines)["\"c0\""]), verdict["arguments"]);
}

#[test]
fn called_agents_are_told_apart() {
    let spec = r#"
[chief:Agent {instruction: "You ask.", model: "openai/any"} | helper]
[helper:Agent {instruction: "You help."} | [note:Tool | (text::Text)==>(::Any)]]
[works:Library | (note:Builtin {name: "echo"})]
"#;
    let server = Server::start(|_, request| {
        let messages = request["messages"].as_array().expect("there are messages");
        let last = messages.last().expect("there is one");
        let text = last["content"].as_str().unwrap_or_default();
        match (messages[0]["content"].to_string().contains("You ask"), last["role"] == "tool") {
            (true, false) => calls(
                request,
                &[("helper", r#"{"message": "One"}"#), ("helper", r#"{"message": "Two"}"#)],
            ),
            (false, false) => calls(request, &[("note", &json!({"text": text}).to_string())]),
            (_, true) => says(request, "Done."),
        }
    });
    let files = folder(&[("spec.gram", spec)]);
    let run = run_streaming(&files, &server, "").run().exits(0);
    let lines = lines(&run);
    let grown = join_partials(&lines);
    assert_eq!(grown.len(), 4, "{}", show_lines(&lines));
    for (id, message) in [("c0", "One"), ("c1", "Two")] {
        assert_eq!(json!(grown[&format!("\"{id}\"")]), json!({"message": message}));
        assert_eq!(json!(grown[&format!("{id}\"c0\"")]), json!({"text": message}));
    }
    // A wrong message stops the request, too.
    let taken = Arc::new(AtomicUsize::new(0));
    let wrong = WRONG.replace("\"count\": \"many\"", "\"message\": {\"a\": 1}");
    let counted = Arc::clone(&taken);
    let server = Server::start(move |at, request| match at {
        0 => slowly(calls(request, &[("helper", &wrong)]), &counted),
        _ => says(request, "Done."),
    });
    let files = folder(&[("spec.gram", spec)]);
    let run = run_streaming(&files, &server, "").run().exits(0);
    let lines = self::lines(&run);
    let verdict = &of_type(&lines, "call")[0]["verdict"];
    assert_eq!(verdict["error"]["errors"][0]["property"], "message", "{verdict}");
    let count = taken.load(Ordering::Relaxed);
    assert!(count < 20, "{count}");
}

#[test]
fn options_that_exclude_each_other_are_refused() {
    let run = gramc("run examples/hello-world.gram Hello --library examples/friendly.gram");
    run.args("--stream --no-stream").run().exits(2).says(&["--no-stream"]);
    let run = gramc("run examples/hello-world.gram Hello --library examples/friendly.gram");
    let run = run.args("--stream --format json").run().exits(0);
    let last = run.stdout.lines().last().expect("there are lines");
    assert!(last.starts_with(r#"{"type":"end","agent":"hello"#), "{last}");
}
