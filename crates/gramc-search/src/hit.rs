//! What a search finds.

use serde::Serialize;

/// A tool that a search found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Hit {
    /// Its name.
    pub tool: String,
    /// The name of the source that declares it.
    pub source: String,
    /// How well it matches, from 0 to 1.
    pub score: f32,
    /// How it matches.
    #[serde(rename = "match")]
    pub kind: MatchKind,
    /// Its signature as gram text. Empty if it is not known.
    pub signature: String,
    /// The required parameters that the query does not supply.
    pub missing: Vec<String>,
    /// The parameters of the query that the tool does not take.
    pub unused: Vec<String>,
    /// What it does.
    #[serde(skip)]
    pub description: String,
}

/// How a tool matches a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum MatchKind {
    /// It has the same types, whatever the names of its parameters.
    Exact,
    /// The query supplies all that it requires, and its result is one that the query wants.
    Fits,
    /// Some of its types match.
    Partial,
    /// Its words match.
    #[default]
    Words,
}

impl MatchKind {
    /// Its name in output.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Fits => "fits",
            Self::Partial => "partial",
            Self::Words => "words",
        }
    }
}
