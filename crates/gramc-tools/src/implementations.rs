//! The kinds of implementations.
//!
//! Each is an [`Implementation`]. What the world outside has to
//! say to them is bounded: an answer by the invocation's `max_answer`, what goes into a message by
//! a few kilobytes. They know nothing of time limits: dropping an invocation's future ends
//! what was started for it.

mod builtin;
mod client;
#[cfg(feature = "command")]
mod command;
mod fake;
mod function;
#[cfg(feature = "http")]
mod http;
#[cfg(feature = "mcp")]
mod mcp;
mod replay;

pub use builtin::Builtin;
pub use client::Client;
#[cfg(feature = "command")]
pub use command::Command;
pub use fake::Fake;
pub use function::{Function, async_function, function};
#[cfg(feature = "http")]
pub use http::{Http, HttpClient};
#[cfg(feature = "mcp")]
pub use mcp::Mcp;
pub use replay::{Replay, ReplayError};

use std::path::Path;
use std::sync::Arc;

use gramc_model::ImplementationKind as Kind;
use serde_json::Value;
use smol_str::SmolStr;
use tokio_util::sync::CancellationToken;

#[cfg(any(feature = "command", feature = "http"))]
use crate::content::ToolContent;
#[cfg(any(feature = "command", feature = "mcp"))]
use crate::environment::ProgramEnvironment;
#[cfg(any(feature = "http", feature = "mcp"))]
use crate::http_client::{RequestHeaders, TlsOptions};
#[cfg(any(feature = "command", feature = "http", feature = "mcp"))]
use crate::injected_source::sources;
use crate::invocation::{Answer, Implementation, InvocationError, InvocationErrorKind};
#[cfg(feature = "mcp")]
use crate::mcp::LibraryServer;
use crate::tool_source::ToolSource;

/// State that the implementations of one library share.
pub(crate) struct Loader<'l> {
    /// The folder that paths and commands are relative to.
    folder: &'l Path,
    /// The attributes of the library.
    #[cfg_attr(
        not(any(feature = "command", feature = "http", feature = "mcp")),
        expect(dead_code)
    )]
    library: &'l [(SmolStr, Value)],
    #[cfg(feature = "http")]
    http: HttpClient,
    /// MCP servers with their attributes, in order: the tools of a server share a connection.
    #[cfg(feature = "mcp")]
    servers: Vec<(String, LibraryServer)>,
}

impl<'l> Loader<'l> {
    /// A loader for a library in a folder, with its attributes.
    pub(crate) fn new(folder: &'l Path, library: &'l [(SmolStr, Value)]) -> Self {
        Self {
            folder,
            library,
            #[cfg(feature = "http")]
            http: HttpClient::default(),
            #[cfg(feature = "mcp")]
            servers: Vec::new(),
        }
    }

    /// The MCP servers of the library, in order.
    #[cfg(feature = "mcp")]
    pub(crate) fn into_servers(self) -> Vec<LibraryServer> {
        self.servers.into_iter().map(|(_, server)| server).collect()
    }
}

/// Makes an implementation from its declaration.
pub(crate) fn load(
    loader: &mut Loader<'_>,
    declared: &gramc_model::Implementation,
) -> Result<Arc<dyn Implementation>, String> {
    Ok(match declared.kind {
        #[cfg(feature = "command")]
        Kind::Command => Arc::new(Command::load(loader, declared)?),
        #[cfg(feature = "http")]
        Kind::Http => Arc::new(Http::load(loader, declared)?),
        #[cfg(feature = "mcp")]
        Kind::Mcp => Arc::new(Mcp::load(loader, declared)?),
        Kind::Replay => Arc::new(Replay::load(loader, declared)?),
        Kind::Builtin => Arc::new(Builtin::load(declared)?),
        Kind::Client => Arc::new(Client),
        Kind::Fake => Arc::new(Fake::load(declared)),
        #[cfg(not(all(feature = "command", feature = "http", feature = "mcp")))]
        other => return Err(format!("this program was built without the kind {}", other.name())),
    })
}

/// Makes the validator of an implementation, if it has one.
pub(crate) fn load_validator(
    loader: &Loader<'_>,
    declared: &gramc_model::Implementation,
) -> Option<Result<Arc<dyn Implementation>, String>> {
    let value = declared.attribute("validate")?;
    #[cfg(feature = "command")]
    if value.is_array() {
        return Some(environment(loader, declared).map(|it| program_validator(value, it)));
    }
    #[cfg(not(feature = "command"))]
    let _ = loader;
    Some(url_validator(value))
}

/// The validator that an attribute names: a program, which runs in `folder`, or a URL. Fails with the
/// reason.
pub fn validator(value: &Value, folder: &Path) -> Result<Arc<dyn Implementation>, String> {
    #[cfg(feature = "command")]
    if value.is_array() {
        return Ok(program_validator(value, ProgramEnvironment::in_folder(folder)));
    }
    #[cfg(not(feature = "command"))]
    let _ = folder;
    url_validator(value)
}

#[cfg(feature = "command")]
fn program_validator(value: &Value, environment: ProgramEnvironment) -> Arc<dyn Implementation> {
    let words = value.as_array().into_iter().flatten();
    let words = words.filter_map(|word| Some(word.as_str()?.to_owned())).collect();
    Arc::new(Command::with_environment(words, environment))
}

fn url_validator(value: &Value) -> Result<Arc<dyn Implementation>, String> {
    #[cfg(feature = "http")]
    if let Some(url) = value.as_str() {
        let service = Http::new(url, Vec::new()).map_err(|error| error.detail)?;
        return Ok(Arc::new(service));
    }
    Err(format!("this program was built without validators such as {value}"))
}

/// Makes what implements all tools of a server from its declaration.
pub(crate) fn load_source(
    loader: &mut Loader<'_>,
    declared: &gramc_model::Implementation,
) -> Result<Arc<dyn ToolSource>, String> {
    match declared.kind {
        #[cfg(feature = "mcp")]
        Kind::Mcp => Ok(Arc::new(mcp::WholeServer::load(loader, declared)?)),
        other => Err(format!("the kind {} has no `*`", other.name())),
    }
}

/// The text of an attribute, empty if it is absent.
fn text(declared: &gramc_model::Implementation, key: &str) -> String {
    declared.attribute(key).and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// The name that an attribute gives, by default that of the tool.
fn name_or_tool(declared: &gramc_model::Implementation, key: &str) -> String {
    match text(declared, key) {
        name if name.is_empty() => declared.tool.to_string(),
        name => name,
    }
}

/// The texts of an attribute that is a list.
#[cfg(any(feature = "command", feature = "mcp"))]
fn texts(declared: &gramc_model::Implementation, key: &str) -> Vec<String> {
    let list = declared.attribute(key).and_then(Value::as_array);
    list.into_iter().flatten().filter_map(|text| Some(text.as_str()?.to_owned())).collect()
}

/// What a program gets of the environment, as the implementation and its library name it.
#[cfg(any(feature = "command", feature = "mcp"))]
fn environment(
    loader: &Loader<'_>,
    declared: &gramc_model::Implementation,
) -> Result<ProgramEnvironment, String> {
    let of_library = |key: &str| loader.library.iter().find(|(known, _)| known == key);
    let of_library = |key: &str| of_library(key).map(|(_, value)| value);
    let mut environment = ProgramEnvironment::in_folder(loader.folder);
    let folder = declared.attribute("cwd").or(of_library("cwd")).and_then(Value::as_str);
    if let Some(folder) = folder {
        environment = environment.working_folder(Path::new(folder));
    }
    // The implementation's own variables come last, and so take precedence.
    for variables in [of_library("env"), declared.attribute("env")].into_iter().flatten() {
        for (name, source) in sources(variables, loader.folder) {
            let value = source.read()?;
            let value = value.as_str().unwrap_or_default();
            environment = if source.is_external() {
                environment.secret(&name, value)
            } else {
                environment.variable(&name, value)
            };
        }
    }
    Ok(environment)
}

/// The headers of an implementation.
#[cfg(any(feature = "http", feature = "mcp"))]
fn request_headers(
    loader: &Loader<'_>,
    declared: &gramc_model::Implementation,
) -> Result<RequestHeaders, String> {
    let headers = declared.attribute("headers");
    let headers = headers.map_or_else(Vec::new, |headers| sources(headers, loader.folder));
    let headers = headers.into_iter().map(|(name, source)| {
        let value = source.read()?;
        Ok((name.to_string(), value.as_str().unwrap_or_default().to_owned()))
    });
    RequestHeaders::new(headers.collect::<Result<Vec<_>, String>>()?)
}

/// The TLS options of an implementation. Paths are relative to the library's file.
#[cfg(any(feature = "http", feature = "mcp"))]
fn tls_options(
    loader: &Loader<'_>,
    declared: &gramc_model::Implementation,
) -> Result<TlsOptions, String> {
    let Some(value) = declared.attribute("tls") else { return Ok(TlsOptions::default()) };
    let path = |key: &str| Some(loader.folder.join(value.get(key)?.as_str()?));
    TlsOptions::read(path("ca").as_deref(), path("cert").as_deref(), path("key").as_deref())
}

/// Runs `work` until the call is cancelled.
async fn run_unless_cancelled(
    cancelled: CancellationToken,
    work: impl Future<Output = Result<Answer, InvocationError>>,
) -> Result<Answer, InvocationError> {
    tokio::select! {
        biased;
        () = cancelled.cancelled() => {
            Err(InvocationError::new(InvocationErrorKind::Cancelled, "the call was cancelled"))
        }
        outcome = work => outcome,
    }
}

/// The output of a program or a service, which has to be UTF-8. If `is_content`, it is a list of
/// content blocks of MCP.
#[cfg(any(feature = "command", feature = "http"))]
fn raw_answer(who: &str, output: Vec<u8>, is_content: bool) -> Result<Answer, InvocationError> {
    let garbled = |detail| InvocationError::new(InvocationErrorKind::Garbled, detail);
    let text = String::from_utf8(output)
        .map_err(|_| garbled(format!("{who} returned a response that is not valid UTF-8")))?;
    if !is_content {
        return Ok(Answer::Raw(text));
    }
    ToolContent::from_blocks(&text)
        .map(Answer::Content)
        .map_err(|why| garbled(format!("{who} returned no list of content blocks: {why}")))
}

/// Whether an attribute is true.
#[cfg(any(feature = "command", feature = "http", feature = "mcp"))]
fn flag(declared: &gramc_model::Implementation, key: &str) -> bool {
    declared.attribute(key) == Some(&Value::Bool(true))
}

#[cfg(test)]
mod testing;
