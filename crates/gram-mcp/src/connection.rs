//! What one client sees: its session, its calls, what it is told of them.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use axum::http::request::Parts;
use gram_tools::{Admission, AdmittedCall, Bound, Call, CallError, Session, Verdict};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CustomRequest, CustomResult,
    ErrorCode, Extensions, Implementation, ListToolsResult, PaginatedRequestParams,
    ProgressNotificationParam, ProgressToken, ProtocolVersion, ServerCapabilities, ServerConfig,
    SubscriptionFilter,
};
use rmcp::service::{Peer, RequestContext, RoleServer, SubscriptionContext};
use rmcp::{ErrorData, ServerHandler};
use serde_json::Value;
use tokio::sync::watch;

use crate::Server;
use crate::answer::answer;
use crate::catalog::{Catalog, Promise};

/// How often a client that wants to know hears that a call still runs.
const PROGRESS_EVERY: Duration = Duration::from_secs(1);
/// The header that names a session of HTTP.
const SESSION: &str = "mcp-session-id";

/// A session of the library, and what is listed in it.
#[derive(Debug)]
pub(crate) struct Conversation {
    session: Session,
    /// How many tools and containers are visible. Who listens hears when that changes.
    visible: watch::Sender<usize>,
}

impl Conversation {
    pub(crate) fn new(bound: &Bound, catalog: &Catalog) -> Self {
        let visible = watch::Sender::new(catalog.at_first);
        Self { session: Session::new(bound), visible }
    }

    fn visible(&self) -> HashSet<smol_str::SmolStr> {
        self.session.visible().into_iter().collect()
    }

    /// Looks whether a call changed what is listed, tells who listens, and gives whether it did.
    fn has_changed(&self, verdict: &Verdict) -> bool {
        let expanded = match &verdict.outcome {
            Ok(success) => success.result.as_ref().is_some_and(|it| it.get("expanded").is_some()),
            Err(
                CallError::ContainerInvocation { expanded, .. }
                | CallError::ContainerNotExpanded { expanded, .. },
            ) => *expanded,
            Err(_) => false,
        };
        // To count is more than most calls need.
        expanded
            && self.visible.send_if_modified(|count| {
                let before = std::mem::replace(count, self.session.visible().len());
                *count != before
            })
    }
}

/// What serves one connection, or one request of a client without session.
#[derive(Debug)]
pub(crate) struct Connection {
    server: Server,
    own: Conversation,
}

impl Connection {
    pub(crate) fn new(server: &Server) -> Self {
        let own = Conversation::new(&server.0.bound, &server.0.catalog);
        Self { server: server.clone(), own }
    }

    /// The conversation that a request belongs to.
    fn conversation(&self, extensions: &Extensions) -> &Conversation {
        let parts = extensions.get::<Parts>();
        let sessionless = parts.is_some_and(|parts| !parts.headers.contains_key(SESSION));
        if sessionless { &self.server.0.sessionless } else { &self.own }
    }

    /// Takes a call through the whole pipeline. `arguments` is JSON, or what the client sent in its
    /// place.
    async fn call(
        &self,
        name: String,
        arguments: Option<String>,
        context: RequestContext<RoleServer>,
    ) -> CallToolResult {
        let _running = self.server.0.running.read().await;
        let conversation = self.conversation(&context.extensions);
        let listed = self.server.0.catalog.get(&name);
        let own = listed.map_or_else(|| name.clone(), |listed| listed.name.to_string());
        let mut verdict = match conversation.session.begin(Call { id: None, name: own, arguments })
        {
            Admission::Answered(verdict) => verdict,
            Admission::Ready(ready) => run(*ready, &name, &context).await,
        };
        // The client knows the tool by the name that it called.
        verdict.name = name;
        if conversation.has_changed(&verdict) && !is_modern(&context) {
            // A client that has gone needs to know nothing more.
            let _ = context.peer.notify_tool_list_changed().await;
        }
        answer(verdict, listed.map_or(Promise::Unsaid, |listed| listed.promise))
    }
}

/// Whether a request belongs to the revision 2026-07-28 or a later one, whose clients hear of
/// changes when they listen for them, and else do not.
fn is_modern(context: &RequestContext<RoleServer>) -> bool {
    context.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2026_07_28)
}

/// Runs a call until it ends, or the client cancels it.
async fn run(ready: AdmittedCall<'_>, name: &str, context: &RequestContext<RoleServer>) -> Verdict {
    let Some(token) = context.meta.get_progress_token() else {
        return ready.run(context.ct.clone()).await;
    };
    let begun = Instant::now();
    let work = ready.run(context.ct.clone());
    let mut work = std::pin::pin!(work);
    tell(&context.peer, &token, 0.0, format!("`{name}` is called")).await;
    loop {
        let waited = tokio::time::timeout(PROGRESS_EVERY, &mut work).await;
        let seconds = begun.elapsed().as_secs_f64();
        if let Ok(verdict) = waited {
            let word = if verdict.is_ok() { "answered" } else { "failed" };
            tell(&context.peer, &token, seconds, format!("`{name}` {word}")).await;
            return verdict;
        }
        tell(&context.peer, &token, seconds, format!("`{name}` has run for {seconds:.0} s")).await;
    }
}

/// Sends progress: seconds, since nobody knows how many there will be in all.
async fn tell(peer: &Peer<RoleServer>, token: &ProgressToken, seconds: f64, message: String) {
    let progress = ProgressNotificationParam::new(token.clone(), seconds).with_message(message);
    // A client that has gone needs to know nothing more.
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
            "Some tools stand for groups of functions, as their descriptions say. Call such a tool \
             without arguments first; then its functions are listed, and can be called.",
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

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = request.arguments.map(|arguments| Value::Object(arguments).to_string());
        Ok(self.call(request.name.into_owned(), arguments, context).await.into())
    }

    /// Requests that are none of the protocol. Among them are calls of another shape than it has,
    /// such as those whose arguments are text: these are judged like all others.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        if request.method != "tools/call" {
            return Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, request.method, None));
        }
        let mut params = request.params.unwrap_or_default();
        let modern = is_modern(&context);
        let name = match params.get_mut("name").map(Value::take) {
            Some(Value::String(name)) => name,
            _ => String::new(),
        };
        let arguments = params.get_mut("arguments").map(|arguments| match arguments.take() {
            Value::String(text) => text,
            other => other.to_string(),
        });
        let mut answer = self.call(name, arguments, context).await;
        if !modern {
            answer.result_type = None;
        }
        // The answer's keys are strings, so this cannot fail.
        Ok(CustomResult::new(serde_json::to_value(answer).unwrap_or_default()))
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        // What the server does not announce is taken out of it.
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
