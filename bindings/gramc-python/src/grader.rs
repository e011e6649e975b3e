//! Graders.

use gramc_experiment::Grader as NativeGrader;
use pyo3::prelude::*;

use crate::convert::to_value;
use crate::experiment::experiment_error;
use crate::runtime::{call_token, wait};

/// Decides whether a conversation meets the `expect` of a case.
#[pyclass(frozen)]
pub(crate) struct Grader(NativeGrader);

#[pymethods]
impl Grader {
    #[new]
    fn new(expect: &Bound<'_, PyAny>) -> PyResult<Self> {
        let grader = NativeGrader::parse(to_value(expect)?);
        grader.map(Self).map_err(|error| experiment_error(expect.py(), error))
    }

    /// The conditions that a conversation does not meet.
    fn missed(&self, conversation: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
        let py = conversation.py();
        let missed = self.0.missed(to_value(conversation)?);
        wait(py, missed, &call_token()?)?.map_err(|error| experiment_error(py, error))
    }
}
