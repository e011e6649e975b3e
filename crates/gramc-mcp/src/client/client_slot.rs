//! What servers say to the client of a session.
//!
//! Such messages do not pass through the types of `rmcp`, which drop unknown keys. They are taken
//! out of the server's messages in their order, before responses that follow them are handled.

use std::sync::{Arc, OnceLock};

use gramc_tools::invocation::RequestOrigin;
use gramc_tools::masks::SecretMasks;
use gramc_tools::{RpcError, SessionClient};
use serde_json::{Map, Value, json};

/// The notifications of servers that concern the client.
const NOTIFICATIONS: [&str; 6] = [
    "notifications/message",
    PROGRESS,
    "notifications/resources/updated",
    "notifications/resources/list_changed",
    "notifications/prompts/list_changed",
    "notifications/elicitation/complete",
];
const PROGRESS: &str = "notifications/progress";
/// The requests of servers that the client answers, with the capability that they need.
const REQUESTS: [(&str, &str); 3] = [
    ("sampling/createMessage", "sampling"),
    ("elicitation/create", "elicitation"),
    ("roots/list", "roots"),
];
/// Marks the methods of requests for the client, so that `rmcp` does not parse them.
const MARK: &str = "gramc/";

/// The client of a connection, once there is one.
#[derive(Default)]
pub(super) struct ClientSlot(OnceLock<Arc<dyn SessionClient>>);

impl ClientSlot {
    /// A slot for a client that is known already.
    pub(super) fn of(client: Option<Arc<dyn SessionClient>>) -> Self {
        Self(client.map_or_else(OnceLock::new, OnceLock::from))
    }

    /// Sets the client. The first one stays.
    pub(super) fn set(&self, client: Arc<dyn SessionClient>) {
        let _ = self.0.set(client);
    }

    pub(super) fn get(&self) -> Option<&Arc<dyn SessionClient>> {
        self.0.get()
    }

    /// Whether the client uses revision 2026-07-28 of the protocol or a later one.
    pub(super) fn is_modern(&self) -> bool {
        self.get().is_some_and(|client| client.is_modern())
    }

    /// The capabilities that a server learns: those that requests of servers need.
    pub(super) fn capabilities(&self) -> Map<String, Value> {
        let announced = self.get().map(|client| client.capabilities());
        relevant(announced.unwrap_or_default())
    }

    /// Passes a message of a server on if it is a notification for the client. `origin` is the
    /// request of the client that the message belongs to, if that is known.
    ///
    /// Returns whether the message is done.
    pub(super) async fn takes_notification(
        &self,
        message: &Value,
        masks: &SecretMasks,
        origin: Option<&RequestOrigin>,
    ) -> bool {
        let Some(method) = message["method"].as_str() else { return false };
        if message.get("id").is_some() || !NOTIFICATIONS.contains(&method) {
            return false;
        }
        // Changes concern all who have subscribed to them.
        let of_request = origin.and_then(|origin| origin.client.as_ref());
        let client = of_request.filter(|_| !is_change(method)).or_else(|| self.get());
        let Some(client) = client.filter(|client| client.hears() || is_change(method)) else {
            return true;
        };
        let mut params = message.get("params").cloned().unwrap_or_else(|| json!({}));
        if method == PROGRESS {
            let Some(token) = origin.and_then(|it| it.progress_token.as_ref()) else { return true };
            params["progressToken"] = token.clone();
        }
        client.notify(method.to_owned(), masks.result(params)).await;
        true
    }

    /// Answers a request of a server whose method was [marked](mark).
    pub(super) async fn answer(
        &self,
        method: &str,
        params: Value,
        masks: &SecretMasks,
    ) -> Result<Value, RpcError> {
        let method = method.strip_prefix(MARK).unwrap_or(method);
        let client = self.get().ok_or_else(|| not_found(method))?;
        ask(&**client, method, method, params, masks).await
    }
}

fn not_found(method: &str) -> RpcError {
    RpcError::new(-32601, format!("Method not found: {method}"))
}

/// Passes a request of a server on to a client, if the client has the capability for it.
pub(super) async fn ask(
    client: &dyn SessionClient,
    key: &str,
    method: &str,
    params: Value,
    masks: &SecretMasks,
) -> Result<Value, RpcError> {
    let needed = REQUESTS.iter().find(|(known, _)| *known == method);
    let (_, needed) = needed.ok_or_else(|| not_found(method))?;
    let capabilities = client.capabilities();
    let capability = capabilities.get(*needed).ok_or_else(|| not_found(method))?;
    if params["mode"] == "url" && capability.get("url").is_none() {
        return Err(RpcError::new(-32602, "the client does not support the mode `url`"));
    }
    client.request(key.to_owned(), method.to_owned(), masks.result(params)).await
}

/// The capabilities that requests of servers need.
pub(super) fn relevant(mut capabilities: Map<String, Value>) -> Map<String, Value> {
    capabilities.retain(|key, _| REQUESTS.iter().any(|(_, needed)| needed == key));
    capabilities
}

/// Whether a notification says that something has changed.
fn is_change(method: &str) -> bool {
    method.starts_with("notifications/resources/") || method.starts_with("notifications/prompts/")
}

/// Marks the method of a request for the client. Returns whether it is one.
pub(super) fn mark(message: &mut Value) -> bool {
    if message.get("id").is_none() {
        return false;
    }
    let Some(method) = message["method"].as_str() else { return false };
    if !REQUESTS.iter().any(|(known, _)| *known == method) {
        return false;
    }
    message["method"] = format!("{MARK}{method}").into();
    true
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failed step fails the test")]

    use futures_util::future::BoxFuture;
    use parking_lot::Mutex;

    use super::*;

    #[derive(Default)]
    struct Client {
        capabilities: Map<String, Value>,
        heard: Mutex<Vec<(String, Value)>>,
    }

    impl SessionClient for Client {
        fn capabilities(&self) -> Map<String, Value> {
            self.capabilities.clone()
        }

        fn hears(&self) -> bool {
            true
        }

        fn notify(&self, method: String, params: Value) -> BoxFuture<'_, ()> {
            self.heard.lock().push((method, params));
            Box::pin(std::future::ready(()))
        }

        fn request(
            &self,
            _: String,
            method: String,
            params: Value,
        ) -> BoxFuture<'_, Result<Value, RpcError>> {
            self.heard.lock().push((method, params));
            Box::pin(std::future::ready(Ok(json!({"action": "accept"}))))
        }
    }

    fn client(capabilities: &Value) -> (Arc<Client>, ClientSlot) {
        let capabilities = capabilities.as_object().unwrap().clone();
        let client = Arc::new(Client { capabilities, ..Client::default() });
        let slot = ClientSlot::of(Some(Arc::<Client>::clone(&client)));
        (client, slot)
    }

    #[tokio::test]
    async fn notifications_keep_all_keys_and_lose_secrets() {
        let (client, slot) = client(&json!({}));
        let masks = SecretMasks::new(["s3cret".to_owned()]);
        let takes = async |message: Value| {
            let progress_token = Some(json!("own"));
            let origin = RequestOrigin { progress_token, ..RequestOrigin::default() };
            let origin = (message["params"]["progressToken"] == 7).then_some(&origin);
            slot.takes_notification(&message, &masks, origin).await
        };
        let data = json!({"level": "info", "data": {"own": [1, "s3cret"]}, "z": 1});
        assert!(takes(json!({"method": "notifications/message", "params": data})).await);
        let progress = |token: u64| json!({"method": PROGRESS, "params": {"progressToken": token, "progress": 1}});
        assert!(takes(progress(7)).await);
        assert!(takes(progress(8)).await);
        assert!(!takes(json!({"method": "notifications/tools/list_changed"})).await);
        assert!(!takes(json!({"id": 1, "method": "notifications/message"})).await);
        assert!(!takes(json!({"id": 1, "result": {}})).await);
        let heard = client.heard.lock().clone();
        let masked = json!({"level": "info", "data": {"own": [1, "***"]}, "z": 1});
        assert_eq!(heard[0], ("notifications/message".to_owned(), masked));
        assert_eq!(heard[1].1, json!({"progressToken": "own", "progress": 1}));
        assert_eq!(heard.len(), 2);
    }

    #[tokio::test]
    async fn requests_need_the_capability() {
        let (client, slot) = client(&json!({"elicitation": {}, "experimental": {}}));
        assert_eq!(Value::from(slot.capabilities()), json!({"elicitation": {}}));
        let masks = SecretMasks::new([]);
        let mut ask = json!({"id": 1, "method": "elicitation/create", "params": {"message": "a"}});
        assert!(mark(&mut ask));
        assert!(!mark(&mut json!({"id": 1, "method": "ping"})));
        let method = ask["method"].as_str().unwrap();
        let answer = slot.answer(method, ask["params"].clone(), &masks).await;
        assert_eq!(answer, Ok(json!({"action": "accept"})));
        assert_eq!(
            client.heard.lock()[0],
            ("elicitation/create".to_owned(), ask["params"].clone())
        );
        let url = slot.answer(method, json!({"mode": "url"}), &masks).await;
        assert_eq!(url.unwrap_err().code, -32602);
        for method in ["gramc/roots/list", "gramc/sampling/createMessage", "other"] {
            assert_eq!(slot.answer(method, json!({}), &masks).await.unwrap_err().code, -32601);
        }
        let nobody = ClientSlot::default();
        assert_eq!(nobody.answer(method, json!({}), &masks).await.unwrap_err().code, -32601);
    }
}
