//! Good and bad programs. They need `python3` and `sh`; those of the module `real` `node`.

#![allow(clippy::unwrap_used, reason = "a test stops where something is missing")]

use std::path::Path;
use std::time::{Duration, Instant};

use tempfile::TempDir;
use tokio::time::timeout;

use super::*;
use crate::implementations::testing::{SOON, invocation, text_invocation};
use crate::invocation::InvocationErrorKind;

/// A Python program that reads its arguments and then does `body`.
fn python(folder: &TempDir, body: &str) -> Command {
    let text = format!(
        "import json, os, signal, subprocess, sys, time\nargs = json.load(sys.stdin)\n{body}\n"
    );
    std::fs::write(folder.path().join("tool.py"), text).unwrap();
    command(folder, &["python3", "tool.py"])
}

fn command(folder: &TempDir, run: &[&str]) -> Command {
    let run = run.iter().map(|&word| word.to_owned()).collect();
    Command::new(run, folder.path().to_owned())
}

async fn run(command: &Command, invocation: Invocation) -> Result<Answer, InvocationError> {
    timeout(SOON, command.invoke(invocation)).await.unwrap()
}

/// Asserts that a Python program fails so, and that another run of the same command works.
async fn fails(body: &str, kind: InvocationErrorKind, parts: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    let command = python(&folder, &format!("if args.get('ok'): print(1); sys.exit()\n{body}"));
    let error = run(&command, invocation("tool", "{}")).await.unwrap_err();
    assert_eq!(error.kind, kind, "{error}");
    for part in parts {
        assert!(error.detail.contains(part), "there is no `{part}` in: {error}");
    }
    let answer = run(&command, invocation("tool", r#"{"ok": true}"#)).await;
    assert_eq!(answer, Ok(Answer::Raw("1\n".to_owned())));
}

#[tokio::test]
async fn a_program_gets_the_arguments_and_answers() {
    let folder = tempfile::tempdir().unwrap();
    let greeter = python(&folder, "print('Hello, ' + args['personName'], end='')");
    let answer = run(&greeter, text_invocation("greet", r#"{"personName": "Zoë"}"#)).await;
    assert_eq!(answer, Ok(Answer::Raw("Hello, Zoë".to_owned())));
}

#[tokio::test]
async fn a_program_runs_in_its_folder_and_is_found_there() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("bin")).unwrap();
    let script = folder.path().join("bin/where");
    std::fs::write(&script, "#!/bin/sh\npwd -P\n").unwrap();
    executable(&script);
    let answer = run(&command(&folder, &["bin/where"]), text_invocation("where", "{}")).await;
    let expected = folder.path().canonicalize().unwrap();
    assert_eq!(answer, Ok(Answer::Raw(format!("{}\n", expected.display()))));
}

fn executable(path: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

#[tokio::test]
async fn input_that_nobody_reads_is_no_error() {
    let folder = tempfile::tempdir().unwrap();
    let long = format!(r#"{{"text": "{}"}}"#, "x".repeat(5_000_000));
    for program in ["exec <&-; echo 1", "echo 1", "sleep 600 <&0 >/dev/null 2>&1 & echo 1"] {
        let answer = run(&command(&folder, &["sh", "-c", program]), invocation("x", &long)).await;
        assert_eq!(answer, Ok(Answer::Raw("1\n".to_owned())), "{program}");
    }
}

#[tokio::test]
async fn large_input_and_output_pass_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let text = "x".repeat(3_000_000);
    let call = Invocation { max_answer: 4_000_000, ..invocation("x", &text) };
    assert_eq!(run(&command(&folder, &["cat"]), call).await, Ok(Answer::Raw(text)));
}

#[tokio::test]
async fn failures_are_told_with_the_last_words() {
    fails("sys.exit('no\\x1b[31m key\\r\\nbye')", InvocationErrorKind::Failed, &[
        "the program `python3` failed (exit status: 1) and wrote to standard error:\nno [31m key\nbye",
    ])
    .await;
    fails(
        "print(5); sys.exit(7)",
        InvocationErrorKind::Failed,
        &["(exit status: 7) and wrote nothing to"],
    )
    .await;
    let body = "sys.stderr.write('x' * 100_000 + '\\xff'); sys.stderr.write('end'); sys.exit(1)";
    fails(body, InvocationErrorKind::Failed, &["standard error:\n…xxx", "end"]).await;
}

#[tokio::test]
async fn a_program_that_is_killed_died() {
    let body = "print(1, flush=True)\nos.kill(os.getpid(), signal.SIGKILL)";
    fails(body, InvocationErrorKind::Died, &["the program `python3` was killed (signal: 9"]).await;
}

#[tokio::test]
async fn garbage_is_no_answer() {
    fails("os.write(1, b'\\xff\\xfe')", InvocationErrorKind::Garbled, &["not valid UTF-8"]).await;
}

#[tokio::test]
async fn long_answers_are_not_read_to_the_end() {
    let body = "while True: sys.stdout.write('x' * 50_000_000)";
    fails(body, InvocationErrorKind::TooLarge, &["returned a response of more than 1048576 bytes"])
        .await;
}

#[tokio::test]
async fn programs_that_cannot_be_run_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("plain"), "text").unwrap();
    for (program, part) in [
        (
            &["no-such-program", "--password=secret"][..],
            "`no-such-program` cannot be run: there is no such program",
        ),
        (&["./none"], "there is no such program"),
        (&["./plain"], "that is not a program one may run"),
        (&[], "the command is empty"),
    ] {
        let error = run(&command(&folder, program), invocation("x", "{}")).await.unwrap_err();
        assert_eq!(error.kind, InvocationErrorKind::Unreachable, "{error}");
        assert!(error.detail.contains(part) && !error.detail.contains("secret"), "{error}");
        let shown = format!("{:?}", &command(&folder, program) as &dyn Implementation);
        assert!(!shown.contains("secret"));
    }
    let nowhere = Command::new(vec!["sh".to_owned()], folder.path().join("none"));
    let error = run(&nowhere, invocation("x", "{}")).await.unwrap_err();
    assert!(error.detail.contains("there is no folder"), "{error}");
}

#[tokio::test]
async fn what_holds_the_pipes_open_is_not_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let body = "p = subprocess.Popen(['sleep', '600'])\nprint(p.pid)";
    let answer = run(&python(&folder, body), invocation("x", "{}")).await;
    let Ok(Answer::Raw(id)) = answer else { unreachable!("{answer:?}") };
    gone(id.trim()).await;
}

/// Waits until a process is gone.
async fn gone(id: &str) {
    let limit = Instant::now() + SOON;
    // Who adopted it buries it when they get to it.
    let there = || {
        std::fs::read_to_string(format!("/proc/{id}/status"))
            .is_ok_and(|status| !status.contains("State:\tZ"))
    };
    while there() {
        assert!(Instant::now() < limit, "process {id} is still there");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn nothing_is_left_of_a_call_that_is_broken_off() {
    let folder = tempfile::tempdir().unwrap();
    let body = "\
signal.signal(signal.SIGTERM, signal.SIG_IGN)
p = subprocess.Popen(['sleep', '600'])
open('ids.part', 'w').write('%d %d' % (os.getpid(), p.pid))
os.rename('ids.part', 'ids')
time.sleep(600)";
    let never = python(&folder, body);
    for cancel in [false, true] {
        let call = invocation("x", "{}");
        let cancelled = call.cancelled.clone();
        let waiting = tokio::spawn(never.invoke(call));
        let file = folder.path().join("ids");
        let limit = Instant::now() + SOON;
        while !file.exists() {
            assert!(Instant::now() < limit, "the program does not start");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        let ids = std::fs::read_to_string(&file).unwrap();
        std::fs::remove_file(&file).unwrap();
        if cancel {
            cancelled.cancel();
            let error = waiting.await.unwrap().unwrap_err();
            assert_eq!(error.kind, InvocationErrorKind::Cancelled);
        } else {
            waiting.abort();
            assert!(waiting.await.is_err());
        }
        for id in ids.split(' ') {
            gone(id).await;
        }
    }
}

mod real {
    use super::*;

    #[tokio::test]
    async fn a_node_program_answers() {
        let folder = tempfile::tempdir().unwrap();
        let text = "let s = ''; process.stdin.on('data', d => s += d).on('end', () => {\n\
                    console.log(JSON.stringify({sum: JSON.parse(s).a + 1})) })";
        std::fs::write(folder.path().join("tool.js"), text).unwrap();
        let answer =
            run(&command(&folder, &["node", "tool.js"]), invocation("x", r#"{"a": 2}"#)).await;
        assert_eq!(answer, Ok(Answer::Raw("{\"sum\":3}\n".to_owned())));
    }
}
