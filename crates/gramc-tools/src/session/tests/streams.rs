//! Calls with streamed arguments.

use super::*;
use crate::verdict::ReplyEnding;

/// The pieces of a text, each of a few bytes.
fn feed(stream: &mut CallStream, text: &str, size: usize) {
    for piece in text.as_bytes().chunks(size) {
        stream.feed_bytes(piece);
    }
}

#[tokio::test]
async fn the_verdict_is_that_of_the_whole_text() {
    let texts = GREEDY.into_iter().chain([
        r#"{"service": "wéb 😀", "spec": {"name": "\u00e9"}}"#,
        r#"{"service": ["web"], "password": "secret-4711"}"#,
        r#"{"service": "web", "password": "short"}"#,
        r#"{"service": "tok-4711-secret"#,
        "service: web",
        "null",
        "",
    ]);
    for text in texts {
        for (name, size) in [("deploy", 1), ("deploy", 7), ("stop", 3), ("depoly", 1_000)] {
            let seen = Seen::default();
            let bound = library(&seen, patient(Undeclared::Strip), false).bind(&module()).unwrap();
            let (whole, pieces) = (Session::new(&bound), Session::new(&bound));
            let arguments = (!text.is_empty()).then(|| text.to_owned());
            let call = Call { name: name.to_owned(), arguments, ..Call::default() };
            let expected = whole.call(call).await;
            let mut stream = pieces.begin_stream(name, None);
            feed(&mut stream, text, size);
            let error = stream.error();
            let token = CancellationToken::new();
            let verdict = pieces.finish_stream(stream, ReplyEnding::Unknown, token).await;
            assert_eq!(verdict.json(), expected.json(), "{name} {text}");
            assert_eq!(verdict.message(), expected.message(), "{name} {text}");
            assert!(error.is_none() || !verdict.is_ok(), "{name} {text}");
            let error = error.map(|it| it.json().to_string()).unwrap_or_default();
            assert!(!error.contains("4711"), "{error}");
        }
    }
}

#[test]
fn updates_add_up_to_the_arguments() {
    let bound = library(&Seen::default(), Settings::default(), false).bind(&module()).unwrap();
    let session = Session::new(&bound);
    let mut stream = session.begin_stream("deploy", None);
    let mut told = Vec::new();
    for piece in
        [r#"{"ser"#, r#"vice": "a\"#, r#"n\ud83d"#, r#"\ude00 b"#, r#"", "#, r#""spec": {"n"#]
    {
        stream.feed(piece);
        let update = stream.update();
        told.push((!update.is_empty()).then(|| update.json()));
    }
    let expected = [
        None,
        Some(json!({"append": {"service": "a"}})),
        Some(json!({"append": {"service": "\n"}})),
        Some(json!({"append": {"service": "😀 b"}})),
        Some(json!({"set": {"service": "a\n😀 b"}})),
        None,
    ];
    assert_eq!(told, expected);
    stream.feed(r#"ame": "x", "limits": {"cpu": true}}, "password": "hunter"#);
    let error = stream.update().json();
    assert!(error["error"]["errors"][0]["pointer"] == "/spec/limits/cpu", "{error}");
    assert!(stream.is_refused() && stream.update().is_empty());
}

#[tokio::test]
async fn a_stopped_call_counts_as_a_refused_one() {
    let seen = Seen::default();
    let settings = Settings { max_attempts: 2, ..patient(Undeclared::Strip) };
    let bound = library(&seen, settings, false).bind(&module()).unwrap();
    let session = Session::new(&bound);
    let mut last = String::new();
    for _ in 0..2 {
        let mut stream = session.begin_stream("deploy", Some("c1".to_owned()));
        stream.feed(r#"{"service": {}, "spec": "#);
        let error = stream.error().unwrap();
        assert_eq!(error.id.as_deref(), Some("c1"));
        assert!(error.message().contains("`service` must be a string"), "{}", error.message());
        let verdict = session.stop_stream(stream);
        assert_eq!(verdict.id.as_deref(), Some("c1"));
        last = verdict.json()["error"]["error_type"].to_string();
    }
    assert_eq!(last, "\"needs_human_review\"");
    let stream = session.begin_stream("deploy", None);
    assert!(!stream.is_refused());
    let verdict = session.stop_stream(stream);
    assert_eq!(verdict.json()["error"]["error_type"], "reply_cut_off");
    assert!(session.begin_stream("delpoy", None).is_refused());
    assert!(seen.lock().unwrap().is_empty());
}
