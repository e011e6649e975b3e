//! The longest texts and lists.

use serde_json::Value;

use super::with_types;
use crate::containment::examples;
use crate::keywords::name as k;
use crate::pointer::follow;

/// The longest text and list that are made.
const MAX_TEXT: u64 = 20_000;
const MAX_LIST: u64 = 300;

/// Values like a small one in which one property, or the whole value, is as long as it may be. The schema
/// may refuse them.
pub(super) fn variants(schema: &Value, small: &Value) -> Vec<Value> {
    if let Some(value) = longest(schema, schema) {
        return vec![value];
    }
    let properties = schema.get(k::PROPERTIES).and_then(Value::as_object);
    let variants = properties.into_iter().flatten().filter_map(|(name, property)| {
        let mut changed = small.as_object()?.clone();
        changed.insert(name.clone(), longest(schema, property)?);
        Some(Value::Object(changed))
    });
    variants.collect()
}

/// The longest text or list of a schema that says how long it may be.
fn longest(root: &Value, schema: &Value) -> Option<Value> {
    let schema = follow(root, schema)?;
    let size = |key: &str, most: u64| {
        let size =
            schema.get(key).and_then(Value::as_u64).filter(|size| (1..=most).contains(size))?;
        usize::try_from(size).ok()
    };
    match schema.get(k::TYPE).and_then(Value::as_str)? {
        "string" => Some("a".repeat(size(k::MAX_LENGTH, MAX_TEXT)?).into()),
        "array" => {
            let count = size(k::MAX_ITEMS, MAX_LIST)?;
            let any = Value::Bool(true);
            let items = examples(&with_types(root, schema.get(k::ITEMS).unwrap_or(&any)), count);
            let all = items.iter().cycle().take(if items.is_empty() { 0 } else { count });
            Some(all.cloned().collect())
        }
        _ => None,
    }
}
