//! The client, as the MCP servers behind the library see it.

use std::sync::{Arc, Weak};
use std::time::Duration;

use futures_util::future::BoxFuture;
use gramc_tools::{RpcError, SessionClient};
use parking_lot::Mutex;
use rmcp::model::{
    CustomNotification, CustomRequest, ErrorCode, RequestId, ServerNotification, ServerRequest,
};
use rmcp::service::{
    OriginatingRequestId, Peer, PeerRequestOptions, RequestContext, RequestHandle, RoleServer,
    ServiceError,
};
use serde_json::{Map, Value, json};
use tokio::sync::broadcast;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::protocol::to_rpc_error;
use crate::questions::RequestClient;

/// Maximum time for the client to take a notification or a cancellation.
const MAX_SEND_TIME: Duration = Duration::from_secs(10);
/// Maximum time for the client to answer a request, which may be a question to a person.
pub(crate) const MAX_ANSWER_TIME: Duration = Duration::from_hours(1);
/// Maximum number of changes that a subscriber may not have received yet.
const MAX_CHANGES: usize = 64;

/// A notification of a change: its method and its parameters.
pub(crate) type Change = (String, Option<Value>);

pub(crate) struct ClientLink {
    capabilities: Map<String, Value>,
    info: Option<Value>,
    /// Nothing from revision 2026-07-28 on: clients are asked within their requests, and only get the
    /// notifications that they subscribe to.
    peer: Option<Peer<RoleServer>>,
    changes: broadcast::Sender<Change>,
    /// Cancelled when the client takes messages: it has introduced itself.
    ready: CancellationToken,
    /// The notifications until then, in order.
    waiting: Mutex<Vec<Change>>,
    /// The requests of the client that are not answered yet, in order.
    open: Mutex<Vec<RequestId>>,
    /// The same from revision 2026-07-28 on: servers of earlier revisions ask the client within them.
    asking: Mutex<Vec<Weak<RequestClient>>>,
}

pub(crate) fn capabilities_of(context: &RequestContext<RoleServer>) -> Map<String, Value> {
    // While the client introduces itself, rmcp does not know yet which of both counts.
    let introduced = || Some(context.peer.peer_info()?.capabilities.clone());
    match serde_json::to_value(context.client_capabilities().or_else(introduced)) {
        Ok(Value::Object(capabilities)) => capabilities,
        _ => Map::new(),
    }
}

/// The name and the version of the client, as it announced them.
pub(crate) fn client_info_of(context: &RequestContext<RoleServer>) -> Option<Value> {
    let introduced = || Some(context.peer.peer_info()?.client_info.clone());
    serde_json::to_value(context.client_info().or_else(introduced)?).ok()
}

/// A request of the client that is not answered yet.
pub(crate) struct OpenRequest {
    link: Arc<ClientLink>,
    id: RequestId,
}

impl Drop for OpenRequest {
    fn drop(&mut self) {
        self.link.open.lock().retain(|id| *id != self.id);
    }
}

impl ClientLink {
    pub(crate) fn changes() -> broadcast::Sender<Change> {
        broadcast::Sender::new(MAX_CHANGES)
    }

    /// A client that can be addressed.
    pub(crate) fn new(
        context: &RequestContext<RoleServer>,
        changes: &broadcast::Sender<Change>,
    ) -> Self {
        let client = Self::subscriber(capabilities_of(context), client_info_of(context), changes);
        Self { peer: Some(context.peer.clone()), ..client }
    }

    /// A client of revision 2026-07-28 or a later one, with the capabilities that it has for servers of
    /// earlier revisions.
    pub(crate) fn subscriber(
        capabilities: Map<String, Value>,
        info: Option<Value>,
        changes: &broadcast::Sender<Change>,
    ) -> Self {
        let (open, asking, waiting) = (Mutex::default(), Mutex::default(), Mutex::default());
        let ready = CancellationToken::new();
        Self {
            capabilities,
            info,
            peer: None,
            changes: changes.clone(),
            ready,
            waiting,
            open,
            asking,
        }
    }

    /// The client takes messages from now on, and gets those that waited.
    pub(crate) async fn become_ready(&self) {
        let Some(peer) = self.peer.as_ref().filter(|_| !self.ready.is_cancelled()) else { return };
        loop {
            let waiting = {
                let mut waiting = self.waiting.lock();
                if waiting.is_empty() {
                    return self.ready.cancel();
                }
                std::mem::take(&mut *waiting)
            };
            for (method, params) in waiting {
                send_notification(peer, method, params).await;
            }
        }
    }

    /// Keeps a notification until the client takes it. Returns whether it does so already.
    fn is_ready_for(&self, method: &str, params: Option<&Value>) -> bool {
        let mut waiting = self.waiting.lock();
        if self.ready.is_cancelled() {
            return true;
        }
        // It has seen no list yet that could change.
        if !method.ends_with("/list_changed") && waiting.len() < MAX_CHANGES {
            waiting.push((method.to_owned(), params.cloned()));
        }
        false
    }

    /// Records a request of the client within which it can be asked.
    pub(crate) fn begins(&self, client: &Arc<RequestClient>) {
        let mut asking = self.asking.lock();
        asking.retain(|known| known.strong_count() > 0);
        asking.push(Arc::downgrade(client));
    }

    /// Records a request of the client until it is answered.
    pub(crate) fn open(self: &Arc<Self>, id: &RequestId) -> OpenRequest {
        self.open.lock().push(id.clone());
        OpenRequest { link: Arc::clone(self), id: id.clone() }
    }

    /// Asks the client, and gives its result. Over HTTP, the question travels with the response to
    /// the request `origin`. If the future is dropped, the question is cancelled.
    async fn ask(
        &self,
        origin: Option<RequestId>,
        method: String,
        params: Option<Value>,
    ) -> Result<Value, RpcError> {
        let not_found = || error(ErrorCode::METHOD_NOT_FOUND, "the client cannot be asked");
        let peer = self.peer.as_ref().ok_or_else(not_found)?;
        self.ready.cancelled().await;
        let mut request = CustomRequest::new(method, Some(params.unwrap_or_else(|| json!({}))));
        if let Some(origin) = origin {
            request.extensions.insert(OriginatingRequestId(origin));
        }
        let request = ServerRequest::CustomRequest(request);
        let sent = peer.send_request_with_option(request, PeerRequestOptions::no_options()).await;
        let mut question = Question(Some(sent.map_err(no_answer)?));
        let Some(handle) = &mut question.0 else { return Err(no_answer_in_time()) };
        let answer = timeout(MAX_ANSWER_TIME, &mut handle.rx).await;
        let answer = answer.map_err(|_| no_answer_in_time())?;
        question.0 = None;
        let result = answer.map_err(|_| no_answer(ServiceError::TransportClosed))?;
        // The keys of results are strings, so serialization cannot fail.
        Ok(serde_json::to_value(result.map_err(no_answer)?).unwrap_or_default())
    }
}

/// A question to the client, which is cancelled if nothing waits for the answer.
struct Question(Option<RequestHandle<RoleServer>>);

impl Drop for Question {
    fn drop(&mut self) {
        let Some(handle) = self.0.take() else { return };
        // Without a runtime there is no connection either.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move {
                let reason = "the server no longer waits for the answer".to_owned();
                let _ = timeout(MAX_SEND_TIME, handle.cancel(Some(reason))).await;
            });
        }
    }
}

pub(crate) async fn send_notification(
    peer: &Peer<RoleServer>,
    method: String,
    params: Option<Value>,
) {
    let known = if method == "notifications/progress" {
        // Its type tells rmcp which response it belongs to.
        let text = json!({"method": method, "params": params});
        serde_json::from_value::<ServerNotification>(text).ok()
    } else {
        None
    };
    let notification = known.unwrap_or_else(|| {
        // Without parameters, rmcp would send null, which is invalid.
        let params = params.unwrap_or_else(|| json!({}));
        ServerNotification::CustomNotification(CustomNotification::new(method, Some(params)))
    });
    // The client may have disconnected.
    let _ = timeout(MAX_SEND_TIME, peer.send_notification(notification)).await;
}

fn error(code: ErrorCode, message: &str) -> RpcError {
    RpcError::new(code.0, message)
}

fn no_answer_in_time() -> RpcError {
    error(ErrorCode::INTERNAL_ERROR, "the client did not answer in time")
}

fn no_answer(failure: ServiceError) -> RpcError {
    match failure {
        ServiceError::McpError(error) => to_rpc_error(error),
        _ => error(ErrorCode::INTERNAL_ERROR, "the client did not answer"),
    }
}

impl SessionClient for ClientLink {
    fn capabilities(&self) -> Map<String, Value> {
        self.capabilities.clone()
    }

    fn info(&self) -> Option<Value> {
        self.info.clone()
    }

    fn hears(&self) -> bool {
        self.peer.is_some()
    }

    fn is_modern(&self) -> bool {
        self.peer.is_none()
    }

    fn notify(&self, method: String, params: Option<Value>) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            // There may be no subscribers.
            let _ = self.changes.send((method.clone(), params.clone()));
            if let Some(peer) = &self.peer
                && self.is_ready_for(&method, params.as_ref())
            {
                send_notification(peer, method, params).await;
            }
        })
    }

    fn request(
        &self,
        key: String,
        method: String,
        params: Option<Value>,
    ) -> BoxFuture<'_, Result<Value, RpcError>> {
        // Any request that is not answered may be the one that the question belongs to.
        let within = self.asking.lock().iter().rev().find_map(Weak::upgrade);
        if let Some(client) = within {
            return Box::pin(async move { client.ask(key, method, params).await });
        }
        let origin = self.open.lock().last().cloned();
        Box::pin(self.ask(origin, method, params))
    }
}

impl SessionClient for OpenRequest {
    fn capabilities(&self) -> Map<String, Value> {
        self.link.capabilities()
    }

    fn info(&self) -> Option<Value> {
        self.link.info()
    }

    fn hears(&self) -> bool {
        self.link.hears()
    }

    fn notify(&self, method: String, params: Option<Value>) -> BoxFuture<'_, ()> {
        self.link.notify(method, params)
    }

    fn request(
        &self,
        _: String,
        method: String,
        params: Option<Value>,
    ) -> BoxFuture<'_, Result<Value, RpcError>> {
        Box::pin(self.link.ask(Some(self.id.clone()), method, params))
    }
}
