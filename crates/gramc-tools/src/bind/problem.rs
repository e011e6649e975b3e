//! Problems of binding a library to a specification.

use serde_json::{Value, json};
use smol_str::SmolStr;

use gramc_json_schema::containment::Counterexample;

/// The implementation of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Binding<'b> {
    /// The tool.
    pub tool: &'b str,
    /// The kind of implementation: `Command`, `Http`, …. `None` without an implementation.
    pub implementation: Option<&'static str>,
}

/// Why a library cannot be bound to a specification, or a warning about it.
#[allow(missing_docs, reason = "each variant has its message")]
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum BindProblem {
    #[error(
        "`{tool}` has no implementation in the library{}{}",
        if *.has_sources { " or its MCP servers" } else { "" },
        suggestion(.nearest.as_deref())
    )]
    NoImplementation { tool: SmolStr, has_sources: bool, nearest: Option<String> },
    #[error(
        "several MCP servers of the library offer `{tool}`, {servers}: add an implementation of \
         the tool, or use `only`, `except` or `prefix`"
    )]
    OfferedTwice { tool: SmolStr, servers: String },
    #[error("cannot run the tools of `*`: {why}")]
    FaultySource { why: String },
    /// The library is bound anyway.
    #[error("the MCP server {server} has no tool `{name}` to exclude with `except`{}", suggestion(.nearest.as_deref()))]
    UnknownException { server: String, name: SmolStr, nearest: Option<String> },
    #[error("`{implementation}` is not a tool of the specification{}", suggestion(.nearest.as_deref()))]
    NoTool { implementation: SmolStr, nearest: Option<String> },
    #[error("`{tool}` has two implementations: keep one")]
    Twice { tool: SmolStr },
    #[error("cannot run `{tool}`: {why}")]
    Faulty { tool: SmolStr, why: String },
    /// The library is bound anyway if a variable or a file is missing, and calls of the tool fail.
    #[error("no value for the injected parameter `{parameter}` of `{tool}`: {why}")]
    NotInjected { tool: SmolStr, parameter: SmolStr, why: String },
    #[error(
        "the value of the injected parameter `{parameter}` of `{tool}` does not match {wanted}"
    )]
    InvalidInjected { tool: SmolStr, parameter: SmolStr, wanted: String },
    /// The library is bound anyway.
    #[error(
        "`inject` sets `{parameter}`, but {} has {} injected parameter of this name{}",
        .tool.as_ref().map_or_else(|| "no tool".to_owned(), |tool| format!("`{tool}`")),
        if .tool.is_some() { "no" } else { "an" },
        suggestion(.nearest.as_deref())
    )]
    NothingInjected {
        /// `None` if no tool of the library has such a parameter.
        tool: Option<SmolStr>,
        parameter: SmolStr,
        nearest: Option<String>,
    },
    #[error(
        "the implementation of `{tool}` {}: {}",
        match .incompatibility {
            Incompatibility::Arguments => "rejects arguments that the tool allows",
            Incompatibility::Result => "may return results that the tool does not allow",
        },
        show(.example)
    )]
    Incompatible { tool: SmolStr, incompatibility: Incompatibility, example: Counterexample },
    #[error("cannot parse the signature of the implementation of `{tool}`: {why}")]
    NoSignature { tool: SmolStr, why: String },
    /// The library is bound anyway.
    #[error("the MCP server's description of {what} differs from the specification")]
    OtherWording { tool: SmolStr, what: String },
    /// The library is bound anyway.
    #[error("the MCP server sets `{attribute}: {theirs}` for `{tool}`, unlike the specification")]
    OtherHint { tool: SmolStr, attribute: &'static str, theirs: bool },
    /// The library is bound anyway.
    #[error(
        "cannot decide whether the implementation of `{tool}` {}: {why}",
        match .incompatibility {
            Incompatibility::Arguments => "accepts all arguments of the tool",
            Incompatibility::Result => "returns only results that the tool allows",
        }
    )]
    Undecided { tool: SmolStr, incompatibility: Incompatibility, why: String },
}

/// The incompatible part of an interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Incompatibility {
    /// The specification allows arguments that the implementation does not accept.
    Arguments,
    /// The implementation may return results that the specification does not allow.
    Result,
}

impl BindProblem {
    /// Whether only a variable or a file is missing, so that the other tools work.
    pub fn is_missing_value(&self) -> bool {
        matches!(self, Self::NotInjected { .. })
    }

    /// The tool and the message as a JSON object.
    pub fn json(&self) -> Value {
        json!({"tool": self.tool(), "message": self.to_string()})
    }

    /// The tool. `None` if the problem does not concern a single tool.
    pub fn tool(&self) -> Option<&str> {
        match self {
            Self::NothingInjected { tool, .. } => tool.as_deref(),
            Self::FaultySource { .. } | Self::UnknownException { .. } => None,
            Self::NoTool { implementation: tool, .. }
            | Self::NoImplementation { tool, .. }
            | Self::OfferedTwice { tool, .. }
            | Self::Twice { tool }
            | Self::Faulty { tool, .. }
            | Self::NotInjected { tool, .. }
            | Self::InvalidInjected { tool, .. }
            | Self::Incompatible { tool, .. }
            | Self::NoSignature { tool, .. }
            | Self::OtherWording { tool, .. }
            | Self::OtherHint { tool, .. }
            | Self::Undecided { tool, .. } => Some(tool),
        }
    }
}

/// The part of a message that names a similar name.
fn suggestion(nearest: Option<&str>) -> String {
    nearest.map(|nearest| format!("; {nearest}")).unwrap_or_default()
}

/// A counterexample, with its place and the reason.
fn show(example: &Counterexample) -> String {
    let Counterexample { value, pointer, reason } = example;
    let place = if pointer.is_empty() { String::new() } else { format!(" at {pointer}") };
    format!("{value}{place}: {reason}")
}
