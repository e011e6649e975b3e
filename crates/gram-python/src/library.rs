//! Libraries, and libraries that are bound to a specification.

use std::path::PathBuf;
use std::time::Duration;

use gram_tools::invocation::DeclaredInterface;
use gram_tools::{InjectedSource, Settings, ToolLibrary};
use parking_lot::Mutex;
use pyo3::prelude::*;
use serde_json::{Value, json};

use crate::convert::{to_python, to_value};
use crate::function::PythonFunction;
use crate::runtime::{call_token, detach, handle, wait};
use crate::session::Session;
use crate::specification::{Specification, raise, specification_error};

/// Time for MCP servers to start before they are compared with the specification.
const CONNECT_LIMIT: Duration = Duration::from_secs(15);

/// Implementations of tools.
#[pyclass(frozen, module = "gramc")]
pub(crate) struct Library(Mutex<ToolLibrary>);

/// The settings that attributes of gram describe.
fn settings_of(base: Settings, attributes: &Bound<'_, PyAny>) -> PyResult<Settings> {
    let mut settings = base;
    if let Value::Object(map) = to_value(attributes)? {
        let attributes: Vec<_> = map.into_iter().map(|(key, value)| (key.into(), value)).collect();
        settings.take(&attributes);
    }
    Ok(settings)
}

#[pymethods]
impl Library {
    #[new]
    fn new(name: &str, attributes: &Bound<'_, PyAny>) -> PyResult<Self> {
        let settings = settings_of(Settings::default(), attributes)?;
        Ok(Self(Mutex::new(ToolLibrary::new(name).settings(settings))))
    }

    /// Adds a function.
    fn add(
        &self,
        name: &str,
        runner: Py<PyAny>,
        parameters: &Bound<'_, PyAny>,
        attributes: &Bound<'_, PyAny>,
        inject: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let declared = match to_value(parameters)? {
            Value::Null => None,
            parameters => Some(DeclaredInterface::Schemas { parameters, result: None }),
        };
        let function = PythonFunction { runner, declared };
        let mut place = self.0.lock();
        let own = place.own_settings().clone();
        let settings = settings_of(own.clone(), attributes)?;
        let mut library = place.clone().settings(settings).with(name, function).settings(own);
        if let Value::Object(values) = to_value(inject)? {
            for (parameter, value) in values {
                library = library.inject(name, parameter, &InjectedSource::Value(value));
            }
        }
        *place = library;
        Ok(())
    }
}

impl Library {
    /// Binds the library, or raises `BindError`.
    pub(crate) fn bind(&self, specification: &Bound<'_, Specification>) -> PyResult<BoundLibrary> {
        let py = specification.py();
        let library = self.0.lock().clone();
        let connect = {
            let library = library.clone();
            async move { tokio::time::timeout(CONNECT_LIMIT, library.connect()).await }
        };
        // Servers that cannot be reached are reported by each call.
        let _ = wait(py, connect, &call_token()?)?;
        let source = &specification.get().source;
        let (bound, problems) = detach(py, || library.bind_partly(&source.module));
        if !problems.is_empty() {
            let gaps: Value = problems
                .iter()
                .map(|problem| json!({"tool": problem.tool(), "message": problem.to_string()}))
                .collect();
            return Err(raise(py, "BindError", &to_python(py, &gaps)?)?);
        }
        Ok(BoundLibrary { bound, specification: specification.clone().unbind() })
    }
}

/// The library that a file declares.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "pyo3 gives paths by value")]
pub(crate) fn load_library(py: Python<'_>, path: PathBuf, name: Option<&str>) -> PyResult<Library> {
    let runtime = handle()?;
    let library = detach(py, || {
        let _runtime = runtime.enter();
        gramc::specification::load_library(&path, name)
    });
    gramc::watch_processes();
    library
        .map(|library| Library(Mutex::new(library)))
        .map_err(|error| specification_error(py, error))
}

/// A library with the specification that it implements.
#[pyclass(frozen, name = "Bound", module = "gramc")]
pub(crate) struct BoundLibrary {
    bound: gram_tools::Bound,
    /// The specification.
    #[pyo3(get)]
    specification: Py<Specification>,
}

#[pymethods]
impl BoundLibrary {
    /// Starts a conversation.
    fn session(this: &Bound<'_, Self>) -> Session {
        Session::new(gram_tools::Session::new(&this.get().bound), this.clone().unbind())
    }

    /// Problems that do not prevent binding.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.bound.warnings().iter().map(ToString::to_string).collect()
    }
}
