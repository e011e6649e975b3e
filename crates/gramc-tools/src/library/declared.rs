//! Libraries that a text declares.

use std::path::Path;
use std::sync::Arc;

use gramc_check::Valid;
use gramc_model::{Module, Tool, WHOLE_SERVER};
use serde_json::Value;
use smol_str::SmolStr;

use super::{Injection, LibraryEntry, SourceEntry, ToolLibrary};
use crate::bind::schemas_of;
use crate::implementations::{self, Declaration, Loader};
use crate::injected_source::sources;
use crate::invocation::{
    AnswerFuture, DeclaredInterface, Implementation, Invocation, InvocationError,
};
use crate::server_loader::ServerLoader;
use crate::settings::Settings;
use gramc_calls::ArgumentMapping;

/// Options for loading a declared library.
pub struct LoadOptions<'o> {
    /// The folder that paths and commands are relative to: that of the declaration's file.
    pub folder: &'o Path,
    /// The settings that the declaration does not set.
    pub defaults: Settings,
    /// Loads the tools of MCP servers. Without it, such tools cannot be used.
    pub servers: Option<Box<dyn ServerLoader>>,
}

impl<'o> LoadOptions<'o> {
    /// Options without MCP servers, and with default settings.
    pub fn new(folder: &'o Path) -> Self {
        Self { folder, defaults: Settings::default(), servers: None }
    }
}

impl ToolLibrary {
    /// Loads a library that `module` declares.
    ///
    /// An implementation that cannot be used, such as a recording that cannot be read or an unknown
    /// builtin, is one whose every call fails. Binding the library reports it with all other
    /// problems.
    pub fn load(
        module: &Valid<Module>,
        library: &gramc_model::Library,
        options: LoadOptions<'_>,
    ) -> Self {
        let LoadOptions { folder, defaults: mut settings, servers } = options;
        settings.take(&library.attributes);
        let mut made = Self::new(library.name.clone()).settings(settings.clone());
        let mut loader = Loader::new(servers);
        let for_all = attribute(&library.attributes, "inject");
        for declared in &library.implementations {
            let declaration =
                Declaration { implementation: declared, library: &library.attributes, folder };
            let own = declared.attribute("inject");
            let inject = [(for_all, false), (own, true)].into_iter().flat_map(|(inject, own)| {
                let sources = inject.map(|inject| sources(inject, folder)).unwrap_or_default();
                sources.into_iter().map(move |(parameter, supply)| Injection {
                    parameter,
                    supply,
                    own,
                })
            });
            let inject: Vec<_> = inject.collect();
            let mut settings = settings.clone();
            settings.take(&declared.attributes);
            if declared.tool == WHOLE_SERVER {
                made = made.add_source(&mut loader, declaration, settings, inject);
                continue;
            }
            let arguments = declared.attribute("arguments");
            let loaded = loader.load(declaration).and_then(|implementation| {
                let mapping = arguments.map(ArgumentMapping::parse).transpose()?;
                Ok((implementation, mapping.map(Arc::new)))
            });
            let (implementation, mapping) = loaded.unwrap_or_else(|error| {
                let unusable = Unusable { kind: declared.kind.name(), message: error.to_string() };
                (Arc::new(unusable), None)
            });
            // With `arguments`, it is that of the implementation, which gets others than the tool.
            let text = declared.attribute("signature").and_then(Value::as_str);
            let text = text.filter(|_| arguments.is_none());
            let interface = text.map(|text| interface(module, text, declared.signature.as_ref()));
            let entry = LibraryEntry::new(declared.tool.clone(), implementation, settings, inject);
            let external_validator = external_validator(declaration);
            made = made.add(LibraryEntry { interface, mapping, external_validator, ..entry });
        }
        made.servers = loader.into_servers();
        made
    }

    /// Adds a server with all its tools. Binding reports one that cannot be used.
    fn add_source(
        mut self,
        loader: &mut Loader,
        declaration: Declaration<'_>,
        settings: Settings,
        mut inject: Vec<Injection>,
    ) -> Self {
        // The value is for those tools that have the parameter.
        for injection in &mut inject {
            injection.own = false;
        }
        let external_validator = external_validator(declaration);
        match loader.load_source(declaration) {
            Ok(source) => {
                let entry = SourceEntry { source, settings, inject, external_validator };
                Arc::make_mut(&mut self.sources).push(entry);
            }
            Err(error) => Arc::make_mut(&mut self.unusable_sources).push(error.to_string()),
        }
        self
    }
}

/// The validator of an implementation, if it has one. Binding reports one that cannot be used.
fn external_validator(declaration: Declaration<'_>) -> Option<Arc<dyn Implementation>> {
    let made = implementations::load_validator(declaration)?;
    Some(made.unwrap_or_else(|error| {
        let message = format!("its validator cannot be used: {error}");
        Arc::new(Unusable { kind: declaration.implementation.kind.name(), message })
    }))
}

/// What a signature says. Its names mean what they mean in the library's texts; what means
/// nothing there is left to the specification.
fn interface(
    module: &Module,
    text: &str,
    read: Option<&gramc_model::Signature>,
) -> DeclaredInterface {
    let Some(gramc_model::Signature { parameters, result }) = read else {
        let mut known = Module::default();
        known.types.clone_from(&module.types);
        known.terms.clone_from(&module.terms);
        let types = gramc_model::print::print(&known).into();
        return DeclaredInterface::Signature { text: text.into(), types };
    };
    let tool = Tool::of_signature("implementation", parameters.clone(), result.clone());
    let (parameters, result) = schemas_of(&module.types, &tool);
    DeclaredInterface::Schemas { parameters, result }
}

/// An implementation that cannot be used: a recording that cannot be read, or an unknown builtin.
struct Unusable {
    kind: &'static str,
    message: String,
}

impl Implementation for Unusable {
    fn kind(&self) -> &'static str {
        self.kind
    }

    fn invoke(&self, _: Invocation) -> AnswerFuture {
        let error = InvocationError::failure(&self.message);
        Box::pin(async { Err(error) })
    }

    fn fault(&self) -> Option<String> {
        Some(self.message.clone())
    }
}

fn attribute<'a>(attributes: &'a [(SmolStr, Value)], key: &str) -> Option<&'a Value> {
    attributes.iter().find(|(known, _)| known == key).map(|(_, value)| value)
}
