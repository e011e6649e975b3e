//! Functions of Python as implementations.

use std::fmt;

use gramc_tools::invocation::{
    Answer, AnswerFuture, DeclaredInterface, Implementation, Invocation, InvocationError,
    InvocationErrorKind,
};
use parking_lot::Mutex;
use pyo3::prelude::*;
use serde_json::Value;
use tokio::sync::oneshot;

use crate::runtime::attach;

tokio::task_local! {
    /// The event loop of the caller, if it is asynchronous.
    pub(crate) static EVENT_LOOP: Py<PyAny>;
}

/// A function of Python. The class `gramc._functions.Runner` starts it.
pub(crate) struct PythonFunction {
    pub(crate) runner: Py<PyAny>,
    pub(crate) declared: Option<DeclaredInterface>,
}

impl fmt::Debug for PythonFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PythonFunction").finish_non_exhaustive()
    }
}

type Outcome = Result<Answer, InvocationError>;

/// Receives the outcome of a function.
#[pyclass(frozen)]
pub(crate) struct Completion(Mutex<Option<oneshot::Sender<Outcome>>>);

impl Completion {
    fn send(&self, outcome: Outcome) {
        if let Some(sender) = self.0.lock().take() {
            // The call may have ended before.
            let _ = sender.send(outcome);
        }
    }
}

#[pymethods]
impl Completion {
    /// The result as JSON text.
    fn finish(&self, py: Python<'_>, result: &str) {
        crate::runtime::detach(py, || {
            let read = serde_json::from_str::<Value>(result).map(Answer::Json);
            self.send(read.map_err(|error| not_json(&error.to_string())));
        });
    }

    /// The function failed.
    fn fail(&self, message: &str) {
        self.send(Err(InvocationError::new(InvocationErrorKind::Failed, message)));
    }

    /// The result cannot be written as JSON.
    fn refuse_result(&self, message: &str) {
        self.send(Err(not_json(message)));
    }
}

fn not_json(message: &str) -> InvocationError {
    let detail = format!("the function's result cannot be written as JSON: {message}");
    InvocationError::new(InvocationErrorKind::Garbled, detail)
}

fn died(detail: impl Into<String>) -> InvocationError {
    InvocationError::new(InvocationErrorKind::Died, detail)
}

/// Cancels a function whose answer is no longer waited for.
struct Running(Option<Py<PyAny>>);

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(running) = self.0.take() {
            // The event loop of the function may be closed.
            attach(|py| drop(running.call_method0(py, "cancel")));
        }
    }
}

/// Starts a function, which reports to a `Completion` and can be cancelled, and waits for it. Dropping
/// the future cancels the function.
pub(crate) fn run_function(
    start: impl FnOnce(Python<'_>, Py<Completion>) -> PyResult<Py<PyAny>>,
) -> AnswerFuture {
    let (sender, receiver) = oneshot::channel();
    let started = attach(|py| start(py, Py::new(py, Completion(Mutex::new(Some(sender))))?));
    let started = match started {
        Some(Ok(running)) => Ok(Running(Some(running))),
        Some(Err(error)) => Err(died(format!("the function cannot be started: {error}"))),
        None => Err(died("the program ended before the function did")),
    };
    Box::pin(async move {
        let mut running = started?;
        let outcome = receiver.await;
        // There is nothing left to cancel, and dropping it needs no lock.
        running.0 = None;
        outcome.unwrap_or_else(|_| Err(died("the function did not return")))
    })
}

impl Implementation for PythonFunction {
    fn kind(&self) -> &'static str {
        "Function"
    }

    fn invoke(&self, invocation: Invocation) -> AnswerFuture {
        run_function(|py, completion| {
            let event_loop = EVENT_LOOP.try_with(|it| it.clone_ref(py)).ok();
            let arguments = (event_loop, &*invocation.arguments, completion);
            self.runner.call_method1(py, "start", arguments)
        })
    }

    fn declared(&self) -> Option<DeclaredInterface> {
        self.declared.clone()
    }
}
