//! `gramc run` at a terminal.
#![cfg(unix)]

use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::model_server::{Answer, Server, says};
use crate::support::{Folder, binary, command, folder, root};

/// What came of typing.
pub(crate) struct Typed {
    pub(crate) shown: String,
    pub(crate) code: i64,
    /// Whether the terminal is as it was before.
    pub(crate) whole: bool,
}

/// Chats at a terminal, with a folder for what is remembered and written down.
fn chat(files: &Folder, options: &str, variables: &[(&str, &str)], steps: &Value) -> Typed {
    let mut python = terminal();
    python.args(["run", "examples/hello-world.gram", "--library", "examples/friendly.gram"]);
    python.arg("--trace").arg(files.file("trace.jsonl")).args(options.split_whitespace());
    python.current_dir(root()).env("XDG_STATE_HOME", files.file("state"));
    python.envs(variables.iter().copied());
    typed(python, steps)
}

/// `gramc` at a terminal of its own, without arguments.
pub(crate) fn terminal() -> Command {
    let mut python = command("python3");
    python.arg(root().join("tests/real/terminal.py")).arg(binary()).env("TERM", "xterm");
    python
}

/// Types at a terminal.
pub(crate) fn typed(mut python: Command, steps: &Value) -> Typed {
    python.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = python.spawn().expect("python3 starts");
    let mut input = child.stdin.take().expect("it is piped");
    input.write_all(steps.to_string().as_bytes()).expect("it reads its steps");
    drop(input);
    let output = child.wait_with_output().expect("it runs");
    let told: Value = serde_json::from_slice(&output.stdout).expect("it tells as JSON");
    let shown = told["shown"].as_str().expect("it is text").to_owned();
    assert!(told["wrong"].is_null(), "{} {shown:?}", told["wrong"]);
    assert!(!shown.contains("panicked"), "{shown}");
    let code = told["code"].as_i64().expect("it is a number");
    Typed { shown, code, whole: told["echo"] == true }
}

/// What the agent was told, as the trace has it.
fn told(files: &Folder) -> Vec<String> {
    let trace = files.read("trace.jsonl");
    let lines = trace.lines().map(|line| serde_json::from_str(line).expect("it is JSON"));
    let users = lines.filter(|line: &Value| line["type"] == "user");
    users.map(|line| line["content"].as_str().expect("it is text").to_owned()).collect()
}

const UP: &str = "\u{1b}[A";
const LEFT: &str = "\u{1b}[D";

#[test]
fn lines_are_edited_and_remembered() {
    let files = folder(&[]);
    let steps = json!([
        ["see", "> "],
        ["type", format!("Helo{LEFT}l\r")],
        ["see", "Nice to meet you.\r\nHello, world! Nice to meet you."],
        ["see", "> "],
        // The line before, and more.
        ["type", format!("{UP} again\r")],
        ["see", "Nice to meet you.\r\nHello, world!"],
        ["see", "> "],
        // What begins with a space is said, and not remembered.
        ["type", " my secret\r"],
        ["see", "Nice to meet you.\r\nHello, world!"],
        ["see", "> "],
        ["type", "\r"],
        ["see", "> "],
        ["type", "\u{4}"],
    ]);
    let typed = chat(&files, "", &[], &steps);
    assert_eq!((typed.code, typed.whole), (0, true), "{:?}", typed.shown);
    assert_eq!(told(&files), ["Hello", "Hello again", " my secret"]);
    let history = files.read("state/gramc/history");
    assert!(history.ends_with("\nHello\nHello again\n"), "{history}");
    let mode = |name: &str| {
        let metadata = std::fs::metadata(files.file(name)).expect("it is there");
        metadata.permissions().mode() & 0o777
    };
    assert_eq!((mode("state/gramc/history"), mode("state/gramc")), (0o600, 0o700));
    // Another chat knows them; several lines that are pasted are one message.
    let steps = json!([
        ["see", "> "],
        ["type", format!("{UP}!\r")],
        ["see", "Nice to meet you.\r\nHello, world!"],
        ["see", "> "],
        ["type", "\u{1b}[200~one\ntwo\u{1b}[201~\r"],
        ["see", "Nice to meet you.\r\nHello, world!"],
        ["see", "> "],
        ["type", "\u{4}"],
    ]);
    assert_eq!(chat(&files, "", &[], &steps).code, 0);
    assert_eq!(told(&files), ["Hello again!", "one\ntwo"]);
}

#[test]
fn nothing_is_remembered_where_nobody_wants_that_or_it_cannot_be() {
    let steps = json!([
        ["see", "> "],
        ["type", "Hello\r"],
        ["see", "Nice to meet you.\r\nHello, world!"],
        ["see", "> "],
        ["type", "\u{4}"],
    ]);
    let files = folder(&[]);
    assert_eq!(chat(&files, "--no-history", &[], &steps).code, 0);
    assert!(!files.file("state").exists());
    files.write("state", "This is no folder.");
    let typed = chat(&files, "", &[], &steps);
    assert_eq!(typed.code, 0);
    assert!(typed.shown.contains("warning: cannot save the history"), "{}", typed.shown);
    // A terminal that can do nothing gets lines as they are.
    let files = folder(&[]);
    let typed = chat(&files, "", &[("TERM", "dumb")], &steps);
    assert_eq!((typed.code, told(&files)), (0, vec!["Hello".to_owned()]));
    assert!(!typed.shown.contains('\u{1b}'), "{:?}", typed.shown);
}

#[test]
fn interrupts_end_a_turn_or_the_chat() {
    // At the prompt: the first one leaves the line, the second one ends the chat.
    let files = folder(&[]);
    let steps = json!([
        ["see", "> "],
        ["type", "half a li\u{3}"],
        ["see", "press Ctrl-C again or Ctrl-D"],
        ["see", "> "],
        ["type", "Hello\r"],
        ["see", "Nice to meet you.\r\nHello, world!"],
        ["see", "> "],
        ["type", "\u{3}"],
        ["see", "press Ctrl-C again or Ctrl-D"],
        ["see", "> "],
        ["type", "\u{3}"],
    ]);
    let typed = chat(&files, "", &[], &steps);
    assert_eq!((typed.code, typed.whole), (130, true), "{:?}", typed.shown);
    assert_eq!(told(&files), ["Hello"]);
    // While the model is asked: the turn ends, and the chat goes on.
    let server = Server::start(|_, request| {
        let again = request.to_string().contains("Still there?");
        if again { says(request, "Here I am.") } else { Answer::Silence }
    });
    let steps = json!([
        ["see", "> "],
        ["type", "Hello\r"],
        ["see", "\"request\":1"],
        ["type", "\u{3}"],
        ["see", "no answer: cancelled"],
        ["see", "> "],
        ["type", "Still there?\r"],
        ["see", "Here I am."],
        ["see", "> "],
        ["type", "\u{4}"],
    ]);
    let url = server.url();
    let options = "--model openai/any --debug --conversation ";
    let options = options.to_owned() + &files.file("talk.json").display().to_string();
    let typed = chat(&files, &options, &[("OPENAI_BASE_URL", &url)], &steps);
    assert_eq!((typed.code, typed.whole), (1, true), "{:?}", typed.shown);
    assert_eq!(told(&files), ["Hello", "Still there?"]);
    assert!(files.read("talk.json").contains("Still there?"));
}

#[test]
fn no_answer_steers_the_terminal() {
    let files = folder(&[(
        "script.jsonl",
        &json!({"content": "It is \u{1b}[31mred\u{7}\nand\tmore."}).to_string(),
    )]);
    for stream in ["", "--no-stream"] {
        let steps = json!([
            ["see", "> "],
            ["type", "Hello\r"],
            ["see", "It is  [31mred \r\nand\tmore."],
            ["see", "> "],
            ["type", "\u{4}"],
        ]);
        let model = format!("--model scripted/{} ", files.file("script.jsonl").display());
        assert_eq!(chat(&files, &(model + stream), &[], &steps).code, 0);
    }
}

#[test]
fn a_terminal_is_given_back_as_it_was() {
    let files = folder(&[]);
    let steps = json!([["see", "> "], ["type", "half a li"], ["see", "half a li"], ["signal", 15]]);
    let typed = chat(&files, "", &[], &steps);
    assert_eq!((typed.code, typed.whole), (143, true), "{:?}", typed.shown);
}
