//! The types that a schema names.

use gramc_json_schema::keywords::name as k;
use gramc_json_schema::type_set::TypeSet;
use serde_json::{Map, Value};

/// The types that a schema names.
#[derive(Debug, Default)]
pub(super) struct NamedTypes {
    /// The types without null, one by one and in order. Empty for all.
    pub(super) types: Vec<TypeSet>,
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
pub(super) fn read_types(map: &Map<String, Value>) -> NamedTypes {
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
        found.types.extend(infer(map));
    }
    found
}

/// The names that documents use for a type, and the format that these imply.
const NAMES: [(&[&str], TypeSet, Option<&str>); 13] = [
    (&["boolean", "bool"], TypeSet::BOOLEAN, None),
    (&["integer", "int", "int32", "int64", "long", "short", "timestamp"], TypeSet::INTEGER, None),
    (&["number", "float", "double", "decimal", "bigdecimal", "numeric"], TypeSet::NUMBER, None),
    (&["string", "text", "str", "char", k::ENUM, "password", "html"], TypeSet::STRING, None),
    (&["file", "binary", "bytes"], TypeSet::STRING, Some("binary")),
    (&["byte"], TypeSet::STRING, Some("byte")),
    (&["date"], TypeSet::STRING, Some("date")),
    (&["datetime", "date-time"], TypeSet::STRING, Some("date-time")),
    (&["uuid"], TypeSet::STRING, Some("uuid")),
    (&["uri", "url"], TypeSet::STRING, Some("uri")),
    (&["email"], TypeSet::STRING, Some("email")),
    (&["array", "list"], TypeSet::ARRAY, None),
    (&["object", "map", "dict", "hash"], TypeSet::OBJECT, None),
];

impl NamedTypes {
    /// Adds a type. Returns whether it is every type.
    fn add(&mut self, name: &str) -> bool {
        let lower = name.trim().to_ascii_lowercase();
        match lower.as_str() {
            "null" => self.is_nullable = true,
            "any" | "mixed" | "anytype" | "json" | "*" => return true,
            lower => match NAMES.iter().find(|(names, ..)| names.contains(&lower)) {
                Some((_, ty, format)) => {
                    self.format = self.format.or(*format);
                    if !self.types.contains(ty) {
                        self.types.push(*ty);
                    }
                }
                None => {
                    self.unknown.get_or_insert_with(|| name.to_owned());
                }
            },
        }
        false
    }
}

/// The type of a schema that names none, where its keywords leave no doubt.
fn infer(map: &Map<String, Value>) -> Option<TypeSet> {
    let is_object = |key: &str| map.get(key).is_some_and(Value::is_object);
    if is_object(k::PROPERTIES)
        || is_object(k::ADDITIONAL_PROPERTIES)
        || is_object(k::PATTERN_PROPERTIES)
    {
        return Some(TypeSet::OBJECT);
    }
    if map.get(k::ITEMS).is_some_and(|items| items.is_object() || items.is_array())
        || map.contains_key(k::PREFIX_ITEMS)
    {
        return Some(TypeSet::ARRAY);
    }
    let values = map.get(k::ENUM).and_then(Value::as_array).filter(|values| !values.is_empty())?;
    if values.iter().all(Value::is_string) {
        Some(TypeSet::STRING)
    } else if values.iter().all(Value::is_boolean) {
        Some(TypeSet::BOOLEAN)
    } else {
        None
    }
}
