//! Which types an attribute fits.

use serde_json::Value;

use crate::model::Type;

/// What an attribute says of a type, and so which types it fits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fits {
    Numbers,
    Texts,
    Collections,
    Lists,
    Objects,
    Maps,
    Every,
}

impl Fits {
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Numbers => "numbers",
            Self::Texts => "text",
            Self::Collections => "lists, maps and objects",
            Self::Lists => "lists",
            Self::Objects => "objects",
            Self::Maps => "maps",
            Self::Every => "values",
        }
    }

    pub(super) fn holds(self, ty: &Type) -> bool {
        match ty {
            _ if self == Self::Every => true,
            Type::Any => true,
            Type::Nullable(inner) => self.holds(inner),
            Type::Union(members) => members.iter().any(|member| self.holds(member)),
            Type::Literal(value) => match &**value {
                Value::Number(_) => self == Self::Numbers,
                Value::String(_) => self == Self::Texts,
                _ => false,
            },
            Type::Integer | Type::Number => self == Self::Numbers,
            Type::Text | Type::Bytes | Type::Formatted(_) => self == Self::Texts,
            Type::List(_) | Type::Tuple(_) => matches!(self, Self::Collections | Self::Lists),
            Type::Map(_) => matches!(self, Self::Collections | Self::Maps),
            Type::Object(_) => matches!(self, Self::Collections | Self::Objects | Self::Maps),
            Type::Null | Type::Boolean => false,
        }
    }
}
