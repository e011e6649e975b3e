//! Libraries that a text declares.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use gram_check::Valid;
use gram_model::{ImplementationKind, Module, Open, Tool};
use serde_json::Value;
use smol_str::SmolStr;

use super::{InjectedSource, Injection, ToolLibrary};
use crate::bind::schemas_of;
#[cfg(feature = "command")]
use crate::implementations::Command;
#[cfg(feature = "mcp")]
use crate::implementations::Mcp;
use crate::implementations::{Builtin, Client, Replay};
#[cfg(feature = "http")]
use crate::implementations::{Http, HttpClient};
use crate::invocation::{DeclaredInterface, Implementation};
#[cfg(feature = "mcp")]
use crate::mcp::McpServer;
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

/// State shared by the implementations of one library.
struct LibraryLoader<'l> {
    module: &'l Module,
    folder: &'l Path,
    #[cfg(feature = "http")]
    http: HttpClient,
    /// MCP servers, by how they are reached: one connection a server.
    #[cfg(feature = "mcp")]
    servers: std::collections::HashMap<String, McpServer>,
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
        let mut shared = LibraryLoader {
            module,
            folder,
            #[cfg(feature = "http")]
            http: HttpClient::default(),
            #[cfg(feature = "mcp")]
            servers: std::collections::HashMap::new(),
        };
        let mut errors = Vec::new();
        let for_all = attribute(&library.attributes, "inject");
        for declared in &library.implementations {
            let own = declared.attribute("inject");
            let inject = [(for_all, false), (own, true)].into_iter().flat_map(|(inject, own)| {
                let supplies = inject.map(|inject| supplies(inject, folder)).unwrap_or_default();
                supplies.into_iter().map(move |(parameter, supply)| Injection {
                    parameter,
                    supply,
                    own,
                })
            });
            let inject = inject.collect();
            match shared.implementation(declared) {
                Ok(implementation) => {
                    let mut settings = settings.clone();
                    settings.take(&declared.attributes);
                    made = made.add(declared.tool.clone(), implementation, settings, inject);
                }
                Err(message) => errors.push(LibraryError { tool: declared.tool.clone(), message }),
            }
        }
        if errors.is_empty() { Ok(made) } else { Err(errors) }
    }
}

impl LibraryLoader<'_> {
    fn implementation(
        &mut self,
        declared: &gram_model::Implementation,
    ) -> Result<Arc<dyn Implementation>, String> {
        let made: Arc<dyn Implementation> = match declared.kind {
            #[cfg(feature = "command")]
            ImplementationKind::Command => {
                Arc::new(Command::new(texts(declared, "run"), self.folder.to_owned()))
            }
            #[cfg(feature = "http")]
            ImplementationKind::Http => {
                let headers = declared.attribute("headers");
                let headers = headers.map_or_else(Vec::new, |it| supplies(it, self.folder));
                let headers: Result<Vec<_>, String> = headers
                    .into_iter()
                    .map(|(name, supply)| {
                        let value = supply.read()?;
                        Ok((name.to_string(), value.as_str().unwrap_or_default().to_owned()))
                    })
                    .collect();
                let http = Http::new(&text(declared, "url"), headers?);
                Arc::new(http.map_err(|error| error.detail)?.sharing(&self.http))
            }
            #[cfg(feature = "mcp")]
            ImplementationKind::Mcp => {
                let tool = match text(declared, "tool") {
                    name if name.is_empty() => declared.tool.to_string(),
                    name => name,
                };
                Arc::new(Mcp::new(&self.server(declared)?, tool))
            }
            ImplementationKind::Replay => {
                let path = self.folder.join(text(declared, "from"));
                let recorded = std::fs::read_to_string(&path)
                    .map_err(|error| format!("cannot read {}: {error}", path.display()))?;
                let replay = Replay::read(&recorded, &declared.tool)
                    .map_err(|error| format!("{}: {error}", path.display()))?;
                Arc::new(replay)
            }
            ImplementationKind::Builtin => {
                let name = match text(declared, "name") {
                    name if name.is_empty() => declared.tool.to_string(),
                    name => name,
                };
                let builtin = Builtin::named(&name).ok_or_else(|| {
                    format!("there is no builtin `{name}`; there are {}", Builtin::NAMES.join(", "))
                })?;
                Arc::new(builtin)
            }
            ImplementationKind::Client => Arc::new(Client),
            #[cfg(not(all(feature = "command", feature = "http", feature = "mcp")))]
            other => {
                return Err(format!("this program was built without the kind {}", other.name()));
            }
        };
        match declared.attribute("signature").and_then(Value::as_str) {
            Some(text) => {
                let says = self.signature(text, declared.signature.as_ref());
                Ok(Arc::new(WithSignature { inner: made, says }))
            }
            None => Ok(made),
        }
    }

    /// What a signature says. Its names mean what they mean in the library's texts; what means
    /// nothing there is left to the specification.
    fn signature(&self, text: &str, read: Option<&gram_model::Signature>) -> DeclaredInterface {
        let Some(gram_model::Signature { parameters, result }) = read else {
            let mut known = Module::default();
            known.types.clone_from(&self.module.types);
            known.terms.clone_from(&self.module.terms);
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
        let (parameters, result) = schemas_of(&self.module.types, &tool);
        DeclaredInterface::Schemas { parameters, result }
    }

    #[cfg(feature = "mcp")]
    fn server(&mut self, declared: &gram_model::Implementation) -> Result<McpServer, String> {
        let (url, command) = (text(declared, "url"), texts(declared, "command"));
        let key = format!("{url}\n{}", command.join("\n"));
        if let Some(known) = self.servers.get(&key) {
            return Ok(known.clone());
        }
        let server = if url.is_empty() {
            McpServer::command(command, self.folder.to_owned())
        } else {
            McpServer::url(&url).map_err(|error| error.detail)?
        };
        self.servers.insert(key, server.clone());
        Ok(server)
    }
}

/// An implementation whose signature the library declares.
#[derive(Debug)]
struct WithSignature {
    inner: Arc<dyn Implementation>,
    says: DeclaredInterface,
}

impl Implementation for WithSignature {
    fn kind(&self) -> &'static str {
        self.inner.kind()
    }

    fn invoke(&self, invocation: crate::invocation::Invocation) -> crate::invocation::AnswerFuture {
        self.inner.invoke(invocation)
    }

    fn counts(&self) -> bool {
        self.inner.counts()
    }

    fn description(&self) -> Option<SmolStr> {
        self.inner.description()
    }

    fn connect(&self) -> crate::invocation::ConnectFuture {
        self.inner.connect()
    }

    fn close(&self) -> crate::invocation::CloseFuture {
        self.inner.close()
    }

    fn fault(&self) -> Option<String> {
        self.inner.fault()
    }

    fn declared(&self) -> Option<DeclaredInterface> {
        Some(self.says.clone())
    }
}

fn attribute<'a>(attributes: &'a [(SmolStr, Value)], key: &str) -> Option<&'a Value> {
    attributes.iter().find(|(known, _)| known == key).map(|(_, value)| value)
}

/// The text of an attribute; empty without it.
fn text(declared: &gram_model::Implementation, key: &str) -> String {
    declared.attribute(key).and_then(Value::as_str).unwrap_or_default().to_owned()
}

#[cfg(any(feature = "command", feature = "mcp"))]
fn texts(declared: &gram_model::Implementation, key: &str) -> Vec<String> {
    let list = declared.attribute(key).and_then(Value::as_array);
    list.into_iter().flatten().filter_map(|text| Some(text.as_str()?.to_owned())).collect()
}

/// The sources that `inject` names: `env:NAME`, `file:PATH`, or a value.
fn supplies(inject: &Value, folder: &Path) -> Vec<(SmolStr, InjectedSource)> {
    let supply = |value: &Value| match value.as_str() {
        Some(text) => match (text.strip_prefix("env:"), text.strip_prefix("file:")) {
            (Some(name), _) => InjectedSource::Environment(name.into()),
            (_, Some(path)) => InjectedSource::File(folder.join(PathBuf::from(path))),
            _ => InjectedSource::Value(value.clone()),
        },
        None => InjectedSource::Value(value.clone()),
    };
    let map = inject.as_object();
    map.into_iter().flatten().map(|(name, value)| (name.as_str().into(), supply(value))).collect()
}
