//! What differs with servers that use revision 2026-07-28 of the protocol: they answer with
//! questions instead of asking them, and report changes to those who listen.

use std::collections::HashMap;
use std::time::Duration;

use futures_util::future::join_all;
use gramc_tools::invocation::{InvocationError, InvocationErrorKind};
use gramc_tools::sanitize::sanitize_line;
use parking_lot::Mutex;
use rmcp::model::{ProtocolVersion, RequestMetaObject, SubscriptionFilter, TASKS_EXTENSION_ID};
use rmcp::service::{Peer, PeerRequestOptions, RoleClient, ServiceError, Subscription};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio::spawn;
use tokio::time::sleep;
use tokio_util::task::AbortOnDropHandle;

use super::tasks::Task;
use super::{Connection, UpstreamError};
use crate::client::client_slot::{ask, relevant};
use crate::client::pending_calls::PendingCall;
use crate::client::requests::{ClientHandler, said_error};

/// How long after its end a subscription is renewed.
const RENEWAL_PAUSE: Duration = Duration::from_secs(5);
/// The most rounds of questions before a result.
const MAX_ROUNDS: usize = 20;

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
    /// The questions in a message. `None` if it answers the request.
    fn of(message: &str) -> Option<Self> {
        // Most messages are recognised without being read.
        if !message.contains("\"input_required\"") {
            return None;
        }
        let mut message: Value = serde_json::from_str(message).ok()?;
        let result = message.get_mut("result")?.take();
        if result["resultType"] != "input_required" {
            return None;
        }
        serde_json::from_value(result).ok()
    }
}

impl Connection {
    /// Whether the server uses revision 2026-07-28 or a later one.
    pub(in crate::client) fn is_modern(&self) -> bool {
        let info = self.running.peer().peer_info();
        info.is_some_and(|info| info.protocol_version >= ProtocolVersion::V_2026_07_28)
    }

    /// Makes a request that `rmcp` need not know, and returns the message with its result. The
    /// client answers what the server asks before that.
    pub(super) async fn send(
        &self,
        method: &'static str,
        mut params: Value,
        call: &PendingCall,
    ) -> Result<String, UpstreamError> {
        for _ in 0..MAX_ROUNDS {
            let message = self.send_once(method, params.clone(), call).await?;
            if !self.is_modern() {
                return Ok(message);
            }
            if let Some(task) = Task::of(&message) {
                return self.finish(task, call).await;
            }
            let Some(asked) = InputRequired::of(&message) else { return Ok(message) };
            params["inputResponses"] = self.answers(asked.input_requests, call).await?.into();
            if let Some(state) = asked.request_state {
                params["requestState"] = state;
            }
        }
        let why = format!("it requested input {MAX_ROUNDS} times for one `{method}`");
        Err(self.error(InvocationErrorKind::Failed, &why).into())
    }

    /// The answers of the client to the questions of a server, which it gets all at once.
    pub(super) async fn answers(
        &self,
        requests: Map<String, Value>,
        call: &PendingCall,
    ) -> Result<Map<String, Value>, InvocationError> {
        let client = call.origin().client.as_ref().or_else(|| self.us.client());
        let answers = requests.into_iter().map(async |(key, mut request)| {
            let method = request["method"].as_str().unwrap_or_default().to_owned();
            let Some(client) = client else {
                let why = format!("it asks its client (`{method}`), and there is none to ask");
                return Err(self.error(InvocationErrorKind::Failed, &why));
            };
            let params = match request["params"].take() {
                Value::Null => json!({}),
                params => params,
            };
            match ask(&**client, &key, &method, params, &self.masks).await {
                Ok(answer) => Ok((key, answer)),
                Err(error) => {
                    let why = said_error(&method, error.code, &error.message);
                    let why = format!("it asked the client, and {why}");
                    Err(self.error(InvocationErrorKind::Failed, &why))
                }
            }
        });
        join_all(answers).await.into_iter().collect()
    }

    /// What accompanies a request.
    pub(super) fn options(&self, call: &PendingCall) -> PeerRequestOptions {
        let options = PeerRequestOptions::no_options();
        match self.meta(call) {
            Some(meta) => options.with_meta(meta),
            None => options,
        }
    }

    /// The metadata of a request: the capabilities of the client that makes it. For clients that
    /// cannot say whether they know tasks, we wait for them.
    pub(super) fn meta(&self, call: &PendingCall) -> Option<RequestMetaObject> {
        if !self.is_modern() {
            return None;
        }
        let mut meta = RequestMetaObject::new();
        let client = call.origin().client.as_ref();
        let all = client.or_else(|| self.us.client()).map(|client| client.capabilities());
        let all = all.unwrap_or_default();
        let extensions = all.get("extensions");
        let waits = extensions.is_some_and(|it| it.get(TASKS_EXTENSION_ID).is_some());
        let has_tasks = client.is_none() || waits;
        let mut capabilities = relevant(all);
        if has_tasks {
            capabilities.insert("extensions".to_owned(), json!({ TASKS_EXTENSION_ID: {} }));
        }
        if let Ok(capabilities) = serde_json::from_value(capabilities.into()) {
            meta.set_client_capabilities(capabilities);
        }
        let level = call.origin().log_level.clone();
        let level = level.or_else(|| self.modern.lock().log_level.clone());
        if let Some(level) = level.and_then(|level| serde_json::from_value(level).ok()) {
            meta.set_log_level(level);
        }
        Some(meta)
    }

    /// Does what a request of an earlier revision did, where this one has no such request.
    pub(super) async fn translate(
        &self,
        method: &str,
        params: &Value,
    ) -> Option<Result<Value, UpstreamError>> {
        if !self.is_modern() {
            return None;
        }
        let uri = params["uri"].as_str().unwrap_or_default();
        match method {
            "logging/setLevel" => self.modern.lock().log_level = Some(params["level"].clone()),
            "resources/subscribe" => {
                if let Err(error) = self.subscribe(uri).await {
                    return Some(Err(self.not_subscribed(&error)));
                }
            }
            "resources/unsubscribe" => self.unsubscribe(uri),
            _ => return None,
        }
        Some(Ok(json!({})))
    }

    async fn subscribe(&self, uri: &str) -> Result<(), ServiceError> {
        if let Some((listening, wanted)) = self.modern.lock().resources.get_mut(uri)
            && !listening.is_finished()
        {
            *wanted += 1;
            return Ok(());
        }
        let filter = SubscriptionFilter::builder().resource_subscription(uri).build();
        let peer = self.running.peer().clone();
        let subscription = peer.listen(filter.clone()).await?;
        let hearing = hear(peer, filter, Some(subscription), self.us.clone());
        let listening = AbortOnDropHandle::new(spawn(hearing));
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

    fn not_subscribed(&self, error: &ServiceError) -> UpstreamError {
        match error {
            ServiceError::McpError(error) => UpstreamError::Error(self.rpc_error(error.clone())),
            error => {
                let why = sanitize_line(&error.to_string());
                UpstreamError::NoAnswer(self.error(InvocationErrorKind::Failed, &why))
            }
        }
    }

    /// Listens for changes of the lists that a server may change.
    pub(super) fn listen_for_lists(&self) {
        let capabilities = self.capabilities();
        let changes = |key: &str| {
            let changes = capabilities.get(key).is_some_and(|it| it["listChanged"] == true);
            changes.then_some(true)
        };
        let mut filter = SubscriptionFilter::new();
        filter.tools_list_changed = changes("tools");
        filter.prompts_list_changed = changes("prompts");
        filter.resources_list_changed = changes("resources");
        if !self.is_modern() || filter == SubscriptionFilter::new() {
            return;
        }
        let hearing = hear(self.running.peer().clone(), filter, None, self.us.clone());
        self.modern.lock().lists = Some(AbortOnDropHandle::new(spawn(hearing)));
    }
}

/// Waits for changes of the tools. Those of resources and prompts never get here: they are passed on
/// to the client. A subscription that ends is renewed, unless the server refuses it.
async fn hear(
    peer: Peer<RoleClient>,
    filter: SubscriptionFilter,
    mut opened: Option<Subscription>,
    us: ClientHandler,
) {
    while !peer.is_transport_closed() {
        let subscription = match opened.take() {
            Some(subscription) => Ok(subscription),
            None => peer.listen(filter.clone()).await,
        };
        match subscription {
            Ok(mut subscription) => {
                while let Ok(Some(_)) = subscription.next().await {
                    us.tools_have_changed();
                }
            }
            Err(ServiceError::McpError(_)) => return,
            Err(_) => {}
        }
        sleep(RENEWAL_PAUSE).await;
        // What changed meanwhile was not heard.
        us.tools_have_changed();
    }
}

pub(super) type Modern = Mutex<ModernState>;
