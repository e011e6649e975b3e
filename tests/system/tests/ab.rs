//! `gramc ab`: what it finds, how it goes on after it was killed, and what it does where it cannot.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{Folder, Run, binary, command, folder, gramc, root};

/// The experiment of the examples that has something to find.
pub(crate) const REPLACE: &str = "ab examples/shop --experiment replace";
/// And the one that has not.
const NOTHING: &str = "ab examples/shop --experiment nothing";

/// The files of the example.
const SHOP: [&str; 6] = [
    "shop.gram",
    "libraries.gram",
    "cases.jsonl",
    "orders.jsonl",
    "orders-rewrite.jsonl",
    "assistant.jsonl",
];

/// What is said of an outcome.
fn comparison<'r>(report: &'r Value, outcome: &str) -> &'r Value {
    let all = report["comparisons"].as_array().expect("there are comparisons");
    all.iter().find(|it| it["outcome"] == outcome).expect("the outcome is compared")
}

/// A report without what no two experiments have in common: how long runs took.
fn timeless(mut report: Value) -> Value {
    for list in ["comparisons", "drift"] {
        let all = report[list].as_array_mut().expect("there is a list");
        all.retain(|it| it["outcome"] != "latency");
    }
    report
}

pub(crate) fn report(of: &Path) -> Value {
    let text = std::fs::read_to_string(of.join("report.json")).expect("there is a report");
    timeless(serde_json::from_str(&text).expect("it is JSON"))
}

pub(crate) fn keeps(line: &str, folder: &Folder, name: &str) -> Run {
    gramc(line).arg("--report").arg(folder.file(name)).run()
}

#[test]
fn the_worse_library_is_found_with_its_cases() {
    let kept = folder(&[]);
    let run = keeps(REPLACE, &kept, "results").exits(0);
    let first = run.stdout.lines().next().unwrap_or_default();
    assert!(first.starts_with("rewrite worse by 10.0 points (95 % interval "), "{}", run.stdout);
    let report = report(&kept.file("results"));
    assert_eq!(report["verdict"], first);
    assert_eq!(report["arms"], json!(["stable", "rewrite"]));
    assert_eq!((&report["cases"], &report["runs"]), (&json!(200), &json!(400)));
    let success = comparison(&report, "success");
    assert_eq!(success["estimate"], -0.1);
    assert!(success["p_value"].as_f64().unwrap() < 1e-4, "{success}");
    let flips = report["flips"].as_array().unwrap();
    assert_eq!(flips.len(), 20);
    for flip in flips {
        assert!(flip["case"].as_str().unwrap().starts_with("returned-"), "{flip}");
        assert_eq!((&flip["winner"], &flip["loser"]), (&json!("stable"), &json!("rewrite")));
    }
    assert_eq!(report["differences"].as_array().unwrap().len(), 1);
    assert_eq!(report["differences"][0]["tool"], "findOrder");
    // Nothing else differs.
    for outcome in ["calls", "refused", "repairs", "tokens"] {
        assert_eq!(comparison(&report, outcome)["estimate"], 0.0, "{outcome}");
    }
    let page = kept.read("results/report.html");
    assert!(page.contains("rewrite worse by 10.0 points") && page.contains("won by stable"));
    assert!(kept.read("results/report.md").contains("| returned"));
    assert_eq!(kept.read("results/runs.jsonl").lines().count(), 400);
}

#[test]
fn equal_libraries_have_no_winner() {
    let run = gramc(NOTHING).run().exits(0);
    assert!(run.stdout.starts_with("no difference larger than 1.4 points\n"), "{}", run.stdout);
    assert!(!run.stdout.contains(" wins "), "{}", run.stdout);
}

#[test]
fn gates_ask_for_proof() {
    let gate = |line: &str, gate: &str| gramc(line).arg("--gate").arg(gate).run();
    gate(REPLACE, "success >= -1pp").exits(1).says(&[
        "gate `success >= -1pp` failed",
        "rewrite against stable",
        "−",
    ]);
    gate(NOTHING, "success >= -2pp").exits(0);
    // So few cases do not prove that there is no difference of a point.
    gate(NOTHING, "success >= -1pp").exits(1);
    gate(NOTHING, "tokens <= +1%").exits(0);
    gate(NOTHING, "cost <= 0").exits(1).says(&["no data on cost"]);
    gate(NOTHING, "sucess >= 0pp").fails_with(&["did you mean `success`?"]);
}

#[test]
fn some_cases_run_alone() {
    let kept = folder(&[]);
    let line = format!("{REPLACE} --case returned-1043 --case returned-1163");
    keeps(&line, &kept, "some").exits(0);
    assert_eq!(report(&kept.file("some"))["runs"], 4);
    // Others are another experiment.
    let line = format!("{REPLACE} --case returned-1043 --case returned-1133");
    keeps(&line, &kept, "some").fails_with(&["some"]);
    gramc(&format!("{REPLACE} --case returned-104")).run().fails_with(&["no case `returned-104`"]);
}

#[test]
fn cases_may_be_repeated() {
    let run = gramc(REPLACE).args("--repeats 3 --format json").run().exits(0);
    let report: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(report["runs"], 1200);
    let success = comparison(&report, "success");
    assert!(success["method"].as_str().unwrap().contains("interval over cases"), "{success}");
    assert_eq!(success["estimate"], -0.1);
    assert_eq!(report["rates"][1]["pass_all"], json!([0.9, 0.9, 0.9]));
    assert_eq!(report["rates"][1]["pass_at"], json!([0.9, 0.9, 0.9]));
}

#[test]
fn an_experiment_that_is_looked_at_ends_early() {
    let kept = folder(&[]);
    // The cases that differ, all of which one arm loses.
    let cases = std::fs::read_to_string(root().join("examples/shop/cases.jsonl")).unwrap();
    let lost: Vec<_> = cases.lines().filter(|case| case.contains("returned-")).collect();
    kept.write("lost.jsonl", lost.join("\n"));
    let run = gramc(REPLACE)
        .args("--concurrency 1 --sequential --cases")
        .arg(kept.file("lost.jsonl"))
        .arg("--report")
        .arg(kept.file("a"))
        .run()
        .exits(0);
    let report = report(&kept.file("a"));
    let cases = report["cases"].as_u64().unwrap();
    assert!((5..20).contains(&cases), "{}", run.stdout);
    assert!(report["stopped"].as_str().unwrap().contains("rewrite is worse"), "{report}");
    assert!(run.stdout.starts_with("rewrite worse by 100.0 points"), "{}", run.stdout);
    let run = gramc(NOTHING).args("--sequential --margin 20").run().exits(0);
    assert!(run.stdout.contains("again differs by at most 20 points"), "{}", run.stdout);
}

/// Kills a run again and again, and lets the last one end.
#[cfg(unix)]
#[test]
fn what_was_killed_goes_on() {
    let kept = folder(&[]);
    keeps(NOTHING, &kept, "undisturbed").exits(0);
    keeps(REPLACE, &kept, "whole").exits(0);
    let (mut wait, mut killed, mut last) = (7_u64, 0, 0);
    while killed < 50 {
        let mut child = command(binary())
            .args(REPLACE.split(' '))
            .args(["--rate", "300", "--report"])
            .arg(kept.file("killed"))
            .current_dir(root())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // Moments that hang on nothing that the program does.
        wait = wait.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        std::thread::sleep(Duration::from_millis(10 + (wait >> 33) % 30));
        if child.try_wait().unwrap().is_some() {
            break;
        }
        child.kill().unwrap();
        child.wait().unwrap();
        killed += 1;
        let runs = std::fs::read(kept.file("killed/runs.jsonl")).unwrap_or_default();
        let whole = String::from_utf8_lossy(&runs).matches('\n').count();
        assert!(whole >= last, "{whole} runs are left of {last}");
        last = whole;
    }
    assert!(killed >= 10, "it was killed {killed} times only");
    keeps(REPLACE, &kept, "killed").exits(0);
    assert_eq!(report(&kept.file("killed")), report(&kept.file("whole")));
    // No run was done twice.
    let text = kept.read("killed/runs.jsonl");
    let mut places: Vec<_> = text
        .lines()
        .map(|it| serde_json::from_str::<Value>(it).unwrap()["place"].clone())
        .collect();
    places.sort_by_key(Value::as_u64);
    assert_eq!(places, (0..400).map(|it| json!(it)).collect::<Vec<_>>());
}

#[test]
fn a_line_that_was_broken_off_is_done_again() {
    let kept = folder(&[]);
    keeps(REPLACE, &kept, "a").exits(0);
    let whole = report(&kept.file("a"));
    let text = kept.read("a/runs.jsonl");
    kept.write("a/runs.jsonl", &text[..text.len() / 2]);
    keeps(REPLACE, &kept, "a").exits(0);
    assert_eq!(report(&kept.file("a")), whole);
}

#[test]
fn parts_are_put_together() {
    let kept = folder(&[]);
    keeps(REPLACE, &kept, "whole").exits(0);
    let mut merge = gramc("ab merge");
    for part in 1..=7 {
        keeps(&format!("{REPLACE} --shard {part}/7"), &kept, &format!("part-{part}")).exits(0);
        merge = merge.arg(kept.file(&format!("part-{part}")));
    }
    merge.arg("--report").arg(kept.file("merged")).run().exits(0);
    assert_eq!(report(&kept.file("merged")), report(&kept.file("whole")));
    // A part that is missing is said.
    let two = || gramc("ab merge").arg(kept.file("part-1")).arg(kept.file("part-2"));
    two()
        .run()
        .fails_with(&["missing parts: 3/7, 4/7, 5/7, 6/7, 7/7; --partial reports the others"]);
    let run = two().args("--partial").run().exits(0);
    assert!(run.stdout.contains("runs are missing"), "{}", run.stdout);
    let twice = two().arg(kept.file("part-1")).run();
    twice.fails_with(&["are recordings of the same part, 1/7"]);
    keeps(&format!("{REPLACE} --shard 1/2"), &kept, "half").exits(0);
    two().arg(kept.file("half")).run().fails_with(&["part-1 is one of 7 parts, and ", "one of 2"]);
    keeps(&format!("{NOTHING} --shard 1/7"), &kept, "other").exits(0);
    gramc("ab merge")
        .arg(kept.file("part-1"))
        .arg(kept.file("other"))
        .run()
        .fails_with(&["are not parts of one experiment", "the arms differ"]);
}

#[test]
fn replies_are_kept_and_played_back() {
    let kept = folder(&[]);
    for name in SHOP {
        kept.write(name, std::fs::read(root().join("examples/shop").join(name)).unwrap());
    }
    let line = "ab . --experiment replace --replies replies.jsonl";
    let online = gramc(line).args("--report a").within(kept.path()).run();
    online.exits(0);
    // A model that would say something else is not asked.
    kept.write("assistant.jsonl", "{\"content\": \"No.\"}\n");
    gramc(line).args("--offline --report b").within(kept.path()).run().exits(0);
    assert_eq!(report(&kept.file("a")), report(&kept.file("b")));
    gramc(line)
        .args("--offline --seed 8 --repeats 2")
        .within(kept.path())
        .run()
        .exits(2)
        .says(&["could not be counted", "replies.jsonl has no reply to this request"]);
}

#[test]
fn libraries_that_do_not_fit_are_told_before_anything_runs() {
    let kept =
        folder(&[("wrong.gram", "[wrong:Library | (sayGoodbye:Builtin {name: \"echo\"})]\n")]);
    gramc("ab examples/hello-world.gram --library examples/friendly.gram --cases examples/shop/cases.jsonl --library")
        .arg(kept.file("wrong.gram"))
        .run()
        .exits(1)
        .says(&["error: wrong: ", "sayHello", "nothing was run"]);
}

#[test]
fn what_cannot_be_done_is_said() {
    let kept = folder(&[("file", "")]);
    gramc(REPLACE)
        .arg("--report")
        .arg(kept.file("file/x"))
        .run()
        .fails_with(&["cannot create folder"]);
    gramc("ab examples/shop --library stable --library again").run().fails_with(&["missing cases"]);
    gramc("ab examples/shop --library stable").run().fails_with(&["at least two arms"]);
    gramc("ab examples/shop --experiment replce").run().fails_with(&["did you mean `replace`?"]);
    gramc(REPLACE).args("--max-cost 1").run().fails_with(&["--max-cost needs the price of"]);
    keeps(REPLACE, &kept, "a").exits(0);
    keeps(NOTHING, &kept, "a").fails_with(&["contains another experiment: the arms differ"]);
    let run = gramc(REPLACE).args("--max-tokens 10000").run().exits(0);
    assert!(run.stdout.contains("ended early: reached the token limit"), "{}", run.stdout);
}

/// A disk that is full: what was written stays, and the next start goes on.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_loses_nothing() {
    let kept = folder(&[]);
    std::fs::create_dir(kept.file("a")).unwrap();
    std::os::unix::fs::symlink("/dev/full", kept.file("a/runs.jsonl")).unwrap();
    keeps(REPLACE, &kept, "a").fails_with(&["cannot write", "No space left on device"]);
    // A limit on the size of files simulates a disk that fills up.
    let limited = command("bash")
        .arg("-c")
        .arg("ulimit -f 50; trap '' XFSZ; exec \"$@\"")
        .arg("bash")
        .arg(binary())
        .args(REPLACE.split(' '))
        .arg("--report")
        .arg(kept.file("b"))
        .current_dir(root())
        .output()
        .unwrap();
    assert_eq!(limited.status.code(), Some(2));
    let told = String::from_utf8_lossy(&limited.stderr).into_owned();
    assert!(told.contains("cannot write") && told.contains("runs.jsonl"), "{told}");
    let before = kept.read("b/runs.jsonl");
    assert!(before.lines().count() > 50 && before.ends_with('\n'));
    keeps(REPLACE, &kept, "b").exits(0);
    assert!(kept.read("b/runs.jsonl").starts_with(&before));
    keeps(REPLACE, &kept, "whole").exits(0);
    assert_eq!(report(&kept.file("b")), report(&kept.file("whole")));
}

/// Each run begins with a session of its own: no throttle carries over.
#[test]
fn no_throttle_carries_over() {
    let kept = folder(&[(
        "libraries.gram",
        "[one:Library {maxCalls: 1} | (sayHello:Builtin)]\n\
         [two:Library {maxCalls: 1} | (sayHello:Builtin)]\n",
    )]);
    let cases: String = (0..50)
        .map(|_| "{\"input\": \"Hello!\", \"expect\": {\"contains\": \"Hello\"}}\n")
        .collect();
    kept.write("cases.jsonl", cases);
    let library = |name: &str| format!("{}:{name}", kept.file("libraries.gram").display());
    let run = gramc("ab examples/hello-world.gram --format json --cases")
        .arg(kept.file("cases.jsonl"))
        .arg("--library")
        .arg(library("one"))
        .arg("--library")
        .arg(library("two"))
        .run()
        .exits(0);
    let report: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(report["rates"][0]["successes"], 50, "{report}");
    assert_eq!(comparison(&report, "refused")["second"]["mean"], 0.0);
}

#[test]
fn secrets_stand_in_no_report() {
    let spec = r#"
[keeper:Agent {model: "scripted/model.jsonl"} |
  [login:Tool | (user::Text)==>(password::Text {secret: true})==>(::Any)]
]
[one:Library | (login:Builtin {name: "echo"})]
[two:Library {timeout: 9s} | (login:Builtin {name: "echo"})]
[both:Experiment {cases: "cases.jsonl"} | one, two]
"#;
    let model = r#"{"when": {"user": "."}, "tool_calls": [{"name": "login", "arguments": {"user": "ada", "password": "hunter2hunter2"}}]}
{"content": "I logged in with hunter2hunter2."}"#;
    let case = r#"{"input": "Log me in", "expect": {"contains": "hunter2hunter2"}}"#;
    let kept = folder(&[("spec.gram", spec), ("model.jsonl", model), ("cases.jsonl", case)]);
    let run = gramc("ab spec.gram --experiment both --report a").within(kept.path()).run().exits(0);
    assert!(!run.stdout.contains("hunter2"), "{}", run.stdout);
    for name in kept.list("a") {
        let bytes = std::fs::read(kept.file(&format!("a/{name}"))).unwrap();
        let text = String::from_utf8_lossy(&bytes);
        assert!(!text.contains("hunter2"), "{name}: {text}");
    }
    // The grader has seen it all the same.
    assert_eq!(report(&kept.file("a"))["rates"][0]["successes"], 1);
    // Its message hides it, too.
    let model = model.replace("I logged in with hunter2hunter2.", r#"\"hunter2hunter2\""#);
    kept.write("model.jsonl", model);
    kept.write(
        "cases.jsonl",
        r#"{"input": "Log me in", "expect": {"schema": {"type": "number"}}}"#,
    );
    gramc("ab spec.gram --experiment both --report b").within(kept.path()).run().exits(0);
    let runs = kept.read("b/runs.jsonl");
    assert!(!runs.contains("hunter2") && runs.contains("does not match the schema"), "{runs}");
}

#[test]
fn few_cases_prove_nothing_though_they_are_repeated() {
    let kept = folder(&[]);
    let cases = std::fs::read_to_string(root().join("examples/shop/cases.jsonl")).unwrap();
    let two: Vec<_> = cases.lines().take(2).collect();
    kept.write("two.jsonl", two.join("\n"));
    for repeats in ["1", "3"] {
        let run = gramc(NOTHING).args("--repeats").arg(repeats).arg("--cases");
        let run = run.arg(kept.file("two.jsonl")).arg("--gate").arg("success >= -1pp");
        run.run().exits(1).says(&["gate `success >= -1pp` failed", "−100.0"]);
    }
    let run = gramc(NOTHING).arg("--cases").arg(kept.file("two.jsonl"));
    run.arg("--gate").arg("calls <= 0").run().exits(1).says(&["gate `calls <= 0` failed"]);
}

#[test]
fn an_experiment_means_the_libraries_of_its_specification() {
    let kept = folder(&[("stable", "[elsewhere:Library | (findOrder:Replay {from: \"no\"})]\n")]);
    let spec = root().join("examples/shop");
    let run = gramc("ab").arg(spec).args("--experiment replace").within(kept.path()).run();
    let run = run.exits(0);
    assert!(run.stdout.starts_with("rewrite worse by 10.0 points"), "{}", run.stdout);
}

#[test]
fn what_has_changed_is_another_experiment() {
    let kept = folder(&[]);
    for name in SHOP {
        kept.write(name, std::fs::read(root().join("examples/shop").join(name)).unwrap());
    }
    let line = "ab . --experiment replace --report a";
    gramc(line).within(kept.path()).run().exits(0);
    kept.write("orders-rewrite.jsonl", kept.read("orders.jsonl"));
    gramc(line).within(kept.path()).run().fails_with(&["the arms differ"]);
}

#[test]
fn a_plan_runs_nothing() {
    let run = gramc(REPLACE).args("--plan").run().exits(0);
    assert!(run.stdout.starts_with("400 runs: 200 cases, once each in stable, rewrite\n"));
    assert!(run.stdout.contains("findOrder, rewrite: (findOrder:Replay"), "{}", run.stdout);
    assert!(run.stderr.contains("200 cases can show a difference of"), "{}", run.stderr);
}
