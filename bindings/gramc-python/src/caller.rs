//! The caller of a call: what functions get from it beside the arguments, and what they leave for it.

use std::sync::Arc;

use gramc_tools::Verdict as CallVerdict;
use parking_lot::Mutex;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyDict;
use serde_json::{Map, Value};
use tokio::task::futures::TaskLocalFuture;

use crate::convert::to_value;
use crate::runtime::run_python;
use crate::verdict::Verdict;

tokio::task_local! {
    static CALLER: Arc<Caller>;
}

/// The caller of a call.
#[derive(Default)]
pub(crate) struct Caller {
    /// Its event loop, if it is asynchronous.
    pub(crate) event_loop: Option<Py<PyAny>>,
    /// Values of injected parameters.
    pub(crate) injected: Option<Py<PyDict>>,
    /// Receives the verdict.
    pub(crate) on_verdict: Option<Py<PyAny>>,
    /// Receives the progress of functions.
    pub(crate) on_progress: Option<Py<PyAny>>,
    /// The exception that a function raised.
    raised: Mutex<Option<Py<PyAny>>>,
}

impl Caller {
    pub(crate) fn new(
        event_loop: Option<Py<PyAny>>,
        injected: Option<Py<PyDict>>,
        on_verdict: Option<Py<PyAny>>,
        on_progress: Option<Py<PyAny>>,
    ) -> Arc<Self> {
        Arc::new(Self { event_loop, injected, on_verdict, on_progress, raised: Mutex::default() })
    }

    /// The caller of the call that runs.
    pub(crate) fn current() -> Arc<Self> {
        CALLER.try_with(Arc::clone).unwrap_or_default()
    }

    /// Runs a call for the caller.
    pub(crate) fn within<F: Future>(self: &Arc<Self>, work: F) -> TaskLocalFuture<Arc<Self>, F> {
        CALLER.scope(Arc::clone(self), work)
    }

    pub(crate) fn note_exception(&self, exception: Option<Py<PyAny>>) {
        *self.raised.lock() = exception;
    }

    /// Reports the verdict on the call.
    pub(crate) fn conclude(&self, py: Python<'_>, verdict: CallVerdict) -> PyResult<Py<Verdict>> {
        static REPORT: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
        let exception = self.raised.lock().take();
        if let Some(exception) = &exception
            && exception.bind(py).is_instance_of::<PyKeyboardInterrupt>()
        {
            // Ctrl-C during a function that runs in the thread of the caller.
            return Err(PyErr::from_value(exception.bind(py).clone()));
        }
        let is_reported = is_changed(&verdict) || !verdict.is_ok() || self.on_verdict.is_some();
        let verdict = Py::new(py, Verdict::new(verdict, exception))?;
        if is_reported {
            run_python(|| {
                let report = REPORT.import(py, "gramc._report", "report")?;
                report.call1((&verdict, &self.on_verdict))
            })?;
        }
        Ok(verdict)
    }
}

/// Whether arguments were repaired or removed.
pub(crate) fn is_changed(verdict: &CallVerdict) -> bool {
    let accepted = verdict.accepted();
    accepted.is_some_and(|it| !it.repairs.is_empty() || !it.stripped.is_empty())
}

/// The values of injected parameters as JSON, as far as they have a form in JSON.
pub(crate) fn injected_json(injected: Option<&Bound<'_, PyDict>>) -> PyResult<Map<String, Value>> {
    let entries = injected.into_iter().flat_map(PyDictMethods::iter);
    entries
        .map(|(name, value)| Ok((name.extract()?, to_value(&value).unwrap_or_default())))
        .collect()
}
