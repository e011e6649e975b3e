//! The guard in front of a running server, without a specification.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures_util::future::BoxFuture;
use gramc_check::Valid;
use gramc_mcp::client::{McpServer, load_options_of};
use gramc_mcp::{LiveServer, LiveTools, ServeError};
use gramc_model::{Library, Module};
use gramc_tools::{Bound, SessionClient, ToolLibrary};
use serde_json::json;

use crate::args::{self, Display};
use crate::failure::Failure;
use crate::output::say_each;
use crate::server_library::server_library;
use crate::{live, source};

/// The server that the command line names.
pub(super) struct LiveGuard {
    server: McpServer,
    library: Library,
    display: Display,
    /// Set once the notes about the tools were shown.
    is_shown: Arc<AtomicBool>,
}

impl LiveGuard {
    pub(super) fn new(server: &args::LiveServer, display: Display) -> Result<Self, Failure> {
        let library = server_library(server, Path::new(""))?;
        let server = live::mcp_server(server)?;
        Ok(Self { server, library, display, is_shown: Arc::default() })
    }
}

impl LiveServer for LiveGuard {
    fn connect(&self, client: Arc<dyn SessionClient>) -> Arc<dyn LiveTools> {
        Arc::new(GuardedTools {
            server: self.server.for_client(client),
            library: self.library.clone(),
            display: self.display,
            is_shown: Arc::clone(&self.is_shown),
        })
    }
}

/// The tools of the server for one client.
struct GuardedTools {
    server: McpServer,
    library: Library,
    display: Display,
    is_shown: Arc<AtomicBool>,
}

impl GuardedTools {
    async fn bind(&self) -> Result<(Valid<Module>, Bound), Failure> {
        let tools = self.server.tools().await.map_err(|error| Failure::new(error.detail))?;
        let is_shown = self.is_shown.load(Ordering::Relaxed);
        let display = Display { errors_only: self.display.errors_only || is_shown, ..self.display };
        let read = source::read_listed(&json!({ "tools": tools }).to_string(), display)?;
        let read = read.ok_or_else(|| Failure::new("the tools of the MCP server have errors"))?;
        let options = load_options_of(&self.server);
        let library = ToolLibrary::load(&read.module, &self.library, options);
        let (bound, problems) = library.bind_partly(&read.module);
        let (refused, warned) = bound.judge_changes(problems);
        if !display.errors_only {
            say_each("warning: ", &warned);
        }
        match refused.first() {
            Some(problem) => Err(Failure::new(problem.to_string())),
            None => Ok((read.module, bound)),
        }
    }
}

impl LiveTools for GuardedTools {
    fn read(&self) -> BoxFuture<'_, Result<(Valid<Module>, Bound), ServeError>> {
        Box::pin(async move {
            self.bind().await.map_err(|failure| ServeError::Upstream(failure.to_string()))
        })
    }

    fn have_changed(&self) -> bool {
        self.server.has_other_tools()
    }

    fn report(&self, warnings: &[String]) {
        // The tools of another client are mostly the same.
        if !self.is_shown.swap(true, Ordering::Relaxed) {
            say_each("warning: ", warnings);
        }
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.server.close())
    }
}
