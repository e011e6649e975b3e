//! The requests of a session: the handshake, then the pages of tools.

use std::collections::HashSet;
use std::process::ExitStatus;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use gramc_tools::SessionClient;
use gramc_tools::masks::SecretMasks;
use gramc_tools::sanitize::sanitize_line;
use rmcp::ErrorData;
use rmcp::model::{
    ClientCapabilities, ClientConfig, ClientRequest, CustomRequest, CustomResult, ErrorCode,
    Implementation, ListToolsRequest, PaginatedRequestParams, ProtocolVersion, ServerResult,
};
use rmcp::service::{
    ClientInitializeError, NotificationContext, Peer, RequestContext, RoleClient, ServiceError,
};
use serde_json::{Value, json};

use super::client_slot::ClientSlot;
use super::lines::MAX_MESSAGE_BYTES;
use super::wire::open_list;
use crate::protocol::to_error_data;

/// The most pages that a list of tools may have.
const PAGE_LIMIT: usize = 1_000;

/// Why there is no answer.
#[derive(Debug)]
pub(super) enum RequestFailure {
    /// The server reported it, or violated the protocol.
    Reason(String),
    /// The server refused a revision of the protocol, for this reason.
    OtherRevision(String),
    /// The connection is gone; what it belonged to may know why. Holds the request that was open.
    Closed(&'static str),
}

impl RequestFailure {
    /// The failure in words. `ended` is how the server's process ended, if it did.
    pub(super) fn describe(self, ended: Option<ExitStatus>) -> String {
        match (self, ended) {
            (Self::Reason(why) | Self::OtherRevision(why), _) => why,
            (Self::Closed(request), Some(status)) => {
                format!("it ended before it answered `{request}` ({status})")
            }
            (Self::Closed(request), None) => format!("it hung up before it answered `{request}`"),
        }
    }
}

/// The client's side of a session: its identity, the notifications that it handles, and the
/// client that answers the server's requests.
#[derive(Clone)]
pub(super) struct ClientHandler {
    /// Set when the server says that it has other tools now.
    pub(super) other_tools: Arc<AtomicBool>,
    client: Arc<ClientSlot>,
    masks: Arc<SecretMasks>,
}

impl ClientHandler {
    pub(super) fn new(client: &Arc<ClientSlot>, masks: &Arc<SecretMasks>) -> Self {
        let (client, masks) = (Arc::clone(client), Arc::clone(masks));
        Self { other_tools: Arc::default(), client, masks }
    }

    /// The client that answers the server's requests, if there is one.
    pub(super) fn client(&self) -> Option<&Arc<dyn SessionClient>> {
        self.client.get()
    }

    /// The server says that it has other tools now.
    pub(super) fn tools_have_changed(&self) {
        self.other_tools.store(true, Ordering::Release);
    }
}

impl rmcp::ClientHandler for ClientHandler {
    fn get_info(&self) -> ClientConfig {
        let us = Implementation::new("gramc", env!("CARGO_PKG_VERSION"));
        let capabilities: Option<ClientCapabilities> =
            serde_json::from_value(self.client.capabilities().into()).ok();
        let config = ClientConfig::new(capabilities.unwrap_or_default(), us);
        // The last one that has `initialize`.
        config.with_protocol_version(ProtocolVersion::V_2025_11_25)
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        mut context: RequestContext<RoleClient>,
    ) -> Result<CustomResult, ErrorData> {
        let mut params = request.params.unwrap_or_else(|| json!({}));
        // The client's progress with the request is not passed on.
        context.meta.remove("progressToken");
        if let (false, Some(params)) = (context.meta.is_empty(), params.as_object_mut()) {
            params.insert("_meta".to_owned(), json!(context.meta));
        }
        let answer = self.client.answer(&request.method, params, &self.masks);
        tokio::select! {
            biased;
            () = context.ct.cancelled() => {
                Err(ErrorData::internal_error("the request was cancelled", None))
            }
            answer = answer => answer.map(CustomResult::new).map_err(to_error_data),
        }
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.tools_have_changed();
    }
}

pub(super) fn late(request: &str, limit: Duration) -> RequestFailure {
    let seconds = limit.as_secs_f32();
    RequestFailure::Reason(format!("it did not answer `{request}` within {seconds} seconds"))
}

/// The tools of all pages.
pub(super) async fn all_pages(peer: &Peer<RoleClient>) -> Result<Vec<Value>, RequestFailure> {
    let mut pages = ToolPages::default();
    for _ in 0..PAGE_LIMIT {
        let mut params = PaginatedRequestParams::default();
        params.cursor.clone_from(&pages.cursor);
        let request = ListToolsRequest::with_param(params);
        let answer = peer
            .send_request(ClientRequest::ListToolsRequest(request))
            .await
            .map_err(|error| explain_silence("tools/list", &error))?;
        if pages.add(&answer).map_err(|error| RequestFailure::Reason(error.to_string()))? {
            return Ok(pages.tools);
        }
    }
    Err(RequestFailure::Reason(ListError::TooManyPages.to_string()))
}

/// Why a list of tools is invalid.
#[derive(Debug, thiserror::Error)]
enum ListError {
    #[error("its answer to `tools/list` holds no `tools`")]
    NoTools,
    #[error("`tools` of its answer to `tools/list` is not a list")]
    NoList,
    #[error("`nextCursor` of its answer to `tools/list` is not text")]
    InvalidCursor,
    #[error("its list of tools has no end: the cursor \"{0}\" came twice")]
    RepeatedCursor(String),
    #[error("its list of tools is longer than {} megabytes", MAX_MESSAGE_BYTES >> 20)]
    TooLong,
    #[error("its list of tools has more than {PAGE_LIMIT} pages")]
    TooManyPages,
}

#[derive(Default)]
struct ToolPages {
    tools: Vec<Value>,
    bytes: usize,
    cursor: Option<String>,
    cursors: HashSet<String>,
}

impl ToolPages {
    /// Adds a page. Returns whether it is the last one.
    fn add(&mut self, answer: &ServerResult) -> Result<bool, ListError> {
        let Some((mut page, bytes)) = open_list(answer) else {
            return Err(ListError::NoTools);
        };
        self.bytes += bytes;
        if self.bytes > MAX_MESSAGE_BYTES {
            return Err(ListError::TooLong);
        }
        let Some(Value::Array(tools)) = page.get_mut("tools").map(Value::take) else {
            return Err(ListError::NoList);
        };
        self.tools.extend(tools);
        let cursor = match page.get_mut("nextCursor").map(Value::take) {
            // The protocol ends a list by leaving the cursor out; some servers send an empty one.
            None | Some(Value::Null) => return Ok(true),
            Some(Value::String(cursor)) if cursor.is_empty() => return Ok(true),
            Some(Value::String(cursor)) => cursor,
            Some(_) => return Err(ListError::InvalidCursor),
        };
        if !self.cursors.insert(cursor.clone()) {
            return Err(ListError::RepeatedCursor(sanitize_line(&cursor)));
        }
        self.cursor = Some(cursor);
        Ok(false)
    }
}

/// Why the server did not let us in.
pub(super) fn explain_refusal(error: &ClientInitializeError) -> RequestFailure {
    match error {
        ClientInitializeError::JsonRpcError(error) => {
            let why = said_error("initialize", error.code.0, &error.message);
            match error.code {
                // A server that has no `initialize` may say so in several ways.
                ErrorCode::UNSUPPORTED_PROTOCOL_VERSION
                | ErrorCode::HEADER_MISMATCH
                | ErrorCode::METHOD_NOT_FOUND
                | ErrorCode::INVALID_PARAMS => RequestFailure::OtherRevision(why),
                _ => RequestFailure::Reason(why),
            }
        }
        ClientInitializeError::ConnectionClosed(_)
        | ClientInitializeError::TransportError { .. } => RequestFailure::Closed("initialize"),
        other => RequestFailure::Reason(format!(
            "it does not answer `initialize` as an MCP server does: {}",
            sanitize_line(&other.to_string())
        )),
    }
}

/// Why the server did not answer a request.
pub(super) fn explain_silence(request: &'static str, error: &ServiceError) -> RequestFailure {
    match error {
        ServiceError::McpError(error) => {
            RequestFailure::Reason(said_error(request, error.code.0, &error.message))
        }
        ServiceError::TransportSend(_)
        | ServiceError::TransportClosed
        | ServiceError::Cancelled { .. } => RequestFailure::Closed(request),
        other => RequestFailure::Reason(sanitize_line(&other.to_string())),
    }
}

/// An error of the server, in words.
pub(super) fn said_error(request: &str, code: i32, message: &str) -> String {
    let message = sanitize_line(message);
    format!("it answered `{request}` with the error {code}: {message}")
}
