//! Experiments whose arms differ in more than a library, or in nothing.

use serde_json::{Value, json};

use crate::support::{Folder, Gramc, Run, folder, gramc};

const SPEC: &str = r#"
[clerk:Agent {model: "scripted/long.jsonl"} | look]
[guide:Agent {model: "scripted/short.jsonl"} | look]
[look:Tool {description: "Looks something up"} | (id::Int)==>(::Text)]
[shop:Library | (look:Command {run: ["echo", "found"]})]
"#;

/// A script that calls the tool and answers with these words.
fn script(words: &str) -> String {
    let call = json!({"name": "look", "arguments": {"id": 1}});
    let usage = json!({"input_tokens": 20, "output_tokens": 5});
    let calls = json!({"when": {"user": "."}, "tool_calls": [call], "usage": usage});
    let answer = json!({"when": {"tool": "."}, "content": words, "usage": usage});
    format!("{calls}\n{answer}\n")
}

fn files() -> Folder {
    let cases: Vec<_> = (0..40)
        .map(|id| json!({"id": id, "input": "Look", "expect": {"contains": "found"}}).to_string())
        .collect();
    let other = SPEC.replace("Looks something up", "Finds a thing").replace("[guide", "[other");
    folder(&[
        ("spec.gram", SPEC),
        ("new/spec.gram", &other),
        ("cases.jsonl", &cases.join("\n")),
        ("long.jsonl", &script("It is found.")),
        ("short.jsonl", &script("It is lost.")),
        ("new/long.jsonl", &script("It is nowhere.")),
        ("new/short.jsonl", &script("It is found, too.")),
    ])
}

fn compare(files: &Folder, options: &[&str]) -> Run {
    let run = gramc("ab spec.gram --cases cases.jsonl --format json").within(files.path());
    options.iter().fold(run, Gramc::arg).run()
}

fn whats(report: &Value) -> Vec<&str> {
    let differences = report["differences"].as_array().expect("a list").iter();
    differences.filter_map(|it| it["what"].as_str()).collect()
}

#[test]
fn equal_arms_do_not_differ() {
    let files = files();
    let agent = ["--agent", "clerk", "--report", "out"];
    let options = [&["--library", "shop", "--library", "shop"], &agent[..]].concat();
    let run = compare(&files, &options).exits(0);
    let report = run.json();
    assert_eq!(report["arms"], json!(["shop", "shop-2"]));
    assert_eq!(report["differences"], json!([]));
    let verdict = report["verdict"].as_str().unwrap_or_default();
    assert!(!verdict.contains("better") && !verdict.contains("worse"), "{verdict}");
    assert_eq!(report["flips"], json!([]));
    // It goes on as any other one does.
    assert_eq!(compare(&files, &options).exits(0).json()["runs"], 80);
}

#[test]
fn arms_differ_in_models_agents_and_specifications() {
    let files = files();
    let run = |arms: &[&str], more: &[&str]| {
        let arms = arms.iter().flat_map(|arm| ["--arm", arm]);
        let options: Vec<_> = ["--library", "shop"].into_iter().chain(arms).collect();
        compare(&files, &[&options, more].concat()).exits(0).json()
    };
    let clerk = ["--agent", "clerk"];
    let models = run(&["a:", "b: model=scripted/short.jsonl"], &clerk);
    assert_eq!((&models["arms"], whats(&models)), (&json!(["a", "b"]), vec!["model"]));
    let verdict = models["verdict"].as_str().unwrap_or_default();
    assert!(verdict.starts_with("b worse by 100.0 points"), "{verdict}");
    let agents = run(&["a: agent=clerk", "b: agent=guide"], &[]);
    assert_eq!(whats(&agents), ["model", "agent"]);
    assert!(agents["verdict"].as_str().unwrap_or_default().starts_with("b worse by 100.0"));
    // Scripts are relative to the specification of the arm.
    let specs = run(&["a:", "b: spec=new/spec.gram"], &clerk);
    assert_eq!(whats(&specs)[0], "model");
    let declared: Vec<_> = whats(&specs).into_iter().filter(|what| what.contains(' ')).collect();
    assert_eq!(declared, ["tool look", "agent guide", "agent other"]);
    let tool = &specs["differences"][1]["arms"];
    assert!(tool[0].as_str().unwrap_or_default().contains("Looks something up"), "{tool}");
    assert!(tool[1].as_str().unwrap_or_default().contains("Finds a thing"), "{tool}");
}

#[test]
fn what_is_wrong_with_an_arm_is_said() {
    let files = files();
    for (options, why) in [
        (&["--arm", "a"][..], "expected NAME: KEY=VALUE"),
        (&["--arm", "a: modl=x"], "unknown key `modl`; did you mean `model`?"),
        (&["--arm", "a: fast"], "expected KEY=VALUE, found `fast`"),
        (&["--arm", "a:", "--arm", "b:"], "the arm `a` has no library"),
        (&["--library", "shop", "--arm", "a:"], "at least two arms"),
        (&["--library", "shop", "--arm", "a:", "--arm", "a:"], "two arms are named `a`"),
        (
            &["--library", "shop", "--library", "x", "--arm", "a:", "--arm", "b:"],
            "expected at most one --library with --arm",
        ),
        (
            &["--library", "shop", "--arm", "a:", "--arm", "b: spec=none.gram"],
            "cannot read none.gram",
        ),
    ] {
        compare(&files, options).fails_with(&[why]);
    }
}

#[test]
fn an_experiment_declares_its_arms() {
    let files = files();
    let experiment = r#"
[try:Experiment {agent: "clerk", cases: "cases.jsonl"} |
  shop,
  (again:Arm {library: "shop"}),
  (guided:Arm {library: "shop", agent: "guide", temperature: 0.5, instruction: "Be quick"}),
  (new:Arm {library: "shop", spec: "new/spec.gram"})
]
"#;
    files.write("spec.gram", SPEC.to_owned() + experiment);
    gramc("check spec.gram").within(files.path()).run().exits(0);
    let run = gramc("ab spec.gram --experiment try --format json --report out");
    let report = run.within(files.path()).run().exits(0).json();
    assert_eq!(report["arms"], json!(["shop", "again", "guided", "new"]));
    assert_eq!(
        whats(&report),
        ["model", "agent", "temperature", "instruction", "tool look", "agent guide", "agent other"],
        "{report:#}"
    );
    let manifest: Value = serde_json::from_str(&files.read("out/experiment.json")).unwrap();
    let attributes = json!({"temperature": 0.5, "instruction": "Be quick"});
    assert_eq!(manifest["arms"][2]["attributes"], attributes);
    assert_eq!(manifest["arms"][1].get("attributes"), None);
    // On the command line, too.
    let arm = "b: library=shop, temperature=0.5, maxIterations=1";
    let options = ["--library", "shop", "--arm", "a:", "--arm", arm, "--agent", "clerk"];
    let report = compare(&files, &options).exits(0).json();
    assert_eq!(whats(&report), ["temperature", "maxIterations"]);
    assert_eq!(report["rates"][1]["successes"], 0, "{report:#}");
    let wrong = compare(&files, &["--arm", "b: temperature=hot"]);
    wrong.fails_with(&["expected a number for `temperature`, found `hot`"]);
    let wrong = compare(&files, &["--arm", "b: temprature=1"]);
    wrong.fails_with(&["unknown key `temprature`; did you mean `temperature`?"]);
}

#[test]
fn an_earlier_experiment_is_the_baseline() {
    let files = files();
    let agent = ["--agent", "clerk"];
    let two =
        ["--library", "shop", "--arm", "old:", "--arm", "other: agent=guide", "--report", "old"];
    compare(&files, &[&two[..], &agent[..]].concat()).exits(0);
    let against = |named: &str, options: &[&str]| {
        let options = [&["--library", "shop", "--against", named], &agent[..], options].concat();
        compare(&files, &options)
    };
    // The first arm of the folder, since none is named as the library.
    // What it has cost then is not spent again.
    let runs = files.read("old/runs.jsonl");
    let runs = runs.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let of_old = runs.filter(|run| run["arm"] == "old").map(|run| run["tokens"].as_u64().unwrap());
    let limit = (of_old.sum::<u64>() + 1).to_string();
    let report = against("old", &["--max-tokens", &limit, "--report", "new"]).exits(0).json();
    assert_eq!(report["arms"], json!(["old", "shop"]));
    assert_eq!((&report["cases"], &report["runs"]), (&json!(40), &json!(80)));
    assert_eq!(report["differences"], json!([]));
    assert_eq!(report["flips"], json!([]));
    let text = files.read("new/report.md");
    assert!(text.contains("The runs of old come from an earlier experiment (20"), "{text}");
    // It goes on as any other one does.
    let again = against("old", &["--report", "new"]).exits(0);
    assert_eq!(again.json()["runs"], 80);
    assert!(!again.stderr.contains("warning"), "{again:?}");
    let report = against("old:other", &["--report", "other"]).exits(0).json();
    assert_eq!(report["arms"], json!(["other", "shop"]));
    assert_eq!(whats(&report), ["model", "agent"], "{report:#}");
    assert_eq!(report["flips"].as_array().map(Vec::len), Some(40));
    // Of the same name.
    let report = against("new:shop", &[]).exits(0).json();
    assert_eq!(report["arms"], json!(["shop-baseline", "shop"]));
    let wrong = against("old:none", &[]).exits(2);
    wrong.says(&["old: there is no arm `none`; expected one of old, other"]);
    against("nowhere", &[]).exits(2).says(&["nowhere: expected an experiment"]);
    against("old", &["--repeats", "2"]).exits(2).says(&["the repeats of the baseline differ"]);
    files.write("cases.jsonl", "{\"input\": \"Look\"}");
    against("old", &[]).exits(2).says(&["the cases of the baseline differ"]);
}
