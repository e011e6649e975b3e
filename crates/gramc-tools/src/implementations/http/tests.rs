//! Good and bad services, on this machine only.

#![allow(clippy::unwrap_used, reason = "a test stops where something is missing")]

mod exchange;

use std::sync::Mutex;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::*;
use crate::implementations::testing::{SOON, invocation, text_invocation};
use crate::invocation::InvocationErrorKind;

/// A service that answers each request with what `answer` makes of it, and then hangs up.
struct Service {
    port: u16,
    seen: Arc<Mutex<Vec<String>>>,
    serving: JoinHandle<()>,
}

impl Drop for Service {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

/// How a service goes on after its answer.
#[derive(Clone, Copy, PartialEq)]
enum Then {
    HangUp,
    Wait,
    /// Writes the answer again and again.
    Pour,
}

impl Service {
    async fn start(answer: impl Fn(&str) -> (Vec<u8>, Then) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (log, answer) = (Arc::clone(&seen), Arc::new(answer));
        let serving = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, Arc::clone(&log), Arc::clone(&answer)));
            }
        });
        Self { port, seen, serving }
    }

    fn http(&self, path: &str) -> Http {
        Http::new(&format!("http://127.0.0.1:{}{path}", self.port), Vec::new()).unwrap()
    }
}

async fn serve(
    mut stream: TcpStream,
    seen: Arc<Mutex<Vec<String>>>,
    answer: Arc<impl Fn(&str) -> (Vec<u8>, Then)>,
) {
    let mut request = Vec::new();
    let complete = |request: &[u8]| {
        let text = String::from_utf8_lossy(request);
        let (head, body) = text.split_once("\r\n\r\n")?;
        let length = head.lines().find_map(|line| {
            line.to_lowercase().strip_prefix("content-length: ")?.parse::<usize>().ok()
        });
        (body.len() >= length.unwrap_or(0)).then_some(())
    };
    while complete(&request).is_none() {
        let mut part = [0; 4096];
        match stream.read(&mut part).await {
            Ok(length) if length > 0 => request.extend_from_slice(&part[..length]),
            _ => return,
        }
    }
    let request = String::from_utf8(request).unwrap();
    let (bytes, then) = answer(&request);
    seen.lock().unwrap().push(request);
    while stream.write_all(&bytes).await.is_ok() && then == Then::Pour {}
    if then == Then::Wait {
        std::future::pending::<()>().await;
    }
}

fn good(status: &str, headers: &str, body: &str) -> (Vec<u8>, Then) {
    let length = body.len();
    let text = format!("HTTP/1.1 {status}\r\n{headers}Content-Length: {length}\r\n\r\n{body}");
    (text.into_bytes(), Then::HangUp)
}

async fn run(http: &Http, invocation: Invocation) -> Result<Answer, InvocationError> {
    timeout(SOON, http.invoke(invocation)).await.unwrap()
}

#[tokio::test]
async fn a_service_gets_the_arguments_and_answers() {
    let service = Service::start(|_| good("200 OK", "Content-Type: text/plain\r\n", "Grüße")).await;
    let url = format!("http://127.0.0.1:{}/greet?key=secret", service.port);
    let headers = vec![("X-Token".to_owned(), "secret".to_owned())];
    let http = Http::new(&url, headers).unwrap().sharing(&HttpClient::default());
    let answer = run(&http, text_invocation("greet", r#"{"a": 1.50}"#)).await;
    assert_eq!(answer, Ok(Answer::Json("Grüße".into())));
    let seen = service.seen.lock().unwrap()[0].to_lowercase();
    assert!(seen.starts_with("post /greet?key=secret http/1.1\r\n"), "{seen}");
    assert!(seen.contains("content-type: application/json\r\n"), "{seen}");
    assert!(seen.contains("x-token: secret\r\n"), "{seen}");
    assert!(seen.ends_with("\r\n\r\n{\"a\": 1.50}"), "{seen}");
    assert!(!format!("{:?}", &http as &dyn Implementation).contains("secret"));
}

#[tokio::test]
async fn a_service_gets_the_context_of_the_trace() {
    let service =
        Service::start(|_| (b"HTTP/1.1 204 No Content\r\n\r\n".to_vec(), Then::HangUp)).await;
    let mut call = invocation("f", "{}");
    for (key, value) in [("traceparent", "00-1-2-01"), ("tracestate", "a=b\nx: y"), ("other", "c")]
    {
        call.origin.meta.insert(key.to_owned(), value.into());
    }
    run(&service.http("/"), call).await.unwrap();
    let request = service.seen.lock().unwrap()[0].to_lowercase();
    // A value that is not possible in a header is omitted.
    assert!(request.contains("traceparent: 00-1-2-01\r\n"), "{request}");
    assert!(!request.contains("tracestate") && !request.contains("other"), "{request}");
}

#[tokio::test]
async fn text_in_latin_is_decoded() {
    let head = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=ISO-8859-1\r\n";
    let answer = [head, &b"Content-Length: 5\r\n\r\nGr\xfc\xdfe"[..]].concat();
    let service = Service::start(move |_| (answer.clone(), Then::HangUp)).await;
    let answer = run(&service.http("/x"), text_invocation("x", "{}")).await;
    assert_eq!(answer, Ok(Answer::Json("Grüße".into())));
}

/// Asserts that a service that answers so makes a call fail, and that the next call works.
async fn fails(answer: (Vec<u8>, Then), kind: InvocationErrorKind, part: &str) {
    let first = Mutex::new(Some(answer));
    let service = Service::start(move |_| {
        first.lock().unwrap().take().unwrap_or_else(|| good("200 OK", "", "1"))
    })
    .await;
    let http = service.http("/x?key=secret");
    let error = run(&http, invocation("x", "{}")).await.unwrap_err();
    assert_eq!(error.kind, kind, "{error}");
    assert!(error.detail.contains(part), "there is no `{part}` in: {error}");
    assert!(error.detail.starts_with("the service at http://127.0.0.1:"), "{error}");
    assert!(!error.detail.contains("secret"), "{error}");
    assert_eq!(run(&http, invocation("x", "{}")).await, Ok(Answer::Raw("1".to_owned())));
}

#[tokio::test]
async fn other_statuses_are_failures() {
    let body = format!("no\u{1b}[31m such{}", " city".repeat(10_000));
    let part = "/x answered with HTTP status 404 Not Found:\nno [31m such city";
    fails(good("404 Not Found", "", &body), InvocationErrorKind::Failed, part).await;
    fails(
        good("500 Oops", "", ""),
        InvocationErrorKind::Failed,
        "HTTP status 500 Internal Server Error",
    )
    .await;
}

#[tokio::test]
async fn connections_that_break_are_reported() {
    let cut = b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"half".to_vec();
    let part = "closed the connection in the middle of its response: ";
    fails((cut, Then::HangUp), InvocationErrorKind::Died, part).await;
    fails((Vec::new(), Then::HangUp), InvocationErrorKind::Died, "hung up before it answered: ")
        .await;
}

#[tokio::test]
async fn garbage_is_no_answer() {
    let garbage = b"SSH-2.0-OpenSSH_9.2\r\n\r\n".to_vec();
    let part = "does not answer as an HTTP server does: ";
    fails((garbage, Then::HangUp), InvocationErrorKind::Garbled, part).await;
}

#[tokio::test]
async fn undeclared_bytes_arrive_as_a_data_url() {
    let head = b"HTTP/1.1 200 OK\r\nContent-Type: image/png; x=y\r\nContent-Length: 2\r\n\r\n";
    let answer = [&head[..], b"\x89P"].concat();
    let service = Service::start(move |_| (answer.clone(), Then::HangUp)).await;
    let answer = run(&service.http("/x"), invocation("x", "{}")).await;
    assert_eq!(answer, Ok(Answer::Json("data:image/png;base64,iVA=".into())));
}

#[tokio::test]
async fn text_that_is_no_json_arrives() {
    let service =
        Service::start(|_| good("200 OK", "Content-Type: text/html\r\n", "<p>Done</p>\r\n")).await;
    let answer = run(&service.http("/x"), invocation("x", "{}")).await;
    assert_eq!(answer, Ok(Answer::Json("<p>Done</p>".into())));
}

#[tokio::test]
async fn lists_in_a_path_follow_their_style() {
    let places = [("ids", "path; pipeDelimited"), ("tags", "header X-Tags; spaceDelimited")];
    let arguments = r#"{"ids": ["a", "b/c"], "tags": ["x", "y"]}"#;
    let (head, _) = sent(("GET", "/pets/{ids}", BodyFormat::None), &places, arguments).await;
    assert!(head.starts_with("get /pets/a%7cb%2fc http/1.1\r\n"), "{head}");
    assert!(head.contains("x-tags: x y\r\n"), "{head}");
}

#[tokio::test]
async fn parts_of_forms_have_their_content_types() {
    let places = [
        ("a", "field; bytes; image/png"),
        ("b", "field; text/csv"),
        ("c", "field; json"),
        ("d", "field; json; application/vnd.x+json"),
    ];
    let arguments = r#"{"a": "aGk=", "b": "x", "c": [3], "d": {}, "e": {"k": 1}, "f": "g"}"#;
    let (_, body) = sent(("POST", "/", BodyFormat::Multipart), &places, arguments).await;
    let kinds = body.split("Content-Disposition").skip(1).map(|part| {
        part.split("Content-Type: ").nth(1).and_then(|rest| rest.lines().next()).unwrap_or("")
    });
    let kinds: Vec<_> = kinds.collect();
    let json = "application/json";
    assert_eq!(kinds, ["image/png", "text/csv", json, "application/vnd.x+json", json, ""]);
}

#[tokio::test]
async fn long_answers_are_not_read_to_the_end() {
    let mut long = b"HTTP/1.1 200 OK\r\nContent-Length: 50000000000\r\n\r\n".to_vec();
    long.resize(1_000_000, b'x');
    fails((long, Then::Pour), InvocationErrorKind::TooLarge, "more than 1048576 bytes").await;
}

#[tokio::test]
async fn a_service_that_never_answers_is_left_alone() {
    let first = Mutex::new(Some((Vec::new(), Then::Wait)));
    let service = Service::start(move |_| {
        first.lock().unwrap().take().unwrap_or_else(|| good("200 OK", "", "1"))
    })
    .await;
    let http = service.http("/");
    let waiting = tokio::spawn(http.invoke(invocation("x", "{}")));
    while service.seen.lock().unwrap().is_empty() {
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    waiting.abort();
    assert!(waiting.await.is_err());
    assert_eq!(run(&http, invocation("x", "{}")).await, Ok(Answer::Raw("1".to_owned())));
}

#[tokio::test]
async fn services_that_are_not_there_are_reported() {
    // The system never assigns this port.
    let nobody = Http::new("http://me:secret@127.0.0.1:1/x?key=secret", Vec::new()).unwrap();
    let error = run(&nobody, invocation("x", "{}")).await.unwrap_err();
    assert_eq!(error.kind, InvocationErrorKind::Unreachable);
    assert_eq!(
        error.detail,
        "the service at http://127.0.0.1:1/x cannot be reached: Connection refused"
    );
    for url in ["", "example.com", "file:///etc/passwd", "ftp://example.com"] {
        let error = Http::new(url, Vec::new()).err().unwrap();
        assert!(error.detail.contains("must be a whole URL"), "{url}: {error}");
    }
    let headers = vec![("a b".to_owned(), "secret".to_owned())];
    let error = Http::new("http://a", headers).err().unwrap();
    assert_eq!(error.detail, "invalid header name or value: `a b`");
}

#[tokio::test]
async fn redirections_stay_with_the_service_and_keep_the_arguments() {
    let service = Service::start(|request| {
        let to = |status, place: &str| good(status, &format!("Location: {place}\r\n"), "");
        let word = request.split(' ').nth(1).unwrap_or_default();
        match word {
            "/moved" => to("308 Permanent Redirect", "/here"),
            "/found" => to("302 Found", "/here"),
            "/loop" => to("307 Temporary Redirect", "/loop"),
            "/port" => to("307 Temporary Redirect", "http://127.0.0.1:1/?key=secret"),
            "/away" => to("307 Temporary Redirect", "http://localhost:1/?key=secret"),
            _ => good("200 OK", "", &request.len().to_string()),
        }
    })
    .await;
    let answer = run(&service.http("/moved"), invocation("x", r#"{"a": 1}"#)).await;
    assert!(answer.is_ok(), "{answer:?}");
    assert!(service.seen.lock().unwrap()[1].ends_with(r#"{"a": 1}"#));
    for (path, part) in [
        ("/found", "HTTP status 302 Found, which leads to http://127.0.0.1:"),
        ("/port", "which leads to http://127.0.0.1:1/ and is not followed"),
        ("/away", "which leads to http://localhost:1/ and is not followed"),
        ("/loop", "HTTP status 307 Temporary Redirect"),
    ] {
        let error = run(&service.http(path), invocation("x", "{}")).await.unwrap_err();
        assert_eq!(error.kind, InvocationErrorKind::Failed, "{path}: {error}");
        assert!(error.detail.contains(part) && !error.detail.contains("secret"), "{error}");
    }
}

/// Places, of which those of tokens are for what the library injects.
fn places_of(places: &[(&str, &str)]) -> Vec<ArgumentPlace> {
    let place = |(argument, place): &(&str, &str)| ArgumentPlace {
        argument: (*argument).to_owned(),
        place: RequestPlace::parse(place).unwrap(),
        is_injected: *place == "bearer",
    };
    places.iter().map(place).collect()
}

/// What a service with these places sends: the head in lower case, and the body.
async fn sent(
    (method, path, body): (&str, &str, BodyFormat),
    places: &[(&str, &str)],
    arguments: &str,
) -> (String, String) {
    let service = Service::start(|_| good("200 OK", "", "1")).await;
    let method = Method::try_from(method).unwrap();
    let plan = Arc::new(RequestPlan::new(&method, body, places_of(places)));
    let http = Http { method, plan, ..service.http(path) };
    let call = Invocation { hidden: ["token".into()].into(), ..invocation("x", arguments) };
    run(&http, call).await.unwrap();
    let request = service.seen.lock().unwrap()[0].clone();
    let (head, body) = request.split_once("\r\n\r\n").unwrap();
    (head.to_lowercase(), body.to_owned())
}

#[tokio::test]
async fn arguments_go_to_their_places() {
    let places = [
        ("tags", "query tag; pipeDelimited"),
        ("trace", "header X-Trace"),
        ("session", "cookie sid"),
        ("token", "bearer"),
    ];
    let arguments = r#"{"id": 7, "tags": ["a", "b"], "trace": "t1", "session": "s 1", "token": "T",
        "name": "Rex", "none": null}"#;
    let (head, body) = sent(("PUT", "/pets/{id}", BodyFormat::Json), &places, arguments).await;
    assert!(head.starts_with("put /pets/7?tag=a%7cb http/1.1\r\n"), "{head}");
    for header in ["x-trace: t1\r\n", "cookie: sid=s%201\r\n", "authorization: bearer t\r\n"] {
        assert!(head.contains(header), "{header} {head}");
    }
    assert_eq!(body, r#"{"name":"Rex","none":null}"#);

    let basic = [("user", "basic"), ("x", "field")];
    let arguments = r#"{"user": "me:pw", "x": [1], "q": 2}"#;
    let (head, body) = sent(("DELETE", "/", BodyFormat::Json), &basic, arguments).await;
    assert!(head.starts_with("delete /?q=2 http/1.1\r\n"), "{head}");
    assert!(head.contains("authorization: basic bwu6chc=\r\n"), "{head}");
    assert_eq!(body, r#"{"x":[1]}"#);

    let (head, body) = sent(("POST", "/", BodyFormat::None), &[], r#"{"a": 1}"#).await;
    assert!(head.starts_with("post /?a=1 http/1.1\r\n"), "{head}");
    assert!(!head.contains("content-type"), "{head}");
    assert_eq!(body, "");
}

#[tokio::test]
async fn a_model_does_not_choose_what_a_library_injects() {
    let places = [("token", "bearer"), ("other", "bearer")];
    let (head, body) = sent(("POST", "/", BodyFormat::Json), &places, r#"{"other": "x"}"#).await;
    assert!(!head.contains("authorization"), "{head}");
    assert_eq!(body, r#"{"other":"x"}"#);
}

#[tokio::test]
async fn lists_in_forms_of_parts_follow_their_style() {
    let places = [("a", "field; form"), ("b", "field; pipeDelimited"), ("c", "field; json")];
    let arguments = r#"{"a": [1, 2], "b": ["x", "y"], "c": [3], "d": [4, 5]}"#;
    let (_, body) = sent(("POST", "/", BodyFormat::Multipart), &places, arguments).await;
    let values: Vec<_> =
        body.split("\r\n\r\n").skip(1).filter_map(|part| part.split("\r\n").next()).collect();
    assert_eq!(values, ["1,2", "x|y", "[3]", "4", "5"]);
}

#[tokio::test]
async fn an_argument_may_be_the_whole_body() {
    let whole = [("body", "body")];
    for (format, arguments, kind, expected) in [
        (BodyFormat::Json, r#"{"body": [1, 2.50]}"#, "application/json", "[1,2.50]"),
        (BodyFormat::Text, r#"{"body": "<a/>"}"#, "text/plain; charset=utf-8", "<a/>"),
        (BodyFormat::Bytes, r#"{"body": "aGk="}"#, "application/octet-stream", "hi"),
        (
            BodyFormat::Form,
            r#"{"body": {"a": [1, 2]}}"#,
            "application/x-www-form-urlencoded",
            "a=1&a=2",
        ),
    ] {
        let (head, body) = sent(("POST", "/", format), &whole, arguments).await;
        assert!(head.contains(&format!("content-type: {kind}\r\n")), "{head}");
        assert_eq!(body, expected);
    }
    let (head, body) = sent(("POST", "/", BodyFormat::Json), &whole, "{}").await;
    assert!(!head.contains("content-type") && body.is_empty(), "{head}");
}

#[tokio::test]
async fn files_are_parts_of_a_form() {
    let arguments = r#"{"file": "aGk", "note": "a b", "meta": {"k": 1}, "tags": ["x", "y"]}"#;
    let places = [("file", "field; bytes")];
    let (head, body) = sent(("POST", "/", BodyFormat::Multipart), &places, arguments).await;
    let boundary = head.split("boundary=").nth(1).unwrap().split("\r\n").next().unwrap();
    let parts: Vec<_> = body.split(&format!("--{boundary}")).map(str::trim).collect();
    assert_eq!(
        parts,
        [
            "",
            "Content-Disposition: form-data; name=\"file\"; filename=\"file\"\r\n\
             Content-Type: application/octet-stream\r\n\r\nhi",
            "Content-Disposition: form-data; name=\"note\"\r\n\r\na b",
            "Content-Disposition: form-data; name=\"meta\"\r\n\
             Content-Type: application/json\r\n\r\n{\"k\":1}",
            "Content-Disposition: form-data; name=\"tags\"\r\n\r\nx",
            "Content-Disposition: form-data; name=\"tags\"\r\n\r\ny",
            "--",
        ]
    );
}

#[tokio::test]
async fn values_that_cannot_be_sent_are_refused() {
    let service = Service::start(|_| good("200 OK", "", "1")).await;
    for (format, place, arguments, part) in [
        (BodyFormat::Json, "header X", r#"{"a": "x\ny"}"#, "`a` cannot be sent in a header"),
        (BodyFormat::Json, "header X Y", r#"{"a": "x"}"#, "`X Y` is not the name of a header"),
        (BodyFormat::Bytes, "body", r#"{"a": "?"}"#, "`a` is not base64"),
        (BodyFormat::Bytes, "body", r#"{"a": 7}"#, "`a` is not a text"),
    ] {
        let plan = Arc::new(RequestPlan::new(&Method::POST, format, places_of(&[("a", place)])));
        let http = Http { plan, ..service.http("/") };
        let error = run(&http, invocation("x", arguments)).await.unwrap_err();
        assert_eq!(error.kind, InvocationErrorKind::Failed);
        assert!(error.detail.contains(part), "{error}");
    }
    assert_eq!(service.seen.lock().unwrap().len(), 0);
}

#[tokio::test]
async fn an_answer_may_be_bytes_or_nothing() {
    let bytes = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n\xff\xfe".to_vec();
    let service = Service::start(move |_| (bytes.clone(), Then::HangUp)).await;
    let http = Http { is_bytes: true, ..service.http("/") };
    assert_eq!(run(&http, invocation("x", "{}")).await, Ok(Answer::Json("//4=".into())));
    let service = Service::start(|_| good("200 OK", "", "")).await;
    let http = service.http("/");
    assert_eq!(run(&http, invocation("x", "{}")).await, Ok(Answer::Json(Value::Null)));
    assert_eq!(run(&http, text_invocation("x", "{}")).await, Ok(Answer::Json("".into())));
}
