//! Types, and the declarations of types.

use serde_json::Value;
use smol_str::SmolStr;

use super::{Field, TypeUse};
use crate::format::Format;

/// Declared types.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Types(pub Vec<TypeDeclaration>);

/// A declared type: its place among a module's types.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TypeId(pub u32);

impl Types {
    /// The declaration of a type of the same module.
    pub fn get(&self, id: TypeId) -> Option<&TypeDeclaration> {
        self.0.get(id.0 as usize)
    }

    /// All types with their places.
    pub fn iter(&self) -> impl Iterator<Item = (TypeId, &TypeDeclaration)> {
        // There are at most as many types as bytes in the texts, which 32 bits count.
        self.0
            .iter()
            .enumerate()
            .map(|(at, ty)| (TypeId(u32::try_from(at).unwrap_or(u32::MAX)), ty))
    }

    /// What a type is, in the end: names are followed.
    pub fn resolve<'t>(&'t self, mut ty: &'t Type) -> &'t Type {
        // The checker rejects self-aliases; the limit is for hand-made models.
        for _ in 0..=self.0.len() {
            let Type::Named(id) = ty else { return ty };
            let Some(declared) = self.get(*id) else { return &Type::Any };
            ty = &declared.type_use.ty;
        }
        &Type::Any
    }
}

/// A declared type.
#[derive(Debug, Clone, PartialEq)]
pub struct TypeDeclaration {
    /// Its name, as written.
    pub name: SmolStr,
    /// Its name in `$defs`, where that is another one.
    pub schema_name: Option<SmolStr>,
    /// How it was declared.
    pub kind: TypeKind,
    /// The type and its attributes.
    pub type_use: TypeUse,
    /// Whether it was declared inside of a tool.
    pub local: bool,
    /// Whether schemas refer to it in `$defs`, where a target can: it is recursive, or declared at
    /// the top level without `inline: true`.
    pub referred: bool,
}

/// How a type was declared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TypeKind {
    /// An object with fields.
    Record,
    /// A closed set of texts, with their descriptions. The texts are a constraint of the type use.
    Enum(Vec<Option<SmolStr>>),
    /// One of several types, distinguished by this field if there is one.
    Union(Option<SmolStr>),
    /// A name for a constrained type.
    Alias,
}

/// A type: what crosses the wire as JSON.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Type {
    /// Any value.
    #[default]
    Any,
    /// `null`
    Null,
    /// A boolean.
    Boolean,
    /// A whole number.
    Integer,
    /// A number.
    Number,
    /// A text.
    Text,
    /// Bytes, as text in base64.
    Bytes,
    /// A text of a known format.
    Formatted(Format),
    /// One value: a text, number, boolean or null.
    Literal(Box<Value>),
    /// A list, and the type of its items if it is declared.
    List(Option<Box<Type>>),
    /// A list of items of a type for each place.
    Tuple(Vec<Type>),
    /// An object, and the type of its values if it is declared.
    Map(Option<Box<Type>>),
    /// An object with declared fields.
    Object(Box<ObjectType>),
    /// The type, or null: `T?`
    Nullable(Box<Type>),
    /// A value of one of the types, or of several.
    Union(Vec<Type>),
    /// A value of exactly one of the types.
    OneOf(Vec<Type>),
    /// A declared type.
    Named(TypeId),
}

/// An object with declared fields; without any, every object.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ObjectType {
    /// The fields, in order; `None` where the type says nothing of them.
    pub fields: Option<Vec<Field>>,
    /// Names that `required` holds though no field has them.
    pub requires: Vec<SmolStr>,
    /// The types of fields by patterns of their names.
    pub patterns: Vec<FieldPattern>,
    /// Whether other fields are allowed.
    pub open: Open,
}

impl ObjectType {
    /// The types that fields without a declaration have.
    pub fn undeclared_types(&self) -> impl Iterator<Item = &Type> {
        undeclared_types(&self.patterns, &self.open)
    }
}

/// The type of all fields whose names match a pattern.
#[derive(Debug, Clone, PartialEq)]
pub struct FieldPattern {
    /// A regular expression that finds something in the names.
    pub pattern: SmolStr,
    /// The type.
    pub ty: Type,
}

/// The types that fields without a declaration have.
pub(super) fn undeclared_types<'t>(
    patterns: &'t [FieldPattern],
    open: &'t Open,
) -> impl Iterator<Item = &'t Type> {
    let others = match open {
        Open::Of(ty) => Some(&**ty),
        _ => None,
    };
    patterns.iter().map(|known| &known.ty).chain(others)
}

/// Whether an object may hold fields that are not declared.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Open {
    /// Not declared.
    #[default]
    Unsaid,
    /// It may.
    Yes,
    /// It may not.
    No,
    /// It may, with values of this type.
    Of(Box<Type>),
}

impl Type {
    /// The type without `null`.
    pub fn without_null(&self) -> &Self {
        match self {
            Self::Nullable(inner) => inner,
            ty => ty,
        }
    }

    /// JSON Schema's name of the type, if it has a single one.
    pub fn json_name(&self) -> Option<&'static str> {
        Some(match self {
            Self::Null => "null",
            Self::Boolean => "boolean",
            Self::Integer => "integer",
            Self::Number => "number",
            Self::Text | Self::Bytes | Self::Formatted(_) => "string",
            Self::List(_) | Self::Tuple(_) => "array",
            Self::Map(_) | Self::Object(_) => "object",
            Self::Any
            | Self::Literal(_)
            | Self::Nullable(_)
            | Self::Union(_)
            | Self::OneOf(_)
            | Self::Named(_) => return None,
        })
    }

    /// How many types it is made of, and how deep they nest.
    pub fn extent(&self) -> (usize, u32) {
        let over = |types: &mut dyn Iterator<Item = &Self>| {
            types.map(Self::extent).fold((1, 1), |(size, depth), inner| {
                (inner.0.saturating_add(size), depth.max(inner.1 + 1))
            })
        };
        match self {
            Self::List(inner) | Self::Map(inner) => over(&mut inner.as_deref().into_iter()),
            Self::Nullable(inner) => over(&mut std::iter::once(&**inner)),
            Self::Tuple(types) | Self::Union(types) | Self::OneOf(types) => over(&mut types.iter()),
            Self::Object(object) => {
                let fields = object.fields.iter().flatten().map(|field| &field.type_use.ty);
                over(&mut fields.chain(object.undeclared_types()))
            }
            _ => (1, 1),
        }
    }
}
