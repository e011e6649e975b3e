//! One connection to a server, which calls share.

mod modern;
mod open_request;
mod tasks;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, Shared};
use gramc_tools::invocation::{InvocationError, InvocationErrorKind};
use gramc_tools::masks::SecretMasks;
use gramc_tools::{RpcError, http_client};
use rmcp::ErrorData;
use rmcp::model::{
    ClientNotification, ClientRequest, CustomNotification, CustomRequest, ErrorCode, PingRequest,
    ProtocolVersion,
};
use rmcp::service::{
    ClientLifecycleMode, ClientServiceExt as _, RoleClient, RunningService, ServiceError,
};
use rmcp::transport::IntoTransport;
use serde_json::{Map, Value, json};
use tokio::sync::Mutex;
use tokio::time::{Instant, timeout, timeout_at};
use tokio_util::task::TaskTracker;

use self::modern::Modern;
use self::open_request::OpenRequest;
use super::address::ServerAddress;
use super::child_server::ChildServer;
use super::client_slot::ClientSlot;
use super::failure_log::FailureLog;
use super::http_transport;
use super::pending_calls::PendingCall;
use super::requests::{
    ClientHandler, RequestFailure, all_pages, explain_refusal, explain_silence, late, said_error,
};
use crate::protocol::to_rpc_error;

/// How long a server may take to list its tools.
const LIST_LIMIT: Duration = Duration::from_mins(1);
/// How long a server may take to show that it still listens.
const PING_LIMIT: Duration = Duration::from_secs(3);
/// The time limit for sending a cancellation and for closing.
const GOODBYE: Duration = Duration::from_secs(2);

/// A server that cannot be connected to.
#[derive(Debug, thiserror::Error)]
#[error("the MCP server {server} {step}: {reason}")]
pub(super) struct OpenError {
    pub(super) server: String,
    step: &'static str,
    pub(super) reason: String,
    /// Whether the server may answer in another revision of the protocol.
    has_other_revision: bool,
}

/// A connection. When it is dropped, its server is ended, if it was started for it.
pub(super) struct Connection {
    /// The server, as the subject of a sentence.
    name: String,
    running: RunningService<RoleClient, ClientHandler>,
    server: Option<ChildServer>,
    failures: Arc<FailureLog>,
    /// Masks what the server was given in what it says.
    masks: Arc<SecretMasks>,
    us: ClientHandler,
    tools: Mutex<Option<Arc<[Value]>>>,
    /// Set when an answer did not come in time. The server may be stuck.
    doubtful: AtomicBool,
    /// Whether the server still listens, once it is asked. A task waits for the answer: those who
    /// call may have less time than the server, and still the next one learns it.
    heard: parking_lot::Mutex<Option<Shared<BoxFuture<'static, bool>>>>,
    /// Set when the server answered a call, so that it is worth to be started again.
    proven: AtomicBool,
    modern: Modern,
    /// Cancellations on their way to the server.
    goodbyes: TaskTracker,
}

impl Connection {
    /// Connects to a server within a time limit, for the client of a slot, whose revision of the
    /// protocol is tried first.
    pub(super) async fn open(
        address: &ServerAddress,
        limit: Duration,
        client: &Arc<ClientSlot>,
    ) -> Result<Self, OpenError> {
        let preferred_versions = vec![ProtocolVersion::V_2026_07_28];
        let (first, other) = if client.is_modern() {
            let auto = ClientLifecycleMode::Auto { preferred_versions, legacy_version: None };
            (auto, ClientLifecycleMode::Initialize)
        } else {
            let discover = ClientLifecycleMode::Discover { preferred_versions };
            (ClientLifecycleMode::Initialize, discover)
        };
        match Self::open_in(first, address, limit, client).await {
            Err(error) if error.has_other_revision => {
                let opened = Self::open_in(other, address, limit, client).await;
                // Where the server knows neither revision, the first one is the common one.
                opened.map_err(|other| if other.has_other_revision { error } else { other })
            }
            outcome => outcome,
        }
    }

    async fn open_in(
        lifecycle: ClientLifecycleMode,
        address: &ServerAddress,
        limit: Duration,
        client: &Arc<ClientSlot>,
    ) -> Result<Self, OpenError> {
        let masks = Arc::new(SecretMasks::of_library(address.secrets()));
        let us = ClientHandler::new(client, &masks);
        let failed = |step, reason: String| OpenError {
            server: address.to_string(),
            step,
            reason: masks.text(&reason),
            has_other_revision: false,
        };
        let (step, failures, mut server, introduced) = match address {
            ServerAddress::Command { words, environment } => {
                let (program, arguments) = match words.split_first() {
                    Some((program, arguments)) => (program.as_str(), arguments),
                    None => ("", &[][..]),
                };
                let place = "On its standard output";
                let failures = Arc::new(FailureLog::new(place, client, &masks));
                let started = ChildServer::start(program, arguments, environment, &failures);
                let (server, pipes) =
                    started.map_err(|error| failed("cannot be started", error.to_string()))?;
                let introduced = introduce(us.clone(), pipes, lifecycle, &failures, limit).await;
                ("does not begin", failures, Some(server), introduced)
            }
            ServerAddress::Url(address) => {
                let step = "cannot be reached";
                let failures = Arc::new(FailureLog::new("In its answers", client, &masks));
                let transport = http_transport::transport(address, &failures);
                let transport =
                    transport.map_err(|error| failed(step, http_client::root(&error)))?;
                let introduced =
                    introduce(us.clone(), transport, lifecycle, &failures, limit).await;
                (step, failures, None, introduced)
            }
        };
        match introduced {
            Ok(running) => {
                let connection = Self {
                    name: format!("the MCP server {address}"),
                    running,
                    server,
                    failures,
                    us,
                    tools: Mutex::default(),
                    masks,
                    doubtful: AtomicBool::new(false),
                    heard: parking_lot::Mutex::default(),
                    proven: AtomicBool::new(false),
                    modern: Modern::default(),
                    goodbyes: TaskTracker::new(),
                };
                connection.listen_for_lists();
                Ok(connection)
            }
            Err(failure) => {
                let has_other_revision = match &failure {
                    RequestFailure::OtherRevision(_) => true,
                    // Some servers close the connection when they are asked something unknown.
                    RequestFailure::Closed(_) => client.is_modern(),
                    RequestFailure::Reason(_) => false,
                };
                let ended = match &mut server {
                    Some(server) => server.end().await,
                    None => None,
                };
                let fault = failures.reason();
                let why = fault.map_or_else(|| failure.describe(ended), |fault| fault.detail);
                let error = failed(step, why + &failures.details());
                Err(OpenError { has_other_revision, ..error })
            }
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
        let heard = self.heard.lock().get_or_insert_with(|| self.probe()).clone();
        let heard = heard.await;
        // The next doubt is another question.
        *self.heard.lock() = None;
        if heard {
            self.doubtful.store(false, Ordering::Release);
        }
        heard
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
        match self.list(Instant::now() + LIST_LIMIT, LIST_LIMIT).await {
            Ok(tools) => Ok(Arc::clone(known.insert(tools.into()))),
            Err(fault) => Err(self.error(fault.kind, &fault.detail)),
        }
    }

    /// Asks for all tools until `end`, which is `limit` from the beginning.
    pub(super) async fn list(
        &self,
        end: Instant,
        limit: Duration,
    ) -> Result<Vec<Value>, InvocationError> {
        let _listing = self.failures.listing();
        let outcome = tokio::select! {
            biased;
            () = self.failures.fatal() => Err(RequestFailure::Closed("tools/list")),
            outcome = timeout_at(end, all_pages(self.running.peer())) => {
                outcome.unwrap_or_else(|_| Err(late("tools/list", limit)))
            }
        };
        match outcome {
            Ok(tools) => Ok(tools.into_iter().map(|tool| self.masks.result(tool)).collect()),
            Err(failure) => Err(self.fault(failure).await),
        }
    }

    /// The capabilities that the server announced.
    pub(super) fn capabilities(&self) -> Map<String, Value> {
        let info = self.running.peer().peer_info();
        let capabilities = info.and_then(|info| serde_json::to_value(&info.capabilities).ok());
        match capabilities {
            Some(Value::Object(capabilities)) => capabilities,
            _ => Map::new(),
        }
    }

    /// Calls a tool, and returns the response message as sent by the server. If the future is
    /// dropped, the call is cancelled on the server.
    pub(super) async fn call(
        &self,
        tool: &str,
        arguments: Map<String, Value>,
        call: PendingCall,
    ) -> Result<String, InvocationError> {
        let params = json!({"name": tool, "arguments": arguments});
        let message = self.send("tools/call", params, &call).await;
        message.map_err(|failure| {
            if let (UpstreamError::Error(error), Some(client)) = (&failure, &call.origin().client)
                && error.code == ErrorCode::MISSING_REQUIRED_CLIENT_CAPABILITY.0
            {
                client.refuses(error.clone());
            }
            self.failed_call(failure)
        })
    }

    fn failed_call(&self, failure: UpstreamError) -> InvocationError {
        match failure {
            UpstreamError::Error(error) => {
                let why = said_error("tools/call", error.code, &error.message);
                self.error(InvocationErrorKind::Failed, &why)
            }
            UpstreamError::NoAnswer(error) => error,
        }
    }

    /// Makes a request for the client, and returns the result as sent by the server. If the future
    /// is dropped, the request is cancelled on the server.
    pub(super) async fn request(
        &self,
        method: &'static str,
        params: Value,
        call: PendingCall,
    ) -> Result<Value, UpstreamError> {
        if let Some(outcome) = self.translate(method, &params).await {
            return outcome;
        }
        let message = self.send(method, params, &call).await?;
        // It was recognised as an answer with a result.
        let message: Value = serde_json::from_str(&message).unwrap_or_default();
        Ok(self.masks.result(message["result"].clone()))
    }

    fn rpc_error(&self, error: ErrorData) -> RpcError {
        self.mask_error(to_rpc_error(error))
    }

    fn mask_error(&self, error: RpcError) -> RpcError {
        let message = self.masks.text(&error.message);
        let data = error.data.map(|data| self.masks.result(data));
        RpcError { message, data, ..error }
    }

    /// Makes a request that `rmcp` need not know, and returns the message that answers it.
    async fn send_once(
        &self,
        method: &'static str,
        params: Value,
        call: &PendingCall,
    ) -> Result<String, UpstreamError> {
        let mut request = CustomRequest::new(method, Some(params));
        request.extensions.insert(call.clone());
        self.exchange(method, ClientRequest::CustomRequest(request), call).await
    }

    /// Sends a notification of the client. The server may be gone.
    pub(super) async fn notify(&self, method: &'static str) {
        let notification = CustomNotification::new(method, None);
        let notification = ClientNotification::CustomNotification(notification);
        let _ = timeout(GOODBYE, self.running.peer().send_notification(notification)).await;
    }

    /// Sends a request, and returns the message that answers it.
    async fn exchange(
        &self,
        method: &'static str,
        request: ClientRequest,
        call: &PendingCall,
    ) -> Result<String, UpstreamError> {
        let peer = self.running.peer();
        let sent = peer.send_cancellable_request(request, self.options(call)).await;
        let Ok(handle) = sent else {
            return Err(self.gone(method).await.into());
        };
        let answer = OpenRequest {
            handle: Some(handle),
            doubtful: &self.doubtful,
            goodbyes: &self.goodbyes,
        }
        .answer(&self.failures);
        let answer = answer.await;
        if let Some(outcome) = call.take() {
            if outcome.is_ok() {
                self.proven.store(true, Ordering::Release);
            }
            return outcome.map_err(|fault| self.error(fault.kind, &fault.detail).into());
        }
        let error = match answer {
            Some(Ok(_)) => {
                let why = format!("it answered `{method}` with no result");
                self.error(InvocationErrorKind::Garbled, &why)
            }
            Some(Err(ServiceError::McpError(error))) => {
                self.proven.store(true, Ordering::Release);
                return Err(UpstreamError::Error(self.rpc_error(error)));
            }
            Some(Err(error)) => match explain_silence(method, &error) {
                RequestFailure::Reason(why) | RequestFailure::OtherRevision(why) => {
                    self.error(InvocationErrorKind::Failed, &why)
                }
                RequestFailure::Closed(request) => self.gone(request).await,
            },
            None => self.gone(method).await,
        };
        Err(error.into())
    }

    fn error(&self, kind: InvocationErrorKind, why: &str) -> InvocationError {
        let why = self.masks.text(why);
        InvocationError::new(kind, format!("{} returned no result: {why}", self.name))
    }

    async fn gone(&self, request: &'static str) -> InvocationError {
        let fault = self.fault(RequestFailure::Closed(request)).await;
        self.error(fault.kind, &fault.detail)
    }

    /// The fault behind a failed request, with what the server said.
    async fn fault(&self, failure: RequestFailure) -> InvocationError {
        let mut fault = match (self.failures.reason(), &failure) {
            (Some(fault), _) => fault,
            (None, RequestFailure::Closed(_)) => {
                let ended = match &self.server {
                    Some(server) => server.exit_status().await,
                    None => None,
                };
                InvocationError::crash(failure.describe(ended))
            }
            (None, RequestFailure::Reason(why) | RequestFailure::OtherRevision(why)) => {
                InvocationError::failure(why)
            }
        };
        fault.detail = self.masks.text(&(fault.detail + &self.failures.details()));
        fault
    }

    /// Says goodbye, and waits until the server has ended, if it was started for this.
    pub(super) async fn close(self) {
        self.goodbyes.close();
        let _ = timeout(GOODBYE, self.goodbyes.wait()).await;
        // A server that no longer reads is stopped as well.
        let _ = timeout(GOODBYE, self.running.cancel()).await;
        if let Some(mut server) = self.server {
            server.end().await;
        }
    }
}

async fn introduce<T, E, A>(
    us: ClientHandler,
    transport: T,
    lifecycle: ClientLifecycleMode,
    failures: &FailureLog,
    limit: Duration,
) -> Result<RunningService<RoleClient, ClientHandler>, RequestFailure>
where
    T: IntoTransport<RoleClient, E, A>,
    E: std::error::Error + Send + Sync + 'static,
{
    tokio::select! {
        // The original failure explains more than its consequences.
        biased;
        () = failures.fatal() => Err(RequestFailure::Closed("initialize")),
        outcome = timeout(limit, us.serve_with_lifecycle(transport, lifecycle)) => {
            let outcome = outcome.map_err(|_| late("initialize", limit))?;
            outcome.map_err(|error| explain_refusal(&error))
        }
    }
}

/// Why a server did not fulfil a request.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum UpstreamError {
    /// It answered with an error.
    #[error(transparent)]
    Error(RpcError),
    /// It did not answer.
    #[error(transparent)]
    NoAnswer(#[from] InvocationError),
}
