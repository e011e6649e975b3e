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
        "`{tool}` has no implementation in the library{}{}",
        if *.has_sources { " or its MCP servers" } else { "" },
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
        "several MCP servers of the library offer `{tool}`, {servers}: add an implementation of \
         the tool, or use `only`, `except` or `prefix`"
    )]
    OfferedTwice {
        /// The tool.
        tool: SmolStr,
        /// The servers.
        servers: String,
    },
    /// An MCP server of which the library takes all tools cannot be used.
    #[error("cannot run the tools of `*`: {why}")]
    FaultySource {
        /// The reason.
        why: String,
    },
    /// A server does not have a tool that the library excludes. The library is bound anyway.
    #[error("the MCP server {server} has no tool `{name}` to exclude with `except`{}", suggestion(.nearest.as_deref()))]
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
    #[error("cannot run `{tool}`: {why}")]
    Faulty {
        /// The tool.
        tool: SmolStr,
        /// The reason.
        why: String,
    },
    /// An injected parameter has no value.
    #[error("no value for the injected parameter `{parameter}` of `{tool}`: {why}")]
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
        "the value of the injected parameter `{parameter}` of `{tool}` does not match {wanted}"
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
        "`inject` sets `{parameter}`, but {} has {} injected parameter of this name{}",
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
    #[error("cannot parse the signature of the implementation of `{tool}`: {why}")]
    NoSignature {
        /// The tool.
        tool: SmolStr,
        /// The reason.
        why: String,
    },
    /// An MCP server's description of a tool or its parameters differs. The library is bound anyway.
    #[error("the MCP server's description of {what} differs from the specification")]
    OtherWording {
        /// The tool.
        tool: SmolStr,
        /// The names of the tool or its parameters.
        what: String,
    },
    /// An MCP server gives another hint for a tool than the specification. The library is bound
    /// anyway.
    #[error("the MCP server sets `{attribute}: {theirs}` for `{tool}`, unlike the specification")]
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
            Incompatibility::Arguments => "accepts all arguments of the tool",
            Incompatibility::Result => "returns only results that the tool allows",
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
            format!("the implementation of `{tool}` rejects arguments that the tool allows")
        }
        Incompatibility::Result => {
            format!(
                "the implementation of `{tool}` may return results that the tool does not allow"
            )
        }
    }
}
