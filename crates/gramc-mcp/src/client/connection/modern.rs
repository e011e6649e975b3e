//! What differs with servers that use revision 2026-07-28 of the protocol: they answer with
//! questions instead of asking them, and report changes to those who listen.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use futures_util::future::join_all;
use gramc_tools::invocation::{InvocationError, InvocationErrorKind, RequestOrigin};
use parking_lot::Mutex;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio::spawn;
use tokio::time::sleep;
use tokio_util::task::AbortOnDropHandle;

use super::tasks::Task;
use super::{Connection, UpstreamError};
use crate::client::client_slot::ask;
use crate::client::exchange::{Exchange, OpenRequest};
use crate::client::handshake::{client_info, describe_error, modern_meta};
use crate::client::inbox::{RequestFault, RequestOptions};
use crate::protocol::TASKS_EXTENSION;

/// How long after its end a subscription is renewed.
const RENEWAL_PAUSE: Duration = Duration::from_secs(5);
/// The most rounds of questions before a result.
const MAX_ROUNDS: usize = 20;

/// The key of the metadata of a request with the least level of log messages.
const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";

/// What a connection to such a server keeps.
#[derive(Default)]
pub(super) struct ModernState {
    /// The level of messages that requests ask for.
    log_level: Option<Value>,
    /// Listens for changes of lists.
    lists: Option<Listening>,
    /// Listen for changes of resources, by their URIs, each with the number of those who want that.
    resources: HashMap<String, (Listening, usize)>,
}

/// A task that ends with the connection, or with the interest in what it hears.
type Listening = AbortOnDropHandle<()>;

/// The result of a request that the server answers with questions.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct InputRequired {
    #[serde(default)]
    input_requests: Map<String, Value>,
    request_state: Option<Value>,
}

impl InputRequired {
    /// The questions in a result. `None` if it answers the request.
    fn of(result: &Value) -> Option<Self> {
        if result["resultType"] != "input_required" {
            return None;
        }
        Self::deserialize(result).ok()
    }
}

impl Connection {
    /// Whether the server uses revision 2026-07-28 or a later one.
    pub(in crate::client) fn is_modern(&self) -> bool {
        self.introduction.is_modern()
    }

    /// Makes a request, and returns its result. The client answers what the server asks before that.
    pub(super) async fn send(
        &self,
        method: &str,
        mut params: Option<Value>,
        options: &RequestOptions,
    ) -> Result<Value, UpstreamError> {
        for _ in 0..MAX_ROUNDS {
            let result = self.send_once(method, params.clone(), options).await?;
            if !self.is_modern() {
                return Ok(result);
            }
            if let Some(task) = Task::of(&result) {
                return self.finish(task, options).await;
            }
            let Some(asked) = InputRequired::of(&result) else { return Ok(result) };
            let answers = self.answers(asked.input_requests, options).await?;
            if let Value::Object(params) = params.get_or_insert_with(|| json!({})) {
                params.insert("inputResponses".to_owned(), answers.into());
                params.extend(asked.request_state.map(|state| ("requestState".to_owned(), state)));
            }
        }
        let why = format!("it requested input {MAX_ROUNDS} times for one `{method}`");
        Err(self.error(InvocationErrorKind::Failed, &why).into())
    }

    /// The answers of the client to the questions of a server, which it gets all at once.
    pub(super) async fn answers(
        &self,
        requests: Map<String, Value>,
        options: &RequestOptions,
    ) -> Result<Map<String, Value>, InvocationError> {
        let client = options.origin.client.as_ref().or_else(|| self.exchange.client.get());
        let answers = requests.into_iter().map(async |(key, mut request)| {
            let method = request["method"].as_str().unwrap_or_default().to_owned();
            let Some(client) = client else {
                let why = format!("it asks its client (`{method}`), and there is none to ask");
                return Err(self.error(InvocationErrorKind::Failed, &why));
            };
            let params = request.get_mut("params").map(Value::take);
            match ask(&**client, &key, &method, params, self.masks()).await {
                Ok(answer) => Ok((key, answer)),
                Err(error) => {
                    let why = describe_error(&method, &error);
                    let why = format!("it asked the client, and {why}");
                    Err(self.error(InvocationErrorKind::Failed, &why))
                }
            }
        });
        join_all(answers).await.into_iter().collect()
    }

    /// The metadata of a request: that of the client's request, and from revision 2026-07-28 on the
    /// capabilities of the client that makes it. For clients that cannot say whether they know tasks,
    /// we wait for them.
    pub(super) fn meta(&self, origin: &RequestOrigin) -> Map<String, Value> {
        let mut meta = origin.meta.clone();
        if !self.is_modern() {
            return meta;
        }
        let client = origin.client.as_ref();
        let known = client.or_else(|| self.exchange.client.get());
        let info = known.and_then(|known| known.info()).unwrap_or_else(client_info);
        let mut capabilities = known.map(|known| known.capabilities()).unwrap_or_default();
        if client.is_none()
            && let Value::Object(extensions) =
                capabilities.entry("extensions").or_insert_with(|| json!({}))
        {
            extensions.insert(TASKS_EXTENSION.to_owned(), json!({}));
        }
        meta.extend(modern_meta(info, capabilities));
        let level = origin.log_level.clone().or_else(|| self.modern.lock().log_level.clone());
        if let Some(level) = level {
            meta.insert(LOG_LEVEL.to_owned(), level);
        }
        meta
    }

    /// Does what a request of an earlier revision did, where this one has no such request.
    pub(super) async fn translate(
        &self,
        method: &str,
        params: Option<&Value>,
    ) -> Option<Result<Value, UpstreamError>> {
        if !self.is_modern() {
            return None;
        }
        let params = params.unwrap_or(&Value::Null);
        let uri = params["uri"].as_str().unwrap_or_default();
        match method {
            "logging/setLevel" => self.modern.lock().log_level = Some(params["level"].clone()),
            "resources/subscribe" => {
                if let Err(fault) = self.subscribe(uri).await {
                    return Some(Err(self.not_subscribed(fault).await));
                }
            }
            "resources/unsubscribe" => self.unsubscribe(uri),
            _ => return None,
        }
        Some(Ok(json!({})))
    }

    async fn subscribe(&self, uri: &str) -> Result<(), RequestFault> {
        if let Some((listening, wanted)) = self.modern.lock().resources.get_mut(uri)
            && !listening.is_finished()
        {
            *wanted += 1;
            return Ok(());
        }
        let filter = json!({"resourceSubscriptions": [uri]});
        let subscription = subscribe(&self.exchange, &filter).await?;
        let listening = hear(self.exchange.clone(), filter, Some(subscription));
        let listening = AbortOnDropHandle::new(spawn(listening));
        // Another request may have subscribed meanwhile, or the server may have ended it before. One
        // subscription is enough.
        let mut modern = self.modern.lock();
        let wanted = modern.resources.get(uri).map_or(0, |(_, wanted)| *wanted);
        modern.resources.insert(uri.to_owned(), (listening, wanted + 1));
        Ok(())
    }

    fn unsubscribe(&self, uri: &str) {
        let mut modern = self.modern.lock();
        if let Some((_, wanted)) = modern.resources.get_mut(uri) {
            *wanted -= 1;
            if *wanted == 0 {
                modern.resources.remove(uri);
            }
        }
    }

    async fn not_subscribed(&self, fault: RequestFault) -> UpstreamError {
        match fault {
            RequestFault::Answered(error) => UpstreamError::Error(self.mask_error(error)),
            fault => {
                let fault = self.fault("subscriptions/listen", fault).await;
                UpstreamError::NoAnswer(self.error(fault.kind, &fault.detail))
            }
        }
    }

    /// Listens for changes of the lists that a server may change.
    pub(super) fn listen_for_lists(&self) {
        let capabilities = self.introduction.capabilities();
        let lists = ["tools", "prompts", "resources"].into_iter();
        let changing = lists
            .filter(|list| capabilities.get(*list).is_some_and(|list| list["listChanged"] == true));
        let filter: Map<_, _> =
            changing.map(|list| (format!("{list}ListChanged"), true.into())).collect();
        if !self.is_modern() || filter.is_empty() {
            return;
        }
        let hearing = hear(self.exchange.clone(), filter.into(), None);
        self.modern.lock().lists = Some(AbortOnDropHandle::new(spawn(hearing)));
    }
}

/// Subscribes to changes, until the request is dropped.
async fn subscribe(exchange: &Exchange, filter: &Value) -> Result<OpenRequest, RequestFault> {
    let params = json!({ "notifications": filter });
    let options = RequestOptions::default();
    let meta = exchange.own_meta();
    let mut open = exchange.open("subscriptions/listen", Some(params), meta, options);
    open.wait_for_acknowledgement().await?;
    Ok(open)
}

/// Keeps a subscription. One that ends is renewed, unless the server refuses it.
async fn hear(exchange: Exchange, filter: Value, mut opened: Option<OpenRequest>) {
    let inbox = Arc::clone(&exchange.inbox);
    while !inbox.is_over() {
        let subscription = match opened.take() {
            Some(subscription) => Ok(subscription),
            None => subscribe(&exchange, &filter).await,
        };
        match subscription {
            Ok(subscription) => drop(subscription.answer().await),
            Err(RequestFault::Answered(_)) => return,
            Err(_) => {}
        }
        sleep(RENEWAL_PAUSE).await;
        // What changed meanwhile was not heard.
        inbox.other_tools.store(true, Ordering::Release);
    }
}

pub(super) type Modern = Mutex<ModernState>;
