//! What the host supplies to a session, and calls that the host runs itself.

use super::*;

fn injected(token: &str) -> serde_json::Map<String, Value> {
    serde_json::Map::from_iter([("token".to_owned(), token.into())])
}

/// A session whose library has no value for the injected parameter.
fn session_without_token(seen: &Seen) -> Session {
    let library = ToolLibrary::new("failures")
        .settings(patient(Undeclared::Strip))
        .with("deploy", failures(seen, false))
        .with("stop", failures(seen, false));
    Session::new(&library.bind_partly(&module()).0)
}

#[tokio::test]
async fn a_session_and_a_call_supply_injected_values() {
    let seen = Seen::default();
    let token = || seen.lock().unwrap().pop().unwrap()["token"].clone();
    let call = || Call::new("deploy", r#"{"service": "web"}"#);
    let session = session_without_token(&seen);
    let verdict = session.call(call()).await;
    assert!(verdict.message().contains("no value for the injected parameter `token` of `deploy`"));
    assert!(seen.lock().unwrap().is_empty());

    let session = session.with_injected(injected("of-session"));
    let verdict = session.call(call()).await;
    assert!(verdict.is_ok() && !verdict.json().to_string().contains("of-session"));
    assert_eq!(token(), "of-session");
    let verdict = session.call(Call { injected: injected("of-call"), ..call() }).await;
    assert!(verdict.is_ok() && !verdict.json().to_string().contains("of-call"));
    assert_eq!(token(), "of-call");

    // They take precedence over those of the library, and tools without the parameter ignore them.
    let bound = library(&seen, patient(Undeclared::Strip), false).bind(&module()).unwrap();
    let session = Session::new(&bound).with_injected(injected("of-session"));
    assert!(session.call(call()).await.is_ok());
    assert_eq!(token(), "of-session");
    assert!(session.call(Call::new("stop", "{}")).await.is_ok());
    assert_eq!(seen.lock().unwrap().pop().unwrap(), json!({}));
}

#[test]
fn a_check_counts_only_refused_calls() {
    let seen = Seen::default();
    let settings = Settings { max_attempts: 2, ..Settings::default() };
    let bound = library(&seen, settings, false).bind(&module()).unwrap();
    let session = Session::new(&bound);
    let refused = || session.check(Call::new("deploy", r#"{"service": 1}"#));
    for _ in 0..20 {
        let arguments = r#"{"service": "web", "password": "long-enough"}"#;
        let CheckedCall { verdict, arguments } = session.check(Call::new("deploy", arguments));
        // The arguments for the function have the secrets, those of the verdict have not.
        let arguments: Value = serde_json::from_str(&arguments.unwrap()).unwrap();
        assert_eq!(
            (&arguments["token"], &arguments["password"]),
            (&json!(TOKEN), &json!("long-enough"))
        );
        let shown = verdict.json();
        assert!(verdict.is_ok() && shown["arguments"]["password"] == "***");
        assert!(shown.get("result").is_none() && !shown.to_string().contains(TOKEN));
    }
    let types = [refused(), refused()].map(|it| it.verdict.json()["error"]["error_type"].clone());
    assert_eq!(types, ["validation_error", "needs_human_review"]);
    assert!(refused().arguments.is_none() && seen.lock().unwrap().is_empty());
    assert!(session.check(Call::new("deploy", r#"{"service": "web"}"#)).verdict.is_ok());
    let other = session.check(Call::new("deploy", r#"{"service": 2}"#)).verdict;
    assert_eq!(other.json()["error"]["error_type"], "validation_error");
}
