//! Merges two schemas that must both hold.

use gramc_json_schema::type_set::TypeSet;
use serde_json::{Map, Number, Value};

use super::parts::Object;
use gramc_json_schema::keywords::{Keyword, name as k};
use gramc_json_schema::merge::intersect;

/// Whether [`merge`] can merge two schemas into one that accepts what both accept.
pub(super) fn can_merge(into: &Object, from: &Object) -> bool {
    closes_over(into, from)
        && closes_over(from, into)
        && from.iter().all(|(key, new)| {
            into.get(key).is_none_or(|old| old == new || can_merge_key(key, old, new))
        })
}

fn can_merge_key(key: &str, old: &Value, new: &Value) -> bool {
    use Keyword as K;
    match Keyword::of(key) {
        K::Properties | K::Items | K::Defs | K::Definitions => {
            let (Value::Object(old), Value::Object(new)) = (old, new) else { return false };
            if Keyword::of(key) == K::Items {
                return can_merge(old, new);
            }
            new.iter().all(|(key, new)| match (old.get(key), new) {
                (None, _) => true,
                (Some(old), new) if old == new => true,
                (Some(Value::Object(old)), Value::Object(new)) => can_merge(old, new),
                _ => false,
            })
        }
        K::MultipleOf | K::MinContains | K::MaxContains => false,
        K::AdditionalProperties => is_anything(old) || is_anything(new),
        keyword => {
            keyword.is_annotation()
                || intersect(keyword, old, new).is_some_and(|both| both != Value::Array(Vec::new()))
        }
    }
}

/// Whether `additionalProperties` and `patternProperties` of `schema` leave the properties of
/// `other` unconstrained.
fn closes_over(schema: &Object, other: &Object) -> bool {
    let open = schema.get(k::ADDITIONAL_PROPERTIES).is_none_or(is_anything)
        && !schema.contains_key(k::PATTERN_PROPERTIES);
    let Some(Value::Object(properties)) = other.get(k::PROPERTIES) else { return true };
    let own = schema.get(k::PROPERTIES).and_then(Value::as_object);
    open || properties.keys().all(|key| own.is_some_and(|own| own.contains_key(key)))
}

/// Whether a schema accepts every value.
pub(super) fn is_anything(schema: &Value) -> bool {
    match schema {
        Value::Bool(all) => *all,
        Value::Object(map) => map.keys().all(|key| Keyword::of(key).is_annotation()),
        _ => false,
    }
}

/// Merges two schemas for which [`can_merge`] is true. Annotations of `into` take precedence,
/// except that descriptions are joined.
pub(super) fn merge(into: &mut Object, from: Object) {
    for (key, new) in from {
        match into.get_mut(&key) {
            None => {
                into.insert(key, new);
            }
            Some(old) if *old == new => {}
            Some(old) => merge_key(&key, old, new),
        }
    }
}

fn merge_key(key: &str, old: &mut Value, new: Value) {
    use Keyword as K;
    match (Keyword::of(key), &mut *old, new) {
        (K::Properties | K::Defs | K::Definitions, Value::Object(old), Value::Object(new)) => {
            for (key, new) in new {
                match (old.get_mut(&key), new) {
                    (None, new) => {
                        old.insert(key, new);
                    }
                    (Some(Value::Object(old)), Value::Object(new)) => merge(old, new),
                    _ => {}
                }
            }
        }
        (K::Items, Value::Object(old), Value::Object(new)) => merge(old, new),
        (K::AdditionalProperties, old, new) if is_anything(old) => *old = new,
        (K::Description, Value::String(old), Value::String(new)) if !old.contains(new.as_str()) => {
            old.push(' ');
            old.push_str(&new);
        }
        (keyword, old, new) => {
            if let Some(both) = intersect(keyword, old, &new) {
                *old = both;
            }
        }
    }
}

/// Whether a number is less than another one.
pub(super) fn is_less(a: &Number, b: &Number) -> bool {
    gramc_json_schema::numbers::compare(a, b).is_lt()
}

/// Whether a keyword accepts every value, so that a sentence can omit it.
pub(super) fn says_nothing(keyword: Keyword, value: &Value) -> bool {
    use Keyword as K;
    match (keyword, value) {
        (K::Properties | K::PatternProperties, Value::Object(map)) => {
            map.values().all(is_anything) && (keyword != K::Properties || map.is_empty())
        }
        (K::Required, Value::Array(keys)) => keys.is_empty(),
        (K::DependentRequired | K::DependentSchemas | K::Defs | K::Definitions, value) => {
            value.as_object().is_some_and(Map::is_empty)
        }
        (K::PropertyNames, value) => accepts_all_strings(value),
        (
            K::AdditionalProperties
            | K::UnevaluatedProperties
            | K::AdditionalItems
            | K::UnevaluatedItems
            | K::Items,
            value,
        ) => is_anything(value),
        (K::MinProperties | K::MinItems | K::MinLength, value) => value.as_u64() == Some(0),
        (K::UniqueItems, value) => *value == Value::Bool(false),
        _ => keyword.is_annotation(),
    }
}

/// Whether a schema accepts every string.
fn accepts_all_strings(schema: &Value) -> bool {
    let Value::Object(map) = schema else { return *schema == Value::Bool(true) };
    map.iter().all(|(key, value)| match Keyword::of(key) {
        Keyword::Type => TypeSet::of_keyword(value).is_some_and(|types| types.has(TypeSet::STRING)),
        keyword => says_nothing(keyword, value),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn bounds_beyond_64_bits_are_compared_exactly() {
        let bound = |text: &str| -> Value { serde_json::from_str(text).unwrap_or_default() };
        let (small, large) = ("18446744073709551616", "18446744073709551617");
        for (one, other) in [(small, large), (large, small)] {
            let mut schema = json!({"minimum": bound(one)});
            if let Some(map) = schema.as_object_mut() {
                merge_key("minimum", &mut map["minimum"], bound(other));
            }
            assert_eq!(schema["minimum"], bound(large));
        }
    }
}
