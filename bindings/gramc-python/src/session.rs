//! Sessions.

use std::sync::Arc;

use gramc_tools::Call;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use tokio_util::sync::CancellationToken;

use crate::convert::arguments as arguments_text;
use crate::function::EVENT_LOOP;
use crate::library::BoundLibrary;
use crate::pending::PendingCall;
use crate::runtime::{call_token, detach, wait};
use crate::stream::CallStream;
use crate::verdict::Verdict;

/// One conversation.
#[pyclass(frozen, weakref, module = "gramc")]
pub(crate) struct Session {
    pub(crate) native: Arc<gramc_tools::Session>,
    /// The library that the session calls.
    #[pyo3(get)]
    bound: Py<BoundLibrary>,
    /// Cancelled when the conversation of an agent ends.
    ended: Option<CancellationToken>,
}

impl Session {
    pub(crate) fn new(session: gramc_tools::Session, bound: Py<BoundLibrary>) -> Self {
        Self { native: Arc::new(session), bound, ended: None }
    }

    /// The session of an agent, which can call nothing any more once its conversation has ended.
    pub(crate) fn of_agent(
        session: Arc<gramc_tools::Session>,
        bound: Py<BoundLibrary>,
        ended: CancellationToken,
    ) -> Self {
        Self { native: session, bound, ended: Some(ended) }
    }

    pub(crate) fn call_token(&self) -> PyResult<CancellationToken> {
        self.ended.as_ref().map_or_else(call_token, |ended| Ok(ended.child_token()))
    }
}

/// Arguments of so many bytes are checked faster than the interpreter lock is handed over.
const SHORT_ARGUMENTS: usize = 1_024;

/// A call. `finish_reason` is how the model's reply ended, if the call is the last one in it.
pub(crate) fn call_of(
    name: &str,
    arguments: Option<&Bound<'_, PyAny>>,
    id: Option<String>,
    finish_reason: Option<&str>,
) -> PyResult<Call> {
    Ok(gramc_host::call(name, arguments_text(arguments)?, id, finish_reason))
}

/// Checks a call without running it.
pub(crate) fn check(
    py: Python<'_>,
    call: Call,
    validate: impl FnOnce(Call) -> gramc_tools::Verdict + Send,
) -> Verdict {
    let is_short = call.arguments.as_ref().is_none_or(|text| text.len() <= SHORT_ARGUMENTS);
    Verdict::new(if is_short { validate(call) } else { detach(py, || validate(call)) })
}

#[pymethods]
impl Session {
    /// Checks a call and runs it.
    #[pyo3(signature = (name, arguments=None, *, id=None, finish_reason=None))]
    fn call(
        &self,
        py: Python<'_>,
        name: &str,
        arguments: Option<&Bound<'_, PyAny>>,
        id: Option<String>,
        finish_reason: Option<&str>,
    ) -> PyResult<Verdict> {
        let call = call_of(name, arguments, id, finish_reason)?;
        let cancelled = self.call_token()?;
        let work = self.native.call_until(call, cancelled.clone());
        wait(py, work, &cancelled).map(Verdict::new)
    }

    /// Checks a call and runs it, in asynchronous programs.
    #[pyo3(signature = (name, arguments=None, *, id=None, finish_reason=None))]
    fn acall<'py>(
        this: Bound<'py, Self>,
        name: &str,
        arguments: Option<&Bound<'py, PyAny>>,
        id: Option<&str>,
        finish_reason: Option<&str>,
    ) -> PyResult<Bound<'py, PyAny>> {
        static AWAIT: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
        let py = this.py();
        let function = AWAIT.import(py, "gramc._functions", "await_call")?;
        function.call1((this, name, arguments, id, finish_reason))
    }

    /// Starts a call in the event loop that runs.
    fn _start(
        &self,
        py: Python<'_>,
        name: &str,
        arguments: Option<&Bound<'_, PyAny>>,
        id: Option<String>,
        finish_reason: Option<&str>,
        event_loop: Py<PyAny>,
    ) -> PyResult<Py<PendingCall>> {
        let call = call_of(name, arguments, id, finish_reason)?;
        let cancelled = self.call_token()?;
        let (session, token) = (Arc::clone(&self.native), cancelled.clone());
        let work = async move { session.call_until(call, token).await };
        let work = Box::pin(EVENT_LOOP.scope(event_loop.clone_ref(py), work));
        PendingCall::start(py, event_loop, work, cancelled)
    }

    /// Begins a call with streamed arguments.
    #[pyo3(signature = (name, *, id=None))]
    fn begin(this: Py<Self>, name: &str, id: Option<String>) -> CallStream {
        let stream = this.get().native.begin_stream(name, id);
        CallStream::new(this, stream)
    }

    /// Checks a call without running it. It counts towards no limit.
    #[pyo3(signature = (name, arguments=None, *, id=None))]
    fn validate(
        &self,
        py: Python<'_>,
        name: &str,
        arguments: Option<&Bound<'_, PyAny>>,
        id: Option<String>,
    ) -> PyResult<Verdict> {
        let call = call_of(name, arguments, id, None)?;
        Ok(check(py, call, |call| self.native.validate(call)))
    }

    /// The names that can be called now.
    #[getter]
    fn names(&self) -> Vec<String> {
        self.native.visible().into_iter().map(Into::into).collect()
    }

    /// Expands a container, or the containers of a tool, like a call of the container.
    fn expand(&self, name: &str) {
        self.native.expand(name);
        self.native.expand_containers_of(name);
    }

    /// Begins a turn after a message of the user.
    fn begin_turn(&self) {
        self.native.begin_turn();
    }

    /// Begins a reply of the model: identical calls of one reply count as one.
    fn begin_reply(&self) {
        self.native.begin_reply();
    }

    /// Forgets the failures of a tool, or of all tools.
    #[pyo3(signature = (name=None))]
    fn reset(&self, name: Option<&str>) -> PyResult<()> {
        match name {
            None => self.native.reset_all(),
            Some(name) if self.native.reset(name) => {}
            Some(name) => {
                let message = format!("there is no tool `{name}`");
                return Err(pyo3::exceptions::PyKeyError::new_err(message));
            }
        }
        Ok(())
    }
}
