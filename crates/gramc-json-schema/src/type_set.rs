//! Sets of JSON types.

use serde_json::Value;

use crate::keywords::name as k;
use crate::numbers::is_integer;

/// A set of JSON types.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TypeSet(u8);

/// The names of the types, in the order in which schemas list them.
const NAMES: [(&str, TypeSet); 7] = [
    ("string", TypeSet::STRING),
    ("integer", TypeSet::INTEGER),
    ("number", TypeSet::NUMBER),
    ("boolean", TypeSet::BOOLEAN),
    ("object", TypeSet::OBJECT),
    ("array", TypeSet::ARRAY),
    ("null", TypeSet::NULL),
];

impl TypeSet {
    /// No type.
    pub const NONE: Self = Self(0);
    /// All types.
    pub const ALL: Self = Self(0x7f);
    /// Strings.
    pub const STRING: Self = Self(1);
    /// Whole numbers, also `2.0`.
    pub const INTEGER: Self = Self(2);
    /// Numbers that are not whole.
    pub const FRACTION: Self = Self(4);
    /// All numbers.
    pub const NUMBER: Self = Self(6);
    /// Booleans.
    pub const BOOLEAN: Self = Self(8);
    /// Objects.
    pub const OBJECT: Self = Self(16);
    /// Arrays.
    pub const ARRAY: Self = Self(32);
    /// `null`.
    pub const NULL: Self = Self(64);

    /// The type with a name.
    pub fn named(name: &str) -> Option<Self> {
        NAMES.iter().find(|(known, _)| *known == name).map(|(_, types)| *types)
    }

    /// The types in a schema's `type`, if it is valid.
    pub fn declared(schema: &Value) -> Option<Self> {
        schema.get(k::TYPE).and_then(Self::of_keyword)
    }

    /// The types in a value of `type`, without unknown names. `None` if it has no known name.
    pub fn of_keyword(value: &Value) -> Option<Self> {
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
    pub fn of_value(value: &Value) -> Self {
        match value {
            Value::Null => Self::NULL,
            Value::Bool(_) => Self::BOOLEAN,
            Value::Number(number) if is_integer(number) => Self::INTEGER,
            Value::Number(_) => Self::FRACTION,
            Value::String(_) => Self::STRING,
            Value::Array(_) => Self::ARRAY,
            Value::Object(_) => Self::OBJECT,
        }
    }

    /// The types that a schema can name so that it accepts some values.
    pub fn of_values<'v>(values: impl IntoIterator<Item = &'v Value>) -> Self {
        let types = values.into_iter().map(Self::of_value).fold(Self::NONE, Self::or);
        if types.meets(Self::FRACTION) { types.or(Self::NUMBER) } else { types }
    }

    /// Whether a value has one of the types.
    pub fn accepts(self, value: &Value) -> bool {
        self.meets(Self::of_value(value))
    }

    /// The union of two sets.
    #[must_use]
    pub const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The intersection of two sets.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// The set without the types of another set.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Whether another set is a subset.
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether two sets have a type in common.
    pub const fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// The number of names that a schema needs for the set.
    pub fn count(self) -> usize {
        self.names().count()
    }

    /// The types that have a name, one by one.
    pub fn each(self) -> impl Iterator<Item = Self> {
        self.named_types().map(|(_, types)| types)
    }

    /// The names of the types.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        self.named_types().map(|(name, _)| name)
    }

    fn named_types(self) -> impl Iterator<Item = (&'static str, Self)> {
        // The name of all numbers includes that of the whole ones.
        let hidden = if self.meets(Self::FRACTION) { Self::INTEGER } else { Self::NUMBER };
        NAMES.into_iter().filter(move |(_, types)| *types != hidden && self.meets(*types))
    }

    /// The value of `type`: a name, or a list of names.
    pub fn keyword(self) -> Value {
        let mut names = self.names();
        match (names.next(), names.next()) {
            (Some(name), None) => name.into(),
            _ => self.names().map(Value::from).collect(),
        }
    }
}
