//! JSON Schemas compiled for repeated checks.

use std::collections::HashMap;
use std::sync::OnceLock;

use jsonschema::Validator;
use serde_json::{Number, Value};

/// The place of a shape.
pub(crate) type ShapeId = u32;

/// All shapes of one schema.
#[derive(Debug)]
pub(crate) struct Shapes {
    pub(crate) list: Vec<Shape>,
    pub(crate) root: ShapeId,
    /// Whether some shape judges a value as a whole, so that what was changed has to be judged
    /// again.
    pub(crate) delicate: bool,
    /// Whether some field is secret.
    pub(crate) secret: bool,
    /// What the host has to do with the root's entries, where the root itself is no object with
    /// rules of its own, but leads on to others.
    pub(crate) host: Option<ShapeId>,
}

impl Shapes {
    /// The kinds of values that a shape may take, as far as can be told at a glance.
    pub(crate) fn kinds(&self, id: ShapeId) -> TypeSet {
        let shape = &self.list[id as usize];
        match shape.others {
            // What leads on leads to where it ends, see `shorten`.
            Composition::Same(other) if shape.also.is_none() => {
                let other = &self.list[other as usize];
                if matches!(other.others, Composition::None) { other.kinds } else { TypeSet::ALL }
            }
            Composition::None => shape.kinds,
            _ => TypeSet::ALL,
        }
    }
}

/// The kinds of JSON values, as a set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TypeSet(u8);

impl TypeSet {
    pub(crate) const NULL: Self = Self(1);
    pub(crate) const BOOLEAN: Self = Self(2);
    pub(crate) const INTEGER: Self = Self(4);
    /// A number that is not whole.
    pub(crate) const FRACTION: Self = Self(8);
    pub(crate) const NUMBER: Self = Self(12);
    pub(crate) const TEXT: Self = Self(16);
    pub(crate) const LIST: Self = Self(32);
    pub(crate) const OBJECT: Self = Self(64);
    pub(crate) const ALL: Self = Self(127);

    pub(crate) const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(crate) const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    pub(crate) const fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// The kinds that a schema's `type` names.
    pub(crate) fn named(name: &str) -> Self {
        match name {
            "null" => Self::NULL,
            "boolean" => Self::BOOLEAN,
            "integer" => Self::INTEGER,
            "number" => Self::NUMBER,
            "string" => Self::TEXT,
            "array" => Self::LIST,
            "object" => Self::OBJECT,
            _ => Self(0),
        }
    }
}

/// A compiled schema.
#[derive(Debug)]
pub(crate) struct Shape {
    pub(crate) kinds: TypeSet,
    pub(crate) number: Option<Box<NumberRules>>,
    pub(crate) text: Option<Box<TextRules>>,
    pub(crate) list: Option<Box<ListRules>>,
    pub(crate) object: Option<Box<ObjectRules>>,
    /// The only values.
    pub(crate) values: Option<Box<AllowedValues>>,
    /// Other shapes that decide.
    pub(crate) others: Composition,
    /// A validator for keywords that shapes cannot express.
    pub(crate) also: Option<Box<Validator>>,
    /// The description, built on first use.
    pub(crate) words: OnceLock<Box<str>>,
}

impl Shape {
    pub(crate) fn any() -> Self {
        Self {
            kinds: TypeSet::ALL,
            number: None,
            text: None,
            list: None,
            object: None,
            values: None,
            others: Composition::None,
            also: None,
            words: OnceLock::new(),
        }
    }

    /// Whether it asks for nothing.
    pub(crate) fn is_any(&self) -> bool {
        self.kinds == TypeSet::ALL
            && self.number.is_none()
            && self.text.is_none()
            && self.list.is_none()
            && self.object.is_none()
            && self.values.is_none()
            && matches!(self.others, Composition::None)
            && self.also.is_none()
    }
}

/// Other shapes that decide on a value.
#[derive(Debug)]
pub(crate) enum Composition {
    None,
    /// This one decides alone.
    Same(ShapeId),
    /// One of these at least.
    Any(Box<[ShapeId]>),
    /// One of these, and no second one.
    One(Box<[ShapeId]>),
}

/// The members of an enum, or a constant.
#[derive(Debug)]
pub(crate) struct AllowedValues {
    pub(crate) list: Vec<Value>,
    pub(crate) constant: bool,
    /// Whether all of them are texts.
    pub(crate) texts: bool,
}

/// Constraints on numbers, with the text of each bound.
#[derive(Debug, Default)]
pub(crate) struct NumberRules {
    pub(crate) least: Option<NumericBound>,
    pub(crate) most: Option<NumericBound>,
    pub(crate) above: Option<NumericBound>,
    pub(crate) below: Option<NumericBound>,
    pub(crate) step: Option<NumericBound>,
}

/// A number that others are held against.
#[derive(Debug)]
pub(crate) struct NumericBound {
    pub(crate) number: Number,
    /// The same, where it is small and whole.
    pub(crate) whole: Option<i64>,
}

impl NumericBound {
    pub(super) fn new(value: &Value) -> Option<Self> {
        let number = value.as_number()?.clone();
        let whole = number.as_i64();
        Some(Self { number, whole })
    }
}

/// Constraints on strings.
#[derive(Debug, Default)]
pub(crate) struct TextRules {
    pub(crate) least: u64,
    pub(crate) most: Option<u64>,
    /// The pattern and what runs it.
    pub(crate) pattern: Option<(Box<str>, Validator)>,
    pub(crate) format: Option<(Box<str>, Validator)>,
    pub(crate) encoding: Option<(Box<str>, Validator)>,
}

/// Constraints on arrays.
#[derive(Debug, Default)]
pub(crate) struct ListRules {
    pub(crate) first: Vec<ShapeId>,
    /// The shape of the items after the prefix. `None` accepts any.
    pub(crate) rest: Option<ShapeId>,
    pub(crate) least: u64,
    pub(crate) most: Option<u64>,
    pub(crate) unique: bool,
}

/// Constraints on objects.
#[derive(Debug, Default)]
pub(crate) struct ObjectRules {
    pub(crate) fields: Vec<FieldRule>,
    /// The places of fields by name, where there are many.
    pub(crate) by_name: Option<HashMap<Box<str>, u32>>,
    /// Required names that no field has.
    pub(crate) required: Vec<Box<str>>,
    pub(crate) extra: ExtraProperties,
    /// Whether what is not declared is left out: it is said which fields there are, and nowhere
    /// that there may be others.
    pub(crate) closed: bool,
    pub(crate) names: Option<ShapeId>,
    pub(crate) least: u64,
    pub(crate) most: Option<u64>,
    /// Names that a caller may not use, for the host fills them.
    pub(crate) injected: Vec<Box<str>>,
    /// Whether this is the parameter object of a tool without parameters.
    pub(crate) takes_nothing: bool,
}

impl ObjectRules {
    /// Whether the host supplies what has this name.
    pub(crate) fn is_injected(&self, name: &str) -> bool {
        self.injected.iter().any(|injected| **injected == *name)
    }

    /// The place of a field, with a guess where it is.
    pub(crate) fn field(&self, name: &str, guess: usize) -> Option<usize> {
        let is = |at: usize| self.fields.get(at).is_some_and(|field| *field.name == *name);
        if is(guess) {
            return Some(guess);
        }
        match &self.by_name {
            Some(map) => map.get(name).map(|&at| at as usize),
            None => (0..self.fields.len()).find(|&at| is(at)),
        }
    }
}

/// A field of an object.
#[derive(Debug)]
pub(crate) struct FieldRule {
    pub(crate) name: Box<str>,
    /// The name as JSON, with the colon.
    pub(crate) key: Box<str>,
    pub(crate) shape: ShapeId,
    pub(crate) required: bool,
    /// The default as JSON.
    pub(crate) default: Option<Box<str>>,
    /// The host owns the value, and it is this one.
    pub(crate) pinned: Option<(Value, Box<str>)>,
    /// Whether its value is kept out of messages.
    pub(crate) secret: bool,
}

/// The rule for undeclared properties.
#[derive(Debug, Default, PartialEq, Eq, Clone, Copy)]
pub(crate) enum ExtraProperties {
    #[default]
    Unsaid,
    Yes,
    No,
    Of(ShapeId),
}
