//! Tests with real clients, over an in-memory pipe and over HTTP.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a failed step fails the test")]

mod approval;
mod http;
mod stdio;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use gramc_check::check;
use gramc_syntax::{SourceFile, parse};
use gramc_tools::implementations::{Function, async_function};
use gramc_tools::invocation::{Answer, AnswerFuture, Implementation, Invocation};
use gramc_tools::{InjectedSource, Settings, ToolContent, ToolLibrary};
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CallToolResult, ClientRequest, ContentBlock,
    ProgressNotificationParam, ProtocolVersion, SubscriptionFilter,
};
use rmcp::service::{
    NotificationContext, PeerRequestOptions, RoleClient, RunningService, ServiceExt as _,
};
use rmcp::{ClientHandler, ClientLifecycleMode, ClientServiceExt as _};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::*;

const TEXT: &str = r#"
/** Greets */
[greet:Tool {readOnly: true} | (name::Text {default: "world"})==>(::Text)]
[stay:Tool | (nights::Int {range: 1..30})==>(token::Text {injected: true, secret: true})
  ==>(::`{nights: Int, price: Number}`)]
[odd:Tool | (what::Any)==>(::Any)]
[wait:Tool | ()==>(::Any)]
/** Files and what is in them */
[files:Container |
  [readFile:Tool | (path::Text)==>(::Text)],
  [`write file`:Tool | (path::Text)==>(::Text)]
]
"#;
const TOKEN: &str = "tok-4711-secret";

/// Signals of an implementation that waits.
#[derive(Clone, Default)]
struct Waiting {
    begun: Arc<Notify>,
    /// Dropped with the invocation.
    held: Arc<()>,
    go_on: Arc<Notify>,
}

impl Waiting {
    fn function(&self) -> Function {
        let waiting = self.clone();
        async_function(move |_: Value| {
            let (waiting, held) = (waiting.clone(), Arc::clone(&waiting.held));
            async move {
                waiting.begun.notify_one();
                waiting.go_on.notified().await;
                drop(held);
                Ok::<_, String>("waited")
            }
        })
    }

    /// Number of running invocations.
    fn running(&self) -> usize {
        // One reference is held here and one by the implementation.
        Arc::strong_count(&self.held) - 2
    }
}

fn echo(key: &'static str) -> Function {
    async_function(move |arguments: Value| {
        let value = arguments[key].clone();
        async move { Ok::<_, String>(value) }
    })
}

fn bound(text: &str, library: &ToolLibrary) -> Server {
    let module = check(&[parse(SourceFile::new("tools.gram", text))]).module.unwrap();
    let bound = library.bind(&module).unwrap();
    Server::new(&module, &bound).unwrap()
}

fn server(waiting: &Waiting) -> Server {
    let stay = async_function(async |arguments: Value| match arguments["nights"].as_i64() {
        Some(13) => Ok(json!({"nights": "thirteen", "of": arguments["token"]})),
        Some(14) => Err(format!("no room for {}", arguments["token"])),
        nights => Ok(json!({"nights": nights, "price": 80.5})),
    });
    let library = ToolLibrary::new("test")
        .with("greet", echo("name"))
        .with("stay", stay)
        .inject("stay", "token", &InjectedSource::Value(json!(TOKEN)))
        .with("odd", echo("what"))
        .with("wait", waiting.function())
        .with("readFile", echo("path"))
        .with("write file", echo("path"));
    bound(TEXT, &library)
}

/// The notifications that a client receives.
#[derive(Clone, Default)]
struct Ear {
    progress: Arc<Mutex<Vec<ProgressNotificationParam>>>,
    changes: Arc<Notify>,
}

impl ClientHandler for Ear {
    async fn on_progress(
        &self,
        params: ProgressNotificationParam,
        _context: NotificationContext<RoleClient>,
    ) {
        self.progress.lock().unwrap().push(params);
    }

    async fn on_tool_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.changes.notify_one();
    }
}

type Client = RunningService<RoleClient, Ear>;

fn pipe(server: &Server) -> tokio::io::DuplexStream {
    let (ours, theirs) = tokio::io::duplex(1 << 16);
    let server = server.clone();
    let (input, output) = tokio::io::split(theirs);
    tokio::spawn(async move { server.over(input, output, std::future::pending()).await });
    ours
}

async fn client(server: &Server) -> Client {
    Ear::default().serve(pipe(server)).await.unwrap()
}

/// A client of revision 2026-07-28, which has no `initialize`.
async fn modern_client(server: &Server) -> Client {
    let preferred_versions = vec![ProtocolVersion::V_2026_07_28];
    let mode = ClientLifecycleMode::Discover { preferred_versions };
    Ear::default().serve_with_lifecycle(pipe(server), mode).await.unwrap()
}

fn params(name: &str, arguments: &Value) -> CallToolRequestParams {
    let params = CallToolRequestParams::new(name.to_owned());
    params.with_arguments(arguments.as_object().unwrap().clone())
}

async fn call(client: &Client, name: &str, arguments: Value) -> CallToolResult {
    client.call_tool(params(name, &arguments)).await.unwrap()
}

fn text(result: &CallToolResult) -> &str {
    match &result.content[..] {
        [ContentBlock::Text(text)] => &text.text,
        other => panic!("{other:?} is not one text"),
    }
}

async fn names(client: &Client) -> Vec<String> {
    let tools = client.list_all_tools().await.unwrap();
    tools.into_iter().map(|tool| tool.name.into_owned()).collect()
}

/// Waits for a result and fails after a timeout.
async fn soon<T>(work: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(30), work).await.unwrap()
}

#[tokio::test]
async fn tools_are_listed_as_the_target_has_them_and_called() {
    let client = client(&server(&Waiting::default())).await;
    let tools = client.list_all_tools().await.unwrap();
    assert_eq!(tools[0].description.as_deref(), Some("Greets"));
    assert_eq!(tools[0].annotations.as_ref().unwrap().read_only_hint, Some(true));
    assert!(tools[0].output_schema.is_none());
    assert_eq!(tools[1].output_schema.as_ref().unwrap()["type"], "object");
    assert!(tools[1].input_schema["properties"].get("token").is_none());

    let greeted = call(&client, "greet", json!({"name": "Ada"})).await;
    assert_eq!((text(&greeted), greeted.is_error), ("Ada", Some(false)));
    assert_eq!((&greeted.structured_content, &greeted.result_type), (&None, &None));
    // Repaired arguments are accepted.
    let stayed = call(&client, "stay", json!({"nights": "3"})).await;
    assert_eq!(stayed.structured_content, Some(json!({"nights": 3, "price": 80.5})));
    assert_eq!(text(&stayed), r#"{"nights":3,"price":80.5}"#);
}

#[tokio::test]
async fn refusals_are_errors_of_the_tool_with_guidance() {
    let client = client(&server(&Waiting::default())).await;
    for (name, arguments, wanted) in [
        ("stay", json!({"nights": 90}), "`nights` must be an integer from 1 to 30"),
        ("stay", json!({}), "Correct this and call `stay` again"),
        ("gret", json!({}), "there is no tool `gret`; did you mean `greet`?"),
        ("readFile", json!({"path": "a"}), "Call `files` without arguments first"),
        ("files", json!({"path": "a"}), "is a container of functions and has no parameters"),
        ("stay", json!({"nights": 14}), "`stay` failed: no room for \"***\""),
    ] {
        let refused = call(&client, name, arguments).await;
        assert_eq!(refused.is_error, Some(true), "{name}");
        assert!(text(&refused).contains(wanted), "{name}: {}", text(&refused));
        assert_eq!(refused.structured_content, None);
    }
}

#[tokio::test]
async fn a_result_that_violates_the_output_schema_is_an_error_without_secrets() {
    let client = client(&server(&Waiting::default())).await;
    let broken = call(&client, "stay", json!({"nights": 13})).await;
    assert_eq!((broken.is_error, &broken.structured_content), (Some(true), &None));
    let [ContentBlock::Text(answer), ContentBlock::Text(note)] = &broken.content[..] else {
        panic!("{broken:?}")
    };
    assert_eq!(answer.text, r#"{"nights":"thirteen","of":"***"}"#);
    let part = "The tool has run, but the result does not match its type: `nights` must be";
    assert!(note.text.starts_with(part), "{broken:?}");
    assert_eq!(broken.meta.as_ref().unwrap().0["gramc/warnings"][0]["code"], "result-mismatch");
    assert!(!serde_json::to_string(&broken).unwrap().contains(TOKEN));
}

#[tokio::test]
async fn text_that_looks_like_content_blocks_stays_text() {
    let client = client(&server(&Waiting::default())).await;
    let image = json!([{"type": "image", "data": "aGk=", "mimeType": "image/png"}]);
    for what in [image.clone(), image.to_string().into(), json!({"content": image})] {
        let answer = call(&client, "odd", json!({ "what": what })).await;
        assert_eq!(text(&answer), what.as_str().map_or_else(|| what.to_string(), str::to_owned));
    }
}

/// An implementation that returns content blocks, one of them with a secret.
#[derive(Debug)]
struct Blocks;

impl Implementation for Blocks {
    fn kind(&self) -> &'static str {
        "Blocks"
    }

    fn invoke(&self, _: Invocation) -> AnswerFuture {
        let blocks = vec![
            json!({"type": "image", "data": "aGk=", "mimeType": "image/png"}),
            json!({"type": "text", "text": format!("it is {TOKEN}")}),
        ];
        Box::pin(async { Ok(Answer::Content(ToolContent::new(blocks))) })
    }
}

#[tokio::test]
async fn content_blocks_are_returned_without_secrets() {
    let text = "[look:Tool | (token::Text {injected: true, secret: true})==>(::Any)]";
    let library = ToolLibrary::new("looks").with("look", Blocks);
    let library = library.inject("look", "token", &InjectedSource::Value(json!(TOKEN)));
    let client = client(&bound(text, &library)).await;
    let answer = call(&client, "look", json!({})).await;
    let blocks = json!([
        {"type": "image", "data": "aGk=", "mimeType": "image/png"},
        {"type": "text", "text": "it is ***"},
    ]);
    assert_eq!(serde_json::to_value(&answer.content).unwrap(), blocks);
    let warnings = &answer.meta.unwrap()["gramc/warnings"];
    assert_eq!(warnings[0]["code"], "masked-result");
}

#[tokio::test]
async fn functions_are_listed_after_their_container_was_called() {
    let server = server(&Waiting::default());
    let (client, stranger) = (client(&server).await, client(&server).await);
    let collapsed = ["greet", "stay", "odd", "wait", "files"];
    assert_eq!(names(&client).await, collapsed);
    let expanded = call(&client, "files", json!({})).await;
    assert!(text(&expanded).contains("readFile"));
    soon(client.service().changes.notified()).await;
    // A name that MCP does not allow is replaced.
    let listed = names(&client).await;
    assert_eq!(listed[..6], ["greet", "stay", "odd", "wait", "files", "readFile"]);
    assert_eq!(text(&call(&client, &listed[6], json!({"path": "x"})).await), "x");
    assert_eq!(text(&call(&client, "readFile", json!({"path": "a"})).await), "a");
    // Only the session that called the container sees the functions.
    assert_eq!(names(&stranger).await, collapsed);
    // A second call changes nothing.
    call(&client, "files", json!({})).await;
    call(&client, "greet", json!({})).await;
    let again =
        tokio::time::timeout(Duration::from_millis(50), client.service().changes.notified());
    assert!(again.await.is_err());
}

#[tokio::test]
async fn a_modern_client_is_notified_after_subscribing() {
    let client = modern_client(&server(&Waiting::default())).await;
    let filter = SubscriptionFilter::builder().tools_list_changed().prompts_list_changed().build();
    let mut subscription = client.listen(filter).await.unwrap();
    assert_eq!(subscription.acknowledged().prompts_list_changed, None);
    call(&client, "files", json!({})).await;
    let news = soon(subscription.next()).await.unwrap();
    let news = format!("{news:?}");
    assert!(news.contains("ToolListChangedNotification"), "{news}");
    assert_eq!(names(&client).await.len(), 7);
}

/// Official clients read only the first page.
#[tokio::test]
async fn all_tools_are_on_one_page() {
    use std::fmt::Write as _;
    let (mut text, mut library) = (String::new(), ToolLibrary::new("many"));
    for number in 0..1000 {
        writeln!(text, "[tool{number}:Tool | ()==>(::Any)]").unwrap();
        library = library.with(format!("tool{number}"), echo("x"));
    }
    let page = client(&bound(&text, &library)).await.list_tools(None).await.unwrap();
    assert_eq!((page.tools.len(), page.next_cursor), (1000, None));
}

#[tokio::test]
async fn a_cancelled_call_stops() {
    let waiting = Waiting::default();
    let client = client(&server(&waiting)).await;
    let request = CallToolRequest::new(params("wait", &json!({})));
    let options = PeerRequestOptions::no_options();
    let request = ClientRequest::CallToolRequest(request);
    let handle = client.send_cancellable_request(request, options).await.unwrap();
    soon(waiting.begun.notified()).await;
    assert_eq!(waiting.running(), 1);
    handle.cancel(None).await.unwrap();
    soon(async {
        while waiting.running() > 0 {
            tokio::task::yield_now().await;
        }
    })
    .await;
    // The connection is still open.
    assert_eq!(text(&call(&client, "greet", json!({})).await), "world");
}

#[tokio::test]
async fn calls_with_a_progress_token_report_progress() {
    let waiting = Waiting::default();
    waiting.go_on.notify_one();
    let client = client(&server(&waiting)).await;
    // rmcp's client sends a progress token with each call.
    call(&client, "wait", json!({})).await;
    soon(async {
        while client.service().progress.lock().unwrap().len() < 2 {
            tokio::task::yield_now().await;
        }
    })
    .await;
    let heard = client.service().progress.lock().unwrap().clone();
    assert_eq!(heard[0].message.as_deref(), Some("calling `wait`"));
    assert_eq!(heard[1].message.as_deref(), Some("`wait` succeeded"));
    assert!(heard[0].progress < heard[1].progress);
}

#[tokio::test]
async fn each_connection_has_its_own_session() {
    let text = "[a:Tool | (n::Int)==>(::Any)]";
    let mut settings = Settings::default();
    settings.throttle.same_tool_calls = 2;
    let server = bound(text, &ToolLibrary::new("a").settings(settings).with("a", echo("n")));
    let client = client(&server).await;
    for n in 0..2 {
        assert_eq!(call(&client, "a", json!({"n": n})).await.is_error, Some(false));
    }
    let throttled = call(&client, "a", json!({"n": 3})).await;
    assert!(text_of_error(&throttled).contains("was called 2 times"));
    let other = self::client(&server).await;
    assert_eq!(call(&other, "a", json!({"n": 1})).await.is_error, Some(false));
}

/// A server whose tool fails for odd numbers.
fn odd_server() -> Server {
    let run = |arguments: Value| async move {
        if arguments["n"].as_i64().is_some_and(|n| n % 2 == 1) {
            return Err("there is no such number");
        }
        Ok(arguments)
    };
    let library = ToolLibrary::new("a").with("a", async_function(run));
    bound("[a:Tool | (n::Int)==>(::Any)]", &library)
}

#[tokio::test]
async fn parallel_calls_and_many_users_are_not_limited() {
    let client = client(&odd_server()).await;
    for n in [2, 3] {
        let calls = (0..8).map(|number| call(&client, "a", json!({"n": n * number})));
        for result in futures_util::future::join_all(calls).await {
            assert!(!text(&result).contains("times"), "{}", text(&result));
        }
    }
    for _ in 0..50 {
        assert_eq!(call(&client, "a", json!({"n": 2})).await.is_error, Some(false));
    }
}

#[tokio::test]
async fn a_client_that_repeats_a_failing_call_is_stopped_alone() {
    let server = odd_server();
    let (client, other) = (client(&server).await, client(&server).await);
    for _ in 0..3 {
        let failed = call(&client, "a", json!({"n": 1})).await;
        assert!(text_of_error(&failed).contains("there is no such number"));
    }
    let refused = call(&client, "a", json!({"n": 1})).await;
    let expected = "`a` failed 3 times with the same arguments. Change the arguments,";
    assert!(text_of_error(&refused).starts_with(expected), "{}", text(&refused));
    assert!(text_of_error(&call(&client, "a", json!({"n": 3})).await).contains("no such number"));
    assert!(text_of_error(&call(&other, "a", json!({"n": 1})).await).contains("no such number"));
}

fn text_of_error(result: &CallToolResult) -> &str {
    assert_eq!(result.is_error, Some(true));
    text(result)
}

#[tokio::test]
async fn calls_of_any_form_are_checked() {
    let (read, mut write) = tokio::io::split(pipe(&server(&Waiting::default())));
    let mut lines = BufReader::new(read).lines();
    let hello = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": {"name": "raw", "version": "1"}}});
    let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    write.write_all(format!("{hello}\n{initialized}\n").as_bytes()).await.unwrap();
    let hello: Value = serde_json::from_str(&lines.next_line().await.unwrap().unwrap()).unwrap();
    assert_eq!(hello["result"]["protocolVersion"], "2025-11-25");
    assert_eq!(hello["result"]["capabilities"], json!({"tools": {"listChanged": true}}));
    assert_eq!(hello["result"]["serverInfo"]["name"], "gramc");

    let mut ask = async |method: &str, params: Value| -> Value {
        let request = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        write.write_all(format!("{request}\n").as_bytes()).await.unwrap();
        serde_json::from_str(&soon(lines.next_line()).await.unwrap().unwrap()).unwrap()
    };
    let said = |answer: &Value| answer["result"]["content"][0]["text"].as_str().unwrap().to_owned();
    // Text as arguments is the text that the model wrote.
    let called = ask("tools/call", json!({"name": "greet", "arguments": "{name: 'Bo'}"})).await;
    assert_eq!(
        called["result"],
        json!({"content": [{"type": "text", "text": "Bo"}], "isError": false})
    );
    for (params, wanted) in [
        (json!({"name": "greet", "arguments": ["Bo"]}), "all `greet` again"),
        (json!({"name": "greet", "arguments": "{\"name"}), "all `greet` again"),
        (json!({"name": 5}), "the call has no tool name"),
        (json!({}), "the call has no tool name"),
    ] {
        let refused = ask("tools/call", params.clone()).await;
        assert_eq!(refused["result"]["isError"], true, "{params}: {refused}");
        assert!(said(&refused).contains(wanted), "{params}: {refused}");
    }
    let unknown = ask("tools/rename", json!({})).await;
    assert_eq!(unknown["error"]["code"], -32601);
    for (line, code, id) in [
        ("{\"id\":", -32700, Value::Null),
        ("[]", -32600, Value::Null),
        ("{\"id\":7}", -32600, json!(7)),
    ] {
        write.write_all(format!("\u{feff}{line}\r\n").as_bytes()).await.unwrap();
        let refused = soon(lines.next_line()).await.unwrap().unwrap();
        let refused: Value = serde_json::from_str(&refused).unwrap();
        assert_eq!((&refused["error"]["code"], &refused["id"]), (&json!(code), &id), "{line}");
    }
}

#[tokio::test]
async fn running_calls_end_before_shutdown() {
    let waiting = Waiting::default();
    let server = server(&waiting);
    let stop = CancellationToken::new();
    let (ours, theirs) = tokio::io::duplex(1 << 16);
    let until = stop.clone().cancelled_owned();
    let (input, output) = tokio::io::split(theirs);
    let serving = tokio::spawn(async move { server.over(input, output, until).await });
    let client = Ear::default().serve(ours).await.unwrap();
    let work = async {
        soon(waiting.begun.notified()).await;
        stop.cancel();
        waiting.go_on.notify_one();
    };
    let (called, ()) = tokio::join!(call(&client, "wait", json!({})), work);
    assert_eq!(text(&called), "waited");
    assert_eq!(soon(serving).await.unwrap(), Ok(()));
}
