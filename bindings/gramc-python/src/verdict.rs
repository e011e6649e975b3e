//! Verdicts.

use std::sync::OnceLock;

use gramc_tools::Verdict as CallVerdict;
use pyo3::prelude::*;
use pyo3::types::PyString;
use serde_json::Value;

use crate::convert::{read_json, to_python};

/// The outcome of a call.
#[pyclass(frozen, module = "gramc")]
pub(crate) struct Verdict {
    verdict: CallVerdict,
    json: OnceLock<Value>,
    /// The exception that the function raised.
    #[pyo3(get)]
    exception: Option<Py<PyAny>>,
}

impl Verdict {
    pub(crate) fn new(verdict: CallVerdict, exception: Option<Py<PyAny>>) -> Self {
        Self { verdict, json: OnceLock::new(), exception }
    }

    fn json(&self) -> &Value {
        self.json.get_or_init(|| self.verdict.json())
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

    fn error_type(&self) -> Option<&'static str> {
        self.verdict.outcome.as_ref().err().map(gramc_tools::CallError::error_type)
    }
}

#[pymethods]
impl Verdict {
    /// Whether the call succeeded.
    #[getter]
    fn ok(&self) -> bool {
        self.verdict.is_ok()
    }

    /// The name that was called.
    #[getter]
    fn name(&self) -> &str {
        &self.verdict.name
    }

    /// The identifier of the call.
    #[getter]
    fn id(&self) -> Option<&str> {
        self.verdict.id.as_deref()
    }

    /// The result of the tool; `None` for a failed call.
    #[getter]
    fn result<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match self.verdict.outcome.as_ref().ok().and_then(|it| it.result.as_ref()) {
            Some(result) => to_python(py, result),
            None => Ok(py.None().into_bound(py)),
        }
    }

    /// The arguments after the check; `None` if they were refused.
    #[getter]
    fn arguments<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match self.verdict.accepted() {
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
    fn error_type_of_call(&self) -> Option<&'static str> {
        self.error_type()
    }

    /// The text for the model: the result, or the error and what to do.
    #[getter]
    fn message(&self) -> String {
        self.verdict.message()
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
        self.verdict.is_ok()
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let name = PyString::new(py, &self.verdict.name).repr()?;
        Ok(match self.error_type() {
            None => format!("<Verdict of {name}: ok>"),
            Some(error) => format!("<Verdict of {name}: {error}>"),
        })
    }
}
