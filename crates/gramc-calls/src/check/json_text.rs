//! Reading parsed JSON without building values.

use std::borrow::Cow;

use super::tape::{NodeKind, Tape};

/// A JSON text that was parsed, for programs that build their own values from it.
#[derive(Debug, Clone)]
pub struct JsonText<'t>(Tape<'t>);

/// A value in a [`JsonText`].
#[derive(Debug, Clone, Copy)]
pub struct JsonValue<'a> {
    tape: &'a Tape<'a>,
    at: u32,
}

/// The content of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JsonContent<'a> {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// The text of a number.
    Number(&'a str),
    /// The unescaped text of a string.
    String(Cow<'a, str>),
    /// An array, see [`JsonValue::items`].
    Array,
    /// An object, see [`JsonValue::entries`].
    Object,
}

impl<'t> JsonText<'t> {
    /// Parses a text that consists of one value. `None` if it is not JSON, or nested too deeply.
    pub fn read(text: &'t str) -> Option<Self> {
        Tape::read(text).ok().map(Self)
    }

    /// The value.
    pub fn root(&self) -> JsonValue<'_> {
        JsonValue { tape: &self.0, at: 0 }
    }
}

impl<'a> JsonValue<'a> {
    /// The content of the value.
    pub fn content(self) -> JsonContent<'a> {
        let node = self.tape.node(self.at);
        match node.kind {
            NodeKind::Null => JsonContent::Null,
            NodeKind::True => JsonContent::Bool(true),
            NodeKind::False => JsonContent::Bool(false),
            NodeKind::Number => JsonContent::Number(self.tape.raw(node)),
            NodeKind::Plain | NodeKind::Escaped => JsonContent::String(self.tape.content(node)),
            NodeKind::List => JsonContent::Array,
            NodeKind::Object => JsonContent::Object,
        }
    }

    /// The items of an array.
    pub fn items(self) -> impl Iterator<Item = Self> {
        self.tape.items(self.at).map(move |at| Self { at, ..self })
    }

    /// The keys and values of an object.
    pub fn entries(self) -> impl Iterator<Item = (Cow<'a, str>, Self)> {
        let entries = self.tape.entries(self.at);
        entries.map(move |(key, at)| (self.tape.content(self.tape.node(key)), Self { at, ..self }))
    }
}
