//! An error of an import.

use std::fmt;

use gramc_json_schema::normalize::UnresolvedReference;

/// A subschema that is kept verbatim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerbatimPlace {
    /// The tool. For a shared entry of `$defs`, the first tool that has it.
    pub tool: String,
    /// The path in its schema: `properties.filter.items`, or empty for the whole schema. A path in
    /// the result schema begins with `outputSchema`.
    pub path: String,
    /// The reason, as a sentence without a final period.
    pub reason: String,
}

impl fmt::Display for VerbatimPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { tool, path, reason } = self;
        if path.is_empty() {
            return write!(f, "tool `{tool}`: the whole schema: {reason}");
        }
        write!(f, "tool `{tool}`: {path}: {reason}")
    }
}

/// An error of an import.
#[derive(Debug)]
pub enum ImportError {
    /// The text is not valid JSON, or nests deeper than 128 levels.
    Json(serde_json::Error),
    /// The text is JSON that is not usable: the line, and what is wrong.
    Text {
        /// The line, starting at 1.
        line: usize,
        /// What is wrong.
        fault: gramc_json_schema::text::TextFault,
    },
    /// The text is empty or only whitespace.
    Empty,
    /// The JSON contains no tools: what was found.
    Unrecognised(String),
    /// The JSON has another format than requested: what was expected, and what was found.
    Mismatch(&'static str, String),
    /// A tool has no name: its position in the list, starting at 1.
    Nameless(usize),
    /// Another value takes the place of a schema.
    NoSchema(VerbatimPlace),
    /// References lead to another document or nowhere: each with its tool.
    Unresolved(Vec<(String, UnresolvedReference)>),
    /// The container and one of its tools have the same name.
    SameName(String),
    /// The server returned an error: its message.
    Refused(String),
}

impl fmt::Display for ImportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Json(error) => write!(f, "invalid JSON: {error}"),
            Self::Text { line, fault } => write!(f, "invalid JSON: {fault} at line {line}"),
            Self::Empty => write!(f, "the input is empty"),
            Self::Unrecognised(found) => write!(
                f,
                "{found} does not contain tools: expected tools in the format of MCP, OpenAI, \
                 Anthropic or Gemini, or a JSON Schema of an object"
            ),
            Self::Mismatch(wanted, found) => write!(f, "expected {wanted}, found {found}"),
            Self::Nameless(at) => write!(f, "tool {at} has no name: expected a string at `name`"),
            Self::NoSchema(VerbatimPlace { tool, path, .. }) => {
                let place = if path.is_empty() { "its schema" } else { path };
                write!(
                    f,
                    "tool `{tool}`: {place} is not a JSON Schema: expected an object, true or false"
                )
            }
            Self::Unresolved(references) => {
                let line = |(tool, reference): &(String, UnresolvedReference)| {
                    format!("tool `{tool}`: {reference}")
                };
                write!(f, "{}", references.iter().map(line).collect::<Vec<_>>().join("\n"))
            }
            Self::SameName(name) => {
                write!(f, "the name `{name}` is used by a tool: choose another container name")
            }
            Self::Refused(message) => {
                write!(f, "the server returned an error instead of tools: {message}")
            }
        }
    }
}

impl std::error::Error for ImportError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Json(error) => Some(error),
            _ => None,
        }
    }
}
