//! A received value beside the shape that it is checked against.

use std::borrow::Cow;

use gramc_json_schema::path::Path;
use serde_json::Value;

use super::shape::ShapeId;
use super::tape::{Node, NodeKind, Tape};

/// A received value, the shape to check it against, and its path in the call.
#[derive(Clone, Copy)]
pub(crate) struct Received<'a> {
    pub(crate) tape: &'a Tape<'a>,
    /// The index of its node.
    pub(crate) at: u32,
    pub(crate) shape: ShapeId,
    pub(crate) path: &'a Path<'a>,
}

impl<'a> Received<'a> {
    /// The whole of a text.
    pub(crate) fn root(tape: &'a Tape<'a>, shape: ShapeId) -> Self {
        Self { tape, at: 0, shape, path: &Path::ROOT }
    }

    pub(super) fn part<'b>(self, at: u32, shape: ShapeId, path: &'b Path<'b>) -> Received<'b>
    where
        'a: 'b,
    {
        Received { tape: self.tape, at, shape, path }
    }

    /// The same value, to be checked against another shape.
    pub(super) fn against(self, shape: ShapeId) -> Self {
        Self { shape, ..self }
    }

    /// What to check in place of the value.
    pub(super) fn replace_with<'b>(self, tape: &'b Tape<'b>) -> Received<'b>
    where
        'a: 'b,
    {
        Received { tape, at: 0, ..self }
    }

    pub(super) fn node(self) -> Node {
        self.tape.node(self.at)
    }

    /// The source text, without the quotes of a string.
    pub(super) fn raw(self) -> &'a str {
        self.tape.raw(self.node())
    }

    /// The source text.
    pub(super) fn json(self) -> &'a str {
        self.tape.json(self.node())
    }

    pub(super) fn content(self) -> Cow<'a, str> {
        self.tape.content(self.node())
    }
}

/// Whether a value counts as absent for a pinned parameter: null or an empty string.
pub(super) fn leaves_out(received: Received<'_>) -> bool {
    let kind = received.node().kind;
    kind == NodeKind::Null || (kind == NodeKind::Plain && received.raw().is_empty())
}

/// Whether a received value equals another one.
pub(super) fn is_value(received: Received<'_>, value: &Value) -> bool {
    serde_json::from_str::<Value>(received.json())
        .is_ok_and(|sent| gramc_json_schema::values::same(&sent, value))
}
