#![allow(clippy::unwrap_used, reason = "a test stops where something is missing")]

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::implementations::{Fake, async_function, function};
use crate::invocation::Implementation;
use crate::{Settings, ToolLibrary};
use gramc_check::Valid;
use gramc_model::Module;
use gramc_syntax::{SourceFile, parse};
use serde_json::{Value, json};

use super::*;

fn module(text: &str) -> Valid<Module> {
    let checked = gramc_check::check(&[parse(SourceFile::new("tools.gram", text))]);
    checked.module.unwrap_or_else(|| unreachable!("{:?}", checked.diagnostics))
}

const BOOK: &str = "[book:Tool {idempotent: true} |
  (city::Text {length: 1..20})==>(nights::Int {range: 1..30})==>(late?::Bool)
  ==>(::{price: Number, city: Text})
]";

async fn tested(text: &str, library: ToolLibrary, options: Options) -> Vec<ToolReport> {
    let module = module(text);
    let (bound, _) = library.bind_partly(&module);
    let mut reports = Vec::new();
    test(&bound, &module, &options, |report| reports.push(report)).await;
    reports
}

async fn booked(implementation: impl Implementation + 'static) -> ToolReport {
    booked_within(Duration::from_mins(1), implementation).await
}

async fn booked_within(
    timeout: Duration,
    implementation: impl Implementation + 'static,
) -> ToolReport {
    let settings = Settings { timeout, ..Settings::default() };
    let library = ToolLibrary::new("real").settings(settings).with("book", implementation);
    tested(BOOK, library, Options::default()).await.remove(0)
}

fn receipt(call: &Value) -> Value {
    json!({"price": 80.5, "city": call["city"]})
}

fn violation(report: &ToolReport) -> (Check, Value) {
    assert_eq!(report.violations.len(), 1, "{report:?}");
    (report.violations[0].check, report.violations[0].arguments.clone())
}

#[tokio::test]
async fn what_keeps_its_promise_passes() {
    let report = booked(function(|call: Value| Ok::<_, String>(receipt(&call)))).await;
    assert_eq!((report.status(), &report.violations[..]), ("passed", &[][..]));
    assert_eq!((report.counts.valid, report.counts.repeated, report.counts.invalid), (100, 25, 50));
    assert_eq!(report.counts.accepted, 50, "gramc refuses them, so this is no failure");
}

#[tokio::test]
async fn the_smallest_call_that_fails_is_shown() {
    let report = booked(function(|call: Value| match call["nights"].as_i64() {
        Some(21..) => Err("there are no such long stays"),
        _ => Ok(receipt(&call)),
    }));
    let report = report.await;
    assert_eq!(violation(&report), (Check::Failure, json!({"city": "a", "nights": 21})));
    assert!(report.violations[0].message.ends_with("no such long stays"), "{report:?}");
    assert!(report.counts.failed > 0 && report.counts.failed < 100, "{report:?}");
}

#[tokio::test]
async fn results_of_other_types_are_shown() {
    let wrong = function(|call: Value| {
        let wrong = call.get("late").is_some();
        Ok::<_, String>(if wrong { json!({"price": "80"}) } else { receipt(&call) })
    });
    let report = booked(wrong).await;
    let (check, arguments) = violation(&report);
    assert_eq!((check, arguments["late"].is_boolean()), (Check::Result, true));
    assert_eq!((&arguments["city"], &arguments["nights"]), (&json!("a"), &json!(1)));
}

#[tokio::test]
async fn crashes_are_shown_of_valid_and_invalid_calls() {
    let report = booked(function(|call: Value| {
        assert!(call["city"].as_str().is_some_and(str::is_ascii), "only ASCII");
        Ok::<_, String>(receipt(&call))
    }))
    .await;
    let (check, arguments) = violation(&report);
    assert_eq!(check, Check::Crash);
    assert_eq!(arguments["city"].as_str().unwrap().chars().count(), 1, "{arguments}");

    // No valid call reaches this.
    let report = booked(function(|call: Value| {
        assert!(call["nights"].is_i64(), "no integer");
        Ok::<_, String>(receipt(&call))
    }))
    .await;
    let (check, arguments) = violation(&report);
    assert_eq!((check, arguments["nights"].is_i64()), (Check::Crash, false));
}

#[tokio::test]
async fn answers_that_change_are_shown() {
    let count = Arc::new(AtomicI64::new(0));
    let counting = function(move |call: Value| {
        let price = count.fetch_add(1, Ordering::Relaxed);
        Ok::<_, String>(json!({"price": price, "city": call["city"]}))
    });
    let report = booked(counting).await;
    assert_eq!(violation(&report), (Check::Repeat, json!({"city": "a", "nights": 1})));
}

#[tokio::test]
async fn one_call_that_takes_too_long_ends_the_test() {
    let slow = async_function(async |call: Value| {
        if call["nights"] == 30 {
            tokio::time::sleep(Duration::from_mins(1)).await;
        }
        Ok::<_, String>(receipt(&call))
    });
    let report = booked_within(Duration::from_millis(200), slow).await;
    assert_eq!(violation(&report).0, Check::TimeLimit);
    assert_eq!(report.violations[0].message, "no answer within 200ms");
    assert!(report.counts.valid < 100, "{report:?}");
}

#[tokio::test]
async fn checks_can_be_allowed_and_answers_to_invalid_calls_forbidden() {
    let failing = || function(|_: Value| Err::<Value, _>("sold out"));
    let library = ToolLibrary::new("real").with("book", failing());
    let allowed = [Check::Failure, Check::Accepted].into();
    let report = tested(BOOK, library, Options { allowed, ..Options::default() }).await.remove(0);
    assert_eq!((report.status(), report.counts.failed), ("passed", 100));

    let library = ToolLibrary::new("real")
        .with("book", function(|call: Value| Ok::<_, String>(receipt(&call))));
    let options = Options { allowed: [].into(), ..Options::default() };
    let report = tested(BOOK, library, options).await.remove(0);
    assert_eq!(violation(&report).0, Check::Accepted);
}

#[tokio::test]
async fn what_could_do_harm_is_left_out() {
    let text = "
        [wipe:Tool {destructive: true} | ()==>(::Null)]
        [pay:Tool {once: true} | (euros::Int {range: 1..9})==>(::Null)]
        [post:Tool {approval: \"always\"} | (text::Text)==>(::Null)]
        [missing:Tool | ()==>(::Null)]";
    let ran = Arc::new(AtomicI64::new(0));
    let counted = || {
        let ran = Arc::clone(&ran);
        function(move |_: Value| {
            ran.fetch_add(1, Ordering::Relaxed);
            Ok::<_, String>(Value::Null)
        })
    };
    let library = || {
        let library = ToolLibrary::new("real").with("wipe", counted()).with("pay", counted());
        library.with("post", counted())
    };
    let reports = tested(text, library(), Options { cases: 8, ..Options::default() }).await;
    let reasons: Vec<_> = reports.iter().map(|it| it.skipped.clone().unwrap_or_default()).collect();
    assert_eq!(
        reasons,
        [
            "it is `destructive`",
            "it is `once`",
            "its calls have to be approved",
            "there is no implementation",
        ]
    );
    assert_eq!(ran.load(Ordering::Relaxed), 0, "not even an invalid call may run");
    let post = &reports[2];
    assert_eq!((post.status(), post.counts.valid), ("skipped", 0), "{post:?}");

    ran.store(0, Ordering::Relaxed);
    let tools = vec!["wipe".to_owned(), "pay".to_owned()];
    let options = Options { cases: 4, include_destructive: true, tools, ..Options::default() };
    let reports = tested(text, library(), options).await;
    assert_eq!(reports.iter().map(ToolReport::status).collect::<Vec<_>>(), ["passed", "passed"]);
    assert!(ran.load(Ordering::Relaxed) > 4);
}

#[tokio::test]
async fn two_implementations_are_compared() {
    let module = module(BOOK);
    let library = |name: &str, limit: i64| {
        let implementation = function(move |call: Value| {
            let price = call["nights"].as_i64().unwrap_or_default().min(limit);
            Ok::<_, String>(json!({"price": price, "city": call["city"]}))
        });
        ToolLibrary::new(name).with("book", implementation).bind(&module).unwrap()
    };
    let compared = async |one, other| {
        let mut found = Vec::new();
        let bounds = [&library("one", one), &library("other", other)];
        compare(bounds, &module, &Options::default(), |it| found.push(it)).await;
        found.remove(0)
    };
    assert_eq!(compared(30, 30).await.status(), "same");
    let different = compared(30, 25).await;
    let (arguments, answers) = different.difference.clone().unwrap();
    assert_eq!(arguments, json!({"city": "a", "nights": 26}));
    assert_eq!(answers, [r#"{"price":26,"city":"a"}"#, r#"{"price":25,"city":"a"}"#]);
    assert_eq!(different.json()["status"], "different");
}

#[tokio::test]
async fn wrong_answers_differ_and_failures_are_alike() {
    let module = module(BOOK);
    let compared = async |one: Result<Value, &'static str>, other: Result<Value, &'static str>| {
        let library = |name: &str, answer: Result<Value, &'static str>| {
            let implementation = function(move |_: Value| answer.clone());
            ToolLibrary::new(name).with("book", implementation).bind(&module).unwrap()
        };
        let mut found = Vec::new();
        let bounds = [&library("one", one), &library("other", other)];
        let options = Options { cases: 5, ..Options::default() };
        compare(bounds, &module, &options, |it| found.push(it)).await;
        found.remove(0).status()
    };
    assert_eq!(compared(Ok(json!({"price": "1"})), Ok(json!({"price": "2"}))).await, "different");
    assert_eq!(compared(Ok(json!({"price": "1"})), Ok(json!({"price": "1"}))).await, "same");
    assert_eq!(compared(Err("sold out"), Err("closed")).await, "same");
    assert_eq!(compared(Err("sold out"), Ok(json!({"price": "1"}))).await, "different");
}

#[tokio::test]
async fn the_first_answer_counts_when_a_call_is_repeated() {
    let seen = Arc::new(Mutex::new(BTreeSet::new()));
    let once = function(move |call: Value| {
        let is_new = seen.lock().unwrap().insert(call.to_string());
        Ok::<_, String>(json!({"price": if is_new { 1 } else { 2 }, "city": call["city"]}))
    });
    let report = booked(once).await;
    assert_eq!(violation(&report).0, Check::Repeat);
    assert!(report.violations[0].message.starts_with(r#"answered {"price":1"#), "{report:?}");
}

#[tokio::test]
async fn the_greatest_values_are_tried_and_failures_reduced_to_their_end() {
    let text = "[f:Tool | (text::Text {length: 0..300})==>(list::Int[] {size: 0..40})
        ==>(number::Int {range: 0..1000000})==>(::Int)]";
    let size = |call: &Value, key: &str| call[key].as_array().map_or(0, Vec::len);
    let tested = async |wrong: fn(&Value) -> bool| {
        let implementation = function(move |call: Value| {
            Ok::<_, String>(if wrong(&call) { json!("wrong") } else { json!(1) })
        });
        let library = ToolLibrary::new("real").with("f", implementation);
        violation(&tested(text, library, Options::default()).await.remove(0)).1
    };
    let long = tested(|call| call["text"].as_str().is_some_and(|text| text.len() >= 300)).await;
    assert_eq!(long["text"].as_str().map(str::len), Some(300));
    let long = tested(|call| call["list"].as_array().is_some_and(|list| list.len() >= 18)).await;
    assert_eq!(size(&long, "list"), 18);
    let great = tested(|call| call["number"].as_i64() >= Some(1_000)).await;
    assert_eq!(great, json!({"text": "", "list": [], "number": 1_000}));
}

#[tokio::test]
async fn fakes_pass() {
    let text = "[f:Tool {readOnly: true} | (x::Text)==>(::{kind: \"a\" | \"b\", n: Int {range: 1..3}}[] {size: 2...})]
        [h:Tool | ()==>(::Bytes)]
        [g:Tool {idempotent: true} | ()==>(::Date {examples: [\"2026-01-01\", \"2026-01-02\"]})]";
    let library = ToolLibrary::new("fakes").with("f", Fake::new(1)).with("g", Fake::new(2));
    let library = library.with("h", Fake::new(3));
    for report in tested(text, library, Options::default()).await {
        assert_eq!((report.status(), report.violations.len()), ("passed", 0), "{report:?}");
    }
}

#[test]
fn junit_holds_what_xml_cannot() {
    let report = ToolReport {
        tool: "f".into(),
        implementation: Some("Command"),
        skipped: None,
        counts: Counts { valid: 1, failed: 1, ..Counts::default() },
        violations: vec![Violation {
            check: Check::Failure,
            message: "it wrote \"<a>\" and \u{1b}[31m".to_owned(),
            arguments: json!({"x": "]]>"}),
        }],
    };
    let text = junit("real", &[report]);
    assert!(text.contains("failures=\"1\"") && text.contains("&lt;a&gt;"), "{text}");
    assert!(!text.contains('\u{1b}'), "{text}");
}
