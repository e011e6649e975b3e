//! Servers that implement all tools that they offer.

use std::fmt::Debug;
use std::sync::Arc;

use smol_str::SmolStr;

use crate::invocation::{CloseFuture, ConnectFuture, Implementation};

/// Whether a source offers a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Offer {
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
pub(crate) trait ToolSource: Debug + Send + Sync {
    /// The source, for messages.
    fn name(&self) -> String;

    /// Whether it offers a tool.
    fn offer(&self, tool: &str) -> Offer;

    /// The implementation of a tool that it offers.
    fn tool(&self, tool: &str) -> Arc<dyn Implementation>;

    /// The tools that the library names for it.
    fn named(&self) -> Vec<SmolStr>;

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
