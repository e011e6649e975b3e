//! The kinds of implementations.
//!
//! Each is an [`Implementation`]. External text is bounded: an answer by the invocation's
//! `max_answer`, messages by a few kilobytes. Implementations have no timeouts of their own:
//! dropping an invocation's future ends the processes and requests that it started.

mod builtin;
mod client;
#[cfg(not(target_family = "wasm"))]
mod command;
mod declaration;
mod fake;
mod function;
#[cfg(not(target_family = "wasm"))]
mod http;
mod load_error;
mod replay;

pub use builtin::Builtin;
pub use client::Client;
#[cfg(not(target_family = "wasm"))]
pub use command::Command;
pub use declaration::Declaration;
pub use fake::Fake;
pub use function::{Function, async_function, function, not_json};
#[cfg(not(target_family = "wasm"))]
pub(crate) use http::HttpClient;
#[cfg(not(target_family = "wasm"))]
pub use http::{Http, TemplateError};
pub use load_error::{LoadError, PagesError};
pub use replay::{Replay, ReplayError};

use std::path::Path;
use std::sync::Arc;

use gramc_model::ImplementationKind as Kind;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::content::ToolContent;
use crate::environment::ProgramEnvironment;
use crate::invocation::{Answer, Implementation, InvocationError, InvocationErrorKind};
use crate::server_loader::{LibraryServers, ServerLoader, ToolSource};

#[cfg(not(target_family = "wasm"))]
/// Loads the implementations of one library, which share connections.
pub(crate) struct Loader {
    http: HttpClient,
    servers: Option<Box<dyn ServerLoader>>,
}

#[cfg(not(target_family = "wasm"))]
impl Loader {
    pub(crate) fn new(servers: Option<Box<dyn ServerLoader>>) -> Self {
        Self { http: HttpClient::default(), servers }
    }

    pub(crate) fn load(
        &mut self,
        declaration: Declaration<'_>,
    ) -> Result<Arc<dyn Implementation>, LoadError> {
        Ok(match declaration.implementation.kind {
            Kind::Command => Arc::new(Command::load(declaration)?),
            Kind::Http => Arc::new(Http::load(&self.http, declaration)?),
            Kind::Mcp => self.servers()?.load_tool(declaration)?,
            Kind::Replay => Arc::new(Replay::load(declaration)?),
            Kind::Builtin => Arc::new(Builtin::load(declaration)?),
            Kind::Client => Arc::new(Client),
            Kind::Fake => Arc::new(Fake::load(declaration)),
        })
    }

    pub(crate) fn load_source(
        &mut self,
        declaration: Declaration<'_>,
    ) -> Result<Arc<dyn ToolSource>, LoadError> {
        match declaration.implementation.kind {
            Kind::Mcp => self.servers()?.load_source(declaration),
            other => Err(LoadError::NoServer { kind: other.name() }),
        }
    }

    fn servers(&mut self) -> Result<&mut Box<dyn ServerLoader>, LoadError> {
        self.servers.as_mut().ok_or(LoadError::UnsupportedKind { kind: Kind::Mcp.name() })
    }

    pub(crate) fn into_servers(self) -> Option<LibraryServers> {
        self.servers.map(ServerLoader::into_servers)
    }
}

#[cfg(not(target_family = "wasm"))]
pub(crate) fn load_validator(
    declaration: Declaration<'_>,
) -> Option<Result<Arc<dyn Implementation>, LoadError>> {
    let value = declaration.attribute("validate")?;
    Some(validator_in(value, || Ok(declaration.environment()?)))
}

#[cfg(not(target_family = "wasm"))]
/// The validator that an attribute names: a program, which runs in `folder`, or a URL.
pub fn validator(value: &Value, folder: &Path) -> Result<Arc<dyn Implementation>, LoadError> {
    validator_in(value, || Ok(ProgramEnvironment::in_folder(folder)))
}

#[cfg(not(target_family = "wasm"))]
fn validator_in(
    value: &Value,
    environment: impl FnOnce() -> Result<ProgramEnvironment, LoadError>,
) -> Result<Arc<dyn Implementation>, LoadError> {
    let Some(words) = value.as_array() else {
        return Ok(Arc::new(Http::new(value.as_str().unwrap_or_default(), Vec::new())?));
    };
    let words = words.iter().filter_map(|word| Some(word.as_str()?.to_owned())).collect();
    Ok(Arc::new(Command::with_environment(words, environment()?)))
}

/// Runs `work` until the call is cancelled.
pub async fn run_unless_cancelled(
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

#[cfg(not(target_family = "wasm"))]
/// The output of a program or a service, which has to be UTF-8. If `is_content`, it is a list of
/// content blocks of MCP.
fn raw_answer(who: &str, output: Vec<u8>, is_content: bool) -> Result<Answer, InvocationError> {
    let text = String::from_utf8(output).map_err(|_| {
        InvocationError::invalid(format!("{who} returned a response that is not valid UTF-8"))
    })?;
    if !is_content {
        return Ok(Answer::Raw(text));
    }
    ToolContent::from_blocks(&text).map(Answer::Content).map_err(|why| {
        InvocationError::invalid(format!("{who} returned no list of content blocks: {why}"))
    })
}

#[cfg(test)]
mod testing;
