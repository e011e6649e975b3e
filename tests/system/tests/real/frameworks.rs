//! Agents of real frameworks, `examples/frameworks`, over models that are scripted and real.
//! `tests/real/install` installs them.

use serde_json::{Value, json};

use crate::model_server::{Answer, Server};
use crate::real::agent::llama;
use crate::support::{Folder, folder, gramc, installed, root};

const AGENTS: [&str; 5] = ["own", "pydanticAi", "openaiAgents", "langGraph", "aiSdk"];

/// The example, with the packages that it imports.
fn example() -> Folder {
    let files = folder(&[]);
    for entry in std::fs::read_dir(root().join("examples/frameworks")).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        files.write(&name, std::fs::read(entry.path()).unwrap());
    }
    let packages = installed("ai-sdk/node_modules");
    std::os::unix::fs::symlink(packages, files.file("node_modules")).unwrap();
    files
}

/// The runs of an experiment with an agent.
fn runs(files: &Folder, agent: &str, options: &str, url: &str) -> Vec<Value> {
    let path =
        format!("{}:{}", installed("frameworks/bin").display(), std::env::var("PATH").unwrap());
    let run = gramc("ab support.gram --library tracked --library untracked --cases cases.jsonl");
    let run = run.args(&format!("--agent {agent} --report {agent} {options}")).within(files.path());
    let run = run.env("PATH", &path).env("OPENAI_API_KEY", "a-key");
    let run = run.env("OPENAI_BASE_URL", url);
    run.run().exits(0);
    let runs = files.read(&format!("{agent}/runs.jsonl"));
    runs.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Tracks the parcel that the user names, first with a word in place of its number if the parcel is
/// odd, and then answers with the result.
fn answer(request: &Value) -> Answer {
    let messages = request["messages"].as_array().expect("a list");
    let join = |parts: &[Value]| parts.iter().filter_map(|it| it["text"].as_str()).collect();
    let text = |message: &Value| -> String {
        let Value::String(text) = &message["content"] else {
            return join(message["content"].as_array().map_or(&[], Vec::as_slice));
        };
        // The AI SDK hands the content of MCP over as it is.
        serde_json::from_str(text).map_or_else(|_| text.clone(), |parts: Vec<Value>| join(&parts))
    };
    let (user, last) = (messages.iter().rfind(|it| it["role"] == "user"), messages.last());
    let (user, last) = (text(user.expect("a user speaks")), text(last.expect("a message")));
    let number: String = user.chars().filter(char::is_ascii_digit).collect();
    let is_odd = number.parse::<u32>().expect("the user names a parcel") % 2 == 1;
    let call = |arguments: Value| {
        let function = json!({"name": "trackParcel", "arguments": arguments.to_string()});
        let call =
            json!({"id": format!("c{}", messages.len()), "type": "function", "function": function});
        (json!({"role": "assistant", "content": null, "tool_calls": [call]}), "tool_calls")
    };
    let (message, reason) = match &*last {
        text if text == user && is_odd => call(json!({"number": "odd"})),
        text if text == user || text.contains("odd") => call(json!({"number": number})),
        text => (json!({"role": "assistant", "content": format!("It says: {text}")}), "stop"),
    };
    let choice = json!({"index": 0, "message": message, "finish_reason": reason});
    Answer::Json(
        200,
        Vec::new(),
        json!({
            "id": "r", "object": "chat.completion", "created": 1, "model": request["model"],
            "choices": [choice],
            "usage": {"prompt_tokens": 20, "completion_tokens": 5, "total_tokens": 25},
        }),
    )
}

#[test]
fn every_framework_gives_the_table_of_our_own_agent() {
    let server = Server::start(|_, request| answer(request));
    let files = example();
    let measures = [
        "case",
        "arm",
        "success",
        "calls",
        "refused",
        "repairs",
        "attempts",
        "iterations",
        "tokens",
        "end",
        "text",
    ];
    let of = |agent: &str| -> Vec<Vec<Value>> {
        let runs = runs(&files, agent, "", &server.url());
        let mut all: Vec<Vec<Value>> =
            runs.iter().map(|run| measures.map(|key| run[key].clone()).to_vec()).collect();
        all.sort_by_key(|run| format!("{run:?}"));
        all
    };
    let own = of("own");
    assert_eq!(own.len(), 4);
    let refused: Vec<_> = own.iter().map(|run| &run[4]).collect();
    assert_eq!(refused, [1, 1, 0, 0], "{own:?}");
    for agent in &AGENTS[1..] {
        assert_eq!(of(agent), own, "{agent}");
    }
}

#[test]
fn every_framework_runs_with_a_real_model() {
    let server = llama();
    let files = example();
    let cases = files.read("cases.jsonl");
    files.write("cases.jsonl", cases.lines().next().unwrap());
    for agent in AGENTS {
        let url = format!("http://127.0.0.1:{}/v1", server.port);
        let runs = runs(&files, agent, "--concurrency 1 --max-iterations 3", &url);
        assert_eq!(runs.len(), 2, "{agent}");
        for run in &runs {
            assert!(
                run["tokens"].as_u64().is_some_and(|tokens| tokens > 0) || run["end"] != "answered",
                "{agent}: {run}"
            );
        }
    }
}
