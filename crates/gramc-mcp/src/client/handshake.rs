//! How a connection begins: with `initialize`, or from revision 2026-07-28 of the protocol on with
//! `server/discover`.

use std::time::Duration;

use gramc_tools::RpcError;
use gramc_tools::invocation::InvocationError;
use gramc_tools::sanitize::sanitize_line;
use serde_json::{Map, Value, json};
use tokio::time::timeout;

use super::exchange::Exchange;
use super::inbox::{RequestFault, RequestOptions};
use super::wire::Wire;
use crate::protocol::{
    HEADER_MISMATCH, INVALID_PARAMS, LAST_LEGACY, METHOD_NOT_FOUND, MISSING_CAPABILITY, MODERN,
    UNSUPPORTED_REVISION,
};

/// How long a server may take to say that it knows `server/discover`.
const DISCOVER_LIMIT: Duration = Duration::from_secs(10);

/// The revision that is tried first.
#[derive(Debug, Clone, Copy)]
pub(super) enum Lifecycle {
    /// `initialize`.
    Legacy,
    /// `server/discover`.
    Modern,
    /// `server/discover`, and then `initialize` if the server does not know that.
    ModernFirst,
}

/// What a server says about itself.
#[derive(Debug)]
pub(crate) struct Introduction {
    /// The revision of the protocol that the connection uses.
    pub(super) revision: String,
    /// The result of the first request, as the server sent it.
    pub(crate) result: Map<String, Value>,
}

impl Introduction {
    /// Whether the connection uses revision 2026-07-28 or a later one.
    pub(crate) fn is_modern(&self) -> bool {
        self.revision.as_str() >= MODERN
    }

    /// How to use the server, in its words.
    pub(crate) fn instructions(&self) -> Option<&str> {
        self.result.get("instructions")?.as_str().filter(|text| !text.trim().is_empty())
    }

    /// The name of the server, its version and more.
    pub(crate) fn server_info(&self) -> Option<&Value> {
        let modern = || self.result.get("_meta")?.get("io.modelcontextprotocol/serverInfo");
        self.result.get("serverInfo").or_else(modern)
    }

    /// The capabilities that the server announced.
    pub(crate) fn capabilities(&self) -> Map<String, Value> {
        let capabilities = self.result.get("capabilities").and_then(Value::as_object);
        capabilities.cloned().unwrap_or_default()
    }
}

/// Why a connection does not begin.
#[derive(Debug)]
pub(super) enum HandshakeError {
    /// The server reported it, or violated the protocol.
    Reason(String),
    /// The server refused a revision of the protocol, for this reason.
    OtherRevision(String),
    /// The description is a phrase that follows the name of the server.
    Failed(InvocationError),
    /// The connection ended. What it belonged to may know why.
    Closed,
}

/// The name of this program and its version.
pub(super) fn client_info() -> Value {
    json!({"name": "gramc", "version": env!("CARGO_PKG_VERSION")})
}

/// The metadata of requests from revision 2026-07-28 on.
pub(super) fn modern_meta(info: Value, capabilities: Map<String, Value>) -> Map<String, Value> {
    let key = |name: &str| format!("io.modelcontextprotocol/{name}");
    Map::from_iter([
        (key("protocolVersion"), MODERN.into()),
        (key("clientInfo"), info),
        (key("clientCapabilities"), capabilities.into()),
    ])
}

impl Exchange {
    /// Begins the connection.
    pub(super) async fn begin(&self, lifecycle: Lifecycle) -> Result<Introduction, HandshakeError> {
        match lifecycle {
            Lifecycle::Legacy => self.initialize().await,
            Lifecycle::Modern => self.discover().await,
            Lifecycle::ModernFirst => match timeout(DISCOVER_LIMIT, self.discover()).await {
                Err(_) | Ok(Err(HandshakeError::OtherRevision(_))) => self.initialize().await,
                Ok(outcome) => outcome,
            },
        }
    }

    async fn initialize(&self) -> Result<Introduction, HandshakeError> {
        let own = || {
            Map::from_iter([
                ("protocolVersion".to_owned(), LAST_LEGACY.into()),
                ("capabilities".to_owned(), self.client.capabilities().into()),
                ("clientInfo".to_owned(), self.client_info()),
            ])
        };
        let sent = self.client.get().and_then(|client| client.initialize_params());
        let params = Value::from(sent.unwrap_or_else(own));
        self.set_revision(None);
        let result = match self.first("initialize", params.clone()).await {
            Err(HandshakeError::Failed(error)) => {
                // Servers of revision 2024-11-05 accept no messages at their address.
                let Wire::Http(wire) = &self.wire else {
                    return Err(HandshakeError::Failed(error));
                };
                if wire.open_stream(&self.inbox).await.is_err() {
                    return Err(HandshakeError::Failed(error));
                }
                self.first("initialize", params).await?
            }
            outcome => outcome?,
        };
        let Some(revision) = result["protocolVersion"].as_str().map(str::to_owned) else {
            return Err(not_an_answer("`protocolVersion` is missing"));
        };
        self.set_revision(Some(&revision));
        let sent = self.notify("notifications/initialized", None).await;
        sent.map_err(|_| HandshakeError::Closed)?;
        introduction(revision, result)
    }

    async fn discover(&self) -> Result<Introduction, HandshakeError> {
        self.set_revision(Some(MODERN));
        let result = self.first("server/discover", json!({ "_meta": self.own_meta() })).await?;
        let known = result["supportedVersions"].as_array().into_iter().flatten();
        let known: Vec<_> = known.filter_map(Value::as_str).collect();
        if !known.contains(&MODERN) {
            let why = format!("it knows the revisions {} of the protocol", known.join(", "));
            return Err(HandshakeError::OtherRevision(why));
        }
        introduction(MODERN.to_owned(), result)
    }

    /// Makes the first request of a connection.
    async fn first(&self, method: &'static str, params: Value) -> Result<Value, HandshakeError> {
        let outcome = self.request(method, Some(params), Map::new(), RequestOptions::default());
        outcome.await.map_err(|fault| match fault {
            RequestFault::Answered(error) => {
                let why = describe_error("initialize", &error);
                match error.code {
                    MISSING_CAPABILITY => HandshakeError::Reason(why),
                    // A server that lacks the request may say so in several ways.
                    UNSUPPORTED_REVISION | HEADER_MISMATCH | METHOD_NOT_FOUND | INVALID_PARAMS => {
                        HandshakeError::OtherRevision(why)
                    }
                    _ if method == "server/discover" => HandshakeError::OtherRevision(why),
                    _ => HandshakeError::Reason(why),
                }
            }
            RequestFault::Failed(error) => HandshakeError::Failed(error),
            RequestFault::Closed | RequestFault::LostSession => HandshakeError::Closed,
        })
    }

    /// Names the revision of the protocol in all requests from now on, or none.
    fn set_revision(&self, revision: Option<&str>) {
        if let Wire::Http(wire) = &self.wire {
            wire.set_revision(revision);
        }
    }
}

fn introduction(revision: String, result: Value) -> Result<Introduction, HandshakeError> {
    match result {
        Value::Object(result) => Ok(Introduction { revision, result }),
        _ => Err(not_an_answer("its result is not an object")),
    }
}

fn not_an_answer(why: &str) -> HandshakeError {
    HandshakeError::Reason(format!("it does not answer `initialize` as an MCP server does: {why}"))
}

/// An error of the server, in words.
pub(super) fn describe_error(request: &str, error: &RpcError) -> String {
    let message = sanitize_line(&error.message);
    format!("it answered `{request}` with the error {}: {message}", error.code)
}
