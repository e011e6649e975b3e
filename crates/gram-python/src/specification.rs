//! Specifications.

use std::path::PathBuf;

use gram_schema::Target;
use gram_schema::emit::{Compilation, Options};
use gram_schema::import::{ImportOptions, Origin, import_value};
use gram_tools::check::Policy;
use gram_tools::{Session, Settings, ToolLibrary};
use gramc::specification::{Specification as Source, SpecificationError};
use pyo3::exceptions::{PyOSError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use serde_json::Value;

use crate::convert::{to_python, to_value};
use crate::library::{BoundLibrary, Library};
use crate::runtime::detach;
use crate::session::{call_of, check};
use crate::target_tools::TargetTools;
use crate::verdict::Verdict;

/// Tools, types and libraries without errors.
#[pyclass(frozen, module = "gramc")]
pub(crate) struct Specification {
    pub(crate) source: Source,
    /// Checks calls that no library runs.
    session: Session,
}

/// An exception of `gramc._errors`.
pub(crate) fn raise<'py>(
    py: Python<'py>,
    name: &str,
    details: &Bound<'py, PyAny>,
) -> PyResult<PyErr> {
    let exception = py.import("gramc._errors")?.getattr(name)?.call1((details,))?;
    Ok(PyErr::from_value(exception))
}

pub(crate) fn specification_error(py: Python<'_>, error: SpecificationError) -> PyErr {
    match error {
        SpecificationError::Failed(message) => PyOSError::new_err(message),
        SpecificationError::Diagnostics(found) => {
            let raised = to_python(py, &Value::Array(found));
            raised.and_then(|found| raise(py, "SpecError", &found)).unwrap_or_else(|error| error)
        }
    }
}

impl Specification {
    fn new(source: Source) -> Self {
        let check = Policy { correct_names: false, ..Policy::default() };
        let library = ToolLibrary::new("").settings(Settings { check, ..Settings::default() });
        let session = Session::new(&library.bind_partly(&source.module).0);
        Self { source, session }
    }
}

/// Reads files and folders.
#[pyfunction]
pub(crate) fn load(py: Python<'_>, paths: Vec<PathBuf>) -> PyResult<Specification> {
    let read = detach(py, || Source::load(paths).map(Specification::new));
    read.map_err(|error| specification_error(py, error))
}

/// Reads a text.
#[pyfunction]
pub(crate) fn loads(py: Python<'_>, text: &str, name: &str) -> PyResult<Specification> {
    let read = detach(py, || Source::parse(text, name).map(Specification::new));
    read.map_err(|error| specification_error(py, error))
}

/// Tools in the form of MCP as a text in gram, with notes on what was changed.
#[pyfunction]
pub(crate) fn import_tools(tools: &Bound<'_, PyAny>) -> PyResult<(String, Vec<String>)> {
    let options = ImportOptions { from: Origin::Mcp, ..ImportOptions::default() };
    let imported = import_value(to_value(tools)?, &options)
        .map_err(|error| PyValueError::new_err(error.to_string()))?;
    let notes = imported.notes.iter().map(ToString::to_string).collect();
    Ok((imported.text, notes))
}

fn target_of(name: &str) -> PyResult<Target> {
    let known = Target::from_name(name).filter(|it| !it.spec().shape.is_output());
    known.ok_or_else(|| {
        let message = format!("unknown target `{name}`; `gramc compile --help` lists them");
        PyValueError::new_err(message)
    })
}

#[pymethods]
impl Specification {
    /// The tools for a target, with the way back from its calls.
    fn _tools_for(&self, py: Python<'_>, target: &str) -> PyResult<TargetTools> {
        let target = target_of(target)?;
        Ok(detach(py, || TargetTools::new(&self.source, target)))
    }

    /// The tools for a target, ready for a request.
    #[pyo3(signature = (target, *, expanded=false))]
    fn compile<'py>(
        &self,
        py: Python<'py>,
        target: &str,
        expanded: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let target = target_of(target)?;
        let compiled = detach(py, || {
            let options = Options { expanded, ..Options::new(target, self.source.files) };
            serde_json::to_value(Compilation::new(&self.source.module, &options).request())
        });
        to_python(py, &compiled.map_err(|error| PyValueError::new_err(error.to_string()))?)
    }

    /// Checks a call without running it.
    #[pyo3(signature = (name, arguments=None, *, id=None))]
    fn validate(
        &self,
        py: Python<'_>,
        name: &str,
        arguments: Option<&Bound<'_, PyAny>>,
        id: Option<String>,
    ) -> PyResult<Verdict> {
        Ok(check(py, &self.session, call_of(name, arguments, id, None)?))
    }

    /// The names of its tools.
    #[getter]
    fn names(&self) -> Vec<String> {
        self.source.module.tools.iter().map(|tool| tool.name.to_string()).collect()
    }

    /// Binds a library, or raises `BindError`, which lists all that does not fit.
    fn bind(this: &Bound<'_, Self>, library: &Bound<'_, PyAny>) -> PyResult<BoundLibrary> {
        let native = library.getattr("_native").ok();
        let native = native.and_then(|native| native.cast_into::<Library>().ok());
        let native = native.ok_or_else(|| PyTypeError::new_err("expected a ToolLibrary"))?;
        native.get().bind(this)
    }
}
