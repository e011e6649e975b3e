//! Reading schemas: what they assert, and the types that they refer to.

use gramc_json_schema::keywords::Keyword;
use serde_json::Value;

/// The places of definitions in a schema.
const DEFS: [&str; 2] = ["$defs", "definitions"];

/// Removes the definitions of a schema, and returns them.
pub(crate) fn take_defs(schema: &mut Value) -> Vec<(String, Value)> {
    let Value::Object(keywords) = schema else { return Vec::new() };
    let all = DEFS.iter().filter_map(|key| keywords.shift_remove(*key));
    let objects = all.filter_map(|defs| match defs {
        Value::Object(defs) => Some(defs),
        _ => None,
    });
    objects.flatten().collect()
}

/// The name of the definition that a reference leads to.
pub(crate) fn def_name(reference: &str) -> Option<String> {
    let name = DEFS.iter().find_map(|key| reference.strip_prefix(&format!("#/{key}/")))?;
    if name.contains('/') {
        return None;
    }
    Some(gramc_json_schema::pointer::unescape_token(name).into_owned())
}

/// The definition that a schema is, if it is a reference alone.
pub(crate) fn only_reference(schema: &Value) -> Option<String> {
    let keywords = schema.as_object()?;
    let mut asserting = keywords.iter().filter(|(key, _)| !Keyword::of(key).is_annotation());
    let (key, value) = asserting.next()?;
    if key != "$ref" || asserting.next().is_some() {
        return None;
    }
    def_name(value.as_str()?)
}

/// Collects the names of the definitions that a schema refers to. Returns whether it refers to
/// nothing else.
pub(crate) fn references(schema: &Value, found: &mut Vec<String>) -> bool {
    let Value::Object(keywords) = schema else { return true };
    let mut all = true;
    for (key, value) in keywords {
        let keyword = Keyword::of(key);
        match keyword {
            Keyword::Ref => match value.as_str().and_then(def_name) {
                Some(name) if found.contains(&name) => {}
                Some(name) => found.push(name),
                None => all = false,
            },
            Keyword::DynamicRef | Keyword::RecursiveRef => all = false,
            _ => {
                for part in keyword.subschemas(value) {
                    all &= references(part, found);
                }
            }
        }
    }
    all
}

pub(crate) fn properties(schema: &Value) -> impl Iterator<Item = (&String, &Value)> {
    schema.get("properties").and_then(Value::as_object).into_iter().flatten()
}

/// Whether an object schema requires a property.
pub(crate) fn requires(schema: &Value, name: &str) -> bool {
    let names = schema.get("required").and_then(Value::as_array);
    names.is_some_and(|names| names.iter().any(|other| other == name))
}
