//! `gramc session`, driven by hosts: the clients of the examples, and lines that no client writes.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use serde_json::{Value, json};

use crate::calls::verdict_fault;
use crate::support::{Folder, binary, command, folder, gramc, root};

const SPEC: &str = r#"
[pick:Tool | (n::Int)==>(token::Text {injected: true, secret: true})==>(::Int)]
[wipe:Tool {destructive: true} | (path::Text)==>(key::Text {secret: true, default: "none-at-all"})==>(::Any)]
[echo:Tool | (x::Any)==>(::Any)]
[slow:Tool | ()==>(::Any)]
[add:Tool | (a::Int)==>(b::Int)==>(::Int)]
[maths:Container | add]
"#;
const LIBRARY: &str = r#"
[l:Library {throttle: "off", inject: {token: "tok-4711"}, expand: "turn"} |
  (pick:Client {maxAttempts: 2}), (wipe:Client), (echo:Builtin), (slow:Client {timeout: 300ms}),
  (add:Builtin)
]
"#;

fn files() -> Folder {
    folder(&[("spec.gram", SPEC), ("library.gram", LIBRARY)])
}

/// A session and its host.
struct Hosted {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Hosted {
    fn start(folder: &Folder, words: &[&str]) -> Self {
        let mut child = command(binary())
            .args(["session", "spec.gram", "--library", "library.gram"])
            .args(words)
            .current_dir(folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the binary starts");
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().expect("it is a pipe"));
        Self { child, input, output }
    }

    fn write(&mut self, line: &str) {
        let input = self.input.as_mut().expect("it is open");
        writeln!(input, "{line}").expect("it reads");
    }

    fn say(&mut self, line: &Value) {
        self.write(&line.to_string());
    }

    fn hear(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).expect("it writes");
        let line: Value = serde_json::from_str(&line).unwrap_or_else(|e| panic!("{e}: {line:?}"));
        if line.get("ok").is_some() {
            assert_eq!(verdict_fault(&line), None, "{line}");
        }
        line
    }

    /// The error of a line.
    fn refuses(&mut self, line: &str) -> String {
        self.write(line);
        let answer = self.hear();
        assert!(answer["line"].is_u64(), "{line}: {answer}");
        answer["error"].as_str().expect("it is a text").to_owned()
    }

    /// Closes the input, and gives the lines until the end.
    fn end(mut self) -> Vec<Value> {
        drop(self.input.take());
        let lines = self.output.by_ref().lines();
        let lines = lines.map(|line| serde_json::from_str(&line.expect("it writes")).unwrap());
        let lines = lines.collect();
        assert_eq!(self.child.wait().expect("it ends").code(), Some(0));
        lines
    }
}

impl Drop for Hosted {
    fn drop(&mut self) {
        // A session that a failed test left behind; else it has ended.
        let _ = self.child.kill();
    }
}

#[test]
fn the_host_runs_its_own_tools() {
    let files = files();
    let mut host = Hosted::start(&files, &[]);
    host.say(&json!({"id": 7, "name": "pick", "arguments": {"n": "3", "more": 1}}));
    let question = host.hear();
    let arguments = json!({"n": 3, "token": "tok-4711"});
    let invoke = json!({"id": "ask-1", "name": "pick", "arguments": arguments});
    assert_eq!(question, json!({ "invoke": invoke }));
    host.say(&json!({"id": "ask-1", "result": 5}));
    let verdict = host.hear();
    assert_eq!((&verdict["id"], &verdict["result"]), (&json!("7"), &json!(5)), "{verdict}");
    assert_eq!((&verdict["arguments"], &verdict["stripped"]), (&json!({"n": 3}), &json!(["more"])));
    // A failure of the host, and a result of another type.
    host.say(&json!({"id": "a", "name": "pick", "arguments": {"n": 3}}));
    let id = host.hear()["invoke"]["id"].clone();
    host.say(&json!({"id": id, "error": "no such thing"}));
    let verdict = host.hear();
    assert_eq!(verdict["error"]["detail"], "no such thing", "{verdict}");
    host.say(&json!({"id": "a", "name": "pick", "arguments": {"n": 3}}));
    let id = host.hear()["invoke"]["id"].clone();
    host.say(&json!({"id": id, "result": "five"}));
    assert_eq!(host.hear()["warnings"][1]["code"], "result-mismatch");
    // A call that the check refuses does not reach the host.
    host.say(&json!({"id": "a", "name": "pick", "arguments": {"n": "x"}}));
    assert_eq!(host.hear()["error"]["error_type"], "validation_error");
    host.say(&json!({"id": "a", "name": "pick", "arguments": {"n": "x"}}));
    assert_eq!(host.hear()["error"]["error_type"], "needs_human_review");
    assert_eq!(host.end(), [json!(null); 0]);
}

#[test]
fn calls_run_at_the_same_time_and_end_in_any_order() {
    let files = files();
    let mut host = Hosted::start(&files, &[]);
    for n in 0..20 {
        host.say(&json!({"id": n, "name": "pick", "arguments": {"n": n}}));
    }
    let questions: Vec<Value> = (0..20).map(|_| host.hear()["invoke"].clone()).collect();
    // Another call is not held up.
    host.say(&json!({"id": "x", "name": "echo", "arguments": {"x": 1}}));
    assert_eq!(host.hear()["id"], "x");
    for question in questions.iter().rev() {
        let n = &question["arguments"]["n"];
        host.say(&json!({"id": question["id"], "result": n}));
        let verdict = host.hear();
        assert_eq!((&verdict["id"], &verdict["result"]), (&json!(n.to_string()), n), "{verdict}");
    }
    assert_eq!(host.end().len(), 0);
}

#[test]
fn the_host_approves_calls() {
    let files = files();
    let mut host = Hosted::start(&files, &[]);
    let call = json!({"id": 1, "name": "wipe", "arguments": {"path": "/data", "key": "hunter2"}});
    host.say(&call);
    let arguments = json!({"path": "/data", "key": "***"});
    let question = json!({"id": "ask-1", "name": "wipe", "arguments": arguments});
    assert_eq!(host.hear(), json!({ "approve": question }));
    let wrong = host.refuses(r#"{"id": "ask-1", "result": 1}"#);
    assert_eq!(wrong, "`ask-1` asks for approval: expected `approved`");
    host.say(&json!({"id": "ask-1", "approved": true, "reason": "it is old"}));
    let question = host.hear();
    assert_eq!(question["invoke"]["arguments"]["key"], "hunter2", "{question}");
    let wrong = host.refuses(r#"{"id": "ask-2", "approved": true}"#);
    assert_eq!(wrong, "`ask-2` is an invocation: expected `result` or `error`");
    host.say(&json!({"id": "ask-2", "result": null}));
    let verdict = host.hear();
    let approval = json!({"approved": true, "by": "host", "reason": "it is old"});
    assert_eq!((&verdict["approval"], &verdict["ok"]), (&approval, &json!(true)), "{verdict}");
    host.say(&call);
    assert_eq!(host.hear()["approve"]["id"], "ask-3");
    host.say(&json!({"id": "ask-3", "approved": false}));
    assert_eq!(host.hear()["error"]["error_type"], "approval_refused");
    // A program comes before the host.
    let mut host = Hosted::start(&files, &["--approve-with", "false"]);
    host.say(&call);
    assert_eq!(host.hear()["approval"]["by"], "program");
}

#[test]
fn a_line_that_is_wrong_is_answered() {
    let files = files();
    let mut host = Hosted::start(&files, &[]);
    for (line, what) in [
        ("hello", "invalid JSON"),
        ("[1]", "expected an object"),
        ("{}", "missing `name`"),
        (r#"{"name": "echo"}"#, "missing `id` of the call"),
        (r#"{"id": {}, "name": "echo"}"#, "expected a string or a number as `id`"),
        (r#"{"id": "ask-9", "result": 1}"#, "no question with the id `ask-9` waits"),
        (r#"{"id": "ask-9", "approved": true}"#, "no question with the id `ask-9` waits"),
        (r#"{"result": 1}"#, "missing `id` of the question"),
        (r#"{"id": "ask-9", "result": 1, "error": "x"}"#, "expected one of"),
        (r#"{"id": "ask-9", "error": 1}"#, "expected a string as `error`"),
        (r#"{"id": "ask-9", "approved": "yes"}"#, "expected true or false as `approved`"),
        (r#"{"id": "ask-9", "approved": true, "reason": 1}"#, "expected a string as `reason`"),
        (r#"{"reset": "no-such-tool"}"#, "cannot reset the unknown tool `no-such-tool`"),
        (r#"{"id": 1, "name": "echo", "args": {}}"#, "`args` is no key of a call"),
        (r#"{"type": "reply"}"#, "expected a call, an answer, `turn` or `reset`"),
    ] {
        let told = host.refuses(line);
        assert!(told.contains(what), "{line}: {told}");
    }
    // A call that gets no verdict is named.
    host.say(&json!({"id": 1, "name": "echo", "args": {}}));
    let answer = host.hear();
    assert_eq!((&answer["id"], &answer["line"]), (&json!("1"), &json!(16)), "{answer}");
    host.input.as_mut().unwrap().write_all(b"\"\xff\"\n\n").unwrap();
    assert_eq!(host.hear()["error"], "invalid UTF-8");
    let long = format!("{{\"id\": 1, \"name\": \"{}\"}}", "x".repeat(33 << 20));
    assert_eq!(host.refuses(&long), "this line is longer than 32 MiB");
    // An id is free again after its verdict, and not before.
    host.say(&json!({"id": 1, "name": "pick", "arguments": {"n": 1}}));
    let id = host.hear()["invoke"]["id"].clone();
    let twice = host.refuses(r#"{"id": "1", "name": "echo", "arguments": {"x": 1}}"#);
    assert_eq!(twice, "a call with the id `1` runs already");
    host.say(&json!({"id": id, "result": 1}));
    assert_eq!(host.hear()["ok"], true);
    let again = host.refuses(&json!({"id": id, "result": 1}).to_string());
    assert!(again.contains("no question with the id"), "{again}");
    host.say(&json!({"id": 1, "name": "echo", "arguments": {"x": 1}}));
    assert_eq!(host.hear()["result"], json!({"x": 1}));
    assert_eq!(host.end().len(), 0);
}

#[test]
fn a_session_has_time_limits_turns_and_containers() {
    let files = files();
    let mut host = Hosted::start(&files, &[]);
    host.say(&json!({"id": 1, "name": "slow"}));
    let id = host.hear()["invoke"]["id"].clone();
    assert_eq!(host.hear()["error"]["error_type"], "timeout");
    let late = host.refuses(&json!({"id": id, "result": 1}).to_string());
    assert!(late.contains("no question with the id"), "{late}");
    let add = json!({"id": 2, "name": "add", "arguments": {"a": 1, "b": 2}});
    host.say(&json!({"id": 1, "name": "maths"}));
    assert_eq!(host.hear()["ok"], true);
    host.say(&add);
    assert_eq!(host.hear()["result"], 3);
    host.say(&json!({"turn": true}));
    host.say(&add);
    assert_eq!(host.hear()["error"]["error_type"], "container_not_expanded");
    host.say(&json!({"reset": true}));
    host.say(&json!({"reset": "add"}));
    assert_eq!(host.end().len(), 0);
}

#[test]
fn the_end_of_the_input_ends_what_waits_for_the_host() {
    let files = files();
    let mut host = Hosted::start(&files, &[]);
    host.say(&json!({"id": 1, "name": "pick", "arguments": {"n": 1}}));
    host.say(&json!({"id": 2, "name": "wipe", "arguments": {"path": "/data"}}));
    let asked = [host.hear(), host.hear()];
    assert!(asked.iter().any(|line| line.get("approve").is_some()), "{asked:?}");
    let mut ended = host.end();
    ended.sort_by_key(|verdict| verdict["id"].to_string());
    let errors: Vec<_> = ended.iter().map(|verdict| &verdict["error"]["error_type"]).collect();
    assert_eq!(errors, ["invocation_error", "approval_required"], "{ended:?}");
    // A call that does not wait for the host ends well.
    let line = "session examples/hello-world.gram --library examples/polite.gram";
    let run = gramc(line).input("{\"id\": 1, \"name\": \"sayHello\"}").run().clean();
    assert_eq!(run.json()["result"], "Good day, world. How do you do?");
}

#[cfg(unix)]
#[test]
fn a_host_that_does_not_read_does_not_keep_it_from_ending() {
    use std::time::{Duration, Instant};

    let files = files();
    let mut host = Hosted::start(&files, &[]);
    // More than a pipe and the queue hold.
    let big = json!({"id": 1, "name": "echo", "arguments": {"x": "x".repeat(1 << 20)}}).to_string();
    let mut input = host.input.take().expect("it is open");
    std::thread::spawn(move || while writeln!(input, "{big}").is_ok() {});
    std::thread::sleep(Duration::from_millis(500));
    let kill = command("kill").arg("-TERM").arg(host.child.id().to_string()).status();
    assert!(kill.expect("there is a kill").success());
    let start = Instant::now();
    while host.child.try_wait().expect("it can be waited for").is_none() {
        assert!(start.elapsed() < Duration::from_secs(30), "it does not end");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn what_keeps_a_session_from_starting_is_told() {
    let files = files();
    let run = |line: &str| gramc(line).within(files.path()).run();
    run("session - --library library.gram")
        .fails_with(&["standard input is used by the host program"]);
    files.write("other.gram", "[l:Library | (echo:Builtin)]");
    run("session spec.gram --library other.gram")
        .exits(1)
        .says(&["error: `pick` has no implementation"]);
    gramc("session spec.gram --library other.gram --partial")
        .within(files.path())
        .input("{\"id\": 1, \"name\": \"echo\", \"arguments\": {\"x\": 1}}\n")
        .run()
        .clean();
}

/// What the clients of the examples print.
const PRINTED: &str = r#"addNote 1
addNote 2
addNote "`addNote`: `text` (What to remember, in one or two sentences) must be a string of 1 to 200 characters, got \"\""
deleteNote "the call of `deleteNote` was not approved: note 1 is needed"
deleteNote null
deleteNote "`deleteNote` failed: there is no note 3"
listNotes ["Buy milk","(deleted)"]
"#;

/// Runs a client of the examples with the binary under test.
fn client(program: &str, words: &[&str]) -> String {
    let run = command(program)
        .args(words)
        .arg(binary())
        .current_dir(root().join("examples/session"))
        .output()
        .expect("the client starts");
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    String::from_utf8(run.stdout).expect("it is text")
}

#[test]
fn a_host_in_python() {
    assert_eq!(client("python3", &["client.py"]), PRINTED);
}

#[test]
fn real_host_in_go() {
    let go = root().join(".tools/golang-go/go");
    assert!(go.exists(), "Go is not installed; `tests/real/install` installs it");
    let go = go.to_str().expect("a path");
    assert_eq!(client(go, &["run", "client.go"]), PRINTED);
    let checked = command(go)
        .args(["vet", "client.go"])
        .current_dir(root().join("examples/session"))
        .output()
        .expect("go starts");
    assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stderr));
}

#[test]
fn arguments_arrive_in_pieces() {
    let files = files();
    let mut host = Hosted::start(&files, &[]);
    host.say(&json!({"id": 1, "begin": "wipe"}));
    host.say(&json!({"id": 1, "chunk": "{\"pa"}));
    host.say(&json!({"id": 1, "chunk": "th\": \"/tm"}));
    assert_eq!(host.hear(), json!({"partial": {"id": "1", "append": {"path": "/tm"}}}));
    assert_eq!(host.refuses(r#"{"id": 1, "begin": "wipe"}"#), "expected a call that has not begun");
    assert_eq!(host.refuses(r#"{"id": 1, "name": "echo"}"#), "a call with the id `1` runs already");
    host.say(&json!({"id": 1, "chunk": "p\", \"key\": \"s3cret\"}"}));
    assert_eq!(host.hear(), json!({"partial": {"id": "1", "set": {"path": "/tmp"}}}));
    host.say(&json!({"id": 1, "end": true, "finish_reason": "stop"}));
    let question = host.hear();
    assert_eq!(question["approve"]["arguments"], json!({"path": "/tmp", "key": "***"}));
    host.say(&json!({"id": question["approve"]["id"], "approved": false}));
    assert_eq!(host.hear()["error"]["error_type"], "approval_refused");
    // A call that no continuation makes valid.
    host.say(&json!({"id": 1, "begin": "pick"}));
    host.say(&json!({"id": 1, "chunk": "{\"n\": \"many\", \"x\": "}));
    let partial = host.hear()["partial"].clone();
    assert_eq!(partial["error"]["errors"][0]["pointer"], "/n", "{partial}");
    host.say(&json!({"id": 1, "stop": true}));
    let verdict = host.hear();
    assert_eq!((&verdict["id"], &verdict["error"]), (&json!("1"), &partial["error"]));
    host.say(&json!({"id": 2, "begin": "none"}));
    assert_eq!(host.hear()["partial"]["error"]["error_type"], "unknown_tool");
    let unknown = "expected the `id` of a call that has begun";
    assert_eq!(host.refuses(r#"{"id": 3, "chunk": "{"}"#), unknown);
    assert_eq!(host.refuses(r#"{"id": 2, "stop": 1}"#), "expected true as `end` or `stop`");
    assert_eq!(host.end(), [json!(null); 0]);
}
