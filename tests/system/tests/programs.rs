//! Agents that are programs: what they get, what they answer, and how they fail.

use serde_json::{Value, json};

use crate::support::{Folder, Gramc, folder, gramc};

/// An agent that does what its input says. It speaks MCP without a library.
const BOT: &str = r#"
import json, os, subprocess, sys, time, urllib.request

class Tools:
    def __init__(self):
        command = json.loads(os.environ["GRAMC_MCP_COMMAND"])
        pipes = dict(stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={})
        self.server, self.count = subprocess.Popen(command, **pipes), 0
        client = {"name": "bot", "version": "1"}
        self.ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {"elicitation": {}}, "clientInfo": client})
        self.say({"method": "notifications/initialized"})

    def say(self, message):
        self.server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self.server.stdin.flush()

    def ask(self, method, params):
        self.count += 1
        self.say({"id": self.count, "method": method, "params": params})
        while True:
            message = json.loads(self.server.stdout.readline())
            if "method" in message and "id" in message:
                self.say({"id": message["id"], "result": {"action": "accept", "content": {}}})
            elif message.get("id") == self.count:
                return message["result"]

def over_http(method, params):
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    request = urllib.request.Request(os.environ["GRAMC_MCP_URL"], json.dumps(message).encode(), headers)
    text = urllib.request.urlopen(request).read().decode()
    return json.loads(text[text.index("{"):])["result"]

tools = Tools()
for line in sys.stdin:
    message = json.loads(line)
    word, _, rest = message["input"].partition(" ")
    answer = {}
    if word == "greet":
        result = tools.ask("tools/call", {"name": "greet", "arguments": json.loads(rest)})
        answer["output"] = result["content"][0]["text"]
    elif word == "wipe":
        answer["output"] = tools.ask("tools/call", {"name": "wipe"})["content"][0]["text"]
    elif word == "list":
        answer["output"] = [tool["name"] for tool in tools.ask("tools/list", {})["tools"]]
    elif word == "http":
        client = {"name": "bot", "version": "1"}
        params = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}
        answer["output"] = over_http("initialize", params)["serverInfo"]["name"]
    elif word == "line":
        answer["output"] = {key: message[key] for key in sorted(message)}
    elif word == "count":
        answer["output"] = str(rest)
        answer["usage"] = {"input_tokens": 7, "output_tokens": 5, "requests": 3}
    elif word == "unknown":
        answer = {"output": rest, "usage": None, "model": None}
    elif word == "key":
        answer["output"] = os.environ.get("OPENAI_API_KEY", "none")
    elif word == "busy":
        answer["error"] = "the provider is busy"
    elif word == "noise":
        print("Thinking...", flush=True)
    elif word == "nothing":
        answer["text"] = "misnamed"
    elif word == "sleep":
        time.sleep(60)
    elif word == "crash":
        print("Traceback", file=sys.stderr)
        raise ValueError("no idea what to do")
    elif word == "number":
        answer["output"] = rest
    elif word == "Invalid":
        answer["output"] = "41"
    print(json.dumps(answer), flush=True)
"#;

const SPEC: &str = r#"
[greet:Tool | (name::Text)==>(::Text)]
[hidden:Tool | ()==>(::Text)]
[bot:Agent {command: ["python3", "bot.py"]} | greet]
[polite:Library | (greet:Command {run: ["echo", "Good day"]}), (hidden:Command {run: ["true"]})]
[rude:Library | (greet:Command {run: ["echo", "Oi"]}), (hidden:Command {run: ["true"]})]
"#;

fn files() -> Folder {
    folder(&[("bot.py", BOT), ("spec.gram", SPEC)])
}

fn run(files: &Folder, input: &str) -> Gramc {
    gramc("run spec.gram --library polite").arg(input).within(files.path())
}

#[test]
fn a_program_gets_lines_and_answers_with_lines() {
    let files = files();
    let says = |input: &str| run(&files, input).run().exits(0).stdout;
    assert_eq!(says(r#"greet {"name": "Ada", "x": 1}"#), "Good day\n");
    assert_eq!(says("list"), "[\"greet\"]\n");
    assert_eq!(says("http"), "gramc\n");
    assert_eq!(says("line"), "{\"input\":\"line\"}\n");
    assert_eq!(run(&files, "key").env("OPENAI_API_KEY", "k").run().exits(0).stdout, "k\n");
    assert_eq!(says("unknown usage"), "usage\n");
    // One program runs for all turns of a conversation.
    let two = run(&files, "greet {}").arg(r#"greet {"name": "Ada"}"#).run().exits(0);
    assert!(two.stdout.contains("`name` is required"), "{two:?}");
    assert!(two.stdout.ends_with("Good day\n"), "{two:?}");
    two.says(&["> greet {}", "> greet {\"name\":\"Ada\"}"]);
}

#[test]
fn what_the_specification_says_is_told_to_the_program() {
    let files = files();
    let spec = files.read("spec.gram").replace(
        "[\"python3\", \"bot.py\"]",
        "[\"python3\", \"bot.py\"], instruction: \"Be kind\", model: \"openai/tiny\"",
    );
    files.write("spec.gram", spec);
    let shown = run(&files, "line").run().exits(0).stdout;
    let shown: Value = serde_json::from_str(&shown).unwrap();
    assert_eq!(shown, json!({"input": "line", "instruction": "Be kind", "model": "openai/tiny"}));
    let other = run(&files, "line").args("--model anthropic/large").run().exits(0).stdout;
    assert!(other.contains("anthropic/large"), "{other}");
    // A program that starts later hears what was said before.
    run(&files, "list").args("--conversation talk.json").run().exits(0);
    let again = run(&files, "line").args("--conversation talk.json").run().exits(0).stdout;
    let again: Value = serde_json::from_str(&again).unwrap();
    assert_eq!(again["messages"][0], json!({"role": "user", "content": "list"}));
    assert_eq!(again["messages"][1]["content"], "[\"greet\"]");
}

#[test]
fn a_program_need_not_be_declared() {
    let files = files();
    let spec = SPEC.lines().filter(|line| !line.contains("Agent")).collect::<Vec<_>>().join("\n");
    files.write("tools.gram", spec);
    let run = |command: &str| {
        let run = gramc("run tools.gram --library polite list --agent-command").arg(command);
        run.within(files.path()).run()
    };
    assert_eq!(run("python3 bot.py").exits(0).stdout, "[\"greet\",\"hidden\"]\n");
    run("").fails_with(&["the command of --agent-command is empty"]);
    run("python3 'bot.py").fails_with(&["invalid quoting in the command of --agent-command"]);
}

#[test]
fn a_program_that_fails_says_why() {
    let files = files();
    let fails = |input: &str, words: &str| {
        run(&files, input).run().exits(2).says(&[words]);
    };
    let who = "no answer: the agent's program `python3`";
    fails(
        "crash now",
        &format!("{who} exited without an answer (exit status: 1): ValueError: no idea what to do"),
    );
    fails("noise", &format!("{who} wrote an invalid answer to standard output"));
    fails("nothing", &format!("{who} returned no `output`: {{\"text\": \"misnamed\"}}"));
    fails("busy", &format!("{who} reports: the provider is busy"));
    let slow = run(&files, "sleep").args("--time-limit 0.5").run();
    slow.exits(1).says(&["reached the time limit of 0.5 s"]);
    files.write("spec.gram", files.read("spec.gram").replace("python3", "nonsense-of-ours"));
    run(&files, "list")
        .run()
        .exits(2)
        .says(&["the agent's program `nonsense-of-ours` cannot be run: there is no such program"]);
}

#[test]
fn an_answer_has_the_type_of_the_agent() {
    let files = files();
    let spec = files
        .read("spec.gram")
        .replace("[\"python3\", \"bot.py\"]", "[\"python3\", \"bot.py\"], result: Int");
    files.write("spec.gram", spec);
    assert_eq!(run(&files, "number 40").run().exits(0).stdout, "40\n");
    // The program is told, and answers again.
    assert_eq!(run(&files, "number forty").run().exits(0).stdout, "41\n");
}

#[test]
fn a_program_has_no_agents_among_its_members() {
    let files = files();
    let spec = files
        .read("spec.gram")
        .replace("| greet]", "| greet, [other:Agent {model: \"openai/x\"} | hidden]]");
    files.write("spec.gram", spec);
    run(&files, "list").args("--agent bot").run().exits(2).says(&[
        "agent `bot` is a program, which can call tools and containers, but not agent `other`",
    ]);
}

/// Compares the arms, and returns the runs.
fn compare(files: &Folder, cases: &[Value], code: i32) -> Vec<Value> {
    let cases: Vec<_> = cases.iter().map(Value::to_string).collect();
    files.write("cases.jsonl", cases.join("\n"));
    let run =
        gramc("ab spec.gram --library polite --library rude --cases cases.jsonl --report out");
    run.args("--concurrency 1").within(files.path()).run().exits(code);
    let runs = files.read("out/runs.jsonl");
    runs.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn runs_of_programs_are_measured() {
    let files = files();
    let greet =
        json!({"id": "a", "input": "greet {\"name\": \"Ada\"}", "expect": {"contains": "Good"}});
    let count = json!({"id": "b", "input": "count x", "expect": {"contains": "x"}});
    let runs = compare(&files, &[greet, count], 0);
    let of = |case: &str, arm: &str| {
        runs.iter().find(|run| run["case"] == case && run["arm"] == arm).unwrap()
    };
    assert_eq!(of("a", "polite")["success"], true);
    assert_eq!(of("a", "rude")["success"], false);
    assert_eq!(of("a", "polite")["calls"], 1);
    assert_eq!(of("a", "polite").get("tokens"), None);
    assert_eq!(of("b", "rude")["tokens"], 12);
    assert_eq!(of("b", "rude")["iterations"], 3);
    let messages = of("a", "rude")["messages"].as_array().unwrap();
    assert_eq!(messages[1]["tool_calls"][0]["name"], "greet");
    assert_eq!(messages[2]["content"], "Oi");
}

#[test]
fn a_program_that_crashes_counts_against_its_arm() {
    let files = files();
    let case =
        |id: &str, input: &str| json!({"id": id, "input": input, "expect": {"contains": "x"}});
    let cases = [case("a", "count x"), case("b", "crash x"), case("c", "count x")];
    let runs = compare(&files, &cases, 0);
    let crashed: Vec<_> = runs.iter().filter(|run| run["case"] == "b").collect();
    for run in crashed {
        assert_eq!(run["success"], false);
        let why = run["missed"][0].as_str().unwrap();
        assert!(why.contains("exited without an answer"), "{why}");
    }
    // What is not the program's fault is tried again later.
    let files = self::files();
    let runs = compare(&files, &[case("a", "count x"), case("b", "busy x")], 2);
    assert!(runs.iter().all(|run| run["case"] == "a"), "{runs:?}");
}

#[test]
fn a_program_does_not_approve_its_own_calls() {
    let files = files();
    let wipe = "[wipe:Tool {approval: \"always\"} | ()==>(::Text)]\n";
    let spec = files.read("spec.gram").replace("| greet]", "| greet, wipe]");
    let spec = spec.replace("(greet:", "(wipe:Command {run: [\"echo\", \"wiped\"]}), (greet:");
    files.write("spec.gram", wipe.to_owned() + &spec);
    let asked = run(&files, "wipe").run().exits(0).stdout;
    assert!(asked.contains("approv") && !asked.contains("wiped"), "{asked}");
    let approved = run(&files, "wipe").args("--approve-with true").run().exits(0).stdout;
    assert_eq!(approved, "wiped\n");
}
