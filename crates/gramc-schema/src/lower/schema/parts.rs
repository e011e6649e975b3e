//! Helpers for the keys of a schema.

use gramc_json_schema::type_set::TypeSet;
use serde_json::{Map, Value};

use gramc_json_schema::keywords::{Keyword, Keywords, name as k};

/// A schema with keywords.
pub(super) type Object = Map<String, Value>;

/// The keywords of a schema.
pub(super) fn keywords(map: &Object) -> Keywords {
    map.keys().fold(Keywords::NONE, |found, key| found.with(Keyword::of(key)))
}

/// Removes the keys whose keyword matches, and returns them with their values.
pub(super) fn take(map: &mut Object, which: impl Fn(Keyword) -> bool) -> Object {
    let names: Vec<String> = map.keys().filter(|key| which(Keyword::of(key))).cloned().collect();
    if names.len() <= FEW {
        // The other keys keep their order, and nothing is copied.
        let take = |name: String| map.shift_remove(&name).map(|value| (name, value));
        return names.into_iter().filter_map(take).collect();
    }
    let (taken, left) =
        std::mem::take(map).into_iter().partition(|(key, _)| which(Keyword::of(key)));
    *map = left;
    taken
}

/// The maximum number of keys that are removed one by one. Each removal shifts all later keys.
const FEW: usize = 8;

/// Sets a key's value. An existing key keeps its position.
pub(super) fn put(map: &mut Object, key: &str, value: impl Into<Value>) {
    map.insert(key.to_owned(), value.into());
}

/// Renames a key at its position.
pub(super) fn rename(map: &mut Object, from: &str, to: &str) {
    let Some(at) = map.keys().position(|key| key == from) else { return };
    if let Some(value) = map.shift_remove(from) {
        map.shift_remove(to);
        map.shift_insert(at.min(map.len()), to.to_owned(), value);
    }
}

/// A schema with one keyword.
pub(super) fn one(key: &str, value: impl Into<Value>) -> Object {
    let mut map = Map::new();
    map.insert(key.to_owned(), value.into());
    map
}

/// A schema as an object.
pub(super) fn object_of(schema: Value) -> Object {
    match schema {
        Value::Object(map) => map,
        Value::Bool(false) => one(k::NOT, Map::new()),
        _ => Map::new(),
    }
}

/// The types in a schema's `type`.
pub(super) fn types(map: &Object) -> Option<TypeSet> {
    map.get(k::TYPE).and_then(TypeSet::of_keyword)
}

/// A schema that accepts only null.
pub(super) fn null() -> Object {
    one(k::TYPE, TypeSet::NULL.keyword())
}

/// The number of objects in a schema.
pub(super) fn size(map: &Object, depth: usize) -> usize {
    if depth > gramc_json_schema::text::MAX_SCHEMA_DEPTH {
        return 0;
    }
    let of = |value: &Value| match value {
        Value::Object(map) => size(map, depth + 1),
        Value::Array(items) => {
            items.iter().filter_map(Value::as_object).map(|map| size(map, depth + 1)).sum()
        }
        _ => 0,
    };
    1 + map.values().map(of).sum::<usize>()
}

/// Calls `update` with each reference in a schema.
pub(in super::super) fn each_reference_mut(
    value: &mut Value,
    update: &mut dyn FnMut(&mut String),
    depth: usize,
) {
    if depth > gramc_json_schema::text::MAX_SCHEMA_DEPTH {
        return;
    }
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                match (Keyword::of(key), value) {
                    // These contain data, not schemas.
                    (
                        Keyword::Enum
                        | Keyword::Const
                        | Keyword::Default
                        | Keyword::Example
                        | Keyword::Examples,
                        _,
                    ) => {}
                    (Keyword::Ref, Value::String(to)) => update(to),
                    (_, value) => each_reference_mut(value, update, depth + 1),
                }
            }
        }
        Value::Array(items) => {
            for item in items {
                each_reference_mut(item, update, depth + 1);
            }
        }
        _ => {}
    }
}

/// The only values of a schema, if it lists them.
pub(in super::super) fn listed_values(schema: &Value) -> Option<&[Value]> {
    match (schema.get(k::CONST), schema.get(k::ENUM)) {
        (Some(value), _) => Some(std::slice::from_ref(value)),
        (None, Some(Value::Array(values))) => Some(values),
        _ => None,
    }
}

/// Rewrites keywords of older drafts to their 2020-12 equivalents.
pub(super) fn modernize(map: &mut Object, has: Keywords) {
    if map.get(k::ITEMS).is_some_and(Value::is_array) {
        rename(map, k::ITEMS, k::PREFIX_ITEMS);
        rename(map, k::ADDITIONAL_ITEMS, k::ITEMS);
    }
    for (bound, exclusive, keyword) in [
        (k::MINIMUM, k::EXCLUSIVE_MINIMUM, Keyword::ExclusiveMinimum),
        (k::MAXIMUM, k::EXCLUSIVE_MAXIMUM, Keyword::ExclusiveMaximum),
    ] {
        if has.has(keyword)
            && let Some(Value::Bool(is_exclusive)) = map.get(exclusive)
        {
            let is_exclusive = *is_exclusive;
            map.shift_remove(exclusive);
            if is_exclusive {
                rename(map, bound, exclusive);
            }
        }
    }
}

/// The same in a schema and all schemas inside it.
pub(in super::super) fn modernize_all(schema: &mut Value) {
    let Value::Object(map) = schema else { return };
    modernize(map, keywords(map));
    for (key, value) in map {
        Keyword::of(key).subschemas_mut(value).into_iter().for_each(modernize_all);
    }
}

/// Writes the end of each tuple as `maxItems`, in a schema and all schemas inside it.
pub(in super::super) fn limit_tuples(schema: &mut Value) {
    let Value::Object(map) = schema else { return };
    if map.get(k::ITEMS) == Some(&Value::Bool(false))
        && let Some(Value::Array(first)) = map.get(k::PREFIX_ITEMS)
    {
        let length = first.len() as u64;
        let most =
            map.get(k::MAX_ITEMS).and_then(Value::as_u64).map_or(length, |it| it.min(length));
        if map.contains_key(k::MAX_ITEMS) {
            map.shift_remove(k::ITEMS);
        } else {
            rename(map, k::ITEMS, k::MAX_ITEMS);
        }
        put(map, k::MAX_ITEMS, most);
    }
    for (key, value) in map {
        Keyword::of(key).subschemas_mut(value).into_iter().for_each(limit_tuples);
    }
}

/// The types that a keyword applies to. A format may be about any.
pub(super) const fn speaks_of(keyword: Keyword) -> TypeSet {
    if matches!(keyword, Keyword::Format) { TypeSet::ALL } else { keyword.applies_to() }
}

/// The types that a schema without `type` is about, inferred from its other keywords. `None` if
/// they apply to all types.
pub(super) fn infer_types(map: &Object) -> Option<TypeSet> {
    if let Some(value) = map.get(k::CONST) {
        return Some(TypeSet::of_values([value]));
    }
    if let Some(Value::Array(values)) = map.get(k::ENUM) {
        return Some(TypeSet::of_values(values)).filter(|types| *types != TypeSet::NONE);
    }
    let mut types = TypeSet::NONE;
    for key in map.keys() {
        let of = speaks_of(Keyword::of(key));
        if of != TypeSet::ALL {
            types = types.or(of);
        }
    }
    if map.contains_key(k::FORMAT) && types == TypeSet::NONE {
        types = TypeSet::STRING;
    }
    Some(types).filter(|types| *types != TypeSet::NONE)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn tuples_end_in_a_form_that_clients_of_older_drafts_read() {
        let first = json!([{"type": "string"}, {}]);
        let mut schema = json!({"items": {"prefixItems": first, "items": false}});
        limit_tuples(&mut schema);
        assert_eq!(schema, json!({"items": {"prefixItems": first, "maxItems": 2}}));
        let mut schema = json!({"prefixItems": first, "items": false, "maxItems": 1});
        limit_tuples(&mut schema);
        assert_eq!(schema, json!({"prefixItems": first, "maxItems": 1}));
    }
}
