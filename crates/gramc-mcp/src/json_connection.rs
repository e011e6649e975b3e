//! A connection whose results are JSON.

use std::collections::BTreeMap;

use rmcp::model::{
    ClientNotification, ClientRequest, CustomRequest, ServerConfig, ServerResult,
    TASKS_EXTENSION_ID,
};
use rmcp::service::{NotificationContext, RequestContext, RoleServer, Service};
use rmcp::{ErrorData, ServerHandler};
use serde::Serialize;
use serde_json::Value;

use crate::protocol::is_untyped;

/// A connection whose results are JSON: the result types of rmcp drop unknown keys.
pub(crate) struct JsonConnection<H>(pub(crate) H);

impl<H: ServerHandler> Service<RoleServer> for JsonConnection<H> {
    async fn handle_request(
        &self,
        request: ClientRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<ServerResult, ErrorData> {
        let request = match request {
            ClientRequest::CallToolRequest(call) => custom("tools/call", &call.params),
            other if is_untyped(other.method()) => with_json_result(&other).unwrap_or(other),
            other => other,
        };
        let mut result = Service::handle_request(&self.0, request, context).await;
        if let Ok(ServerResult::InitializeResult(result)) = &mut result {
            // Revisions that have `initialize` have tasks of another form.
            let extensions = &mut result.capabilities.extensions;
            if let Some(known) = extensions {
                known.remove(TASKS_EXTENSION_ID);
            }
            if extensions.as_ref().is_some_and(BTreeMap::is_empty) {
                *extensions = None;
            }
        }
        result
    }

    async fn handle_notification(
        &self,
        notification: ClientNotification,
        context: NotificationContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Service::handle_notification(&self.0, notification, context).await
    }

    fn get_info(&self) -> ServerConfig {
        ServerHandler::get_info(&self.0)
    }
}

/// A request whose result rmcp passes on as it is.
fn custom(method: &str, params: &impl Serialize) -> ClientRequest {
    // All keys are strings, so serialization cannot fail.
    let params = serde_json::to_value(params).ok();
    ClientRequest::CustomRequest(CustomRequest::new(method, params))
}

/// A request whose result rmcp passes on as it is, with the parameters of another one.
fn with_json_result(request: &ClientRequest) -> Option<ClientRequest> {
    let mut text = serde_json::to_value(request).ok()?;
    let params = text.get_mut("params").map(Value::take);
    Some(ClientRequest::CustomRequest(CustomRequest::new(request.method(), params)))
}
