//! The built-in types.

use crate::model::{Type, Types};

/// A format of text that JSON Schema names and gramc checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// RFC 3339 `full-date`
    Date,
    /// RFC 3339 `full-time`
    Time,
    /// RFC 3339 `date-time`
    DateTime,
    /// RFC 3339, appendix A: `P3DT2H`
    Duration,
    /// RFC 5321 `Mailbox`
    Email,
    /// RFC 3986 URI
    Uri,
    /// RFC 4122 UUID
    Uuid,
    /// Dotted IPv4 address
    Ipv4,
    /// RFC 4291 IPv6 address
    Ipv6,
    /// RFC 1123 host name
    Hostname,
}

/// The formats with their built-in type and JSON Schema's name, from the vocabulary
/// "format-annotation" of draft 2020-12.
static FORMATS: [(Format, &str, &str); 10] = [
    (Format::Date, "Date", "date"),
    (Format::Time, "Time", "time"),
    (Format::DateTime, "DateTime", "date-time"),
    (Format::Duration, "Duration", "duration"),
    (Format::Email, "Email", "email"),
    (Format::Uri, "Uri", "uri"),
    (Format::Uuid, "Uuid", "uuid"),
    (Format::Ipv4, "Ipv4", "ipv4"),
    (Format::Ipv6, "Ipv6", "ipv6"),
    (Format::Hostname, "Hostname", "hostname"),
];

impl Format {
    /// JSON Schema's name of the format.
    pub fn json_name(self) -> &'static str {
        FORMATS.iter().find(|row| row.0 == self).map_or("", |row| row.2)
    }

    /// The format of a name in JSON Schema.
    pub fn from_json_name(name: &str) -> Option<Self> {
        FORMATS.iter().find(|row| row.2 == name).map(|row| row.0)
    }

    /// The built-in type's name.
    pub fn type_name(self) -> &'static str {
        FORMATS.iter().find(|row| row.0 == self).map_or("", |row| row.1)
    }
}

/// JSON Schema's names of all formats that are checked.
pub fn json_names() -> impl Iterator<Item = &'static str> {
    FORMATS.iter().map(|row| row.2)
}

/// Whether a format is one that is checked.
pub fn is_checked(name: &str) -> bool {
    Format::from_json_name(name).is_some()
}

/// The names of all built-in types.
pub static BUILT_IN: [&str; 26] = [
    "Text", "String", "Int", "Integer", "Double", "Float", "Number", "Bool", "Boolean", "Object",
    "Array", "List", "Map", "Any", "Null", "Date", "Time", "DateTime", "Duration", "Email", "Uri",
    "Uuid", "Ipv4", "Ipv6", "Hostname", "Bytes",
];

/// The built-in type of a name.
pub fn built_in(name: &str) -> Option<Type> {
    Some(match name {
        "Text" | "String" => Type::Text,
        "Int" | "Integer" => Type::Integer,
        "Double" | "Float" | "Number" => Type::Number,
        "Bool" | "Boolean" => Type::Boolean,
        "Object" => Type::Object(Box::default()),
        "Array" | "List" => Type::List(None),
        "Map" => Type::Map(None),
        "Any" => Type::Any,
        "Null" => Type::Null,
        "Bytes" => Type::Bytes,
        _ => return FORMATS.iter().find(|row| row.1 == name).map(|row| Type::Formatted(row.0)),
    })
}

/// The name that people know a type by, in messages.
pub fn describe(types: &Types, ty: &Type) -> String {
    match ty {
        Type::Any => "any value".to_owned(),
        Type::Null => "null".to_owned(),
        Type::Boolean => "a boolean".to_owned(),
        Type::Integer => "an integer".to_owned(),
        Type::Number => "a number".to_owned(),
        Type::Text => "text".to_owned(),
        Type::Bytes => "bytes (text in base64)".to_owned(),
        Type::Formatted(format) => format!("text of the format {}", format.json_name()),
        Type::Literal(value) => value.to_string(),
        Type::List(_) | Type::Tuple(_) => "a list".to_owned(),
        Type::Map(_) | Type::Object(_) => "an object".to_owned(),
        Type::Nullable(inner) => format!("{} or null", describe(types, inner)),
        Type::Union(members) | Type::OneOf(members) => {
            members.iter().map(|member| describe(types, member)).collect::<Vec<_>>().join(" or ")
        }
        Type::Named(id) => match types.get(*id) {
            Some(declared) => format!("a `{}`", declared.name),
            None => "any value".to_owned(),
        },
    }
}
