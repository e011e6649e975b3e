//! Small things that are done with the keys of a schema.

use serde_json::{Map, Value};

use super::super::type_set::TypeSet;
use json_schema_kit::keywords::{Keyword, Keywords};

/// The keywords that a schema has.
pub(super) fn keywords(map: &Map<String, Value>) -> Keywords {
    map.keys().fold(Keywords::NONE, |found, key| found.with(Keyword::of(key)))
}

/// Takes the keys out whose keyword is one of those.
pub(super) fn take(
    map: &mut Map<String, Value>,
    which: impl Fn(Keyword) -> bool,
) -> Map<String, Value> {
    let names: Vec<String> = map.keys().filter(|key| which(Keyword::of(key))).cloned().collect();
    if names.len() <= FEW {
        // What stays keeps its place, and nothing of it is copied.
        let take = |name: String| map.shift_remove(&name).map(|value| (name, value));
        return names.into_iter().filter_map(take).collect();
    }
    let (taken, left) =
        std::mem::take(map).into_iter().partition(|(key, _)| which(Keyword::of(key)));
    *map = left;
    taken
}

/// How many keys are taken out one by one, which moves all that stand behind them.
const FEW: usize = 8;

/// Gives a key a value, at its place if there is such a key.
pub(super) fn set(map: &mut Map<String, Value>, key: &str, value: Value) -> Option<Value> {
    match map.get_mut(key) {
        Some(old) => Some(std::mem::replace(old, value)),
        None => map.insert(key.to_owned(), value),
    }
}

/// Gives a key another name, in its place.
pub(super) fn rename(map: &mut Map<String, Value>, from: &str, to: &str) {
    let Some(at) = map.keys().position(|key| key == from) else { return };
    if let Some(value) = map.shift_remove(from) {
        map.shift_remove(to);
        map.shift_insert(at.min(map.len()), to.to_owned(), value);
    }
}

/// A schema of one keyword.
pub(super) fn one(key: &str, value: impl Into<Value>) -> Map<String, Value> {
    let mut map = Map::new();
    map.insert(key.to_owned(), value.into());
    map
}

/// A schema that takes no value.
pub(super) fn nothing() -> Map<String, Value> {
    one("not", Map::new())
}

/// A schema that takes null only.
pub(super) fn null() -> Map<String, Value> {
    one("type", TypeSet::NULL.keyword())
}

/// How many objects a schema consists of.
pub(super) fn size(map: &Map<String, Value>, depth: usize) -> usize {
    if depth > super::super::limits::MAX_JSON_DEPTH {
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

/// Brings the spellings of older drafts into today's, where both say the same.
pub(super) fn modernize(map: &mut Map<String, Value>, has: Keywords) {
    if map.get("items").is_some_and(Value::is_array) {
        rename(map, "items", "prefixItems");
        rename(map, "additionalItems", "items");
    }
    for (bound, exclusive, keyword) in [
        ("minimum", "exclusiveMinimum", Keyword::ExclusiveMinimum),
        ("maximum", "exclusiveMaximum", Keyword::ExclusiveMaximum),
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

/// The types of the values that a keyword speaks of.
pub(super) const fn speaks_of(keyword: Keyword) -> TypeSet {
    use Keyword as K;
    match keyword {
        K::Properties
        | K::Required
        | K::AdditionalProperties
        | K::PatternProperties
        | K::PropertyNames
        | K::MinProperties
        | K::MaxProperties
        | K::DependentRequired
        | K::DependentSchemas
        | K::Dependencies
        | K::UnevaluatedProperties => TypeSet::OBJECT,
        K::Items
        | K::PrefixItems
        | K::AdditionalItems
        | K::MinItems
        | K::MaxItems
        | K::UniqueItems
        | K::Contains
        | K::MinContains
        | K::MaxContains
        | K::UnevaluatedItems => TypeSet::ARRAY,
        K::MinLength
        | K::MaxLength
        | K::Pattern
        | K::ContentEncoding
        | K::ContentMediaType
        | K::ContentSchema => TypeSet::STRING,
        K::Minimum | K::Maximum | K::ExclusiveMinimum | K::ExclusiveMaximum | K::MultipleOf => {
            TypeSet::NUMBER.or(TypeSet::INTEGER)
        }
        _ => TypeSet::ALL,
    }
}

/// The types of values that a schema without `type` is about, by its other keywords. None: it says
/// nothing of them.
pub(super) fn inferred(map: &Map<String, Value>) -> Option<TypeSet> {
    if let Some(value) = map.get("const") {
        return Some(TypeSet::of_value(value));
    }
    if let Some(Value::Array(values)) = map.get("enum") {
        let types = values.iter().map(TypeSet::of_value).fold(TypeSet::NONE, TypeSet::or);
        let types =
            if types.has(TypeSet::NUMBER) { types.without(TypeSet::INTEGER) } else { types };
        return Some(types).filter(|types| *types != TypeSet::NONE);
    }
    let mut types = TypeSet::NONE;
    for key in map.keys() {
        let of = speaks_of(Keyword::of(key));
        if of != TypeSet::ALL {
            types = types.or(of);
        }
    }
    if map.contains_key("format") && types == TypeSet::NONE {
        types = TypeSet::STRING;
    }
    let types = if types.has(TypeSet::NUMBER) { types.without(TypeSet::INTEGER) } else { types };
    Some(types).filter(|types| *types != TypeSet::NONE)
}
