//! Repairs schemas that are not JSON Schemas, as the tools of real servers have them.

use gramc_json_schema::keywords::{Keyword as K, KeywordValue, name as k};
use gramc_json_schema::path::Path;
use gramc_json_schema::type_set::TypeSet;
use serde_json::{Map, Number, Value};

/// A repair of a schema.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct SchemaRepair {
    /// The path of the repaired keyword.
    pub(super) path: String,
    /// The invalid value and its replacement.
    pub(super) message: String,
}

/// Repairs a schema and all schemas in it.
pub(super) fn repair(schema: &mut Value) -> Vec<SchemaRepair> {
    let mut repairs = Vec::new();
    let draft = schema.get(k::SCHEMA).and_then(Value::as_str).unwrap_or_default();
    // Draft 3 has the type `any` and a `required` of each property.
    if !draft.contains("json-schema.org/draft-03") && schema.is_object() {
        repair_schema(schema, &Path::ROOT, &mut repairs);
    }
    repairs
}

fn repair_schema(schema: &mut Value, path: &Path<'_>, repairs: &mut Vec<SchemaRepair>) {
    let map = match schema {
        Value::Object(map) => map,
        Value::Bool(_) => return,
        other => {
            let types = other.as_str().and_then(type_named);
            let message = match types {
                Some(types) => format!("{other} became the type {}", types.keyword()),
                None => format!("expected a schema, found {other}; any value is accepted"),
            };
            repairs.push(SchemaRepair { path: path.text(), message });
            let mut map = Map::new();
            map.extend(types.map(|types| (k::TYPE.to_owned(), types.keyword())));
            *other = map.into();
            return;
        }
    };
    let mut required = Vec::new();
    let keys: Vec<String> = map.keys().cloned().collect();
    for key in keys {
        let Some(value) = map.get_mut(&key) else { continue };
        let (keyword, path) = (K::of(&key), path.key(&key));
        if keyword == K::Properties
            && let Value::Object(properties) = value
        {
            lift_required(properties, &path, &mut required, repairs);
        }
        let keyword_repair = match keyword.value() {
            // This is not a keyword of JSON Schema, so any value is valid.
            _ if keyword == K::Nullable => KeywordRepair::None,
            KeywordValue::Schema if value.is_null() => KeywordRepair::Remove,
            KeywordValue::Schema if boolean(value).is_some() => {
                boolean(value).map_or(KeywordRepair::Remove, KeywordRepair::Replace)
            }
            KeywordValue::Schema => {
                repair_schema(value, &path, repairs);
                KeywordRepair::None
            }
            KeywordValue::SchemaOrList | KeywordValue::SchemaList => repair_list(keyword, value),
            KeywordValue::SchemaMap | KeywordValue::SchemaOrNamesMap | KeywordValue::NamesMap => {
                match value {
                    Value::Object(_) => KeywordRepair::None,
                    _ if keyword == K::Properties => KeywordRepair::Replace(Map::new().into()),
                    _ => KeywordRepair::Remove,
                }
            }
            _ => repair_operand(keyword, value),
        };
        match keyword_repair {
            KeywordRepair::None => {}
            KeywordRepair::Replace(new) => {
                let message = format!("{value} became {new}");
                repairs.push(SchemaRepair { path: path.text(), message });
                *value = new;
            }
            KeywordRepair::Remove => {
                let message = format!("expected {}, found {value}; left out", expected(keyword));
                repairs.push(SchemaRepair { path: path.text(), message });
                map.shift_remove(&key);
                continue;
            }
        }
        if keyword.value() != KeywordValue::Schema {
            repair_parts(keyword, map.get_mut(&key), &path, repairs);
        }
    }
    if !required.is_empty() {
        let own = map.entry(k::REQUIRED).or_insert_with(|| Value::Array(Vec::new()));
        if let Value::Array(own) = own {
            required.retain(|key| !own.contains(key));
            own.append(&mut required);
        }
    }
}

/// How the value of a keyword is repaired.
enum KeywordRepair {
    /// The value is valid.
    None,
    Replace(Value),
    Remove,
}

/// Repairs the schemas in the value of a keyword.
fn repair_parts(
    keyword: K,
    value: Option<&mut Value>,
    path: &Path<'_>,
    repairs: &mut Vec<SchemaRepair>,
) {
    match (keyword.value(), value) {
        (KeywordValue::SchemaList | KeywordValue::SchemaOrList, Some(Value::Array(parts))) => {
            for (at, part) in parts.iter_mut().enumerate() {
                repair_schema(part, &path.index(at), repairs);
            }
        }
        (KeywordValue::SchemaOrList, Some(part)) => repair_schema(part, path, repairs),
        (KeywordValue::SchemaMap, Some(Value::Object(parts))) => {
            for (key, part) in parts {
                repair_schema(part, &path.key(key), repairs);
            }
        }
        _ => {}
    }
}

/// Moves `required: true` of properties to their object.
fn lift_required(
    properties: &mut Map<String, Value>,
    path: &Path<'_>,
    required: &mut Vec<Value>,
    repairs: &mut Vec<SchemaRepair>,
) {
    for (key, property) in properties {
        let Value::Object(property) = property else { continue };
        if let Some(Value::Bool(is_required)) = property.get(k::REQUIRED) {
            let message = format!("{is_required} moved to `required` of the object");
            if *is_required {
                required.push(key.as_str().into());
            }
            repairs.push(SchemaRepair { path: path.key(key).key(k::REQUIRED).text(), message });
            property.shift_remove(k::REQUIRED);
        }
    }
}

fn repair_list(keyword: K, value: &Value) -> KeywordRepair {
    let is_list_only = keyword.value() == KeywordValue::SchemaList;
    match value {
        Value::Array(parts) if parts.is_empty() => KeywordRepair::Remove,
        Value::Object(_) if is_list_only => KeywordRepair::Replace(vec![value.clone()].into()),
        Value::Array(_) | Value::Object(_) => KeywordRepair::None,
        Value::Bool(_) if !is_list_only => KeywordRepair::None,
        _ => KeywordRepair::Remove,
    }
}

/// Repairs a value without schemas.
fn repair_operand(keyword: K, value: &Value) -> KeywordRepair {
    let number = |text: &str| text.trim().parse::<Number>().ok();
    match (keyword.value(), value) {
        (KeywordValue::Types, value) => repair_types(value),
        (KeywordValue::Names, Value::Array(names)) => {
            let texts = names.iter().filter(|name| name.is_string());
            if texts.clone().count() == names.len() {
                KeywordRepair::None
            } else {
                KeywordRepair::Replace(texts.cloned().collect::<Vec<_>>().into())
            }
        }
        (KeywordValue::Names, Value::String(_)) => {
            KeywordRepair::Replace(vec![value.clone()].into())
        }
        (KeywordValue::Number, Value::Bool(_))
            if matches!(keyword, K::ExclusiveMinimum | K::ExclusiveMaximum) =>
        {
            KeywordRepair::None
        }
        (KeywordValue::Count, Value::Number(count)) => match count.as_f64() {
            Some(count) if count >= 0.0 && count.fract() == 0.0 => KeywordRepair::None,
            _ => KeywordRepair::Remove,
        },
        (KeywordValue::Number | KeywordValue::Count, Value::String(text)) => {
            match number(text).filter(|it| keyword.value() == KeywordValue::Number || it.is_u64()) {
                Some(number) => KeywordRepair::Replace(number.into()),
                None => KeywordRepair::Remove,
            }
        }
        (KeywordValue::Boolean, Value::String(_)) => {
            boolean(value).map_or(KeywordRepair::Remove, KeywordRepair::Replace)
        }
        (KeywordValue::Values, Value::Array(values)) if keyword == K::Enum && values.is_empty() => {
            KeywordRepair::Remove
        }
        (KeywordValue::Values, value) if !value.is_array() && keyword == K::Examples => {
            KeywordRepair::Replace(vec![value.clone()].into())
        }
        (KeywordValue::Number, Value::Number(_))
        | (KeywordValue::Values, Value::Array(_))
        | (KeywordValue::Boolean, Value::Bool(_))
        | (KeywordValue::Text | KeywordValue::Reference, Value::String(_))
        | (KeywordValue::Value, _) => KeywordRepair::None,
        _ => KeywordRepair::Remove,
    }
}

fn repair_types(value: &Value) -> KeywordRepair {
    let Value::Array(names) = value else {
        let name = value.as_str().unwrap_or_default();
        return match TypeSet::named(name) {
            Some(_) => KeywordRepair::None,
            None => type_named(name)
                .map_or(KeywordRepair::Remove, |it| KeywordRepair::Replace(it.keyword())),
        };
    };
    let is_valid = |name: &Value| name.as_str().and_then(TypeSet::named).is_some();
    if !names.is_empty() && names.iter().all(is_valid) {
        return KeywordRepair::None;
    }
    let known = names.iter().map(|name| name.as_str().and_then(type_named));
    match known.collect::<Option<Vec<_>>>() {
        Some(known) if !known.is_empty() => {
            KeywordRepair::Replace(known.into_iter().fold(TypeSet::NONE, TypeSet::or).keyword())
        }
        // One of the types may be anything.
        _ => KeywordRepair::Remove,
    }
}

/// The boolean that a string spells.
fn boolean(value: &Value) -> Option<Value> {
    match value.as_str()? {
        "true" => Some(true.into()),
        "false" => Some(false.into()),
        _ => None,
    }
}

fn expected(keyword: K) -> &'static str {
    match keyword.value() {
        KeywordValue::Schema => "a schema",
        KeywordValue::SchemaList => "a list of schemas",
        KeywordValue::SchemaOrList => "a schema or a list of schemas",
        KeywordValue::SchemaMap | KeywordValue::SchemaOrNamesMap => "schemas by name",
        KeywordValue::Names => "a list of names",
        KeywordValue::NamesMap => "lists of names by name",
        KeywordValue::Types => "a type or a list of types",
        KeywordValue::Number => "a number",
        KeywordValue::Count => "a non-negative integer",
        KeywordValue::Boolean => "a boolean",
        KeywordValue::Text | KeywordValue::Reference => "a string",
        KeywordValue::Value => "a value",
        KeywordValue::Values => "a list with a value",
    }
}

/// The type that a name means in JSON Schema or in a programming language.
fn type_named(name: &str) -> Option<TypeSet> {
    let name = name.to_ascii_lowercase();
    TypeSet::named(match name.as_str() {
        "str" | "text" | "char" | "varchar" => "string",
        "int" | "int32" | "int64" | "long" => "integer",
        "float" | "double" | "decimal" => "number",
        "bool" => "boolean",
        "list" | "tuple" | "set" => "array",
        "dict" | "map" | "struct" | "record" => "object",
        "none" | "nil" | "undefined" => "null",
        name => name,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn repair_of(mut schema: Value) -> (Value, Vec<String>) {
        let repairs = repair(&mut schema);
        let repairs = repairs.iter().map(|it| format!("{}: {}", it.path, it.message)).collect();
        (schema, repairs)
    }

    #[test]
    fn invalid_values_are_repaired_or_left_out() {
        for (written, expected, repair) in [
            (json!({"properties": []}), json!({"properties": {}}), "properties: [] became {}"),
            (
                json!({"properties": {"a": {"required": true}, "b": {"required": false}}}),
                json!({"properties": {"a": {}, "b": {}}, "required": ["a"]}),
                "properties.a.required: true moved to `required` of the object",
            ),
            (
                json!({"type": "any"}),
                json!({}),
                r#"type: expected a type or a list of types, found "any"; left out"#,
            ),
            (json!({"type": "str"}), json!({"type": "string"}), r#"type: "str" became "string""#),
            (
                json!({"type": ["STRING", "null"]}),
                json!({"type": ["string", "null"]}),
                r#"type: ["STRING","null"] became ["string","null"]"#,
            ),
            (json!({"minLength": "3"}), json!({"minLength": 3}), r#"minLength: "3" became 3"#),
            (
                json!({"minLength": -1}),
                json!({}),
                "minLength: expected a non-negative integer, found -1; left out",
            ),
            (
                json!({"enum": []}),
                json!({}),
                "enum: expected a list with a value, found []; left out",
            ),
            (
                json!({"anyOf": []}),
                json!({}),
                "anyOf: expected a list of schemas, found []; left out",
            ),
            (
                json!({"additionalProperties": "false"}),
                json!({"additionalProperties": false}),
                r#"additionalProperties: "false" became false"#,
            ),
            (json!({"required": "a"}), json!({"required": ["a"]}), r#"required: "a" became ["a"]"#),
            (
                json!({"properties": {"a": null}}),
                json!({"properties": {"a": {}}}),
                "properties.a: expected a schema, found null; any value is accepted",
            ),
            (
                json!({"properties": {"a": "integer"}}),
                json!({"properties": {"a": {"type": "integer"}}}),
                r#"properties.a: "integer" became the type "integer""#,
            ),
            (
                json!({"items": {"anyOf": {"type": "int"}}}),
                json!({"items": {"anyOf": [{"type": "integer"}]}}),
                r#"items.anyOf.0.type: "int" became "integer""#,
            ),
            (
                json!({"description": null}),
                json!({}),
                "description: expected a string, found null; left out",
            ),
        ] {
            let (schema, repairs) = repair_of(written);
            assert_eq!(schema, expected);
            assert!(repairs.iter().any(|it| it == repair), "{repair}: {repairs:?}");
        }
    }

    #[test]
    fn values_valid_in_any_draft_stay() {
        for schema in [
            json!({"type": "object", "properties": {"a": {"minimum": 1, "exclusiveMinimum": true}}}),
            json!({"items": [{"type": "string"}], "additionalItems": false, "minItems": 1.0}),
            json!({"enum": [null], "const": [], "default": null, "examples": [], "x-own": null}),
            json!({"dependencies": {"a": ["b"], "c": {}}, "not": true, "definitions": {"d": false}}),
            json!({"$schema": "http://json-schema.org/draft-03/schema#", "type": "any"}),
        ] {
            assert_eq!(repair_of(schema.clone()), (schema, vec![]));
        }
    }
}
