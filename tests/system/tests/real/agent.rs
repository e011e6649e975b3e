//! `gramc run` with servers that others wrote: aimock, which answers as each provider does, and
//! llama.cpp's with a small model.

use std::io::{BufRead as _, BufReader};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::{Duration, Instant};

use crate::docs::{Shown, printed_with, transcript};
use crate::markdown::blocks;
use crate::support::{Gramc, command, gramc, installed, root};

const HELLO: &str = "run examples/hello-world.gram --library examples/friendly.gram";

/// A server, until the test ends.
pub(crate) struct Server {
    child: Child,
    pub(crate) port: u16,
    /// Some end when it is closed.
    _input: Option<ChildStdin>,
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn aimock(fixtures: &Path) -> Server {
    let port = {
        let free = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        free.local_addr().expect("it has one").port()
    };
    let mut node = command("node");
    node.arg(installed("models/node_modules/@copilotkit/aimock/dist/cli.js"));
    node.args(["-h", "127.0.0.1", "-p"]).arg(port.to_string()).arg("-f").arg(fixtures);
    let child = node.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("node starts");
    let server = Server { child, port, _input: None };
    let start = Instant::now();
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        assert!(start.elapsed() < Duration::from_mins(1), "aimock does not listen");
        std::thread::sleep(Duration::from_millis(50));
    }
    server
}

pub(crate) fn llama() -> Server {
    let mut python: Command = command(installed("python/bin/python"));
    python.arg(root().join("tests/real/llama.py")).env("PYTHONPATH", installed("llama"));
    python.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = python.spawn().expect("python starts");
    let (input, output) = (child.stdin.take(), child.stdout.take().expect("it is piped"));
    let mut line = String::new();
    BufReader::new(output).read_line(&mut line).expect("it tells its port");
    let port = line.trim().parse().expect("a port is a number");
    Server { child, port, _input: input }
}

#[test]
fn five_turns_with_each_provider_streaming_and_not() {
    let server = aimock(&root().join("tests/real/models/greetings.json"));
    let base = format!("http://127.0.0.1:{}", server.port);
    let turns =
        ["Hello, I am Ada!", "What can you do?", "Hi there!", "Thanks.", "Hello from Grace"];
    let providers = [
        ("openai/gpt-4o-mini", "OPENAI", "/v1"),
        ("openai-responses/gpt-4o-mini", "OPENAI", "/v1"),
        ("anthropic/claude-sonnet-4-5", "ANTHROPIC", "/v1"),
        ("gemini/gemini-2.0-flash", "GEMINI", "/v1beta"),
    ];
    for (model, provider, path) in providers {
        for stream in ["--show=150", "--no-stream"] {
            let run = gramc(HELLO).arg("--model").arg(model).arg(stream);
            let run = run.env(&format!("{provider}_BASE_URL"), &format!("{base}{path}"));
            let run = run.env(&format!("{provider}_API_KEY"), "a-key");
            let run = turns.iter().fold(run, Gramc::arg).run().exits(0);
            assert_eq!(
                run.stdout,
                "It says: Hello, Ada! Nice to meet you.\n\
                 I greet people.\n\
                 It says: Hello, world! Nice to meet you.\n\
                 I greet people.\n\
                 It says: Hello, Grace! Nice to meet you. 😀\n",
                "{model} {stream}"
            );
            run.says(&["= Hello, Ada! Nice to meet you.", "= Hello, Grace! Nice to meet you."]);
        }
    }
}

/// A server as the README starts it, but on a port that is free.
fn as_the_readme_does(line: &str) -> Server {
    let free = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let port = free.local_addr().expect("it has one").port();
    drop(free);
    let line = line.strip_suffix(" &").expect("it runs beside");
    let line = line.replace("--port 8080", &format!("--port {port}"));
    let mut bash = command("bash");
    bash.args(["-c", &format!("exec env {line}")]).current_dir(root());
    let child = bash.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("bash starts");
    let mut server = Server { child, port, _input: None };
    let start = Instant::now();
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        let ended = server.child.try_wait().expect("it is there");
        assert!(ended.is_none(), "`{line}` ended: {ended:?}");
        assert!(start.elapsed() < Duration::from_mins(2), "`{line}` does not listen");
        std::thread::sleep(Duration::from_millis(100));
    }
    server
}

/// A reader who follows the manual gets the conversation that it shows.
#[test]
fn the_manual_shows_the_conversation_that_its_reader_gets() {
    installed("llama/stamp");
    let text = std::fs::read_to_string(root().join("docs/agents.md")).expect("there is a page");
    let blocks = blocks(&text);
    let shown = blocks.iter().position(|block| block.info == "console llama");
    let shown = shown.expect("it shows a conversation");
    let setup: Vec<_> = blocks[shown - 1].text.lines().collect();
    let [install, serve] = setup[..] else { panic!("two lines start the server: {setup:?}") };
    // As `tests/real/install` has done.
    assert_eq!(
        install,
        "python3 -m pip install --no-deps --target .tools/llama --requirement tests/real/llama.txt"
    );
    let server = as_the_readme_does(serve);
    let base = format!("http://127.0.0.1:{}/v1", server.port);
    let conversation = transcript(&blocks[shown].text);
    assert!(!conversation.is_empty());
    for Shown { command, output } in conversation {
        let printed = printed_with(&command, &[("LLAMACPP_BASE_URL", &base)]);
        // Calls and results are on indented lines.
        let calls = |text: &str| {
            let lines = text.lines().filter(|line| line.starts_with("  "));
            lines.map(str::to_owned).collect::<Vec<_>>()
        };
        assert!(calls(&output).len() >= 2, "{output}");
        assert_eq!(calls(&printed), calls(&output), "{printed}");
        // What a model says last is not the same on all machines, but it says something.
        let last = printed.lines().last().unwrap_or_default();
        assert!(!last.is_empty() && !last.starts_with("  "), "{printed}");
        assert!(!last.contains("no answer"), "{printed}");
    }
}

#[test]
fn five_turns_with_a_real_model_streaming_and_not() {
    let server = llama();
    let base = format!("http://127.0.0.1:{}/v1", server.port);
    let turns = [
        ("Hello, I am Ada!", "Ada"),
        ("Hi, my name is Grace.", "Grace"),
        ("Hello there, I am Linus.", "Linus"),
        ("Hi! I am Barbara.", "Barbara"),
        ("Good morning, I am Alan.", "Alan"),
    ];
    for stream in ["--show=150", "--no-stream"] {
        // So small a model is led astray by more than it needs.
        let run = gramc(HELLO).args("--model llamacpp/smollm2 --temperature 0 --no-guidance");
        let run = run.arg(stream).env("LLAMACPP_BASE_URL", &base);
        let run = turns.iter().fold(run, |run, (text, _)| run.arg(text)).run().exits(0);
        for (_, name) in turns {
            assert!(run.stderr.contains(&format!("= Hello, {name}! Nice to meet you.")), "{run:?}");
        }
        let answers: Vec<_> = run.stdout.lines().filter(|line| !line.is_empty()).collect();
        assert!(answers.len() >= turns.len(), "{run:?}");
        assert!(!run.stdout.contains("tool_call"), "{run:?}");
    }
}

/// The cases of `tests/real/messages`, without the model.
#[test]
fn the_calls_that_messages_are_measured_with_are_refused() {
    let mut python = command(installed("python/bin/python"));
    python.arg(root().join("tests/real/messages/measure.py")).arg(crate::support::binary());
    let python = python.args(["--cases", "5", "--check"]).env("PYTHONDONTWRITEBYTECODE", "1");
    let output = python.output().expect("Python starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
