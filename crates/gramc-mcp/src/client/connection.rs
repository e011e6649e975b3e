//! One connection to a server, which calls share.

mod modern;
mod tasks;

use std::process::ExitStatus;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, Shared};
use gramc_tools::invocation::{InvocationError, InvocationErrorKind};
use gramc_tools::masks::SecretMasks;
use gramc_tools::{RpcError, http_client};
use serde_json::{Map, Value, json};
use tokio::sync::Mutex;
use tokio::time::{Instant, timeout, timeout_at};
use tokio_util::sync::CancellationToken;

use self::modern::Modern;
use super::address::{ServerAddress, ServerPlace};
use super::child_server::ChildServer;
use super::client_slot::ClientSlot;
use super::exchange::{Exchange, GOODBYE};
use super::handshake::{HandshakeError, Introduction, Lifecycle, describe_error};
use super::http_wire::HttpWire;
use super::inbox::{Inbox, RequestFault, RequestOptions};
use super::tool_pages::{ListedTools, ToolPages};
use super::wire::Wire;
use crate::protocol::METHOD_NOT_FOUND;

/// How long a server may take to list its tools.
const LIST_LIMIT: Duration = Duration::from_mins(1);
/// How long a server may take to show that it still listens.
const PING_LIMIT: Duration = Duration::from_secs(3);

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

/// Why a server did not answer a request.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum UpstreamError {
    /// It answered with an error.
    #[error(transparent)]
    Error(RpcError),
    /// It did not answer.
    #[error(transparent)]
    NoAnswer(#[from] InvocationError),
    /// It does not know the session any more, and has not run the request.
    #[error("it does not know the session any more")]
    LostSession,
}

impl UpstreamError {
    /// The failure of a call, of the server with this name.
    pub(super) fn of_call(self, server: &str) -> InvocationError {
        let failure = |kind, why: &str| {
            InvocationError::new(kind, format!("{server} returned no result: {why}"))
        };
        match self {
            Self::Error(error) => {
                failure(InvocationErrorKind::Failed, &describe_error("tools/call", &error))
            }
            Self::NoAnswer(error) => error,
            Self::LostSession => failure(InvocationErrorKind::Died, &self.to_string()),
        }
    }
}

/// A connection. When it is dropped, its server is ended, if it was started for it.
pub(super) struct Connection {
    /// The server, as the subject of a sentence.
    name: String,
    exchange: Exchange,
    server: Option<ChildServer>,
    _end: ConnectionEnd,
    introduction: Arc<Introduction>,
    tools: Mutex<Option<Arc<ListedTools>>>,
    /// Whether the server still listens, once it is asked. A task waits for the answer: those who
    /// call may have less time than the server, and still the next one learns it.
    heard: parking_lot::Mutex<Option<Shared<BoxFuture<'static, bool>>>>,
    /// Set when the server answered a call, so that it is worth to be started again.
    proven: AtomicBool,
    modern: Modern,
}

impl Connection {
    /// Connects to a server within a time limit, for the client of a slot, whose revision of the
    /// protocol is tried first.
    pub(super) async fn open(
        address: &ServerAddress,
        limit: Duration,
        client: &Arc<ClientSlot>,
    ) -> Result<Self, OpenError> {
        let (first, other) = if client.is_modern() {
            (Lifecycle::ModernFirst, Lifecycle::Legacy)
        } else {
            (Lifecycle::Legacy, Lifecycle::Modern)
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
        lifecycle: Lifecycle,
        address: &ServerAddress,
        limit: Duration,
        client: &Arc<ClientSlot>,
    ) -> Result<Self, OpenError> {
        let masks = Arc::new(SecretMasks::of_library(address.secrets()));
        let failed = |step, reason: String| OpenError {
            server: address.to_string(),
            step,
            reason: masks.text(&reason),
            has_other_revision: false,
        };
        let inbox = |place| Arc::new(Inbox::new(place, client, &masks));
        let (step, inbox, wire, mut server) = match &address.place {
            ServerPlace::Command { words, environment } => {
                let (program, arguments) = match words.split_first() {
                    Some((program, arguments)) => (program.as_str(), arguments),
                    None => ("", &[][..]),
                };
                let inbox = inbox("On its standard output");
                let started = ChildServer::start(program, arguments, environment, &inbox);
                let (server, input) =
                    started.map_err(|error| failed("cannot be started", error.to_string()))?;
                ("does not begin", inbox, Wire::Child(input), Some(server))
            }
            ServerPlace::Url(address) => {
                let step = "cannot be reached";
                let wire = HttpWire::new(address);
                let wire = wire.map_err(|error| failed(step, http_client::root(&error)))?;
                (step, inbox("In its answers"), Wire::Http(Arc::new(wire)), None)
            }
        };
        let exchange = Exchange::new(wire, inbox, client);
        let end = ConnectionEnd(exchange.clone());
        let begun = timeout(limit, exchange.begin(lifecycle)).await;
        let begun =
            begun.unwrap_or_else(|_| Err(HandshakeError::Reason(late("initialize", limit))));
        match begun {
            Ok(introduction) => {
                if let Wire::Http(wire) = &exchange.wire {
                    wire.listen(&exchange.inbox);
                }
                let connection = Self {
                    name: format!("the MCP server {address}"),
                    _end: end,
                    exchange,
                    server,
                    introduction: Arc::new(introduction),
                    tools: Mutex::default(),
                    heard: parking_lot::Mutex::default(),
                    proven: AtomicBool::new(false),
                    modern: Modern::default(),
                };
                connection.listen_for_lists();
                Ok(connection)
            }
            Err(error) => {
                let has_other_revision = match &error {
                    HandshakeError::OtherRevision(_) => true,
                    // Some servers close the connection when they are asked something unknown.
                    HandshakeError::Closed | HandshakeError::Failed(_) => client.is_modern(),
                    HandshakeError::Reason(_) => false,
                };
                let ended = match &mut server {
                    Some(server) => server.end().await,
                    None => None,
                };
                let failures = &exchange.inbox.failures;
                let why = match (failures.reason(), error) {
                    (Some(fault), _) | (None, HandshakeError::Failed(fault)) => fault.detail,
                    (None, HandshakeError::Closed) => hung_up("initialize", ended),
                    (None, HandshakeError::Reason(why) | HandshakeError::OtherRevision(why)) => why,
                };
                let error = failed(step, why + &failures.details());
                Err(OpenError { has_other_revision, ..error })
            }
        }
    }

    /// Cancelled when nothing can be asked over it any more.
    pub(super) fn end(&self) -> CancellationToken {
        self.exchange.inbox.closing_token()
    }

    /// Whether nothing can be asked over it any more.
    pub(super) fn is_over(&self) -> bool {
        self.exchange.inbox.is_over()
    }

    /// Whether the server answered a call.
    pub(super) fn is_proven(&self) -> bool {
        self.proven.load(Ordering::Acquire)
    }

    /// The server, as the subject of a sentence.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// What the server says about itself.
    pub(super) fn introduction(&self) -> &Arc<Introduction> {
        &self.introduction
    }

    /// Whether the server still listens. It is asked only where there is a doubt.
    pub(super) async fn listens(&self) -> bool {
        if self.is_over() {
            return false;
        }
        if !self.exchange.is_doubtful.load(Ordering::Acquire) {
            return true;
        }
        let heard = self.heard.lock().get_or_insert_with(|| self.probe()).clone();
        let heard = heard.await;
        // The next doubt is another question.
        *self.heard.lock() = None;
        if heard {
            self.exchange.is_doubtful.store(false, Ordering::Release);
        }
        heard
    }

    fn probe(&self) -> Shared<BoxFuture<'static, bool>> {
        let exchange = self.exchange.clone();
        let meta = self.own_meta();
        let asking = tokio::spawn(async move {
            let ping = exchange.request("ping", None, meta, RequestOptions::default());
            // A server that does not know the request has received it.
            matches!(timeout(PING_LIMIT, ping).await, Ok(Ok(_) | Err(RequestFault::Answered(_))))
        });
        asking.map(|heard| heard.unwrap_or(false)).boxed().shared()
    }

    /// Whether the server says that its tools have changed since they were listed.
    pub(super) fn has_other_tools(&self) -> bool {
        self.exchange.inbox.other_tools.load(Ordering::Acquire)
    }

    /// All tools of the server. It is asked once, and again when it says that they are others now.
    pub(super) async fn tools(&self) -> Result<Arc<ListedTools>, InvocationError> {
        let mut known = self.tools.lock().await;
        if self.exchange.inbox.other_tools.swap(false, Ordering::AcqRel) {
            *known = None;
        }
        if let Some(tools) = &*known {
            return Ok(Arc::clone(tools));
        }
        match self.list(Instant::now() + LIST_LIMIT, LIST_LIMIT).await {
            Ok(list) => Ok(Arc::clone(known.insert(Arc::new(list)))),
            Err(fault) => Err(self.error(fault.kind, &fault.detail)),
        }
    }

    /// Asks for all tools until `end`, which is `limit` from the beginning.
    pub(super) async fn list(
        &self,
        end: Instant,
        limit: Duration,
    ) -> Result<ListedTools, InvocationError> {
        let late = || Err(InvocationError::failure(late("tools/list", limit)));
        let outcome = timeout_at(end, self.all_pages()).await.unwrap_or_else(|_| late());
        match outcome {
            Ok(mut list) => {
                let tools = list.tools.into_iter().map(|tool| self.masks().result(tool));
                list.tools = tools.collect();
                list.others = match self.masks().result(list.others.into()) {
                    Value::Object(others) => others,
                    _ => Map::new(),
                };
                Ok(list)
            }
            Err(fault) => Err(self.complete_fault(fault)),
        }
    }

    async fn all_pages(&self) -> Result<ListedTools, InvocationError> {
        let mut pages = ToolPages::default();
        loop {
            let params = pages.cursor().map(|cursor| json!({ "cursor": cursor }));
            let meta = self.own_meta();
            let page = self.exchange.request("tools/list", params, meta, RequestOptions::default());
            let page = match page.await {
                Ok(page) => page,
                Err(RequestFault::Answered(error))
                    if error.code == METHOD_NOT_FOUND
                        && !self.introduction.capabilities().contains_key("tools") =>
                {
                    return Ok(ListedTools::default());
                }
                Err(fault) => return Err(self.fault("tools/list", fault).await),
            };
            if pages.add(page).map_err(|error| InvocationError::failure(error.to_string()))? {
                return Ok(pages.into_list());
            }
        }
    }

    /// Calls a tool, and returns its result as sent by the server. If the future is dropped, the call
    /// is cancelled on the server.
    pub(super) async fn call(
        &self,
        tool: &str,
        arguments: Map<String, Value>,
        call: RequestOptions,
    ) -> Result<Value, UpstreamError> {
        let params = json!({"name": tool, "arguments": arguments});
        self.send("tools/call", Some(params), &call).await
    }

    /// Makes a request for the client, and returns the result as sent by the server. If the future
    /// is dropped, the request is cancelled on the server.
    pub(super) async fn request(
        &self,
        method: &str,
        params: Option<Value>,
        options: &RequestOptions,
    ) -> Result<Value, UpstreamError> {
        if let Some(outcome) = self.translate(method, params.as_ref()).await {
            return outcome;
        }
        Ok(self.masks().result(self.send(method, params, options).await?))
    }

    /// The metadata of a request that belongs to no request of a client.
    fn own_meta(&self) -> Map<String, Value> {
        if self.is_modern() { self.exchange.own_meta() } else { Map::new() }
    }

    fn masks(&self) -> &SecretMasks {
        &self.exchange.inbox.masks
    }

    fn mask_error(&self, error: RpcError) -> RpcError {
        let message = self.masks().text(&error.message);
        let others = error.others.into_iter().map(|(key, it)| (key, self.masks().result(it)));
        RpcError { message, others: others.collect(), ..error }
    }

    /// Sends a notification of the client. The server may be gone.
    pub(super) async fn notify(&self, method: &str, params: Option<Value>) {
        let _ = timeout(GOODBYE, self.exchange.notify(method, params)).await;
    }

    /// Makes a request, and returns its result.
    async fn send_once(
        &self,
        method: &str,
        params: Option<Value>,
        options: &RequestOptions,
    ) -> Result<Value, UpstreamError> {
        let meta = self.meta(&options.origin);
        let outcome = self.exchange.request(method, params, meta, options.clone()).await;
        if matches!(outcome, Ok(_) | Err(RequestFault::Answered(_))) {
            self.proven.store(true, Ordering::Release);
        }
        match outcome {
            Ok(result) => Ok(result),
            Err(RequestFault::Answered(error)) => Err(UpstreamError::Error(self.mask_error(error))),
            Err(RequestFault::LostSession) => Err(UpstreamError::LostSession),
            Err(RequestFault::Failed(fault)) => Err(self.error(fault.kind, &fault.detail).into()),
            Err(RequestFault::Closed) => {
                let fault = self.fault(method, RequestFault::Closed).await;
                let fault = self.complete_fault(fault);
                Err(self.error(fault.kind, &fault.detail).into())
            }
        }
    }

    fn error(&self, kind: InvocationErrorKind, why: &str) -> InvocationError {
        let why = self.masks().text(why);
        InvocationError::new(kind, format!("{} returned no result: {why}", self.name))
    }

    /// The fault behind a failed request, as a phrase that follows the name of the server.
    async fn fault(&self, method: &str, fault: RequestFault) -> InvocationError {
        match (self.exchange.inbox.failures.reason(), fault) {
            (_, RequestFault::Failed(error)) | (Some(error), _) => error,
            (None, RequestFault::Answered(error)) => {
                InvocationError::failure(describe_error(method, &error))
            }
            (None, RequestFault::Closed | RequestFault::LostSession) => {
                let ended = match &self.server {
                    Some(server) => server.exit_status().await,
                    None => None,
                };
                InvocationError::crash(hung_up(method, ended))
            }
        }
    }

    /// A fault with what the server said besides.
    fn complete_fault(&self, mut fault: InvocationError) -> InvocationError {
        fault.detail += &self.exchange.inbox.failures.details();
        fault.detail = self.masks().text(&fault.detail);
        fault
    }

    /// Says goodbye, and waits until the server has ended, if it was started for this.
    pub(super) async fn close(self) {
        let goodbyes = &self.exchange.goodbyes;
        goodbyes.close();
        let _ = timeout(GOODBYE, goodbyes.wait()).await;
        // A server that no longer reads is stopped as well.
        let _ = timeout(GOODBYE, self.exchange.wire.close()).await;
        if let Some(mut server) = self.server {
            server.end().await;
        }
    }
}

/// Ends what belongs to a connection when it is dropped: its tasks, and its session.
struct ConnectionEnd(Exchange);

impl Drop for ConnectionEnd {
    fn drop(&mut self) {
        self.0.inbox.close();
        // Without a runtime there is no connection either.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            let wire = self.0.wire.clone();
            runtime.spawn(async move {
                let _ = timeout(GOODBYE, wire.close()).await;
            });
        }
    }
}

fn late(request: &str, limit: Duration) -> String {
    format!("it did not answer `{request}` within {} seconds", limit.as_secs_f32())
}

/// How a server did not answer a request. `ended` is how its process ended, if it did.
fn hung_up(request: &str, ended: Option<ExitStatus>) -> String {
    match ended {
        Some(status) => format!("it ended before it answered `{request}` ({status})"),
        None => format!("it hung up before it answered `{request}`"),
    }
}
