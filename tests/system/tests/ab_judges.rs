//! Experiments with judges, simulated users, and programs before and after runs.

use serde_json::{Value, json};

use crate::support::{Folder, Gramc, Run, folder, gramc};

const SPEC: &str = r#"
[clerk:Agent {model: "scripted/clerk.jsonl"} | look]
[look:Tool {description: "Looks something up"} | (id::Int)==>(::Text)]
[plain:Library | (look:Command {run: ["echo", "found"]})]
[polite:Library | (look:Command {run: ["echo", "found, thank you"]})]

[manners:Experiment {cases: "cases.jsonl", judge: "scripted/judge.jsonl", primary: "score"} |
  plain, polite
]
"#;

/// A script of rules: what the last message of the user or of a tool matches, and the reply.
fn script(rules: &[(&str, &str, Value)]) -> String {
    let usage = json!({"input_tokens": 20, "output_tokens": 5});
    let line = |(from, pattern, reply): &(&str, &str, Value)| {
        let mut line = json!({"when": {*from: pattern}, "usage": usage});
        let key = if reply.is_string() { "content" } else { "tool_calls" };
        line[key] = reply.clone();
        line.to_string()
    };
    rules.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn files(cases: &[Value]) -> Folder {
    let call = json!([{"name": "look", "arguments": {"id": 1}}]);
    let clerk = script(&[("user", ".", call), ("tool", "(.*)", json!("It is $1."))]);
    let judge = script(&[
        ("user", "Conversation A:[^]*thank you[^]*Conversation B:", json!(r#"{"better": "A"}"#)),
        ("user", "Conversation B:[^]*thank you", json!(r#"{"better": "B"}"#)),
        ("user", "Conversation A:", json!(r#"{"better": "tie"}"#)),
        ("user", "thank you", json!(r#"{"reason": "Kind.", "score": 0.75}"#)),
        ("user", ".", json!(r#"{"reason": "Curt.", "score": 0.25}"#)),
    ]);
    let user = script(&[
        ("user", "waiting for the first", json!("Is it there?")),
        ("user", "found, thank you", json!("That is all, DONE.")),
        ("user", "found", json!("Say it again.")),
    ]);
    let cases: Vec<_> = cases.iter().map(Value::to_string).collect();
    folder(&[
        ("spec.gram", SPEC),
        ("cases.jsonl", &cases.join("\n")),
        ("clerk.jsonl", &clerk),
        ("judge.jsonl", &judge),
        ("user.jsonl", &user),
    ])
}

fn compare(files: &Folder, options: &[&str]) -> Run {
    let run = gramc("ab spec.gram --experiment manners --format json").within(files.path());
    options.iter().fold(run, Gramc::arg).run()
}

/// The comparison in an outcome.
fn outcome<'r>(report: &'r Value, name: &str) -> &'r Value {
    let mut all = report["comparisons"].as_array().expect("a list").iter();
    all.find(|it| it["outcome"] == name).unwrap_or(&Value::Null)
}

/// Cases that a judge scores.
fn scored(count: usize) -> Vec<Value> {
    let case = |id| json!({"id": id, "input": "Look", "expect": {"rubric": {"criteria": "Kind"}}});
    (0..count).map(case).collect()
}

fn runs(files: &Folder) -> Vec<Value> {
    let text = files.read("out/runs.jsonl");
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

fn judged(count: usize) -> Vec<Value> {
    let rubric = json!({"criteria": "The assistant thanks the user.", "pairwise": true});
    let case = |id| json!({"id": id, "input": "Look", "expect": {"rubric": rubric}});
    (0..count).map(case).collect()
}

#[test]
fn judges_score_and_compare_without_knowing_the_arm() {
    let files = files(&judged(40));
    let report = compare(&files, &["--report", "out"]).exits(0).json();
    let verdict = report["verdict"].as_str().unwrap_or_default();
    assert_eq!(verdict, "polite better: score +0.50 in each of 40 cases");
    let score = outcome(&report, "score");
    assert_eq!((&score["first"]["mean"], &score["second"]["mean"]), (&json!(0.25), &json!(0.75)));
    let success = outcome(&report, "success");
    assert_eq!(success["estimate"], 1.0);
    let preference = outcome(&report, "preference");
    assert_eq!((&preference["cases"], &preference["second"]["mean"]), (&json!(40), &json!(1.0)));
    // Two scores and one comparison for each case.
    assert_eq!(report["evaluation"]["requests"], 120);
    assert_eq!(report["evaluation"]["tokens"], 120 * 25);
    assert_eq!(outcome(&report, "tokens")["first"]["mean"], 50.0);
    let runs = runs(&files);
    let compared: Vec<_> =
        runs.iter().flat_map(|run| run["preferences"].as_array().into_iter().flatten()).collect();
    assert_eq!(compared.len(), 40);
    // The order is random.
    let first = compared.iter().filter(|it| it["order"][0] == "plain").count();
    assert!((8..=32).contains(&first), "{first}");
    let curt = runs.iter().find(|run| run["arm"] == "plain").expect("a run");
    let missed = "the judge's score is 0.25, below 0.5: Curt.";
    assert_eq!((&curt["judgement"]["score"], &curt["missed"][0]), (&json!(0.25), &json!(missed)));
}

#[test]
fn comparisons_do_not_depend_on_which_run_ends_last() {
    let files = files(&judged(20));
    let options = ["--replies", "replies.jsonl", "--report", "out"];
    let first = compare(&files, &options).exits(0).json();
    let orders = |runs: &[Value]| {
        let of_run = |run: &Value| {
            let order = run["preferences"][0]["order"].clone();
            (!order.is_null()).then(|| (run["case"].to_string(), order.to_string()))
        };
        let mut all: Vec<_> = runs.iter().filter_map(of_run).collect();
        all.sort();
        all
    };
    let recorded = orders(&runs(&files));
    std::fs::remove_dir_all(files.path().join("out")).expect("the report");
    let offline = [&options[..], &["--offline", "--concurrency", "1"]].concat();
    let second = compare(&files, &offline).exits(0).json();
    assert_eq!(first["comparisons"][2]["estimate"], second["comparisons"][2]["estimate"]);
    assert_eq!((recorded.len(), &orders(&runs(&files))), (20, &recorded));
}

#[test]
fn experiments_with_other_judges_are_other_experiments() {
    let files = files(&judged(3));
    compare(&files, &["--report", "out"]).exits(0);
    let lenient = script(&[("user", ".", json!(r#"{"score": 1, "better": "A"}"#))]);
    files.write("judge.jsonl", &lenient);
    let run = compare(&files, &["--report", "out"]).exits(2);
    assert!(run.stderr.contains("the judges or simulated users differ"), "{run:?}");
    let against = "ab spec.gram --library polite --cases cases.jsonl --judge judge --against out";
    let run = gramc(&against.replace("judge judge", "judge scripted/judge.jsonl"));
    let run = run.within(files.path()).run().exits(2);
    assert!(run.stderr.contains("--against does not support `pairwise`"), "{run:?}");
    // The same for a baseline.
    let files = self::files(&scored(3));
    compare(&files, &["--report", "out"]).exits(0);
    files.write("judge.jsonl", &lenient);
    let run = gramc(&against.replace("judge judge", "judge scripted/judge.jsonl"));
    let run = run.within(files.path()).run().exits(2);
    assert!(run.stderr.contains("the judges or simulated users of the baseline"), "{run:?}");
    let run = compare(&files, &["--sequential", "--primary", "latency"]).exits(2);
    assert!(run.stderr.contains("--sequential monitors success"), "{run:?}");
}

#[test]
fn comparisons_survive_an_interruption() {
    let files = files(&judged(12));
    let stopped = ["--report", "out", "--max-tokens", "250", "--concurrency", "1"];
    let partial = compare(&files, &stopped).exits(0).json();
    let known = partial["runs"].as_u64().unwrap_or_default();
    assert!(known % 2 == 1 && known < 24, "the run of one arm is to be missing: {known}");
    let report = compare(&files, &["--report", "out"]).exits(0).json();
    assert_eq!(outcome(&report, "preference")["cases"], 12);
}

#[test]
fn labels_of_people_show_how_good_the_judge_is() {
    let files = files(&judged(10));
    let label = |(id, arm): (u32, &str)| {
        // People find one of the plain answers good.
        let success = arm == "polite" || id == 0;
        json!({"case": id.to_string(), "arm": arm, "success": success, "score": 0.75}).to_string()
    };
    let all = (0..10).flat_map(|id| [(id, "plain"), (id, "polite")]);
    let mut labels: Vec<_> = all.map(label).collect();
    labels.push(json!({"case": "none", "arm": "plain", "success": true}).to_string());
    files.write("labels.jsonl", labels.join("\n"));
    let options = ["--labels", "labels.jsonl"];
    let agreement = &compare(&files, &options).exits(0).json()["agreement"];
    assert_eq!((&agreement["labels"], &agreement["agreement"]), (&json!(20), &json!(0.95)));
    let kappa = agreement["kappa"].as_f64().unwrap_or_default();
    assert!((kappa - 0.9).abs() < 1e-9, "{kappa}");
    assert_eq!((&agreement["mean_distance"], &agreement["unmatched"]), (&json!(0.25), &json!(1)));
    let told = options
        .iter()
        .fold(gramc("ab spec.gram --experiment manners").within(files.path()), Gramc::arg);
    let told = told.run().exits(0).stdout;
    assert!(told.contains("The judge agrees with people in 95.0 ("), "{told}");
    assert!(told.contains("Judges and simulated users: 30 requests, 750 tokens"), "{told}");
    // Labels are read before anything runs.
    for (labels, why) in [
        (
            "{\"case\": 1, \"arm\": \"plain\"}",
            "labels.jsonl:1: invalid label: expected `success` or",
        ),
        ("{\"case\": 1, \"arm\": \"plian\", \"score\": 1}", "unknown arm `plian`; did you mean"),
        (
            &["{\"case\": 1, \"arm\": \"plain\", \"score\": 1}"; 2].join("\n"),
            ":2: invalid label: the run has",
        ),
    ] {
        files.write("labels.jsonl", labels);
        let run = compare(&files, &["--labels", "labels.jsonl", "--report", "new"]).exits(2);
        assert!(run.stderr.contains(why), "{why}: {run:?}");
        assert!(!files.path().join("new").exists());
    }
}

#[test]
fn users_react_to_answers() {
    let users = [
        json!({"script": ["Look", {"when": "found\\.$", "say": "Politely!"}, {"when": "no", "say": "?"}]}),
        json!({"goal": "Hear that it is found, with thanks", "model": "scripted/user.jsonl", "max_turns": 3}),
        json!({"command": ["sh", "-c", "grep -q 'agent\":\"It is found, thank' || echo Again"], "max_turns": 2}),
    ];
    let cases = users.iter().enumerate().map(|(id, user)| json!({"id": id, "user": user}));
    let files = files(&cases.collect::<Vec<_>>());
    let options = ["--report", "out", "--primary", "calls"];
    compare(&files, &options).exits(0);
    let mut said: Vec<_> = runs(&files)
        .iter()
        .map(|run| {
            let messages = run["messages"].as_array().expect("messages").iter();
            let users = messages.filter(|it| it["role"] == "user");
            let said: Vec<_> = users.map(|it| it["content"].as_str().unwrap_or("")).collect();
            let (case, arm) = (run["case"].as_str(), run["arm"].as_str());
            format!("{} {}: {}", case.unwrap_or(""), arm.unwrap_or(""), said.join(" / "))
        })
        .collect();
    said.sort();
    assert_eq!(
        said,
        [
            "0 plain: Look / Politely!",
            "0 polite: Look",
            "1 plain: Is it there? / Say it again. / Say it again.",
            "1 polite: Is it there?",
            "2 plain: Again / Again",
            "2 polite: Again",
        ]
    );
}

#[cfg(unix)]
#[test]
fn programs_run_before_and_after_each_run() {
    let log = |word: &str| json!(["sh", "-c", format!("cat >> log; echo ' {word}' >> log")]);
    let case = |id: &str, setup: Value| json!({"id": id, "input": "Look", "setup": setup, "teardown": log("down")});
    let files = files(&[case("a", log("up")), case("b", log("up"))]);
    compare(&files, &["--concurrency", "1"]).exits(0);
    let text = files.read("log");
    let words: Vec<_> = text.lines().filter_map(|line| line.split(' ').next_back()).collect();
    assert_eq!(words, ["up", "down"].repeat(4));
    assert!(text.contains("\"case\":\"a\"") && text.contains("\"repeat\":0"), "{text}");
    assert!(!text.contains("plain"), "programs do not learn the arm: {text}");
    // A run whose environment is not as it should be says nothing about its arm.
    let broken = case("a", json!(["sh", "-c", "echo no database >&2; exit 3"]));
    let files = self::files(&[broken]);
    let run = compare(&files, &["--report", "out"]).exits(2);
    let why = "`sh` failed (exit status: 3): no database";
    assert!(run.stderr.contains(why), "{run:?}");
    assert_eq!(runs(&files), Vec::<Value>::new());
}

#[test]
fn what_is_wrong_with_evaluators_is_said() {
    let with = |more: Value| {
        let mut case = json!({"id": "a", "input": "Look"});
        case.as_object_mut().expect("a case").extend(more.as_object().cloned().unwrap_or_default());
        files(&[case])
    };
    let rubric = json!({"expect": {"rubric": {"criteria": "good"}}});
    let plain = gramc("ab spec.gram --library plain --library polite --cases cases.jsonl");
    let run = plain.within(with(rubric.clone()).path()).run().exits(2);
    assert!(run.stderr.contains("the case `a` needs a model for its judge or user: use --judge"));
    let silent = with(rubric);
    silent.write("judge.jsonl", r#"{"when": {"user": "."}, "content": "Fine."}"#);
    let run = compare(&silent, &[]).exits(2);
    let why = "cannot evaluate with `scripted/judge.jsonl`: the judge gave no valid answer in 3 \
               attempts: expected one JSON object";
    assert!(run.stderr.contains(why), "{run:?}");
    for (more, code, why) in [
        (
            json!({"user": {"goal": "x", "script": ["y"]}}),
            2,
            "one of `script`, `command` and `goal`",
        ),
        (json!({"user": {"script": []}}), 2, "`script` of `user` is empty"),
        (json!({"user": "x"}), 2, "expected `user` to be an object with `script`"),
        (json!({"user": {"model": "x"}}), 2, "`model` of `user` requires `goal`"),
        (json!({"setup": "no-such-program"}), 1, "`setup`: there is no program `no-such-program`"),
        (json!({"expect": {"rubric": {"criteria": []}}}), 2, "`criteria` of `rubric` is empty"),
        (json!({"setpu": "x"}), 2, "unknown key `setpu`; did you mean `setup`?"),
        (
            json!({"input": {"text": "Look", "images": "no.png"}}),
            2,
            "cannot read the image ./no.png: ",
        ),
    ] {
        let run = compare(&with(more), &[]).exits(code);
        assert!(run.stderr.contains(why), "{why}: {run:?}");
    }
}

#[test]
fn images_of_cases_reach_the_model() {
    let input = json!([{"text": "Look", "images": "pictures/a.png"}, "And now?"]);
    let files = files(&[json!({"id": "a", "input": input})]);
    let png = [b"\x89PNG\r\n\x1a\n".as_slice(), &[0; 16]].concat();
    std::fs::create_dir(files.path().join("pictures")).expect("a folder");
    std::fs::write(files.path().join("pictures/a.png"), png).expect("an image");
    compare(&files, &["--report", "out"]).exits(0);
    for run in runs(&files) {
        assert_eq!(run["messages"][0]["images"][0]["media_type"], "image/png", "{run}");
    }
}

#[test]
fn traces_become_cases_that_their_agent_passes() {
    let files = files(&[json!({"id": "a", "input": "Look"})]);
    for name in ["one.jsonl", "two.jsonl"] {
        let run = gramc("run spec.gram Look --library polite --trace").within(files.path());
        run.arg(name).run().exits(0);
    }
    let run = gramc("trace one.jsonl two.jsonl one.jsonl --cases").within(files.path()).run();
    let cases = run.exits(0).stdout;
    let case = |id: &str| {
        let call = json!({"name": "look", "arguments": {"id": 1}});
        json!({"id": id, "input": "Look", "expect": {"calls": [call]}}).to_string()
    };
    assert_eq!(cases.lines().collect::<Vec<_>>(), ["one", "two", "one-2"].map(case));
    files.write("cases.jsonl", &cases);
    let report = compare(&files, &["--primary", "success"]).exits(0).json();
    assert_eq!(outcome(&report, "success")["first"]["mean"], 1.0);
    let none = gramc("trace cases.jsonl --cases").within(files.path()).run().exits(2);
    assert!(none.stderr.contains("cases.jsonl:1: invalid trace: "), "{none:?}");
    let several = gramc("trace one.jsonl two.jsonl").within(files.path()).run().exits(2);
    assert!(several.stderr.contains("only --cases takes several"), "{several:?}");
}

#[cfg(unix)]
#[test]
fn runs_that_fail_have_the_lowest_score() {
    let files = files(&scored(40));
    let broken = "[broken:Agent {command: [\"sh\", \"-c\", \"exit 3\"]} | look]";
    files.write("spec.gram", format!("{SPEC}{broken}"));
    let arms = "ab spec.gram --cases cases.jsonl --library polite --judge scripted/judge.jsonl";
    let run = gramc(&format!("{arms} --seed 2 --concurrency 1 --primary score --format json"));
    let run =
        ["--arm", "good: agent=clerk", "--arm", "bad: agent=broken"].iter().fold(run, Gramc::arg);
    // With this seed, a run of the good agent comes first: before it, no failure is the arm's.
    let report = run.within(files.path()).run().exits(0).json();
    let score = outcome(&report, "score");
    assert_eq!(score["cases"], 40);
    assert_eq!((&score["first"]["mean"], &score["second"]["mean"]), (&json!(0.75), &json!(0.0)));
}

#[test]
fn tokens_of_conversations_whose_user_fails_are_spent() {
    // Only the first conversation ends well.
    let fails = "echo >> asked; [ $(wc -l < asked) -lt 2 ]";
    let user = json!({"command": ["sh", "-c", fails]});
    let cases = (0..9).map(|id| json!({"id": id, "input": "Look", "user": user}));
    let files = files(&cases.collect::<Vec<_>>());
    let options = ["--max-tokens", "200", "--concurrency", "1", "--primary", "calls"];
    let run = compare(&files, &options);
    // 50 tokens each.
    assert_eq!(run.json()["stopped"], "reached the token limit with 200 tokens", "{run:?}");
}

/// An interrupt does not wait for programs, and leaves nothing behind.
#[cfg(unix)]
#[test]
fn an_interrupted_setup_is_taken_down() {
    let setup = json!(["sh", "-c", "echo up >> log; exec sleep 60"]);
    let teardown = json!(["sh", "-c", "echo down >> log"]);
    let case = json!({"id": "a", "input": "Look", "setup": setup, "teardown": teardown});
    let files = files(&[case]);
    let mut child = std::process::Command::new(crate::support::binary())
        .args(["ab", "spec.gram", "--experiment", "manners", "--concurrency", "1"])
        .current_dir(files.path())
        .spawn()
        .expect("gramc starts");
    let start = std::time::Instant::now();
    while !files.path().join("log").exists() && start.elapsed().as_secs() < 30 {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let id = child.id().to_string();
    std::process::Command::new("kill").args(["-INT", &id]).status().expect("kill");
    let status = child.wait().expect("the end of gramc");
    assert_eq!(status.code(), Some(130));
    assert_eq!(files.read("log"), "up\ndown\n");
}
