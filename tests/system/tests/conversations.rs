//! `--conversation`: several runs with one file.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, Stdio};

use serde_json::Value;

use crate::support::{Folder, binary, command, folder, gramc};

const SPEC: &str = r#"
[helper:Agent {model: "scripted/echo"}]
[works:Library]
"#;

const LINE: &str = "run spec.gram --library works --conversation talk.json";

fn start(files: &Folder, message: Option<&str>) -> Child {
    let mut run = command(binary());
    run.args(LINE.split_whitespace()).args(message).current_dir(files.path());
    run.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    run.spawn().expect("the binary starts")
}

/// What the user said in the conversation that is kept.
fn said(files: &Folder) -> Vec<String> {
    let kept: Value = serde_json::from_str(&files.read("talk.json")).expect("it is JSON");
    let messages = kept["messages"].as_array().expect("there are messages").iter();
    let users = messages.filter(|message| message["role"] == "user");
    users.map(|it| it["content"].as_str().expect("it is text").to_owned()).collect()
}

#[test]
fn a_second_run_does_not_use_the_file_of_the_first() {
    let files = folder(&[("spec.gram", SPEC)]);
    let mut first = start(&files, None);
    let mut input = first.stdin.take().expect("it is piped");
    let mut output = BufReader::new(first.stdout.take().expect("it is piped"));
    let mut say = |text: &str| {
        writeln!(input, "{text}").expect("it reads");
        let mut line = String::new();
        output.read_line(&mut line).expect("it answers");
        assert_eq!(line, format!("{text}\n"));
    };
    let second = || gramc(LINE).arg("Mine").within(files.path()).run();
    say("one");
    // Before and after the file is replaced, and through another name of it.
    second().fails_with(&["cannot write talk.json: another run of gramc uses it"]);
    say("two");
    second().fails_with(&["another run of gramc uses it"]);
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(files.file("talk.json"), files.file("link.json")).unwrap();
        let run = gramc("run spec.gram Mine --library works --conversation link.json");
        run.within(files.path()).run().fails_with(&["cannot write link.json: another run"]);
    }
    assert_eq!(said(&files), ["one", "two"]);
    drop(input);
    assert!(first.wait().expect("it ends").success());
    assert_eq!(second().exits(0).stdout, "Mine\n");
    assert_eq!(said(&files), ["one", "two", "Mine"]);
    // Nothing else is left in the folder.
    assert_eq!(files.list("."), ["link.json", "spec.gram", "talk.json"]);
}

#[test]
fn no_message_of_concurrent_runs_is_lost() {
    let files = folder(&[("spec.gram", SPEC)]);
    let mut expected = 0;
    for round in 0..6 {
        let runs: Vec<_> = (0..8).map(|at| start(&files, Some(&format!("{round}-{at}")))).collect();
        for run in runs {
            let output = run.wait_with_output().expect("it ends");
            match output.status.code() {
                Some(0) => expected += 1,
                Some(2) => {
                    let told = String::from_utf8_lossy(&output.stderr).into_owned();
                    assert!(told.contains("another run of gramc uses it"), "{told}");
                }
                other => panic!("{other:?}"),
            }
        }
    }
    assert!(expected >= 6, "{expected}");
    assert_eq!(said(&files).len(), expected);
}
