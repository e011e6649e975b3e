//! Constraints that a target does not support, and their replacements.

use std::fmt;

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::Value;

/// A part of a tool definition that the target does not support.
///
/// It serializes as an object with the keys `tool`, `path`, `constraint`, `value` and `became`, and
/// with `sentence`, `to` or `reason` if present.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Loss {
    /// The tool's name in the specification.
    pub tool: String,
    /// The path in the original schema, with keys and indices joined by dots:
    /// `properties.limit.minimum`. A key with dots or brackets is quoted: `properties["a.b"]`.
    pub path: String,
    /// The unsupported keyword, or `name` for a tool name, or `key` for a property key.
    pub constraint: String,
    /// The original value. Null if the keyword was not written, and its default is lost.
    pub value: Value,
    /// The replacement.
    pub became: Became,
}

/// How an unsupported constraint was replaced.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Became {
    /// A sentence in a description.
    Description(String),
    /// A name or key was changed.
    Renamed {
        /// The new name.
        to: String,
    },
    /// The value is a string of JSON text.
    JsonText,
    /// An optional property is required, and null means that it is omitted.
    Nullable,
    /// `oneOf` became `anyOf`.
    AnyOf,
    /// A reference or `allOf` was inlined.
    Inlined,
    /// Another keyword that accepts the same values.
    Rewritten(String),
    /// The value is a property of an object.
    Wrapped {
        /// The key of the property.
        key: &'static str,
    },
    /// The object accepts only its named properties.
    Closed,
    /// Fewer values can be given than the constraint accepts. The reason states which.
    Narrowed(&'static str),
    /// The constraint was dropped. The reason states why nothing is lost.
    Dropped(&'static str),
}

impl Became {
    /// The name in JSON output.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Description(_) => "description",
            Self::Renamed { .. } => "renamed",
            Self::JsonText => "json-text",
            Self::Nullable => "nullable",
            Self::AnyOf => "any-of",
            Self::Inlined => "inlined",
            Self::Rewritten(_) => "rewritten",
            Self::Wrapped { .. } => "wrapped",
            Self::Closed => "closed",
            Self::Narrowed(_) => "narrowed",
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
            Became::Wrapped { key } => map.serialize_entry("to", key)?,
            Became::Dropped(reason) | Became::Narrowed(reason) => {
                map.serialize_entry("reason", reason)?;
            }
            _ => {}
        }
        map.end()
    }
}

/// The maximum length of a value in a message.
const SHOWN: usize = 80;

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { tool, path, constraint, value, became } = self;
        let place = if path.is_empty() { "its parameters" } else { path };
        if let Became::Renamed { to } = became {
            return write!(f, "{tool}: {place} is renamed to `{to}`");
        }
        if let Became::Wrapped { key } = became {
            return write!(f, "{tool}: the value became the property `{key}` of an object");
        }
        if *became == Became::Closed && value.is_null() {
            return write!(f, "{tool}: {place} is lost: only the named properties can be given");
        }
        let text = value.to_string();
        let shown: String = text.chars().take(SHOWN).collect();
        let cut = if shown.len() < text.len() { "…" } else { "" };
        write!(f, "{tool}: {place}: `{constraint}: {shown}{cut}` ")?;
        match became {
            Became::Description(sentence) => {
                write!(f, "became a sentence of the description: {sentence}")
            }
            Became::Renamed { .. } | Became::Wrapped { .. } => Ok(()),
            Became::JsonText => write!(f, "became a string that contains JSON"),
            Became::Nullable => write!(f, "became required, with null if omitted"),
            Became::AnyOf => write!(f, "became `anyOf`"),
            Became::Inlined => write!(f, "was inlined"),
            Became::Rewritten(to) => write!(f, "became `{to}`"),
            Became::Closed => write!(f, "is lost: only the named properties can be given"),
            Became::Narrowed(reason) => write!(f, "is narrowed: {reason}"),
            Became::Dropped(reason) => write!(f, "was left out: {reason}"),
        }
    }
}

/// The loss of a renamed tool or key.
pub(super) fn renamed(tool: &str, path: &str, from: &str, to: &str) -> Loss {
    Loss {
        tool: tool.to_owned(),
        path: path.to_owned(),
        constraint: if path == "name" { "name" } else { "key" }.to_owned(),
        value: Value::from(from),
        became: Became::Renamed { to: to.to_owned() },
    }
}
