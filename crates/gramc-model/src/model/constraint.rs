//! Constraints of types.

use serde::{Serialize, Serializer};
use serde_json::{Number, Value};
use smol_str::SmolStr;

use super::Type;
use crate::attributes;

/// A constraint of a type.
#[derive(Debug, Clone, PartialEq)]
pub enum Constraint {
    /// The only values.
    Enum(Vec<Value>),
    /// The only value.
    Const(Box<Value>),
    /// The least number.
    Minimum(Number),
    /// The greatest number.
    Maximum(Number),
    /// A number that every value lies above.
    Above(Number),
    /// A number that every value lies below.
    Below(Number),
    /// A number that every value is a multiple of.
    MultipleOf(Number),
    /// The least number of characters.
    MinLength(u64),
    /// The greatest number of characters.
    MaxLength(u64),
    /// A regular expression that finds something in every value.
    Pattern(SmolStr),
    /// The name of a format of text.
    Format(SmolStr),
    /// The least number of items or entries.
    MinSize(u64),
    /// The greatest number of items or entries.
    MaxSize(u64),
    /// No item may come twice.
    Unique,
    /// What the names of an object's entries have to be.
    Keys(Box<Type>),
}

/// The kinds of constraints, in the order in which a type lists them.
#[allow(missing_docs, reason = "the names are those of [`Constraint`]")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ConstraintKind {
    Enum,
    Const,
    Minimum,
    Maximum,
    Above,
    Below,
    MultipleOf,
    MinLength,
    MaxLength,
    Pattern,
    Format,
    MinSize,
    MaxSize,
    Unique,
    Keys,
}

impl ConstraintKind {
    /// All of them.
    pub const ALL: [Self; 15] = [
        Self::Enum,
        Self::Const,
        Self::Minimum,
        Self::Maximum,
        Self::Above,
        Self::Below,
        Self::MultipleOf,
        Self::MinLength,
        Self::MaxLength,
        Self::Pattern,
        Self::Format,
        Self::MinSize,
        Self::MaxSize,
        Self::Unique,
        Self::Keys,
    ];
}

/// The value of a constraint.
#[allow(missing_docs, reason = "the names are those of the types")]
#[derive(Debug, Clone, Copy)]
pub enum ConstraintValue<'c> {
    Values(&'c [Value]),
    Value(&'c Value),
    Number(&'c Number),
    Count(u64),
    Text(&'c str),
    Flag,
    Type(&'c Type),
}

impl Serialize for ConstraintValue<'_> {
    /// Writes the value as JSON; a type, which has no JSON of its own, as null.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Values(values) => values.serialize(serializer),
            Self::Value(value) => value.serialize(serializer),
            Self::Number(number) => number.serialize(serializer),
            Self::Count(count) => serializer.serialize_u64(*count),
            Self::Text(text) => serializer.serialize_str(text),
            Self::Flag => serializer.serialize_bool(true),
            Self::Type(_) => serializer.serialize_unit(),
        }
    }
}

impl Constraint {
    /// Adds a constraint to others in their order. It replaces one of its kind.
    pub fn add(all: &mut Vec<Self>, constraint: Self) {
        match all.binary_search_by(|known| known.kind().cmp(&constraint.kind())) {
            Ok(at) => all[at] = constraint,
            Err(at) => {
                // Most types have one or two.
                all.reserve_exact(1);
                all.insert(at, constraint);
            }
        }
    }

    /// Whether the same attribute sets another constraint, so that one replaces the other. Both
    /// bounds of a range are set by one attribute.
    pub fn is_like(&self, other: &Self) -> bool {
        let (own, other) = (self.kind(), other.kind());
        own == other
            || attributes::of_constraint(own)
                .is_some_and(|(spec, _)| spec.constraints.iter().any(|one| one.kind == other))
    }

    /// Its kind.
    pub fn kind(&self) -> ConstraintKind {
        use ConstraintKind as K;
        match self {
            Self::Enum(_) => K::Enum,
            Self::Const(_) => K::Const,
            Self::Minimum(_) => K::Minimum,
            Self::Maximum(_) => K::Maximum,
            Self::Above(_) => K::Above,
            Self::Below(_) => K::Below,
            Self::MultipleOf(_) => K::MultipleOf,
            Self::MinLength(_) => K::MinLength,
            Self::MaxLength(_) => K::MaxLength,
            Self::Pattern(_) => K::Pattern,
            Self::Format(_) => K::Format,
            Self::MinSize(_) => K::MinSize,
            Self::MaxSize(_) => K::MaxSize,
            Self::Unique => K::Unique,
            Self::Keys(_) => K::Keys,
        }
    }

    /// Its value.
    pub fn value(&self) -> ConstraintValue<'_> {
        use ConstraintValue as V;
        match self {
            Self::Enum(values) => V::Values(values),
            Self::Const(value) => V::Value(value),
            Self::Minimum(number)
            | Self::Maximum(number)
            | Self::Above(number)
            | Self::Below(number)
            | Self::MultipleOf(number) => V::Number(number),
            Self::MinLength(count)
            | Self::MaxLength(count)
            | Self::MinSize(count)
            | Self::MaxSize(count) => V::Count(*count),
            Self::Pattern(text) | Self::Format(text) => V::Text(text),
            Self::Unique => V::Flag,
            Self::Keys(ty) => V::Type(ty),
        }
    }
}
