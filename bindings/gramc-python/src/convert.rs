//! Values of JSON as Python objects.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyString};
use serde_json::Value;

/// A value as Python's `json.loads` reads it.
pub(crate) fn to_python<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    static LOADS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    match value {
        Value::Null => Ok(py.None().into_bound(py)),
        Value::String(text) => Ok(PyString::new(py, text).into_any()),
        value => LOADS.import(py, "json", "loads")?.call1((value.to_string(),)),
    }
}

/// JSON text of an object that `json.dumps` takes, without white space.
pub(crate) fn to_json_text(object: &Bound<'_, PyAny>) -> PyResult<String> {
    let py = object.py();
    let dumps = py.import("json")?.getattr("dumps")?;
    let options = PyDict::new(py);
    options.set_item("separators", (",", ":"))?;
    options.set_item("ensure_ascii", false)?;
    let text = dumps.call((object,), Some(&options))?;
    // Halves of surrogate pairs have no other form than their escapes.
    text.extract().or_else(|_| {
        options.set_item("ensure_ascii", true)?;
        dumps.call((object,), Some(&options))?.extract()
    })
}

/// The value of an object that `json.dumps` takes.
pub(crate) fn to_value(object: &Bound<'_, PyAny>) -> PyResult<Value> {
    serde_json::from_str(&to_json_text(object)?)
        .map_err(|error| pyo3::exceptions::PyValueError::new_err(error.to_string()))
}

/// Arguments as JSON text: text, a dictionary, or `None` for a call without arguments.
pub(crate) fn arguments(object: Option<&Bound<'_, PyAny>>) -> PyResult<Option<String>> {
    match object {
        None => Ok(None),
        Some(object) => match object.cast::<PyString>() {
            Ok(text) => Ok(Some(text.to_str()?.to_owned())),
            Err(_) => to_json_text(object).map(Some),
        },
    }
}
