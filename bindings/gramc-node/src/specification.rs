//! Specifications.

use std::io::ErrorKind;
use std::path::PathBuf;
use std::sync::Arc;

use gramc_host::SpecificationError;
use gramc_tools::Call;
use napi::bindgen_prelude::Either;
use napi_derive::napi;

use crate::library::{BoundLibrary, Library};
use crate::session::{checked, verdict_text};
use crate::{Failure, failure, invalid_argument};

/// Tools, types and libraries without errors.
#[napi]
pub struct Specification(pub(crate) Arc<gramc_host::Specification>);

/// The tools of a specification in the form of a target.
#[napi]
pub struct TargetTools(gramc_host::TargetTools);

/// A tool in the form of a target.
#[napi(object)]
pub struct TargetTool {
    /// The name in the specification.
    pub own_name: String,
    /// The name in the target.
    pub name: String,
    /// The definition as JSON text.
    pub definition: String,
}

/// A call as a specification has it.
#[napi(object)]
pub struct RestoredCall {
    /// The name of the tool.
    pub name: String,
    /// The arguments as JSON text.
    pub arguments: Option<String>,
}

/// A text in gram.
#[napi(object)]
pub struct ImportedTools {
    /// The text.
    pub text: String,
    /// The changes.
    pub notes: Vec<String>,
}

pub(crate) fn specification_error(error: &SpecificationError) -> Failure {
    match error.diagnostics_json() {
        None => {
            let is_missing = error.io_kind() == Some(ErrorKind::NotFound);
            failure(if is_missing { "ENOENT" } else { "ERR_GRAMC_READ" }, error.to_string())
        }
        Some(found) => failure("SpecError", found.to_string()),
    }
}

/// Reads files and folders.
#[napi]
pub fn load(paths: Vec<String>) -> Result<Specification, Failure> {
    let paths = paths.into_iter().map(PathBuf::from).collect();
    let read = gramc_host::Specification::load(paths);
    read.map(|it| Specification(Arc::new(it))).map_err(|error| specification_error(&error))
}

/// Reads a text.
#[napi]
pub fn loads(text: String, name: String) -> Result<Specification, Failure> {
    let read = gramc_host::Specification::parse(&text, &name);
    read.map(|it| Specification(Arc::new(it))).map_err(|error| specification_error(&error))
}

/// Tools in the form of MCP, as JSON text, in gram.
#[napi]
pub fn import_tools(tools: String) -> Result<ImportedTools, Failure> {
    let tools = serde_json::from_str(&tools).map_err(|error| invalid_argument(&error))?;
    let (text, notes) =
        gramc_host::import_tools(tools).map_err(|error| invalid_argument(&error))?;
    Ok(ImportedTools { text, notes })
}

#[napi]
impl Specification {
    /// The names of its tools.
    #[napi(getter)]
    pub fn names(&self) -> Vec<String> {
        self.0.names()
    }

    /// The names of the injected parameters of its tools.
    #[napi(getter)]
    pub fn injected(&self) -> Vec<String> {
        self.0.injected()
    }

    /// The tools for a target, ready for a request, as JSON text.
    #[napi]
    pub fn compile(&self, target: String, expanded: bool) -> Result<String, Failure> {
        let compiled = self.0.compile(&target, expanded);
        Ok(compiled.map_err(|error| invalid_argument(&error))?.to_string())
    }

    /// The tools for a target, with the way back from its calls.
    #[napi]
    pub fn tools_for(&self, target: String) -> Result<TargetTools, Failure> {
        self.0.tools_for(&target).map(TargetTools).map_err(|error| invalid_argument(&error))
    }

    /// Whether a call is accepted, with its arguments if they are changed.
    #[napi]
    pub fn accepts(&self, name: String, arguments: String) -> Either<bool, String> {
        checked(&self.0.validate(Call::new(name, arguments.as_str())), &arguments)
    }

    /// Checks a call without running it: a line of JSON, and after it the text for the model.
    #[napi]
    pub fn validate(&self, name: String, arguments: String, call_id: Option<String>) -> String {
        verdict_text(&self.0.validate(Call { id: call_id, ..Call::new(name, arguments) }))
    }

    /// Binds a library.
    #[napi]
    pub fn bind(&self, library: &Library) -> Result<BoundLibrary, Failure> {
        library.bind(&self.0)
    }
}

#[napi]
impl TargetTools {
    /// The tools, with those in containers.
    #[napi(getter)]
    pub fn tools(&self) -> Vec<TargetTool> {
        let tools = self.0.tools().iter().map(|tool| TargetTool {
            own_name: tool.own_name.clone(),
            name: tool.name.clone(),
            definition: tool.definition.to_string(),
        });
        tools.collect()
    }

    /// The name and the arguments of a call as the specification has them.
    #[napi]
    pub fn restore(&self, name: String, arguments: Option<String>) -> RestoredCall {
        let (name, arguments) = self.0.restore(&name, arguments);
        RestoredCall { name, arguments }
    }
}
