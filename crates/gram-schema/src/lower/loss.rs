//! What a target could not hold, and what became of it.

use std::fmt;

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::Value;

/// Something of a tool that the target could not hold as it stood.
///
/// It serializes as an object with the keys `tool`, `path`, `constraint`, `value` and `became`,
/// and `sentence`, `to` or `reason` where there is one.
#[derive(Debug, Clone, PartialEq)]
pub struct Loss {
    /// The tool, by its own name.
    pub tool: String,
    /// Where in the original schema, keys and numbers joined by dots: `properties.limit.minimum`.
    /// A key that has dots or brackets itself is quoted, as in `properties["a.b"]`.
    pub path: String,
    /// What could not be held: a keyword, or `name` for the tool's own name and `key` for a
    /// property's.
    pub constraint: String,
    /// What it said.
    pub value: Value,
    /// What became of it.
    pub became: Became,
}

/// What became of something that a target could not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Became {
    /// A sentence in a description.
    Description(String),
    /// A name or key was changed.
    Renamed {
        /// What it became.
        to: String,
    },
    /// The place takes text that holds JSON.
    JsonText,
    /// An optional property is required, and takes null where it would be left out.
    Nullable,
    /// Exactly one of several became any of several.
    AnyOf,
    /// What was referred to stands in its place.
    Inlined,
    /// Another keyword that allows the same values.
    Rewritten(String),
    /// The object takes no properties but those that it names.
    Closed,
    /// Nothing. The reason says why nothing is missing.
    Dropped(&'static str),
}

impl Became {
    /// The word by which JSON names it.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Description(_) => "description",
            Self::Renamed { .. } => "renamed",
            Self::JsonText => "json-text",
            Self::Nullable => "nullable",
            Self::AnyOf => "any-of",
            Self::Inlined => "inlined",
            Self::Rewritten(_) => "rewritten",
            Self::Closed => "closed",
            Self::Dropped(_) => "dropped",
        }
    }
}

impl Serialize for Loss {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("tool", &self.tool)?;
        map.serialize_entry("path", &self.path)?;
        map.serialize_entry("constraint", &self.constraint)?;
        map.serialize_entry("value", &self.value)?;
        map.serialize_entry("became", self.became.name())?;
        match &self.became {
            Became::Description(sentence) => map.serialize_entry("sentence", sentence)?,
            Became::Renamed { to } | Became::Rewritten(to) => map.serialize_entry("to", to)?,
            Became::Dropped(reason) => map.serialize_entry("reason", reason)?,
            _ => {}
        }
        map.end()
    }
}

/// The most characters of a value that a sentence about a loss shows.
const SHOWN: usize = 80;

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { tool, path, constraint, value, became } = self;
        let place = if path.is_empty() { "its parameters" } else { path };
        if let Became::Renamed { to } = became {
            return write!(f, "{tool}: {place} is renamed to `{to}`");
        }
        let text = value.to_string();
        let shown: String = text.chars().take(SHOWN).collect();
        let cut = if shown.len() < text.len() { "…" } else { "" };
        write!(f, "{tool}: {place}: `{constraint}: {shown}{cut}` ")?;
        match became {
            Became::Description(sentence) => {
                write!(f, "became a sentence of the description: {sentence}")
            }
            Became::Renamed { .. } => Ok(()),
            Became::JsonText => write!(f, "became a string that contains JSON"),
            Became::Nullable => write!(f, "became required, with null if omitted"),
            Became::AnyOf => write!(f, "became `anyOf`"),
            Became::Inlined => write!(f, "was inlined"),
            Became::Rewritten(to) => write!(f, "became `{to}`"),
            Became::Closed => write!(f, "is lost: only the named properties can be given"),
            Became::Dropped(reason) => write!(f, "was left out: {reason}"),
        }
    }
}

/// The loss of a name or key that became another.
pub(super) fn renamed(tool: &str, path: &str, from: &str, to: &str) -> Loss {
    Loss {
        tool: tool.to_owned(),
        path: path.to_owned(),
        constraint: if path == "name" { "name" } else { "key" }.to_owned(),
        value: Value::from(from),
        became: Became::Renamed { to: to.to_owned() },
    }
}
