//! Verdicts.

use std::sync::OnceLock;

use gramc_tools::{CallError, ToolContent, Verdict as CallVerdict};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};
use serde_json::Value;

use crate::convert::{read_json, to_python};

/// The outcome of a call.
#[pyclass(frozen, module = "gramc")]
pub(crate) struct Verdict {
    source: VerdictSource,
    json: OnceLock<Value>,
    /// The exception that the function raised.
    #[pyo3(get)]
    exception: Option<Py<PyAny>>,
}

enum VerdictSource {
    Call(Box<CallVerdict>),
    /// Restored from its JSON form, with the message for the model.
    Stored(String),
}

impl Verdict {
    pub(crate) fn new(verdict: CallVerdict, exception: Option<Py<PyAny>>) -> Self {
        let source = VerdictSource::Call(Box::new(verdict));
        Self { source, json: OnceLock::new(), exception }
    }

    fn json(&self) -> &Value {
        self.json.get_or_init(|| match &self.source {
            VerdictSource::Call(verdict) => verdict.json(),
            VerdictSource::Stored(_) => Value::Null,
        })
    }

    fn text_at(&self, pointer: &str) -> Option<&str> {
        self.json().pointer(pointer).and_then(Value::as_str)
    }

    /// A part of the JSON form, or `absent` if there is none.
    fn part<'py>(
        &self,
        py: Python<'py>,
        pointer: &str,
        absent: &Value,
    ) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, self.json().pointer(pointer).unwrap_or(absent))
    }

    fn error_type(&self) -> Option<&str> {
        match &self.source {
            VerdictSource::Call(verdict) => {
                verdict.outcome.as_ref().err().map(CallError::error_type)
            }
            VerdictSource::Stored(_) => self.text_at("/error/error_type"),
        }
    }
}

#[pymethods]
impl Verdict {
    /// Restores a verdict from its JSON form, the message for the model and the exception.
    #[staticmethod]
    fn _restore(json: &str, message: String, exception: Option<Py<PyAny>>) -> PyResult<Self> {
        let json: serde_json::Result<Value> = serde_json::from_str(json);
        let json = json.map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok(Self { source: VerdictSource::Stored(message), json: OnceLock::from(json), exception })
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let exception =
            py.import("gramc._report")?.getattr("storable")?.call1((&self.exception,))?;
        let restore = py.get_type::<Self>().getattr("_restore")?;
        (restore, (self.to_json(), self.message(), exception)).into_pyobject(py)
    }

    /// Whether the call succeeded.
    #[getter]
    fn ok(&self) -> bool {
        match &self.source {
            VerdictSource::Call(verdict) => verdict.is_ok(),
            VerdictSource::Stored(_) => self.json()["ok"] == true,
        }
    }

    /// The name that was called.
    #[getter]
    fn name(&self) -> &str {
        match &self.source {
            VerdictSource::Call(verdict) => &verdict.name,
            VerdictSource::Stored(_) => self.text_at("/name").unwrap_or_default(),
        }
    }

    /// The identifier of the call.
    #[getter]
    fn id(&self) -> Option<&str> {
        match &self.source {
            VerdictSource::Call(verdict) => verdict.id.as_deref(),
            VerdictSource::Stored(_) => self.text_at("/id"),
        }
    }

    /// The result of the tool; `None` for a failed call.
    #[getter]
    fn result<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let VerdictSource::Call(verdict) = &self.source else {
            return self.part(py, "/result", &Value::Null);
        };
        match verdict.outcome.as_ref().ok().and_then(|it| it.result.as_ref()) {
            Some(result) => to_python(py, result),
            None => Ok(py.None().into_bound(py)),
        }
    }

    /// The arguments after the check; `None` if they were refused.
    #[getter]
    fn arguments<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let VerdictSource::Call(verdict) = &self.source else {
            return self.part(py, "/arguments", &Value::Null);
        };
        match verdict.accepted() {
            Some(accepted) => read_json(py, &accepted.arguments),
            None => Ok(py.None().into_bound(py)),
        }
    }

    /// The repairs of the arguments.
    #[getter]
    fn repairs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.part(py, "/repairs", &Value::Array(Vec::new()))
    }

    /// The undeclared parameters that were removed.
    #[getter]
    fn stripped<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.part(py, "/stripped", &Value::Array(Vec::new()))
    }

    /// Warnings about the call.
    #[getter]
    fn warnings<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.part(py, "/warnings", &Value::Array(Vec::new()))
    }

    /// The error of a failed call.
    #[getter]
    fn error<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.part(py, "/error", &Value::Null)
    }

    /// The problems of the arguments, one by one.
    #[getter]
    fn errors<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.part(py, "/error/errors", &Value::Array(Vec::new()))
    }

    /// The type of the error, such as `validation_error`.
    #[getter(error_type)]
    fn error_type_of_call(&self) -> Option<&str> {
        self.error_type()
    }

    /// The text for the model: the result, or the error and what to do.
    #[getter]
    fn message(&self) -> String {
        match &self.source {
            VerdictSource::Call(verdict) => verdict.message(),
            VerdictSource::Stored(message) => message.clone(),
        }
    }

    /// The content blocks of a result in the form of MCP; `None` for other results.
    #[getter]
    fn content<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let blocks = match &self.source {
            VerdictSource::Call(verdict) => verdict.content.as_ref().map(ToolContent::blocks),
            VerdictSource::Stored(_) => None,
        };
        to_python(py, &blocks.map(Into::into).unwrap_or_default())
    }

    /// The JSON of the command line as Python objects.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, self.json())
    }

    /// The JSON of the command line.
    fn to_json(&self) -> String {
        self.json().to_string()
    }

    fn __bool__(&self) -> bool {
        self.ok()
    }

    fn _repr_html_<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        py.import("gramc._html")?.getattr("verdict_html")?.call1((self.to_dict(py)?,))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let name = PyString::new(py, self.name()).repr()?;
        Ok(match self.error_type() {
            None => format!("<Verdict of {name}: ok>"),
            Some(error) => format!("<Verdict of {name}: {error}>"),
        })
    }
}
