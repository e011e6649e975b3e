//! Constraints that a target does not support, and their replacements.

use std::fmt;

use gramc_json_schema::keywords::Keyword;
use serde::Serialize;
use serde_json::Value;

/// A part of a tool definition that the target does not support.
///
/// It serializes as an object with the keys `tool`, `path`, `constraint`, `value` and `became`, and
/// with `sentence`, `to` or `reason` if present.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
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
    #[serde(flatten)]
    pub became: Became,
}

/// How an unsupported constraint was replaced.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
#[serde(tag = "became", rename_all = "kebab-case")]
#[allow(missing_docs, reason = "each field is named after its content")]
pub enum Became {
    /// A sentence in a description.
    Description { sentence: String },
    /// A name or key was changed.
    Renamed { to: String },
    /// The value is a string of JSON text.
    JsonText,
    /// An optional property is required, and null means that it is omitted.
    Nullable,
    /// `oneOf` became `anyOf`.
    AnyOf,
    /// A reference or `allOf` was inlined.
    Inlined,
    /// Another keyword that accepts the same values.
    Rewritten { to: String },
    /// The value is a property of an object.
    Wrapped { to: &'static str },
    /// The object accepts only its named properties.
    Closed,
    /// Fewer values can be given than the constraint accepts.
    Narrowed { reason: &'static str },
    /// The constraint was dropped, and nothing is lost.
    Dropped { reason: &'static str },
    /// The constraint was dropped, and the model is not told of it.
    Lost { reason: &'static str },
}

/// How a loss changes the set of values that a schema accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Effect {
    /// Values that the original refuses are accepted.
    Wider,
    /// The same values are accepted, possibly in another form.
    Equal,
    /// Values that the original accepts are refused.
    Narrower,
}

impl Loss {
    /// How the loss changes the set of accepted values.
    pub fn effect(&self) -> Effect {
        match &self.became {
            Became::Description { .. } | Became::Lost { .. }
                if Keyword::of(&self.constraint).is_annotation() =>
            {
                Effect::Equal
            }
            Became::Description { .. } | Became::Lost { .. } | Became::JsonText | Became::AnyOf => {
                Effect::Wider
            }
            Became::Renamed { .. }
            | Became::Nullable
            | Became::Inlined
            | Became::Rewritten { .. }
            | Became::Wrapped { .. }
            | Became::Dropped { .. } => Effect::Equal,
            Became::Closed | Became::Narrowed { .. } => Effect::Narrower,
        }
    }
}

impl Became {
    pub(super) fn rewritten(to: impl Into<String>) -> Self {
        Self::Rewritten { to: to.into() }
    }

    pub(crate) const fn dropped(reason: &'static str) -> Self {
        Self::Dropped { reason }
    }

    pub(crate) fn sentence(sentence: impl Into<String>) -> Self {
        Self::Description { sentence: sentence.into() }
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
        if let Became::Wrapped { to } = became {
            return write!(f, "{tool}: the value became the property `{to}` of an object");
        }
        if let (Became::Narrowed { reason }, Value::Null) = (became, value) {
            return write!(f, "{tool}: {place} is narrowed: {reason}");
        }
        if *became == Became::Closed && value.is_null() {
            return write!(f, "{tool}: {place} is lost: only the named properties can be given");
        }
        let text = value.to_string();
        let shown: String = text.chars().take(SHOWN).collect();
        let cut = if shown.len() < text.len() { "…" } else { "" };
        write!(f, "{tool}: {place}: `{constraint}: {shown}{cut}` ")?;
        match became {
            Became::Description { sentence } => {
                write!(f, "became a sentence of the description: {sentence}")
            }
            Became::Renamed { .. } | Became::Wrapped { .. } => Ok(()),
            Became::JsonText => write!(f, "became a string that contains JSON"),
            Became::Nullable => write!(f, "became required, with null if omitted"),
            Became::AnyOf => write!(f, "became `anyOf`"),
            Became::Inlined => write!(f, "was inlined"),
            Became::Rewritten { to } => write!(f, "became `{to}`"),
            Became::Closed => write!(f, "is lost: only the named properties can be given"),
            Became::Narrowed { reason } => write!(f, "is narrowed: {reason}"),
            Became::Dropped { reason } => write!(f, "was left out: {reason}"),
            Became::Lost { reason } => write!(f, "is lost: {reason}"),
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
