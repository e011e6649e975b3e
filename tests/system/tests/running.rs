//! What runs behind calls: how it ends, and what is recorded of it.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::{Folder, binary, command, folder, gramc, root};

/// Enough for a busy machine.
const SOON: Duration = Duration::from_secs(30);

fn verdicts(folder: &Folder, line: &str, calls: &str) -> Vec<Value> {
    let run = gramc(line).within(folder.path()).input(calls).run();
    let lines = run.stdout.lines().map(|line| serde_json::from_str(line).unwrap());
    let lines: Vec<Value> = lines.collect();
    assert!(!lines.is_empty(), "{}", run.stderr);
    lines
}

/// What a file holds as soon as it holds a whole line.
#[cfg(target_os = "linux")]
fn awaited(path: &PathBuf) -> String {
    let limit = Instant::now() + SOON;
    loop {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        if text.ends_with('\n') {
            return text;
        }
        assert!(Instant::now() < limit, "{} stays empty", path.display());
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn programs_end_with_a_gramc_that_is_told_to_end() {
    for (signal, code) in [("TERM", 143), ("INT", 130), ("HUP", 129)] {
        let folder = folder(&[
            ("spec.gram", "[wait:Tool | ()==>(::Text)]"),
            (
                "library.gram",
                "[l:Library | (wait:Command {run: [\"sh\", \"-c\", \"echo $$ > id; exec sleep 600\"]})]",
            ),
            ("calls.jsonl", "{\"name\": \"wait\"}\n"),
        ]);
        for words in [
            &["call", "spec.gram", "wait", "{}"][..],
            &["replay", "spec.gram", "--calls", "calls.jsonl"],
        ] {
            let mut gramc = command(binary());
            let gramc = gramc.args(words).args(["--library", "library.gram"]);
            let mut gramc = gramc.current_dir(folder.path()).spawn().unwrap();
            let id = awaited(&folder.file("id"));
            let told = command("kill").args(["-s", signal, &gramc.id().to_string()]).status();
            assert!(told.unwrap().success());
            assert_eq!(gramc.wait().unwrap().code(), Some(code), "{words:?}");
            let status = PathBuf::from(format!("/proc/{}/status", id.trim()));
            let limit = Instant::now() + SOON;
            // Whoever adopted it may bury it late.
            while std::fs::read_to_string(&status).is_ok_and(|it| !it.contains("State:\tZ")) {
                assert!(Instant::now() < limit, "{signal} {words:?}: the program goes on");
                std::thread::sleep(Duration::from_millis(10));
            }
            std::fs::remove_file(folder.file("id")).unwrap();
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_gramc_that_waits_for_calls_hears_that_it_should_end() {
    let folder = folder(&[
        ("spec.gram", "[now:Tool | ()==>(::Text)]"),
        (
            "library.gram",
            "[l:Library | (now:Command {run: [\"sh\", \"-c\", \"echo x | tee id\"]})]",
        ),
    ]);
    let mut gramc = command(binary());
    let gramc = gramc.args(["replay", "spec.gram", "--library", "library.gram", "--calls", "-"]);
    let gramc = gramc.current_dir(folder.path()).stdin(std::process::Stdio::piped());
    let mut gramc = gramc.spawn().unwrap();
    let mut input = gramc.stdin.take().unwrap();
    std::io::Write::write_all(&mut input, b"{\"name\": \"now\"}\n").unwrap();
    awaited(&folder.file("id"));
    assert!(command("kill").arg(gramc.id().to_string()).status().unwrap().success());
    let limit = Instant::now() + SOON;
    while gramc.try_wait().unwrap().is_none() {
        assert!(Instant::now() < limit, "it waits for calls");
        std::thread::sleep(Duration::from_millis(10));
    }
    drop(input);
    assert_eq!(gramc.wait().unwrap().code(), Some(143));
}

fn hostile(mode: &str, more: &str) -> String {
    let script = root().join("tests/real/hostile.py");
    let run = format!("[\"python3\", \"{}\", \"{mode}\", \"said\"]", script.display());
    format!("[l:Library | (act:Mcp {{command: {run}{more}}})]")
}

#[test]
fn servers_are_asked_to_end() {
    let library = hostile("acts-to-the-end", "");
    let folder = folder(&[
        ("spec.gram", "[act:Tool | (do::Text {optional: true})==>(::Any)]"),
        ("library.gram", &library),
        ("calls.jsonl", "{\"name\": \"act\"}\n"),
    ]);
    for line in ["bind spec.gram", "call spec.gram act {}", "replay spec.gram --calls calls.jsonl"]
    {
        let line = format!("{line} --library library.gram");
        gramc(&line).within(folder.path()).run().exits(0);
        assert!(folder.read("said").ends_with("goodbye\n"), "{line}: {}", folder.read("said"));
        std::fs::remove_file(folder.file("said")).unwrap();
    }
}

#[test]
fn a_tool_that_its_server_lacks_does_not_fit() {
    let library = hostile("acts", ", tool: \"akt\"");
    let folder =
        folder(&[("spec.gram", "[act:Tool | (do::Text)==>(::Any)]"), ("library.gram", &library)]);
    let line = "bind spec.gram --library library.gram";
    let told = "cannot run `act`: the MCP server `python3` has no tool `akt`; did you mean `act`?";
    let run = gramc(line).within(folder.path()).run().exits(1);
    assert_eq!(run.stderr, format!("error: {told}\n"));
    let run = gramc(line).within(folder.path()).args("--format json").run().exits(1);
    let last: Value = serde_json::from_str(run.stdout.lines().last().unwrap()).unwrap();
    assert_eq!(last, json!({"severity": "error", "tool": "act", "message": told}));
    for format in ["sarif", "github"] {
        let run = gramc(line).within(folder.path()).args(&format!("--format {format}")).run();
        assert_eq!(run.fails_with(&["--format json"]).stdout, "");
    }
}

/// A recording that `gramc` made answers the same calls the same way.
#[test]
fn what_was_recorded_is_played_back() {
    let spec = "[greet:Tool | (city::Text)==>(days::Int {optional: true})==>
                  (token::Text {injected: true})==>(word::Text {secret: true})==>(::Any)]
                [plain:Tool | (token::Int)==>(::Any)]";
    let folder = folder(&[
        ("spec.gram", spec),
        ("token", "inner"),
        (
            "first.gram",
            "[l:Library {inject: {token: \"file:token\"}, sameToolCalls: 0} |
               (greet:Builtin {name: \"echo\"}), (plain:Builtin {name: \"echo\"})]",
        ),
        (
            "second.gram",
            "[l:Library {inject: {token: \"file:token\"}, sameToolCalls: 0} |
               (greet:Replay {from: \"recording.jsonl\"}), (plain:Replay {from: \"recording.jsonl\"})]",
        ),
    ]);
    let calls = "{\"name\": \"greet\", \"arguments\": {\"city\": \"Graz\", \"word\": \"hunter22\"}}
{\"name\": \"plain\", \"arguments\": {\"token\": 5}}\n";
    let line = "replay spec.gram --calls - --stats --library";
    let recorded = verdicts(&folder, &format!("{line} first.gram"), calls);
    assert_eq!(recorded.len(), 3);
    let lines: Vec<_> = recorded.iter().map(Value::to_string).collect();
    folder.write("recording.jsonl", lines.join("\n"));
    let played = verdicts(&folder, &format!("{line} second.gram"), calls);
    assert_eq!(played[..2], recorded[..2]);
    assert_eq!(played[0]["ok"], true);
}

#[test]
fn equal_arguments_are_equal_in_any_order() {
    let folder = folder(&[
        (
            "spec.gram",
            "[f:Tool | (a::Int)==>(b::Int)==>(::Any)] [no:Tool | (a::Int)==>(b::Int)==>(::Any)]",
        ),
        (
            "library.gram",
            "[l:Library | (f:Replay {from: \"recording.jsonl\"}), (no:Command {run: [\"false\"]})]",
        ),
        (
            "recording.jsonl",
            "{\"name\": \"f\", \"arguments\": {\"a\": 1, \"b\": 2}, \"result\": \"first\"}
{\"name\": \"f\", \"arguments\": {\"a\": 1, \"b\": 2}, \"result\": \"second\"}\n",
        ),
    ]);
    let calls = |name: &str| {
        format!(
            "{{\"name\": \"{name}\", \"arguments\": {{\"a\": 1, \"b\": 2}}}}
{{\"name\": \"{name}\", \"arguments\": {{\"b\": 2.0, \"a\": 1}}}}\n"
        )
    };
    let line = "replay spec.gram --library library.gram --calls -";
    let told = verdicts(&folder, line, &calls("f"));
    assert_eq!([&told[0]["result"], &told[1]["result"]], ["first", "second"]);
    let told = verdicts(&folder, line, &calls("no"));
    assert_eq!(told[1]["warnings"][0]["code"], "repeated-failure");
}

#[test]
fn a_limit_of_0_is_none() {
    let folder = folder(&[
        ("spec.gram", "[f:Tool | ()==>(::Text)]"),
        (
            "library.gram",
            "[l:Library {timeout: 0, maxOutput: 0, maxResponse: 0, sameToolWindow: 0, allToolsWindow: 0s} |
               (f:Command {run: [\"sh\", \"-c\", \"sleep 0.2; seq 100000\"]})]",
        ),
    ]);
    let run = gramc("call spec.gram f {} --library library.gram").within(folder.path()).run();
    let verdict = run.clean().json();
    assert_eq!((verdict["ok"].clone(), &verdict["warnings"]), (json!(true), &json!([])));
    let calls = "{\"name\": \"f\"}\n".repeat(6);
    let told = verdicts(&folder, "replay spec.gram --library library.gram --calls -", &calls);
    assert!(told.iter().all(|verdict| verdict["ok"] == true), "{told:?}");
}
