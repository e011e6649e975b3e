//! One connection to a server, which calls share.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, Shared};
use reqwest::Url;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, ClientRequest, PingRequest, ServerResult,
};
use rmcp::service::{PeerRequestOptions, RequestHandle, RoleClient, RunningService, ServiceError};
use rmcp::transport::IntoTransport;
use serde_json::{Map, Value};
use tokio::sync::Mutex;
use tokio::time::{Instant, timeout};

use super::child_server::ChildServer;
use super::failure_log::FailureLog;
use super::pending_calls::PendingCall;
use super::requests::{ClientHandler, RequestFailure, all_pages, introduced, late, unanswered};
use super::{IN_ANSWERS, ON_OUTPUT, http_transport};
use crate::http_client;
use crate::invocation::{InvocationError, InvocationErrorKind};
use crate::process::start_error;
use crate::sanitize::sanitize_line;

/// How long a server may take to begin. `npx` and its like install a server before they start it,
/// which can take most of a minute.
const START_LIMIT: Duration = Duration::from_mins(1);
/// How long a server may take to list its tools.
const LIST_LIMIT: Duration = Duration::from_mins(1);
/// How long a server may take to show that it still listens.
const PING_LIMIT: Duration = Duration::from_secs(3);
/// The time limit for sending a cancellation and for closing.
const GOODBYE: Duration = Duration::from_secs(2);

/// A connection. When it is dropped, its server is ended, if it was started for it.
pub(super) struct Connection {
    /// The server, as the subject of a sentence.
    name: String,
    running: RunningService<RoleClient, ClientHandler>,
    server: Option<ChildServer>,
    failures: Arc<FailureLog>,
    us: ClientHandler,
    tools: Mutex<Option<Arc<[Value]>>>,
    /// Set when an answer did not come in time. The server may be stuck.
    doubtful: AtomicBool,
    /// Whether the server still listens, once it is asked. A task waits for the answer: those who
    /// call may have less time than the server, and still the next one learns it.
    heard: std::sync::Mutex<Option<Shared<BoxFuture<'static, bool>>>>,
    /// Set when the server answered a call, so that it is worth to be started again.
    proven: AtomicBool,
}

impl Connection {
    /// Starts a server and introduces us.
    pub(super) async fn to_command(
        words: &[String],
        folder: &Path,
    ) -> Result<Self, InvocationError> {
        let Some((program, arguments)) = words.split_first() else {
            return Err(unreachable("the command of the MCP server is empty".to_owned()));
        };
        // The arguments may hold a password, and stay out of messages.
        let name = format!("the MCP server `{}`", sanitize_line(program));
        let failures = Arc::new(FailureLog::new(ON_OUTPUT));
        let (mut server, pipes) = ChildServer::start(program, arguments, Some(folder), &failures)
            .map_err(|error| {
            unreachable(format!("{name} cannot be started: {}", start_error(&error)))
        })?;
        match introduce(pipes, &failures).await {
            Ok((running, us)) => Ok(Self::new(name, running, Some(server), failures, us)),
            Err(broken) => {
                let ended = server.end().await;
                let why = failures.reason().map_or_else(
                    || match (broken, ended) {
                        (RequestFailure::Reason(why), _) => why,
                        (RequestFailure::Closed(request), Some(status)) => {
                            format!("it ended before it answered `{request}` ({status})")
                        }
                        (RequestFailure::Closed(request), None) => hung_up(request),
                    },
                    |fault| fault.why,
                );
                Err(unreachable(format!("{name} does not begin: {why}{}", failures.details())))
            }
        }
    }

    /// Introduces us to the server at an address.
    pub(super) async fn to_url(url: &Url) -> Result<Self, InvocationError> {
        let name = format!("the MCP server at {}", http_client::without_secrets(url));
        let failures = Arc::new(FailureLog::new(IN_ANSWERS));
        let failed = |why: String| unreachable(format!("{name} cannot be reached: {why}"));
        let transport = http_transport::transport(url, &failures).map_err(&failed)?;
        match introduce(transport, &failures).await {
            Ok((running, us)) => Ok(Self::new(name, running, None, failures, us)),
            Err(broken) => {
                let why = failures.reason().map_or_else(
                    || match broken {
                        RequestFailure::Reason(why) => why,
                        RequestFailure::Closed(request) => hung_up(request),
                    },
                    |fault| fault.why,
                );
                Err(failed(why + &failures.details()))
            }
        }
    }

    fn new(
        name: String,
        running: RunningService<RoleClient, ClientHandler>,
        server: Option<ChildServer>,
        failures: Arc<FailureLog>,
        us: ClientHandler,
    ) -> Self {
        Self {
            name,
            running,
            server,
            failures,
            us,
            tools: Mutex::default(),
            doubtful: AtomicBool::new(false),
            heard: std::sync::Mutex::default(),
            proven: AtomicBool::new(false),
        }
    }

    /// Whether nothing can be asked over it any more.
    pub(super) fn is_over(&self) -> bool {
        self.failures.is_over() || self.running.peer().is_transport_closed()
    }

    /// Whether the server answered a call.
    pub(super) fn is_proven(&self) -> bool {
        self.proven.load(Ordering::Acquire)
    }

    /// The server, as the subject of a sentence.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Whether the server still listens. It is asked only where there is a doubt.
    pub(super) async fn listens(&self) -> bool {
        if self.is_over() {
            return false;
        }
        if !self.doubtful.load(Ordering::Acquire) {
            return true;
        }
        let heard = self.liveness().get_or_insert_with(|| self.probe()).clone();
        let heard = heard.await;
        // The next doubt is another question.
        *self.liveness() = None;
        if heard {
            self.doubtful.store(false, Ordering::Release);
        }
        heard
    }

    fn liveness(&self) -> std::sync::MutexGuard<'_, Option<Shared<BoxFuture<'static, bool>>>> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn probe(&self) -> Shared<BoxFuture<'static, bool>> {
        let peer = self.running.peer().clone();
        let asking = tokio::spawn(async move {
            let ping = ClientRequest::PingRequest(PingRequest::default());
            // A server that does not know the request has received it.
            matches!(
                timeout(PING_LIMIT, peer.send_request(ping)).await,
                Ok(Ok(_) | Err(ServiceError::McpError(_)))
            )
        });
        asking.map(|heard| heard.unwrap_or(false)).boxed().shared()
    }

    /// All tools of the server. It is asked once, and again when it says that they are others now.
    pub(super) async fn tools(&self) -> Result<Arc<[Value]>, InvocationError> {
        let mut known = self.tools.lock().await;
        if self.us.other_tools.swap(false, Ordering::AcqRel) {
            *known = None;
        }
        if let Some(tools) = &*known {
            return Ok(Arc::clone(tools));
        }
        let _listing = self.failures.listing();
        let outcome = tokio::select! {
            biased;
            () = self.failures.fatal() => Err(RequestFailure::Closed("tools/list")),
            outcome = timeout(LIST_LIMIT, all_pages(self.running.peer())) => {
                outcome.unwrap_or_else(|_| Err(late("tools/list", LIST_LIMIT)))
            }
        };
        match outcome {
            Ok(tools) => Ok(Arc::clone(known.insert(tools.into()))),
            Err(RequestFailure::Reason(why)) => Err(self.error(InvocationErrorKind::Failed, &why)),
            Err(RequestFailure::Closed(request)) => Err(self.gone(request).await),
        }
    }

    /// Calls a tool, and returns the response message as sent by the server. If the future is
    /// dropped, the server is told that the call is cancelled.
    pub(super) async fn call(
        &self,
        tool: &str,
        arguments: Map<String, Value>,
        max_answer: usize,
    ) -> Result<String, InvocationError> {
        let call = PendingCall::new(max_answer);
        let params = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        let mut request = CallToolRequest::new(params);
        request.extensions.insert(call.clone());
        let request = ClientRequest::CallToolRequest(request);
        let peer = self.running.peer();
        let sent = peer.send_cancellable_request(request, PeerRequestOptions::no_options()).await;
        let Ok(handle) = sent else {
            return Err(self.gone("tools/call").await);
        };
        let answer =
            OpenRequest { handle: Some(handle), doubtful: &self.doubtful }.answer(&self.failures);
        let answer = answer.await;
        if let Some(outcome) = call.take() {
            if outcome.is_ok() {
                self.proven.store(true, Ordering::Release);
            }
            return outcome.map_err(|fault| self.error(fault.kind, &fault.why));
        }
        match answer {
            Some(Ok(_)) => {
                Err(self
                    .error(InvocationErrorKind::Garbled, "it answered `tools/call` with no result"))
            }
            Some(Err(error)) => match unanswered("tools/call", &error) {
                RequestFailure::Reason(why) => {
                    self.proven.store(true, Ordering::Release);
                    Err(self.error(InvocationErrorKind::Failed, &why))
                }
                RequestFailure::Closed(request) => Err(self.gone(request).await),
            },
            None => Err(self.gone("tools/call").await),
        }
    }

    fn error(&self, kind: InvocationErrorKind, why: &str) -> InvocationError {
        InvocationError::new(kind, format!("{} gave no answer: {why}", self.name))
    }

    /// Why the connection is gone.
    async fn gone(&self, request: &str) -> InvocationError {
        let (kind, why) = match self.failures.reason() {
            Some(fault) => (fault.kind, fault.why),
            None => (InvocationErrorKind::Died, self.last_words(request).await),
        };
        self.error(kind, &(why + &self.failures.details()))
    }

    async fn last_words(&self, request: &str) -> String {
        let ended = match &self.server {
            Some(server) => server.ended().await,
            None => None,
        };
        match ended {
            Some(status) => format!("it ended before it answered `{request}` ({status})"),
            None => hung_up(request),
        }
    }

    /// Says goodbye, and waits until the server has ended, if it was started for this.
    pub(super) async fn close(self) {
        // A server that no longer reads is stopped as well.
        let _ = timeout(GOODBYE, self.running.cancel()).await;
        if let Some(mut server) = self.server {
            server.end().await;
        }
    }
}

fn unreachable(detail: String) -> InvocationError {
    InvocationError::new(InvocationErrorKind::Unreachable, detail)
}

fn hung_up(request: &str) -> String {
    format!("it hung up before it answered `{request}`")
}

async fn introduce<T, E, A>(
    transport: T,
    failures: &FailureLog,
) -> Result<(RunningService<RoleClient, ClientHandler>, ClientHandler), RequestFailure>
where
    T: IntoTransport<RoleClient, E, A>,
    E: std::error::Error + Send + Sync + 'static,
{
    let us = ClientHandler::default();
    let work = introduced(transport, us.clone(), Instant::now() + START_LIMIT, START_LIMIT);
    tokio::select! {
        // The original failure explains more than its consequences.
        biased;
        () = failures.fatal() => Err(RequestFailure::Closed("initialize")),
        outcome = work => Ok((outcome?, us)),
    }
}

/// A request that is not answered yet.
struct OpenRequest<'c> {
    handle: Option<RequestHandle<RoleClient>>,
    doubtful: &'c AtomicBool,
}

impl OpenRequest<'_> {
    /// Waits for the answer. Nothing where the connection is gone.
    async fn answer(mut self, failures: &FailureLog) -> Option<Result<ServerResult, ServiceError>> {
        let answer = match &mut self.handle {
            None => None,
            Some(handle) => tokio::select! {
                biased;
                answer = &mut handle.rx => answer.ok(),
                () = failures.fatal() => None,
            },
        };
        self.handle = None;
        answer
    }
}

impl Drop for OpenRequest<'_> {
    fn drop(&mut self) {
        let Some(handle) = self.handle.take() else {
            return;
        };
        self.doubtful.store(true, Ordering::Release);
        // Without a runtime there is no connection either.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move {
                let reason = "the caller no longer waits for the response".to_owned();
                let _ = timeout(GOODBYE, handle.cancel(Some(reason))).await;
            });
        }
    }
}
