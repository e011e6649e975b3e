//! A connection to one client.

use std::collections::HashSet;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use axum::http::request::Parts;
use gram_tools::approval::Approvals;
use gram_tools::{Admission, AdmittedCall, Bound, Call, CallError, Session, Verdict};
use rmcp::model::{
    CustomRequest, CustomResult, ErrorCode, Extensions, Implementation, ListToolsResult,
    PaginatedRequestParams, ProgressNotificationParam, ProgressToken, ProtocolVersion,
    ServerConfig, SubscriptionFilter,
};
use rmcp::service::{
    NotificationContext, Peer, RequestContext, RoleServer, SubscriptionContext,
    SubscriptionSendError, SubscriptionSink,
};
use rmcp::{ErrorData, ServerHandler};
use serde_json::{Map, Value, json};
use smol_str::SmolStr;
use tokio::sync::{Mutex, broadcast, watch};
use tokio::time::timeout;

use crate::answer::answer;
use crate::approval::approve;
use crate::catalog::{Catalog, ResultKind};
use crate::client::{Change, ClientLink};
use crate::finder::{CALL, FIND, InnerCall};
use crate::upstream::{self, FORWARDED, Upstream};
use crate::{FinishedCall, Server, ServerInner};

/// Interval of progress notifications for a running call.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(1);
/// The beginning of the methods of requests that rmcp should not parse.
pub(crate) const UNTYPED: &str = "gramc/";
/// The header with the id of an HTTP session.
pub(crate) const SESSION_HEADER: &str = "mcp-session-id";

/// A session of the library and its visible tools.
#[derive(Debug)]
pub(crate) struct Conversation {
    session: Session,
    /// Number of visible tools and containers. Subscribers are notified when it changes.
    visible: watch::Sender<usize>,
    /// Changes of the MCP servers behind the library.
    changes: broadcast::Sender<Change>,
    /// The client, once it has made a request.
    client: OnceLock<Arc<ClientLink>>,
    /// Locked while the client is asked for approval.
    questions: Mutex<()>,
}

impl Conversation {
    pub(crate) fn new(
        bound: &Bound,
        catalog: &Catalog,
        approvals: &Approvals,
        scope: Option<&[SmolStr]>,
    ) -> Self {
        let session = Session::new(bound).with_own_servers();
        let mut session = session.with_approvals(approvals.with_own_queue());
        let mut count = catalog.initial_count;
        if let Some(scope) = scope {
            session = session.scoped_to(scope.iter().map(SmolStr::as_str));
            count = session.visible().len();
        }
        let visible = watch::Sender::new(count);
        let (changes, client) = (ClientLink::changes(), OnceLock::new());
        Self { session, visible, changes, client, questions: Mutex::default() }
    }

    /// The client of the conversation, to which MCP servers may speak from now on.
    fn client(&self, context: &RequestContext<RoleServer>, is_sessionless: bool) -> &ClientLink {
        self.client.get_or_init(|| {
            let client = Arc::new(if is_sessionless || is_modern(context) {
                ClientLink::subscriber(&self.changes)
            } else {
                ClientLink::new(&context.peer, &self.changes)
            });
            self.session.attach_client(Arc::<ClientLink>::clone(&client));
            client
        })
    }

    /// The MCP servers behind the conversation.
    fn upstream(&self) -> Upstream {
        Upstream::new(self.session.servers(), self.session.bound())
    }

    /// Ends its MCP servers.
    pub(crate) async fn close(&self) {
        self.session.close().await;
    }

    fn visible(&self) -> HashSet<SmolStr> {
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
        let ServerInner { bound, catalog, approvals, scope, .. } = &*server.0;
        let own = Arc::new(Conversation::new(bound, catalog, approvals, scope.as_deref()));
        Self { server: server.clone(), own }
    }

    /// Its own conversation.
    pub(crate) fn own(&self) -> Arc<Conversation> {
        Arc::clone(&self.own)
    }

    /// The conversation that a request belongs to.
    fn conversation(&self, extensions: &Extensions) -> &Conversation {
        if is_sessionless(extensions) { &self.server.0.sessionless } else { &self.own }
    }

    /// Passes a request on to the MCP servers behind the library, until the client cancels it.
    async fn forward(
        &self,
        method: &str,
        params: Option<Value>,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let upstream = self.conversation(&context.extensions).upstream();
        let limit = self.server.0.bound.settings_of_library().time_limit();
        let params = params.unwrap_or_else(|| Value::Object(Map::new()));
        let answer = timeout(limit, upstream.answer(method, params, progress_token(&context)));
        let answer = tokio::select! {
            biased;
            () = context.ct.cancelled() => Ok(Err(internal("the request was cancelled"))),
            answer = answer => answer,
        };
        let mut result =
            answer.map_err(|_| internal("the MCP server did not answer in time"))??;
        if let (true, Value::Object(result)) = (is_modern(&context), &mut result) {
            let hints = json!({"resultType": "complete", "ttlMs": 0, "cacheScope": "private"});
            for (key, value) in hints.as_object().into_iter().flatten() {
                result.entry(key.as_str()).or_insert_with(|| value.clone());
            }
        }
        Ok(CustomResult::new(result))
    }

    /// Checks and runs a call of a tool that clients find by `find_tools`.
    async fn found(
        &self,
        conversation: &Conversation,
        call: SentCall,
        params: &Value,
        context: RequestContext<RoleServer>,
    ) -> Map<String, Value> {
        let entry = self.server.0.catalog.get(&call.name);
        let own = entry.map_or(call.name.as_str(), |entry| &entry.name);
        // The model has seen the definition.
        conversation.session.expand_containers_of(own);
        self.call(call, params, context).await
    }

    /// Checks and runs a call. `params` are the other parameters of the request.
    async fn call(
        &self,
        call: SentCall,
        params: &Value,
        context: RequestContext<RoleServer>,
    ) -> Map<String, Value> {
        let SentCall { name, arguments, through } = call;
        let _running = self.server.0.running.read().await;
        let conversation = self.conversation(&context.extensions);
        let entry = self.server.0.catalog.get(&name);
        let own = entry.map_or_else(|| name.clone(), |entry| entry.name.to_string());
        let start = Instant::now();
        let sent = self.server.0.observer.is_some().then(|| arguments.clone().unwrap_or_default());
        let call = Call { id: None, name: own.clone(), arguments, cut_off: None };
        // A program that is an agent must not approve its own calls.
        let asks_client = !self.server.0.approvals.can_ask() && self.server.0.scope.is_none();
        let admission = match conversation.session.begin(call) {
            Admission::Ready(ready) if asks_client => {
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
        // What clients find by `find_tools` is not listed.
        let lists = self.server.0.finder.is_none();
        if lists && conversation.notify_if_changed(&verdict) && !is_modern(&context) {
            // The client may have disconnected.
            let _ = context.peer.notify_tool_list_changed().await;
        }
        let kind = entry.map_or(ResultKind::Text, |entry| entry.result_kind);
        let hint = match (&verdict.outcome, through) {
            (Err(CallError::UnknownTool { .. }), _) if self.server.0.finder.is_some() => {
                Some(format!("Find the tools with `{FIND}`."))
            }
            (Err(CallError::Validation(_) | CallError::Malformed(_)), Some(through)) => {
                Some(format!("Send the corrected arguments through `{through}`."))
            }
            _ => None,
        };
        let mut result = answer(verdict, kind);
        if let (Some(hint), Some(Value::Array(blocks))) = (hint, result.get_mut("content")) {
            blocks.push(json!({"type": "text", "text": hint}));
        }
        completed(result, &context)
    }
}

/// A call as a client sends it.
struct SentCall {
    /// The name of the tool as clients know it.
    name: String,
    /// The text of the arguments, which may be invalid JSON.
    arguments: Option<String>,
    /// The tool through which it is called.
    through: Option<&'static str>,
}

/// The result of a call in the form of the revision that the client uses.
fn completed(
    mut result: Map<String, Value>,
    context: &RequestContext<RoleServer>,
) -> Map<String, Value> {
    match is_modern(context) {
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

/// Whether a request belongs to no session.
fn is_sessionless(extensions: &Extensions) -> bool {
    let parts = extensions.get::<Parts>();
    parts.is_some_and(|parts| !parts.headers.contains_key(SESSION_HEADER))
}

fn progress_token(context: &RequestContext<RoleServer>) -> Option<Value> {
    serde_json::to_value(context.meta.get_progress_token()?).ok()
}

fn internal(message: &'static str) -> ErrorData {
    ErrorData::internal_error(message, None)
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
    if ready.reports_progress()
        && let Some(token) = progress_token(context)
    {
        return ready.with_progress_token(token).run(context.ct.clone()).await;
    }
    let start = Instant::now();
    let work = ready.run(context.ct.clone());
    let mut work = std::pin::pin!(work);
    report_progress(&context.peer, &token, 0.0, format!("calling `{name}`")).await;
    loop {
        let waited = timeout(PROGRESS_INTERVAL, &mut work).await;
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
        let who = Implementation::new("gramc", env!("CARGO_PKG_VERSION"));
        let capabilities = upstream::capabilities(&self.server.0.bound);
        let info = ServerConfig::new(capabilities).with_server_info(who);
        if self.server.0.finder.is_some() {
            return info.with_instructions(
                "Find tools with `find_tools`, then call them with `call_tool`.",
            );
        }
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
        if let Some(finder) = &self.server.0.finder {
            return Ok(finder.page());
        }
        let visible = self.conversation(&context.extensions).visible();
        let cursor = request.and_then(|request| request.cursor);
        self.server.0.catalog.page(&visible, cursor.as_deref())
    }

    /// Handles calls, including those that rmcp cannot parse, such as those with text as arguments.
    /// They are checked like other calls, so the model gets an error that it can correct. Handles
    /// requests that MCP servers answer, too: rmcp would drop unknown keys of their results.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let conversation = self.conversation(&context.extensions);
        let client = conversation.client(&context, is_sessionless(&context.extensions));
        let _open = client.open(&context.id);
        let method = request.method.strip_prefix(UNTYPED).unwrap_or(&request.method);
        if FORWARDED.contains(&method) {
            return self.forward(method, request.params, context).await;
        }
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
        let result = match &self.server.0.finder {
            Some(finder) if name == FIND => {
                let catalog = &self.server.0.catalog;
                let listed = |tool: &str| catalog.get(tool).map(|entry| &entry.tool);
                completed(finder.find(arguments, listed), &context)
            }
            Some(finder) if name == CALL => match finder.inner_call(arguments) {
                Ok(InnerCall { name, arguments }) => {
                    let call = SentCall { name, arguments: Some(arguments), through: Some(CALL) };
                    self.found(conversation, call, &params, context).await
                }
                Err(refused) => completed(refused, &context),
            },
            // Some models call a tool that they found by its name.
            Some(_) => {
                let call = SentCall { name, arguments, through: None };
                self.found(conversation, call, &params, context).await
            }
            None => self.call(SentCall { name, arguments, through: None }, &params, context).await,
        };
        Ok(CustomResult::new(result.into()))
    }

    async fn on_roots_list_changed(&self, context: NotificationContext<RoleServer>) {
        for server in self.conversation(&context.extensions).session.servers() {
            server.server.notify("notifications/roots/list_changed").await;
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
        let subscribed = context.accepted().resource_subscriptions.clone().unwrap_or_default();
        for uri in &subscribed {
            // The client hears of resources that its servers know.
            let _ = upstream.answer("resources/subscribe", json!({ "uri": uri }), None).await;
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
            let _ = upstream.answer("resources/unsubscribe", json!({ "uri": uri }), None).await;
        }
        Ok(())
    }
}

/// Tells a subscriber of a change of an MCP server.
async fn notify_of(
    sink: &SubscriptionSink,
    (method, params): Change,
) -> Result<(), SubscriptionSendError> {
    match method.as_str() {
        "notifications/resources/list_changed" => sink.notify_resource_list_changed().await,
        "notifications/prompts/list_changed" => sink.notify_prompt_list_changed().await,
        "notifications/resources/updated" => {
            sink.notify_resource_updated(params["uri"].as_str().unwrap_or_default()).await
        }
        _ => Ok(()),
    }
}
