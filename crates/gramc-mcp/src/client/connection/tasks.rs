//! Calls of tools that run as tasks: as in revision 2025-11-25 of the protocol, and with the extension
//! of later revisions.

use std::collections::HashSet;
use std::time::Duration;

use gramc_tools::RpcError;
use gramc_tools::invocation::{InvocationError, InvocationErrorKind, RequestOrigin};
use rmcp::model::{ClientRequest, CustomRequest, RequestMetaObject};
use rmcp::service::{Peer, PeerRequestOptions, RoleClient};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio::time::{sleep, timeout};
use tokio_util::task::TaskTracker;

use super::{Connection, GOODBYE, UpstreamError};
use crate::client::pending_calls::PendingCall;

/// How often the state of a task is asked for, unless the server says something else.
const POLL_INTERVAL: Duration = Duration::from_secs(1);
/// The shortest interval in which it is asked for.
const MIN_POLL_INTERVAL: Duration = Duration::from_millis(50);

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Task {
    #[serde(rename = "taskId")]
    id: String,
    status: String,
    poll_interval_ms: Option<u64>,
    #[serde(default)]
    input_requests: Map<String, Value>,
    result: Option<Value>,
    error: Option<RpcError>,
}

impl Task {
    /// The task that a message says a request goes on as, if it does.
    pub(super) fn of(message: &str) -> Option<Self> {
        // Most messages are recognised without being read.
        if !message.contains("\"task\"") {
            return None;
        }
        let message: Value = serde_json::from_str(message).ok()?;
        let result = message.get("result")?;
        if result["resultType"] != "task" {
            return None;
        }
        serde_json::from_value(result.clone()).ok()
    }
}

impl Connection {
    /// Calls a tool as a task and waits for its end. Returns the response message as sent by the
    /// server. If the future is dropped, the task is cancelled on the server.
    pub(in crate::client) async fn call_as_task(
        &self,
        tool: &str,
        arguments: Map<String, Value>,
        max_answer: usize,
        origin: RequestOrigin,
    ) -> Result<String, InvocationError> {
        let params = json!({"name": tool, "arguments": arguments, "task": {}});
        let client = origin.client.clone();
        let call = PendingCall::new(max_answer, origin);
        let message = self.send("tools/call", params, &call).await;
        let message = message.map_err(|failure| self.failed_call(failure))?;
        let begun: Value = serde_json::from_str(&message).unwrap_or_default();
        let Some(id) = begun["result"]["task"]["taskId"].as_str() else {
            // The server has run it at once.
            return Ok(message);
        };
        if let Some(client) = client {
            client.continues_as_task();
        }
        let mut task = self.running_task(id, &call);
        let call = PendingCall::new(max_answer, RequestOrigin::default());
        // The server answers when the task has ended.
        let message = self.send("tasks/result", json!({"taskId": id}), &call).await;
        task.id = None;
        message.map_err(|failure| self.failed_call(failure))
    }

    fn running_task(&self, id: &str, call: &PendingCall) -> RunningTask {
        let (peer, meta) = (self.running.peer().clone(), self.meta(call));
        let goodbyes = self.goodbyes.clone();
        RunningTask { peer, id: Some(id.to_owned()), meta, goodbyes }
    }

    /// Waits for the end of a task, and returns a message with its result. If the future is dropped,
    /// the task is cancelled on the server.
    pub(super) async fn finish(
        &self,
        mut task: Task,
        call: &PendingCall,
    ) -> Result<String, UpstreamError> {
        if let Some(client) = &call.origin().client {
            client.continues_as_task();
        }
        let id = json!({ "taskId": task.id });
        let mut running = self.running_task(&task.id, call);
        // Requests about the task repeat no arguments.
        let call = &PendingCall::new(call.max_answer(), call.origin().clone());
        let mut answered = HashSet::new();
        loop {
            task.input_requests.retain(|key, _| !answered.contains(key));
            match task.status.as_str() {
                "completed" => {
                    running.id = None;
                    return Ok(json!({ "result": task.result }).to_string());
                }
                "failed" => {
                    running.id = None;
                    let error = match task.error {
                        Some(error) => self.mask_error(error),
                        None => RpcError::new(0, "the task failed"),
                    };
                    if let Some(client) = &call.origin().client {
                        client.refuses(error.clone());
                    }
                    return Err(UpstreamError::Error(error));
                }
                "cancelled" => {
                    running.id = None;
                    let why = "the task was cancelled on the server";
                    return Err(self.error(InvocationErrorKind::Failed, why).into());
                }
                "input_required" if !task.input_requests.is_empty() => {
                    answered.extend(task.input_requests.keys().cloned());
                    let answers = self.answers(task.input_requests, call).await?;
                    let mut params = id.clone();
                    params["inputResponses"] = answers.into();
                    self.send_once("tasks/update", params, call).await?;
                }
                _ => {
                    let told = task.poll_interval_ms.map(Duration::from_millis);
                    sleep(told.unwrap_or(POLL_INTERVAL).max(MIN_POLL_INTERVAL)).await;
                }
            }
            let message = self.send_once("tasks/get", id.clone(), call).await?;
            let message: Value = serde_json::from_str(&message).unwrap_or_default();
            task = serde_json::from_value(message["result"].clone()).map_err(|error| {
                let why = format!("its state of a task is invalid: {error}");
                self.error(InvocationErrorKind::Garbled, &why)
            })?;
        }
    }
}

/// A task that is cancelled when it is dropped.
struct RunningTask {
    peer: Peer<RoleClient>,
    /// `None` once it has ended.
    id: Option<String>,
    meta: Option<RequestMetaObject>,
    goodbyes: TaskTracker,
}

impl Drop for RunningTask {
    fn drop(&mut self) {
        let Some(id) = self.id.take() else { return };
        // Without a runtime there is no connection either.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            let (peer, meta) = (self.peer.clone(), self.meta.take());
            let goodbye = async move {
                let cancel = CustomRequest::new("tasks/cancel", Some(json!({"taskId": id})));
                let cancel = ClientRequest::CustomRequest(cancel);
                let mut options = PeerRequestOptions::no_options();
                options.meta = meta;
                let sent = async {
                    let sent = peer.send_cancellable_request(cancel, options).await;
                    // What the server says to it does not matter.
                    if let Ok(sent) = sent {
                        let _ = sent.rx.await;
                    }
                };
                let _ = timeout(GOODBYE, sent).await;
            };
            self.goodbyes.spawn_on(goodbye, &runtime);
        }
    }
}
