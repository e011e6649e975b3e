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
    /// What was there, and what became of it.
    pub(super) what: String,
}

/// Repairs a schema and all schemas in it.
pub(super) fn mend(schema: &mut Value) -> Vec<SchemaRepair> {
    let mut repairs = Vec::new();
    let draft = schema.get(k::SCHEMA).and_then(Value::as_str).unwrap_or_default();
    // Draft 3 has the type `any` and a `required` of each property.
    if !draft.contains("json-schema.org/draft-03") && schema.is_object() {
        mend_schema(schema, &Path::ROOT, &mut repairs);
    }
    repairs
}

fn mend_schema(schema: &mut Value, path: &Path<'_>, repairs: &mut Vec<SchemaRepair>) {
    let map = match schema {
        Value::Object(map) => map,
        Value::Bool(_) => return,
        other => {
            let types = other.as_str().and_then(type_named);
            let what = match types {
                Some(types) => format!("{other} became the type {}", types.keyword()),
                None => format!("{other} is no schema, so any value is accepted"),
            };
            repairs.push(SchemaRepair { path: path.text(), what });
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
        let mended = match keyword.value() {
            // This is not a keyword of JSON Schema, so any value is valid.
            _ if keyword == K::Nullable => Mended::Valid,
            KeywordValue::Schema if value.is_null() => Mended::Removed,
            KeywordValue::Schema => {
                mend_schema(value, &path, repairs);
                Mended::Valid
            }
            KeywordValue::SchemaOrList | KeywordValue::SchemaList => mend_list(keyword, value),
            KeywordValue::SchemaMap | KeywordValue::SchemaOrNamesMap | KeywordValue::NamesMap => {
                match value {
                    Value::Object(_) => Mended::Valid,
                    _ if keyword == K::Properties => Mended::Became(Map::new().into()),
                    _ => Mended::Removed,
                }
            }
            _ => mend_operand(keyword, value),
        };
        match mended {
            Mended::Valid => {}
            Mended::Became(new) => {
                let what = format!("{value} became {new}");
                repairs.push(SchemaRepair { path: path.text(), what });
                *value = new;
            }
            Mended::Removed => {
                let what = format!("{value} is no value of `{key}` and is left out");
                repairs.push(SchemaRepair { path: path.text(), what });
                map.shift_remove(&key);
                continue;
            }
        }
        if keyword.value() != KeywordValue::Schema {
            mend_parts(keyword, map.get_mut(&key), &path, repairs);
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

/// What became of the value of a keyword.
enum Mended {
    Valid,
    Became(Value),
    Removed,
}

/// Repairs the schemas in the value of a keyword.
fn mend_parts(
    keyword: K,
    value: Option<&mut Value>,
    path: &Path<'_>,
    repairs: &mut Vec<SchemaRepair>,
) {
    match (keyword.value(), value) {
        (KeywordValue::SchemaList | KeywordValue::SchemaOrList, Some(Value::Array(parts))) => {
            for (at, part) in parts.iter_mut().enumerate() {
                mend_schema(part, &path.index(at), repairs);
            }
        }
        (KeywordValue::SchemaOrList, Some(part)) => mend_schema(part, path, repairs),
        (KeywordValue::SchemaMap, Some(Value::Object(parts))) => {
            for (key, part) in parts {
                mend_schema(part, &path.key(key), repairs);
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
            let what = format!("{is_required} moved to `required` of the object");
            if *is_required {
                required.push(key.as_str().into());
            }
            repairs.push(SchemaRepair { path: path.key(key).key(k::REQUIRED).text(), what });
            property.shift_remove(k::REQUIRED);
        }
    }
}

fn mend_list(keyword: K, value: &Value) -> Mended {
    let is_list_only = keyword.value() == KeywordValue::SchemaList;
    match value {
        Value::Array(parts) if parts.is_empty() => Mended::Removed,
        Value::Object(_) if is_list_only => Mended::Became(vec![value.clone()].into()),
        Value::Array(_) | Value::Object(_) => Mended::Valid,
        Value::Bool(_) if !is_list_only => Mended::Valid,
        _ => Mended::Removed,
    }
}

/// Repairs a value without schemas.
fn mend_operand(keyword: K, value: &Value) -> Mended {
    let number = |text: &str| text.trim().parse::<Number>().ok();
    match (keyword.value(), value) {
        (KeywordValue::Types, value) => mend_types(value),
        (KeywordValue::Names, Value::Array(names)) => {
            let texts = names.iter().filter(|name| name.is_string());
            if texts.clone().count() == names.len() {
                Mended::Valid
            } else {
                Mended::Became(texts.cloned().collect::<Vec<_>>().into())
            }
        }
        (KeywordValue::Names, Value::String(_)) => Mended::Became(vec![value.clone()].into()),
        (KeywordValue::Number, Value::Bool(_))
            if matches!(keyword, K::ExclusiveMinimum | K::ExclusiveMaximum) =>
        {
            Mended::Valid
        }
        (KeywordValue::Count, Value::Number(count)) => match count.as_f64() {
            Some(count) if count >= 0.0 && count.fract() == 0.0 => Mended::Valid,
            _ => Mended::Removed,
        },
        (KeywordValue::Number | KeywordValue::Count, Value::String(text)) => {
            match number(text).filter(|it| keyword.value() == KeywordValue::Number || it.is_u64()) {
                Some(number) => Mended::Became(number.into()),
                None => Mended::Removed,
            }
        }
        (KeywordValue::Boolean, Value::String(text)) if text == "true" || text == "false" => {
            Mended::Became((text == "true").into())
        }
        (KeywordValue::Values, Value::Array(values)) if keyword == K::Enum && values.is_empty() => {
            Mended::Removed
        }
        (KeywordValue::Values, value) if !value.is_array() && keyword == K::Examples => {
            Mended::Became(vec![value.clone()].into())
        }
        (KeywordValue::Number, Value::Number(_))
        | (KeywordValue::Values, Value::Array(_))
        | (KeywordValue::Boolean, Value::Bool(_))
        | (KeywordValue::Text | KeywordValue::Reference, Value::String(_))
        | (KeywordValue::Value, _) => Mended::Valid,
        _ => Mended::Removed,
    }
}

fn mend_types(value: &Value) -> Mended {
    let Value::Array(names) = value else {
        let name = value.as_str().unwrap_or_default();
        return match TypeSet::named(name) {
            Some(_) => Mended::Valid,
            None => type_named(name).map_or(Mended::Removed, |it| Mended::Became(it.keyword())),
        };
    };
    let is_valid = |name: &Value| name.as_str().and_then(TypeSet::named).is_some();
    if !names.is_empty() && names.iter().all(is_valid) {
        return Mended::Valid;
    }
    let known = names.iter().map(|name| name.as_str().and_then(type_named));
    match known.collect::<Option<Vec<_>>>() {
        Some(known) if !known.is_empty() => {
            Mended::Became(known.into_iter().fold(TypeSet::NONE, TypeSet::or).keyword())
        }
        // One of the types may be anything.
        _ => Mended::Removed,
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

    fn mended(mut schema: Value) -> (Value, Vec<String>) {
        let repairs = mend(&mut schema);
        let repairs = repairs.iter().map(|it| format!("{}: {}", it.path, it.what)).collect();
        (schema, repairs)
    }

    #[test]
    fn each_value_of_another_kind_is_repaired_or_left_out() {
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
                r#"type: "any" is no value of `type` and is left out"#,
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
                "minLength: -1 is no value of `minLength` and is left out",
            ),
            (json!({"enum": []}), json!({}), "enum: [] is no value of `enum` and is left out"),
            (json!({"anyOf": []}), json!({}), "anyOf: [] is no value of `anyOf` and is left out"),
            (json!({"required": "a"}), json!({"required": ["a"]}), r#"required: "a" became ["a"]"#),
            (
                json!({"properties": {"a": null}}),
                json!({"properties": {"a": {}}}),
                "properties.a: null is no schema, so any value is accepted",
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
                "description: null is no value of `description` and is left out",
            ),
        ] {
            let (schema, repairs) = mended(written);
            assert_eq!(schema, expected);
            assert!(repairs.iter().any(|it| it == repair), "{repair}: {repairs:?}");
        }
    }

    #[test]
    fn what_is_valid_in_any_draft_stays() {
        for schema in [
            json!({"type": "object", "properties": {"a": {"minimum": 1, "exclusiveMinimum": true}}}),
            json!({"items": [{"type": "string"}], "additionalItems": false, "minItems": 1.0}),
            json!({"enum": [null], "const": [], "default": null, "examples": [], "x-own": null}),
            json!({"dependencies": {"a": ["b"], "c": {}}, "not": true, "definitions": {"d": false}}),
            json!({"$schema": "http://json-schema.org/draft-03/schema#", "type": "any"}),
        ] {
            assert_eq!(mended(schema.clone()), (schema, vec![]));
        }
    }
}
