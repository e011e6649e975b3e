//! Calls of tools that run as tasks: as in revision 2025-11-25 of the protocol, and with the extension
//! of later revisions.

use std::collections::HashSet;
use std::time::Duration;

use gramc_tools::RpcError;
use gramc_tools::invocation::{InvocationErrorKind, RequestOrigin};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio::time::{sleep, timeout};

use super::{Connection, GOODBYE, UpstreamError};
use crate::client::exchange::Exchange;
use crate::client::inbox::RequestOptions;

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
    /// The task that a result says a request goes on as, if it does.
    pub(super) fn of(result: &Value) -> Option<Self> {
        if result["resultType"] != "task" {
            return None;
        }
        Self::deserialize(result).ok()
    }
}

impl Connection {
    /// Calls a tool as a task and waits for its end. Returns the result as sent by the server. If the
    /// future is dropped, the task is cancelled on the server.
    pub(in crate::client) async fn call_as_task(
        &self,
        tool: &str,
        arguments: Map<String, Value>,
        options: RequestOptions,
    ) -> Result<Value, UpstreamError> {
        let params = json!({"name": tool, "arguments": arguments, "task": {}});
        let begun = self.send("tools/call", Some(params), &options).await?;
        let Some(id) = begun["task"]["taskId"].as_str() else {
            // The server has run it at once.
            return Ok(begun);
        };
        if let Some(client) = &options.origin.client {
            client.continues_as_task();
        }
        let mut task = self.running_task(id, &options);
        let options = RequestOptions { origin: RequestOrigin::default(), ..options };
        // The server answers when the task has ended.
        let result = self.send("tasks/result", Some(json!({"taskId": id})), &options).await;
        task.id = None;
        result
    }

    fn running_task(&self, id: &str, options: &RequestOptions) -> RunningTask {
        let meta = self.meta(&options.origin);
        RunningTask { exchange: self.exchange.clone(), id: Some(id.to_owned()), meta }
    }

    /// Waits for the end of a task, and returns its result. If the future is dropped,
    /// the task is cancelled on the server.
    pub(super) async fn finish(
        &self,
        mut task: Task,
        options: &RequestOptions,
    ) -> Result<Value, UpstreamError> {
        if let Some(client) = &options.origin.client {
            client.continues_as_task();
        }
        let id = json!({ "taskId": task.id });
        let mut running = self.running_task(&task.id, options);
        // Requests about the task repeat no arguments.
        let options = &RequestOptions { headers: Vec::new(), ..options.clone() };
        let mut answered = HashSet::new();
        loop {
            task.input_requests.retain(|key, _| !answered.contains(key));
            match task.status.as_str() {
                "completed" => {
                    running.id = None;
                    return Ok(task.result.unwrap_or_default());
                }
                "failed" => {
                    running.id = None;
                    let error = match task.error {
                        Some(error) => self.mask_error(error),
                        None => RpcError::new(0, "the task failed"),
                    };
                    return Err(UpstreamError::Error(error));
                }
                "cancelled" => {
                    running.id = None;
                    let why = "the task was cancelled on the server";
                    return Err(self.error(InvocationErrorKind::Failed, why).into());
                }
                "input_required" if !task.input_requests.is_empty() => {
                    answered.extend(task.input_requests.keys().cloned());
                    let answers = self.answers(task.input_requests, options).await?;
                    let mut params = id.clone();
                    params["inputResponses"] = answers.into();
                    self.send_once("tasks/update", Some(params), options).await?;
                }
                _ => {
                    let told = task.poll_interval_ms.map(Duration::from_millis);
                    sleep(told.unwrap_or(POLL_INTERVAL).max(MIN_POLL_INTERVAL)).await;
                }
            }
            let state = self.send_once("tasks/get", Some(id.clone()), options).await?;
            task = Task::deserialize(state).map_err(|error| {
                let why = format!("its state of a task is invalid: {error}");
                self.error(InvocationErrorKind::Garbled, &why)
            })?;
        }
    }
}

/// A task that is cancelled when it is dropped.
struct RunningTask {
    exchange: Exchange,
    /// `None` once it has ended.
    id: Option<String>,
    meta: Map<String, Value>,
}

impl Drop for RunningTask {
    fn drop(&mut self) {
        let Some(id) = self.id.take() else { return };
        // Without a runtime there is no connection either.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            let (exchange, meta) = (self.exchange.clone(), std::mem::take(&mut self.meta));
            let goodbye = async move {
                let (params, options) = (json!({"taskId": id}), RequestOptions::default());
                // What the server says to it does not matter.
                let sent = exchange.request("tasks/cancel", Some(params), meta, options);
                let _ = timeout(GOODBYE, sent).await;
            };
            self.exchange.goodbyes.spawn_on(goodbye, &runtime);
        }
    }
}
