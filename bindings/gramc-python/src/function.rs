//! Functions of Python as implementations.

use std::sync::Arc;

use gramc_tools::ToolContent;
use gramc_tools::implementations::not_json;
use gramc_tools::invocation::{Answer, AnswerFuture, InvocationError, ValueFuture};
use parking_lot::Mutex;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use tokio::sync::oneshot;

use crate::caller::Caller;
use crate::runtime::attach;

type Outcome = Result<Answer, InvocationError>;

/// Receives the outcome of a function.
#[pyclass(frozen)]
pub(crate) struct Completion {
    sender: Mutex<Option<oneshot::Sender<Outcome>>>,
    caller: Arc<Caller>,
}

impl Completion {
    fn send(&self, outcome: Outcome) {
        if let Some(sender) = self.sender.lock().take() {
            // The call may have ended before.
            let _ = sender.send(outcome);
        }
    }
}

#[pymethods]
impl Completion {
    /// The event loop of the caller, if it is asynchronous.
    #[getter]
    fn event_loop(&self) -> Option<&Py<PyAny>> {
        self.caller.event_loop.as_ref()
    }

    /// Values of injected parameters.
    #[getter]
    fn injected(&self) -> Option<&Py<PyDict>> {
        self.caller.injected.as_ref()
    }

    /// Receives the progress of the function.
    #[getter]
    fn on_progress(&self) -> Option<&Py<PyAny>> {
        self.caller.on_progress.as_ref()
    }

    /// The result as JSON text.
    fn finish(&self, py: Python<'_>, result: &str) {
        crate::runtime::detach(py, || {
            let value = serde_json::from_str(result).map_err(|error| not_json(&error));
            self.send(value.map(Answer::Json));
        });
    }

    /// The result as a JSON list of content blocks of MCP.
    fn finish_content(&self, py: Python<'_>, blocks: &str) {
        crate::runtime::detach(py, || {
            let content = ToolContent::from_blocks(blocks).map_err(|error| not_json(&error));
            self.send(content.map(Answer::Content));
        });
    }

    /// The function failed.
    #[pyo3(signature = (message, exception=None))]
    fn fail(&self, message: &str, exception: Option<Py<PyAny>>) {
        self.caller.note_exception(exception);
        self.send(Err(InvocationError::failure(message)));
    }

    /// The result cannot be written as JSON.
    fn refuse_result(&self, message: &str) {
        self.send(Err(not_json(&message)));
    }
}

/// The failure of a function when the interpreter ends.
pub(crate) fn interpreter_ended() -> InvocationError {
    InvocationError::crash("the program ended before the function did")
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
    let completion = Completion { sender: Mutex::new(Some(sender)), caller: Caller::current() };
    let started = attach(|py| start(py, Py::new(py, completion)?));
    let started = match started {
        Some(Ok(running)) => Ok(Running(Some(running))),
        Some(Err(error)) => {
            Err(InvocationError::crash(format!("the function cannot be started: {error}")))
        }
        None => Err(interpreter_ended()),
    };
    Box::pin(async move {
        let mut running = started?;
        let outcome = receiver.await;
        // There is nothing left to cancel, and dropping it needs no lock.
        running.0 = None;
        outcome.unwrap_or_else(|_| Err(InvocationError::crash("the function did not return")))
    })
}

/// Starts a function like [`run_function`] whose answer is a value.
pub(crate) fn run_value_function(
    start: impl FnOnce(Python<'_>, Py<Completion>) -> PyResult<Py<PyAny>>,
) -> ValueFuture {
    let work = run_function(start);
    Box::pin(async {
        match work.await? {
            Answer::Json(value) => Ok(value),
            _ => Err(InvocationError::failure("expected a value")),
        }
    })
}
