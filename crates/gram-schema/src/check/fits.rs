//! Which types an attribute fits.

use serde_json::Value;

use crate::model::{Type, Types};

/// Whether an attribute of a parameter, field, result or type fits a type.
pub(crate) fn attribute_fits(types: &Types, ty: &Type, key: &str) -> bool {
    Fits::of(key).holds(types, ty) || (key == "open" && matches!(ty, Type::Tuple(_)))
}

/// What an attribute says of a type, and so which types it fits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fits {
    Numbers,
    Texts,
    /// Text and numbers: `uri`, `int32`.
    Formats,
    Collections,
    Lists,
    Objects,
    Maps,
    Every,
}

impl Fits {
    /// What an attribute of a parameter, field, result or type is about.
    pub(super) fn of(key: &str) -> Self {
        match key {
            "range" | "above" | "below" | "multipleOf" => Self::Numbers,
            "length" | "pattern" => Self::Texts,
            "format" => Self::Formats,
            "size" => Self::Collections,
            "unique" | "elementType" => Self::Lists,
            "fields" | "open" | "requires" => Self::Objects,
            "valueType" | "keys" => Self::Maps,
            _ => Self::Every,
        }
    }

    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Numbers => "numbers",
            Self::Texts => "text",
            Self::Formats => "text and numbers",
            Self::Collections => "lists, maps and objects",
            Self::Lists => "lists",
            Self::Objects => "objects",
            Self::Maps => "maps",
            Self::Every => "values",
        }
    }

    pub(super) fn holds(self, types: &Types, ty: &Type) -> bool {
        match types.resolve(ty) {
            _ if self == Self::Every => true,
            Type::Any | Type::Named(_) => true,
            Type::Nullable(inner) => self.holds(types, inner),
            Type::Union(members) | Type::OneOf(members) => {
                members.iter().any(|member| self.holds(types, member))
            }
            Type::Literal(value) => match &**value {
                Value::Number(_) => matches!(self, Self::Numbers | Self::Formats),
                Value::String(_) => matches!(self, Self::Texts | Self::Formats),
                _ => false,
            },
            Type::Integer | Type::Number => matches!(self, Self::Numbers | Self::Formats),
            Type::Text | Type::Bytes | Type::Formatted(_) => {
                matches!(self, Self::Texts | Self::Formats)
            }
            Type::List(_) | Type::Tuple(_) => matches!(self, Self::Collections | Self::Lists),
            Type::Map(_) => matches!(self, Self::Collections | Self::Maps),
            Type::Object(_) => matches!(self, Self::Collections | Self::Objects | Self::Maps),
            Type::Null | Type::Boolean => false,
        }
    }
}
