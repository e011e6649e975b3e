//! `gramc test`, and fakes: with real programs, a real MCP server, and a model that calls fakes.

use serde_json::Value;

use crate::support::{Folder, Run, folder, gramc, root};

const SHOP: &str = r#"/** Books a room */
[book:Tool {idempotent: true} |
  (city::Text {length: 1..40})==>(nights::Int {range: 1..30})==>(::{price: Number, code: Text})
]
/** The next number */
[tick:Tool {readOnly: true} | ()==>(::Int)]
[wipe:Tool {destructive: true} | ()==>(::Null)]
[agent:Agent {model: "scripted/echo", instruction: "Help."} | book]
[fakes:Library | (book:Fake {seed: 7}), (tick:Fake), (wipe:Fake)]
[real:Library {timeout: 20s} |
  (book:Command {run: ["python3", "book.py"]}),
  (tick:Command {run: ["python3", "tick.py"]}),
  (wipe:Builtin {name: "echo"})
]
"#;

const BOOK: &str = r#"import json, sys
call = json.load(sys.stdin)
price = 2415 / (30 - call["nights"])
print(json.dumps({"price": price, "code": call["city"][:3]}))
"#;

const TICK: &str = "import time\nprint(time.time_ns())\n";

fn shop() -> Folder {
    folder(&[("shop.gram", SHOP), ("book.py", BOOK), ("tick.py", TICK)])
}

fn run(files: &Folder, line: &str) -> Run {
    gramc(line).within(files.path()).run()
}

fn lines(run: &Run) -> Vec<Value> {
    run.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn programs_are_tested() {
    let files = shop();
    let line = "test shop.gram --library real --cases 20 --format json";
    let found = lines(&run(&files, line).exits(1));
    let book = &found[0];
    assert_eq!(book["status"], "failed");
    assert_eq!(book["violations"][0]["check"], "failure");
    assert_eq!(book["violations"][0]["arguments"]["nights"], 30, "{book}");
    assert_eq!(book["violations"][0]["arguments"]["city"].as_str().unwrap().len(), 1, "{book}");
    assert_eq!(found[1]["violations"][0]["check"], "repeat");
    assert_eq!(
        (&found[2]["status"], &found[2]["reason"]),
        (&"skipped".into(), &"it is `destructive`".into())
    );
    let same = lines(&run(&files, line).exits(1));
    assert_eq!(same[0], *book, "one seed makes the same calls");

    let allowed = "test shop.gram --library real --cases 20 --allow failure,repeat";
    let shown = run(&files, allowed).exits(0).stdout;
    assert!(shown.contains("book  passed   20 valid calls ("), "{shown}");
}

#[test]
fn fakes_answer_by_type_and_repeat_themselves() {
    let files = shop();
    let answer = |bind: &str| {
        let call = gramc("call shop.gram book").arg(r#"{"city": "Wien", "nights": 2}"#).args(bind);
        call.within(files.path()).run().exits(0).json()["result"].clone()
    };
    let first = answer("--library fakes");
    assert!(first["price"].is_number() && first["code"].is_string(), "{first}");
    assert_eq!(answer("--library fakes"), first);
    // The seed is another one.
    assert_ne!(answer("--fake"), first);
    run(&files, "test shop.gram --library fakes --include-destructive").exits(0);
    let ran = run(&files, "run shop.gram Book --fake").exits(0);
    assert!(!ran.stdout.is_empty(), "{ran:?}");
}

#[test]
fn libraries_are_compared() {
    let files = shop();
    let line = "test shop.gram --library real --library fakes --tool book --format json";
    let found = lines(&run(&files, line).exits(1));
    assert_eq!(found[0]["status"], "different");
    assert_eq!(found[0]["witness"]["nights"], 1, "{found:?}");
    let same = run(&files, "test shop.gram --library fakes --library fakes").exits(0);
    assert!(same.stdout.contains("book  same"), "{}", same.stdout);
}

#[test]
fn a_validator_that_cannot_run_is_a_failure() {
    let text = "[f:Tool | (n::Int)==>(::Int)]\n[l:Library | (f:Command {run: [\"echo\", \"1\"], \
                validate: [\"./missing\"]})]\n";
    let files = folder(&[("tools.gram", text)]);
    let shown = run(&files, "test tools.gram --library l --cases 4").exits(1).stdout;
    assert!(shown.contains("crash with") && !shown.contains("Try again"), "{shown}");
}

#[test]
fn large_and_wide_types_are_quickly_faked() {
    let fields: Vec<_> = (0..100).map(|at| format!(", (f{at}?::N)")).collect();
    let fields = fields.concat();
    let text = format!(
        "[wide:Tool | ()==>(::N)]\n[N::Record | (n::Int){fields}]\n\
         [long:Tool | ()==>(::Int[] {{size: 10000000...}})]\n"
    );
    let files = folder(&[("tools.gram", &text)]);
    run(&files, "call tools.gram wide {} --fake").exits(0);
    let long = run(&files, "call tools.gram long {} --fake").exits(1);
    assert!(long.stdout.contains("no value was found"), "{long:?}");
}

#[test]
fn reports_for_ci_systems_are_valid() {
    let files = shop();
    let text =
        run(&files, "test shop.gram --library real --cases 20 --format junit").exits(1).stdout;
    assert!(
        text.contains(r#"<testsuites name="gramc test" tests="3" failures="2" errors="0">"#),
        "{text}"
    );
    assert!(text.contains(r#"type="failure""#) && text.contains("<skipped"), "{text}");
}

#[test]
fn wrong_uses_are_told() {
    let files = shop();
    for (line, expected) in [
        ("test shop.gram", "name one of SPEC with --library (fakes, real)"),
        ("test shop.gram --library rael", "did you mean `real`"),
        ("test shop.gram --library real --tool bok", "did you mean `book`"),
        ("test shop.gram --library real --allow crashes", "possible values"),
        ("test shop.gram --library real --cases 0", "1..=1000000"),
        ("test shop.gram --library real --format sarif", "human, json or junit"),
        ("check shop.gram --format junit", "`gramc test`"),
        ("call shop.gram book {} --library real --fake", "cannot be used with"),
        ("call shop.gram book {}", "name one of SPEC with --library (fakes, real)"),
    ] {
        run(&files, line).fails_with(&[expected]);
    }
}

/// The official server of MCP that shows everything.
#[test]
fn real_mcp_server_is_tested() {
    let server = root().join(".tools/node/node_modules/.bin/mcp-server-everything");
    assert!(server.exists(), "{} is missing; tests/real/install installs it", server.display());
    let entry = format!("Mcp {{command: [\"{}\"]}}", server.display());
    let text = format!(
        "[echo:Tool {{readOnly: true}} | (message::Text)==>(::Text)]\n\
         [`get-sum`:Tool {{readOnly: true}} | (a::Number)==>(b::Number)==>(::Text)]\n\
         [everything:Library | (echo:{entry}), (`get-sum`:{entry})]\n"
    );
    let files = folder(&[("tools.gram", &text)]);
    let found = lines(&run(&files, "test tools.gram --library everything --format json").exits(0));
    for report in found {
        assert_eq!(report["status"], "passed", "{report}");
        assert_eq!(report["calls"]["valid"], 100, "{report}");
        // The server checks arguments with zod.
        assert_eq!(report["calls"]["accepted"], 0, "{report}");
    }
}
