//! What keeps a library from being bound.

use std::fmt;

use smol_str::SmolStr;

use json_schema_kit::containment::Counterexample;

/// Which implementation serves a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Binding<'b> {
    /// The tool.
    pub tool: &'b str,
    /// The kind of implementation: `Command`, `Http`, …; nothing where there is none.
    pub implementation: Option<&'static str>,
}

/// Why a library and a specification do not go together.
#[derive(Debug, Clone, PartialEq)]
pub enum BindProblem {
    /// A tool has no implementation.
    NoImplementation {
        /// The tool.
        tool: SmolStr,
    },
    /// An implementation has no tool.
    NoTool {
        /// The name that it is for.
        implementation: SmolStr,
        /// The question whether a near name was meant.
        nearest: Option<String>,
    },
    /// A tool has two implementations.
    Twice {
        /// The tool.
        tool: SmolStr,
    },
    /// No call of the implementation can go well.
    Faulty {
        /// The tool.
        tool: SmolStr,
        /// Why not.
        why: String,
    },
    /// Nothing supplies an injected parameter.
    NotInjected {
        /// The tool.
        tool: SmolStr,
        /// The parameter.
        parameter: SmolStr,
        /// Why not.
        why: String,
    },
    /// What is supplied for an injected parameter does not fit it.
    InjectedMisfit {
        /// The tool.
        tool: SmolStr,
        /// The parameter.
        parameter: SmolStr,
        /// What it wants.
        wanted: String,
    },
    /// A value is supplied for an injected parameter that there is not. The library is bound all
    /// the same.
    NothingInjected {
        /// The tool; nothing where none of the library's tools has such a parameter.
        tool: Option<SmolStr>,
        /// The name that it is supplied for.
        parameter: SmolStr,
        /// The question whether a near name was meant.
        nearest: Option<String>,
    },
    /// What the implementation declares does not fit the specification.
    Misfit {
        /// The tool.
        tool: SmolStr,
        /// What does not fit.
        misfit: Misfit,
        /// A value that shows it.
        example: Counterexample,
    },
    /// The signature that the library declares for an implementation is none.
    NoSignature {
        /// The tool.
        tool: SmolStr,
        /// What is wrong with it.
        why: String,
    },
    /// Whether the implementation fits cannot be decided. The library is bound all the same.
    Undecided {
        /// The tool.
        tool: SmolStr,
        /// What may not fit.
        misfit: Misfit,
        /// Why nobody knows.
        why: String,
    },
}

/// What of a signature does not fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Misfit {
    /// The specification allows arguments that the implementation does not take.
    Arguments,
    /// The implementation gives back what the specification does not allow.
    Result,
}

impl BindProblem {
    /// The tool that is meant; nothing where no tool is.
    pub fn tool(&self) -> Option<&str> {
        match self {
            Self::NoTool { implementation, .. } => Some(implementation),
            Self::NothingInjected { tool, .. } => tool.as_deref(),
            Self::NoImplementation { tool }
            | Self::Twice { tool }
            | Self::Faulty { tool, .. }
            | Self::NotInjected { tool, .. }
            | Self::InjectedMisfit { tool, .. }
            | Self::Misfit { tool, .. }
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
                write!(f, "`{implementation}` is no tool of the specification")?;
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
            Self::InjectedMisfit { tool, parameter, wanted } => write!(
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
            Self::Misfit { tool, misfit: Misfit::Arguments, example } => write!(
                f,
                "`{tool}` allows arguments that its implementation refuses: {}{}: {}",
                example.value,
                place(example),
                example.reason
            ),
            Self::Misfit { tool, misfit: Misfit::Result, example } => write!(
                f,
                "the implementation of `{tool}` may give back what the tool does not: {}{}: {}",
                example.value,
                place(example),
                example.reason
            ),
            Self::NoSignature { tool, why } => {
                write!(f, "the signature of the implementation of `{tool}` cannot be read: {why}")
            }
            Self::Undecided { tool, misfit, why } => {
                let what = match misfit {
                    Misfit::Arguments => "takes all arguments that the tool allows",
                    Misfit::Result => "gives back only what the tool allows",
                };
                write!(f, "nobody can tell whether the implementation of `{tool}` {what}: {why}")
            }
        }
    }
}
