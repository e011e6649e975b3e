//! Libraries of functions.

use std::path::Path;
use std::time::Duration;

use gram_tools::invocation::Implementation;
use gram_tools::{Bound, InjectedSource, Settings, ToolLibrary};
use gramc::specification::SpecificationError;
use parking_lot::Mutex;
use serde_json::{Map, Value, json};

use crate::specification::Specification;

/// Time for MCP servers to start before they are compared with the specification.
const CONNECT_LIMIT: Duration = Duration::from_secs(15);

/// Implementations of tools, to which functions can be added.
#[derive(Debug)]
pub struct Library(Mutex<ToolLibrary>);

/// Why a library does not fit a specification.
#[derive(Debug)]
pub struct Gap {
    /// The tool, if it concerns one.
    pub tool: Option<String>,
    /// What does not fit.
    pub message: String,
}

impl Gap {
    /// The form in exceptions.
    pub fn json(&self) -> Value {
        json!({"tool": self.tool, "message": self.message})
    }
}

/// The settings that attributes of gram describe.
fn settings_of(base: Settings, attributes: Map<String, Value>) -> Settings {
    let mut settings = base;
    let attributes: Vec<_> = attributes.into_iter().map(|(key, it)| (key.into(), it)).collect();
    settings.take(&attributes);
    settings
}

impl Library {
    /// An empty library. The attributes are those of a library in gram.
    pub fn new(name: &str, attributes: Map<String, Value>) -> Self {
        let settings = settings_of(Settings::default(), attributes);
        Self(Mutex::new(ToolLibrary::new(name).settings(settings)))
    }

    /// Reads the library that a file declares. Requires the context of a tokio runtime.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, has errors or does not declare the library.
    pub fn load(path: &Path, name: Option<&str>) -> Result<Self, SpecificationError> {
        let library = gramc::specification::load_library(path, name);
        gramc::watch_processes();
        library.map(|library| Self(Mutex::new(library)))
    }

    /// Adds the implementation of a tool. The attributes are those of an implementation in gram;
    /// `injected` are values of injected parameters.
    pub fn add(
        &self,
        name: &str,
        implementation: impl Implementation + 'static,
        attributes: Map<String, Value>,
        injected: Map<String, Value>,
    ) {
        let mut place = self.0.lock();
        let own = place.own_settings().clone();
        let settings = settings_of(own.clone(), attributes);
        let mut library = place.clone().settings(settings).with(name, implementation).settings(own);
        for (parameter, value) in injected {
            library = library.inject(name, parameter, &InjectedSource::Value(value));
        }
        *place = library;
    }

    /// Connects to the library's MCP servers, so that they can be compared with a specification.
    /// Those that cannot be reached are reported by each call.
    pub async fn connect(&self) {
        let library = self.0.lock().clone();
        let _ = tokio::time::timeout(CONNECT_LIMIT, library.connect()).await;
    }

    /// Binds the library to a specification, or lists all that does not fit.
    ///
    /// # Errors
    ///
    /// If a tool has no implementation, or one that does not fit.
    pub fn bind(&self, specification: &Specification) -> Result<Bound, Vec<Gap>> {
        let library = self.0.lock().clone();
        let (bound, problems) = library.bind_partly(specification.module());
        if problems.is_empty() {
            return Ok(bound);
        }
        let gaps = problems.iter().map(|problem| Gap {
            tool: problem.tool().map(str::to_owned),
            message: problem.to_string(),
        });
        Err(gaps.collect())
    }
}
