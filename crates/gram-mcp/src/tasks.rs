//! Requests that go on as tasks (the extension `io.modelcontextprotocol/tasks`): the client gets the
//! identifier of a task at once, and asks for its state until it has ended.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use rmcp::ErrorData;
use rmcp::model::{CreateTaskResult, DetailedTask, InputResponses, Task, TaskPayload, TaskStatus};
use rmcp::task_manager::current_timestamp;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::questions::{Answer, Event, OpenQuestions, Work};

/// How long the result of a task can be asked for.
const LIFE: Duration = Duration::from_hours(1);
/// How often a client should ask for the state of a task.
const POLL_INTERVAL: Duration = Duration::from_secs(1);
/// The maximum number of tasks. Then the oldest one is forgotten.
const MAX_TASKS: usize = 1_000;

/// The tasks of all clients, by their identifiers, which cannot be guessed.
#[derive(Default)]
pub(crate) struct Tasks(Mutex<HashMap<String, Arc<RunningTask>>>);

struct RunningTask {
    begun: Instant,
    stop: CancellationToken,
    state: Mutex<TaskState>,
}

struct TaskState {
    task: Task,
    questions: OpenQuestions,
    payload: Option<TaskPayload>,
}

impl Drop for RunningTask {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

impl Tasks {
    /// Goes on with a request as a task. Gives the result that says so.
    pub(crate) fn begin(&self, work: Work) -> Value {
        let Work { mut answer, stop, mut events, questions, .. } = work;
        let (id, now) = (Uuid::new_v4().simple().to_string(), current_timestamp());
        let task = Task::new(id.clone(), TaskStatus::Working, now.clone(), now)
            .with_ttl_ms(u64::try_from(LIFE.as_millis()).unwrap_or(u64::MAX))
            .with_poll_interval_ms(u64::try_from(POLL_INTERVAL.as_millis()).unwrap_or(u64::MAX));
        let begun = serde_json::to_value(CreateTaskResult::new(task.clone()));
        let state = Mutex::new(TaskState { task, questions, payload: None });
        let running = Arc::new(RunningTask { begun: Instant::now(), stop, state });
        self.keep(id, Arc::clone(&running));
        tokio::spawn(async move {
            let answer = loop {
                tokio::select! {
                    biased;
                    answer = &mut answer => break answer,
                    // The work ends before its questions do.
                    Some(event) = events.recv() => {
                        if let Event::Question(question) = event {
                            running.change(|state| state.questions.ask(question));
                        }
                    }
                }
            };
            let is_cancelled = running.stop.is_cancelled();
            running.change(|state| state.payload = Some(payload(answer, is_cancelled)));
        });
        // Serialization of strings and numbers does not fail.
        begun.unwrap_or_default()
    }

    fn keep(&self, id: String, task: Arc<RunningTask>) {
        let mut tasks = self.0.lock();
        tasks.retain(|_, task| task.begun.elapsed() < LIFE);
        if tasks.len() >= MAX_TASKS {
            let oldest = tasks.iter().min_by_key(|(_, task)| task.begun).map(|(id, _)| id.clone());
            oldest.and_then(|oldest| tasks.remove(&oldest));
        }
        tasks.insert(id, task);
    }

    fn find(&self, id: &str) -> Result<Arc<RunningTask>, ErrorData> {
        let unknown = || ErrorData::invalid_params("there is no such task", None);
        self.0.lock().get(id).cloned().ok_or_else(unknown)
    }

    /// The state of a task.
    pub(crate) fn get(&self, id: &str) -> Result<DetailedTask, ErrorData> {
        let task = self.find(id)?;
        let state = task.state.lock();
        let payload = match &state.payload {
            Some(payload) => payload.clone(),
            None if state.questions.is_empty() => TaskPayload::Working,
            None => {
                let requests = serde_json::from_value(state.questions.requests());
                // Questions of other types cannot be told.
                TaskPayload::InputRequired { input_requests: requests.unwrap_or_default() }
            }
        };
        Ok(DetailedTask::new(state.task.clone(), payload))
    }

    /// Passes answers to the questions of a task on.
    pub(crate) fn update(&self, id: &str, answers: InputResponses) -> Result<(), ErrorData> {
        let task = self.find(id)?;
        task.change(|state| state.questions.take(answers.into_iter().collect()));
        Ok(())
    }

    /// Cancels a task, unless it has ended.
    pub(crate) fn cancel(&self, id: &str) -> Result<(), ErrorData> {
        self.find(id)?.stop.cancel();
        Ok(())
    }
}

impl RunningTask {
    fn change<T>(&self, change: impl FnOnce(&mut TaskState) -> T) {
        let mut state = self.state.lock();
        change(&mut state);
        state.task.last_updated_at = current_timestamp();
    }
}

/// What a task has become.
fn payload(answer: Answer, is_cancelled: bool) -> TaskPayload {
    match answer {
        _ if is_cancelled => TaskPayload::Cancelled,
        Ok(Value::Object(result)) => TaskPayload::Completed { result },
        Ok(_) => TaskPayload::Completed { result: serde_json::Map::new() },
        Err(error) => {
            let mut object = json!({"code": error.code.0, "message": error.message});
            if let Some(data) = error.data {
                object["data"] = data;
            }
            TaskPayload::Failed { error: object.as_object().cloned().unwrap_or_default() }
        }
    }
}
