//! Calls of tools that run as tasks, as in revision 2025-11-25 of the protocol.

use rmcp::model::{ClientRequest, CustomRequest};
use rmcp::service::{Peer, RoleClient};
use serde_json::{Map, Value, json};
use tokio::time::timeout;

use super::{Connection, GOODBYE};
use crate::invocation::{InvocationError, RequestOrigin};
use crate::mcp::pending_calls::PendingCall;

impl Connection {
    /// Calls a tool as a task and waits for its end. Returns the response message as sent by the
    /// server. If the future is dropped, the task is cancelled on the server.
    pub(in crate::mcp) async fn call_as_task(
        &self,
        tool: &str,
        arguments: Map<String, Value>,
        (max_answer, origin): (usize, RequestOrigin),
    ) -> Result<String, InvocationError> {
        let params = json!({"name": tool, "arguments": arguments, "task": {}});
        let call = PendingCall::new(max_answer, origin);
        let message = self.send("tools/call", params, &call).await;
        let message = message.map_err(|failure| self.failed_call(failure))?;
        let begun: Value = serde_json::from_str(&message).unwrap_or_default();
        let Some(id) = begun["result"]["task"]["taskId"].as_str() else {
            // The server has run it at once.
            return Ok(message);
        };
        let mut task = RunningTask { peer: self.running.peer().clone(), id: Some(id.to_owned()) };
        let call = PendingCall::new(max_answer, RequestOrigin::default());
        // The server answers when the task has ended.
        let message = self.send("tasks/result", json!({"taskId": id}), &call).await;
        task.id = None;
        message.map_err(|failure| self.failed_call(failure))
    }
}

/// A task that is cancelled when it is dropped.
struct RunningTask {
    peer: Peer<RoleClient>,
    /// `None` once it has ended.
    id: Option<String>,
}

impl Drop for RunningTask {
    fn drop(&mut self) {
        let Some(id) = self.id.take() else { return };
        // Without a runtime there is no connection either.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            let peer = self.peer.clone();
            runtime.spawn(async move {
                let cancel = CustomRequest::new("tasks/cancel", Some(json!({"taskId": id})));
                let cancel = ClientRequest::CustomRequest(cancel);
                let _ = timeout(GOODBYE, peer.send_request(cancel)).await;
            });
        }
    }
}
