//! Values of JSON as Python objects.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFloat, PyInt, PyList, PyString};
use serde_json::{Number, Value};

/// A value as Python's `json.loads` reads it.
pub(crate) fn to_python<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::Null => py.None().into_bound(py),
        Value::Bool(value) => value.into_pyobject(py)?.to_owned().into_any(),
        Value::Number(number) => number_to_python(py, number)?,
        Value::String(text) => PyString::new(py, text).into_any(),
        Value::Array(items) => {
            let list = PyList::empty(py);
            for item in items {
                list.append(to_python(py, item)?)?;
            }
            list.into_any()
        }
        Value::Object(map) => {
            let dict = PyDict::new(py);
            for (key, item) in map {
                dict.set_item(key, to_python(py, item)?)?;
            }
            dict.into_any()
        }
    })
}

/// Integers stay exact, however large they are.
fn number_to_python<'py>(py: Python<'py>, number: &Number) -> PyResult<Bound<'py, PyAny>> {
    let text = number.as_str();
    if text.contains(['.', 'e', 'E']) {
        return py.get_type::<PyFloat>().call1((text,));
    }
    match number.as_i64() {
        Some(value) => Ok(value.into_pyobject(py)?.into_any()),
        None => py.get_type::<PyInt>().call1((text,)),
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
