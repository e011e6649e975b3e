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
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// The text is not valid JSON, or nests deeper than 128 levels.
    #[error("invalid JSON: {0}")]
    Json(#[source] serde_json::Error),
    /// The text is JSON that is not usable: the line, and what is wrong.
    #[error("invalid JSON: {fault} at line {line}")]
    Text {
        /// The line, starting at 1.
        line: usize,
        /// What is wrong.
        fault: gramc_json_schema::text::TextFault,
    },
    /// The text is empty or only whitespace.
    #[error("the input is empty")]
    Empty,
    /// The JSON contains no tools: what was found.
    #[error(
        "{0} does not contain tools: expected tools in the format of MCP, OpenAI, Anthropic or \
         Gemini, or a JSON Schema of an object"
    )]
    Unrecognised(String),
    /// The JSON has another format than requested: what was expected, and what was found.
    #[error("expected {0}, found {1}")]
    Mismatch(&'static str, String),
    /// A tool has no name: its position in the list, starting at 1.
    #[error("tool {0} has no name: expected a string at `name`")]
    Nameless(usize),
    /// Another value takes the place of a schema.
    #[error(
        "tool `{}`: {} is not a JSON Schema: expected an object, true or false",
        .0.tool,
        if .0.path.is_empty() { "its schema" } else { &.0.path }
    )]
    NoSchema(VerbatimPlace),
    /// References lead to another document or nowhere: each with its tool.
    #[error("{}", lines_of(.0))]
    Unresolved(Vec<(String, UnresolvedReference)>),
    /// The container and one of its tools have the same name.
    #[error("the name `{0}` is used by a tool: choose another container name")]
    SameName(String),
    /// The server returned an error: its message.
    #[error("the server returned an error instead of tools: {0}")]
    Refused(String),
}

fn lines_of(references: &[(String, UnresolvedReference)]) -> String {
    let lines = references.iter().map(|(tool, reference)| format!("tool `{tool}`: {reference}"));
    lines.collect::<Vec<_>>().join("\n")
}
