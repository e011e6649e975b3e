//! Sessions.

use std::sync::Arc;

use gramc_tools::Call;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyDict;
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use crate::caller::{Caller, injected_json, is_changed};
use crate::convert::{arguments as arguments_text, to_value};
use crate::library::BoundLibrary;
use crate::pending::PendingCall;
use crate::runtime::{call_token, detach, run_python, wait};
use crate::stream::CallStream;
use crate::verdict::Verdict;

/// One conversation.
#[pyclass(frozen, weakref, module = "gramc")]
pub(crate) struct Session {
    pub(crate) native: Arc<gramc_tools::Session>,
    /// The library that the session calls.
    #[pyo3(get)]
    bound: Py<BoundLibrary>,
    /// Values of injected parameters.
    inject: Option<Py<PyDict>>,
    /// Receives the verdicts.
    on_verdict: Option<Py<PyAny>>,
    /// Receives the progress of functions.
    on_progress: Option<Py<PyAny>>,
    /// Cancelled when the conversation of an agent ends.
    ended: Option<CancellationToken>,
}

impl Session {
    pub(crate) fn new(
        session: gramc_tools::Session,
        bound: Py<BoundLibrary>,
        inject: Option<Py<PyDict>>,
        on_verdict: Option<Py<PyAny>>,
        on_progress: Option<Py<PyAny>>,
    ) -> Self {
        Self { native: Arc::new(session), bound, inject, on_verdict, on_progress, ended: None }
    }

    /// The session of an agent, which can call nothing any more once its conversation has ended.
    pub(crate) fn of_agent(
        session: Arc<gramc_tools::Session>,
        bound: Py<BoundLibrary>,
        ended: CancellationToken,
    ) -> Self {
        let (inject, on_verdict, on_progress) = (None, None, None);
        let ended = Some(ended);
        Self { native: session, bound, inject, on_verdict, on_progress, ended }
    }

    /// The caller of a call. Its own values of injected parameters take precedence.
    pub(crate) fn caller(
        &self,
        py: Python<'_>,
        event_loop: Option<&Py<PyAny>>,
        inject: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Arc<Caller>> {
        let of_session = self.inject.as_ref().map(|inject| inject.bind(py).clone());
        let injected = match (of_session, inject) {
            (Some(of_session), Some(inject)) => {
                let all = of_session.copy()?;
                all.update(inject.as_mapping())?;
                Some(all)
            }
            (of_session, inject) => of_session.or_else(|| inject.cloned()),
        };
        let clone = |object: &Py<PyAny>| object.clone_ref(py);
        let [on_verdict, on_progress] =
            [&self.on_verdict, &self.on_progress].map(|callback| callback.as_ref().map(clone));
        let (event_loop, injected) = (event_loop.map(clone), injected.map(Bound::unbind));
        Ok(Caller::new(event_loop, injected, on_verdict, on_progress))
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

/// Starts the span of a call, if the program records spans.
fn start_span<'py>(py: Python<'py>, call: &Call) -> PyResult<Option<Bound<'py, PyAny>>> {
    static START: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let span = run_python(|| {
        let start = START.import(py, "gramc._telemetry", "start")?;
        start.call1((&call.name, &call.id))
    })?;
    Ok(span.filter(|span| !span.is_none()))
}

/// The context of the current span for programs, services and MCP servers, if the program records spans.
fn trace_context(py: Python<'_>) -> PyResult<Map<String, Value>> {
    static CONTEXT: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let context = CONTEXT.import(py, "gramc._telemetry", "trace_context")?.call0()?;
    Ok(match to_value(&context)? {
        Value::Object(context) => context,
        _ => Map::new(),
    })
}

/// Refuses keyword arguments that are none of a method, and names the way to pass them to the tool.
pub(crate) fn refuse_others(
    method: &str,
    tool: &str,
    others: Option<&Bound<'_, PyDict>>,
) -> PyResult<()> {
    let Some(name) = others.and_then(|others| others.keys().iter().next()) else { return Ok(()) };
    Err(PyTypeError::new_err(format!(
        "`{method}` has no parameter `{name}`; pass the arguments of the tool as a dictionary: \
         {method}(\"{tool}\", {{\"{name}\": …}})"
    )))
}

/// Checks a call without running it.
pub(crate) fn check(
    py: Python<'_>,
    call: Call,
    validate: impl FnOnce(Call) -> gramc_tools::Verdict + Send,
) -> Verdict {
    let is_short = call.arguments.as_ref().is_none_or(|text| text.len() <= SHORT_ARGUMENTS);
    Verdict::new(if is_short { validate(call) } else { detach(py, || validate(call)) }, None)
}

#[pymethods]
impl Session {
    /// Checks a call and runs it.
    #[pyo3(signature = (
        name, arguments=None, *, call_id=None, finish_reason=None, inject=None, **others
    ))]
    #[expect(clippy::too_many_arguments, reason = "keywords of Python")]
    fn call(
        &self,
        py: Python<'_>,
        name: &str,
        arguments: Option<&Bound<'_, PyAny>>,
        call_id: Option<String>,
        finish_reason: Option<&str>,
        inject: Option<&Bound<'_, PyDict>>,
        others: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Py<Verdict>> {
        refuse_others("call", name, others)?;
        let mut call = call_of(name, arguments, call_id, finish_reason)?;
        call.injected = injected_json(inject)?;
        let (caller, cancelled) = (self.caller(py, None, inject)?, self.call_token()?);
        let span = start_span(py, &call)?;
        if span.is_some() {
            call.meta = trace_context(py)?;
        }
        let work = self.native.call_until(call, cancelled.clone());
        let verdict = wait(py, caller.within(work), &cancelled);
        let verdict = verdict.and_then(|verdict| caller.conclude(py, verdict));
        if let Some(span) = span {
            run_python(|| span.call_method1("end", (verdict.as_ref().ok(),)))?;
        }
        verdict
    }

    /// Checks a call and runs it, in asynchronous programs.
    #[pyo3(signature = (
        name, arguments=None, *, call_id=None, finish_reason=None, inject=None, **others
    ))]
    fn acall<'py>(
        this: Bound<'py, Self>,
        name: &str,
        arguments: Option<&Bound<'py, PyAny>>,
        call_id: Option<&str>,
        finish_reason: Option<&str>,
        inject: Option<&Bound<'py, PyDict>>,
        others: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        static AWAIT: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
        refuse_others("acall", name, others)?;
        let py = this.py();
        let function = AWAIT.import(py, "gramc._functions", "acall")?;
        function.call1((this, name, arguments, call_id, finish_reason, inject))
    }

    /// Starts a call in the event loop that runs.
    #[expect(clippy::too_many_arguments, reason = "arguments of Python")]
    fn _start(
        &self,
        py: Python<'_>,
        name: &str,
        arguments: Option<&Bound<'_, PyAny>>,
        call_id: Option<String>,
        finish_reason: Option<&str>,
        inject: Option<&Bound<'_, PyDict>>,
        event_loop: Py<PyAny>,
    ) -> PyResult<Py<PendingCall>> {
        let mut call = call_of(name, arguments, call_id, finish_reason)?;
        call.injected = injected_json(inject)?;
        call.meta = trace_context(py)?;
        let cancelled = self.call_token()?;
        let (session, token) = (Arc::clone(&self.native), cancelled.clone());
        let work = async move { session.call_until(call, token).await };
        let caller = self.caller(py, Some(&event_loop), inject)?;
        PendingCall::start(py, event_loop, caller, work, cancelled)
    }

    /// Checks a call that the caller itself runs: the verdict, the arguments as JSON text if the call was
    /// accepted, and whether they differ from those of the model by more than default values. A refused
    /// call counts as an attempt.
    fn _check(
        &self,
        py: Python<'_>,
        name: &str,
        arguments: Option<&Bound<'_, PyAny>>,
        call_id: Option<String>,
    ) -> PyResult<(Py<Verdict>, Option<String>, bool)> {
        let call = call_of(name, arguments, call_id, None)?;
        let checked = self.native.check(call);
        let is_changed = is_changed(&checked.verdict);
        let verdict = self.caller(py, None, None)?.conclude(py, checked.verdict)?;
        Ok((verdict, checked.arguments, is_changed))
    }

    /// Begins a call with streamed arguments.
    #[pyo3(signature = (name, *, call_id=None))]
    fn begin(this: Py<Self>, name: &str, call_id: Option<String>) -> CallStream {
        let stream = this.get().native.begin_stream(name, call_id);
        CallStream::new(this, stream)
    }

    /// Checks a call without running it. It counts towards no limit.
    #[pyo3(signature = (name, arguments=None, *, call_id=None, **others))]
    fn validate(
        &self,
        py: Python<'_>,
        name: &str,
        arguments: Option<&Bound<'_, PyAny>>,
        call_id: Option<String>,
        others: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Verdict> {
        refuse_others("validate", name, others)?;
        let call = call_of(name, arguments, call_id, None)?;
        Ok(check(py, call, |call| self.native.validate(call)))
    }

    /// The names that can be called now.
    #[getter]
    fn names(&self) -> Vec<String> {
        self.native.visible().into_iter().map(Into::into).collect()
    }

    fn __repr__(&self) -> String {
        format!("<Session with {}>", self.names().join(", "))
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
