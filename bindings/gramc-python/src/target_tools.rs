//! The tools of a specification as a model provider takes them, and the way back from its calls.

use pyo3::prelude::*;

use crate::convert::{arguments as arguments_text, to_python};

/// Tools in the form of a target.
#[pyclass(frozen)]
pub(crate) struct TargetTools(pub(crate) gramc_host::TargetTools);

#[pymethods]
impl TargetTools {
    /// Name in the specification, name in the target, and definition of each tool.
    #[getter]
    fn tools<'py>(&self, py: Python<'py>) -> PyResult<Vec<(&str, &str, Bound<'py, PyAny>)>> {
        let tools = self.0.tools().iter();
        tools.map(|it| Ok((&*it.own_name, &*it.name, to_python(py, &it.definition)?))).collect()
    }

    /// The name and the arguments of a call as the specification has them.
    fn restore(
        &self,
        name: &str,
        arguments: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<(String, Option<String>)> {
        Ok(self.0.restore(name, arguments_text(arguments)?))
    }
}
