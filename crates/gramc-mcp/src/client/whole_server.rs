//! All tools of an MCP server.

use std::sync::Arc;

use gramc_tools::invocation::{CloseFuture, ConnectFuture, Implementation};
use gramc_tools::server_loader::{Offer, ToolSource};
use smol_str::SmolStr;

use super::{McpServer, McpTool};

/// The tools of a server, under names that may begin with a prefix.
pub(super) struct WholeServer {
    pub(super) server: McpServer,
    /// The names of the only tools to use, if there are any.
    pub(super) only: Option<Vec<String>>,
    /// The tools that are excluded.
    pub(super) except: Vec<String>,
    pub(super) prefix: String,
}

impl WholeServer {
    /// The name on the server of a tool of the specification, if it is meant.
    fn name_on_server<'n>(&self, tool: &'n str) -> Option<&'n str> {
        let name = tool.strip_prefix(&self.prefix)?;
        let is_meant = |name: &str| match &self.only {
            Some(only) => only.iter().any(|known| known == name),
            None => !self.except.iter().any(|known| known == name),
        };
        is_meant(name).then_some(name)
    }

    fn add_prefix(&self, name: &str) -> SmolStr {
        SmolStr::from(format!("{}{name}", self.prefix))
    }
}

impl ToolSource for WholeServer {
    fn name(&self) -> String {
        self.server.to_string()
    }

    fn offer(&self, tool: &str) -> Offer {
        let Some(name) = self.name_on_server(tool) else { return Offer::No };
        if self.only.is_some() {
            return Offer::Yes;
        }
        match self.server.known_names() {
            None => Offer::Unknown,
            Some(known) if known.iter().any(|known| known == name) => Offer::Yes,
            Some(_) => Offer::Missing,
        }
    }

    fn tool(&self, tool: &str) -> Arc<dyn Implementation> {
        Arc::new(McpTool::new(&self.server, self.name_on_server(tool).unwrap_or(tool)))
    }

    fn named_tools(&self) -> Vec<SmolStr> {
        self.only.iter().flatten().map(|name| self.add_prefix(name)).collect()
    }

    fn tools(&self) -> Option<Vec<SmolStr>> {
        let names = self.server.known_names()?.into_iter().map(|name| self.add_prefix(&name));
        Some(names.filter(|name| self.name_on_server(name).is_some()).collect())
    }

    fn unknown_exceptions(&self) -> Vec<(SmolStr, Option<String>)> {
        let Some(known) = self.server.known_names() else { return Vec::new() };
        let unknown = self.except.iter().filter(|name| !known.contains(name));
        let nearest =
            |name: &str| gramc_model::did_you_mean(name, known.iter().map(String::as_str));
        unknown.map(|name| (SmolStr::from(name), nearest(name))).collect()
    }

    fn connect(&self) -> ConnectFuture {
        let server = self.server.clone();
        Box::pin(async move { server.connect().await })
    }

    fn close(&self) -> CloseFuture {
        let server = self.server.clone();
        Box::pin(async move { server.close().await })
    }

    fn secrets(&self) -> &[String] {
        self.server.secrets()
    }
}
