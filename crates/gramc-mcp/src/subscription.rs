//! `subscriptions/listen`, by which clients of revision 2026-07-28 or later learn of changes.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use gramc_tools::invocation::RequestOrigin;
use parking_lot::Mutex;
use serde_json::{Map, Value, json};
use tokio::sync::{broadcast, watch};

use crate::client_link::Change;
use crate::protocol::SUBSCRIPTION_KEY;
use crate::request_context::RequestContext;
use crate::upstream::Upstream;

const TOPICS: [Topic; 4] = [
    Topic::list("toolsListChanged", "tools"),
    Topic::list("promptsListChanged", "prompts"),
    Topic::list("resourcesListChanged", "resources"),
    Topic { key: RESOURCES_KEY, capability: "resources", flag: "subscribe" },
];
const RESOURCES_KEY: &str = "resourceSubscriptions";

/// What clients can subscribe to.
struct Topic {
    /// The key in the filter of a subscription.
    key: &'static str,
    /// The capability of servers that have it, and the flag of the capability.
    capability: &'static str,
    flag: &'static str,
}

impl Topic {
    const fn list(key: &'static str, capability: &'static str) -> Self {
        Self { key, capability, flag: "listChanged" }
    }
}

/// The part of a filter that the server supports.
fn filter_supported(filter: &Value, capabilities: &Value) -> Map<String, Value> {
    let mut accepted = Map::new();
    for Topic { key, capability, flag } in TOPICS {
        let wanted = &filter[key];
        let is_wanted = *wanted == true || wanted.is_array();
        if is_wanted && capabilities[capability][flag] == true {
            accepted.insert(key.to_owned(), wanted.clone());
        }
    }
    accepted
}

/// Whether a subscription covers a notification.
fn covers(accepted: &Map<String, Value>, change: &Change) -> bool {
    let (method, params) = change;
    let Some(topic) = method.strip_prefix("notifications/") else { return false };
    if topic == "resources/updated" {
        let uri = params.as_ref().map(|params| &params["uri"]);
        let uris = accepted.get(RESOURCES_KEY).and_then(Value::as_array);
        return uris.is_some_and(|uris| uris.iter().any(|it| Some(it) == uri));
    }
    let list = topic.strip_suffix("/list_changed");
    TOPICS.iter().any(|topic| {
        topic.flag == "listChanged"
            && Some(topic.capability) == list
            && accepted.contains_key(topic.key)
    })
}

/// Where a subscriber hears of changes.
pub(crate) struct ChangeSources {
    /// Changes when the visible tools do.
    pub(crate) tools: watch::Receiver<usize>,
    pub(crate) changes: broadcast::Receiver<Change>,
    pub(crate) upstream: Upstream,
    pub(crate) subscribers: Arc<Subscribers>,
}

/// The number of subscribers of each resource, which their servers do not count.
#[derive(Default)]
pub(crate) struct Subscribers(Mutex<HashMap<String, usize>>);

impl Subscribers {
    /// Adds a subscriber. Returns whether it is the first one.
    fn add(&self, uri: &Value) -> bool {
        let mut counts = self.0.lock();
        let count = counts.entry(uri.to_string()).or_default();
        *count += 1;
        *count == 1
    }

    /// Removes a subscriber. Returns whether it was the last one.
    fn remove(&self, uri: &Value) -> bool {
        let mut counts = self.0.lock();
        let Entry::Occupied(mut count) = counts.entry(uri.to_string()) else { return false };
        *count.get_mut() -= 1;
        let is_last = *count.get() == 0;
        if is_last {
            count.remove();
        }
        is_last
    }
}

/// Tells the client of changes until it cancels the request or the connection ends.
pub(crate) async fn listen(
    sources: ChangeSources,
    introduction: &Map<String, Value>,
    params: &Value,
    context: &RequestContext,
) -> Value {
    let capabilities = introduction.get("capabilities").unwrap_or(&Value::Null);
    let accepted = filter_supported(&params["notifications"], capabilities);
    let ChangeSources { mut tools, mut changes, upstream, subscribers } = sources;
    let id = json!({ SUBSCRIPTION_KEY: context.id });
    let acknowledged = json!({"_meta": id, "notifications": accepted});
    let method = "notifications/subscriptions/acknowledged";
    context.outbox.notify(method, Some(acknowledged)).await;
    let subscribed = accepted.get(RESOURCES_KEY).and_then(Value::as_array);
    let subscribed: Vec<_> = subscribed.into_iter().flatten().collect();
    let origin = RequestOrigin::default;
    for uri in &subscribed {
        // The client hears of resources that its servers know.
        if subscribers.add(uri) {
            let _ = upstream.answer("resources/subscribe", json!({ "uri": uri }), origin()).await;
        }
    }
    let list_changed = |list: &str| (format!("notifications/{list}/list_changed"), None);
    loop {
        let news = tokio::select! {
            () = context.cancelled.cancelled() => break,
            () = context.over.cancelled() => break,
            // The senders live as long as the conversation.
            _ = tools.changed() => vec![list_changed("tools")],
            change = changes.recv() => match change {
                Ok(change) => vec![change],
                // Some were missed.
                Err(_) => ["tools", "resources", "prompts"].map(list_changed).to_vec(),
            },
        };
        for (method, params) in news.into_iter().filter(|change| covers(&accepted, change)) {
            context.outbox.notify(&method, Some(with_meta(params, &id))).await;
        }
    }
    for uri in &subscribed {
        if subscribers.remove(uri) {
            let _ = upstream.answer("resources/unsubscribe", json!({ "uri": uri }), origin()).await;
        }
    }
    let mut meta = introduction.get("_meta").cloned().unwrap_or_default();
    meta[SUBSCRIPTION_KEY] = context.id.clone();
    json!({"resultType": "complete", "_meta": meta})
}

/// The parameters of a notification, with further metadata.
fn with_meta(params: Option<Value>, more: &Value) -> Value {
    let mut params = match params {
        Some(Value::Object(params)) => params,
        _ => Map::new(),
    };
    let meta = params.entry("_meta").or_insert_with(|| json!({}));
    if let (Value::Object(meta), Value::Object(more)) = (meta, more) {
        meta.extend(more.clone());
    }
    params.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_subscriber_ends_a_subscription() {
        let (subscribers, uri) = (Subscribers::default(), json!("a:b"));
        assert!(subscribers.add(&uri));
        assert!(!subscribers.add(&uri));
        assert!(!subscribers.remove(&uri));
        assert!(subscribers.remove(&uri));
        assert!(subscribers.add(&uri));
    }
}
