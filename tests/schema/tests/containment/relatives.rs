//! A schema and one that is much like it.

use gramc_language_tests::rng::Rng;
use serde_json::{Map, Value, json};

/// The places of all schemas inside of a schema, as JSON pointers, itself included.
fn places(schema: &Value) -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec![(String::new(), schema)];
    while let Some((place, schema)) = open.pop() {
        if let Value::Object(keywords) = schema {
            for (key, value) in keywords {
                let below = format!("{place}/{key}");
                match (key.as_str(), value) {
                    ("properties" | "$defs" | "patternProperties", Value::Object(map)) => {
                        open.extend(map.iter().map(|(name, schema)| {
                            let name = name.replace('~', "~0").replace('/', "~1");
                            (format!("{below}/{name}"), schema)
                        }));
                    }
                    ("anyOf" | "oneOf" | "allOf" | "prefixItems", Value::Array(items)) => {
                        open.extend(
                            items.iter().enumerate().map(|(at, s)| (format!("{below}/{at}"), s)),
                        );
                    }
                    ("items" | "additionalProperties" | "propertyNames" | "not", _) => {
                        open.push((below, value));
                    }
                    _ => {}
                }
            }
            found.push(place);
        }
    }
    found.sort();
    found
}

/// The schema after one to three small changes.
pub(crate) fn relative(rng: &mut Rng, schema: &Value) -> Value {
    let mut changed = schema.clone();
    for _ in 0..rng.between(1, 3) {
        let places = places(&changed);
        if places.is_empty() {
            break;
        }
        let place = &places[rng.below(places.len())];
        let root = changed.clone();
        if let Some(Value::Object(keywords)) = changed.pointer_mut(place) {
            for _ in 0..8 {
                if change(rng, keywords, &root, place.is_empty()) {
                    break;
                }
            }
        }
    }
    changed
}

/// Changes a schema in one way, if that way fits it.
fn change(rng: &mut Rng, schema: &mut Map<String, Value>, root: &Value, is_root: bool) -> bool {
    match schema.get("type").and_then(Value::as_str).map(str::to_owned).as_deref() {
        Some("integer" | "number") if rng.chance(60) => number(rng, schema),
        Some("string") if rng.chance(60) => text(rng, schema),
        Some("array") if rng.chance(60) => list(rng, schema),
        Some("object") if rng.chance(75) => object(rng, schema),
        _ => any(rng, schema, root, is_root),
    }
}

fn bound(rng: &mut Rng, schema: &mut Map<String, Value>, key: &str, otherwise: i64) {
    match schema.get(key).and_then(Value::as_i64) {
        Some(_) if rng.chance(20) => {
            schema.shift_remove(key);
        }
        Some(at) => {
            let by = i64::try_from(rng.between(1, 4)).unwrap();
            let at = if rng.chance(50) { at + by } else { at - by };
            schema.insert(key.to_owned(), at.max(if key.contains('L') { 0 } else { at }).into());
        }
        None => {
            schema.insert(key.to_owned(), otherwise.into());
        }
    }
}

fn number(rng: &mut Rng, schema: &mut Map<String, Value>) -> bool {
    let (low, high) = (i64::try_from(rng.below(6)).unwrap(), i64::try_from(rng.below(90)).unwrap());
    match rng.below(7) {
        0 | 1 => bound(rng, schema, "minimum", low - 3),
        2 | 3 => bound(rng, schema, "maximum", high + 5),
        4 => bound(rng, schema, "exclusiveMinimum", low - 4),
        5 => {
            let step = [json!(1), json!(2), json!(4), json!(0.5), json!(10)][rng.below(5)].clone();
            schema.insert("multipleOf".to_owned(), step);
        }
        _ => {
            let other = if schema["type"] == "integer" { "number" } else { "integer" };
            schema.insert("type".to_owned(), other.into());
        }
    }
    true
}

fn sizes(rng: &mut Rng, schema: &mut Map<String, Value>, least: &str, most: &str) {
    let key = if rng.chance(50) { least } else { most };
    let otherwise = if key == least { rng.below(3) } else { rng.between(2, 40) };
    let at = schema.get(key).and_then(Value::as_u64);
    let size = match at {
        Some(_) if rng.chance(25) => {
            schema.shift_remove(key);
            return;
        }
        Some(at) if rng.chance(50) => at.saturating_sub(1),
        Some(at) => at + 1,
        None => otherwise as u64,
    };
    schema.insert(key.to_owned(), size.into());
}

fn text(rng: &mut Rng, schema: &mut Map<String, Value>) -> bool {
    match rng.below(8) {
        0..3 => sizes(rng, schema, "minLength", "maxLength"),
        3 => {
            let pattern = rng.pick(&["^[a-z]+$", "^[a-z0-9_]+$", "a", "^.{1,8}$"]);
            schema.insert("pattern".to_owned(), pattern.into());
        }
        4 => return schema.shift_remove("pattern").is_some(),
        5 => {
            let format = rng.pick(&["date", "email", "uuid", "uri", "color"]);
            schema.insert("format".to_owned(), format.into());
        }
        6 => return schema.shift_remove("format").is_some(),
        _ => {
            if schema.contains_key("enum") {
                return false;
            }
            schema.insert("enum".to_owned(), json!(["low", "high", ""]));
        }
    }
    true
}

fn list(rng: &mut Rng, schema: &mut Map<String, Value>) -> bool {
    match rng.below(6) {
        0..3 => sizes(rng, schema, "minItems", "maxItems"),
        3 => {
            if schema.shift_remove("uniqueItems").is_none() {
                schema.insert("uniqueItems".to_owned(), true.into());
            }
        }
        4 => return schema.shift_remove("items").is_some(),
        _ => {
            if schema.contains_key("items") || schema.contains_key("prefixItems") {
                return false;
            }
            schema.insert("items".to_owned(), json!({"type": "string"}));
        }
    }
    true
}

fn object(rng: &mut Rng, schema: &mut Map<String, Value>) -> bool {
    let names: Vec<String> = schema
        .get("properties")
        .and_then(Value::as_object)
        .map_or_else(Vec::new, |properties| properties.keys().cloned().collect());
    match rng.below(10) {
        0 | 1 => {
            let choices =
                [json!(false), json!(true), json!({"type": "string"}), json!({"type": "integer"})];
            schema.insert("additionalProperties".to_owned(), choices[rng.below(4)].clone());
        }
        2 => return schema.shift_remove("additionalProperties").is_some(),
        3 | 4 => {
            let Some(Value::Array(required)) = schema.get_mut("required") else { return false };
            if required.is_empty() {
                return false;
            }
            required.remove(rng.below(required.len()));
        }
        5 => {
            if names.is_empty() {
                return false;
            }
            let name = names[rng.below(names.len())].clone();
            let required = schema.entry("required").or_insert_with(|| json!([]));
            let Value::Array(required) = required else { return false };
            if required.contains(&json!(name)) {
                return false;
            }
            required.push(name.into());
        }
        6 => {
            let Some(Value::Object(properties)) = schema.get_mut("properties") else {
                return false;
            };
            let added = [json!({"type": "string"}), json!({}), json!({"type": "integer"})];
            properties.insert("added".to_owned(), added[rng.below(3)].clone());
        }
        7 => {
            if names.is_empty() {
                return false;
            }
            let name = &names[rng.below(names.len())];
            if let Some(Value::Object(properties)) = schema.get_mut("properties") {
                properties.shift_remove(name);
            }
            if let Some(Value::Array(required)) = schema.get_mut("required") {
                required.retain(|other| other != name);
            }
        }
        8 => sizes(rng, schema, "minProperties", "maxProperties"),
        _ => {
            if schema.shift_remove("propertyNames").is_none() {
                let names = json!({"type": "string", "maxLength": 20});
                schema.insert("propertyNames".to_owned(), names);
            }
        }
    }
    true
}

fn any(rng: &mut Rng, schema: &mut Map<String, Value>, root: &Value, is_root: bool) -> bool {
    match rng.below(9) {
        0 => {
            schema.insert("description".to_owned(), "changed".into());
        }
        1 | 2 => {
            let Some(Value::Array(values)) = schema.get_mut("enum") else { return false };
            if rng.chance(50) && values.len() > 1 {
                values.remove(rng.below(values.len()));
            } else if !values.contains(&json!("more")) {
                values.push("more".into());
            }
        }
        3 | 4 => {
            let key = if schema.contains_key("anyOf") { "anyOf" } else { "oneOf" };
            let Some(Value::Array(members)) = schema.get_mut(key) else { return false };
            if rng.chance(50) && members.len() > 1 {
                members.remove(rng.below(members.len()));
            } else {
                let more =
                    [json!({"type": "null"}), json!({"type": "boolean"}), json!({"const": 7})];
                members.push(more[rng.below(3)].clone());
            }
        }
        5 => match schema.get("type").cloned() {
            Some(Value::String(name)) if name != "null" => {
                schema.insert("type".to_owned(), json!([name, "null"]));
            }
            Some(Value::Array(mut names)) if names.len() > 1 => {
                names.remove(rng.below(names.len()));
                schema.insert("type".to_owned(), names.into());
            }
            _ => return false,
        },
        6 if !is_root => {
            let own = Value::Object(std::mem::take(schema));
            schema.insert("anyOf".to_owned(), json!([own, {"type": "null"}]));
        }
        7 if !is_root => {
            let own = Value::Object(std::mem::take(schema));
            schema.insert("allOf".to_owned(), json!([own]));
        }
        _ => {
            let target = schema.get("$ref").and_then(Value::as_str).map(str::to_owned);
            let target = target.and_then(|to| root.pointer(&to[1..]).cloned());
            let Some(Value::Object(target)) = target else { return false };
            *schema = target;
        }
    }
    true
}
