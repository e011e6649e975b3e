//! Questions within requests, as from revision 2026-07-28 of the protocol on: a request is answered
//! with the questions of a server, and the client repeats it with the answers.
//!
//! Until then, the work of the request rests here. Nothing runs meanwhile, and it goes on as a part of
//! the repeated request.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::future::BoxFuture;
use gramc_tools::{RpcError, SessionClient};
use parking_lot::Mutex;
use serde_json::{Map, Value, json};
use tokio::sync::{mpsc, oneshot};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;
use uuid::Uuid;

use crate::outbox::Outbox;
use crate::peer::MAX_ANSWER_TIME;
use crate::protocol::{
    Answer, ClientIntroduction, LOG_LEVEL_KEY, has_tasks, internal, invalid_params,
};
use crate::request_context::RequestContext;
use crate::tasks::Tasks;

/// The maximum number of requests whose questions are not answered yet. Then the oldest one ends.
const MAX_RESTING: usize = 1_000;

/// What the work of a request says before its end.
#[derive(Debug)]
pub(crate) enum WorkEvent {
    /// It has a question for the client.
    Question(Question),
    /// It goes on as a task.
    Task,
}

#[derive(Debug)]
pub(crate) struct Question {
    key: String,
    method: String,
    params: Option<Value>,
    answer: oneshot::Sender<Value>,
}

pub(crate) struct RequestClient {
    introduction: Arc<ClientIntroduction>,
    events: mpsc::UnboundedSender<WorkEvent>,
    /// The answers that came with the request, before it was asked.
    given: Map<String, Value>,
    route: Mutex<Route>,
    state: Mutex<RequestState>,
}

/// Where messages for a request go: to the exchange in which it is answered now.
struct Route {
    outbox: Outbox,
    progress_token: Option<Value>,
    /// Whether the client wants log messages.
    logs: bool,
}

impl Route {
    fn of(context: &RequestContext) -> Self {
        let (outbox, logs) = (context.outbox.clone(), context.meta.contains_key(LOG_LEVEL_KEY));
        Self { outbox, progress_token: context.progress_token(), logs }
    }
}

#[derive(Default)]
struct RequestState {
    /// The number of questions that are not answered yet, and since when there are any.
    open: usize,
    since: Option<Instant>,
    /// How long the client was asked before.
    took: Duration,
}

impl RequestState {
    fn begin(&mut self) {
        self.open += 1;
        self.since.get_or_insert_with(Instant::now);
    }

    fn end(&mut self) {
        self.open -= 1;
        if let (0, Some(since)) = (self.open, self.since) {
            self.took += since.elapsed();
            self.since = None;
        }
    }
}

/// The questions that are not answered yet.
#[derive(Debug, Default)]
pub(crate) struct OpenQuestions(Vec<Question>);

/// A request whose work may have questions.
pub(crate) struct Work {
    /// The hash of the method and the parameters, which a repeated request must share.
    request: u64,
    /// The state that the client has to repeat, while its questions are the same.
    state: Option<String>,
    pub(crate) client: Arc<RequestClient>,
    pub(crate) answer: BoxFuture<'static, Answer>,
    pub(crate) stop: CancellationToken,
    pub(crate) events: mpsc::UnboundedReceiver<WorkEvent>,
    pub(crate) questions: OpenQuestions,
}

/// A work that rests, and since when.
struct Resting {
    work: Work,
    since: Instant,
    /// Ends it when it is too old.
    _timer: AbortOnDropHandle<()>,
}

/// The requests of clients of revision 2026-07-28: those whose questions are not answered yet, by
/// their state, and those that are tasks.
#[derive(Default)]
pub(crate) struct RestingRequests {
    resting: Arc<Mutex<HashMap<String, Resting>>>,
    pub(crate) tasks: Tasks,
}

impl RestingRequests {
    /// Answers a request, with the result of its work or with questions. A repeated request gets
    /// the work that rests. Otherwise, `begin` makes the work from the parameters, for the client of
    /// the request and with a context that outlives it.
    pub(crate) async fn answer(
        &self,
        method: &str,
        params: Value,
        context: &RequestContext,
        begin: impl FnOnce(Arc<RequestClient>, RequestContext, Value) -> BoxFuture<'static, Answer>,
    ) -> Answer {
        let request = hash_of(method, &params);
        let given = params.get("inputResponses").and_then(Value::as_object);
        let given = given.cloned().unwrap_or_default();
        let work = match params.get("requestState") {
            None | Some(Value::Null) => {
                let (send, events) = mpsc::unbounded_channel();
                let (mut own, stop) = (context.clone(), CancellationToken::new());
                own.cancelled = stop.clone();
                let client = Arc::new(RequestClient::new(context, send, given));
                let answer = begin(Arc::clone(&client), own, params);
                let questions = OpenQuestions::default();
                Work { request, state: None, client, answer, stop, events, questions }
            }
            Some(state) => {
                let resting = self.resting(state.as_str().unwrap_or_default(), request);
                let unknown = "unknown `requestState` for this request: omit it";
                let mut work = resting.ok_or_else(|| invalid_params(unknown))?;
                *work.client.route.lock() = Route::of(context);
                if work.questions.take(given) {
                    work.state = None;
                }
                work
            }
        };
        self.go_on(work, &context.cancelled).await
    }

    /// Works until there is a result or a question. If the client cancels the request, the work ends.
    async fn go_on(&self, mut work: Work, cancelled: &CancellationToken) -> Answer {
        if work.questions.is_empty() {
            let event = tokio::select! {
                biased;
                () = cancelled.cancelled() => return work.end().await,
                answer = &mut work.answer => return answer,
                // The work ends before its events do.
                Some(event) = work.events.recv() => event,
            };
            match event {
                WorkEvent::Question(question) => work.questions.ask(question),
                WorkEvent::Task => return Ok(self.tasks.begin(work)),
            }
        }
        while let Ok(WorkEvent::Question(question)) = work.events.try_recv() {
            work.questions.ask(question);
        }
        let state = work.state.get_or_insert_with(|| Uuid::new_v4().simple().to_string()).clone();
        let result = work.input_required(&state);
        self.rest(state, work);
        Ok(result)
    }

    fn rest(&self, state: String, work: Work) {
        let (all, own) = (Arc::downgrade(&self.resting), state.clone());
        let timer = tokio::spawn(async move {
            sleep(MAX_ANSWER_TIME).await;
            let late = all.upgrade().and_then(|all| all.lock().remove(&own));
            if let Some(late) = late {
                late.end();
            }
        });
        let timer = AbortOnDropHandle::new(timer);
        let mut resting = self.resting.lock();
        if resting.len() >= MAX_RESTING {
            let oldest = resting.iter().min_by_key(|(_, resting)| resting.since);
            let oldest = oldest.map(|(state, _)| state.clone());
            if let Some(oldest) = oldest.and_then(|oldest| resting.remove(&oldest)) {
                oldest.end();
            }
        }
        resting.insert(state, Resting { work, since: Instant::now(), _timer: timer });
    }

    /// The work that rests under a state, if it belongs to such a request.
    fn resting(&self, state: &str, request: u64) -> Option<Work> {
        let mut resting = self.resting.lock();
        let belongs = resting.get(state).is_some_and(|resting| resting.work.request == request);
        belongs.then(|| resting.remove(state)).flatten().map(|resting| resting.work)
    }

    /// Ends all requests, because the server ends.
    pub(crate) fn end(&self) {
        self.tasks.cancel_all();
        let resting = std::mem::take(&mut *self.resting.lock());
        resting.into_values().for_each(Resting::end);
    }
}

impl Resting {
    /// Ends the work, so that the call has a verdict.
    fn end(self) {
        // Not in the timer, which ends with this.
        tokio::spawn(self.work.end());
    }
}

/// The hash of what all rounds of a request share. Arguments may be text, whose form does not matter.
fn hash_of(method: &str, params: &Value) -> u64 {
    let mut hasher = DefaultHasher::new();
    method.hash(&mut hasher);
    for key in ["name", "uri", "arguments", "ref", "argument"] {
        let value = params.get(key);
        let parsed = value.and_then(Value::as_str).and_then(|it| serde_json::from_str(it).ok());
        parsed.as_ref().or(value).hash(&mut hasher);
    }
    hasher.finish()
}

impl Work {
    async fn end(self) -> Answer {
        self.stop.cancel();
        self.answer.await
    }

    /// The result with the open questions.
    fn input_required(&self, state: &str) -> Value {
        json!({
            "resultType": "input_required",
            "inputRequests": self.questions.requests(),
            "requestState": state,
        })
    }
}

impl OpenQuestions {
    /// Whether nothing waits for an answer.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.iter().all(|question| question.answer.is_closed())
    }

    /// Adds a question under a key that no other one has.
    pub(crate) fn ask(&mut self, mut question: Question) {
        let key = question.key.clone();
        let mut number = 1;
        while self.0.iter().any(|open| open.key == question.key) {
            number += 1;
            question.key = format!("{key}-{number}");
        }
        self.0.push(question);
    }

    /// Passes answers on. Those to no question are ignored, and so are those that are no objects.
    /// Returns whether a question was answered.
    pub(crate) fn take(&mut self, mut given: Map<String, Value>) -> bool {
        let before = self.0.len();
        for question in std::mem::take(&mut self.0) {
            match given.remove(&question.key) {
                // The work may have stopped waiting.
                Some(answer @ Value::Object(_)) => drop(question.answer.send(answer)),
                _ => self.0.push(question),
            }
        }
        self.0.len() < before
    }

    /// The questions in the form of the protocol.
    pub(crate) fn requests(&self) -> Value {
        let request = |it: &Question| match &it.params {
            Some(params) => json!({"method": it.method, "params": params}),
            None => json!({ "method": it.method }),
        };
        let open = self.0.iter().filter(|question| !question.answer.is_closed());
        let requests = open.map(|it| (it.key.clone(), request(it)));
        requests.collect::<Map<_, _>>().into()
    }
}

impl RequestClient {
    fn new(
        context: &RequestContext,
        events: mpsc::UnboundedSender<WorkEvent>,
        given: Map<String, Value>,
    ) -> Self {
        let (introduction, route) = (Arc::clone(&context.introduction), Route::of(context));
        let route = Mutex::new(route);
        Self { introduction, events, given, route, state: Mutex::default() }
    }

    /// The request is answered, so that no progress and no log messages belong to it any more.
    pub(crate) fn leave_request(&self) {
        let mut route = self.route.lock();
        route.progress_token = None;
        route.logs = false;
    }

    /// Asks the client within its request.
    pub(crate) async fn ask(
        &self,
        key: String,
        method: String,
        params: Option<Value>,
    ) -> Result<Value, RpcError> {
        // Approval is only given when it is asked for.
        let given = self.given.get(&key).filter(|given| given.is_object() && key != APPROVAL);
        if let Some(given) = given {
            return Ok(given.clone());
        }
        let (answer, answered) = oneshot::channel();
        let question = Question { key, method, params, answer };
        let gone = || internal("the client does not answer");
        self.events.send(WorkEvent::Question(question)).map_err(|_| gone())?;
        let _asking = Asking::begin(self);
        answered.await.map_err(|_| gone())
    }
}

/// The time in which the client is asked, which ends with this.
struct Asking<'c>(&'c RequestClient);

impl<'c> Asking<'c> {
    fn begin(client: &'c RequestClient) -> Self {
        client.state.lock().begin();
        Self(client)
    }
}

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        self.0.state.lock().end();
    }
}

/// The key of the question whether a call may run.
pub(crate) const APPROVAL: &str = "approval";

impl SessionClient for RequestClient {
    fn capabilities(&self) -> Map<String, Value> {
        self.introduction.capabilities.clone()
    }

    fn info(&self) -> Option<Value> {
        self.introduction.info.clone()
    }

    fn hears(&self) -> bool {
        true
    }

    fn is_modern(&self) -> bool {
        true
    }

    fn time_asked(&self) -> Duration {
        let state = self.state.lock();
        state.took + state.since.map_or(Duration::ZERO, |since| since.elapsed())
    }

    fn continues_as_task(&self) {
        if has_tasks(&self.introduction.capabilities) {
            // Nothing waits for it any more if it is a task already.
            let _ = self.events.send(WorkEvent::Task);
        }
    }

    fn notify(&self, method: String, mut params: Option<Value>) -> BoxFuture<'_, ()> {
        let route = self.route.lock();
        let is_wanted = match (method.as_str(), &route.progress_token) {
            ("notifications/message", _) => route.logs,
            ("notifications/progress", Some(token)) => {
                if let Some(Value::Object(params)) = &mut params {
                    params.insert("progressToken".to_owned(), token.clone());
                }
                params.is_some()
            }
            ("notifications/progress", None) => false,
            _ => true,
        };
        if !is_wanted {
            return Box::pin(std::future::ready(()));
        }
        let outbox = route.outbox.clone();
        Box::pin(async move { outbox.notify(&method, params).await })
    }

    fn request(
        &self,
        key: String,
        method: String,
        params: Option<Value>,
    ) -> BoxFuture<'_, Result<Value, RpcError>> {
        Box::pin(self.ask(key, method, params))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_question_that_nothing_waits_for_is_not_open() {
        let (events, mut received) = mpsc::unbounded_channel();
        let (lines, _written) = mpsc::channel(1);
        let route = Route { outbox: Outbox::Lines(lines), progress_token: None, logs: false };
        let client = RequestClient {
            introduction: Arc::new(ClientIntroduction::of_initialize(&Value::Null)),
            events,
            given: Map::new(),
            route: Mutex::new(route),
            state: Mutex::default(),
        };
        let mut asking = Box::pin(client.ask("a".to_owned(), "roots/list".to_owned(), None));
        assert!(futures_util::poll!(&mut asking).is_pending());
        let mut questions = OpenQuestions::default();
        let event = received.recv().await;
        assert!(matches!(event, Some(WorkEvent::Question(_))));
        if let Some(WorkEvent::Question(question)) = event {
            questions.ask(question);
        }
        assert!(!questions.is_empty());
        assert_eq!(client.state.lock().open, 1);
        drop(asking);
        assert!(questions.is_empty());
        assert_eq!(client.state.lock().open, 0);
    }
}
