//! Libraries of functions.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use gramc_agent::{AgentFunction, AgentTeam, TeamError};
use gramc_experiment::{ArmParts, HostFunction, recordings};
use gramc_mcp::client::load_options;
use gramc_model::Library as LibraryDeclaration;
use gramc_project::{LoadedLibrary, SpecificationError};
use gramc_tools::invocation::Implementation;
use gramc_tools::{BindProblem, Bound, InjectedSource, Settings, ToolLibrary};
use parking_lot::Mutex;
use serde_json::{Map, Value};
use smol_str::SmolStr;

use crate::specification::Specification;

/// Time for MCP servers to start before they are compared with the specification.
const CONNECT_LIMIT: Duration = Duration::from_secs(15);

/// Implementations of tools, to which functions can be added.
#[derive(Debug)]
pub struct Library(Mutex<LibraryState>);

#[derive(Debug, Clone)]
struct LibraryState {
    library: ToolLibrary,
    declared: LibraryDeclaration,
    functions: Vec<HostFunction>,
    /// The content of the files that it replays.
    recordings: Vec<u8>,
}

/// A library that is bound to a specification.
#[derive(Debug)]
pub struct BoundLibrary {
    /// The library for sessions.
    pub bound: Bound,
    state: LibraryState,
}

impl BoundLibrary {
    /// The arm of an experiment: a function as the agent on this library.
    pub fn arm<'a>(
        &'a self,
        name: &str,
        specification: &'a Specification,
        agent: Arc<dyn AgentFunction>,
        model: Option<&str>,
    ) -> Result<ArmParts<'a>, TeamError> {
        let module = specification.module();
        let team = AgentTeam::of_function(module, &self.bound, agent, model)?;
        Ok(ArmParts {
            name: name.to_owned(),
            team: Arc::new(team),
            attributes: &[],
            module,
            library: &self.state.declared,
            functions: &self.state.functions,
            recordings: &self.state.recordings,
        })
    }
}

fn attributes_of(map: Map<String, Value>) -> Vec<(SmolStr, Value)> {
    map.into_iter().map(|(key, value)| (key.into(), value)).collect()
}

impl Library {
    /// An empty library. The attributes are those of a library in gram.
    pub fn new(name: &str, attributes: Map<String, Value>) -> Self {
        let (mut settings, attributes) = (Settings::default(), attributes_of(attributes));
        settings.take(&attributes);
        let (description, implementations) = (None, Vec::new());
        let declared =
            LibraryDeclaration { name: name.into(), description, implementations, attributes };
        Self::with_parts(ToolLibrary::new(name).settings(settings), declared, Vec::new())
    }

    fn with_parts(library: ToolLibrary, declared: LibraryDeclaration, recordings: Vec<u8>) -> Self {
        let functions = Vec::new();
        Self(Mutex::new(LibraryState { library, declared, functions, recordings }))
    }

    /// Reads the library that a file declares. Requires the context of a tokio runtime.
    pub fn load(path: &Path, name: Option<&str>) -> Result<Self, SpecificationError> {
        let loaded = LoadedLibrary::load(path, name, &gramc_agent::unknown_references_in);
        let LoadedLibrary { module, library: declared, folder } = loaded?;
        let settings = Settings::default();
        let library = ToolLibrary::load(&module, &declared, load_options(&folder, &settings));
        let recordings = recordings(&declared, &folder);
        Ok(Self::with_parts(library, declared, recordings))
    }

    /// Adds the implementation of a tool. The attributes are those of an implementation in gram;
    /// `injected` are values of injected parameters. `code` identifies the function, so that an
    /// experiment with another one is not continued.
    pub fn add(
        &self,
        name: &str,
        implementation: impl Implementation + 'static,
        attributes: Map<String, Value>,
        injected: Map<String, Value>,
        code: Option<&str>,
    ) {
        let mut state = self.0.lock();
        let own = state.library.own_settings().clone();
        let (mut settings, mut attributes) = (own.clone(), attributes_of(attributes));
        settings.take(&attributes);
        let library = state.library.clone().settings(settings);
        let mut library = library.with(name, implementation).settings(own);
        if !injected.is_empty() {
            attributes.push(("inject".into(), injected.clone().into()));
        }
        for (parameter, value) in injected {
            library = library.inject(name, parameter, &InjectedSource::Value(value));
        }
        attributes.extend(code.map(|code| ("code".into(), code.into())));
        state.library = library;
        state.functions.push(HostFunction { tool: name.into(), attributes });
    }

    /// Connects to the library's MCP servers, so that they can be compared with a specification.
    /// Those that cannot be reached are reported by each call.
    pub async fn connect(&self) {
        let library = self.0.lock().library.clone();
        let _ = tokio::time::timeout(CONNECT_LIMIT, library.connect()).await;
    }

    /// Binds the library to a specification.
    pub fn bind(&self, specification: &Specification) -> Result<BoundLibrary, Vec<BindProblem>> {
        let state = self.0.lock().clone();
        let (bound, mut problems) = state.library.bind_partly(specification.module());
        // A session or a call can supply the value.
        problems.retain(|problem| !matches!(problem, BindProblem::NotInjected { .. }));
        if problems.is_empty() { Ok(BoundLibrary { bound, state }) } else { Err(problems) }
    }
}
