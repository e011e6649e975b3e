//! Problems of binding a library to a specification.

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

/// Why a library cannot be bound to a specification.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum BindProblem {
    /// A tool has no implementation.
    #[error(
        "`{tool}` has no implementation: the library does not name it{}{}",
        if *.has_sources { ", and its MCP servers do not offer it" } else { "" },
        suggestion(.nearest.as_deref())
    )]
    NoImplementation {
        /// The tool.
        tool: SmolStr,
        /// Whether the library takes tools of whole MCP servers.
        has_sources: bool,
        /// A suggestion of a similar name that a server offers.
        nearest: Option<String>,
    },
    /// The library takes all tools of two MCP servers, and both offer this one.
    #[error(
        "`{tool}` is offered by several MCP servers of the library, {servers}: give it an \
         implementation of its own, or use `only`, `except` or `prefix`"
    )]
    OfferedTwice {
        /// The tool.
        tool: SmolStr,
        /// The servers.
        servers: String,
    },
    /// An MCP server of which the library takes all tools cannot be used.
    #[error("nothing can run the tools of `*`: {why}")]
    FaultySource {
        /// The reason.
        why: String,
    },
    /// A server does not have a tool that the library excludes. The library is bound anyway.
    #[error("the MCP server {server} has no tool `{name}`, which `except` names{}", suggestion(.nearest.as_deref()))]
    UnknownException {
        /// The server.
        server: String,
        /// The name of the missing tool.
        name: SmolStr,
        /// A suggestion of a similar name.
        nearest: Option<String>,
    },
    /// An implementation has no tool.
    #[error("`{implementation}` is not a tool of the specification{}", suggestion(.nearest.as_deref()))]
    NoTool {
        /// The name of the missing tool.
        implementation: SmolStr,
        /// A suggestion of a similar name.
        nearest: Option<String>,
    },
    /// A tool has two implementations.
    #[error("`{tool}` has two implementations: keep one")]
    Twice {
        /// The tool.
        tool: SmolStr,
    },
    /// Every call of the implementation would fail.
    #[error("nothing can run `{tool}`: {why}")]
    Faulty {
        /// The tool.
        tool: SmolStr,
        /// The reason.
        why: String,
    },
    /// An injected parameter has no value.
    #[error("nothing supplies the injected parameter `{parameter}` of `{tool}`: {why}")]
    NotInjected {
        /// The tool.
        tool: SmolStr,
        /// The parameter.
        parameter: SmolStr,
        /// The reason.
        why: String,
    },
    /// The injected value is invalid for its parameter.
    #[error(
        "what the library supplies for the injected parameter `{parameter}` of `{tool}` does not \
         fit it: {wanted}"
    )]
    InvalidInjected {
        /// The tool.
        tool: SmolStr,
        /// The parameter.
        parameter: SmolStr,
        /// The expected value.
        wanted: String,
    },
    /// A value is supplied for an unknown injected parameter. The library is bound anyway.
    #[error(
        "{} has {} injected parameter `{parameter}`, which the library's `inject` names{}",
        .tool.as_ref().map_or_else(|| "no tool".to_owned(), |tool| format!("`{tool}`")),
        if .tool.is_some() { "no" } else { "an" },
        suggestion(.nearest.as_deref())
    )]
    NothingInjected {
        /// The tool. `None` if no tool of the library has such a parameter.
        tool: Option<SmolStr>,
        /// The name of the unknown parameter.
        parameter: SmolStr,
        /// A suggestion of a similar name.
        nearest: Option<String>,
    },
    /// The implementation's declared interface is incompatible with the specification.
    #[error("{}: {}", contradiction(.tool, *.incompatibility), show(.example))]
    Incompatible {
        /// The tool.
        tool: SmolStr,
        /// The incompatible part.
        incompatibility: Incompatibility,
        /// A counterexample.
        example: Counterexample,
    },
    /// The signature that the library declares for an implementation is invalid.
    #[error("the signature of the implementation of `{tool}` cannot be read: {why}")]
    NoSignature {
        /// The tool.
        tool: SmolStr,
        /// The reason.
        why: String,
    },
    /// An MCP server describes a tool or its parameters in other words. The library is bound anyway.
    #[error("the MCP server describes {what} in other words than the specification")]
    OtherWording {
        /// The tool.
        tool: SmolStr,
        /// The names of what is described in other words.
        what: String,
    },
    /// An MCP server gives another hint for a tool than the specification. The library is bound
    /// anyway.
    #[error(
        "the MCP server says `{attribute}: {theirs}` of `{tool}`, and the specification does not"
    )]
    OtherHint {
        /// The tool.
        tool: SmolStr,
        /// The attribute.
        attribute: &'static str,
        /// The value that the server gives.
        theirs: bool,
    },
    /// Compatibility cannot be decided. The library is bound anyway.
    #[error(
        "cannot decide whether the implementation of `{tool}` {}: {why}",
        match .incompatibility {
            Incompatibility::Arguments => "takes all arguments that the tool allows",
            Incompatibility::Result => "gives back only what the tool allows",
        }
    )]
    Undecided {
        /// The tool.
        tool: SmolStr,
        /// The part that may be incompatible.
        incompatibility: Incompatibility,
        /// The reason.
        why: String,
    },
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
    /// The tool. `None` if the problem does not concern a single tool.
    pub fn tool(&self) -> Option<&str> {
        match self {
            Self::NoTool { implementation, .. } => Some(implementation),
            Self::NothingInjected { tool, .. } => tool.as_deref(),
            Self::FaultySource { .. } | Self::UnknownException { .. } => None,
            Self::NoImplementation { tool, .. }
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
fn show(Counterexample { value, pointer, reason }: &Counterexample) -> String {
    let place = if pointer.is_empty() { String::new() } else { format!(" at {pointer}") };
    format!("{value}{place}: {reason}")
}

/// How an implementation contradicts a tool.
fn contradiction(tool: &str, incompatibility: Incompatibility) -> String {
    match incompatibility {
        Incompatibility::Arguments => {
            format!("`{tool}` allows arguments that its implementation refuses")
        }
        Incompatibility::Result => {
            format!("the implementation of `{tool}` may give back what the tool does not")
        }
    }
}
