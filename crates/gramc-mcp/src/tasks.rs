//! Requests that go on as tasks (the extension `io.modelcontextprotocol/tasks`): the client gets the
//! identifier of a task at once, and asks for its state until it has ended.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use rmcp::ErrorData;
use rmcp::model::{
    CreateTaskResult, DetailedTask, InputRequests, InputResponses, Task, TaskPayload, TaskStatus,
};
use rmcp::task_manager::current_timestamp;
use serde_json::{Map, Value, json};
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
    /// How it ended.
    payload: Option<TaskPayload>,
}

impl TaskState {
    /// The open questions. Only those of the forms of the protocol can be told.
    fn input_requests(&self) -> InputRequests {
        let Value::Object(requests) = self.questions.requests() else {
            return InputRequests::new();
        };
        let typed = |(key, request)| Some((key, serde_json::from_value(request).ok()?));
        requests.into_iter().filter_map(typed).collect()
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
        tasks.retain(|_, task| !task.is_over());
        if tasks.len() >= MAX_TASKS {
            let oldest = tasks.iter().min_by_key(|(_, task)| task.begun).map(|(id, _)| id.clone());
            if let Some(oldest) = oldest.and_then(|oldest| tasks.remove(&oldest)) {
                oldest.stop.cancel();
            }
        }
        tasks.insert(id, task);
    }

    fn find(&self, id: &str) -> Result<Arc<RunningTask>, ErrorData> {
        let unknown = || ErrorData::invalid_params("there is no such task", None);
        let found = self.0.lock().get(id).cloned();
        found.filter(|task| !task.is_over()).ok_or_else(unknown)
    }

    pub(crate) fn get(&self, id: &str) -> Result<DetailedTask, ErrorData> {
        let task = self.find(id)?;
        let state = task.state.lock();
        let payload = match &state.payload {
            Some(payload) => payload.clone(),
            None if state.questions.is_empty() => TaskPayload::Working,
            None => TaskPayload::InputRequired { input_requests: state.input_requests() },
        };
        Ok(DetailedTask::new(state.task.clone(), payload))
    }

    /// Passes answers to the questions of a task on.
    pub(crate) fn update(&self, id: &str, answers: InputResponses) -> Result<(), ErrorData> {
        let task = self.find(id)?;
        task.change(|state| state.questions.take(answers.into_iter().collect()));
        Ok(())
    }

    pub(crate) fn cancel_all(&self) {
        self.0.lock().values().for_each(|task| task.stop.cancel());
    }

    /// Cancels a task, unless it has ended.
    pub(crate) fn cancel(&self, id: &str) -> Result<(), ErrorData> {
        self.find(id)?.stop.cancel();
        Ok(())
    }
}

impl RunningTask {
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
        state.task.last_updated_at = current_timestamp();
    }
}

fn payload(answer: Answer, is_cancelled: bool) -> TaskPayload {
    let object = |value: Value| match value {
        Value::Object(object) => object,
        _ => Map::new(),
    };
    match answer {
        _ if is_cancelled => TaskPayload::Cancelled,
        Ok(result) => TaskPayload::Completed { result: object(result) },
        Err(error) => TaskPayload::Failed { error: object(json!(error)) },
    }
}
