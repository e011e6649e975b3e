//! Specifications.

use std::path::PathBuf;

use gramc_calls::check::Policy;
use gramc_check::Valid;
use gramc_model::print::{print, print_declarations};
use gramc_model::{Module, ValueSource, did_you_mean};
use gramc_project::{Specification as Source, SpecificationError};
use gramc_schema::Target;
use gramc_schema::emit::{Compilation, Options, TargetTools};
use gramc_schema::import::{ImportError, ImportOptions, Origin, import_value};
use gramc_tools::{Call, Session, Settings, ToolLibrary, Verdict};
use serde_json::Value;

/// Tools, types and libraries without errors.
#[derive(Debug)]
pub struct Specification {
    source: Source,
    /// Checks calls that no library runs.
    session: Session,
}

/// A tool of a specification.
#[derive(Debug)]
pub struct SpecifiedTool {
    /// The description.
    pub description: Option<String>,
    /// The JSON Schema of its arguments.
    pub schema: Value,
    /// Its declaration in gram.
    pub gram: String,
}

/// A target that does not exist, or that describes results instead of tools.
#[derive(Debug, thiserror::Error)]
#[error(
    "unknown target `{name}`; expected one of {}{}",
    tool_targets().collect::<Vec<_>>().join(", "),
    did_you_mean(.name, tool_targets()).map(|it| format!("; {it}")).unwrap_or_default()
)]
pub struct UnknownTarget {
    name: String,
}

/// The names of the targets that describe tools.
fn tool_targets() -> impl Iterator<Item = &'static str> {
    Target::ALL.into_iter().filter(|it| !it.spec().shape.is_output()).map(Target::name)
}

fn target(name: &str) -> Result<Target, UnknownTarget> {
    let known = Target::from_name(name).filter(|it| !it.spec().shape.is_output());
    known.ok_or_else(|| UnknownTarget { name: name.to_owned() })
}

impl Specification {
    fn new(source: Source) -> Self {
        let check = Policy { correct_names: false, ..Policy::default() };
        let library = ToolLibrary::new("").settings(Settings { check, ..Settings::default() });
        let session = Session::new(&library.bind_partly(&source.module).0);
        Self { source, session }
    }

    /// Reads files and folders, and the files that they import.
    pub fn load(paths: Vec<PathBuf>) -> Result<Self, SpecificationError> {
        Source::load(paths, &gramc_agent::unknown_references_in).map(Self::new)
    }

    /// Reads a text. `name` is its file name in diagnostics.
    pub fn parse(text: &str, name: &str) -> Result<Self, SpecificationError> {
        Source::parse(text, name).map(Self::new)
    }

    /// The declarations.
    pub fn module(&self) -> &Valid<Module> {
        &self.source.module
    }

    /// The names of its tools.
    pub fn names(&self) -> Vec<String> {
        self.source.module.tools.iter().map(|tool| tool.name.to_string()).collect()
    }

    /// The text in gram.
    pub fn gram(&self) -> String {
        print(&self.source.module)
    }

    /// A tool with its own declaration.
    pub fn tool(&self, name: &str) -> Option<SpecifiedTool> {
        let tool = self.source.module.tools.iter().find(|tool| tool.name == name)?;
        let options = Options { expanded: true, ..Options::new(Target::Mcp, self.source.files) };
        let compilation = Compilation::new(&self.source.module, &options);
        let entry = compilation.entries().iter().find(|entry| entry.name() == name);
        let mut definition = entry.map(|entry| compilation.compile(*entry).into_json());
        let title = format!("tool {name}");
        let mut declarations = print_declarations(&self.source.module).into_iter();
        Some(SpecifiedTool {
            description: tool.description.as_ref().map(ToString::to_string),
            schema: definition.as_mut().map(|it| it["inputSchema"].take()).unwrap_or_default(),
            gram: declarations.find(|(it, _)| *it == title).map(|it| it.1).unwrap_or_default(),
        })
    }

    /// The names of the injected parameters of its tools.
    pub fn injected(&self) -> Vec<String> {
        let parameters = self.source.module.tools.iter().flat_map(|tool| &tool.parameters);
        let injected = parameters.filter(|parameter| parameter.source == ValueSource::Injected);
        injected.map(|parameter| parameter.name.to_string()).collect()
    }

    /// The tools for a target, ready for a request. With `expanded`, those in containers too.
    pub fn compile(&self, target_name: &str, expanded: bool) -> Result<Value, UnknownTarget> {
        let options = Options { expanded, ..Options::new(target(target_name)?, self.source.files) };
        let compilation = Compilation::new(&self.source.module, &options);
        Ok(serde_json::to_value(compilation.request()).unwrap_or_default())
    }

    /// The tools for a target one by one, with the way back from its calls.
    pub fn tools_for(&self, target_name: &str) -> Result<TargetTools, UnknownTarget> {
        Ok(TargetTools::new(&self.source.module, self.source.files, target(target_name)?))
    }

    /// Checks a call without running it.
    pub fn validate(&self, call: Call) -> Verdict {
        self.session.validate(call)
    }
}

/// Tools in the form of MCP as a text in gram, with notes on changes.
pub fn import_tools(tools: Value) -> Result<(String, Vec<String>), ImportError> {
    let options = ImportOptions { from: Origin::Mcp, ..ImportOptions::default() };
    let imported = import_value(tools, &options)?;
    Ok((imported.text, imported.notes.iter().map(ToString::to_string).collect()))
}
