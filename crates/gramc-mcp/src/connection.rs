//! A connection to one client.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, OnceLock};

use futures_util::future::BoxFuture;
use gramc_tools::RpcError;
use parking_lot::{Mutex, RwLock};
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use crate::client::{library_servers, session_servers};
use crate::conversation::Conversation;
use crate::offer::Offer;
use crate::outbox::Outbox;
use crate::peer::Peer;
use crate::protocol::{
    Answer, ClientIntroduction, INVALID_PARAMS, INVALID_REQUEST, MISSING_CAPABILITY,
    RESOURCE_NOT_FOUND, REVISION_KEY, REVISIONS, TASKS_EXTENSION, has_tasks, not_found,
};
use crate::questions::RequestClient;
use crate::request::{IncomingRequest, with_hints};
use crate::request_context::RequestContext;
use crate::{Server, subscription, upstream};

/// Serves one connection, one HTTP session, or one request of a client without a session.
pub(crate) struct ClientConnection {
    server: Server,
    own: Arc<OwnConversation>,
    peer: Arc<Peer>,
    /// What the client said in `initialize`.
    introduction: OnceLock<Arc<ClientIntroduction>>,
    /// The requests that are not answered yet, by their ids.
    running: Mutex<HashMap<String, CancellationToken>>,
    /// Cancelled when the client says nothing any more.
    over: CancellationToken,
    is_sessionless: bool,
    /// The id of the HTTP session.
    session: Option<Arc<str>>,
}

/// The conversation of a connection, once its client is known.
#[derive(Default)]
pub(crate) struct OwnConversation {
    current: RwLock<Option<Arc<Conversation>>>,
    /// Locked while the conversation begins.
    beginning: tokio::sync::Mutex<()>,
}

impl OwnConversation {
    pub(crate) fn current(&self) -> Option<Arc<Conversation>> {
        self.current.read().clone()
    }

    /// Ends its MCP servers.
    pub(crate) async fn close(&self) {
        let current = self.current.write().take();
        if let Some(conversation) = current {
            conversation.close().await;
        }
    }
}

impl ClientConnection {
    /// A connection whose messages that belong to no request go to an outbox.
    pub(crate) fn new(server: &Server, outbox: Outbox) -> Arc<Self> {
        Arc::new(Self::with_conversation(server, outbox, Arc::default()))
    }

    /// The connection of an HTTP session.
    pub(crate) fn of_session(server: &Server, outbox: Outbox, id: Arc<str>) -> Arc<Self> {
        let session = Some(id);
        Arc::new(Self { session, ..Self::with_conversation(server, outbox, Arc::default()) })
    }

    /// A connection for one request of a client without a session.
    pub(crate) fn sessionless(server: &Server, outbox: Outbox) -> Arc<Self> {
        let own = Arc::clone(&server.0.sessionless);
        Arc::new(Self { is_sessionless: true, ..Self::with_conversation(server, outbox, own) })
    }

    fn with_conversation(server: &Server, outbox: Outbox, own: Arc<OwnConversation>) -> Self {
        Self {
            server: server.clone(),
            own,
            peer: Peer::new(outbox),
            introduction: OnceLock::new(),
            running: Mutex::default(),
            over: CancellationToken::new(),
            is_sessionless: false,
            session: None,
        }
    }

    /// The revision of the protocol, if the client has sent `initialize`.
    pub(crate) fn revision(&self) -> Option<&str> {
        self.introduction.get().map(|it| it.revision.as_str())
    }

    pub(crate) fn is_busy(&self) -> bool {
        !self.running.lock().is_empty()
    }

    /// Cancels the requests that are not answered yet.
    pub(crate) fn cancel_all(&self) {
        self.running.lock().values().for_each(CancellationToken::cancel);
    }

    /// The client says nothing any more: no question is answered, and subscriptions end.
    pub(crate) fn end_input(&self) {
        self.peer.end();
        self.over.cancel();
    }

    /// Ends the connection, with the MCP servers that belong to it.
    pub(crate) async fn close(&self) {
        self.cancel_all();
        self.end_input();
        if !self.is_sessionless {
            self.own.close().await;
        }
    }

    /// Begins a request. The client can cancel it from now on.
    pub(crate) fn begin(
        self: &Arc<Self>,
        id: Value,
        method: String,
        params: Option<Value>,
        outbox: Outbox,
    ) -> Result<BegunRequest, RpcError> {
        let params = params.unwrap_or_else(|| json!({}));
        let context = self.context(id, &method, &params, outbox)?;
        let key = context.id.to_string();
        match self.running.lock().entry(key.clone()) {
            Entry::Occupied(_) => {
                let message = "a request with this `id` is not answered yet";
                return Err(RpcError::new(INVALID_REQUEST, message));
            }
            Entry::Vacant(entry) => drop(entry.insert(context.cancelled.clone())),
        }
        let running = RunningEntry { connection: Arc::clone(self), key };
        Ok(BegunRequest { running, method, params, context })
    }

    fn context(
        &self,
        id: Value,
        method: &str,
        params: &Value,
        outbox: Outbox,
    ) -> Result<RequestContext, RpcError> {
        let meta = params["_meta"].as_object().cloned().unwrap_or_default();
        let introduction = if method == "initialize" {
            Arc::clone(
                self.introduction
                    .get_or_init(|| Arc::new(ClientIntroduction::of_initialize(params))),
            )
        } else if let Some(known) = self.introduction.get()
            && !meta.contains_key(REVISION_KEY)
            && method != "server/discover"
        {
            Arc::clone(known)
        } else if method == "ping" && !meta.contains_key(REVISION_KEY) {
            // The only request that may precede `initialize`.
            Arc::new(ClientIntroduction::of_initialize(&Value::Null))
        } else {
            Arc::new(ClientIntroduction::of_request(&meta)?)
        };
        let peer = (!introduction.is_modern()).then(|| Arc::clone(&self.peer));
        let over = self.over.clone();
        Ok(RequestContext {
            over,
            id,
            meta,
            introduction,
            is_sessionless: self.is_sessionless,
            session: self.session.clone(),
            peer,
            outbox,
            cancelled: CancellationToken::new(),
        })
    }

    async fn dispatch(&self, method: &str, params: Value, context: RequestContext) -> Answer {
        match (method, context.is_modern()) {
            ("ping", false) => return Ok(json!({})),
            ("server/discover", _) => return self.discover(&context).await,
            ("subscriptions/listen", true) => {
                let conversation = self.conversation(&context).await?;
                let introduction = introduce(&conversation.offer, true);
                let sources = conversation.change_sources();
                return Ok(subscription::listen(sources, &introduction, &params, &context).await);
            }
            ("tasks/get" | "tasks/update" | "tasks/cancel", true) => {
                return self.answer_of_task(method, params, &context);
            }
            _ => {}
        }
        let conversation = self.conversation(&context).await?;
        let link = Arc::clone(&conversation.client);
        link.become_ready().await;
        let server = self.server.clone();
        if !context.is_modern() {
            let client = Arc::new(link.open(&context));
            let request = IncomingRequest { server, conversation, client, context };
            return request.answer(method, params).await;
        }
        let (name, is_sessionless) = (method.to_owned(), self.is_sessionless);
        let begin = |client: Arc<RequestClient>, context, params| -> BoxFuture<'static, Answer> {
            // What servers say within the requests of a shared conversation is for nobody in particular.
            if !is_sessionless {
                link.begins(&client);
            }
            let request = IncomingRequest { server, conversation, client, context };
            Box::pin(async move { request.answer(&name, params).await })
        };
        self.server.0.resting.answer(method, params, &context, begin).await
    }

    /// The conversation that a request belongs to. It begins again if the tools have changed.
    async fn conversation(&self, context: &RequestContext) -> Result<Arc<Conversation>, RpcError> {
        let own = &self.own;
        let is_current = |known: &Arc<Conversation>| !known.has_changed();
        if let Some(known) = own.current().filter(is_current) {
            return Ok(known);
        }
        let _beginning = own.beginning.lock().await;
        let known = own.current();
        if let Some(known) = known.as_ref().filter(|known| is_current(known)) {
            return Ok(Arc::clone(known));
        }
        let begun = Conversation::begin(&self.server.0, context, known.as_deref()).await?;
        *own.current.write() = Some(Arc::clone(&begun));
        Ok(begun)
    }

    async fn initialize(&self, context: &RequestContext) -> Answer {
        let conversation = self.conversation(context).await?;
        let mut result = introduce(&conversation.offer, false);
        let revision = context.introduction.revision.as_str();
        result.shift_insert(0, "protocolVersion".to_owned(), revision.into());
        Ok(result.into())
    }

    async fn discover(&self, context: &RequestContext) -> Answer {
        let conversation = self.conversation(context).await?;
        let mut result = introduce(&conversation.offer, true);
        result.insert("supportedVersions".to_owned(), json!(REVISIONS));
        Ok(with_hints(result.into(), true))
    }

    fn answer_of_task(&self, method: &str, mut params: Value, context: &RequestContext) -> Answer {
        if !has_tasks(&context.introduction.capabilities) {
            let required = json!({"extensions": {TASKS_EXTENSION: {}}});
            let error = RpcError::new(MISSING_CAPABILITY, "Missing required client capability");
            return Err(error.with_data(json!({ "requiredCapabilities": required })));
        }
        let tasks = &self.server.0.resting.tasks;
        let answers = params["inputResponses"].take();
        let id = params["taskId"].as_str().unwrap_or_default();
        match method {
            "tasks/get" => tasks.get(id),
            "tasks/update" => tasks.update(id, answers),
            "tasks/cancel" => tasks.cancel(id),
            _ => Err(not_found(method)),
        }
    }

    /// Hears a notification of the client.
    pub(crate) async fn hear(&self, method: &str, params: Option<Value>) {
        if method == "notifications/cancelled" {
            let id = params.as_ref().map(|params| params["requestId"].to_string());
            if let Some(request) = id.and_then(|id| self.running.lock().get(&id).cloned()) {
                request.cancel();
            }
            return;
        }
        let Some(conversation) = self.own.current() else { return };
        if method == "notifications/initialized" {
            conversation.client.become_ready().await;
            return;
        }
        for server in session_servers(&conversation.session) {
            server.server.notify(method, params.clone()).await;
        }
    }

    /// Passes an answer of the client to a question on.
    pub(crate) fn take_answer(&self, id: &Value, outcome: Result<Value, RpcError>) {
        self.peer.answer(id, outcome);
    }
}

/// A request that is not answered yet.
pub(crate) struct BegunRequest {
    running: RunningEntry,
    method: String,
    params: Value,
    context: RequestContext,
}

/// A request in the list of those that are not answered yet.
struct RunningEntry {
    connection: Arc<ClientConnection>,
    key: String,
}

impl Drop for RunningEntry {
    fn drop(&mut self) {
        self.connection.running.lock().remove(&self.key);
    }
}

impl BegunRequest {
    /// Answers the request, unless the client cancels it.
    pub(crate) async fn answer(self) -> Option<Answer> {
        let Self { running, method, params, context } = self;
        let connection = &running.connection;
        if method == "initialize" {
            return Some(connection.initialize(&context).await);
        }
        let (cancelled, is_modern) = (context.cancelled.clone(), context.is_modern());
        let answer = connection.dispatch(&method, params, context).await;
        if cancelled.is_cancelled() {
            return None;
        }
        Some(answer.map_err(|error| match error.code {
            RESOURCE_NOT_FOUND if is_modern => RpcError { code: INVALID_PARAMS, ..error },
            _ => error,
        }))
    }
}

/// The answer to a request, or the reason why it does not begin.
pub(crate) async fn answer(begun: Result<BegunRequest, RpcError>) -> Option<Answer> {
    match begun {
        Ok(begun) => begun.answer().await,
        Err(error) => Some(Err(error)),
    }
}

/// What a client learns about the server: its capabilities, its name, and how to use it.
fn introduce(offer: &Offer, is_modern: bool) -> Map<String, Value> {
    let servers = library_servers(&offer.bound);
    let mut introduction = upstream::introduce(servers, is_modern);
    let usage = if offer.finder.is_some() {
        Some("Find tools with `find_tools`, then call them with `call_tool`.")
    } else if offer.catalog.has_containers() {
        Some(
            "Some tools are containers of functions, according to their descriptions. Call a \
             container without arguments first to list its functions, then call them.",
        )
    } else {
        None
    };
    let texts = usage.map(str::to_owned).into_iter().chain(upstream::instructions(servers));
    let texts: Vec<_> = texts.collect();
    if !texts.is_empty() {
        introduction.insert("instructions".to_owned(), texts.join("\n\n").into());
    }
    introduction
}
