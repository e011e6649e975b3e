//! Invariants of all sessions.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops where something is missing")]

mod approval;
mod host;
mod secrets;
mod streams;

use std::sync::{Arc, Mutex};

use gramc_check::Valid;
use gramc_check::check;
use gramc_model::Module;
use gramc_syntax::{SourceFile, parse};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::*;
use crate::approval::ApprovalPolicy;
use crate::implementations::{Function, async_function};
use crate::injected_source::InjectedSource;
use crate::invocation::Answer;
use crate::library::ToolLibrary;
use crate::settings::Settings;
use crate::throttle::ThrottlePolicy;
use crate::verdict::{Call, Verdict};
use gramc_calls::check::{Problem, Undeclared};

const TEXT: &str = r#"
[deploy:Tool |
  (service::Text)
  ==>(spec::`{name: Text, limits?: {cpu: Number}}` {optional: true})
  ==>(cluster::Text {pinned: "eu-1"})
  ==>(token::Text {injected: true, secret: true})
  ==>(password::Text {optional: true, secret: true, length: 8...})
  ==>(::Any)
]
[stop:Tool | ()==>(::Any)]
"#;
const TOKEN: &str = "tok-4711-secret";

fn module() -> Valid<Module> {
    let checked = check(&[parse(SourceFile::new("spec.gram", TEXT))]);
    checked.module.unwrap()
}

/// The arguments that an implementation received.
type Seen = Arc<Mutex<Vec<Value>>>;

/// Records its arguments, and returns all of them as its result or its error.
fn failures(seen: &Seen, fails: bool) -> Function {
    let seen = Arc::clone(seen);
    async_function(move |arguments: Value| {
        seen.lock().unwrap().push(arguments.clone());
        async move { if fails { Err(arguments.to_string()) } else { Ok(arguments) } }
    })
}

fn library(seen: &Seen, settings: Settings, fails: bool) -> ToolLibrary {
    ToolLibrary::new("failures")
        .settings(settings)
        .with("deploy", failures(seen, fails))
        .with("stop", failures(seen, fails))
        .inject("deploy", "token", &InjectedSource::Value(json!(TOKEN)))
}

/// Settings without throttling and human review.
fn patient(undeclared: Undeclared) -> Settings {
    let mut settings = Settings { max_attempts: 0, ..Settings::default() };
    settings.check.undeclared = undeclared;
    settings.throttle = ThrottlePolicy::off();
    settings
}

/// Arguments of a model that exceed what it is allowed to set.
const GREEDY: [&str; 8] = [
    r#"{"service": "web", "GIT_PASSWORD": "x"}"#,
    r#"{"service": "web", "token": "stolen"}"#,
    r#"{"service": "web", "cluster": null, "Token": "stolen", "to\u006ben": "stolen"}"#,
    r#"{"service": "web", "spec": {"name": "n", "extra": 1, "limits": {"cpu": 1, "gpu": 2}}}"#,
    r#"{"service": "web", "spec": "{\"name\": \"n\", \"extra\": 1}"}"#,
    "{service: 'web', extra: {token: 'stolen'},}",
    r#"{"service": "web", "service": "other", "": 1, "__proto__": {"extra": 1}}"#,
    r#"{"service": "web", "spec": {"name": "n", "limits": {"cpu": "1", "cpu ": 2}}}"#,
];

#[tokio::test]
async fn nothing_undeclared_reaches_an_implementation() {
    let seen = Seen::default();
    let bound = library(&seen, patient(Undeclared::Strip), false).bind(&module()).unwrap();
    let session = Session::new(&bound);
    let mut ran = 0;
    for arguments in GREEDY {
        let verdict = session.call(Call::new("deploy", arguments)).await;
        let received = seen.lock().unwrap().pop();
        assert_eq!(received.is_some(), verdict.is_ok(), "{arguments}: {}", verdict.json());
        let Some(received) = received else { continue };
        ran += 1;
        let names: Vec<_> = received.as_object().unwrap().keys().cloned().collect();
        let declared = ["service", "spec", "cluster", "token", "password"];
        assert!(names.iter().all(|name| declared.contains(&name.as_str())), "{received}");
        assert_eq!((&received["token"], &received["cluster"]), (&json!(TOKEN), &json!("eu-1")));
        let text = received.to_string();
        assert!(!text.contains("stolen") && !text.contains("extra"), "{text}");
        assert!(!text.contains("gpu") && !text.contains("cpu "), "{text}");
    }
    assert!(ran > 1, "only {ran} calls ran");
    // A tool without parameters receives an empty object.
    for arguments in GREEDY {
        let verdict = session.call(Call::new("stop", arguments)).await;
        let received = seen.lock().unwrap().pop();
        assert_eq!(received, verdict.is_ok().then(|| json!({})), "{arguments}");
    }
}

#[tokio::test]
async fn removed_arguments_are_reported() {
    let note = "Note: `mood` is not declared and was removed from the arguments.";
    let arguments = r#"{"service": "web", "mood": 5}"#;
    let seen = Seen::default();
    let mut settings = patient(Undeclared::Strip);
    for fails in [false, true] {
        let bound = library(&seen, settings.clone(), fails).bind(&module()).unwrap();
        let verdict = Session::new(&bound).call(Call::new("deploy", arguments)).await;
        assert!(verdict.message().ends_with(note), "{}", verdict.message());
        assert_eq!(verdict.json()["stripped"], json!(["mood"]));
        let verdict = Session::new(&bound).call(Call::new("deploy", r#"{"service": "web"}"#)).await;
        assert!(!verdict.message().contains("Note"), "{}", verdict.message());
    }
    settings.approval = Some(ApprovalPolicy::Always);
    let bound = library(&seen, settings, false).bind(&module()).unwrap();
    let session = Session::new(&bound);
    let Admission::Ready(call) = session.begin(Call::new("deploy", arguments)) else {
        panic!("the call was refused")
    };
    let request = call.approval_request().unwrap();
    assert_eq!(request.json()["stripped"], json!(["mood"]));
    assert_eq!(request.describe_removal(), ", without the undeclared `mood`");
}

#[tokio::test]
async fn what_is_refused_reaches_nobody() {
    let seen = Seen::default();
    let bound = library(&seen, patient(Undeclared::Reject), false).bind(&module()).unwrap();
    let session = Session::new(&bound);
    let mut refused = 0;
    for arguments in GREEDY {
        let verdict = session.call(Call::new("deploy", arguments)).await;
        // Parameters of the host are stripped without an error, so some of these calls run.
        let ran = seen.lock().unwrap().drain(..).count();
        assert_eq!(ran, usize::from(verdict.is_ok()), "{arguments}");
        refused += 1 - ran;
    }
    assert!(refused >= 6, "only {refused} were refused");
    for name in ["deploi", "", "Deploy", "deploy "] {
        assert!(!session.call(Call::new(name, r#"{"service": "web"}"#)).await.is_ok());
        assert_eq!(seen.lock().unwrap().len(), 0, "{name:?}");
    }
}

#[tokio::test]
async fn a_library_is_a_value() {
    let seen = Seen::default();
    let strict = Settings { throttle: ThrottlePolicy::strict(), ..Settings::default() };
    let first = library(&seen, strict, false);
    let smaller = ToolLibrary::new("smaller").with("stop", failures(&seen, false));
    let larger = smaller.clone().with("deploy", failures(&seen, false));
    assert_eq!((smaller.entries.len(), larger.entries.len()), (1, 2));

    // Failures in one session do not affect other sessions or later bindings.
    let module = module();
    let bound = first.bind(&module).unwrap();
    let session = Session::new(&bound);
    for _ in 0..4 {
        session.call(Call::new("deploy", "{}")).await;
    }
    let right = || Call::new("deploy", r#"{"service": "web"}"#);
    assert_eq!(session.call(right()).await.outcome.unwrap_err().error_type(), "throttled");
    assert!(Session::new(&bound).call(right()).await.is_ok());
    assert!(Session::new(&first.bind(&module).unwrap()).call(right()).await.is_ok());
    assert_eq!(Session::new(&bound).stats(), SessionStats::default());
}

/// Binds an implementation to a specification with a single tool, `a`.
fn one(
    implementation: impl crate::invocation::Implementation + 'static,
    settings: Settings,
) -> crate::Bound {
    let text = "[a:Tool | (n::Int)==>(::Any)]";
    let checked = check(&[parse(SourceFile::new("a.gram", text))]);
    let library = ToolLibrary::new("one").settings(settings).with("a", implementation);
    library.validate("a", odd_ones_only).bind(&checked.module.unwrap()).unwrap()
}

/// A host validator that rejects even numbers.
fn odd_ones_only(arguments: &Value) -> Vec<Problem> {
    let even = arguments["n"].as_i64().is_some_and(|n| n % 2 == 0);
    Vec::from_iter(even.then(|| Problem::of_host("/n", "NOT_ODD", "`n` must be an odd number")))
}

#[tokio::test]
async fn a_validator_of_the_host_joins_the_report() {
    let echo = async_function(async |arguments: Value| Ok::<_, String>(arguments));
    let bound = one(echo, patient(Undeclared::Strip));
    let session = Session::new(&bound);
    assert!(session.call(Call::new("a", r#"{"n": 3}"#)).await.is_ok());
    let refused = session.call(Call::new("a", r#"{"n": "4"}"#)).await.json();
    assert_eq!(refused["error"]["errors"][0]["error_code"], "NOT_ODD", "{refused}");
    // Problems of values that already have the wrong type are not reported.
    let refused = session.call(Call::new("a", r#"{"n": []}"#)).await.json();
    assert_eq!(refused["error"]["errors"].as_array().map(Vec::len), Some(1), "{refused}");
}

#[tokio::test]
async fn a_validator_of_the_host_sees_what_would_run() {
    let text = "[a:Tool | (n::Int)==>(m::Int)==>(::Any)]";
    let checked = check(&[parse(SourceFile::new("a.gram", text))]);
    let echo = async_function(async |arguments: Value| Ok::<_, String>(arguments));
    let library = ToolLibrary::new("a").settings(patient(Undeclared::Strip)).with("a", echo);
    let library = library.validate("a", |arguments: &Value| {
        assert!(arguments["n"] != 13, "what bad luck");
        let wrong = !arguments["n"].is_i64();
        let mut found = odd_ones_only(arguments);
        found.extend(wrong.then(|| Problem::of_host("/n", "NO_INTEGER", "it is no integer")));
        let missing = arguments.get("m").is_none();
        found.extend(missing.then(|| Problem::of_host("", "NO_M", "`m` is not there")));
        found
    });
    let session = Session::new(&library.bind(&checked.module.unwrap()).unwrap());
    for (arguments, codes) in [
        (r#"{"n": "3", "m": []}"#, json!(["TYPE_MISMATCH"])),
        (r#"{"n": "4", "m": []}"#, json!(["TYPE_MISMATCH", "NOT_ODD"])),
        ("{n: '4', m: []}", json!(["TYPE_MISMATCH", "NOT_ODD"])),
        ("{n: '4'}", json!(["REQUIRED_FIELD", "NOT_ODD"])),
    ] {
        let refused = session.call(Call::new("a", arguments)).await.json();
        let errors = refused["error"]["errors"].as_array().unwrap();
        let found: Value = errors.iter().map(|error| error["error_code"].clone()).collect();
        assert_eq!(found, codes, "{refused}");
    }
    let died = session.call(Call::new("a", r#"{"n": 13, "m": 1}"#)).await.json();
    assert_eq!(died["error"]["error_type"], "invocation_error", "{died}");
    assert!(session.call(Call::new("a", r#"{"n": 3, "m": 1}"#)).await.is_ok());
}

#[tokio::test]
async fn only_so_many_invocations_run_at_a_time_in_all_sessions_together() {
    use std::sync::atomic::{AtomicUsize, Ordering};
    let (running, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let seen = Arc::clone(&most);
    let slow = async_function(move |_: Value| {
        let (running, most) = (Arc::clone(&running), Arc::clone(&seen));
        async move {
            most.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
            running.fetch_sub(1, Ordering::SeqCst);
            Ok::<_, String>(0)
        }
    });
    let bound = one(slow, Settings { concurrency: 2, ..patient(Undeclared::Strip) });
    let sessions = [Session::new(&bound), Session::new(&bound)];
    let calls = (0..12).map(|at| sessions[at % 2].call(Call::new("a", r#"{"n": 1}"#)));
    let verdicts = futures_util::future::join_all(calls).await;
    assert!(verdicts.iter().all(Verdict::is_ok));
    assert_eq!(most.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn what_panics_or_is_cancelled_fails_and_the_next_call_works() {
    let moody = async_function(async |arguments: Value| match arguments["n"].as_i64() {
        Some(1) => panic!("what a mood"),
        Some(3) => {
            tokio::time::sleep(std::time::Duration::from_mins(10)).await;
            Ok(0)
        }
        _ => Ok::<_, String>(5),
    });
    let bound = one(moody, patient(Undeclared::Strip));
    let session = Session::new(&bound);
    let died = session.call(Call::new("a", r#"{"n": 1}"#)).await.json();
    assert_eq!(died["error"]["error_type"], "invocation_error", "{died}");
    let cancelled = CancellationToken::new();
    let stop = cancelled.clone();
    let (verdict, ()) =
        tokio::join!(session.call_until(Call::new("a", r#"{"n": 3}"#), cancelled), async move {
            tokio::task::yield_now().await;
            stop.cancel();
        });
    assert_eq!(verdict.json()["error"]["detail"], "the call was cancelled");
    assert!(session.call(Call::new("a", r#"{"n": 5}"#)).await.is_ok());
}

#[tokio::test]
async fn judged_alone_what_is_in_a_container_is_available() {
    let text = "[ReadFile:Tool | ()==>(::Any)] [Box:Container | ReadFile]";
    let checked = check(&[parse(SourceFile::new("a.gram", text))]);
    let echo = async_function(async |arguments: Value| Ok::<_, String>(arguments));
    let library = ToolLibrary::new("a").with("ReadFile", echo);
    let session = Session::new(&library.bind(&checked.module.unwrap()).unwrap());
    let judged = session.validate(Call::new("Box.ReadFil", "{}")).json();
    assert_eq!(judged["error"]["available_tools"], json!(["ReadFile", "Box"]));
    assert_eq!(judged["error"]["retry_guidance"], "Call `ReadFile`, or another available tool.");
    let called = session.call(Call::new("Box.ReadFil", "{}")).await.json();
    assert_eq!(called["error"]["available_tools"], json!(["Box"]));
    assert!(called.to_string().contains("call `Box` without arguments first"), "{called}");
}

/// Returns its environment, in one of several ways.
#[derive(Debug)]
struct Leaky(Vec<String>);

impl crate::invocation::Implementation for Leaky {
    fn kind(&self) -> &'static str {
        "Leaky"
    }

    fn secrets(&self) -> &[String] {
        &self.0
    }

    fn invoke(&self, invocation: crate::invocation::Invocation) -> crate::invocation::AnswerFuture {
        use crate::invocation::{Answer, InvocationError, InvocationErrorKind as Kind};
        let way = invocation.object().unwrap()["way"].as_u64();
        let secret = self.0.join(" ");
        let quoted = Value::from(secret.as_str()).to_string();
        Box::pin(std::future::ready(match way {
            Some(0) => Ok(Answer::Json(json!({"a": [secret], secret.clone(): 1}))),
            Some(1) => Ok(Answer::Raw(format!("TOKEN={secret}\n"))),
            Some(2) => Ok(Answer::Json(json!({"text": quoted}))),
            Some(3) => Err(InvocationError::new(Kind::Failed, format!("no {secret}, {quoted}"))),
            // A result that contradicts its type.
            _ => Ok(Answer::Json(json!([secret]))),
        }))
    }
}

/// An answer that is not as described arrives, unless results are strict.
#[tokio::test]
async fn an_answer_of_another_kind_arrives() {
    let text = "[f:Tool | ()==>(::`{a: Text}`)]";
    let module = check(&[parse(SourceFile::new("spec.gram", text))]).module.unwrap();
    for (answer, expected) in [
        (Answer::Json("<p>Done</p>".into()), json!("<p>Done</p>")),
        (Answer::Raw("null".to_owned()), json!(null)),
        (Answer::Raw(r#"{"a": null}"#.to_owned()), json!({"a": null})),
    ] {
        for strict_result in [false, true] {
            let settings = Settings { strict_result, ..Settings::default() };
            let library = ToolLibrary::new("l").settings(settings);
            let session = Session::new(&library.bind_partly(&module).0);
            let Admission::Ready(call) = session.begin(Call::new("f", "{}")) else { panic!() };
            let verdict = call.finish(Ok(answer.clone())).json();
            if strict_result {
                let detail = verdict["error"]["detail"].as_str().unwrap();
                assert!(detail.starts_with("the result does not match its type: "), "{detail}");
            } else {
                assert_eq!(verdict["result"], expected);
                assert_eq!(verdict["warnings"][0]["code"], "result-mismatch");
            }
        }
    }
}
