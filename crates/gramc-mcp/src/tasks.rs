//! Requests that go on as tasks (the extension `io.modelcontextprotocol/tasks`): the client gets the
//! identifier of a task at once, and asks for its state until it has ended.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use chrono::{DateTime, SecondsFormat, Utc};
use gramc_tools::RpcError;
use parking_lot::Mutex;
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::protocol::{Answer, invalid_params};
use crate::questions::{OpenQuestions, Work, WorkEvent};

/// How long the result of a task can be asked for.
const LIFE: Duration = Duration::from_hours(1);
/// How often a client should ask for the state of a task.
const POLL_INTERVAL: Duration = Duration::from_secs(1);
/// The maximum number of tasks. Then the oldest one is forgotten.
const MAX_TASKS: usize = 1_000;

/// The tasks of all clients, by their identifiers, which cannot be guessed.
#[derive(Default)]
pub(crate) struct Tasks(Mutex<HashMap<String, Arc<ServedTask>>>);

struct ServedTask {
    begun: Instant,
    created: DateTime<Utc>,
    stop: CancellationToken,
    state: Mutex<TaskState>,
}

struct TaskState {
    updated: DateTime<Utc>,
    questions: OpenQuestions,
    end: Option<TaskEnd>,
}

/// How a task ended.
enum TaskEnd {
    Completed(Value),
    Failed(RpcError),
    Cancelled,
}

impl Tasks {
    /// Goes on with a request as a task. Gives the result that says so.
    pub(crate) fn begin(&self, work: Work) -> Value {
        let Work { client, mut answer, stop, mut events, questions, .. } = work;
        client.leave_request();
        let (id, created) = (Uuid::new_v4().simple().to_string(), Utc::now());
        let state = Mutex::new(TaskState { updated: created, questions, end: None });
        let running = Arc::new(ServedTask { begun: Instant::now(), created, stop, state });
        let begun = running.describe(&id, "task", "working");
        self.keep(id, Arc::clone(&running));
        tokio::spawn(async move {
            let answer = loop {
                tokio::select! {
                    biased;
                    answer = &mut answer => break answer,
                    // The work ends before its questions do.
                    Some(event) = events.recv() => {
                        if let WorkEvent::Question(question) = event {
                            running.change(|state| state.questions.ask(question));
                        }
                    }
                }
            };
            let end = match answer {
                _ if running.stop.is_cancelled() => TaskEnd::Cancelled,
                Ok(result) => TaskEnd::Completed(result),
                Err(error) => TaskEnd::Failed(error),
            };
            running.change(|state| state.end = Some(end));
        });
        begun.into()
    }

    fn keep(&self, id: String, task: Arc<ServedTask>) {
        let mut tasks = self.0.lock();
        tasks.retain(|_, task| !task.is_over());
        if tasks.len() >= MAX_TASKS {
            let oldest = tasks.iter().min_by_key(|(_, task)| task.begun).map(|(id, _)| id.clone());
            if let Some(oldest) = oldest.and_then(|oldest| tasks.remove(&oldest)) {
                oldest.stop.cancel();
            }
        }
        tasks.insert(id, task);
    }

    fn find(&self, id: &str) -> Result<Arc<ServedTask>, RpcError> {
        let found = self.0.lock().get(id).cloned();
        let found = found.filter(|task| !task.is_over());
        found.ok_or_else(|| invalid_params("there is no such task"))
    }

    /// The state of a task, with its questions, its result or its error.
    pub(crate) fn get(&self, id: &str) -> Answer {
        let task = self.find(id)?;
        let describe = |status| task.describe(id, "complete", status);
        let state = task.state.lock();
        let (status, key, value) = match &state.end {
            Some(TaskEnd::Completed(result)) => ("completed", "result", result.clone()),
            Some(TaskEnd::Failed(error)) => ("failed", "error", error.clone().into_json()),
            Some(TaskEnd::Cancelled) => ("cancelled", "", Value::Null),
            None if state.questions.is_empty() => ("working", "", Value::Null),
            None => ("input_required", "inputRequests", state.questions.requests()),
        };
        drop(state);
        let mut described = describe(status);
        if !key.is_empty() {
            described.insert(key.to_owned(), value);
        }
        Ok(described.into())
    }

    /// Passes answers to the questions of a task on.
    pub(crate) fn update(&self, id: &str, answers: Value) -> Answer {
        let task = self.find(id)?;
        if let Value::Object(answers) = answers {
            task.change(|state| state.questions.take(answers));
        }
        Ok(json!({"resultType": "complete"}))
    }

    pub(crate) fn cancel_all(&self) {
        self.0.lock().values().for_each(|task| task.stop.cancel());
    }

    /// Cancels a task, unless it has ended.
    pub(crate) fn cancel(&self, id: &str) -> Answer {
        self.find(id)?.stop.cancel();
        Ok(json!({"resultType": "complete"}))
    }
}

impl ServedTask {
    /// Whether its time is over. Then it is stopped.
    fn is_over(&self) -> bool {
        let is_over = self.begun.elapsed() >= LIFE;
        if is_over {
            self.stop.cancel();
        }
        is_over
    }

    fn change<T>(&self, change: impl FnOnce(&mut TaskState) -> T) {
        let mut state = self.state.lock();
        change(&mut state);
        state.updated = Utc::now();
    }

    /// A result with what is known about the task.
    fn describe(&self, id: &str, result_type: &str, status: &str) -> Map<String, Value> {
        let time = |time: DateTime<Utc>| time.to_rfc3339_opts(SecondsFormat::Millis, true);
        let milliseconds = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        let updated = self.state.lock().updated;
        let described = json!({
            "resultType": result_type,
            "taskId": id,
            "status": status,
            "createdAt": time(self.created),
            "lastUpdatedAt": time(updated),
            "ttlMs": milliseconds(LIFE),
            "pollIntervalMs": milliseconds(POLL_INTERVAL),
        });
        match described {
            Value::Object(described) => described,
            _ => Map::new(),
        }
    }
}
