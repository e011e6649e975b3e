//! The types of values that a schema takes.

use serde_json::Value;

/// A set of JSON's types.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TypeSet(u8);

/// The names of the types, each at the place of its bit.
const NAMES: [&str; 7] = ["string", "integer", "number", "boolean", "object", "array", "null"];

impl TypeSet {
    pub(super) const NONE: Self = Self(0);
    pub(super) const ALL: Self = Self(0x7f);
    pub(super) const STRING: Self = Self(1);
    pub(super) const INTEGER: Self = Self(2);
    pub(super) const NUMBER: Self = Self(4);
    pub(super) const BOOLEAN: Self = Self(8);
    pub(super) const OBJECT: Self = Self(16);
    pub(super) const ARRAY: Self = Self(32);
    pub(super) const NULL: Self = Self(64);

    /// The type of that name.
    pub(super) fn named(name: &str) -> Option<Self> {
        NAMES.iter().position(|known| *known == name).map(|at| Self(1 << at))
    }

    /// What the schema's `type` says, if there is one.
    pub(super) fn declared(schema: &Value) -> Option<Self> {
        schema.get("type").and_then(Self::of_keyword)
    }

    /// What the schema's `type` says, or else what those of its alternatives say. In doubt it is
    /// all types.
    pub(super) fn declared_or_united(schema: &Value, depth: usize) -> Self {
        let alternatives = schema.get("anyOf").or_else(|| schema.get("oneOf"));
        match (Self::declared(schema), alternatives) {
            (Some(types), _) => types,
            (None, Some(Value::Array(parts))) if depth < super::limits::MAX_DEPTH => parts
                .iter()
                .map(|part| Self::declared_or_united(part, depth + 1))
                .fold(Self::NONE, Self::or),
            _ => Self::ALL,
        }
    }

    /// What the value of `type` says, if it says something.
    pub(super) fn of_keyword(value: &Value) -> Option<Self> {
        match value {
            Value::String(name) => Self::named(name),
            Value::Array(names) => {
                let types = names.iter().filter_map(Value::as_str).filter_map(Self::named);
                Some(types.fold(Self::NONE, Self::or)).filter(|types| *types != Self::NONE)
            }
            _ => None,
        }
    }

    /// The type of a value.
    pub(super) fn of_value(value: &Value) -> Self {
        match value {
            Value::Null => Self::NULL,
            Value::Bool(_) => Self::BOOLEAN,
            Value::Number(number) if number.is_i64() || number.is_u64() => Self::INTEGER,
            Value::Number(number) if number.as_f64().is_some_and(|n| n.fract() == 0.0) => {
                // 2.0 is an integer, too.
                Self::INTEGER
            }
            Value::Number(_) => Self::NUMBER,
            Value::String(_) => Self::STRING,
            Value::Array(_) => Self::ARRAY,
            Value::Object(_) => Self::OBJECT,
        }
    }

    /// Whether a value has one of the types.
    pub(super) fn accepts(self, value: &Value) -> bool {
        self.meets(Self::of_value(value))
    }

    #[must_use]
    pub(super) const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether all of the other's are among these.
    pub(super) const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether a value can have a type of both.
    pub(super) fn meets(self, other: Self) -> bool {
        self.and(other) != Self::NONE
    }

    /// The types of the values that are in both sets.
    #[must_use]
    pub(super) fn and(self, other: Self) -> Self {
        let widened =
            |types: Self| if types.has(Self::NUMBER) { types.or(Self::INTEGER) } else { types };
        let both = Self(widened(self).0 & widened(other).0);
        if both.has(Self::NUMBER) { both.without(Self::INTEGER) } else { both }
    }

    #[must_use]
    pub(super) const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    pub(super) const fn count(self) -> u32 {
        self.0.count_ones()
    }

    /// Each of the types, by itself.
    pub(super) fn each(self) -> impl Iterator<Item = Self> {
        (0..NAMES.len()).map(|at| Self(1 << at)).filter(move |one| self.has(*one))
    }

    /// The names of the types.
    pub(super) fn names(self) -> impl Iterator<Item = &'static str> {
        (0..NAMES.len()).filter(move |at| self.0 >> at & 1 == 1).map(|at| NAMES[at])
    }

    /// What `type` says of them: a name, or a list of names.
    pub(super) fn keyword(self) -> Value {
        let mut names = self.names();
        match (names.next(), names.next()) {
            (Some(name), None) => name.into(),
            _ => self.names().map(Value::from).collect(),
        }
    }
}
