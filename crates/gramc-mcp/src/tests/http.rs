//! Streamable HTTP: authorization, sessions and shutdown.

use reqwest::header::{AUTHORIZATION, HOST, ORIGIN};
use reqwest::{RequestBuilder, StatusCode};
use rmcp::transport::StreamableHttpClientTransport;

use super::*;

/// A server on a free port.
struct Running {
    url: String,
    stop: CancellationToken,
    serving: tokio::task::JoinHandle<Result<(), ServeError>>,
}

async fn run(server: &Server, address: &str, token: Option<&str>) -> Running {
    // rustls needs a default crypto provider.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let listener = Listener::bind(address, token.map(str::to_owned)).await.unwrap();
    let (url, stop) = (listener.url(), CancellationToken::new());
    let (server, until) = (server.clone(), stop.clone().cancelled_owned());
    let serving = tokio::spawn(async move { server.over_http(listener, until).await });
    Running { url, stop, serving }
}

impl Running {
    async fn client(&self) -> Client {
        Ear::default().serve(StreamableHttpClientTransport::from_uri(&*self.url)).await.unwrap()
    }

    async fn modern_client(&self) -> Client {
        let preferred_versions = vec![ProtocolVersion::V_2026_07_28];
        let mode = ClientLifecycleMode::Discover { preferred_versions };
        let transport = StreamableHttpClientTransport::from_uri(&*self.url);
        Ear::default().serve_with_lifecycle(transport, mode).await.unwrap()
    }

    /// An `initialize` request.
    fn hello(&self) -> RequestBuilder {
        let hello = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": {"name": "raw", "version": "1"}}});
        reqwest::Client::new()
            .post(&self.url)
            .header("accept", "application/json, text/event-stream")
            .header("content-type", "application/json")
            .body(hello.to_string())
    }
}

async fn status(request: RequestBuilder) -> StatusCode {
    soon(request.send()).await.unwrap().status()
}

#[tokio::test]
async fn each_http_session_is_separate() {
    let running = run(&server(&Waiting::default()), "0", None).await;
    assert!(running.url.starts_with("http://127.0.0.1:") && running.url.ends_with("/mcp"));
    let (client, stranger) = (running.client().await, running.client().await);
    assert_eq!(names(&client).await.len(), 5);
    assert_eq!(text(&call(&client, "greet", json!({"name": "Ada"})).await), "Ada");
    call(&client, "files", json!({})).await;
    soon(client.service().changes.notified()).await;
    assert_eq!((names(&client).await.len(), names(&stranger).await.len()), (7, 5));
}

#[tokio::test]
async fn clients_without_sessions_share_one() {
    let running = run(&server(&Waiting::default()), "0", None).await;
    let (client, other) = (running.modern_client().await, running.modern_client().await);
    let filter = SubscriptionFilter::builder().tools_list_changed().build();
    let mut subscription = other.listen(filter).await.unwrap();
    call(&client, "files", json!({})).await;
    assert!(soon(subscription.next()).await.unwrap().is_some());
    assert_eq!((names(&client).await.len(), names(&other).await.len()), (7, 7));
    // Clients with sessions do not share it.
    assert_eq!(names(&running.client().await).await.len(), 5);
}

#[tokio::test]
async fn a_client_without_a_session_is_not_refused_for_calls_of_others() {
    let running = run(&odd_server(), "127.0.0.1:0", None).await;
    let (client, other) = (running.modern_client().await, running.modern_client().await);
    for _ in 0..5 {
        for client in [&client, &other] {
            let failed = call(client, "a", json!({"n": 1})).await;
            assert!(text_of_error(&failed).contains("there is no such number"));
            // A third invalid call in a row requires no human review.
            let invalid = call(client, "a", json!({})).await;
            assert!(
                text_of_error(&invalid).contains("Correct this and call"),
                "{}",
                text(&invalid)
            );
        }
    }
}

#[tokio::test]
async fn only_loopback_clients_are_accepted_without_a_token() {
    let running = run(&server(&Waiting::default()), "127.0.0.1:0", None).await;
    let port = running.url.trim_end_matches("/mcp").rsplit_once(':').unwrap().1.to_owned();
    assert_eq!(status(running.hello()).await, StatusCode::OK);
    let own = format!("http://localhost:{port}");
    assert_eq!(status(running.hello().header(ORIGIN, own)).await, StatusCode::OK);
    let evil = "https://evil.example";
    assert_eq!(status(running.hello().header(ORIGIN, evil)).await, StatusCode::FORBIDDEN);
    assert_eq!(status(running.hello().header(ORIGIN, "null")).await, StatusCode::FORBIDDEN);
    let other_port = "http://localhost:1";
    assert_eq!(status(running.hello().header(ORIGIN, other_port)).await, StatusCode::FORBIDDEN);
    let named = running.hello().header(HOST, format!("evil.example:{port}"));
    assert_eq!(status(named).await, StatusCode::FORBIDDEN);
    let long = running.hello().body(" ".repeat((4 << 20) + 1));
    assert_eq!(status(long).await, StatusCode::PAYLOAD_TOO_LARGE);
}

#[tokio::test]
async fn a_body_that_is_not_a_message_is_an_error_of_json_rpc() {
    let running = run(&server(&Waiting::default()), "0", None).await;
    for (body, code, id) in [
        ("{\"jsonrpc\": \"2.0\", ", -32700, Value::Null),
        ("", -32700, Value::Null),
        ("hello", -32700, Value::Null),
        ("{\"id\": 7}", -32600, json!(7)),
        ("[]", -32600, Value::Null),
    ] {
        let response = soon(running.hello().body(body).send()).await.unwrap();
        assert_eq!(response.status(), StatusCode::BAD_REQUEST, "{body}");
        let answer: Value = response.json().await.unwrap();
        assert_eq!((&answer["jsonrpc"], &answer["id"]), (&json!("2.0"), &id), "{body}");
        assert_eq!(answer["error"]["code"], code, "{body}: {answer}");
    }
}

/// The ids and the data of the events in an answer.
fn events(answer: &str) -> Vec<(&str, &str)> {
    let event = |event| Some((field(event, "id:")?, field(event, "data:")?));
    answer.split("\n\n").filter_map(event).collect()
}

fn field<'e>(event: &'e str, name: &str) -> Option<&'e str> {
    event.lines().find_map(|line| line.strip_prefix(name)).map(str::trim)
}

#[tokio::test]
async fn an_answer_can_be_read_again_after_its_end() {
    let running = run(&server(&Waiting::default()), "0", None).await;
    let hello = soon(running.hello().send()).await.unwrap();
    let session = hello.headers()["mcp-session-id"].clone();
    let client = reqwest::Client::new();
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": "greet", "arguments": {}}});
    let post = running.hello().header("mcp-session-id", &session).body(call.to_string());
    let answer = soon(post.send()).await.unwrap().text().await.unwrap();
    let [(start, ""), (_, result)] = events(&answer)[..] else { panic!("{answer}") };
    assert!(result.contains("world"), "{result}");
    let read_on = |last: &str| {
        let get = client.get(&running.url).header("mcp-session-id", &session);
        get.header("accept", "text/event-stream").header("last-event-id", last)
    };
    let again = soon(read_on(start).send()).await.unwrap().text().await.unwrap();
    assert_eq!(events(&again), events(&answer)[1..]);
    for unknown in ["1-7", "9-0", "x"] {
        let lost = soon(read_on(unknown).send()).await.unwrap();
        assert_eq!(lost.status(), StatusCode::BAD_REQUEST, "{unknown}");
        assert!(lost.text().await.unwrap().contains("send the request again"));
    }
}

#[tokio::test]
async fn other_clients_need_the_token() {
    for address in ["0.0.0.0:0", "[::]:0"] {
        let refused = Listener::bind(address, None).await.unwrap_err().to_string();
        assert!(refused.contains("a token is required"), "{refused}");
    }
    for (address, token) in [("x", None), ("no.example.invalid:1", None), ("0", Some(" "))] {
        assert!(Listener::bind(address, token.map(str::to_owned)).await.is_err(), "{address}");
    }
    let running = run(&server(&Waiting::default()), "0", Some(TOKEN)).await;
    for wrong in ["", "Bearer", "Bearer ", "Bearer tok-4711-secreT", "Bearer tok", "Basic x"] {
        let request = running.hello().header(AUTHORIZATION, wrong);
        assert_eq!(status(request).await, StatusCode::UNAUTHORIZED, "{wrong}");
    }
    assert_eq!(status(running.hello()).await, StatusCode::UNAUTHORIZED);
    let right = || running.hello().header(AUTHORIZATION, format!("bearer {TOKEN}"));
    assert_eq!(status(right()).await, StatusCode::OK);

    let elsewhere = run(&server(&Waiting::default()), "0.0.0.0:0", Some(TOKEN)).await;
    let url = elsewhere.url.replace("0.0.0.0", "127.0.0.1");
    let elsewhere = Running { url, ..elsewhere };
    let right = || elsewhere.hello().header(AUTHORIZATION, format!("Bearer {TOKEN}"));
    assert_eq!(status(right().header(HOST, "by.another.name")).await, StatusCode::OK);
    assert_eq!(status(right().header(ORIGIN, "http://localhost")).await, StatusCode::FORBIDDEN);
    assert!(!format!("{:?}", Listener::bind("0", Some(TOKEN.to_owned())).await).contains(TOKEN));
}

#[tokio::test]
async fn running_calls_end_before_shutdown() {
    let waiting = Waiting::default();
    let running = run(&server(&waiting), "0", None).await;
    // The open event stream must not delay shutdown.
    let client = running.client().await;
    let work = async {
        soon(waiting.begun.notified()).await;
        running.stop.cancel();
        waiting.go_on.notify_one();
    };
    let (called, ()) = tokio::join!(call(&client, "wait", json!({})), work);
    assert_eq!(text(&called), "waited");
    assert_eq!(soon(running.serving).await.unwrap(), Ok(()));
    assert!(reqwest::get(&running.url).await.is_err());
}
