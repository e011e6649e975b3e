//! The JSON types that a schema accepts.

use gramc_json_schema::keywords::name as k;
use serde_json::Value;

/// A set of JSON types.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TypeSet(u8);

/// The names of the types, indexed by bit.
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

    /// The type with a name.
    pub(super) fn named(name: &str) -> Option<Self> {
        NAMES.iter().position(|known| *known == name).map(|at| Self(1 << at))
    }

    /// The types in a schema's `type`, if it is valid.
    pub(super) fn declared(schema: &Value) -> Option<Self> {
        schema.get(k::TYPE).and_then(Self::of_keyword)
    }

    /// The types in a schema's `type`, or else those of its union members. All types if unknown.
    pub(super) fn declared_or_united(schema: &Value, depth: usize) -> Self {
        let alternatives = schema.get(k::ANY_OF).or_else(|| schema.get(k::ONE_OF));
        match (Self::declared(schema), alternatives) {
            (Some(types), _) => types,
            (None, Some(Value::Array(parts)))
                if depth < gramc_json_schema::text::MAX_SCHEMA_LEVELS =>
            {
                parts
                    .iter()
                    .map(|part| Self::declared_or_united(part, depth + 1))
                    .fold(Self::NONE, Self::or)
            }
            _ => Self::ALL,
        }
    }

    /// The types in a value of `type`. `None` if it is not valid.
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
                // 2.0 is also an integer.
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

    /// Whether `other` is a subset.
    pub(super) const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether a value can have a type of both sets.
    pub(super) fn meets(self, other: Self) -> bool {
        self.and(other) != Self::NONE
    }

    /// The types of values that both sets accept.
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

    /// The types as singleton sets.
    pub(super) fn each(self) -> impl Iterator<Item = Self> {
        (0..NAMES.len()).map(|at| Self(1 << at)).filter(move |one| self.has(*one))
    }

    /// The names of the types.
    pub(super) fn names(self) -> impl Iterator<Item = &'static str> {
        (0..NAMES.len()).filter(move |at| self.0 >> at & 1 == 1).map(|at| NAMES[at])
    }

    /// The value of `type`: a name, or a list of names.
    pub(super) fn keyword(self) -> Value {
        let mut names = self.names();
        match (names.next(), names.next()) {
            (Some(name), None) => name.into(),
            _ => self.names().map(Value::from).collect(),
        }
    }
}
