//! The conversation: who we are, then one page of tools after the other.

use std::collections::HashSet;
use std::time::Duration;

use rmcp::ServiceExt as _;
use rmcp::model::{
    ClientCapabilities, ClientConfig, ClientRequest, Implementation, ListToolsRequest,
    PaginatedRequestParams, ServerResult,
};
use rmcp::service::{ClientInitializeError, Peer, RoleClient, ServiceError};
use rmcp::transport::IntoTransport;
use serde_json::{Map, Value};
use tokio::time::{Instant, timeout, timeout_at};

use super::BYTE_LIMIT;
use super::trouble::{Trouble, shown};
use super::wire::opened;

/// The most pages that a list of tools may have.
const PAGE_LIMIT: usize = 1_000;
/// How long saying goodbye may take.
const GOODBYE: Duration = Duration::from_secs(2);

/// Why there is no list of tools.
pub(super) enum Broken {
    /// The server said so, or it does not keep to the protocol.
    Reason(String),
    /// The connection is gone; what it belonged to may know why. Holds the request that was open.
    Closed(&'static str),
}

/// Asks over `transport` for all tools. `limit` is the time for everything; the connection is
/// closed when this returns.
pub(super) async fn tools<T, E, A>(
    transport: T,
    limit: Duration,
    trouble: &Trouble,
) -> Result<Value, Broken>
where
    T: IntoTransport<RoleClient, E, A>,
    E: std::error::Error + Send + Sync + 'static,
{
    let work = conversation(transport, Instant::now() + limit, limit);
    tokio::select! {
        // What has gone wrong says more than its consequences.
        biased;
        () = trouble.fatal() => Err(Broken::Closed("")),
        () = interrupted() => Err(Broken::Reason("gramc was interrupted".to_owned())),
        outcome = work => outcome,
    }
}

async fn conversation<T, E, A>(transport: T, end: Instant, limit: Duration) -> Result<Value, Broken>
where
    T: IntoTransport<RoleClient, E, A>,
    E: std::error::Error + Send + Sync + 'static,
{
    let late = |request| {
        let seconds = limit.as_secs_f32();
        Broken::Reason(format!("it did not answer `{request}` within {seconds} seconds"))
    };
    let us = Implementation::new("gramc", env!("CARGO_PKG_VERSION"));
    let introduced = ClientConfig::new(ClientCapabilities::default(), us).serve(transport);
    let running = timeout_at(end, introduced)
        .await
        .map_err(|_| late("initialize"))?
        .map_err(|error| refused(&error))?;
    let outcome = timeout_at(end, all_pages(running.peer())).await;
    // A server that does not listen any more has still given its answer.
    let _ = timeout(GOODBYE, running.cancel()).await;
    outcome.map_err(|_| late("tools/list"))?
}

async fn all_pages(peer: &Peer<RoleClient>) -> Result<Value, Broken> {
    let mut pages = Pages::default();
    for _ in 0..PAGE_LIMIT {
        let mut params = PaginatedRequestParams::default();
        params.cursor.clone_from(&pages.cursor);
        let request = ListToolsRequest::with_param(params);
        let answer = peer
            .send_request(ClientRequest::ListToolsRequest(request))
            .await
            .map_err(|error| unanswered(&error))?;
        if pages.add(&answer).map_err(Broken::Reason)? {
            let tools = Value::Array(pages.tools);
            return Ok(Value::Object(Map::from_iter([("tools".to_owned(), tools)])));
        }
    }
    Err(Broken::Reason(format!("its list of tools has more than {PAGE_LIMIT} pages")))
}

/// The pages that have come.
#[derive(Default)]
struct Pages {
    tools: Vec<Value>,
    bytes: usize,
    /// What asks for the next page.
    cursor: Option<String>,
    cursors: HashSet<String>,
}

impl Pages {
    /// Adds a page, and says whether it is the last one. Fails with what is wrong with it.
    fn add(&mut self, answer: &ServerResult) -> Result<bool, String> {
        let Some((mut page, bytes)) = opened(answer) else {
            return Err("its answer to `tools/list` holds no `tools`".to_owned());
        };
        self.bytes += bytes;
        if self.bytes > BYTE_LIMIT {
            let limit = BYTE_LIMIT >> 20;
            return Err(format!("its list of tools is longer than {limit} megabytes"));
        }
        let Some(Value::Array(tools)) = page.get_mut("tools").map(Value::take) else {
            return Err("`tools` of its answer to `tools/list` is not a list".to_owned());
        };
        self.tools.extend(tools);
        let cursor = match page.get_mut("nextCursor").map(Value::take) {
            // The protocol ends a list by leaving the cursor out; some servers send an empty one.
            None | Some(Value::Null) => return Ok(true),
            Some(Value::String(cursor)) if cursor.is_empty() => return Ok(true),
            Some(Value::String(cursor)) => cursor,
            Some(_) => {
                return Err("`nextCursor` of its answer to `tools/list` is not text".to_owned());
            }
        };
        if !self.cursors.insert(cursor.clone()) {
            return Err(format!(
                "its list of tools has no end: the cursor \"{}\" came twice",
                shown(&cursor)
            ));
        }
        self.cursor = Some(cursor);
        Ok(false)
    }
}

/// Why the server did not let us in.
fn refused(error: &ClientInitializeError) -> Broken {
    match error {
        ClientInitializeError::JsonRpcError(error) => {
            said_error("initialize", error.code.0, &error.message)
        }
        ClientInitializeError::ConnectionClosed(_)
        | ClientInitializeError::TransportError { .. } => Broken::Closed("initialize"),
        other => Broken::Reason(format!(
            "it does not answer `initialize` as an MCP server does: {}",
            shown(&other.to_string())
        )),
    }
}

/// Why the server did not answer.
fn unanswered(error: &ServiceError) -> Broken {
    match error {
        ServiceError::McpError(error) => said_error("tools/list", error.code.0, &error.message),
        ServiceError::TransportSend(_)
        | ServiceError::TransportClosed
        | ServiceError::Cancelled { .. } => Broken::Closed("tools/list"),
        other => Broken::Reason(shown(&other.to_string())),
    }
}

fn said_error(request: &str, code: i32, message: &str) -> Broken {
    Broken::Reason(format!("it answered `{request}` with the error {code}: {}", shown(message)))
}

/// Waits until somebody wants the program to end. A server in a process group of its own does not
/// hear of that, and has to be ended first. From then on the program goes on when it is told to
/// end, so this is for commands that do little else.
#[cfg(unix)]
async fn interrupted() {
    use tokio::signal::unix::{SignalKind, signal};

    let kinds = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()];
    let mut signals: Vec<_> = kinds.into_iter().flat_map(signal).collect();
    std::future::poll_fn(|context| {
        if signals.iter_mut().any(|signal| signal.poll_recv(context).is_ready()) {
            std::task::Poll::Ready(())
        } else {
            std::task::Poll::Pending
        }
    })
    .await;
}

#[cfg(not(unix))]
async fn interrupted() {
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending().await
    }
}
