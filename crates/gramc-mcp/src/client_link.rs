//! The client, as the MCP servers behind the library see it.

use std::collections::VecDeque;
use std::sync::{Arc, Weak};

use futures_util::future::BoxFuture;
use gramc_tools::{RpcError, SessionClient};
use parking_lot::Mutex;
use serde_json::{Map, Value};
use tokio::sync::broadcast;
use tokio_util::sync::CancellationToken;

use crate::outbox::Outbox;
use crate::peer::Peer;
use crate::protocol::{ClientIntroduction, METHOD_NOT_FOUND};
use crate::questions::RequestClient;
use crate::request_context::RequestContext;

/// Maximum number of changes that a subscriber may not have received yet.
const MAX_CHANGES: usize = 64;

/// A notification of a change: its method and its parameters.
pub(crate) type Change = (String, Option<Value>);

pub(crate) struct ClientLink {
    introduction: Arc<ClientIntroduction>,
    /// Nothing from revision 2026-07-28 on: clients are asked within their requests, and only get the
    /// notifications that they subscribe to.
    peer: Option<Arc<Peer>>,
    changes: broadcast::Sender<Change>,
    /// Cancelled when the client takes messages: it has introduced itself.
    ready: CancellationToken,
    /// The notifications until then, in order.
    waiting: Mutex<VecDeque<Change>>,
    /// Locked while they are sent.
    readying: tokio::sync::Mutex<()>,
    /// The requests of the client that are not answered yet, in order.
    open: Mutex<Vec<Arc<RequestEntry>>>,
    /// The same from revision 2026-07-28 on: servers of earlier revisions ask the client within them.
    asking: Mutex<Vec<Weak<RequestClient>>>,
}

struct RequestEntry {
    progress_token: Option<Value>,
    outbox: Outbox,
}

/// A request of the client that is not answered yet.
pub(crate) struct ClientRequest {
    link: Arc<ClientLink>,
    entry: Arc<RequestEntry>,
}

impl Drop for ClientRequest {
    fn drop(&mut self) {
        self.link.open.lock().retain(|open| !Arc::ptr_eq(open, &self.entry));
    }
}

impl ClientLink {
    pub(crate) fn changes() -> broadcast::Sender<Change> {
        broadcast::Sender::new(MAX_CHANGES)
    }

    /// A client that can be addressed if it has a peer: if it began with `initialize`.
    pub(crate) fn new(
        introduction: Arc<ClientIntroduction>,
        peer: Option<Arc<Peer>>,
        changes: broadcast::Sender<Change>,
    ) -> Self {
        Self {
            introduction,
            peer,
            changes,
            ready: CancellationToken::new(),
            waiting: Mutex::default(),
            readying: tokio::sync::Mutex::default(),
            open: Mutex::default(),
            asking: Mutex::default(),
        }
    }

    /// The client takes messages from now on, and gets those that waited.
    pub(crate) async fn become_ready(&self) {
        if self.peer.is_none() || self.ready.is_cancelled() {
            return;
        }
        let _turn = self.readying.lock().await;
        loop {
            let (method, params) = {
                let mut waiting = self.waiting.lock();
                match waiting.pop_front() {
                    Some(next) => next,
                    None => return self.ready.cancel(),
                }
            };
            self.tell(&method, params).await;
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
            waiting.push_back((method.to_owned(), params.cloned()));
        }
        false
    }

    /// Records a request of the client within which it can be asked.
    pub(crate) fn begins(&self, client: &Arc<RequestClient>) {
        let mut asking = self.asking.lock();
        asking.retain(|known| known.strong_count() > 0);
        asking.push(Arc::downgrade(client));
    }

    /// The last request of the client within which it can be asked.
    fn asking_request(&self) -> Option<Arc<RequestClient>> {
        self.asking.lock().iter().rev().find_map(Weak::upgrade)
    }

    /// Records a request of the client until it is answered.
    pub(crate) fn open(self: &Arc<Self>, context: &RequestContext) -> ClientRequest {
        let (progress_token, outbox) = (context.progress_token(), context.outbox.clone());
        let entry = Arc::new(RequestEntry { progress_token, outbox });
        self.open.lock().push(Arc::clone(&entry));
        ClientRequest { link: Arc::clone(self), entry }
    }

    /// Sends a notification to the client, if it can be addressed. Progress travels with the response
    /// to its request.
    pub(crate) async fn tell(&self, method: &str, params: Option<Value>) {
        let Some(peer) = &self.peer else { return };
        let of_request = match (method, &params) {
            ("notifications/progress", Some(params)) => {
                let token = Some(&params["progressToken"]);
                let open = self.open.lock();
                let request = open.iter().find(|open| open.progress_token.as_ref() == token);
                request.map(|request| request.outbox.clone())
            }
            _ => None,
        };
        of_request.as_ref().unwrap_or(&peer.outbox).notify(method, params).await;
    }

    /// Asks the client, and gives its result. Over HTTP, the question travels with the response to
    /// the request `within`. If the future is dropped, the question is cancelled.
    async fn ask(
        &self,
        within: Option<Outbox>,
        method: String,
        params: Option<Value>,
    ) -> Result<Value, RpcError> {
        let not_found = || RpcError::new(METHOD_NOT_FOUND, "the client cannot be asked");
        let peer = self.peer.as_ref().ok_or_else(not_found)?;
        self.ready.cancelled().await;
        peer.ask(within.as_ref(), method, params).await
    }
}

impl SessionClient for ClientLink {
    fn capabilities(&self) -> Map<String, Value> {
        self.introduction.capabilities.clone()
    }

    fn info(&self) -> Option<Value> {
        self.introduction.info.clone()
    }

    fn initialize_params(&self) -> Option<Map<String, Value>> {
        self.introduction.params.clone()
    }

    fn hears(&self) -> bool {
        self.peer.is_some() || self.asking_request().is_some()
    }

    fn is_modern(&self) -> bool {
        self.peer.is_none()
    }

    fn notify(&self, method: String, params: Option<Value>) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            // There may be no subscribers.
            let _ = self.changes.send((method.clone(), params.clone()));
            if method == "notifications/message"
                && let Some(request) = self.asking_request()
            {
                return request.notify(method, params).await;
            }
            if self.is_ready_for(&method, params.as_ref()) {
                self.tell(&method, params).await;
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
        if let Some(client) = self.asking_request() {
            return Box::pin(async move { client.ask(key, method, params).await });
        }
        let within = self.open.lock().last().map(|open| open.outbox.clone());
        Box::pin(self.ask(within, method, params))
    }
}

impl SessionClient for ClientRequest {
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
        Box::pin(self.link.ask(Some(self.entry.outbox.clone()), method, params))
    }
}
