//! The declaration of an implementation in a library.

use std::path::Path;

use gramc_model::Implementation;
use serde_json::Value;
use smol_str::SmolStr;

use super::LoadError;
use crate::environment::ProgramEnvironment;
#[cfg(not(target_family = "wasm"))]
use crate::http_client::{RequestHeaders, TlsOptions};
use crate::injected_source::{InjectedSource, SourceError, source, sources};

/// The declaration of an implementation, with the library that contains it.
#[derive(Debug, Clone, Copy)]
pub struct Declaration<'d> {
    /// The implementation.
    pub implementation: &'d Implementation,
    /// The attributes of the library.
    pub library: &'d [(SmolStr, Value)],
    /// The folder that paths and commands are relative to.
    pub folder: &'d Path,
}

impl<'d> Declaration<'d> {
    /// An attribute of the implementation.
    pub fn attribute(&self, key: &str) -> Option<&'d Value> {
        self.implementation.attribute(key)
    }

    /// An attribute of the library.
    pub fn library_attribute(&self, key: &str) -> Option<&'d Value> {
        self.library.iter().find(|(known, _)| known == key).map(|(_, value)| value)
    }

    /// A string attribute, empty if it is absent.
    pub fn text(&self, key: &str) -> String {
        self.attribute(key).and_then(Value::as_str).unwrap_or_default().to_owned()
    }

    /// A string attribute, by default the name of the tool.
    pub fn name_or_tool(&self, key: &str) -> String {
        match self.text(key) {
            name if name.is_empty() => self.implementation.tool.to_string(),
            name => name,
        }
    }

    /// The strings of a list attribute.
    pub fn texts(&self, key: &str) -> Vec<String> {
        let list = self.attribute(key).and_then(Value::as_array);
        list.into_iter().flatten().filter_map(|text| Some(text.as_str()?.to_owned())).collect()
    }

    /// Whether a boolean attribute is true.
    pub fn flag(&self, key: &str) -> bool {
        self.attribute(key) == Some(&Value::Bool(true))
    }

    /// The source that a value names.
    pub fn source(&self, value: &Value) -> InjectedSource {
        source(value, self.folder)
    }

    /// The environment of the program: the variables and the folder that the implementation and its
    /// library name.
    pub fn environment(&self) -> Result<ProgramEnvironment, SourceError> {
        let mut environment = ProgramEnvironment::in_folder(self.folder);
        let folder = self.attribute("cwd").or(self.library_attribute("cwd"));
        if let Some(folder) = folder.and_then(Value::as_str) {
            environment = environment.working_folder(Path::new(folder));
        }
        // The implementation's own variables come last, and so take precedence.
        let variables = [self.library_attribute("env"), self.attribute("env")];
        for variables in variables.into_iter().flatten() {
            for (name, source) in sources(variables, self.folder) {
                let value = source.read_text()?;
                environment = if source.is_external() {
                    environment.secret(&name, value)
                } else {
                    environment.variable(&name, value)
                };
            }
        }
        Ok(environment)
    }

    #[cfg(not(target_family = "wasm"))]
    /// The headers of each request.
    pub fn request_headers(&self) -> Result<RequestHeaders, LoadError> {
        let declared = self.attribute("headers").map(|it| sources(it, self.folder));
        let headers = declared.into_iter().flatten();
        let headers = headers.map(|(name, source)| Ok((name.to_string(), source.read_text()?)));
        Ok(RequestHeaders::new(headers.collect::<Result<Vec<_>, SourceError>>()?)?)
    }

    #[cfg(not(target_family = "wasm"))]
    /// The TLS options. Paths are relative to the library's file.
    pub fn tls_options(&self) -> Result<TlsOptions, LoadError> {
        let Some(value) = self.attribute("tls") else { return Ok(TlsOptions::default()) };
        let path = |key: &str| Some(self.folder.join(value.get(key)?.as_str()?));
        let [ca, cert, key] = ["ca", "cert", "key"].map(path);
        Ok(TlsOptions::read(ca.as_deref(), cert.as_deref(), key.as_deref())?)
    }
}
