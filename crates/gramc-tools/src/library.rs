//! Implementations for tools, with the policy for their calls.

#[cfg(not(target_family = "wasm"))]
mod declared;
mod specification;

use std::fmt::{self, Debug};
use std::sync::Arc;

use futures_util::future::{join, join_all};
use gramc_model::{Module, WHOLE_SERVER};
use serde_json::Value;
use smol_str::SmolStr;

use crate::approval::ApprovalPolicy;
use crate::implementations::Fake;
use crate::injected_source::InjectedSource;
use crate::invocation::{DeclaredInterface, Implementation, InvocationError};
use crate::journal::CallJournal;
use crate::server_loader::{LibraryServers, ToolSource};
use crate::settings::Settings;
use gramc_calls::ArgumentMapping;
use gramc_calls::check::Problem;

#[cfg(not(target_family = "wasm"))]
pub use declared::LoadOptions;
pub use specification::LibraryError;

/// A validator of the host program: gives all that is wrong with arguments that fit their types.
pub(crate) type Validator = dyn Fn(&Value) -> Vec<Problem> + Send + Sync;

/// Implementations of tools, which can be bound to any specification.
///
/// A library is a value: cheap to clone, and nothing that happens in a conversation changes it.
#[derive(Clone, Default)]
pub struct ToolLibrary {
    name: SmolStr,
    pub(crate) settings: Settings,
    pub(crate) entries: Arc<Vec<LibraryEntry>>,
    pub(crate) journal: Option<Arc<CallJournal>>,
    /// The servers that run all tools without an entry, in order.
    pub(crate) sources: Arc<Vec<SourceEntry>>,
    /// Why some of these servers cannot be used.
    pub(crate) unusable_sources: Arc<Vec<String>>,
    /// The MCP servers of its implementations, in order.
    pub(crate) servers: Option<LibraryServers>,
}

impl Debug for ToolLibrary {
    /// Only the name, because injected values may be secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ToolLibrary").field(&self.name).finish()
    }
}

#[derive(Clone)]
pub(crate) struct LibraryEntry {
    pub(crate) tool: SmolStr,
    pub(crate) implementation: Arc<dyn Implementation>,
    pub(crate) settings: Settings,
    /// Injected parameters and where their values come from.
    pub(crate) inject: Vec<Injection>,
    /// The interface that the library declares for the implementation.
    interface: Option<DeclaredInterface>,
    /// How the arguments of the tool become those of an implementation with another signature.
    pub(crate) mapping: Option<Arc<ArgumentMapping>>,
    /// Further validators of the tool's calls.
    pub(crate) validators: Vec<Arc<Validator>>,
    /// A validator that is a program or a service.
    pub(crate) external_validator: Option<Arc<dyn Implementation>>,
}

impl LibraryEntry {
    pub(crate) fn new(
        tool: SmolStr,
        implementation: Arc<dyn Implementation>,
        settings: Settings,
        inject: Vec<Injection>,
    ) -> Self {
        Self {
            tool,
            implementation,
            settings,
            inject,
            interface: None,
            mapping: None,
            validators: Vec::new(),
            external_validator: None,
        }
    }

    /// The interface that the library or the implementation itself declares.
    pub(crate) fn interface(&self) -> Option<DeclaredInterface> {
        self.interface.clone().or_else(|| self.own_implementation()?.interface())
    }

    /// The tool as its MCP server lists it, if it was asked for its tools already.
    pub(crate) fn listing(&self) -> Option<Value> {
        self.own_implementation()?.listing()
    }

    /// The implementation, if it has the signature of the tool.
    fn own_implementation(&self) -> Option<&dyn Implementation> {
        self.mapping.is_none().then_some(&*self.implementation)
    }
}

/// A server of which a library takes all tools that it does not name.
#[derive(Clone)]
pub(crate) struct SourceEntry {
    pub(crate) source: Arc<dyn ToolSource>,
    pub(crate) settings: Settings,
    pub(crate) inject: Vec<Injection>,
    pub(crate) external_validator: Option<Arc<dyn Implementation>>,
}

impl SourceEntry {
    /// The entry of a tool that the source offers.
    pub(crate) fn entry(&self, tool: &SmolStr) -> LibraryEntry {
        let implementation = self.source.tool(tool);
        let (settings, inject) = (self.settings.clone(), self.inject.clone());
        LibraryEntry {
            external_validator: self.external_validator.clone(),
            ..LibraryEntry::new(tool.clone(), implementation, settings, inject)
        }
    }
}

/// A parameter that the library supplies.
#[derive(Clone)]
pub(crate) struct Injection {
    pub(crate) parameter: SmolStr,
    pub(crate) supply: InjectedSource,
    /// Whether it is supplied to this tool, and not to all tools of the library.
    pub(crate) own: bool,
}

impl ToolLibrary {
    /// A library without implementations.
    pub fn new(name: impl Into<SmolStr>) -> Self {
        Self { name: name.into(), ..Self::default() }
    }

    /// A library with a [`Fake`] for each tool of a specification.
    pub fn fake(module: &Module, settings: Settings) -> Self {
        // Nothing is destroyed, so nothing has to be approved.
        let settings = Settings { approval: Some(ApprovalPolicy::Never), ..settings };
        let library = Self::new("fake").settings(settings);
        let tools = module.tools.iter();
        tools.fold(library, |library, tool| library.with(tool.name.clone(), Fake::new(0)))
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The policy for tools that are added from now on.
    #[must_use]
    pub fn settings(mut self, settings: Settings) -> Self {
        self.settings = settings;
        self
    }

    /// Adds the implementation of a tool, under the library's policy.
    #[must_use]
    pub fn with(
        self,
        tool: impl Into<SmolStr>,
        implementation: impl Implementation + 'static,
    ) -> Self {
        let settings = self.settings.clone();
        self.add(LibraryEntry::new(tool.into(), Arc::new(implementation), settings, Vec::new()))
    }

    fn add(mut self, entry: LibraryEntry) -> Self {
        Arc::make_mut(&mut self.entries).push(entry);
        self
    }

    fn change(mut self, tool: &str, change: impl Fn(&mut LibraryEntry)) -> Self {
        let entries = Arc::make_mut(&mut self.entries).iter_mut();
        entries.filter(|entry| entry.tool == tool).for_each(change);
        self
    }

    /// Supplies an injected parameter of a tool that was added before.
    #[must_use]
    pub fn inject(
        self,
        tool: &str,
        parameter: impl Into<SmolStr>,
        supply: &InjectedSource,
    ) -> Self {
        let injection =
            Injection { parameter: parameter.into(), supply: supply.clone(), own: true };
        self.change(tool, |entry| entry.inject.push(injection.clone()))
    }

    /// Registers a validator of a tool that was added before. It sees the arguments that would run,
    /// or, where something is wrong with them, the arguments as they were sent. What it finds joins
    /// the report, except where the types of a value are wrong already.
    #[must_use]
    pub fn validate(
        self,
        tool: &str,
        validator: impl Fn(&Value) -> Vec<Problem> + Send + Sync + 'static,
    ) -> Self {
        let validator: Arc<Validator> = Arc::new(validator);
        self.change(tool, |entry| entry.validators.push(Arc::clone(&validator)))
    }

    /// Records the calls of tools with `once: true` in a journal. Without one, each session knows its
    /// own calls only.
    #[must_use]
    pub fn with_journal(mut self, journal: CallJournal) -> Self {
        self.journal = Some(Arc::new(journal));
        self
    }

    /// Sets the MCP servers of its implementations, in order.
    #[must_use]
    pub fn with_servers(mut self, servers: LibraryServers) -> Self {
        self.servers = Some(servers);
        self
    }

    /// Connects to all that is apart, such as MCP servers, so that binding sees what they declare.
    /// Returns the errors of those that cannot be reached, by tool.
    pub async fn connect(&self) -> Vec<(SmolStr, InvocationError)> {
        let connecting = self.entries.iter().map(|entry| async {
            let error = entry.implementation.connect().await.err()?;
            Some((entry.tool.clone(), error))
        });
        let (mut errors, own) = join(self.connect_sources(), join_all(connecting)).await;
        errors.extend(own.into_iter().flatten());
        errors
    }

    /// Connects to the servers of which the library takes all tools, because binding depends on
    /// what they offer. Returns the errors of those that cannot be reached.
    pub async fn connect_sources(&self) -> Vec<(SmolStr, InvocationError)> {
        let connecting = self.sources.iter().map(|entry| entry.source.connect());
        let connected = join_all(connecting).await;
        let errors = connected.into_iter().filter_map(Result::err);
        errors.map(|error| (SmolStr::from(WHOLE_SERVER), error)).collect()
    }

    /// Ends what the implementations keep running, such as MCP servers. These are asked to end, and
    /// waited for, which can take some seconds; they are started again when they are needed.
    pub async fn close(&self) {
        let closing = self.entries.iter().map(|entry| entry.implementation.close());
        let sources = self.sources.iter().map(|entry| entry.source.close());
        join_all(closing.chain(sources)).await;
    }

    /// The policy for tools that are added from now on, and for calls of unknown tools.
    pub fn own_settings(&self) -> &Settings {
        &self.settings
    }
}
