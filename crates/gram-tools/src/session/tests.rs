//! What holds for every session, whatever is called.
#![allow(clippy::unwrap_used, reason = "a test stops where something is missing")]

use std::sync::{Arc, Mutex};

use gram_schema::check;
use gram_schema::model::{Module, Valid};
use gram_syntax::{SourceFile, parse};
use serde_json::{Value, json};

use super::*;
use crate::check::{Problem, Undeclared};
use crate::kinds::{Function, async_function};
use crate::library::{Supply, ToolLibrary};
use crate::settings::Settings;

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

/// What an implementation received.
type Seen = Arc<Mutex<Vec<Value>>>;

/// An implementation that notes what it receives, and answers, or fails, with all of it.
fn witness(seen: &Seen, fails: bool) -> Function {
    let seen = Arc::clone(seen);
    async_function(move |arguments: Value| {
        seen.lock().unwrap().push(arguments.clone());
        async move { if fails { Err(arguments.to_string()) } else { Ok(arguments) } }
    })
}

fn library(seen: &Seen, settings: Settings, fails: bool) -> ToolLibrary {
    ToolLibrary::new("witness")
        .settings(settings)
        .with("deploy", witness(seen, fails))
        .with("stop", witness(seen, fails))
        .inject("deploy", "token", &Supply::Value(json!(TOKEN)))
}

/// Settings under which a session lets everything through that the checks do.
fn patient(undeclared: Undeclared) -> Settings {
    let mut settings = Settings { max_attempts: 0, ..Settings::default() };
    settings.check.undeclared = undeclared;
    settings.throttle.max_consecutive_failures = 0;
    settings.throttle.same_tool_calls = 0;
    settings.throttle.all_tools_calls = 0;
    settings
}

/// Arguments of models that would reach further than they should.
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
    for arguments in GREEDY {
        let verdict = session.call(Call::new("deploy", arguments)).await;
        assert!(verdict.is_ok(), "{arguments}: {}", verdict.json());
        let received = seen.lock().unwrap().pop().unwrap();
        let names: Vec<_> = received.as_object().unwrap().keys().cloned().collect();
        let declared = ["service", "spec", "cluster", "token", "password"];
        assert!(names.iter().all(|name| declared.contains(&name.as_str())), "{received}");
        assert_eq!((&received["token"], &received["cluster"]), (&json!(TOKEN), &json!("eu-1")));
        let text = received.to_string();
        assert!(!text.contains("stolen") && !text.contains("extra"), "{text}");
        assert!(!text.contains("gpu") && !text.contains("cpu "), "{text}");
        // A tool without parameters takes none.
        session.call(Call::new("stop", arguments)).await;
        assert_eq!(seen.lock().unwrap().pop(), Some(json!({})));
    }
}

#[tokio::test]
async fn what_is_refused_reaches_nobody() {
    let seen = Seen::default();
    let bound = library(&seen, patient(Undeclared::Reject), false).bind(&module()).unwrap();
    let session = Session::new(&bound);
    let mut refused = 0;
    for arguments in GREEDY {
        let verdict = session.call(Call::new("deploy", arguments)).await;
        // What the host owns is left out and no error, so some of these run.
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
async fn no_secret_reaches_a_verdict() {
    let password = "hunter2-hunter2";
    for fails in [false, true] {
        let seen = Seen::default();
        let library = library(&seen, patient(Undeclared::Strip), fails).validate(
            "deploy",
            |arguments: &Value| {
                if arguments["service"] != "odd" {
                    return Vec::new();
                }
                vec![Problem::of_host("/password", "ODD", format!("{arguments} is odd"))]
            },
        );
        assert!(!format!("{library:?}").contains(TOKEN));
        let bound = library.bind(&module()).unwrap();
        let session = Session::new(&bound);
        for service in ["\"web\"", "\"odd\"", "5"] {
            let arguments = format!("{{\"service\": {service}, \"password\": \"{password}\"}}");
            let verdict = session.call(Call::new("deploy", arguments)).await;
            let told = format!("{} {}", verdict.json(), verdict.message());
            assert!(!told.contains(TOKEN) && !told.contains(password), "{told}");
            let judged = session.judge(Call::new(
                "deploy",
                format!("{{service: {service}, password: '{password}'}}"),
            ));
            let told = format!("{} {}", judged.json(), judged.message());
            assert!(!told.contains(password), "{told}");
        }
        let short = r#"{"service": "web", "password": "s3cret!"}"#;
        let verdict = session.call(Call::new("deploy", short)).await;
        assert!(!verdict.is_ok() && !verdict.json().to_string().contains("s3cret!"));
        // The implementation had them all the same.
        assert!(seen.lock().unwrap().iter().all(|it| it["password"] == password));
    }
}

#[tokio::test]
async fn a_library_is_a_value() {
    let seen = Seen::default();
    let first = library(&seen, Settings::default(), false);
    let smaller = ToolLibrary::new("smaller").with("stop", witness(&seen, false));
    let larger = smaller.clone().with("deploy", witness(&seen, false));
    assert_eq!((smaller.entries().len(), larger.entries().len()), (1, 2));

    // What fails in one conversation changes nothing for another, nor for the next binding.
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
