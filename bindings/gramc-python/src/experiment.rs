//! Experiments.

use std::path::PathBuf;
use std::sync::Arc;

use gramc_host::{
    AgentFunction, Cases, Experiment, ExperimentArm, ExperimentFailure, ExperimentOptions,
    ExperimentReport,
};
use pyo3::prelude::*;
use pyo3::types::PyString;
use tokio_util::sync::CancellationToken;

use crate::agent::PythonAgent;
use crate::convert::to_python;
use crate::library::BoundLibrary;
use crate::runtime::{call_token, detach, wait};
use crate::specification::raise;

/// The report of an experiment.
#[pyclass(frozen, module = "gramc")]
pub(crate) struct Report(ExperimentReport);

/// The exception for a failure.
#[expect(clippy::needless_pass_by_value, reason = "for map_err")]
pub(crate) fn experiment_error(py: Python<'_>, failure: ExperimentFailure) -> PyErr {
    let message = PyString::new(py, &failure.to_string()).into_any();
    raise(py, "ExperimentError", &message).unwrap_or_else(|error| error)
}

#[pymethods]
impl Report {
    /// The content of `report.json`.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &self.0.json())
    }

    /// Whether the experiment proves a condition.
    fn gate(&self, text: &str) -> PyResult<bool> {
        let failures = self.0.gate_failures(text);
        failures
            .map(|failures| failures.is_empty())
            .map_err(|error| pyo3::exceptions::PyValueError::new_err(error.to_string()))
    }

    /// What `gramc ab` prints.
    #[getter]
    fn text(&self) -> String {
        self.0.text()
    }

    fn __str__(&self) -> String {
        self.0.text()
    }

    fn __repr__(&self) -> String {
        format!("<Report: {}>", self.0.verdict())
    }

    fn _repr_markdown_(&self) -> String {
        self.0.markdown()
    }
}

/// Cancels an experiment.
#[pyclass(frozen)]
pub(crate) struct Cancellation(CancellationToken);

#[pymethods]
impl Cancellation {
    #[new]
    fn new() -> PyResult<Self> {
        call_token().map(Self)
    }

    fn cancel(&self) {
        self.0.cancel();
    }

    #[getter]
    fn is_cancelled(&self) -> bool {
        self.0.is_cancelled()
    }
}

/// Runs an experiment. The cases are the file `path` or JSON lines, `options` JSON text.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "pyo3 gives lists by value")]
#[expect(clippy::too_many_arguments, reason = "they are those of a function of Python")]
pub(crate) fn run_experiment(
    py: Python<'_>,
    runner: Py<PyAny>,
    agent: &str,
    arms: Vec<(String, Bound<'_, BoundLibrary>)>,
    path: Option<PathBuf>,
    lines: Option<String>,
    options: &str,
    cancellation: &Cancellation,
) -> PyResult<Report> {
    let options = ExperimentOptions::read(options).map_err(|error| experiment_error(py, error))?;
    let cases = path.map_or_else(|| Cases::Lines(lines.unwrap_or_default()), Cases::File);
    let arms: Vec<_> = arms
        .iter()
        .map(|(name, bound)| {
            let agent: Arc<dyn AgentFunction> = Arc::new(PythonAgent {
                runner: runner.clone_ref(py),
                name: agent.to_owned(),
                bound: bound.clone().unbind(),
            });
            let bound = bound.get();
            let specification = &bound.specification.get().0;
            ExperimentArm { name: name.clone(), agent, library: &bound.library, specification }
        })
        .collect();
    let experiment = detach(py, || Experiment::new(&arms, cases, options));
    let experiment = experiment.map_err(|error| experiment_error(py, error))?;
    let cancelled = &cancellation.0;
    let report = wait(py, experiment.run(cancelled), cancelled)?;
    report.map(Report).map_err(|error| experiment_error(py, error))
}

/// Merges the parts of an experiment.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "pyo3 gives paths by value")]
pub(crate) fn merge_parts(
    py: Python<'_>,
    parts: Vec<PathBuf>,
    report: Option<PathBuf>,
) -> PyResult<Report> {
    let merged = detach(py, || gramc_host::merge_parts(&parts, report.as_deref()));
    merged.map(Report).map_err(|error| experiment_error(py, error))
}
