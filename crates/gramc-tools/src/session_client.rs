//! The client of a session, as implementations see it.

use std::fmt;
use std::time::Duration;

use futures_util::future::BoxFuture;
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// An error of JSON-RPC.
#[derive(Debug, Clone, PartialEq, Deserialize, thiserror::Error)]
#[serde(try_from = "Map<String, Value>")]
#[error("{message}")]
pub struct RpcError {
    /// The code.
    pub code: i32,
    /// The message.
    pub message: String,
    /// The other entries, such as `data`.
    pub others: Map<String, Value>,
}

impl RpcError {
    /// An error without further data.
    pub fn new(code: i32, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), others: Map::new() }
    }

    /// The error with data.
    #[must_use]
    pub fn with_data(mut self, data: Value) -> Self {
        self.others.insert("data".to_owned(), data);
        self
    }

    /// The error as JSON.
    pub fn into_json(self) -> Value {
        let mut json = json!({"code": self.code, "message": self.message});
        if let Value::Object(entries) = &mut json {
            entries.extend(self.others);
        }
        json
    }
}

impl TryFrom<Map<String, Value>> for RpcError {
    type Error = &'static str;

    fn try_from(mut others: Map<String, Value>) -> Result<Self, Self::Error> {
        let code = others.shift_remove("code").and_then(|code| code.as_i64());
        let code = code.and_then(|code| code.try_into().ok());
        match (code, others.shift_remove("message")) {
            (Some(code), Some(Value::String(message))) => Ok(Self { code, message, others }),
            _ => Err("an error needs an integer `code` and a text as `message`"),
        }
    }
}

impl fmt::Debug for dyn SessionClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SessionClient")
    }
}

/// The client of a session, which the MCP servers behind the session can address.
pub trait SessionClient: Send + Sync {
    /// The capabilities that the client announced.
    fn capabilities(&self) -> Map<String, Value>;

    /// The name of the client and its version, as it announced them, if that is known.
    fn info(&self) -> Option<Value> {
        None
    }

    /// The parameters of the client's `initialize`, with the revision that it uses, if it sent one.
    fn initialize_params(&self) -> Option<Map<String, Value>> {
        None
    }

    /// Whether the client receives progress and messages of servers.
    fn hears(&self) -> bool;

    /// Whether the client uses revision 2026-07-28 of the protocol or a later one, so that servers
    /// that know it are spoken to in it, too.
    fn is_modern(&self) -> bool {
        false
    }

    /// How long the client was asked so far, if that belongs to one request of it.
    fn time_asked(&self) -> Duration {
        Duration::ZERO
    }

    /// A server goes on with the request of the client as a task, which takes longer.
    fn continues_as_task(&self) {}

    /// Passes a notification of a server on. The client receives them in the order of these calls.
    fn notify(&self, method: String, params: Option<Value>) -> BoxFuture<'_, ()>;

    /// Passes a request of a server on, and returns the client's result. `key` is what the server
    /// calls the request. If the future is dropped, the request is cancelled.
    fn request(
        &self,
        key: String,
        method: String,
        params: Option<Value>,
    ) -> BoxFuture<'_, Result<Value, RpcError>>;
}
