//! Libraries, and libraries that are bound to a specification.

use std::collections::BTreeSet;
use std::path::PathBuf;

use gramc_tools::approval::{ApprovalPolicy, Approvals};
use gramc_tools::contract::{self, Check, Options, ToolReport};
use gramc_tools::implementations::Function;
use gramc_tools::invocation::DeclaredInterface;
use gramc_tools::{BindProblem, Callers};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyDict;
use serde_json::{Map, Value};

use crate::caller::injected_json;
use crate::convert::{to_python, to_value};
use crate::function::{run_function, run_value_function};
use crate::runtime::{call_token, detach, handle, wait};
use crate::session::Session;
use crate::specification::{Specification, raise, specification_error};

/// Implementations of tools.
#[pyclass(frozen, module = "gramc")]
pub(crate) struct Library(gramc_host::Library);

/// A dictionary with texts as keys.
fn map(object: &Bound<'_, PyAny>) -> PyResult<Map<String, Value>> {
    Ok(match to_value(object)? {
        Value::Object(map) => map,
        _ => Map::new(),
    })
}

#[pymethods]
impl Library {
    #[new]
    fn new(name: &str, attributes: &Bound<'_, PyAny>) -> PyResult<Self> {
        Ok(Self(gramc_host::Library::new(name, map(attributes)?)))
    }

    /// Adds a function.
    fn add(
        &self,
        name: &str,
        runner: Py<PyAny>,
        parameters: &Bound<'_, PyAny>,
        attributes: &Bound<'_, PyAny>,
        inject: &Bound<'_, PyAny>,
        code: Option<&str>,
    ) -> PyResult<()> {
        let declared = match to_value(parameters)? {
            Value::Null => None,
            parameters => Some(DeclaredInterface::Schemas { parameters, result: None }),
        };
        let function = Function::of_invocation(move |invocation| {
            run_function(|py, completion| {
                let hidden: Vec<_> = invocation.hidden.iter().map(|name| &**name).collect();
                let arguments = (completion, &*invocation.arguments, hidden);
                runner.call_method1(py, "start", arguments)
            })
        });
        let function = function.declaring(declared);
        self.0.add(name, function, map(attributes)?, map(inject)?, code);
        Ok(())
    }
}

impl Library {
    /// Binds the library, or raises `BindError`.
    pub(crate) fn bind(&self, specification: &Bound<'_, Specification>) -> PyResult<BoundLibrary> {
        let py = specification.py();
        wait(py, self.0.connect(), &call_token()?)?;
        let of = &specification.get().0;
        match detach(py, || self.0.bind(of)) {
            Ok(library) => {
                Ok(BoundLibrary { library, specification: specification.clone().unbind() })
            }
            Err(gaps) => {
                let gaps: Value = gaps.iter().map(BindProblem::json).collect();
                Err(raise(py, "BindError", &to_python(py, &gaps)?)?)
            }
        }
    }
}

/// The library that a file declares.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "pyo3 gives paths by value")]
pub(crate) fn load_library(py: Python<'_>, path: PathBuf, name: Option<&str>) -> PyResult<Library> {
    gramc::watch_processes();
    let runtime = handle()?;
    let library = detach(py, || {
        let _runtime = runtime.enter();
        gramc_host::Library::load(&path, name)
    });
    library.map(Library).map_err(|error| specification_error(py, &error))
}

/// A library with the specification that it implements.
#[pyclass(frozen, name = "Bound", module = "gramc")]
pub(crate) struct BoundLibrary {
    pub(crate) library: gramc_host::BoundLibrary,
    /// The specification.
    #[pyo3(get)]
    pub(crate) specification: Py<Specification>,
}

#[pymethods]
impl BoundLibrary {
    /// Starts a conversation. `approve` is asked about calls that have to be approved, `inject` holds
    /// values of injected parameters, `on_verdict` receives the verdicts, and `on_progress` the progress of
    /// functions.
    #[pyo3(signature = (*, approve=None, inject=None, on_verdict=None, on_progress=None))]
    fn session(
        this: &Bound<'_, Self>,
        approve: Option<&Bound<'_, PyAny>>,
        inject: Option<Bound<'_, PyDict>>,
        on_verdict: Option<Py<PyAny>>,
        on_progress: Option<Py<PyAny>>,
    ) -> PyResult<Session> {
        static RUNNER: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
        let mut session = gramc_tools::Session::new(&this.get().library.bound)
            .with_injected(injected_json(inject.as_ref())?)
            .with_approvals(Approvals::new(ApprovalPolicy::Destructive));
        if let Some(approve) = approve {
            let py = this.py();
            let runner = RUNNER.import(py, "gramc._functions", "ApprovalRunner")?;
            let runner = runner.call1((approve,))?.unbind();
            session = session.with_approvals(Approvals::of_function(move |request| {
                run_value_function(|py, completion| {
                    let (name, arguments) = (request.name.as_str(), request.arguments.to_string());
                    runner.call_method1(py, "start", (completion, name, arguments))
                })
            }));
        }
        let inject = inject.map(|inject| inject.copy()).transpose()?.map(Bound::unbind);
        Ok(Session::new(session, this.clone().unbind(), inject, on_verdict, on_progress))
    }

    /// A session for the calls of several models, which does not count them.
    fn _shared_session(this: Py<Self>, on_verdict: Option<Py<PyAny>>) -> Session {
        let session = gramc_tools::Session::new(&this.get().library.bound);
        Session::new(session.with_callers(Callers::Many), this, None, on_verdict, None)
    }

    fn __len__(&self) -> usize {
        self.specification.get().0.names().len()
    }

    fn __repr__(&self) -> String {
        format!("<Bound of {}>", self.specification.get().0.names().join(", "))
    }

    /// Tests the functions with calls that are made from the types of their tools: a report for each
    /// tool, as `gramc test --format json` prints it.
    #[pyo3(signature = (*, cases=100, seed=0, tools=Vec::new(), include_destructive=false))]
    fn test<'py>(
        &self,
        py: Python<'py>,
        cases: usize,
        seed: u64,
        tools: Vec<String>,
        include_destructive: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        // Functions may accept more than their tools allow.
        let allowed = BTreeSet::from([Check::Accepted]);
        let options = Options { cases, seed, tools, include_destructive, allowed };
        let module = self.specification.get().0.module();
        let (bound, runtime) = (&self.library.bound, handle()?);
        let reports: Vec<Value> = detach(py, || {
            let mut reports = Vec::new();
            let note = |report: ToolReport| reports.push(report.json());
            runtime.block_on(contract::test(bound, module, &options, note));
            reports
        });
        to_python(py, &reports.into())
    }

    /// Problems that do not prevent binding.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.library.bound.warnings().iter().map(ToString::to_string).collect()
    }
}
