//! What the revisions of the protocol have in common, and what distinguishes them.

use gramc_tools::RpcError;
use gramc_tools::sanitize::sanitize_line;
use serde_json::{Map, Value, json};

/// The result of a request or its error.
pub(crate) type Answer = Result<Value, RpcError>;

/// The first revision without sessions and handshakes.
pub(crate) const MODERN: &str = "2026-07-28";
/// The last revision with a handshake.
pub(crate) const LAST_LEGACY: &str = "2025-11-25";
/// The first revision in which an event stream may begin with an event that has no message.
pub(crate) const EMPTY_EVENTS: &str = LAST_LEGACY;
/// All revisions that gramc knows.
pub(crate) const REVISIONS: [&str; 5] =
    ["2024-11-05", "2025-03-26", "2025-06-18", LAST_LEGACY, MODERN];

pub(crate) const PARSE_ERROR: i32 = -32700;
pub(crate) const INVALID_REQUEST: i32 = -32600;
pub(crate) const METHOD_NOT_FOUND: i32 = -32601;
pub(crate) const INVALID_PARAMS: i32 = -32602;
pub(crate) const INTERNAL_ERROR: i32 = -32603;
/// Until revision 2025-11-25; afterwards, the parameters are invalid.
pub(crate) const RESOURCE_NOT_FOUND: i32 = -32002;
pub(crate) const HEADER_MISMATCH: i32 = -32020;
pub(crate) const MISSING_CAPABILITY: i32 = -32021;
pub(crate) const UNSUPPORTED_REVISION: i32 = -32022;

/// The header with the id of an HTTP session.
pub(crate) const SESSION_HEADER: &str = "mcp-session-id";

/// The extension for requests that go on as tasks.
pub(crate) const TASKS_EXTENSION: &str = "io.modelcontextprotocol/tasks";

/// The keys of `_meta` that concern one connection only begin with this.
pub(crate) const META_PREFIX: &str = "io.modelcontextprotocol/";
pub(crate) const REVISION_KEY: &str = "io.modelcontextprotocol/protocolVersion";
pub(crate) const CAPABILITIES_KEY: &str = "io.modelcontextprotocol/clientCapabilities";
pub(crate) const CLIENT_KEY: &str = "io.modelcontextprotocol/clientInfo";
pub(crate) const LOG_LEVEL_KEY: &str = "io.modelcontextprotocol/logLevel";
pub(crate) const SERVER_KEY: &str = "io.modelcontextprotocol/serverInfo";
pub(crate) const SUBSCRIPTION_KEY: &str = "io.modelcontextprotocol/subscriptionId";

/// Whether a revision has no handshake: its clients describe themselves in each request and
/// subscribe to notifications.
pub(crate) fn is_modern(revision: &str) -> bool {
    // Revisions are dates.
    revision >= MODERN
}

/// What a client says about itself.
#[derive(Debug, Clone, Default)]
pub(crate) struct ClientIntroduction {
    pub(crate) revision: String,
    pub(crate) capabilities: Map<String, Value>,
    pub(crate) info: Option<Value>,
    /// The parameters of `initialize`, with the revision that is used.
    pub(crate) params: Option<Map<String, Value>>,
}

impl ClientIntroduction {
    pub(crate) fn is_modern(&self) -> bool {
        is_modern(&self.revision)
    }

    /// That of `initialize`, with the revision that is used from then on.
    pub(crate) fn of_initialize(params: &Value) -> Self {
        let requested = params["protocolVersion"].as_str().unwrap_or_default();
        let is_known = REVISIONS.contains(&requested) && !is_modern(requested);
        let revision = if is_known { requested } else { LAST_LEGACY };
        let mut own = params.as_object().cloned().unwrap_or_default();
        own.insert("protocolVersion".to_owned(), revision.into());
        Self {
            revision: revision.to_owned(),
            capabilities: params["capabilities"].as_object().cloned().unwrap_or_default(),
            info: params.get("clientInfo").filter(|info| info.is_object()).cloned(),
            params: Some(own),
        }
    }

    /// That of a request, if it is complete.
    pub(crate) fn of_request(meta: &Map<String, Value>) -> Result<Self, RpcError> {
        let revision = meta.get(REVISION_KEY).and_then(Value::as_str);
        let capabilities = meta.get(CAPABILITIES_KEY).and_then(Value::as_object);
        if let Some(revision) = revision.filter(|revision| !REVISIONS.contains(revision)) {
            let data = json!({"requested": revision, "supported": REVISIONS});
            let error = RpcError::new(UNSUPPORTED_REVISION, "Unsupported protocol version");
            return Err(error.with_data(data));
        }
        let (Some(revision), Some(capabilities)) = (revision, capabilities) else {
            return Err(RpcError::new(INVALID_PARAMS, describe_missing(meta)));
        };
        let info = meta.get(CLIENT_KEY).cloned();
        let (revision, capabilities) = (revision.to_owned(), capabilities.clone());
        Ok(Self { revision, capabilities, info, params: None })
    }
}

/// Which parts of an introduction a request lacks.
fn describe_missing(meta: &Map<String, Value>) -> String {
    let has = |key: &str| match meta.get(key) {
        Some(Value::String(_)) => key == REVISION_KEY,
        Some(Value::Object(_)) => key == CAPABILITIES_KEY,
        _ => false,
    };
    let missing: Vec<_> =
        [REVISION_KEY, CAPABILITIES_KEY].into_iter().filter(|key| !has(key)).collect();
    format!(
        "`_meta` is missing `{}`: send it with each request, or begin with `initialize`",
        missing.join("` and `")
    )
}

/// Whether these capabilities of a client or a server include tasks.
pub(crate) fn has_tasks(capabilities: &Map<String, Value>) -> bool {
    let extensions = capabilities.get("extensions");
    extensions.is_some_and(|extensions| extensions.get(TASKS_EXTENSION).is_some())
}

/// That a peer has no such method.
pub(crate) fn not_found(method: &str) -> RpcError {
    RpcError::new(METHOD_NOT_FOUND, format!("Method not found: {}", sanitize_line(method)))
}

pub(crate) fn invalid_params(message: &str) -> RpcError {
    RpcError::new(INVALID_PARAMS, message)
}

pub(crate) fn internal(message: impl Into<String>) -> RpcError {
    RpcError::new(INTERNAL_ERROR, message)
}
