//! Experiments.

use std::path::PathBuf;
use std::sync::Arc;

use gramc_agent::AgentFunction;
use gramc_agent::model::Models;
use gramc_experiment::{
    CaseText, Experiment, ExperimentError, ExperimentOptions, FinishedExperiment,
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
pub(crate) struct Report(FinishedExperiment);

/// The exception for a failure.
#[expect(clippy::needless_pass_by_value, reason = "for map_err")]
pub(crate) fn experiment_error(py: Python<'_>, failure: ExperimentError) -> PyErr {
    let message = PyString::new(py, &failure.to_string()).into_any();
    raise(py, "ExperimentError", &message).unwrap_or_else(|error| error)
}

#[pymethods]
impl Report {
    /// The content of `report.json`.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &self.0.report.json())
    }

    /// Whether the experiment proves a condition.
    fn gate(&self, text: &str) -> PyResult<bool> {
        let failures = self.0.gate_failures(text);
        failures
            .map(|failures| failures.is_empty())
            .map_err(|error| pyo3::exceptions::PyValueError::new_err(error.to_string()))
    }

    /// The report as `gramc ab` prints it.
    #[getter]
    fn text(&self) -> String {
        self.0.report.text()
    }

    fn __str__(&self) -> String {
        self.0.report.text()
    }

    fn __repr__(&self) -> String {
        format!("<Report: {}>", self.0.report.verdict)
    }

    fn _repr_markdown_(&self) -> String {
        self.0.report.markdown()
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
    let arms: Vec<_> = arms
        .iter()
        .map(|(name, bound)| {
            let agent: Arc<dyn AgentFunction> = Arc::new(PythonAgent {
                runner: runner.clone_ref(py),
                name: agent.to_owned(),
                bound: bound.clone().unbind(),
            });
            (name, bound.get(), agent)
        })
        .collect();
    let plan = || -> Result<Experiment, ExperimentError> {
        let options = ExperimentOptions::read(options)?;
        let lines = lines.unwrap_or_default();
        let cases = path.map_or_else(|| Ok(CaseText::new(lines, "cases")), CaseText::open)?;
        let arms = arms.into_iter().map(|(name, bound, agent)| {
            let specification = &bound.specification.get().0;
            bound.library.arm(name, specification, agent, options.model.as_deref())
        });
        let arms = arms.collect::<Result<Vec<_>, _>>()?;
        Experiment::new(&arms, cases, options, &mut Models::of_environment(""))
    };
    let experiment = detach(py, plan).map_err(|error| experiment_error(py, error))?;
    let cancelled = &cancellation.0;
    let finished = wait(py, experiment.run_and_write(cancelled), cancelled)?;
    finished.map(Report).map_err(|error| experiment_error(py, error))
}

/// Merges the parts of an experiment.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "pyo3 gives paths by value")]
pub(crate) fn merge_parts(
    py: Python<'_>,
    parts: Vec<PathBuf>,
    report: Option<PathBuf>,
) -> PyResult<Report> {
    let merge = || {
        let options = ExperimentOptions { report, ..ExperimentOptions::default() };
        let mut merged = gramc_experiment::merge_parts(&parts, false, options)?;
        merged.write()?;
        Ok(merged)
    };
    detach(py, merge).map(Report).map_err(|error| experiment_error(py, error))
}
