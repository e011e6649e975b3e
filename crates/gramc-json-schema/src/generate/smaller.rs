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
pub(super) fn spoil(value: &Value) -> Vec<Value> {
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
    parts(value, &mut found, spoil);
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

/// How much is left out at a time: all, then a half, a quarter, and at last 1.
fn portions(length: usize) -> impl Iterator<Item = usize> {
    std::iter::successors(Some(length), |portion| Some(portion / 2)).take_while(|it| *it > 0)
}

fn without_items(items: &[Value]) -> Vec<Value> {
    let mut found = Vec::new();
    for portion in portions(items.len()) {
        // Of single items, a few: a long list is shortened by more first.
        let starts = (0..items.len()).step_by(portion).take(16);
        found.extend(starts.map(|start| {
            let end = (start + portion).min(items.len());
            items[..start].iter().chain(&items[end..]).cloned().collect()
        }));
    }
    found
}

fn texts(text: &str) -> Vec<Value> {
    let length = text.chars().count();
    let mut found: Vec<String> = Vec::new();
    for portion in portions(length) {
        found.push(text.chars().take(length - portion).collect());
        found.push(text.chars().skip(portion).collect());
    }
    if text.chars().any(|c| c != 'a') {
        found.push("a".repeat(length));
    }
    found.dedup();
    found.into_iter().map(Value::from).collect()
}

fn numbers(number: &serde_json::Number) -> Vec<Value> {
    if let Some(whole) = number.as_i64() {
        let portions = std::iter::successors(Some(whole), |portion| Some(portion / 2));
        let mut found: Vec<_> = portions
            .take_while(|it| *it != 0)
            .map(|portion| Value::from(whole - portion))
            .collect();
        if whole < 0 {
            found.extend(whole.checked_neg().map(Value::from));
        }
        return found;
    }
    let Some(fraction) = number.as_f64() else { return Vec::new() };
    let candidates = [0.0, fraction.trunc(), (fraction / 2.0).trunc()];
    let nearer = candidates.into_iter().filter(|it| it.abs() < fraction.abs());
    #[expect(clippy::cast_possible_truncation, reason = "it is a small whole number")]
    nearer.map(|it| if it.abs() < 1e15 { json!(it as i64) } else { json!(it) }).collect()
}
