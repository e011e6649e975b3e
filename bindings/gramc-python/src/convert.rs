//! Values of JSON as Python objects, and the other way round.

use gramc_calls::check::{JsonContent, JsonText, JsonValue};
use gramc_json_schema::text::MAX_DEPTH;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use serde_json::Value;

/// A value as Python's `json.loads` reads it.
pub(crate) fn to_python<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    match value {
        Value::Null => Ok(py.None().into_bound(py)),
        Value::String(text) => Ok(PyString::new(py, text).into_any()),
        value => read_json(py, &value.to_string()),
    }
}

/// JSON text as Python's `json.loads` reads it.
pub(crate) fn read_json<'py>(py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyAny>> {
    match JsonText::read(text) {
        Some(read) => build(py, read.root()),
        None => py.import("json")?.call_method1("loads", (text,)),
    }
}

fn build<'py>(py: Python<'py>, value: JsonValue<'_>) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value.content() {
        JsonContent::Null => py.None().into_bound(py),
        JsonContent::Bool(value) => PyBool::new(py, value).to_owned().into_any(),
        JsonContent::String(text) => PyString::new(py, &text).into_any(),
        JsonContent::Number(text) => number(py, text)?,
        JsonContent::Array => {
            let list = PyList::empty(py);
            for item in value.items() {
                list.append(build(py, item)?)?;
            }
            list.into_any()
        }
        JsonContent::Object => {
            let dict = PyDict::new(py);
            for (key, value) in value.entries() {
                dict.set_item(PyString::new(py, &key), build(py, value)?)?;
            }
            dict.into_any()
        }
    })
}

fn number<'py>(py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyAny>> {
    if let Ok(number) = text.parse::<i64>() {
        return Ok(number.into_pyobject(py)?.into_any());
    }
    if text.contains(['.', 'e', 'E'])
        && let Ok(number) = text.parse::<f64>()
    {
        return Ok(PyFloat::new(py, number).into_any());
    }
    py.get_type::<PyInt>().call1((text,))
}

/// JSON text of an object that `json.dumps` takes, without white space.
pub(crate) fn to_json_text(object: &Bound<'_, PyAny>) -> PyResult<String> {
    let mut text = Vec::with_capacity(128);
    if write_json(&mut text, object, 0).is_some()
        && let Ok(text) = String::from_utf8(text)
    {
        return Ok(text);
    }
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

/// Writes an object of the types that `json.loads` returns, and tuples. `None` leaves the object to
/// `json.dumps`, which knows more types and all errors.
fn write_json(text: &mut Vec<u8>, object: &Bound<'_, PyAny>, depth: usize) -> Option<()> {
    // Deeper objects may contain themselves.
    if depth > MAX_DEPTH {
        return None;
    }
    if let Ok(string) = object.cast_exact::<PyString>() {
        return serde_json::to_writer(text, string.to_str().ok()?).ok();
    }
    if let Ok(dict) = object.cast_exact::<PyDict>() {
        text.push(b'{');
        for (place, (key, value)) in dict.iter().enumerate() {
            if place > 0 {
                text.push(b',');
            }
            let key = key.cast_exact::<PyString>().ok()?;
            serde_json::to_writer(&mut *text, key.to_str().ok()?).ok()?;
            text.push(b':');
            write_json(text, &value, depth + 1)?;
        }
        text.push(b'}');
        return Some(());
    }
    if let Ok(list) = object.cast_exact::<PyList>() {
        return write_items(text, list.iter(), depth);
    }
    if let Ok(tuple) = object.cast_exact::<PyTuple>() {
        return write_items(text, tuple.iter(), depth);
    }
    if object.is_none() {
        text.extend_from_slice(b"null");
        return Some(());
    }
    if let Ok(value) = object.cast_exact::<PyBool>() {
        return serde_json::to_writer(text, &value.is_true()).ok();
    }
    if object.cast_exact::<PyInt>().is_ok() {
        return serde_json::to_writer(text, &object.extract::<i64>().ok()?).ok();
    }
    let number = object.cast_exact::<PyFloat>().ok()?.value();
    number.is_finite().then(|| serde_json::to_writer(text, &number).ok())?
}

fn write_items<'py>(
    text: &mut Vec<u8>,
    items: impl Iterator<Item = Bound<'py, PyAny>>,
    depth: usize,
) -> Option<()> {
    text.push(b'[');
    for (place, item) in items.enumerate() {
        if place > 0 {
            text.push(b',');
        }
        write_json(text, &item, depth + 1)?;
    }
    text.push(b']');
    Some(())
}

/// The value of an object that `json.dumps` takes.
pub(crate) fn to_value(object: &Bound<'_, PyAny>) -> PyResult<Value> {
    serde_json::from_str(&to_json_text(object)?)
        .map_err(|error| PyValueError::new_err(error.to_string()))
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
