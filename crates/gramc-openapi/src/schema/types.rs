//! The types that a schema names.

use gramc_json_schema::keywords::name as k;
use serde_json::{Map, Value};

/// A type of JSON Schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum JsonType {
    Boolean,
    Integer,
    Number,
    String,
    Array,
    Object,
}

impl JsonType {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Boolean => "boolean",
            Self::Integer => "integer",
            Self::Number => "number",
            Self::String => "string",
            Self::Array => "array",
            Self::Object => "object",
        }
    }
}

/// The types that a schema names.
#[derive(Debug, Default)]
pub(super) struct NamedTypes {
    /// The types without null, in order. Empty for all.
    pub(super) types: Vec<JsonType>,
    pub(super) is_nullable: bool,
    /// Whether null is the only type.
    pub(super) is_null: bool,
    /// The format that a name such as `date` implies.
    pub(super) format: Option<&'static str>,
    /// A name that is no type.
    pub(super) unknown: Option<String>,
}

/// Whether a schema says that null is allowed.
pub(super) fn is_nullable(map: &Map<String, Value>) -> bool {
    [k::NULLABLE, "x-nullable"]
        .iter()
        .any(|key| map.get(*key).is_some_and(|flag| *flag == true || flag == "true"))
}

/// Reads `type`, and infers it where it is missing.
pub(super) fn named(map: &Map<String, Value>) -> NamedTypes {
    let mut found = NamedTypes::default();
    let mut is_any = false;
    match map.get(k::TYPE) {
        Some(Value::String(name)) => is_any |= found.add(name),
        Some(Value::Array(names)) => {
            for name in names.iter().filter_map(Value::as_str) {
                is_any |= found.add(name);
            }
        }
        _ => {}
    }
    if is_any {
        found.types.clear();
        found.is_nullable = false;
        return found;
    }
    found.is_null = found.is_nullable && found.types.is_empty();
    if found.types.is_empty() && !found.is_null {
        found.types.extend(inferred(map));
    }
    found
}

impl NamedTypes {
    /// Adds a type. Returns whether it is every type.
    fn add(&mut self, name: &str) -> bool {
        let (ty, format) = match name.trim().to_ascii_lowercase().as_str() {
            "boolean" | "bool" => (JsonType::Boolean, None),
            "integer" | "int" | "int32" | "int64" | "long" | "short" | "timestamp" => {
                (JsonType::Integer, None)
            }
            "number" | "float" | "double" | "decimal" | "bigdecimal" | "numeric" => {
                (JsonType::Number, None)
            }
            "string" | "text" | "str" | "char" | k::ENUM | "password" | "html" => {
                (JsonType::String, None)
            }
            "file" | "binary" | "bytes" => (JsonType::String, Some("binary")),
            "byte" => (JsonType::String, Some("byte")),
            "date" => (JsonType::String, Some("date")),
            "datetime" | "date-time" => (JsonType::String, Some("date-time")),
            "uuid" => (JsonType::String, Some("uuid")),
            "uri" | "url" => (JsonType::String, Some("uri")),
            "email" => (JsonType::String, Some("email")),
            "array" | "list" => (JsonType::Array, None),
            "object" | "map" | "dict" | "hash" => (JsonType::Object, None),
            "null" => {
                self.is_nullable = true;
                return false;
            }
            "any" | "mixed" | "anytype" | "json" | "*" => return true,
            _ => {
                self.unknown.get_or_insert_with(|| name.to_owned());
                return false;
            }
        };
        self.format = self.format.or(format);
        if !self.types.contains(&ty) {
            self.types.push(ty);
        }
        false
    }
}

/// The type of a schema that names none, where its keywords leave no doubt.
fn inferred(map: &Map<String, Value>) -> Option<JsonType> {
    let is_object = |key: &str| map.get(key).is_some_and(Value::is_object);
    if is_object(k::PROPERTIES)
        || is_object(k::ADDITIONAL_PROPERTIES)
        || is_object(k::PATTERN_PROPERTIES)
    {
        return Some(JsonType::Object);
    }
    if map.get(k::ITEMS).is_some_and(|items| items.is_object() || items.is_array())
        || map.contains_key(k::PREFIX_ITEMS)
    {
        return Some(JsonType::Array);
    }
    let values = map.get(k::ENUM).and_then(Value::as_array).filter(|values| !values.is_empty())?;
    if values.iter().all(Value::is_string) {
        Some(JsonType::String)
    } else if values.iter().all(Value::is_boolean) {
        Some(JsonType::Boolean)
    } else {
        None
    }
}
