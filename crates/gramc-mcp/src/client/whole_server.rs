//! All tools of an MCP server.

use std::sync::Arc;

use smol_str::SmolStr;

use super::super::{Loader, text, texts};
use super::{Mcp, server};
use crate::invocation::{CloseFuture, ConnectFuture, Implementation};
use crate::mcp::McpServer;
use crate::tool_source::{Offer, ToolSource};

/// The tools of a server, under names that may begin with a prefix.
#[derive(Debug)]
pub(crate) struct WholeServer {
    server: McpServer,
    /// The only tools that are meant, if some are named.
    only: Option<Vec<String>>,
    /// The tools that are not meant.
    except: Vec<String>,
    prefix: String,
}

impl WholeServer {
    pub(in super::super) fn load(
        loader: &mut Loader<'_>,
        declared: &gramc_model::Implementation,
    ) -> Result<Self, String> {
        Ok(Self {
            server: server(loader, declared, true)?,
            only: declared.attribute("only").map(|_| texts(declared, "only")),
            except: texts(declared, "except"),
            prefix: text(declared, "prefix"),
        })
    }

    /// The name on the server of a tool of the specification, if it is meant.
    fn name_on_server<'n>(&self, tool: &'n str) -> Option<&'n str> {
        let name = tool.strip_prefix(&self.prefix)?;
        let is_meant = |name: &str| match &self.only {
            Some(only) => only.iter().any(|known| known == name),
            None => !self.except.iter().any(|known| known == name),
        };
        is_meant(name).then_some(name)
    }

    fn prefixed(&self, name: &str) -> SmolStr {
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
        Arc::new(Mcp::new(&self.server, self.name_on_server(tool).unwrap_or(tool)))
    }

    fn named(&self) -> Vec<SmolStr> {
        self.only.iter().flatten().map(|name| self.prefixed(name)).collect()
    }

    fn tools(&self) -> Option<Vec<SmolStr>> {
        let names = self.server.known_names()?.into_iter().map(|name| self.prefixed(&name));
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
