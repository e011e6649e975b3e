//! Specifications.

use std::io;
use std::path::PathBuf;

use gramc_host::{SpecificationError, UnknownTarget};
use pyo3::exceptions::{PyKeyError, PyOSError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyIterator};

use crate::convert::{to_python, to_value};
use crate::library::{BoundLibrary, Library};
use crate::runtime::detach;
use crate::session::{call_of, check, refuse_others};
use crate::target_tools::TargetTools;
use crate::verdict::Verdict;

/// Tools, types and libraries without errors.
#[pyclass(frozen, module = "gramc")]
pub(crate) struct Specification(pub(crate) gramc_host::Specification);

/// An exception of `gramc._errors`.
pub(crate) fn raise<'py>(
    py: Python<'py>,
    name: &str,
    details: &Bound<'py, PyAny>,
) -> PyResult<PyErr> {
    let exception = py.import("gramc._errors")?.getattr(name)?.call1((details,))?;
    Ok(PyErr::from_value(exception))
}

pub(crate) fn specification_error(py: Python<'_>, error: &SpecificationError) -> PyErr {
    match error.diagnostics_json() {
        None => match error.io_kind() {
            // Python's exception of this kind, such as `FileNotFoundError`.
            Some(kind) => io::Error::new(kind, error.to_string()).into(),
            None => PyOSError::new_err(error.to_string()),
        },
        Some(found) => {
            let raised = to_python(py, &found);
            raised.and_then(|found| raise(py, "SpecError", &found)).unwrap_or_else(|error| error)
        }
    }
}

#[expect(clippy::needless_pass_by_value, reason = "for map_err")]
fn unknown_target(error: UnknownTarget) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// A question about a similar name, if there is one.
fn did_you_mean(name: &str, known: &[String]) -> String {
    let question = gramc_host::did_you_mean(name, known.iter().map(String::as_str));
    question.map(|it| format!("; {it}")).unwrap_or_default()
}

/// Reads files and folders.
#[pyfunction]
pub(crate) fn load(py: Python<'_>, paths: Vec<PathBuf>) -> PyResult<Specification> {
    let read = detach(py, || gramc_host::Specification::load(paths));
    read.map(Specification).map_err(|error| specification_error(py, &error))
}

/// Reads a text.
#[pyfunction]
pub(crate) fn loads(py: Python<'_>, text: &str, name: &str) -> PyResult<Specification> {
    let read = detach(py, || gramc_host::Specification::parse(text, name));
    read.map(Specification).map_err(|error| specification_error(py, &error))
}

/// Tools in the form of MCP as a text in gram, with notes on changes.
#[pyfunction]
pub(crate) fn import_tools(tools: &Bound<'_, PyAny>) -> PyResult<(String, Vec<String>)> {
    gramc_host::import_tools(to_value(tools)?)
        .map_err(|error| PyValueError::new_err(error.to_string()))
}

#[pymethods]
impl Specification {
    /// The tools for a target, with the way back from its calls.
    fn _tools_for(&self, py: Python<'_>, target: &str) -> PyResult<TargetTools> {
        let tools = detach(py, || self.0.tools_for(target));
        tools.map(TargetTools).map_err(unknown_target)
    }

    /// The tools for a target, ready for a request.
    #[pyo3(signature = (target, *, expanded=false))]
    fn compile<'py>(
        &self,
        py: Python<'py>,
        target: &str,
        expanded: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let compiled = detach(py, || self.0.compile(target, expanded));
        to_python(py, &compiled.map_err(unknown_target)?)
    }

    /// Checks a call without running it.
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
        Ok(check(py, call, |call| self.0.validate(call)))
    }

    /// The names of its tools.
    #[getter]
    fn names(&self) -> Vec<String> {
        self.0.names()
    }

    /// The text in gram.
    #[getter]
    fn gram(&self) -> String {
        self.0.gram()
    }

    fn __len__(&self) -> usize {
        self.0.names().len()
    }

    fn __contains__(&self, name: &str) -> bool {
        self.0.names().iter().any(|known| known == name)
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        self.0.names().into_pyobject(py)?.try_iter()
    }

    fn __getitem__<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        let Some(tool) = self.0.tool(name) else {
            let help = did_you_mean(name, &self.0.names());
            return Err(PyKeyError::new_err(format!("there is no tool `{name}`{help}")));
        };
        let schema = to_python(py, &tool.schema)?;
        let class = py.import("gramc._specification")?.getattr("SpecifiedTool")?;
        class.call1((name, tool.description, schema, tool.gram))
    }

    fn __repr__(&self) -> String {
        format!("<Specification of {}>", self.0.names().join(", "))
    }

    fn _repr_html_<'py>(this: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        this.py().import("gramc._html")?.getattr("specification_html")?.call1((this,))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (String, &str))> {
        Ok((py.import("gramc")?.getattr("loads")?, (self.0.gram(), "<restored>")))
    }

    /// Binds a library, or raises `BindError`, which lists all that does not fit.
    fn bind(this: &Bound<'_, Self>, library: &Bound<'_, PyAny>) -> PyResult<BoundLibrary> {
        let native = library.getattr("_native").ok();
        let native = native.and_then(|native| native.cast_into::<Library>().ok());
        let native = native.ok_or_else(|| PyTypeError::new_err("expected a ToolLibrary"))?;
        native.get().bind(this)
    }
}
