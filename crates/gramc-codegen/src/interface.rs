//! Tools and types without anything of a language.

use gramc_json_schema::keywords::Keyword;
use serde_json::Value;

use crate::names::free;

/// Tools with the types that they use.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Interface {
    /// The types, those of the specification first.
    pub(crate) types: Vec<NamedType>,
    pub(crate) tools: Vec<Tool>,
}

impl Interface {
    /// Whether there are no tools.
    pub fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }

    /// The record of a tool's parameters.
    pub(crate) fn parameters(&self, tool: &Tool) -> &[Field] {
        let named = self.types.iter().find(|ty| ty.name == tool.parameters);
        match named.map(|ty| &ty.shape) {
            Some(Shape::Record { fields, .. }) => fields,
            _ => &[],
        }
    }

    /// Unique names of methods for the tools. A number after the separator tells equal names apart.
    pub(crate) fn methods(&self, separator: &str, name: impl Fn(&str) -> String) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for tool in &self.tools {
            let is_taken = |name: &str| names.iter().any(|known| known == name);
            names.push(free(&name(&tool.name), separator, is_taken));
        }
        names
    }

    /// Whether a type consists of whole numbers, or has a part that does.
    pub(crate) fn has_integers(&self) -> bool {
        let results = self.tools.iter().map(|tool| &tool.result);
        let declared = self.types.iter().flat_map(|ty| match &ty.shape {
            Shape::Record { fields, .. } => fields.iter().map(|field| &field.ty).collect(),
            Shape::Alias(alias) => vec![alias],
        });
        results.chain(declared).any(Type::has_integers)
    }
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Tool {
    /// Its name in the specification.
    pub(crate) name: String,
    pub(crate) doc: String,
    pub(crate) is_deprecated: bool,
    /// The name of the type of its parameters, a record.
    pub(crate) parameters: String,
    pub(crate) result: Type,
}

/// A type with a name.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct NamedType {
    pub(crate) name: String,
    pub(crate) doc: String,
    pub(crate) shape: Shape,
}

/// What a type with a name consists of.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Shape {
    Record { fields: Vec<Field>, others: OtherFields },
    Alias(Type),
}

/// Fields of an object besides those of its record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OtherFields {
    /// The schema refuses them.
    Refused,
    /// The schema accepts them, but does not describe them.
    Dropped,
    /// The schema describes them.
    Kept,
}

/// A field of a record.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Field {
    /// Its name in JSON.
    pub(crate) name: String,
    /// What it is.
    pub(crate) doc: String,
    pub(crate) ty: Type,
    pub(crate) is_required: bool,
    /// Its value where it is left out, if the specification says one.
    pub(crate) default: Option<Value>,
}

impl Field {
    /// The value that takes the place of a missing one.
    pub(crate) fn filled_default(&self) -> Option<&Value> {
        self.default.as_ref().filter(|default| !self.is_required && !default.is_null())
    }
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Type {
    Any,
    Never,
    Null,
    Boolean,
    Integer,
    Number,
    Text,
    /// One of some values, which are neither lists nor objects.
    Literal(Vec<Value>),
    List(Box<Type>),
    /// A list with a type for each place.
    Tuple(Vec<Type>),
    /// An object with any names.
    Map(Box<Type>),
    Union(Vec<Type>),
    Named(String),
    /// A type with constraints that some languages can check.
    Constrained(Box<Type>, Vec<(Keyword, Value)>),
}

impl Type {
    /// The names of the types that it refers to.
    pub(crate) fn names(&self) -> Vec<&str> {
        match self {
            Self::Named(name) => vec![name],
            Self::List(inner) | Self::Map(inner) | Self::Constrained(inner, _) => inner.names(),
            Self::Union(members) | Self::Tuple(members) => {
                members.iter().flat_map(Self::names).collect()
            }
            _ => Vec::new(),
        }
    }

    fn has_integers(&self) -> bool {
        match self {
            Self::Integer => true,
            Self::List(inner) | Self::Map(inner) | Self::Constrained(inner, _) => {
                inner.has_integers()
            }
            Self::Union(members) | Self::Tuple(members) => members.iter().any(Self::has_integers),
            _ => false,
        }
    }

    /// The names of the types that it holds without a list or a map between.
    pub(crate) fn names_held(&self) -> Vec<&str> {
        match self {
            Self::List(_) | Self::Map(_) => Vec::new(),
            Self::Constrained(inner, _) => inner.names_held(),
            Self::Union(members) | Self::Tuple(members) => {
                members.iter().flat_map(Self::names_held).collect()
            }
            other => other.names(),
        }
    }
}
