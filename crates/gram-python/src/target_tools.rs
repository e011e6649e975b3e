//! The tools of a specification as a model provider takes them, and the way back from its calls.

use std::collections::HashMap;

use gram_schema::Target;
use gram_schema::emit::{Compilation, Options};
use gram_schema::lower::Restore;
use pyo3::prelude::*;
use serde_json::Value;

use crate::convert::{arguments as arguments_text, to_python};
use gramc::specification::Specification;

/// Tools in the form of a target.
#[pyclass(frozen)]
pub(crate) struct TargetTools {
    /// The name in the specification, the name in the target, and the definition.
    tools: Vec<(String, String, Value)>,
    /// By name in the target.
    restores: HashMap<String, (String, Restore)>,
}

impl TargetTools {
    pub(crate) fn new(source: &Specification, target: Target) -> Self {
        let options = Options { expanded: true, ..Options::new(target, source.files) };
        let compilation = Compilation::new(&source.module, &options);
        let (mut tools, mut restores) = (Vec::new(), HashMap::new());
        for entry in compilation.entries() {
            let (own, name) = (entry.name().to_owned(), compilation.name_of(entry.name()));
            let compiled = compilation.compile(*entry);
            restores.insert(name.to_owned(), (own.clone(), compiled.restore().into_owned()));
            tools.push((own, name.to_owned(), compiled.into_json()));
        }
        Self { tools, restores }
    }
}

#[pymethods]
impl TargetTools {
    /// Name in the specification, name in the target, and definition of each tool.
    #[getter]
    fn tools<'py>(&self, py: Python<'py>) -> PyResult<Vec<(&str, &str, Bound<'py, PyAny>)>> {
        let tools = self.tools.iter();
        tools.map(|(own, name, json)| Ok((&**own, &**name, to_python(py, json)?))).collect()
    }

    /// The name and the arguments of a call as the specification has them.
    fn restore(
        &self,
        name: &str,
        arguments: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<(String, Option<String>)> {
        let arguments = arguments_text(arguments)?;
        let Some((own, restore)) = self.restores.get(name) else {
            return Ok((name.to_owned(), arguments));
        };
        let restored = arguments.map(|text| match serde_json::from_str(&text) {
            // What is not JSON is left to the check.
            Ok(value) if !restore.is_identity() => restore.arguments(value).to_string(),
            _ => text,
        });
        Ok((own.clone(), restored))
    }
}
