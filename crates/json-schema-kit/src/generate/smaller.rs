//! Values that differ from another one in one place.

use serde_json::{Map, Value, json};

/// Values that are simpler than another one in one place, the much simpler ones first: a property or an
/// item is left out, a text is shorter, a number is nearer to 0.
pub fn smaller(value: &Value) -> Vec<Value> {
    let mut found = match value {
        Value::Null | Value::Bool(false) => Vec::new(),
        Value::Bool(true) => vec![json!(false)],
        Value::Number(number) => numbers(number),
        Value::String(text) => texts(text),
        Value::Array(items) => without_items(items),
        Value::Object(map) => map.keys().map(|name| without(map, name)).collect(),
    };
    parts(value, &mut found, smaller);
    found
}

/// Values that a schema which allows `value` may not allow.
pub(super) fn spoiled(value: &Value) -> Vec<Value> {
    let mut found: Vec<Value> =
        [json!(null), json!([[]]), json!("\u{7f}"), json!({"\u{7f}": 0}), json!(-1.5e300)]
            .into_iter()
            .filter(|it| std::mem::discriminant(it) != std::mem::discriminant(value))
            .collect();
    match value {
        Value::Number(_) => found.extend([json!(0.5), json!(-(1_i64 << 53)), json!(1_i64 << 53)]),
        Value::String(text) => {
            found.extend([json!(""), json!(format!("{text}\u{7f}")), json!("x".repeat(5_000))]);
        }
        Value::Array(items) => {
            found.extend(without_items(items));
            let longer = items.iter().chain(items.last());
            found.push(longer.cloned().collect());
        }
        Value::Object(map) => {
            found.extend(map.keys().map(|name| without(map, name)));
            let mut more = map.clone();
            more.insert("undeclared".to_owned(), json!(1));
            found.push(more.into());
        }
        Value::Null | Value::Bool(_) => {}
    }
    parts(value, &mut found, spoiled);
    found
}

/// Adds the values in which one part is changed.
fn parts(value: &Value, found: &mut Vec<Value>, change: fn(&Value) -> Vec<Value>) {
    match value {
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                found.extend(change(item).into_iter().map(|changed| {
                    let mut items = items.clone();
                    items[at] = changed;
                    Value::Array(items)
                }));
            }
        }
        Value::Object(map) => {
            for (name, item) in map {
                found.extend(change(item).into_iter().map(|changed| {
                    let mut map = map.clone();
                    map.insert(name.clone(), changed);
                    Value::Object(map)
                }));
            }
        }
        _ => {}
    }
}

fn without(map: &Map<String, Value>, name: &str) -> Value {
    map.iter()
        .filter(|(key, _)| *key != name)
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect()
}

fn without_items(items: &[Value]) -> Vec<Value> {
    let mut found = Vec::new();
    if items.len() > 1 {
        found.push(Value::from(&items[..items.len() / 2]));
        found.push(Value::from(&items[items.len() / 2..]));
    }
    // Long lists are halved until it is worth to look at each item.
    if items.len() <= 16 {
        found.extend((0..items.len()).map(|at| {
            let others = items.iter().enumerate().filter(|(other, _)| *other != at);
            others.map(|(_, item)| item.clone()).collect()
        }));
    }
    found
}

fn texts(text: &str) -> Vec<Value> {
    let length = text.chars().count();
    let first = |count: usize| text.chars().take(count).collect::<String>();
    let last = |count: usize| text.chars().skip(length - count).collect::<String>();
    let mut found: Vec<String> = Vec::new();
    if length > 0 {
        found.extend([
            String::new(),
            first(length / 2),
            last(length / 2),
            first(length - 1),
            last(length - 1),
        ]);
    }
    if text.chars().any(|c| c != 'a') {
        found.push("a".repeat(length));
    }
    found.dedup();
    found.retain(|it| it != text);
    found.into_iter().map(Value::from).collect()
}

fn numbers(number: &serde_json::Number) -> Vec<Value> {
    if let Some(whole) = number.as_i64() {
        let candidates = [0, 1, whole / 2, whole - whole.signum()];
        let nearer =
            |it: &i64| it.unsigned_abs() < whole.unsigned_abs() || (*it > 0 && *it == -whole);
        let mut found: Vec<i64> = candidates.into_iter().filter(nearer).collect();
        found.dedup();
        return found.into_iter().map(Value::from).collect();
    }
    let Some(fraction) = number.as_f64() else { return Vec::new() };
    let candidates = [0.0, fraction.trunc(), (fraction / 2.0).trunc()];
    let nearer = candidates.into_iter().filter(|it| it.abs() < fraction.abs());
    #[expect(clippy::cast_possible_truncation, reason = "it is a small whole number")]
    nearer.map(|it| if it.abs() < 1e15 { json!(it as i64) } else { json!(it) }).collect()
}
