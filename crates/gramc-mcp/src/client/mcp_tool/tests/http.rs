//! Calls over HTTP.

use super::*;

/// The script as an HTTP server; it ends with this value.
pub(super) struct Site {
    pub(super) child: Child,
    pub(super) port: u16,
}

impl Site {
    pub(super) fn start(port: u16) -> Self {
        let mut child = Command::new("python3")
            .args([HOSTILE, "--http", "acts", &port.to_string()])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let port = line.trim().parse().unwrap();
        Self { child, port }
    }

    pub(super) fn server(&self) -> McpServer {
        McpServer::url(&format!("http://127.0.0.1:{}/mcp?key=secret", self.port)).unwrap()
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[tokio::test]
async fn servers_answer_over_http() {
    let site = Site::start(0);
    let server = site.server();
    gives_what_servers_send(&server).await;
    reports_what_servers_refuse(&server).await;
    for streams in [false, true] {
        let deed =
            |deed: &str| invocation("act", &json!({ "do": deed, "streams": streams }).to_string());
        let answer = run(&server, deed("says-lines")).await;
        assert_eq!(answer, Ok(Answer::Raw("one\ntwo".to_owned())));
        let part = "its answer has more than 1048576 bytes";
        fails(&server, deed("is-huge"), InvocationErrorKind::TooLarge, part).await;
        let part = "its response is invalid: ";
        fails(&server, deed("is-garbage"), InvocationErrorKind::Garbled, part).await;
        fails(&server, deed("breaks-off"), InvocationErrorKind::Died, "returned no result: ").await;
    }
    let part = "it answered with HTTP status 500 Internal Server Error";
    fails(&server, act("is-broken"), InvocationErrorKind::Failed, part).await;
}

/// Official servers send errors without an id if they do not get as far as reading it.
#[tokio::test]
async fn errors_without_an_id_arrive_at_once() {
    let site = Site::start(0);
    let server = site.server();
    let part = "it answered `tools/call` with the error -32000: Not Acceptable";
    for status in [200, 400, 403, 405, 406, 409, 413, 415, 422, 429, 503] {
        let arguments = json!({"do": "errs-without-id", "status": status}).to_string();
        fails(&server, invocation("act", &arguments), InvocationErrorKind::Failed, part).await;
    }
}

#[tokio::test]
async fn a_lost_session_is_begun_again() {
    let site = Site::start(0);
    let server = site.server();
    for status in [400, 404] {
        let arguments = json!({"do": "forgets", "status": status}).to_string();
        run(&server, invocation("act", &arguments)).await.unwrap();
        works(&server).await;
    }
}

#[tokio::test]
async fn other_events_than_messages_are_skipped() {
    let site = Site::start(0);
    assert_eq!(run(&site.server(), act("pings")).await, Ok(Answer::Raw("done".to_owned())));
}

#[tokio::test]
async fn a_server_over_http_that_dies_is_reached_again() {
    let site = Site::start(0);
    let (server, port) = (site.server(), site.port);
    works(&server).await;
    let error = run(&server, act("dies")).await.unwrap_err();
    assert_eq!(error.kind, InvocationErrorKind::Died, "{error}");
    drop(site);
    let error = run(&server, act("answers")).await.unwrap_err();
    assert_eq!(error.kind, InvocationErrorKind::Unreachable);
    let expected = format!(
        "the MCP server at http://127.0.0.1:{port}/mcp cannot be reached: Connection refused"
    );
    assert_eq!(error.detail, expected);
    let _site = Site::start(port);
    works(&server).await;
}

#[tokio::test]
async fn a_slow_server_over_http_is_left_alone() {
    let site = Site::start(0);
    let server = site.server();
    works(&server).await;
    broken_off(&server, "never-answers").await;
    works(&server).await;
}
