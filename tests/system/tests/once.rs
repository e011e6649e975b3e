//! Tools that run at most once, and the journal of their calls.

use std::collections::HashMap;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{Folder, Run, binary, command, folder, gramc};

const SPEC: &str = "[pay:Tool {once: true} | (to::Text)==>(::Text)]";

/// A folder with a specification and a library whose tool runs a shell command.
fn paying(shell: &str) -> Folder {
    let library =
        format!("[l:Library | (pay:Command {{run: [\"sh\", \"-c\", {}]}})]", json!(shell));
    folder(&[("spec.gram", SPEC), ("library.gram", &library)])
}

fn pay(files: &Folder, to: &str) -> Run {
    gramc("call spec.gram pay --library library.gram --journal journal.jsonl")
        .arg(json!({"to": to}).to_string())
        .within(files.path())
        .run()
}

fn error_type(run: &Run) -> Value {
    run.json()["error"]["error_type"].clone()
}

#[test]
fn a_call_that_succeeded_gives_its_result_again() {
    let files = paying("cat >> done.jsonl; echo >> done.jsonl; echo paid");
    let first = pay(&files, "Ada").exits(0).json();
    let second = pay(&files, "Ada").exits(0).json();
    assert_eq!((&first["result"], &second["result"]), (&json!("paid"), &json!("paid")));
    assert_eq!(first["warnings"], json!([]));
    assert_eq!(second["warnings"][0]["code"], "already-done");
    pay(&files, "Bob").exits(0);
    assert_eq!(files.read("done.jsonl"), "{\"to\":\"Ada\"}\n{\"to\":\"Bob\"}\n");
}

#[test]
fn a_call_that_failed_runs_again() {
    let files = paying("cat >> done.jsonl; echo no money >&2; exit 1");
    for _ in 0..2 {
        assert_eq!(error_type(&pay(&files, "Ada").exits(1)), "invocation_error");
    }
    assert_eq!(files.read("done.jsonl").matches("Ada").count(), 2);
}

#[test]
fn a_call_whose_outcome_is_unknown_does_not_run_again() {
    let files = paying("cat >> done.jsonl; kill -9 $$");
    assert_eq!(error_type(&pay(&files, "Ada").exits(1)), "invocation_error");
    let again = pay(&files, "Ada").exits(1);
    assert_eq!(error_type(&again), "outcome_unknown");
    assert_eq!(
        again.json()["message"],
        "`pay` runs at most once, and the outcome of an earlier call with the same arguments is \
         unknown. Do not repeat this call; check the effects of the earlier one or tell the user."
    );
    assert_eq!(files.read("done.jsonl").matches("Ada").count(), 1);
    // A person has found out that nobody was paid.
    files.write("journal.jsonl", "");
    assert_eq!(error_type(&pay(&files, "Ada").exits(1)), "invocation_error");
    assert_eq!(files.read("done.jsonl").matches("Ada").count(), 2);
}

#[test]
fn a_session_without_a_journal_knows_its_own_calls() {
    let files = paying("cat >> done.jsonl; echo >> done.jsonl; echo paid");
    let call = |id| json!({"id": id, "name": "pay", "arguments": {"to": "Ada"}}).to_string() + "\n";
    let run = gramc("replay spec.gram --library library.gram --calls -").within(files.path());
    let run = run.input(call("1") + &call("2")).run().exits(0);
    assert!(run.stdout.contains("already-done"), "{}", run.stdout);
    assert_eq!(files.read("done.jsonl"), "{\"to\":\"Ada\"}\n");
}

#[test]
fn what_is_no_journal_is_an_error_and_is_kept() {
    let files = paying("echo paid");
    files.write("journal.jsonl", "Dear diary");
    let words = ["cannot use the journal journal.jsonl", "line 1 is not a line of a call journal"];
    pay(&files, "Ada").fails_with(&words);
    assert_eq!(files.read("journal.jsonl"), "Dear diary");
}

/// Kills the program at 1,000 random times. No payment is made twice.
#[test]
fn nothing_runs_twice_whatever_kills_the_program() {
    const KILLS: u64 = 1_000;
    const PEOPLE: u64 = 150;
    let files = paying("cat >> done.jsonl; echo >> done.jsonl; sleep 0.01; echo paid");
    let mut state = 0x6772_616D_u64;
    let mut random = |below: u64| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    for _ in 0..KILLS {
        let to = json!({"to": random(PEOPLE).to_string()}).to_string();
        let words = ["call", "spec.gram", "pay", &to, "--library", "library.gram"];
        let mut call = command(binary());
        call.args(words).args(["--journal", "journal.jsonl"]).current_dir(files.path());
        call.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
        let mut call = call.spawn().expect("gramc starts");
        std::thread::sleep(Duration::from_micros(random(40_000)));
        let _ = call.kill();
        call.wait().expect("it has ended");
    }
    // Programs of tools may outlive the call by a moment.
    std::thread::sleep(Duration::from_millis(500));
    let mut outcomes: HashMap<String, u64> = HashMap::new();
    for to in 0..PEOPLE {
        let run = pay(&files, &to.to_string());
        let verdict = run.json();
        let outcome = match (&verdict["error"]["error_type"], &verdict["warnings"][0]["code"]) {
            (Value::Null, Value::Null) => "new",
            (Value::Null, _) => "done",
            (error, _) => error.as_str().unwrap_or_default(),
        };
        *outcomes.entry(outcome.to_owned()).or_default() += 1;
    }
    // A program that was killed may have left out the end of its line.
    let made = files.read("done.jsonl");
    for to in 0..PEOPLE {
        let payments = made.matches(&json!({"to": to.to_string()}).to_string()).count();
        assert!(payments <= 1, "{to} was paid {payments} times");
    }
    // The kills met all parts of a call.
    assert!(outcomes.get("done").is_some_and(|count| *count > 5), "{outcomes:?}");
    assert!(outcomes.get("outcome_unknown").is_some_and(|count| *count > 5), "{outcomes:?}");
}
