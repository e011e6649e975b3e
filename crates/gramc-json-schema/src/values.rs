//! JSON values, compared by their value and not by their text.

use serde_json::Value;

use crate::numbers::{same_number, significant_digits};

/// Whether two values are equal as JSON: `1` and `1.0` are.
pub fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => same_number(a, b),
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| same(a, b)))
        }
        _ => a == b,
    }
}

/// A text that is the same for two values exactly if they are equal as JSON.
pub fn canonical(value: &Value) -> String {
    match value {
        Value::Number(number) => match significant_digits(number.as_str()) {
            Some((digits, exponent)) => format!("{digits}e{exponent}"),
            None => number.to_string(),
        },
        Value::Array(items) => {
            let items: Vec<_> = items.iter().map(canonical).collect();
            format!("[{}]", items.join(","))
        }
        Value::Object(map) => {
            let entry = |(key, value): (&String, &Value)| format!("{key:?}:{}", canonical(value));
            let mut entries: Vec<_> = map.iter().map(entry).collect();
            entries.sort_unstable();
            format!("{{{}}}", entries.join(","))
        }
        value => value.to_string(),
    }
}
