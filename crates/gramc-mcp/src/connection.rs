//! A connection to one client.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use gramc_tools::Callers;
use gramc_tools::invocation::RequestOrigin;
use rmcp::model::{
    CancelTaskParams, CustomNotification, CustomRequest, CustomResult, Extensions, GetTaskParams,
    GetTaskResult, Implementation, ServerConfig, SubscriptionFilter, UpdateTaskParams,
};
use rmcp::service::{
    NotificationContext, RequestContext, RoleServer, SubscriptionContext, SubscriptionSendError,
    SubscriptionSink,
};
use rmcp::{ErrorData, ServerHandler};
use serde_json::json;

use crate::client::session_servers;
use crate::client_link::Change;
use crate::conversation::Conversation;
use crate::protocol::{is_modern, is_sessionless};
use crate::questions::{Answer, RequestClient};
use crate::request::IncomingRequest;
use crate::{Server, ServerInner, upstream};

/// Serves one connection, or one request of a client without a session.
pub(crate) struct Connection {
    server: Server,
    own: Arc<Conversation>,
}

impl Connection {
    pub(crate) fn new(server: &Server) -> Self {
        let ServerInner { bound, catalog, approvals, scope, .. } = &*server.0;
        let callers = Callers::default();
        let own = Arc::new(Conversation::new(bound, catalog, approvals, scope.as_deref(), callers));
        Self { server: server.clone(), own }
    }

    pub(crate) fn own_conversation(&self) -> Arc<Conversation> {
        Arc::clone(&self.own)
    }

    /// The conversation that a request belongs to.
    fn conversation(&self, extensions: &Extensions) -> &Arc<Conversation> {
        if is_sessionless(extensions) { &self.server.0.sessionless } else { &self.own }
    }
}

impl ServerHandler for Connection {
    fn get_info(&self) -> ServerConfig {
        let ServerInner { bound, catalog, finder, .. } = &*self.server.0;
        let own = || Implementation::new("gramc", env!("CARGO_PKG_VERSION"));
        let mut info = ServerConfig::new(upstream::capabilities(bound))
            .with_server_info(upstream::server_info(bound).unwrap_or_else(own));
        let usage = if finder.is_some() {
            Some("Find tools with `find_tools`, then call them with `call_tool`.")
        } else if catalog.has_containers() {
            Some(
                "Some tools are containers of functions, according to their descriptions. Call a \
                 container without arguments first to list its functions, then call them.",
            )
        } else {
            None
        };
        let texts = [usage.map(str::to_owned), upstream::instructions(bound)];
        let texts: Vec<_> = texts.into_iter().flatten().collect();
        if !texts.is_empty() {
            info = info.with_instructions(texts.join("\n\n"));
        }
        info
    }

    /// Handles calls, including those that rmcp cannot parse, such as those with text as arguments.
    /// They are checked like other calls, so the model gets an error that it can correct. Handles
    /// requests that MCP servers answer, too: rmcp would drop unknown keys of their results.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let conversation = Arc::clone(self.conversation(&context.extensions));
        let link = Arc::clone(conversation.client(&context, is_sessionless(&context.extensions)));
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

    async fn on_roots_list_changed(&self, context: NotificationContext<RoleServer>) {
        for server in session_servers(&self.conversation(&context.extensions).session) {
            server.server.notify("notifications/roots/list_changed", None).await;
        }
    }

    async fn on_custom_notification(
        &self,
        notification: CustomNotification,
        context: NotificationContext<RoleServer>,
    ) {
        let CustomNotification { method, params, .. } = notification;
        for server in session_servers(&self.conversation(&context.extensions).session) {
            server.server.notify(&method, params.clone()).await;
        }
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
        let conversation = self.conversation(&request.extensions);
        conversation.client(request, is_sessionless(&request.extensions));
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
        "notifications/resources/list_changed" => sink.notify_resource_list_changed().await,
        "notifications/prompts/list_changed" => sink.notify_prompt_list_changed().await,
        "notifications/resources/updated" => {
            let uri = params.as_ref().and_then(|params| params["uri"].as_str());
            sink.notify_resource_updated(uri.unwrap_or_default()).await
        }
        _ => Ok(()),
    }
}
