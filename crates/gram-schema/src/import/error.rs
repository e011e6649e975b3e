//! Why a text cannot be imported.

use std::fmt;

/// A place that is kept word for word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerbatimPlace {
    /// The tool; for an entry of `$defs` that several tools have, the first of them.
    pub tool: String,
    /// Where in its schema: `properties.filter.items`; empty for the whole schema. A place in the
    /// schema of its result begins with `outputSchema`.
    pub path: String,
    /// Why, as a sentence without its full stop.
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

/// Why a text cannot be imported.
#[derive(Debug)]
pub enum ImportError {
    /// The text is no JSON, or nests deeper than 128 levels.
    Json(serde_json::Error),
    /// There is no text, or nothing but white space.
    Empty,
    /// The JSON is nothing that holds tools: what was found.
    Unrecognised(String),
    /// The JSON is not what it was said to be: what was wanted, and what was found.
    Mismatch(&'static str, String),
    /// A tool has no name: its place in its list, from 1 on.
    Nameless(usize),
    /// A schema belongs in this place, and something else stands there.
    NoSchema(VerbatimPlace),
    /// The container and one of its tools have the same name.
    SameName(String),
    /// The server answered with an error: what it said.
    Refused(String),
}

impl fmt::Display for ImportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Json(error) => write!(f, "invalid JSON: {error}"),
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
