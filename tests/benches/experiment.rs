//! How many runs of an experiment `gramc ab` makes in a second: a scripted model, two libraries, 50,000
//! cases, the journal and all reports written. The whole process is timed.
//!
//! `cargo bench -p gramc-system-tests --bench experiment` takes a minute or two.
#![allow(clippy::expect_used, clippy::print_stdout, clippy::panic)]

use std::fmt::Write as _;
use std::fs;
use std::process::Command;
use std::time::Instant;

use gramc_system_tests::release::gramc;

const SPEC: &str = r#"
[greeter:Agent {instruction: "You greet people.", model: "scripted/model.jsonl"} |
  [sayHello:Tool {description: "Greets somebody"} | (personName::Text)==>(::String)]
]
[one:Library {maxCalls: 0} | (sayHello:Builtin)]
[two:Library {maxCalls: 0, timeout: 10s} | (sayHello:Builtin)]
[both:Experiment {cases: "cases.jsonl", seed: 7} | one, two]
"#;
const MODEL: &str = r#"{"when": {"user": "I am (\\w+)"}, "tool_calls": [{"name": "sayHello", "arguments": {"personName": "$1"}}], "usage": {"input_tokens": 100, "output_tokens": 12}}
{"when": {"tool": "^.*$"}, "content": "$0", "usage": {"input_tokens": 140, "output_tokens": 9}}
"#;
const CASES: usize = 50_000;
const ROUNDS: usize = 3;

fn main() {
    let gramc = gramc();
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).expect(name);
    let mut cases = String::new();
    for at in 0..CASES {
        let name = format!("Ada{at}");
        let _ = writeln!(
            cases,
            r#"{{"id": "{at}", "input": "Hello, I am {name}!", "expect": {{"contains": "{name}", "calls": [{{"name": "sayHello"}}]}}}}"#
        );
    }
    write("spec.gram", SPEC);
    write("model.jsonl", MODEL);
    write("cases.jsonl", &cases);
    let runs = 2 * CASES;
    let mut rates = Vec::new();
    for round in 0..ROUNDS {
        let report = format!("report-{round}");
        let began = Instant::now();
        let output = Command::new(&gramc)
            .args(["ab", "spec.gram", "--experiment", "both", "--report", &report])
            .current_dir(folder.path())
            .output()
            .expect("gramc starts");
        let took = began.elapsed().as_secs_f64();
        let told = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert!(told.contains(&format!("{runs} runs")), "{told}");
        #[expect(clippy::cast_precision_loss, reason = "runs are few")]
        rates.push(runs as f64 / took);
        println!("{runs} runs in {took:.1} s, all reports written");
        fs::remove_dir_all(folder.path().join(report)).expect("the folder is there");
    }
    rates.sort_by(f64::total_cmp);
    println!("{:.0} runs/s", rates[rates.len() / 2]);
}
