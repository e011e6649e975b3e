//! Calls of good and bad servers. `tests/real/hostile.py` plays the bad ones and needs `python3`
//! alone; those of the module `real` are installed by `tests/real/install`.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops where something is missing")]

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;
use tempfile::TempDir;
use tokio::time::{sleep, timeout};

use super::*;

mod http;

use http::Site;

/// Enough for a busy machine, and little for a person who waits for a test that fails.
const SOON: Duration = Duration::from_secs(30);

fn invocation(tool: &str, arguments: &str) -> Invocation {
    Invocation::new(tool, arguments)
}

fn text_invocation(tool: &str, arguments: &str) -> Invocation {
    Invocation { text_result: true, ..invocation(tool, arguments) }
}

const HOSTILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/real/hostile.py");

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|&word| word.to_owned()).collect()
}

/// The script over pipes. The folder gets the ids of the processes that it starts.
struct Acting {
    server: McpServer,
    folder: TempDir,
}

impl Acting {
    fn start(mode: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let run = words(&["python3", HOSTILE, mode, "ids"]);
        Self { server: McpServer::command(run, folder.path().to_owned()), folder }
    }

    fn ids(&self) -> Vec<String> {
        let ids = std::fs::read_to_string(self.folder.path().join("ids")).unwrap_or_default();
        ids.lines().map(str::to_owned).collect()
    }

    /// Asserts that nothing is left when the server is not needed any more.
    async fn leaves_nothing(self) {
        let ids = self.ids();
        assert!(!ids.is_empty());
        let Self { server, folder } = self;
        drop(server);
        let limit = Instant::now() + SOON;
        for id in ids {
            while Path::new(&format!("/proc/{id}")).exists() {
                assert!(Instant::now() < limit, "process {id} is still there");
                sleep(Duration::from_millis(10)).await;
            }
        }
        drop(folder);
    }
}

fn act(deed: &str) -> Invocation {
    invocation("act", &json!({ "do": deed }).to_string())
}

async fn run(server: &McpServer, call: Invocation) -> Result<Answer, InvocationError> {
    let is_text = call.text_result;
    let answer = timeout(SOON, McpTool::new(server, "act").invoke(call)).await.unwrap()?;
    Ok(simple(answer, is_text))
}

/// The structured content of an answer, or else its text, or else its blocks.
fn simple(answer: Answer, is_text: bool) -> Answer {
    let Answer::Content(content) = answer else { panic!("{answer:?}") };
    match (content.structured_content().filter(|_| !is_text), content.text()) {
        (Some(value), _) => Answer::Json(value.clone()),
        (None, Some(text)) => Answer::Raw(text),
        (None, None) => Answer::Json(content.blocks().into()),
    }
}

async fn works(server: &McpServer) {
    let answer = run(server, text_invocation("act", r#"{"x":1.50}"#)).await;
    assert_eq!(answer, Ok(Answer::Raw(r#"{"x": 1.5}"#.to_owned())));
}

/// Asserts that a deed fails so, and that the next call works.
async fn fails(server: &McpServer, call: Invocation, kind: InvocationErrorKind, part: &str) {
    let what = call.arguments.clone();
    let error = run(server, call).await.unwrap_err();
    assert_eq!(error.kind, kind, "{what}: {error}");
    assert!(error.detail.contains(part), "{what}: there is no `{part}` in: {error}");
    assert!(!error.detail.contains("secret"), "{error}");
    let steers = |letter: char| letter.is_control() && letter != '\n';
    assert!(!error.detail.contains(steers), "{error:?}");
    works(server).await;
}

async fn gives_what_servers_send(server: &McpServer) {
    works(server).await;
    let answer = run(server, act("says-lines")).await;
    assert_eq!(answer, Ok(Answer::Raw("one\ntwo".to_owned())));
    let big: Value = serde_json::from_str(r#"{"big": 12345678901234567890123}"#).unwrap();
    assert_eq!(run(server, act("structures")).await, Ok(Answer::Json(big)));
    let text = text_invocation("act", r#"{"do": "structures"}"#);
    assert_eq!(run(server, text).await, Ok(Answer::Raw("text".to_owned())));
    let drawn = json!([
        {"type": "text", "text": "look"},
        {"type": "image", "data": "AAAA", "mimeType": "image/png"},
    ]);
    assert_eq!(run(server, act("draws")).await, Ok(Answer::Json(drawn)));
}

async fn reports_what_servers_refuse(server: &McpServer) {
    fails(server, act("fails"), InvocationErrorKind::Failed, "no such [31m city").await;
    fails(server, act("fails-silently"), InvocationErrorKind::Failed, "reported a failure").await;
    let part = "returned no result: it answered `tools/call` with the error -32602: no such tool";
    fails(server, act("errs"), InvocationErrorKind::Failed, part).await;
    let other = McpTool::new(server, "akt").invoke(act("is-nobody")).await.unwrap_err();
    assert_eq!(other.kind, InvocationErrorKind::Failed);
    assert!(other.detail.ends_with(" has no tool `akt`; did you mean `act`?"), "{other}");
}

#[tokio::test]
async fn servers_answer() {
    let acting = Acting::start("acts");
    gives_what_servers_send(&acting.server).await;
    reports_what_servers_refuse(&acting.server).await;
    let part = "its answer has more than 1048576 bytes";
    fails(&acting.server, act("is-huge"), InvocationErrorKind::TooLarge, part).await;
    fails(&acting.server, act("is-huge-data"), InvocationErrorKind::TooLarge, part).await;
    let small = Invocation { max_answer: 3, ..act("answers") };
    let part = "returned a response of more than 3 bytes";
    fails(&acting.server, small, InvocationErrorKind::TooLarge, part).await;
    let part = "its response is invalid: ";
    fails(&acting.server, act("is-no-result"), InvocationErrorKind::Garbled, part).await;
    fails(&acting.server, act("is-deep"), InvocationErrorKind::Garbled, part).await;
    fails(
        &acting.server,
        act("is-empty"),
        InvocationErrorKind::Garbled,
        "returned a result without `content`",
    )
    .await;
    fails(&acting.server, act("asks"), InvocationErrorKind::Failed, "requested input").await;
    assert_eq!(run(&acting.server, act("chats")).await, Ok(Answer::Raw("done".to_owned())));
    // None of this was a reason to start it again.
    assert_eq!(acting.ids().len(), 1);
    acting.leaves_nothing().await;
}

#[tokio::test]
async fn a_server_that_dies_is_started_again() {
    let acting = Acting::start("acts");
    let part = "`python3` returned no result: it ended before it answered `tools/call` (signal: 9";
    fails(&acting.server, act("dies"), InvocationErrorKind::Died, part).await;
    let error = run(&acting.server, act("dies")).await.unwrap_err();
    assert!(
        error.detail.ends_with("Its last lines on standard error:\n  out of memory"),
        "{error}"
    );
    works(&acting.server).await;
    fails(
        &acting.server,
        act("is-garbage"),
        InvocationErrorKind::Garbled,
        "its response is invalid: ",
    )
    .await;
    assert_eq!(acting.ids().len(), 4);
    acting.leaves_nothing().await;
}

#[tokio::test]
async fn a_server_that_was_killed_between_calls_is_started_again() {
    let acting = Acting::start("acts");
    works(&acting.server).await;
    let killed = Command::new("kill").args(["-9", &acting.ids()[0]]).status().unwrap();
    assert!(killed.success());
    // Until this is noticed, a call may still be lost.
    sleep(Duration::from_millis(500)).await;
    works(&acting.server).await;
}

#[tokio::test]
async fn calls_run_at_once_on_one_connection() {
    let acting = Acting::start("acts");
    let other = acting.server.clone();
    let (one, two) = tokio::join!(run(&acting.server, act("waits")), run(&other, act("waits")));
    assert_eq!(one, Ok(Answer::Raw("together".to_owned())));
    assert_eq!(two, one);
    assert_eq!(acting.ids().len(), 1);
}

async fn broken_off(server: &McpServer, deed: &str) {
    let waiting = McpTool::new(server, "act").invoke(act(deed));
    assert!(timeout(Duration::from_millis(500), waiting).await.is_err(), "{deed}");
}

#[tokio::test]
async fn a_call_that_nobody_waits_for_is_cancelled() {
    let acting = Acting::start("acts");
    works(&acting.server).await;
    broken_off(&acting.server, "never-answers").await;
    works(&acting.server).await;
    let limit = Instant::now() + SOON;
    loop {
        let told = run(&acting.server, act("tells-cancelled")).await;
        if matches!(&told, Ok(Answer::Raw(ids)) if ids != "[]") {
            break;
        }
        assert!(Instant::now() < limit, "{told:?}");
    }
    assert_eq!(acting.ids().len(), 1);
}

#[tokio::test]
async fn a_server_that_is_stuck_is_started_again() {
    let acting = Acting::start("acts");
    works(&acting.server).await;
    broken_off(&acting.server, "sticks").await;
    works(&acting.server).await;
    assert_eq!(acting.ids().len(), 2);
    acting.leaves_nothing().await;
}

/// Whoever calls may have less time than the server has to show that it listens.
#[tokio::test]
async fn a_server_that_is_stuck_is_started_again_for_impatient_callers() {
    let acting = Acting::start("acts");
    works(&acting.server).await;
    broken_off(&acting.server, "sticks").await;
    let limit = Instant::now() + SOON;
    let patience = Duration::from_secs(1);
    while timeout(patience, McpTool::new(&acting.server, "act").invoke(act("answers")))
        .await
        .is_err()
    {
        assert!(Instant::now() < limit, "it is not started again");
    }
    assert_eq!(acting.ids().len(), 2);
}

/// Each answer to a server that does not read takes memory.
#[tokio::test]
async fn a_server_that_asks_and_does_not_listen_is_given_up() {
    let part = "it sends one request after the other, and takes no answers to them";
    let acting = Acting::start("acts");
    fails(&acting.server, act("only-asks"), InvocationErrorKind::Garbled, part).await;
    assert_eq!(acting.ids().len(), 2);
    let site = Site::start(0);
    fails(&site.server(), act("only-asks"), InvocationErrorKind::Garbled, part).await;
}

#[tokio::test]
async fn servers_that_do_not_begin_are_reported() {
    let acting = Acting::start("acts-the-second-time");
    let error = run(&acting.server, act("answers")).await.unwrap_err();
    assert_eq!(error.kind, InvocationErrorKind::Unreachable);
    assert_eq!(
        error.detail,
        "the MCP server `python3` does not begin: \
         it ended before it answered `initialize` (exit status: 3)\n\
         Its last lines on standard error:\n  not ready"
    );
    works(&acting.server).await;
    acting.leaves_nothing().await;

    let nobody = McpServer::command(words(&["no-such-program", "secret"]), PathBuf::from("."));
    let error = run(&nobody, act("answers")).await.unwrap_err();
    assert_eq!(error.kind, InvocationErrorKind::Unreachable);
    let expected = "the MCP server `no-such-program` cannot be started: there is no such program";
    assert_eq!(error.detail, expected);
    assert!(McpServer::url("example.com").unwrap_err().detail.contains("must be a whole URL"));
    assert!(!format!("{nobody:?}").contains("secret"));
}

#[tokio::test]
async fn a_server_that_begins_slowly_is_started_once() {
    let acting = Acting::start("acts-late");
    broken_off(&acting.server, "answers").await;
    works(&acting.server).await;
    assert_eq!(acting.ids().len(), 1);
}

#[tokio::test]
async fn a_broken_server_is_not_started_again_and_again() {
    let acting = Acting::start("dies-at-once");
    let mut waits = 0;
    for _ in 0..20 {
        let error = run(&acting.server, act("answers")).await.unwrap_err();
        assert_eq!(error.kind, InvocationErrorKind::Unreachable);
        assert!(error.detail.contains("no configuration"), "{error}");
        waits += usize::from(error.detail.contains("\nIt is tried again in "));
    }
    assert!(waits > 10, "{waits}");
    assert!(acting.ids().len() < 10);
}

#[cfg(target_os = "linux")]
#[test]
fn nothing_is_left_when_the_runtime_ends() {
    let acting = Acting::start("acts");
    for at in 0..2 {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(works(&acting.server));
        drop(runtime);
        let limit = Instant::now() + SOON;
        let status = format!("/proc/{}/status", acting.ids()[at]);
        // Without a runtime nothing reaps it.
        while std::fs::read_to_string(&status).is_ok_and(|status| !status.contains("State:\tZ")) {
            assert!(Instant::now() < limit, "the server is still there");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

#[tokio::test]
async fn a_tool_declares_what_the_server_lists() {
    let acting = Acting::start("acts");
    let tool = McpTool::new(&acting.server, "act");
    assert_eq!(tool.interface(), None);
    acting.server.connect().await.unwrap();
    let parameters = json!({"type": "object", "properties": {"do": {"type": "string"}}});
    let result = serde_json::from_str(r#"{"type":"object","maximum":1.5}"#).ok();
    assert_eq!(tool.interface(), Some(DeclaredInterface::Schemas { parameters, result }));
    assert_eq!(acting.server.tools().await.unwrap().tools.len(), 1);

    run(&acting.server, act("renames")).await.unwrap();
    let limit = Instant::now() + SOON;
    while acting.server.tools().await.unwrap().tools[0]["name"] != "acted" {
        assert!(Instant::now() < limit, "the other tools are not seen");
        sleep(Duration::from_millis(5)).await;
    }
    acting.server.close().await;
    assert!(!Path::new(&format!("/proc/{}", acting.ids()[0])).exists());
    works(&acting.server).await;
}

mod real {
    use super::*;

    fn everything(arguments: &[&str]) -> Vec<String> {
        let tools = concat!(env!("CARGO_MANIFEST_DIR"), "/../../.tools/node/node_modules");
        let real = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/real");
        let index = format!("{tools}/@modelcontextprotocol/server-everything/dist/index.js");
        assert!(
            Path::new(&index).exists(),
            "it is not installed; `tests/real/install` installs it"
        );
        let loopback = format!("{real}/loopback.cjs");
        let mut run = words(&["node", "--require", &loopback, &index]);
        run.extend(words(arguments));
        run
    }

    async fn does_everything(server: &McpServer) {
        server.connect().await.unwrap();
        let call = async |name: &'static str, arguments: &'static str| {
            let call = McpTool::new(server, name).invoke(invocation(name, arguments));
            timeout(SOON, call).await.map(|answer| answer.map(|answer| simple(answer, false)))
        };
        let echo = call("echo", r#"{"message": "Hi"}"#).await.unwrap();
        assert_eq!(echo, Ok(Answer::Raw("Echo: Hi".to_owned())));
        let sum = call("get-sum", r#"{"a": 2, "b": 40}"#).await.unwrap();
        assert!(matches!(&sum, Ok(Answer::Raw(text)) if text.contains("42")), "{sum:?}");
        let weather = call("get-structured-content", r#"{"location": "New York"}"#).await.unwrap();
        assert!(matches!(&weather, Ok(Answer::Json(it)) if it["temperature"].is_number()));
        let image = call("get-tiny-image", "{}").await.unwrap();
        assert!(matches!(&image, Ok(Answer::Json(Value::Array(blocks))) if blocks.len() > 1));
        let error = call("ekho", "{}").await.unwrap().unwrap_err();
        assert!(error.detail.contains("did you mean `echo`?"), "{error}");
        let error = call("echo", "{}").await.unwrap().unwrap_err();
        assert_eq!(error.kind, InvocationErrorKind::Failed, "{error}");
        let schema = McpTool::new(server, "get-structured-content").interface();
        assert!(
            matches!(schema, Some(DeclaredInterface::Schemas { result: Some(_), .. })),
            "{schema:?}"
        );
    }

    #[tokio::test]
    async fn a_real_server_is_called() {
        let server = McpServer::command(everything(&["stdio"]), PathBuf::from("."));
        does_everything(&server).await;
        server.close().await;
    }

    #[tokio::test]
    async fn a_real_server_is_called_over_http() {
        let run = everything(&["streamableHttp"]);
        let mut child = Command::new(&run[0])
            .args(&run[1..])
            .env("PORT", "0")
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let _site = Site { child, port: 0 };
        let address = lines
            .by_ref()
            .map_while(Result::ok)
            .find_map(|line| line.split_once("listening on ").map(|(_, place)| place.to_owned()))
            .unwrap();
        // The server keeps writing; a full pipe would block it.
        std::thread::spawn(move || lines.map_while(Result::ok).for_each(drop));
        does_everything(&McpServer::url(&format!("http://{address}/mcp")).unwrap()).await;
    }
}
