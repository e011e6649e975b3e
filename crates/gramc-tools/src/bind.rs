//! Binds a library to a specification.

mod changes;
mod compatibility;
mod injected;
mod problem;
mod sources;

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::fmt::{self, Debug};
use std::sync::{Arc, OnceLock};

use gramc_check::Valid;
use gramc_model::{Container, Module, Tool, Types, ValueSource};
use serde_json::Value;
use smol_str::SmolStr;

use crate::journal::CallJournal;
use crate::library::{LibraryEntry, ToolLibrary};
use crate::masks::{SecretMasks, is_maskable};
use crate::server_loader::LibraryServers;
use crate::session::ConcurrencyLimit;
use crate::settings::Settings;
use gramc_calls::check::{SchemaError, ToolCheck};
use gramc_calls::names::{KnownName, NameIndex};

pub use changes::OnChange;
pub(crate) use compatibility::{SignatureError, schemas as declared_schemas, schemas_of};
pub use problem::{BindProblem, Binding, Incompatibility};

/// A specification bound to a library. Cheap to clone and shared by all sessions.
#[derive(Clone)]
pub struct Bound(pub(crate) Arc<BoundState>);

impl Debug for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Bound")
    }
}

pub(crate) struct BoundState {
    types: Types,
    tools: Vec<BoundTool>,
    containers: Vec<BoundContainer>,
    /// The target of each name.
    names: HashMap<SmolStr, CallTarget>,
    near: OnceLock<NameIndex>,
    settings: Settings,
    secrets: Vec<String>,
    pub(crate) masks: SecretMasks,
    pub(crate) journal: Option<Arc<CallJournal>>,
    /// Problems that do not prevent binding.
    warnings: Vec<BindProblem>,
    servers: Option<LibraryServers>,
}

/// The target of a name: an index into the tools or into the containers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CallTarget {
    Tool(u32),
    Container(u32),
}

pub(crate) struct BoundTool {
    pub(crate) spec: Tool,
    /// The indices of its containers.
    pub(crate) containers: Vec<u32>,
    pub(crate) entry: Option<LibraryEntry>,
    /// The injected parameters with their values.
    pub(crate) injected: Vec<(SmolStr, Value)>,
    /// The injected parameters without a value, and why no call can run without one.
    pub(crate) missing: Vec<(SmolStr, String)>,
    /// The names of injected and secret parameters.
    pub(crate) hidden: Arc<[SmolStr]>,
    pub(crate) limit: ConcurrencyLimit,
    check: OnceLock<Result<ToolCheck, SchemaError>>,
    result: OnceLock<Result<Option<ToolCheck>, SchemaError>>,
}

/// A group of tools that the model has to expand before it calls one of them.
pub(crate) struct BoundContainer {
    pub(crate) spec: Container,
    pub(crate) members: Vec<u32>,
}

impl ToolLibrary {
    /// Binds the library to a specification. Every tool needs an implementation, and every
    /// implementation needs a tool.
    pub fn bind(&self, module: &Valid<Module>) -> Result<Bound, Vec<BindProblem>> {
        let (bound, problems) = self.bind_partly(module);
        if problems.is_empty() { Ok(bound) } else { Err(problems) }
    }

    /// Binds the library as far as possible, and returns the problems. Calls of a tool without an
    /// implementation fail.
    pub fn bind_partly(&self, module: &Valid<Module>) -> (Bound, Vec<BindProblem>) {
        let (problems, warnings, secrets) = (Vec::new(), Vec::new(), Vec::new());
        Binder { library: self, module, problems, warnings, secrets }.bind()
    }
}

struct Binder<'b> {
    library: &'b ToolLibrary,
    module: &'b Module,
    problems: Vec<BindProblem>,
    warnings: Vec<BindProblem>,
    /// The values that the library keeps out of its own text.
    secrets: Vec<String>,
}

impl<'b> Binder<'b> {
    fn bind(mut self) -> (Bound, Vec<BindProblem>) {
        let entries = self.entries();
        let mut names = HashMap::with_capacity(self.module.tools.len());
        let mut tools = Vec::with_capacity(self.module.tools.len());
        // There are fewer tools than source bytes, and source offsets fit in 32 bits.
        for (tool, at) in self.module.tools.iter().zip(0_u32..) {
            names.insert(tool.name.clone(), CallTarget::Tool(at));
            let entry = match entries.get(&tool.name) {
                Some(&entry) => Some(entry.clone()),
                None => self.find_offer(tool),
            };
            tools.push(self.tool(tool, entry));
        }
        let known: HashSet<&str> = self.module.tools.iter().map(|tool| &*tool.name).collect();
        let own = self.library.entries.iter().map(|entry| entry.tool.clone());
        let named = self.library.sources.iter().flat_map(|entry| entry.source.named_tools());
        for implementation in own.chain(named).filter(|tool| !known.contains(&**tool)) {
            let nearest = gramc_model::did_you_mean(&implementation, known.iter().copied());
            self.problems.push(BindProblem::NoTool { implementation, nearest });
        }
        self.check_sources();
        self.warn_of_unused_values(&tools);
        let containers = self.containers(&mut names, &mut tools);
        for entry in self.library.entries.iter() {
            self.secrets.extend(entry.implementation.secrets().iter().cloned());
            let validator = entry.external_validator.iter();
            self.secrets.extend(validator.flat_map(|it| it.secrets()).cloned());
        }
        for entry in self.library.sources.iter() {
            self.secrets.extend(entry.source.secrets().iter().cloned());
        }
        self.secrets.retain(|secret| is_maskable(secret));
        self.secrets.sort_unstable();
        self.secrets.dedup();
        let inner = BoundState {
            types: self.module.types.clone(),
            tools,
            containers,
            names,
            near: OnceLock::new(),
            settings: self.library.settings.clone(),
            masks: SecretMasks::new(self.secrets.iter().cloned()),
            secrets: self.secrets,
            journal: self.library.journal.clone(),
            warnings: self.warnings,
            servers: self.library.servers.clone(),
        };
        (Bound(Arc::new(inner)), self.problems)
    }

    /// The implementations by tool.
    fn entries(&mut self) -> HashMap<&'b SmolStr, &'b LibraryEntry> {
        let mut entries = HashMap::with_capacity(self.library.entries.len());
        for entry in self.library.entries.iter() {
            if entries.insert(&entry.tool, entry).is_some() {
                self.problems.push(BindProblem::Twice { tool: entry.tool.clone() });
            }
        }
        entries
    }

    fn tool(&mut self, tool: &Tool, entry: Option<LibraryEntry>) -> BoundTool {
        let Some(mut entry) = entry else { return BoundTool::new(tool, None, Vec::new()) };
        if let Some(own) = entry.implementation.for_tool(&self.module.types, tool) {
            entry.implementation = own;
        }
        let validator = entry.external_validator.as_ref();
        let faults = [entry.implementation.fault(), validator.and_then(|it| it.fault())];
        for why in faults.into_iter().flatten() {
            self.problems.push(BindProblem::Faulty { tool: tool.name.clone(), why });
        }
        let mut missing = Vec::new();
        let injected = self.inject(tool, &entry, &mut missing);
        self.warnings.extend(changes::differences(&self.module.types, tool, &entry));
        if let Some(declared) = entry.interface() {
            for problem in compatibility::problems(self.module, tool, &declared, &entry) {
                match problem {
                    BindProblem::Undecided { .. } => self.warnings.push(problem),
                    problem => self.problems.push(problem),
                }
            }
        }
        BoundTool { missing, ..BoundTool::new(tool, Some(entry), injected) }
    }

    fn containers(
        &self,
        names: &mut HashMap<SmolStr, CallTarget>,
        tools: &mut [BoundTool],
    ) -> Vec<BoundContainer> {
        let mut containers = Vec::with_capacity(self.module.containers.len());
        for (spec, at) in self.module.containers.iter().zip(0_u32..) {
            let mut members = Vec::with_capacity(spec.members.len());
            for name in &spec.members {
                if let Some(CallTarget::Tool(tool)) = names.get(name) {
                    members.push(*tool);
                    tools[*tool as usize].containers.push(at);
                }
            }
            names.insert(spec.name.clone(), CallTarget::Container(at));
            containers.push(BoundContainer { spec: spec.clone(), members });
        }
        containers
    }
}

impl BoundTool {
    fn new(spec: &Tool, entry: Option<LibraryEntry>, injected: Vec<(SmolStr, Value)>) -> Self {
        let limit = entry.as_ref().map_or(0, |entry| entry.settings.concurrency);
        let hidden =
            spec.parameters.iter().filter(|it| it.secret || it.source == ValueSource::Injected);
        Self {
            spec: spec.clone(),
            containers: Vec::new(),
            entry,
            injected,
            missing: Vec::new(),
            hidden: hidden.map(|parameter| parameter.name.clone()).collect(),
            limit: ConcurrencyLimit::new(limit),
            check: OnceLock::new(),
            result: OnceLock::new(),
        }
    }

    /// The value of an attribute of the specification.
    pub(crate) fn attribute(&self, key: &str) -> Option<&Value> {
        self.spec.attributes.iter().find(|(known, _)| known == key).map(|(_, value)| value)
    }

    /// The values of secret injected parameters.
    pub(crate) fn secrets(&self) -> Vec<String> {
        let secret = |name: &str| {
            self.spec.parameters.iter().any(|parameter| parameter.name == name && parameter.secret)
        };
        let mut held = Vec::new();
        for (_, value) in self.injected.iter().filter(|(name, _)| secret(name)) {
            texts(value, &mut held);
        }
        held
    }
}

/// Collects the strings and numbers of a value.
pub(crate) fn texts(value: &Value, held: &mut Vec<String>) {
    match value {
        Value::String(text) => held.push(text.clone()),
        Value::Number(number) => held.push(number.to_string()),
        Value::Array(items) => items.iter().for_each(|item| texts(item, held)),
        Value::Object(map) => map.values().for_each(|item| texts(item, held)),
        Value::Null | Value::Bool(_) => {}
    }
}

impl Bound {
    pub(crate) fn tool(&self, at: u32) -> &BoundTool {
        &self.0.tools[at as usize]
    }

    pub(crate) fn tools(&self) -> &[BoundTool] {
        &self.0.tools
    }

    pub(crate) fn container(&self, at: u32) -> &BoundContainer {
        &self.0.containers[at as usize]
    }

    pub(crate) fn containers(&self) -> &[BoundContainer] {
        &self.0.containers
    }

    pub(crate) fn find(&self, name: &str) -> Option<CallTarget> {
        self.0.names.get(name).copied()
    }

    /// The policy for a tool, or for calls of unknown tools.
    pub(crate) fn settings(&self, tool: Option<u32>) -> &Settings {
        let entry = tool.and_then(|tool| self.tool(tool).entry.as_ref());
        entry.map_or(&self.0.settings, |entry| &entry.settings)
    }

    /// The check of a tool's calls, built on first use.
    pub(crate) fn check(&self, at: u32) -> Result<&ToolCheck, &SchemaError> {
        let tool = self.tool(at);
        tool.check.get_or_init(|| ToolCheck::of_tool(&self.0.types, &tool.spec)).as_ref()
    }

    /// The check of a tool's results. `None` if the result type has no constraints.
    pub(crate) fn result(&self, at: u32) -> Result<Option<&ToolCheck>, &SchemaError> {
        let tool = self.tool(at);
        let check = tool.result.get_or_init(|| ToolCheck::of_result(&self.0.types, &tool.spec));
        check.as_ref().map(Option::as_ref)
    }

    /// The index of all names, for suggestions.
    pub(crate) fn near(&self) -> &NameIndex {
        self.0.near.get_or_init(|| {
            let containers = self.0.containers.iter();
            let containers = containers
                .map(|known| KnownName { name: &known.spec.name, ..KnownName::default() });
            let tools = self.0.tools.iter().map(|tool| {
                let container = tool.containers.first().map(|&at| &*self.container(at).spec.name);
                let destructive = tool.spec.is_set("destructive");
                KnownName { name: &tool.spec.name, container, destructive }
            });
            NameIndex::new(tools.chain(containers))
        })
    }

    /// A tool as its MCP server lists it, if a server runs it that was asked for its tools already.
    pub fn listed_tool(&self, name: &str) -> Option<Value> {
        let CallTarget::Tool(at) = self.find(name)? else { return None };
        self.tool(at).entry.as_ref()?.listing()
    }

    /// The implementation of each tool, in the order of the specification.
    pub fn bindings(&self) -> impl Iterator<Item = Binding<'_>> {
        self.0.tools.iter().map(|tool| Binding {
            tool: &tool.spec.name,
            implementation: tool.entry.as_ref().map(|entry| entry.implementation.kind()),
        })
    }

    /// The secrets of the library: the values of its environment variables, files and headers, and
    /// those that it injects into secret parameters. They appear in no verdict. Values of fewer
    /// than four bytes are not included.
    pub fn secrets(&self) -> &[String] {
        &self.0.secrets
    }

    /// Masks the secrets of the library, and those of a call of one of its tools.
    pub(crate) fn masks(&self, tool: u32, of_call: &[String]) -> Cow<'_, SecretMasks> {
        let of_tool = self.tool(tool).secrets();
        if of_call.is_empty() && of_tool.is_empty() {
            return Cow::Borrowed(&self.0.masks);
        }
        let secrets = of_call.iter().cloned().chain(of_tool);
        Cow::Owned(SecretMasks::new(secrets.chain(self.0.secrets.iter().cloned())))
    }

    /// The MCP servers of the library, if its implementations have any.
    pub fn servers(&self) -> Option<&LibraryServers> {
        self.0.servers.as_ref()
    }

    /// The settings of the library.
    pub fn settings_of_library(&self) -> &Settings {
        &self.0.settings
    }

    /// Warnings, such as implementations whose compatibility is undecided.
    pub fn warnings(&self) -> &[BindProblem] {
        &self.0.warnings
    }
}

#[cfg(test)]
mod tests;
