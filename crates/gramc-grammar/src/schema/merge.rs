//! The intersection of two schemas, as one schema.

use std::collections::HashSet;

use gramc_json_schema::keywords::{Keyword, name as k};
use gramc_json_schema::merge::intersect;
use serde_json::{Map, Value, json};

/// The most members of a union that two unions are combined into.
const MAX_PAIRS: usize = 64;

/// Keywords that apply other schemas to the same value.
pub(super) const APPLICATORS: [&str; 7] =
    [k::REF, k::ALL_OF, k::ANY_OF, k::ONE_OF, k::IF, k::NOT, k::DEPENDENT_SCHEMAS];

/// A schema of the values that two schemas accept, the second one of which is within the first one.
/// `None` if keywords cannot be combined.
pub(super) fn merge(one: &Value, other: &Value) -> Option<Value> {
    match (one, other) {
        (Value::Bool(true), schema) | (schema, Value::Bool(true)) => Some(schema.clone()),
        (Value::Bool(false), _) | (_, Value::Bool(false)) => Some(Value::Bool(false)),
        (Value::Object(one), Value::Object(other)) => {
            if let (Some(one), Some(other)) = (one.get(k::CONST), other.get(k::CONST))
                && !gramc_json_schema::values::same(one, other)
            {
                return Some(Value::Bool(false));
            }
            maps(one, &seal(other)?).map(Value::Object)
        }
        _ => None,
    }
}

type Schema = Map<String, Value>;

/// A schema whose `unevaluated…` keywords are those for further properties and items: within
/// another schema, they say nothing of what that one declares.
fn seal(schema: &Schema) -> Option<Schema> {
    let mut sealed = schema.clone();
    for (key, plain) in
        [(k::UNEVALUATED_PROPERTIES, k::ADDITIONAL_PROPERTIES), (k::UNEVALUATED_ITEMS, k::ITEMS)]
    {
        let Some(rest) = sealed.remove(key) else { continue };
        if APPLICATORS.iter().any(|key| schema.contains_key(*key))
            || schema.contains_key(k::CONTAINS)
        {
            return None;
        }
        sealed.entry(plain).or_insert(rest);
    }
    Some(sealed)
}

fn maps(one: &Schema, other: &Schema) -> Option<Schema> {
    let mut merged = one.clone();
    properties(&mut merged, one, other)?;
    for (key, value) in other {
        let key = key.as_str();
        if matches!(key, k::PROPERTIES | k::ADDITIONAL_PROPERTIES | k::PATTERN_PROPERTIES) {
            continue;
        }
        let Some(known) = merged.get(key).filter(|known| *known != value).cloned() else {
            merged.insert(key.to_owned(), value.clone());
            continue;
        };
        match key {
            k::REF | k::NOT | k::IF | k::THEN | k::ELSE | k::DEPENDENT_SCHEMAS | k::CONTAINS => {
                let left = whole_keyword(key, other);
                conjunction(&mut merged, left);
            }
            k::ALL_OF => conjunction(&mut merged, json!({"allOf": value})),
            _ => {
                let combined = keyword(key, &known, value)?;
                merged.insert(key.to_owned(), combined);
            }
        }
    }
    close_if_stripped(&mut merged, one, other);
    let is_tuple = |schema: &Schema| schema.contains_key(k::PREFIX_ITEMS);
    let says_items = |schema: &Schema| is_tuple(schema) || schema.contains_key(k::ITEMS);
    let tuples = is_tuple(one) || is_tuple(other);
    let differ = one.get(k::PREFIX_ITEMS) != other.get(k::PREFIX_ITEMS);
    (!(tuples && differ && says_items(one) && says_items(other))).then_some(merged)
}

/// Refuses undeclared properties if one schema requires a name and another one declares properties,
/// but not this one: the check strips it.
fn close_if_stripped(merged: &mut Schema, one: &Schema, other: &Schema) {
    let declares = |schema: &Schema, name: &Value| {
        let properties = schema.get(k::PROPERTIES).and_then(Value::as_object);
        properties.zip(name.as_str()).is_some_and(|(map, name)| map.contains_key(name))
    };
    let required = |schema: &Schema| -> HashSet<Value> {
        let names = schema.get(k::REQUIRED).and_then(Value::as_array);
        names.into_iter().flatten().cloned().collect()
    };
    // What a schema with properties requires. Others strip nothing.
    let kept = [one, other].into_iter().filter_map(|schema| {
        let properties = schema.get(k::PROPERTIES).and_then(Value::as_object);
        properties.is_some_and(|properties| !properties.is_empty()).then(|| required(schema))
    });
    let kept: Vec<HashSet<Value>> = kept.collect();
    let names = merged.get(k::REQUIRED).and_then(Value::as_array);
    let lost = names.into_iter().flatten().any(|name| {
        !declares(merged, name) && kept.iter().any(|required| !required.contains(name))
    });
    if lost {
        merged.entry(k::ADDITIONAL_PROPERTIES).or_insert(Value::Bool(false));
    }
}

/// A keyword, with those that it only means something together with.
fn whole_keyword(key: &str, schema: &Schema) -> Value {
    let keys: &[&str] = match key {
        k::IF | k::THEN | k::ELSE => &[k::IF, k::THEN, k::ELSE],
        k::CONTAINS => &[k::CONTAINS, k::MIN_CONTAINS, k::MAX_CONTAINS],
        _ => return json!({key: schema[key]}),
    };
    let found = keys.iter().filter_map(|&key| Some((key.to_owned(), schema.get(key)?.clone())));
    Value::Object(found.collect())
}

/// Adds a schema to `allOf`, from where it is merged once the own keywords are resolved.
fn conjunction(merged: &mut Schema, schema: Value) {
    match merged.get_mut(k::ALL_OF) {
        Some(Value::Array(members)) if !members.contains(&schema) => members.push(schema),
        Some(_) => {}
        None => {
            merged.insert(k::ALL_OF.to_owned(), json!([schema]));
        }
    }
}

fn keyword(key: &str, one: &Value, other: &Value) -> Option<Value> {
    match key {
        k::ITEMS | k::PROPERTY_NAMES => both(one, other),
        k::PATTERN => {
            // A pattern that begins at the start of the text needs nothing before it.
            let ahead = |pattern: &str| {
                if pattern.starts_with('^') && !pattern.contains('|') {
                    format!("(?={pattern})")
                } else {
                    format!("(?=[\\s\\S]*(?:{pattern}))")
                }
            };
            Some(format!("^{}{}", ahead(one.as_str()?), ahead(other.as_str()?)).into())
        }
        k::DEPENDENT_REQUIRED => {
            let mut map = one.as_object()?.clone();
            for (name, needed) in other.as_object()? {
                let known = map.get(name).cloned().unwrap_or_else(|| json!([]));
                map.insert(name.clone(), intersect(Keyword::Required, &known, needed)?);
            }
            Some(map.into())
        }
        k::ANY_OF | k::ONE_OF => {
            let (one, other) = (one.as_array()?, other.as_array()?);
            let pairs =
                one.iter().flat_map(|one| other.iter().map(move |it| json!({"allOf": [one, it]})));
            (one.len() * other.len() <= MAX_PAIRS).then(|| pairs.collect())
        }
        // Formats, encodings and whatever is not known here.
        k::FORMAT
        | k::CONTENT_ENCODING
        | k::PREFIX_ITEMS
        | k::UNEVALUATED_PROPERTIES
        | k::UNEVALUATED_ITEMS
        | k::ADDITIONAL_ITEMS
        | k::DEPENDENCIES
        | k::DYNAMIC_REF => None,
        k::CONST | k::NULLABLE => Some(one.clone()),
        key if Keyword::of(key).is_annotation() => Some(one.clone()),
        key => intersect(Keyword::of(key), one, other),
    }
}

/// Both schemas. If they cannot be merged, that is for their place to say.
fn both(one: &Value, other: &Value) -> Option<Value> {
    match (one, other) {
        (Value::Bool(_), _) | (_, Value::Bool(_)) => merge(one, other),
        _ => Some(json!({"allOf": [one, other]})),
    }
}

/// Merges `properties`, `patternProperties` and `additionalProperties`, which depend on each other.
fn properties(merged: &mut Schema, one: &Schema, other: &Schema) -> Option<()> {
    let list = |schema: &Schema, key: &str| -> Schema {
        schema.get(key).and_then(Value::as_object).cloned().unwrap_or_default()
    };
    let patterns = |schema: &Schema| list(schema, k::PATTERN_PROPERTIES);
    if !patterns(one).is_empty() && !patterns(other).is_empty() && patterns(one) != patterns(other)
    {
        return None;
    }
    // What one schema says of further properties also holds for those that the other one declares.
    let rest = |schema: &Schema| schema.get(k::ADDITIONAL_PROPERTIES).cloned();
    let limits = |schema: &Schema| rest(schema).is_some_and(|it| it != Value::Bool(true));
    if (limits(one) && !patterns(other).is_empty()) || (limits(other) && !patterns(one).is_empty())
    {
        return None;
    }
    let (mine, theirs) = (list(one, k::PROPERTIES), list(other, k::PROPERTIES));
    let mut all = Schema::new();
    for (name, own) in mine.iter().chain(theirs.iter().filter(|it| !mine.contains_key(it.0))) {
        let met = match mine.get(name) {
            Some(_) => theirs.get(name).cloned().or_else(|| rest(other)),
            None => rest(one),
        };
        let met = met.map_or_else(|| Some(own.clone()), |met| both(own, &met))?;
        all.insert(name.clone(), met);
    }
    if one.contains_key(k::PROPERTIES) || other.contains_key(k::PROPERTIES) {
        merged.insert(k::PROPERTIES.to_owned(), all.into());
    }
    let more = if patterns(one).is_empty() { patterns(other) } else { patterns(one) };
    if !more.is_empty() {
        merged.insert(k::PATTERN_PROPERTIES.to_owned(), more.into());
    }
    let further = match (rest(one), rest(other)) {
        (Some(one), Some(other)) => Some(both(&one, &other)?),
        (one, other) => one.or(other),
    };
    merged.extend(further.map(|further| (k::ADDITIONAL_PROPERTIES.to_owned(), further)));
    Some(())
}
