//! Libraries that a text declares.

use std::path::Path;

use gram_check::Valid;
use gram_model::{Module, Open, Tool};
use serde_json::Value;
use smol_str::SmolStr;

use super::{Injection, ToolLibrary};
use crate::bind::schemas_of;
use crate::implementations::{self, Loader, sources};
use crate::invocation::DeclaredInterface;
use crate::settings::Settings;

/// Why a declared library cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{tool}`: {message}")]
pub struct LibraryError {
    /// The tool whose implementation is meant.
    pub tool: SmolStr,
    /// The error as a sentence.
    pub message: String,
}

impl ToolLibrary {
    /// The library of a declaration in `module`. Relative paths and commands are relative to
    /// `folder`, that of the declaration's file.
    ///
    /// # Errors
    ///
    /// All implementations that cannot be used: a recording that cannot be read, a builtin that
    /// there is not.
    pub fn declared(
        module: &Valid<Module>,
        library: &gram_model::Library,
        folder: &Path,
    ) -> Result<Self, Vec<LibraryError>> {
        let mut settings = Settings::default();
        settings.take(&library.attributes);
        let mut made = Self::new(library.name.clone()).settings(settings.clone());
        let mut loader = Loader::new(folder);
        let mut errors = Vec::new();
        let for_all = attribute(&library.attributes, "inject");
        for declared in &library.implementations {
            let own = declared.attribute("inject");
            let inject = [(for_all, false), (own, true)].into_iter().flat_map(|(inject, own)| {
                let sources = inject.map(|inject| sources(inject, folder)).unwrap_or_default();
                sources.into_iter().map(move |(parameter, supply)| Injection {
                    parameter,
                    supply,
                    own,
                })
            });
            let inject = inject.collect();
            match implementations::load(&mut loader, declared) {
                Ok(implementation) => {
                    let mut settings = settings.clone();
                    settings.take(&declared.attributes);
                    let text = declared.attribute("signature").and_then(Value::as_str);
                    let interface =
                        text.map(|text| interface(module, text, declared.signature.as_ref()));
                    let tool = declared.tool.clone();
                    made = made.add(tool, implementation, settings, inject, interface);
                }
                Err(message) => errors.push(LibraryError { tool: declared.tool.clone(), message }),
            }
        }
        if errors.is_empty() { Ok(made) } else { Err(errors) }
    }
}

/// What a signature says. Its names mean what they mean in the library's texts; what means
/// nothing there is left to the specification.
fn interface(
    module: &Module,
    text: &str,
    read: Option<&gram_model::Signature>,
) -> DeclaredInterface {
    let Some(gram_model::Signature { parameters, result }) = read else {
        let mut known = Module::default();
        known.types.clone_from(&module.types);
        known.terms.clone_from(&module.terms);
        let types = gram_model::print::print(&known).into();
        return DeclaredInterface::Signature { text: text.into(), types };
    };
    let tool = Tool {
        name: "implementation".into(),
        description: None,
        title: None,
        deprecated: false,
        parameters: parameters.clone(),
        result: result.clone(),
        open: Open::Unsaid,
        root: None,
        types: Vec::new(),
        attributes: Vec::new(),
    };
    let (parameters, result) = schemas_of(&module.types, &tool);
    DeclaredInterface::Schemas { parameters, result }
}

fn attribute<'a>(attributes: &'a [(SmolStr, Value)], key: &str) -> Option<&'a Value> {
    attributes.iter().find(|(known, _)| known == key).map(|(_, value)| value)
}
