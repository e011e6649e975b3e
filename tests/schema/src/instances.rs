//! Random values that may fit a schema.

use serde_json::{Map, Value, json};

use gramc_language_tests::rng::Rng;

const TEXTS: [&str; 14] = [
    "",
    "a",
    "abc",
    "low",
    "high",
    "more",
    "2024-02-29",
    "x@y.example",
    "a b",
    "A1_b",
    "äöü",
    "https://a.example/",
    "6f1b3f3e-9c1d-4a58-8f0e-3a1c2b4d5e6f",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
];

/// A random value.
fn wild(rng: &mut Rng, depth: usize) -> Value {
    match rng.below(if depth == 0 { 8 } else { 10 }) {
        0 => Value::Null,
        1 => rng.chance(50).into(),
        2 | 3 => (i64::try_from(rng.below(40)).unwrap_or_default() - 10).into(),
        4 => json!([0.5, -1.5, 2.0, 1e10][rng.below(4)]),
        5..8 => (rng.pick(&TEXTS)).into(),
        8 => (0..rng.below(3)).map(|_| wild(rng, depth - 1)).collect(),
        _ => {
            let mut map = Map::new();
            for _ in 0..rng.below(3) {
                let key = rng.pick(&["added", "a", "kind", "value"]);
                map.insert(key.to_owned(), wild(rng, depth - 1));
            }
            Value::Object(map)
        }
    }
}

/// A value that probably fits a schema.
pub fn instance(rng: &mut Rng, root: &Value, schema: &Value, depth: usize) -> Value {
    let Value::Object(keywords) = schema else { return wild(rng, depth.min(2)) };
    if rng.chance(1) {
        return wild(rng, depth.min(2));
    }
    if let Some(value) = keywords.get("const") {
        return value.clone();
    }
    if let Some(Value::Array(values)) = keywords.get("enum")
        && !values.is_empty()
    {
        return values[rng.below(values.len())].clone();
    }
    for key in ["anyOf", "oneOf", "allOf"] {
        if let Some(Value::Array(members)) = keywords.get(key)
            && !members.is_empty()
        {
            let member = &members[rng.below(members.len())];
            return instance(rng, root, member, depth);
        }
    }
    if let Some(target) = keywords.get("$ref").and_then(Value::as_str) {
        // Some types never end.
        if depth == 0 {
            return wild(rng, 0);
        }
        let target = root.pointer(target.trim_start_matches('#')).unwrap_or(&Value::Null);
        return instance(rng, root, target, depth.saturating_sub(1));
    }
    let name = match keywords.get("type") {
        Some(Value::String(name)) => name.clone(),
        Some(Value::Array(names)) if !names.is_empty() => {
            names[rng.below(names.len())].as_str().unwrap_or_default().to_owned()
        }
        _ if keywords.contains_key("properties") => "object".to_owned(),
        _ => String::new(),
    };
    typed(rng, root, keywords, &name, depth)
}

fn typed(
    rng: &mut Rng,
    root: &Value,
    keywords: &Map<String, Value>,
    name: &str,
    depth: usize,
) -> Value {
    let whole = |key: &str| keywords.get(key).and_then(Value::as_f64);
    let size = |key: &str| keywords.get(key).and_then(Value::as_u64);
    match name {
        "null" => Value::Null,
        "boolean" => rng.chance(50).into(),
        "integer" | "number" => {
            let low = whole("minimum").or(whole("exclusiveMinimum"));
            let high = whole("maximum").or(whole("exclusiveMaximum"));
            let low = low.unwrap_or(high.unwrap_or(20.0) - 20.0);
            let high = high.unwrap_or(low + 20.0).max(low);
            #[expect(clippy::cast_precision_loss, reason = "the number is small")]
            let at = low + (high - low) * (rng.below(41) as f64) / 40.0;
            match rng.below(4) {
                0 => json!(low.ceil()),
                1 => json!(high.floor()),
                2 if name == "number" => json!(at),
                #[expect(clippy::cast_possible_truncation, reason = "it is rounded")]
                _ => json!(at.round() as i64),
            }
        }
        "string" => {
            let least = usize::try_from(size("minLength").unwrap_or(0)).unwrap_or(0);
            let most = size("maxLength")
                .map_or(least + 30, |most| usize::try_from(most).unwrap_or_default());
            match rng.below(3) {
                0 => "a".repeat(rng.between(least, most.max(least)).min(5_000)).into(),
                1 => "b".repeat(if rng.chance(50) { least } else { most.min(5_000) }).into(),
                _ => (rng.pick(&TEXTS)).into(),
            }
        }
        "array" => list(rng, root, keywords, depth),
        "object" => object(rng, root, keywords, depth),
        _ => wild(rng, depth.min(2)),
    }
}

fn list(rng: &mut Rng, root: &Value, keywords: &Map<String, Value>, depth: usize) -> Value {
    let size = |key: &str| keywords.get(key).and_then(Value::as_u64);
    let prefix = keywords.get("prefixItems").and_then(Value::as_array);
    let prefix = prefix.map_or(&[][..], Vec::as_slice);
    let least = usize::try_from(size("minItems").unwrap_or(0)).unwrap_or_default().min(200);
    let most = size("maxItems")
        .map_or(least + 3, |most| usize::try_from(most).unwrap_or_default().min(200));
    let most = if depth == 0 { least } else { most.min(least + 4) };
    let mut count = rng.between(least, most.max(least));
    if keywords.get("items") == Some(&json!(false)) {
        count = count.min(prefix.len());
    }
    let below = depth.saturating_sub(1);
    let any = Value::Bool(true);
    (0..count)
        .map(|at| {
            let schema = prefix.get(at).or(keywords.get("items")).unwrap_or(&any);
            instance(rng, root, schema, below)
        })
        .collect()
}

fn object(rng: &mut Rng, root: &Value, keywords: &Map<String, Value>, depth: usize) -> Value {
    let below = depth.saturating_sub(1);
    let required = keywords.get("required").and_then(Value::as_array);
    let is_required =
        |name: &str| required.is_some_and(|names| names.iter().any(|other| other == name));
    let optional = if depth == 0 { 0 } else { [20, 50, 90][rng.below(3)] };
    let mut map = Map::new();
    let properties = keywords.get("properties").and_then(Value::as_object);
    for (name, schema) in properties.into_iter().flatten() {
        if is_required(name) || rng.chance(optional) {
            map.insert(name.clone(), instance(rng, root, schema, below));
        }
    }
    for name in required.into_iter().flatten().filter_map(Value::as_str) {
        if !map.contains_key(name) {
            map.insert(name.to_owned(), wild(rng, 1));
        }
    }
    let rest = keywords.get("additionalProperties");
    let least = keywords.get("minProperties").and_then(Value::as_u64).unwrap_or(0);
    let more = usize::try_from(least).unwrap_or_default().saturating_sub(map.len()).min(50);
    if rest != Some(&Value::Bool(false)) {
        for at in 0..more + usize::from(rng.chance(30)) {
            let schema = rest.unwrap_or(&Value::Bool(true));
            let name = match at {
                0 => (rng.pick(&["added", "other", "a", "low"])).to_owned(),
                at => format!("a{at}"),
            };
            let value = instance(rng, root, schema, below);
            map.entry(name).or_insert(value);
        }
    }
    Value::Object(map)
}

/// Changes something somewhere in a value.
pub fn spoilt(rng: &mut Rng, value: &mut Value) {
    let deeper = rng.chance(80);
    match value {
        Value::Array(items) if deeper && !items.is_empty() => {
            let at = rng.below(items.len());
            match rng.below(5) {
                0 => {
                    items.remove(at);
                }
                1 => items.push(items[at].clone()),
                _ => spoilt(rng, &mut items[at]),
            }
        }
        Value::Object(map) if deeper && !map.is_empty() => {
            let at = rng.below(map.len());
            let Some(key) = map.keys().nth(at).cloned() else { return };
            match rng.below(6) {
                0 => {
                    map.remove(&key);
                }
                1 => {
                    map.insert((rng.pick(&["added", "value", "x~/y"])).to_owned(), wild(rng, 1));
                }
                _ => spoilt(rng, map.entry(key).or_insert(Value::Null)),
            }
        }
        Value::Number(number) if rng.chance(70) => {
            let text = number.to_string();
            let spelling = match rng.below(6) {
                0 => format!("{text}.0"),
                1 => format!("{text}e0"),
                2 => format!("{text}.5"),
                3 => format!("-{text}"),
                4 => format!("{text}00000000000000000000"),
                _ => format!("{text}1"),
            };
            if let Ok(other) = serde_json::from_str(&spelling) {
                *value = other;
            }
        }
        Value::String(text) if rng.chance(50) => match rng.below(4) {
            0 => {
                text.pop();
            }
            1 => text.push('x'),
            2 => text.insert(0, 'é'),
            _ => *text = text.to_uppercase(),
        },
        _ => *value = wild(rng, 2),
    }
}
