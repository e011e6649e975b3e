//! The client of a session, as implementations see it.

use std::fmt;
use std::time::Duration;

use futures_util::future::BoxFuture;
use serde::Deserialize;
use serde_json::{Map, Value};

/// An error of JSON-RPC.
#[derive(Debug, Clone, PartialEq, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct RpcError {
    /// The code.
    pub code: i32,
    /// The message.
    pub message: String,
    /// Further data.
    pub data: Option<Value>,
}

impl RpcError {
    /// An error without further data.
    pub fn new(code: i32, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
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
