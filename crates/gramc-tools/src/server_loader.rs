//! The interface to MCP servers, which `gramc-mcp` implements.
//!
//! A library may declare that a server implements one of its tools, or all tools that it does not
//! name. [`ServerLoader`] makes such implementations, [`ToolSource`] is a server with all its tools,
//! and [`Bound::servers`](crate::Bound::servers) returns the connections to the code that made them.
//! The program that loads a library passes the loader in [`LoadOptions`](crate::LoadOptions).

use std::any::Any;
use std::sync::Arc;

use smol_str::SmolStr;

use crate::implementations::{Declaration, LoadError};
use crate::invocation::{CloseFuture, ConnectFuture, Implementation};

/// Makes the implementations of one library that are tools of MCP servers.
pub trait ServerLoader {
    /// Loads the implementation of one tool.
    fn load_tool(
        &mut self,
        declaration: Declaration<'_>,
    ) -> Result<Arc<dyn Implementation>, LoadError>;

    /// Loads a server as the implementation of all its tools.
    fn load_source(
        &mut self,
        declaration: Declaration<'_>,
    ) -> Result<Arc<dyn ToolSource>, LoadError>;

    /// The servers of all loaded implementations, in order.
    fn into_servers(self: Box<Self>) -> LibraryServers;
}

/// The servers of a library. Only the crate of the [`ServerLoader`] knows their type.
pub type LibraryServers = Arc<dyn Any + Send + Sync>;

/// Whether a source offers a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Offer {
    /// It does.
    Yes,
    /// The source was not asked yet.
    Unknown,
    /// The library allows it, and the source has no such tool.
    Missing,
    /// The library excludes it.
    No,
}

/// What implements several tools, by names of the specification.
pub trait ToolSource: Send + Sync {
    /// The source, for messages.
    fn name(&self) -> String;

    /// Whether it offers a tool.
    fn offer(&self, tool: &str) -> Offer;

    /// The implementation of a tool that it offers.
    fn tool(&self, tool: &str) -> Arc<dyn Implementation>;

    /// The tools that the library names for it.
    fn named_tools(&self) -> Vec<SmolStr>;

    /// The tools that it offers, if it was asked already.
    fn tools(&self) -> Option<Vec<SmolStr>>;

    /// The excluded names that it does not have, each with a suggestion.
    fn unknown_exceptions(&self) -> Vec<(SmolStr, Option<String>)>;

    /// Asks it for its tools.
    fn connect(&self) -> ConnectFuture;

    /// Ends its connections. They are opened again on demand.
    fn close(&self) -> CloseFuture;

    /// The values that must not appear in any output.
    fn secrets(&self) -> &[String];
}
