//! Tools and types without anything of a language.

use serde_json::Value;

/// Tools with the types that they use.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Interface {
    /// The types, those of the specification first.
    pub types: Vec<NamedType>,
    /// The tools.
    pub tools: Vec<Tool>,
}

/// A tool.
#[derive(Debug, Clone, PartialEq)]
pub struct Tool {
    /// Its name in the specification.
    pub name: String,
    /// What it does.
    pub doc: String,
    /// Whether it should no longer be used.
    pub is_deprecated: bool,
    /// The name of the type of its parameters, a record.
    pub parameters: String,
    /// The type of its result.
    pub result: Type,
}

/// A type with a name.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedType {
    /// The name, in `PascalCase`.
    pub name: String,
    /// What it is.
    pub doc: String,
    /// What it consists of.
    pub shape: Shape,
}

/// What a type with a name consists of.
#[derive(Debug, Clone, PartialEq)]
pub enum Shape {
    /// Fields.
    Record {
        /// The fields, in order.
        fields: Vec<Field>,
        /// Whether other fields are allowed.
        is_open: bool,
    },
    /// Another type.
    Alias(Type),
}

/// A field of a record.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    /// Its name in JSON.
    pub name: String,
    /// What it is.
    pub doc: String,
    /// Its type.
    pub ty: Type,
    /// Whether it must be there.
    pub is_required: bool,
    /// Its value where it is left out, if the specification says one.
    pub default: Option<Value>,
}

/// A type.
#[derive(Debug, Clone, PartialEq)]
pub enum Type {
    /// Any value.
    Any,
    /// No value at all.
    Never,
    /// Null.
    Null,
    /// A boolean.
    Boolean,
    /// An integer.
    Integer,
    /// A number.
    Number,
    /// A text.
    Text,
    /// One of some values, which are neither lists nor objects.
    Literal(Vec<Value>),
    /// A list.
    List(Box<Type>),
    /// A list with a type for each place.
    Tuple(Vec<Type>),
    /// An object with any names.
    Map(Box<Type>),
    /// One of several types.
    Union(Vec<Type>),
    /// A type with a name.
    Named(String),
    /// A type with further constraints.
    Constrained(Box<Type>, Vec<(Constraint, Value)>),
}

/// A constraint that some languages can check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Constraint {
    /// The least value.
    Minimum,
    /// The greatest value.
    Maximum,
    /// A value that is too low.
    ExclusiveMinimum,
    /// A value that is too high.
    ExclusiveMaximum,
    /// A value that every other one is a multiple of.
    MultipleOf,
    /// The least length of a text or a list.
    MinLength,
    /// The greatest length of a text or a list.
    MaxLength,
}
