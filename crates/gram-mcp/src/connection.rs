//! A connection to one client.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::http::request::Parts;
use gram_tools::approval::Approvals;
use gram_tools::{Admission, AdmittedCall, Bound, Call, CallError, Session, Verdict};
use rmcp::model::{
    ClientNotification, ClientRequest, CustomRequest, CustomResult, ErrorCode, Extensions,
    Implementation, ListToolsResult, PaginatedRequestParams, ProgressNotificationParam,
    ProgressToken, ProtocolVersion, ServerCapabilities, ServerConfig, ServerResult,
    SubscriptionFilter,
};
use rmcp::service::{
    NotificationContext, Peer, RequestContext, RoleServer, Service, SubscriptionContext,
};
use rmcp::{ErrorData, ServerHandler};
use serde::Serialize;
use serde_json::{Map, Value};
use tokio::sync::{Mutex, watch};

use crate::answer::answer;
use crate::approval::approve;
use crate::catalog::{Catalog, ResultKind};
use crate::{FinishedCall, Server, ServerInner};

/// Interval of progress notifications for a running call.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(1);
/// The header with the id of an HTTP session.
pub(crate) const SESSION_HEADER: &str = "mcp-session-id";

/// A session of the library and its visible tools.
#[derive(Debug)]
pub(crate) struct Conversation {
    session: Session,
    /// Number of visible tools and containers. Subscribers are notified when it changes.
    visible: watch::Sender<usize>,
    /// Locked while the client is asked for approval.
    questions: Mutex<()>,
}

impl Conversation {
    pub(crate) fn new(bound: &Bound, catalog: &Catalog, approvals: &Approvals) -> Self {
        let visible = watch::Sender::new(catalog.initial_count);
        let session = Session::new(bound).with_own_servers();
        let session = session.with_approvals(approvals.with_own_queue());
        Self { session, visible, questions: Mutex::default() }
    }

    /// Ends its MCP servers.
    pub(crate) async fn close(&self) {
        self.session.close().await;
    }

    fn visible(&self) -> HashSet<smol_str::SmolStr> {
        self.session.visible().into_iter().collect()
    }

    /// Notifies subscribers if a call changed the visible tools. Returns whether it did.
    fn notify_if_changed(&self, verdict: &Verdict) -> bool {
        let expanded = match &verdict.outcome {
            Ok(success) => success.result.as_ref().is_some_and(|it| it.get("expanded").is_some()),
            Err(
                CallError::ContainerInvocation { expanded, .. }
                | CallError::ContainerNotExpanded { expanded, .. },
            ) => *expanded,
            Err(_) => false,
        };
        // Counting is slow, so only calls that expand a container are checked.
        expanded
            && self.visible.send_if_modified(|count| {
                let before = std::mem::replace(count, self.session.visible().len());
                *count != before
            })
    }
}

/// Serves one connection, or one request of a client without a session.
#[derive(Debug)]
pub(crate) struct Connection {
    server: Server,
    own: Arc<Conversation>,
}

impl Connection {
    pub(crate) fn new(server: &Server) -> Self {
        let ServerInner { bound, catalog, approvals, .. } = &*server.0;
        let own = Arc::new(Conversation::new(bound, catalog, approvals));
        Self { server: server.clone(), own }
    }

    /// Its own conversation.
    pub(crate) fn own(&self) -> Arc<Conversation> {
        Arc::clone(&self.own)
    }

    /// The conversation that a request belongs to.
    fn conversation(&self, extensions: &Extensions) -> &Conversation {
        let parts = extensions.get::<Parts>();
        let sessionless = parts.is_some_and(|parts| !parts.headers.contains_key(SESSION_HEADER));
        if sessionless { &self.server.0.sessionless } else { &self.own }
    }

    /// Checks and runs a call. `arguments` is the text that the client sent, which may be invalid
    /// JSON. `params` are the other parameters of the request.
    async fn call(
        &self,
        name: String,
        arguments: Option<String>,
        params: &Value,
        context: RequestContext<RoleServer>,
    ) -> Map<String, Value> {
        let _running = self.server.0.running.read().await;
        let conversation = self.conversation(&context.extensions);
        let entry = self.server.0.catalog.get(&name);
        let own = entry.map_or_else(|| name.clone(), |entry| entry.name.to_string());
        let start = Instant::now();
        let sent = self.server.0.observer.is_some().then(|| arguments.clone().unwrap_or_default());
        let call = Call { id: None, name: own.clone(), arguments, cut_off: None };
        let admission = match conversation.session.begin(call) {
            Admission::Ready(ready) if !self.server.0.approvals.can_ask() => {
                match approve(ready, params, &conversation.questions, &context).await {
                    Ok(admission) => admission,
                    Err(result) => return result,
                }
            }
            admission => admission,
        };
        let mut verdict = match admission {
            Admission::Answered(verdict) => verdict,
            Admission::Ready(ready) => run(*ready, &name, &context).await,
        };
        let took = start.elapsed();
        self.server.0.metrics.count(entry.map(|entry| entry.name.as_str()), &verdict, took);
        if let (Some(observer), Some(sent)) = (&self.server.0.observer, sent) {
            let redacted = conversation.session.redact(&own, &sent).map(|it| it.arguments);
            let (id, arguments) = (context.id.to_string(), redacted.unwrap_or(sent));
            let call = FinishedCall {
                id: &id,
                name: &own,
                arguments: &arguments,
                verdict: &verdict,
                took,
            };
            observer(&call);
        }
        // The verdict names the tool by its MCP name.
        verdict.name = name;
        if conversation.notify_if_changed(&verdict) && !is_modern(&context) {
            // The client may have disconnected.
            let _ = context.peer.notify_tool_list_changed().await;
        }
        let mut result = answer(verdict, entry.map_or(ResultKind::Text, |entry| entry.result_kind));
        match is_modern(&context) {
            true if !result.contains_key("resultType") => {
                result.insert("resultType".to_owned(), "complete".into());
            }
            true => {}
            false => {
                result.shift_remove("resultType");
            }
        }
        result
    }
}

/// A connection whose results are JSON: the result types of rmcp drop unknown keys.
#[derive(Debug)]
pub(crate) struct JsonConnection(pub(crate) Connection);

impl Service<RoleServer> for JsonConnection {
    async fn handle_request(
        &self,
        request: ClientRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<ServerResult, ErrorData> {
        let request = match request {
            ClientRequest::CallToolRequest(call) => custom("tools/call", &call.params),
            other => other,
        };
        Service::handle_request(&self.0, request, context).await
    }

    async fn handle_notification(
        &self,
        notification: ClientNotification,
        context: NotificationContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Service::handle_notification(&self.0, notification, context).await
    }

    fn get_info(&self) -> ServerConfig {
        ServerHandler::get_info(&self.0)
    }
}

/// A request whose result rmcp passes on as it is.
fn custom(method: &str, params: &impl Serialize) -> ClientRequest {
    // All keys are strings, so serialization cannot fail.
    let params = serde_json::to_value(params).ok();
    ClientRequest::CustomRequest(CustomRequest::new(method, params))
}

/// Whether a request uses revision 2026-07-28 or later, in which clients subscribe to notifications.
pub(crate) fn is_modern(context: &RequestContext<RoleServer>) -> bool {
    context.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2026_07_28)
}

/// Runs a call until it ends or the client cancels it.
async fn run(ready: AdmittedCall<'_>, name: &str, context: &RequestContext<RoleServer>) -> Verdict {
    let Some(token) = context.meta.get_progress_token() else {
        return ready.run(context.ct.clone()).await;
    };
    let start = Instant::now();
    let work = ready.run(context.ct.clone());
    let mut work = std::pin::pin!(work);
    report_progress(&context.peer, &token, 0.0, format!("calling `{name}`")).await;
    loop {
        let waited = tokio::time::timeout(PROGRESS_INTERVAL, &mut work).await;
        let seconds = start.elapsed().as_secs_f64();
        if let Ok(verdict) = waited {
            let word = if verdict.is_ok() { "succeeded" } else { "failed" };
            report_progress(&context.peer, &token, seconds, format!("`{name}` {word}")).await;
            return verdict;
        }
        let message = format!("`{name}` running for {seconds:.0} s");
        report_progress(&context.peer, &token, seconds, message).await;
    }
}

/// Sends progress in seconds, because the total is unknown.
async fn report_progress(
    peer: &Peer<RoleServer>,
    token: &ProgressToken,
    seconds: f64,
    message: String,
) {
    let progress = ProgressNotificationParam::new(token.clone(), seconds).with_message(message);
    // The client may have disconnected.
    let _ = peer.notify_progress(progress).await;
}

impl ServerHandler for Connection {
    fn get_info(&self) -> ServerConfig {
        let tools = ServerCapabilities::builder().enable_tools().enable_tool_list_changed();
        let who = Implementation::new("gramc", env!("CARGO_PKG_VERSION"));
        let info = ServerConfig::new(tools.build()).with_server_info(who);
        if !self.server.0.catalog.has_containers() {
            return info;
        }
        info.with_instructions(
            "Some tools are groups of functions, as their descriptions say. Call such a tool \
                         without arguments first; then its functions are listed and can be called.",
        )
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let visible = self.conversation(&context.extensions).visible();
        let cursor = request.and_then(|request| request.cursor);
        self.server.0.catalog.page(&visible, cursor.as_deref())
    }

    /// Handles calls, including those that rmcp cannot parse, such as those with text as arguments.
    /// They are checked like other calls, so the model gets an error that it can correct.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        if request.method != "tools/call" {
            return Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, request.method, None));
        }
        let mut params = request.params.unwrap_or_default();
        let name = match params.get_mut("name").map(Value::take) {
            Some(Value::String(name)) => name,
            _ => String::new(),
        };
        let arguments = params.get_mut("arguments").map(|arguments| match arguments.take() {
            Value::String(text) => text,
            other => other.to_string(),
        });
        Ok(CustomResult::new(self.call(name, arguments, &params, context).await.into()))
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        // rmcp removes notifications that the server does not support.
        Some(requested.clone())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let conversation = self.conversation(&context.request_context().extensions);
        let mut changes = conversation.visible.subscribe();
        loop {
            tokio::select! {
                () = context.cancelled() => return Ok(()),
                // The sender lives as long as the conversation.
                _ = changes.changed() => {
                    if context.sink().notify_tool_list_changed().await.is_err() {
                        return Ok(());
                    }
                }
            }
        }
    }
}
