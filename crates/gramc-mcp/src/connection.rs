//! A connection to one client.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use gramc_tools::invocation::RequestOrigin;
use parking_lot::RwLock;
use rmcp::model::{
    CancelTaskParams, CustomNotification, CustomRequest, CustomResult, DiscoverResult, Extensions,
    GetTaskParams, GetTaskResult, Implementation, InitializeRequestParams, InitializeResult,
    ServerConfig, SubscriptionFilter, UpdateTaskParams,
};
use rmcp::service::{
    NotificationContext, RequestContext, RoleServer, SubscriptionContext, SubscriptionSendError,
    SubscriptionSink,
};
use rmcp::{ErrorData, ServerHandler};
use serde_json::{Value, json};
use tokio::sync::Mutex;

use crate::client::{library_servers, session_servers};
use crate::client_link::Change;
use crate::conversation::Conversation;
use crate::offer::{Offer, OfferSource};
use crate::protocol::{is_modern, is_sessionless};
use crate::questions::{Answer, RequestClient};
use crate::request::IncomingRequest;
use crate::{Server, upstream};

/// Serves one connection, or one request of a client without a session.
pub(crate) struct Connection {
    server: Server,
    own: Arc<OwnConversation>,
}

/// The conversation of a connection, once its client is known.
#[derive(Default)]
pub(crate) struct OwnConversation {
    current: RwLock<Option<Arc<Conversation>>>,
    /// Locked while the conversation begins.
    beginning: Mutex<()>,
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

impl Connection {
    pub(crate) fn new(server: &Server) -> Self {
        Self { server: server.clone(), own: Arc::default() }
    }

    pub(crate) fn own_conversation(&self) -> Arc<OwnConversation> {
        Arc::clone(&self.own)
    }

    /// Where the conversation of a request is.
    fn place(&self, extensions: &Extensions) -> &OwnConversation {
        if is_sessionless(extensions) { &self.server.0.sessionless } else { &self.own }
    }

    /// The conversation that a request belongs to. It begins again if the tools have changed.
    async fn conversation(
        &self,
        context: &RequestContext<RoleServer>,
    ) -> Result<Arc<Conversation>, ErrorData> {
        let own = self.place(&context.extensions);
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

    /// Passes a notification of the client to its MCP servers.
    async fn notify_servers(&self, extensions: &Extensions, method: &str, params: Option<Value>) {
        let Some(conversation) = self.place(extensions).current() else { return };
        for server in session_servers(&conversation.session) {
            server.server.notify(method, params.clone()).await;
        }
    }
}

/// What a client learns about the server.
fn server_config(offer: Option<&Offer>) -> ServerConfig {
    let servers = offer.map_or(&[][..], |offer| library_servers(&offer.bound));
    let own = || Implementation::new("gramc", env!("CARGO_PKG_VERSION"));
    let info = ServerConfig::new(upstream::capabilities(servers))
        .with_server_info(upstream::server_info(servers).unwrap_or_else(own));
    let usage = if offer.is_some_and(|offer| offer.finder.is_some()) {
        Some("Find tools with `find_tools`, then call them with `call_tool`.")
    } else if offer.is_some_and(|offer| offer.catalog.has_containers()) {
        Some(
            "Some tools are containers of functions, according to their descriptions. Call a \
             container without arguments first to list its functions, then call them.",
        )
    } else {
        None
    };
    let texts = usage.map(str::to_owned).into_iter().chain(upstream::instructions(servers));
    let texts: Vec<_> = texts.collect();
    if texts.is_empty() { info } else { info.with_instructions(texts.join("\n\n")) }
}

impl ServerHandler for Connection {
    fn get_info(&self) -> ServerConfig {
        let current = self.own.current();
        match (&current, &self.server.0.source) {
            (Some(known), _) => server_config(Some(&known.offer)),
            (None, OfferSource::Fixed(offer)) => server_config(Some(offer)),
            (None, OfferSource::Live { .. }) => server_config(None),
        }
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        context.peer.set_peer_info(request.clone());
        self.conversation(&context).await?;
        self.negotiate_initialize(&request)
    }

    async fn discover(
        &self,
        context: RequestContext<RoleServer>,
    ) -> Result<DiscoverResult, ErrorData> {
        let conversation = self.conversation(&context).await?;
        let versions = self.supported_protocol_versions().into_owned();
        Ok(DiscoverResult::from_server_info(versions, server_config(Some(&conversation.offer))))
    }

    /// Handles calls, including those that rmcp cannot parse, such as those with text as arguments.
    /// They are checked like other calls, so the model gets an error that it can correct. Handles
    /// requests that MCP servers answer, too: rmcp would drop unknown keys of their results.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let conversation = self.conversation(&context).await?;
        let link = Arc::clone(&conversation.client);
        link.become_ready().await;
        let (server, method) = (self.server.clone(), request.method);
        let params = request.params.unwrap_or_else(|| json!({}));
        if !is_modern(&context) {
            let client = Arc::new(link.open(&context.id));
            let request = IncomingRequest { server, conversation, client, context };
            return request.answer(&method, params).await.map(CustomResult::new);
        }
        let name = method.clone();
        let begin = |client: Arc<RequestClient>, context, params| -> BoxFuture<'static, Answer> {
            link.begins(&client);
            let request = IncomingRequest { server, conversation, client, context };
            Box::pin(async move { request.answer(&name, params).await })
        };
        let answer = self.server.0.resting.answer(&method, params, &context, begin).await;
        answer.map(CustomResult::new)
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        self.server.0.resting.tasks.get(&request.task_id).map(GetTaskResult::new)
    }

    async fn update_task(
        &self,
        request: UpdateTaskParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.server.0.resting.tasks.update(&request.task_id, request.input_responses)
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.server.0.resting.tasks.cancel(&request.task_id)
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        if let Some(conversation) = self.place(&context.extensions).current() {
            conversation.client.become_ready().await;
        }
    }

    async fn on_roots_list_changed(&self, context: NotificationContext<RoleServer>) {
        let method = "notifications/roots/list_changed";
        self.notify_servers(&context.extensions, method, None).await;
    }

    async fn on_custom_notification(
        &self,
        notification: CustomNotification,
        context: NotificationContext<RoleServer>,
    ) {
        let CustomNotification { method, params, .. } = notification;
        self.notify_servers(&context.extensions, &method, params).await;
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        // rmcp removes notifications that the server does not support.
        Some(requested.clone())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let request = context.request_context();
        let conversation = self.conversation(request).await?;
        let (mut tools, mut changes) =
            (conversation.visible.subscribe(), conversation.changes.subscribe());
        let upstream = conversation.upstream();
        let origin = RequestOrigin::default;
        let subscribed = context.accepted().resource_subscriptions.clone().unwrap_or_default();
        for uri in &subscribed {
            // The client hears of resources that its servers know.
            let _ = upstream.answer("resources/subscribe", json!({ "uri": uri }), origin()).await;
        }
        loop {
            let sent = tokio::select! {
                () = context.cancelled() => break,
                // The senders live as long as the conversation.
                _ = tools.changed() => context.sink().notify_tool_list_changed().await,
                change = changes.recv() => match change {
                    Ok(change) => notify_of(context.sink(), change).await,
                    Err(_) => Ok(()),
                },
            };
            match sent {
                Ok(()) | Err(SubscriptionSendError::NotificationNotAccepted(_)) => {}
                Err(_) => break,
            }
        }
        for uri in &subscribed {
            let _ = upstream.answer("resources/unsubscribe", json!({ "uri": uri }), origin()).await;
        }
        Ok(())
    }
}

/// Tells a subscriber of a change of an MCP server.
async fn notify_of(sink: &SubscriptionSink, change: Change) -> Result<(), SubscriptionSendError> {
    let (method, params) = change;
    match method.as_str() {
        "notifications/tools/list_changed" => sink.notify_tool_list_changed().await,
        "notifications/resources/list_changed" => sink.notify_resource_list_changed().await,
        "notifications/prompts/list_changed" => sink.notify_prompt_list_changed().await,
        "notifications/resources/updated" => {
            let uri = params.as_ref().and_then(|params| params["uri"].as_str());
            sink.notify_resource_updated(uri.unwrap_or_default()).await
        }
        _ => Ok(()),
    }
}
