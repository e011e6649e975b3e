//! Calls with streamed arguments.

use std::sync::Arc;

use parking_lot::Mutex;
use pyo3::exceptions::{PyRuntimeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyString};
use serde_json::Value;

use crate::convert::to_python;
use crate::pending::PendingCall;
use crate::runtime::wait;
use crate::session::Session;
use crate::verdict::Verdict;

/// A call with streamed arguments.
#[pyclass(frozen, module = "gramc")]
pub(crate) struct CallStream {
    session: Py<Session>,
    state: Mutex<StreamState>,
}

struct StreamState {
    /// `None` once the call has ended.
    stream: Option<gramc_tools::CallStream>,
    /// Half of a character, which providers may put into a piece of its own.
    surrogate: Option<u16>,
}

impl CallStream {
    pub(crate) fn new(session: Py<Session>, stream: gramc_tools::CallStream) -> Self {
        let state = StreamState { stream: Some(stream), surrogate: None };
        Self { session, state: Mutex::new(state) }
    }

    fn read<T>(&self, read: impl FnOnce(&gramc_tools::CallStream) -> T) -> PyResult<T> {
        self.state.lock().stream.as_ref().map(read).ok_or_else(end_error)
    }

    fn end(&self) -> PyResult<gramc_tools::CallStream> {
        let mut state = self.state.lock();
        let mut stream = state.stream.take().ok_or_else(end_error)?;
        if state.surrogate.is_some() {
            stream.feed("\u{fffd}");
        }
        Ok(stream)
    }
}

fn end_error() -> PyErr {
    PyRuntimeError::new_err("the call has ended")
}

impl StreamState {
    /// Adds a text with halves of characters.
    fn feed_units(&mut self, text: &Bound<'_, PyString>) -> PyResult<()> {
        let encoded = text.call_method1("encode", ("utf-16-le", "surrogatepass"))?;
        let encoded = encoded.cast::<PyBytes>()?.as_bytes();
        let units = encoded.chunks_exact(2).map(|unit| u16::from_le_bytes([unit[0], unit[1]]));
        let mut units: Vec<u16> = self.surrogate.take().into_iter().chain(units).collect();
        self.surrogate = units.pop_if(|unit| (0xD800..0xDC00).contains(unit));
        self.stream.as_mut().ok_or_else(end_error)?.feed(&String::from_utf16_lossy(&units));
        Ok(())
    }
}

#[pymethods]
impl CallStream {
    /// Adds a piece of the arguments: text, bytes, or a delta of a provider.
    fn feed(&self, chunk: &Bound<'_, PyAny>) -> PyResult<()> {
        static TEXT_OF: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
        let mut state = self.state.lock();
        if let Ok(bytes) = chunk.cast::<PyBytes>() {
            state.stream.as_mut().ok_or_else(end_error)?.feed_bytes(bytes.as_bytes());
            return Ok(());
        }
        if let Ok(text) = chunk.cast::<PyString>() {
            match text.to_str() {
                Ok(text) if state.surrogate.is_none() => {
                    state.stream.as_mut().ok_or_else(end_error)?.feed(text);
                }
                _ => state.feed_units(text)?,
            }
            return Ok(());
        }
        drop(state);
        let text = TEXT_OF.import(chunk.py(), "gramc._functions", "delta_text")?.call1((chunk,))?;
        if !text.is_instance_of::<PyString>() {
            return Err(PyTypeError::new_err("expected text, bytes or a delta of a provider"));
        }
        self.feed(&text)
    }

    /// The certain part of the arguments.
    #[getter]
    fn value<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let value = self.read(|stream| stream.arguments().value())?;
        to_python(py, &Value::Object(value))
    }

    /// The error of the verdict, if the call is refused whatever follows.
    #[getter]
    fn error<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let error = self.read(|stream| stream.error().map(|it| it.json()["error"].take()))?;
        to_python(py, &error.unwrap_or_default())
    }

    /// Checks the complete arguments and runs the call.
    #[pyo3(signature = (*, finish_reason=None))]
    fn finish(&self, py: Python<'_>, finish_reason: Option<&str>) -> PyResult<Py<Verdict>> {
        let session = self.session.get();
        let (stream, cancelled) = (self.end()?, session.call_token()?);
        let ending = gramc_host::ending(finish_reason);
        let caller = session.caller(py, None, None)?;
        let work = session.native.finish_stream(stream, ending, cancelled.clone());
        caller.conclude(py, wait(py, caller.within(work), &cancelled)?)
    }

    /// Checks the complete arguments and runs the call, in asynchronous programs.
    #[pyo3(signature = (*, finish_reason=None))]
    fn afinish<'py>(
        this: Bound<'py, Self>,
        finish_reason: Option<&str>,
    ) -> PyResult<Bound<'py, PyAny>> {
        static AWAIT: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
        let py = this.py();
        AWAIT.import(py, "gramc._functions", "await_call")?.call1((this, finish_reason))
    }

    /// Starts the call in the event loop that runs.
    fn _start(
        &self,
        py: Python<'_>,
        finish_reason: Option<&str>,
        event_loop: Py<PyAny>,
    ) -> PyResult<Py<PendingCall>> {
        let session = self.session.get();
        let (stream, cancelled) = (self.end()?, session.call_token()?);
        let ending = gramc_host::ending(finish_reason);
        let (native, token) = (Arc::clone(&session.native), cancelled.clone());
        let work = async move { native.finish_stream(stream, ending, token).await };
        let caller = session.caller(py, Some(&event_loop), None)?;
        PendingCall::start(py, event_loop, caller, work, cancelled)
    }

    /// Ends an incomplete call.
    fn stop(&self, py: Python<'_>) -> PyResult<Py<Verdict>> {
        let session = self.session.get();
        session.caller(py, None, None)?.conclude(py, session.native.stop_stream(self.end()?))
    }
}
