//! The requests of clients: calls of tools, and what MCP servers behind the library answer.

use std::sync::Arc;
use std::time::{Duration, Instant};

use gramc_tools::invocation::RequestOrigin;
use gramc_tools::{Admission, AdmittedCall, Call, CallError, RpcError, SessionClient, Verdict};
use serde_json::{Map, Value, json};
use tokio::time::timeout;

use crate::answer::{answer, is_error};
use crate::approval::approve;
use crate::catalog::ResultKind;
use crate::conversation::Conversation;
use crate::finder::{CALL, FIND, InnerCall};
use crate::offer::Offer;
use crate::outbox::Outbox;
use crate::protocol::{Answer, LOG_LEVEL_KEY, META_PREFIX, internal, not_found};
use crate::request_context::RequestContext;
use crate::{CallFailure, FinishedCall, Server, StartedCall};

/// Interval of progress notifications for a running call.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(1);
/// How long clients may keep a list of tools that does not change while the server runs.
const CONSTANT_TTL_MS: u64 = 3_600_000;
/// The requests that revision 2026-07-28 no longer has.
const REMOVED: [&str; 4] =
    ["ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"];

pub(crate) struct IncomingRequest {
    pub(crate) server: Server,
    pub(crate) conversation: Arc<Conversation>,
    /// The client, which can be asked.
    pub(crate) client: Arc<dyn SessionClient>,
    pub(crate) context: RequestContext,
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

impl IncomingRequest {
    pub(crate) async fn answer(self, method: &str, mut params: Value) -> Answer {
        if method == "tools/list" {
            let Offer { finder, catalog, .. } = &*self.conversation.offer;
            let mut page = match finder {
                Some(finder) => finder.page(),
                None => catalog.page(&self.conversation.visible()),
            };
            let is_modern = self.context.is_modern();
            if is_modern && self.conversation.is_constant() {
                page["ttlMs"] = CONSTANT_TTL_MS.into();
                page["cacheScope"] = "public".into();
            }
            return Ok(with_hints(page, is_modern));
        }
        if method != "tools/call" {
            if self.context.is_modern() && REMOVED.contains(&method) {
                return Err(not_found(method));
            }
            return self.forward(method, params).await;
        }
        let name = match params.get_mut("name").map(Value::take) {
            Some(Value::String(name)) => name,
            _ => String::new(),
        };
        let arguments = params.get_mut("arguments").map(|arguments| match arguments.take() {
            Value::String(text) => text,
            other => other.to_string(),
        });
        let result = match &self.conversation.offer.finder {
            Some(finder) if name == FIND => {
                let catalog = &self.conversation.offer.catalog;
                finder.find(arguments, |tool: &str| catalog.get(tool).map(|entry| &entry.tool))
            }
            Some(finder) if name == CALL => match finder.inner_call(arguments) {
                Ok(InnerCall { name, arguments }) => {
                    let arguments = Some(arguments);
                    self.found(SentCall { name, arguments, through: Some(CALL) }).await?
                }
                Err(refused) => refused,
            },
            // Some models call a tool that they found by its name.
            Some(_) => self.found(SentCall { name, arguments, through: None }).await?,
            None => self.call(SentCall { name, arguments, through: None }).await?,
        };
        Ok(complete_result(result, self.context.is_modern()).into())
    }

    /// Passes the request on to the MCP servers behind the library, until the client cancels it.
    async fn forward(&self, method: &str, params: Value) -> Answer {
        let upstream = self.conversation.upstream();
        let limit = self.conversation.offer.bound.settings_of_library().time_limit();
        let origin = self.origin();
        let work = Box::pin(upstream.answer(method, params, origin.clone()));
        let answer = tokio::select! {
            biased;
            () = self.context.cancelled.cancelled() => Some(Err(internal("the request was cancelled"))),
            answer = origin.within(limit, work) => answer,
        };
        let result = answer.ok_or_else(|| internal("the MCP server did not answer in time"))??;
        Ok(with_hints(result, self.context.is_modern()))
    }

    /// Checks and runs a call of a tool that clients find by `find_tools`.
    async fn found(&self, call: SentCall) -> Result<Map<String, Value>, RpcError> {
        let entry = self.conversation.offer.catalog.get(&call.name);
        let own = entry.map_or(call.name.as_str(), |entry| &entry.name);
        // The model has seen the definition.
        self.conversation.session.expand_containers_of(own);
        self.call(call).await
    }

    /// Checks and runs a call.
    async fn call(&self, call: SentCall) -> Result<Map<String, Value>, RpcError> {
        let SentCall { name, arguments, through } = call;
        let Self { server, conversation, client, context } = self;
        let _running = server.0.running.read().await;
        let entry = conversation.offer.catalog.get(&name);
        let own = entry.map_or_else(|| name.clone(), |entry| entry.name.to_string());
        // The session knows the names of the target.
        let called = if conversation.offer.target.is_some() { &name } else { &own };
        let (id, start, mut origin) = (display_id(&context.id), Instant::now(), self.origin());
        let span = server.0.tracer.as_ref().map(|start_span| {
            let call = StartedCall {
                id: &id,
                tool: entry.is_some().then_some(&name),
                revision: &context.introduction.revision,
                session: context.session.as_deref(),
                is_http: context.is_http(),
            };
            start_span(&call, &mut origin.meta)
        });
        let is_observed = server.0.observer.is_some() || span.is_some();
        let sent = is_observed.then(|| arguments.clone().unwrap_or_default());
        let call = Call { name: called.clone(), arguments, ..Call::default() };
        // A program that is an agent must not approve its own calls.
        let asks_client = !server.0.approvals.can_ask() && server.0.scope.is_none();
        let admission = match conversation.session.begin(call) {
            Admission::Ready(ready) if asks_client => {
                // Its user sees one form at a time, unless they come with the results of calls.
                let queue = (!client.is_modern()).then_some(&conversation.questions);
                approve(ready, &**client, queue, &context.cancelled).await
            }
            admission => admission,
        };
        let mut verdict = match admission {
            Admission::Answered(verdict) => verdict,
            Admission::Ready(ready) => self.run(ready.with_origin(origin.clone()), &name).await,
        };
        let took = start.elapsed();
        server.0.metrics.count(entry.map(|entry| entry.name.as_str()), &verdict, took);
        let kind = entry.map_or(ResultKind::Text, |entry| entry.result_kind);
        let refusal = match &verdict.outcome {
            Err(CallError::Invocation { .. }) => origin.refusal.get(),
            _ => None,
        };
        if let Some(sent) = sent {
            let redacted = conversation.session.redact(called, &sent).map(|it| it.arguments);
            let arguments = redacted.unwrap_or(sent);
            let call = FinishedCall {
                id: &id,
                name: &own,
                arguments: &arguments,
                verdict: &verdict,
                took,
            };
            if let Some(observer) = &server.0.observer {
                observer(&call);
            }
            if let Some(end_span) = span {
                let failure = match refusal {
                    _ if context.cancelled.is_cancelled() => Some(CallFailure::Cancelled),
                    Some(error) => Some(CallFailure::Rpc(error.code)),
                    None => is_error(&verdict, kind).then_some(CallFailure::Tool),
                };
                end_span(&call, failure);
            }
        }
        // The error of a server arrives as such.
        if let Some(error) = refusal {
            return Err(error.clone());
        }
        // The verdict names the tool by its MCP name.
        verdict.name = name;
        // What clients find by `find_tools` is not listed.
        let lists = conversation.offer.finder.is_none();
        if lists && conversation.notify_if_changed(&verdict) {
            conversation.client.tell("notifications/tools/list_changed", None).await;
        }
        let hint = match (&verdict.outcome, through) {
            (Err(CallError::UnknownTool { .. }), _) if conversation.offer.finder.is_some() => {
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
        Ok(result)
    }

    /// What the calls of servers learn of the request.
    fn origin(&self) -> RequestOrigin {
        let progress_token = self.context.progress_token();
        let log_level = self.context.meta.get(LOG_LEVEL_KEY).cloned();
        let client = self.client.is_modern().then(|| Arc::clone(&self.client));
        let meta = passed_meta(&self.context);
        let refusal = Arc::default();
        let rest = RequestOrigin::default();
        RequestOrigin { progress_token, log_level, meta, refusal, client, ..rest }
    }

    /// Runs a call until it ends or the client cancels it.
    async fn run(&self, ready: AdmittedCall<'_>, name: &str) -> Verdict {
        let context = &self.context;
        let token = context.progress_token().filter(|_| !ready.reports_progress());
        let Some(token) = token else { return ready.run(context.cancelled.clone()).await };
        let start = Instant::now();
        let work = ready.run(context.cancelled.clone());
        let mut work = std::pin::pin!(work);
        report_progress(&context.outbox, &token, 0.0, &format!("calling `{name}`"));
        loop {
            let waited = timeout(PROGRESS_INTERVAL, &mut work).await;
            let seconds = start.elapsed().as_secs_f64();
            if let Ok(verdict) = waited {
                let word = if verdict.is_ok() { "succeeded" } else { "failed" };
                report_progress(&context.outbox, &token, seconds, &format!("`{name}` {word}"));
                return verdict;
            }
            let message = format!("`{name}` running for {seconds:.0} s");
            report_progress(&context.outbox, &token, seconds, &message);
        }
    }
}

/// The metadata of a request that servers get, too: all but what concerns this connection only.
fn passed_meta(context: &RequestContext) -> Map<String, Value> {
    let mut meta = context.meta.clone();
    meta.retain(|key, _| key != "progressToken" && !key.starts_with(META_PREFIX));
    meta
}

/// A result with what later revisions require, if the client uses one.
pub(crate) fn with_hints(mut result: Value, is_modern: bool) -> Value {
    if let (true, Value::Object(result)) = (is_modern, &mut result) {
        let hints = [
            ("resultType", json!("complete")),
            ("ttlMs", json!(0)),
            ("cacheScope", json!("private")),
        ];
        for (key, value) in hints {
            result.entry(key).or_insert(value);
        }
    }
    result
}

/// The result of a call in the form of the revision that the client uses.
fn complete_result(mut result: Map<String, Value>, is_modern: bool) -> Map<String, Value> {
    match is_modern {
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

/// The id of a request as text.
fn display_id(id: &Value) -> String {
    id.as_str().map_or_else(|| id.to_string(), str::to_owned)
}

/// Sends progress in seconds, because the total is unknown.
fn report_progress(outbox: &Outbox, token: &Value, seconds: f64, message: &str) {
    let params = json!({"progressToken": token, "progress": seconds, "message": message});
    outbox.offer("notifications/progress", params);
}
