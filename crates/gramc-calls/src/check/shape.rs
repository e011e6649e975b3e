//! JSON Schemas compiled for repeated checks.

use std::collections::HashMap;
use std::sync::OnceLock;

use gramc_json_schema::pointer::unescape_token;
use gramc_json_schema::strings::StringCheck;
use gramc_json_schema::type_set::TypeSet;
use jsonschema::Validator;
use serde_json::{Number, Value};

pub(crate) type ShapeId = u32;

#[derive(Debug)]
pub(crate) struct Shapes {
    pub(crate) list: Vec<Shape>,
    pub(crate) root: ShapeId,
    /// Whether a shape constrains values as a whole, so that changed values have to be checked
    /// again.
    pub(crate) delicate: bool,
    pub(crate) secret: bool,
    /// The shape with the host rules for the root's entries, if the root delegates to other shapes.
    pub(crate) host: Option<ShapeId>,
}

impl Shapes {
    /// The shape that a reference leads to, or the shape itself.
    pub(crate) fn behind(&self, id: ShapeId) -> &Shape {
        let shape = &self.list[id as usize];
        match shape.others {
            Composition::Same(other) => &self.list[other as usize],
            _ => shape,
        }
    }

    /// The short description of the value at a JSON pointer. `None` within unions.
    pub(crate) fn description(&self, pointer: &str) -> Option<&str> {
        let mut id = self.root;
        for token in pointer.split('/').skip(1) {
            let shape = self.behind(id);
            id = match &shape.object {
                Some(object) => object.fields.get(object.field(&unescape_token(token), 0)?)?.shape,
                None => shape.list.as_ref()?.rest?,
            };
        }
        self.list[id as usize].description.as_deref()
    }

    /// An upper bound of the types that a shape accepts.
    pub(crate) fn kinds(&self, id: ShapeId) -> TypeSet {
        let shape = &self.list[id as usize];
        match shape.others {
            // `shorten` reduced chains of references to a single step.
            Composition::Same(other) if shape.also.is_none() => {
                let other = &self.list[other as usize];
                if matches!(other.others, Composition::None) { other.kinds } else { TypeSet::ALL }
            }
            Composition::None => shape.kinds,
            _ => TypeSet::ALL,
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
    pub(crate) values: Option<Box<AllowedValues>>,
    /// Other shapes that apply to the same value.
    pub(crate) others: Composition,
    /// A validator for keywords that shapes cannot express.
    pub(crate) also: Option<Box<Validator>>,
    /// The description in the schema, if it is short enough for messages.
    pub(crate) description: Option<Box<str>>,
    /// The expected values in words, built on first use.
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
            description: None,
            words: OnceLock::new(),
        }
    }

    /// Whether it has no constraints.
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

/// Other shapes that apply to the same value.
#[derive(Debug)]
pub(crate) enum Composition {
    None,
    /// A reference: this shape applies.
    Same(ShapeId),
    /// `anyOf`: at least one of these.
    Any(Box<[ShapeId]>),
    /// `oneOf`: exactly one of these.
    One(Box<[ShapeId]>),
}

/// The members of an enum, or a constant.
#[derive(Debug)]
pub(crate) struct AllowedValues {
    pub(crate) list: Vec<Value>,
    pub(crate) constant: bool,
    /// Whether all of them are strings.
    pub(crate) texts: bool,
}

/// Constraints on numbers.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct NumberRules {
    pub(crate) least: Option<NumericBound>,
    pub(crate) most: Option<NumericBound>,
    pub(crate) above: Option<NumericBound>,
    pub(crate) below: Option<NumericBound>,
    pub(crate) step: Option<NumericBound>,
}

/// A number that values are compared with.
#[derive(Debug, PartialEq)]
pub(crate) struct NumericBound {
    pub(crate) number: Number,
    /// The same number, if it fits in an `i64`.
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
    /// The pattern and its check.
    pub(crate) pattern: Option<(Box<str>, StringCheck)>,
    pub(crate) format: Option<(Box<str>, StringCheck)>,
    pub(crate) encoding: Option<(Box<str>, StringCheck)>,
}

/// Constraints on arrays.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct ListRules {
    pub(crate) first: Vec<ShapeId>,
    /// The shape of the items after the prefix. `None` accepts any.
    pub(crate) rest: Option<ShapeId>,
    pub(crate) least: u64,
    pub(crate) most: Option<u64>,
    pub(crate) unique: bool,
}

#[derive(Debug, Default)]
pub(crate) struct ObjectRules {
    pub(crate) fields: Vec<FieldRule>,
    /// The indices of fields by name, if there are many.
    pub(crate) by_name: Option<HashMap<Box<str>, u32>>,
    /// The required names without a field.
    pub(crate) required: Vec<Box<str>>,
    pub(crate) extra: ExtraProperties,
    /// The shapes of the values by patterns of their names.
    pub(crate) patterns: Vec<(StringCheck, ShapeId)>,
    /// Whether undeclared properties can be stripped: the schema forbids them, or declares
    /// properties without allowing others.
    pub(crate) closed: bool,
    pub(crate) names: Option<ShapeId>,
    pub(crate) least: u64,
    pub(crate) most: Option<u64>,
    /// Names that callers must not use, because the host injects their values.
    pub(crate) injected: Vec<Box<str>>,
    /// Whether this is the parameter object of a tool without parameters.
    pub(crate) takes_nothing: bool,
}

impl ObjectRules {
    /// Whether the host injects the value of this name.
    pub(crate) fn is_injected(&self, name: &str) -> bool {
        self.injected.iter().any(|injected| **injected == *name)
    }

    /// The shapes of an undeclared name, by its patterns.
    pub(crate) fn shapes_by_pattern(&self, name: &str) -> Vec<ShapeId> {
        let matching = self.patterns.iter().filter(|(check, _)| check.accepts(name));
        matching.map(|(_, shape)| *shape).collect()
    }

    /// The index of a field. Checks the guessed index first.
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

#[derive(Debug)]
pub(crate) struct FieldRule {
    pub(crate) name: Box<str>,
    /// The name as JSON, with the colon.
    pub(crate) key: Box<str>,
    pub(crate) shape: ShapeId,
    /// The shapes that patterns of its name add.
    pub(crate) others: Vec<ShapeId>,
    pub(crate) required: bool,
    pub(crate) default: Option<Box<str>>,
    /// Whether its own schema refuses the default.
    pub(crate) refuses_default: bool,
    /// The value that the host pins, and its JSON.
    pub(crate) pinned: Option<(Value, Box<str>)>,
    /// Whether its value is masked in messages.
    pub(crate) secret: bool,
}

impl FieldRule {
    /// An optional field without a default.
    pub(super) fn new(name: &str, shape: ShapeId) -> Self {
        Self {
            name: name.into(),
            key: format!("{}:", Value::from(name)).into(),
            shape,
            others: Vec::new(),
            required: false,
            default: None,
            refuses_default: false,
            pinned: None,
            secret: false,
        }
    }
}

#[derive(Debug, Default, PartialEq, Eq, Clone, Copy)]
pub(crate) enum ExtraProperties {
    #[default]
    Unsaid,
    Yes,
    No,
    Of(ShapeId),
}
