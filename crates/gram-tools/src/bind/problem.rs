//! Problems of binding a library to a specification.

use std::fmt;

use smol_str::SmolStr;

use json_schema_kit::containment::Counterexample;

/// The implementation of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Binding<'b> {
    /// The tool.
    pub tool: &'b str,
    /// The kind of implementation: `Command`, `Http`, …. `None` without an implementation.
    pub implementation: Option<&'static str>,
}

/// Why a library cannot be bound to a specification.
#[derive(Debug, Clone, PartialEq)]
pub enum BindProblem {
    /// A tool has no implementation.
    NoImplementation {
        /// The tool.
        tool: SmolStr,
    },
    /// An implementation has no tool.
    NoTool {
        /// The name of the missing tool.
        implementation: SmolStr,
        /// A suggestion of a similar name.
        nearest: Option<String>,
    },
    /// A tool has two implementations.
    Twice {
        /// The tool.
        tool: SmolStr,
    },
    /// Every call of the implementation would fail.
    Faulty {
        /// The tool.
        tool: SmolStr,
        /// The reason.
        why: String,
    },
    /// An injected parameter has no value.
    NotInjected {
        /// The tool.
        tool: SmolStr,
        /// The parameter.
        parameter: SmolStr,
        /// The reason.
        why: String,
    },
    /// The injected value is invalid for its parameter.
    InvalidInjected {
        /// The tool.
        tool: SmolStr,
        /// The parameter.
        parameter: SmolStr,
        /// The expected value.
        wanted: String,
    },
    /// A value is supplied for an unknown injected parameter. The library is bound anyway.
    NothingInjected {
        /// The tool. `None` if no tool of the library has such a parameter.
        tool: Option<SmolStr>,
        /// The name of the unknown parameter.
        parameter: SmolStr,
        /// A suggestion of a similar name.
        nearest: Option<String>,
    },
    /// The implementation's declared interface is incompatible with the specification.
    Incompatible {
        /// The tool.
        tool: SmolStr,
        /// The incompatible part.
        incompatibility: Incompatibility,
        /// A counterexample.
        example: Counterexample,
    },
    /// The signature that the library declares for an implementation is invalid.
    NoSignature {
        /// The tool.
        tool: SmolStr,
        /// The reason.
        why: String,
    },
    /// Compatibility cannot be decided. The library is bound anyway.
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
            Self::NoImplementation { tool }
            | Self::Twice { tool }
            | Self::Faulty { tool, .. }
            | Self::NotInjected { tool, .. }
            | Self::InvalidInjected { tool, .. }
            | Self::Incompatible { tool, .. }
            | Self::NoSignature { tool, .. }
            | Self::Undecided { tool, .. } => Some(tool),
        }
    }
}

impl fmt::Display for BindProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = |example: &Counterexample| match example.pointer.as_str() {
            "" => String::new(),
            pointer => format!(" at {pointer}"),
        };
        match self {
            Self::NoImplementation { tool } => {
                write!(f, "`{tool}` has no implementation: the library does not name it")
            }
            Self::NoTool { implementation, nearest } => {
                write!(f, "`{implementation}` is not a tool of the specification")?;
                nearest.as_ref().map_or(Ok(()), |nearest| write!(f, "; {nearest}"))
            }
            Self::Twice { tool } => write!(f, "`{tool}` has two implementations: keep one"),
            Self::Faulty { tool, why } => write!(f, "nothing can run `{tool}`: {why}"),
            Self::NotInjected { tool, parameter, why } => {
                write!(
                    f,
                    "nothing supplies the injected parameter `{parameter}` of `{tool}`: {why}"
                )
            }
            Self::InvalidInjected { tool, parameter, wanted } => write!(
                f,
                "what the library supplies for the injected parameter `{parameter}` of `{tool}` \
                 does not fit it: {wanted}"
            ),
            Self::NothingInjected { tool, parameter, nearest } => {
                match tool {
                    Some(tool) => write!(f, "`{tool}` has no injected parameter `{parameter}`")?,
                    None => write!(f, "no tool has an injected parameter `{parameter}`")?,
                }
                f.write_str(", which the library's `inject` names")?;
                nearest.as_ref().map_or(Ok(()), |nearest| write!(f, "; {nearest}"))
            }
            Self::Incompatible { tool, incompatibility: Incompatibility::Arguments, example } => {
                write!(
                    f,
                    "`{tool}` allows arguments that its implementation refuses: {}{}: {}",
                    example.value,
                    place(example),
                    example.reason
                )
            }
            Self::Incompatible { tool, incompatibility: Incompatibility::Result, example } => {
                write!(
                    f,
                    "the implementation of `{tool}` may give back what the tool does not: {}{}: {}",
                    example.value,
                    place(example),
                    example.reason
                )
            }
            Self::NoSignature { tool, why } => {
                write!(f, "the signature of the implementation of `{tool}` cannot be read: {why}")
            }
            Self::Undecided { tool, incompatibility, why } => {
                let what = match incompatibility {
                    Incompatibility::Arguments => "takes all arguments that the tool allows",
                    Incompatibility::Result => "gives back only what the tool allows",
                };
                write!(f, "cannot decide whether the implementation of `{tool}` {what}: {why}")
            }
        }
    }
}
