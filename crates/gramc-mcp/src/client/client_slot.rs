//! What servers say to the client of a session.

use std::sync::{Arc, OnceLock};

use gramc_tools::invocation::RequestOrigin;
use gramc_tools::masks::SecretMasks;
use gramc_tools::{RpcError, SessionClient};
use serde_json::{Map, Value};

use crate::protocol::{INVALID_PARAMS, not_found};

pub(super) const PROGRESS: &str = "notifications/progress";
/// The requests of servers that need a capability of the client.
const REQUESTS: [(&str, &str); 3] = [
    ("sampling/createMessage", "sampling"),
    ("elicitation/create", "elicitation"),
    ("roots/list", "roots"),
];

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

    /// The capabilities of the client, which its server learns.
    pub(super) fn capabilities(&self) -> Map<String, Value> {
        self.get().map(|client| client.capabilities()).unwrap_or_default()
    }

    /// Passes a notification of a server on. `origin` is the request of the client that it belongs
    /// to, if that is known.
    pub(super) async fn pass_notification(
        &self,
        method: String,
        params: Option<Value>,
        masks: &SecretMasks,
        origin: Option<&RequestOrigin>,
    ) {
        // Changes concern all who have subscribed to them.
        let of_request = origin.and_then(|origin| origin.client.as_ref());
        let client = of_request.filter(|_| !is_change(&method)).or_else(|| self.get());
        let client = client.filter(|client| client.hears() || is_change(&method));
        let Some(client) = client else { return };
        let mut params = params.map(|params| masks.result(params));
        if method == PROGRESS {
            let token = origin.and_then(|it| it.progress_token.as_ref());
            let (Some(token), Some(Value::Object(params))) = (token, &mut params) else { return };
            params.insert("progressToken".to_owned(), token.clone());
        }
        client.notify(method, params).await;
    }

    /// Answers a request of a server.
    pub(super) async fn answer(
        &self,
        method: &str,
        params: Option<Value>,
        masks: &SecretMasks,
    ) -> Result<Value, RpcError> {
        let client = self.get().ok_or_else(|| not_found(method))?;
        ask(&**client, method, method, params, masks).await
    }
}

/// Passes a request of a server on to a client, if the client has the capability for it.
pub(super) async fn ask(
    client: &dyn SessionClient,
    key: &str,
    method: &str,
    params: Option<Value>,
    masks: &SecretMasks,
) -> Result<Value, RpcError> {
    if let Some((_, needed)) = REQUESTS.iter().find(|(known, _)| *known == method) {
        let capabilities = client.capabilities();
        let capability = capabilities.get(*needed).ok_or_else(|| not_found(method))?;
        let is_url = params.as_ref().is_some_and(|params| params["mode"] == "url");
        if is_url && capability.get("url").is_none() {
            let why = "the client does not support the mode `url`";
            return Err(RpcError::new(INVALID_PARAMS, why));
        }
    }
    let params = params.map(|params| masks.result(params));
    client.request(key.to_owned(), method.to_owned(), params).await
}

/// Whether a notification says that something has changed.
fn is_change(method: &str) -> bool {
    ["resources", "prompts", "tools"]
        .iter()
        .any(|list| method.strip_prefix("notifications/").is_some_and(|it| it.starts_with(list)))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failed step fails the test")]

    use futures_util::future::BoxFuture;
    use parking_lot::Mutex;
    use serde_json::json;

    use super::*;

    #[derive(Default)]
    struct Client {
        capabilities: Map<String, Value>,
        heard: Mutex<Vec<(String, Option<Value>)>>,
    }

    impl SessionClient for Client {
        fn capabilities(&self) -> Map<String, Value> {
            self.capabilities.clone()
        }

        fn hears(&self) -> bool {
            true
        }

        fn notify(&self, method: String, params: Option<Value>) -> BoxFuture<'_, ()> {
            self.heard.lock().push((method, params));
            Box::pin(std::future::ready(()))
        }

        fn request(
            &self,
            _: String,
            method: String,
            params: Option<Value>,
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
        let pass = async |method: &str, params: Value| {
            let progress_token = Some(json!("own"));
            let origin = RequestOrigin { progress_token, ..RequestOrigin::default() };
            let origin = (params["progressToken"] == 7).then_some(&origin);
            slot.pass_notification(method.to_owned(), Some(params), &masks, origin).await;
        };
        let data = json!({"level": "info", "data": {"own": [1, "s3cret"]}, "z": 1});
        pass("notifications/message", data).await;
        for token in [7, 8] {
            pass(PROGRESS, json!({"progressToken": token, "progress": 1})).await;
        }
        slot.pass_notification("notifications/other".to_owned(), None, &masks, None).await;
        // A server may send anything.
        let own = RequestOrigin { progress_token: Some(json!("own")), ..RequestOrigin::default() };
        for params in [None, Some(json!([1])), Some(json!("x"))] {
            slot.pass_notification(PROGRESS.to_owned(), params, &masks, Some(&own)).await;
        }
        let heard = client.heard.lock().clone();
        let masked = json!({"level": "info", "data": {"own": [1, "***"]}, "z": 1});
        let heard_of = |method: &str, params| (method.to_owned(), params);
        assert_eq!(
            heard,
            [
                heard_of("notifications/message", Some(masked)),
                heard_of(PROGRESS, Some(json!({"progressToken": "own", "progress": 1}))),
                heard_of("notifications/other", None),
            ]
        );
    }

    #[tokio::test]
    async fn requests_need_the_capability() {
        let (client, slot) = client(&json!({"elicitation": {}, "experimental": {}}));
        let masks = SecretMasks::new([]);
        let ask = async |method: &str, params: Value| {
            slot.answer(method, Some(params), &masks).await.map_err(|error| error.code)
        };
        let message = json!({"message": "a"});
        let accepted = Ok(json!({"action": "accept"}));
        assert_eq!(ask("elicitation/create", message.clone()).await, accepted);
        assert_eq!(client.heard.lock()[0], ("elicitation/create".to_owned(), Some(message)));
        assert_eq!(ask("elicitation/create", json!({"mode": "url"})).await, Err(-32602));
        for method in ["roots/list", "sampling/createMessage"] {
            assert_eq!(ask(method, json!({})).await, Err(-32601));
        }
        assert_eq!(ask("extension/ask", json!({})).await, accepted);
        let nobody = ClientSlot::default();
        let error = nobody.answer("roots/list", None, &masks).await.unwrap_err();
        assert_eq!(error.code, -32601);
    }
}
