//! All edits of one keyword of a schema.

use serde_json::{Map, Number, Value, json};

/// What an edit does to the values that a schema allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effect {
    /// The new schema allows no value that the old one refuses.
    Narrows,
    /// The new schema refuses no value that the old one allows.
    Widens,
    /// Either, or both.
    Any,
}

/// A schema with one keyword changed.
#[derive(Debug, Clone)]
pub(crate) struct Edit {
    pub(crate) name: String,
    pub(crate) effect: Effect,
    pub(crate) schema: Value,
}

/// All edits of a schema, at every place where a smaller schema makes a smaller whole.
pub(crate) fn edits(schema: &Value) -> Vec<Edit> {
    let mut found = Vec::new();
    let has_one = schema.to_string().contains("\"oneOf\"");
    for place in places(schema) {
        let Some(Value::Object(keywords)) = schema.pointer(&place) else { continue };
        let is_shared = place.starts_with("/$defs") || place.starts_with("/definitions");
        let one = place.contains("/oneOf/") || (has_one && is_shared);
        for (name, effect, changed) in edits_of(keywords, place.is_empty()) {
            let mut edited = schema.clone();
            if let Some(slot) = edited.pointer_mut(&place) {
                *slot = Value::Object(changed);
            }
            // A member of `oneOf` that allows less may let another one be the only one.
            let effect = if one { Effect::Any } else { effect };
            found.push(Edit { name: format!("{name} at {place:?}"), effect, schema: edited });
        }
    }
    found
}

/// The places of all schemas inside of a schema that are applied positively, itself included.
fn places(schema: &Value) -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec![(String::new(), schema)];
    while let Some((place, schema)) = open.pop() {
        let Value::Object(keywords) = schema else { continue };
        for (key, value) in keywords {
            let below = format!("{place}/{key}");
            match (key.as_str(), value) {
                (
                    "properties" | "$defs" | "definitions" | "patternProperties",
                    Value::Object(map),
                ) => {
                    open.extend(map.iter().map(|(name, schema)| {
                        let name = name.replace('~', "~0").replace('/', "~1");
                        (format!("{below}/{name}"), schema)
                    }));
                }
                ("anyOf" | "oneOf" | "allOf" | "prefixItems", Value::Array(items)) => {
                    let places = items.iter().enumerate();
                    open.extend(places.map(|(at, schema)| (format!("{below}/{at}"), schema)));
                }
                ("items" | "additionalProperties" | "propertyNames", Value::Object(_)) => {
                    open.push((below, value));
                }
                _ => {}
            }
        }
        found.push(place);
    }
    found.sort();
    found
}

type Changed = (String, Effect, Map<String, Value>);

/// The edits of one schema, without those of its parts.
fn edits_of(keywords: &Map<String, Value>, is_root: bool) -> Vec<Changed> {
    let mut editor = Editor { keywords, found: Vec::new() };
    // Arguments are objects.
    if !is_root {
        editor.types();
        editor.values();
    }
    match keywords.get("type").and_then(Value::as_str) {
        Some("string") => editor.strings(),
        Some("integer" | "number") => editor.numbers(),
        Some("array") => editor.arrays(),
        Some("object") => editor.objects(),
        _ => {}
    }
    editor.unions();
    editor.found
}

struct Editor<'k> {
    keywords: &'k Map<String, Value>,
    found: Vec<Changed>,
}

impl Editor<'_> {
    fn push(&mut self, name: &str, effect: Effect, change: impl FnOnce(&mut Map<String, Value>)) {
        let mut changed = self.keywords.clone();
        change(&mut changed);
        self.found.push((name.to_owned(), effect, changed));
    }

    fn set(&mut self, key: &str, effect: Effect, value: Value) {
        let name = format!("{key} = {value}");
        self.push(&name, effect, |keywords| drop(keywords.insert(key.to_owned(), value)));
    }

    fn remove(&mut self, key: &str, effect: Effect) {
        if self.keywords.contains_key(key) {
            let name = format!("no {key}");
            self.push(&name, effect, |keywords| drop(keywords.shift_remove(key)));
        }
    }

    fn types(&mut self) {
        let described = self.keywords.contains_key("description");
        match self.keywords.get("type").cloned() {
            None if self.keywords.is_empty() || described && self.keywords.len() == 1 => {
                self.set("type", Effect::Narrows, json!("string"));
                self.set("type", Effect::Narrows, json!(["object", "array"]));
            }
            Some(Value::String(name)) => {
                self.remove("type", Effect::Widens);
                if name != "null" {
                    self.set("type", Effect::Widens, json!([name, "null"]));
                    self.set("type", Effect::Any, json!("null"));
                }
                match name.as_str() {
                    "integer" => self.set("type", Effect::Widens, json!("number")),
                    "number" => self.set("type", Effect::Narrows, json!("integer")),
                    _ => {}
                }
                let other = if name == "string" { "integer" } else { "string" };
                self.set("type", Effect::Widens, json!([name, other]));
                self.set("type", Effect::Any, json!(other));
            }
            Some(Value::Array(names)) => {
                for at in 0..names.len().min(3) {
                    let mut fewer = names.clone();
                    fewer.remove(at);
                    if !fewer.is_empty() {
                        self.set("type", Effect::Narrows, fewer.into());
                    }
                }
                self.remove("type", Effect::Widens);
            }
            _ => {}
        }
        let own = Value::Object(self.keywords.clone());
        self.push("null as well", Effect::Widens, |keywords| {
            keywords.clear();
            keywords.insert("anyOf".to_owned(), json!([own, {"type": "null"}]));
        });
    }

    fn values(&mut self) {
        if let Some(Value::Array(values)) = self.keywords.get("enum").cloned() {
            self.remove("enum", Effect::Widens);
            let (first, last) = (values.first().cloned(), values.last().cloned());
            for gone in [first, last].into_iter().flatten() {
                let fewer: Vec<_> =
                    values.iter().filter(|value| **value != gone).cloned().collect();
                if !fewer.is_empty() {
                    self.set("enum", Effect::Narrows, fewer.into());
                }
            }
            let more = match values.first() {
                Some(Value::Number(_)) => json!(4711),
                _ => json!("one more"),
            };
            self.set("enum", Effect::Widens, [&values[..], &[more]].concat().into());
        }
        if let Some(value) = self.keywords.get("const").cloned() {
            self.remove("const", Effect::Widens);
            self.set("const", Effect::Any, json!("another"));
            self.push("const to enum", Effect::Widens, |keywords| {
                keywords.shift_remove("const");
                keywords.insert("enum".to_owned(), json!([value, "another"]));
            });
        }
    }

    /// A bound: moved up and down, removed, and added.
    fn bound(&mut self, key: &str, is_upper: bool, otherwise: i64, step: i64) {
        let (up, down) = if is_upper {
            (Effect::Widens, Effect::Narrows)
        } else {
            (Effect::Narrows, Effect::Widens)
        };
        let Some(Value::Number(at)) = self.keywords.get(key).cloned() else {
            return self.set(key, Effect::Narrows, otherwise.into());
        };
        self.remove(key, Effect::Widens);
        if let Some(at) = at.as_i64() {
            let is_count = key.starts_with("min") && key != "minimum"
                || key.starts_with("max") && key != "maximum";
            if let Some(higher) = at.checked_add(step) {
                self.set(key, up, higher.into());
            }
            if let Some(lower) = at.checked_sub(step).filter(|lower| !is_count || *lower >= 0) {
                self.set(key, down, lower.into());
            }
        } else if let Some(number) = at.as_f64() {
            for (effect, number) in [(up, number + 0.25), (down, number - 0.25)] {
                if let Some(number) = Number::from_f64(number) {
                    self.set(key, effect, number.into());
                }
            }
        }
    }

    fn strings(&mut self) {
        if self.keywords.contains_key("enum") || self.keywords.contains_key("const") {
            return;
        }
        self.set("enum", Effect::Narrows, json!(["a", "b"]));
        self.set("const", Effect::Narrows, json!("a"));
        self.bound("minLength", false, 2, 1);
        self.bound("maxLength", true, 40, 1);
        for (key, values) in [("pattern", ["^[a-z]+$", "a"]), ("format", ["date-time", "uuid"])] {
            self.remove(key, Effect::Widens);
            let effect =
                if self.keywords.contains_key(key) { Effect::Any } else { Effect::Narrows };
            for value in values {
                self.set(key, effect, value.into());
            }
        }
    }

    fn numbers(&mut self) {
        self.bound("minimum", false, 3, 1);
        self.bound("maximum", true, 1000, 1);
        self.bound("exclusiveMinimum", false, 3, 1);
        self.bound("exclusiveMaximum", true, 1000, 1);
        if let Some(step) = self.keywords.get("multipleOf").and_then(Value::as_i64) {
            self.remove("multipleOf", Effect::Widens);
            self.set("multipleOf", Effect::Narrows, (step * 2).into());
        } else {
            self.set("multipleOf", Effect::Narrows, 5.into());
            self.set("multipleOf", Effect::Narrows, json!(0.5));
        }
    }

    fn arrays(&mut self) {
        self.bound("minItems", false, 1, 1);
        self.bound("maxItems", true, 20, 1);
        if self.keywords.get("uniqueItems") == Some(&Value::Bool(true)) {
            self.remove("uniqueItems", Effect::Widens);
        } else {
            self.set("uniqueItems", Effect::Narrows, true.into());
        }
        self.remove("items", Effect::Widens);
        if !self.keywords.contains_key("items") {
            self.set("items", Effect::Narrows, json!({"type": "string"}));
        }
        if !self.keywords.contains_key("contains") {
            self.set("contains", Effect::Narrows, json!({"const": "x"}));
        }
        self.remove("contains", Effect::Widens);
    }

    fn objects(&mut self) {
        let is_open = self.keywords.get("additionalProperties").is_none_or(|it| *it == true);
        let has_patterns = self.keywords.contains_key("patternProperties");
        let names: Vec<String> = match self.keywords.get("properties") {
            Some(Value::Object(properties)) => properties.keys().cloned().collect(),
            _ => Vec::new(),
        };
        self.required(&names);
        match self.keywords.get("additionalProperties") {
            None | Some(Value::Bool(true)) => {
                self.set("additionalProperties", Effect::Narrows, false.into());
                self.set("additionalProperties", Effect::Narrows, json!({"type": "string"}));
            }
            Some(_) => {
                self.remove("additionalProperties", Effect::Widens);
                self.set("additionalProperties", Effect::Widens, true.into());
            }
        }
        for name in names.iter().take(3) {
            let effect = if is_open && !has_patterns { Effect::Widens } else { Effect::Any };
            self.push(&format!("no property {name}"), effect, |keywords| {
                if let Some(Value::Object(properties)) = keywords.get_mut("properties") {
                    properties.shift_remove(name);
                }
                if let Some(Value::Array(required)) = keywords.get_mut("required") {
                    required.retain(|other| other != name);
                }
            });
        }
        for required in [false, true] {
            self.push(&format!("a property, required: {required}"), Effect::Any, |keywords| {
                let properties = keywords.entry("properties").or_insert_with(|| json!({}));
                if let Value::Object(properties) = properties {
                    properties.insert("brand_new".to_owned(), json!({"type": "integer"}));
                }
                if required {
                    let names = keywords.entry("required").or_insert_with(|| json!([]));
                    if let Value::Array(names) = names {
                        names.push("brand_new".into());
                    }
                }
            });
        }
        self.declarations(&names, is_open && !has_patterns);
        if !has_patterns {
            let effect = if is_open { Effect::Narrows } else { Effect::Any };
            self.set("patternProperties", effect, json!({"^x-": {"type": "string"}}));
        }
        self.bound("minProperties", false, 1, 1);
        self.bound("maxProperties", true, 30, 1);
        if !self.keywords.contains_key("propertyNames") {
            self.set("propertyNames", Effect::Narrows, json!({"maxLength": 30}));
        }
        self.remove("propertyNames", Effect::Widens);
        if let [first, second, ..] = &names[..] {
            let dependent = json!({first: [second]});
            self.set("dependentRequired", Effect::Narrows, dependent);
        }
    }

    /// Declarations of properties whose values the object constrains already.
    fn declarations(&mut self, names: &[String], is_open: bool) {
        let required = self.keywords.get("required").and_then(Value::as_array);
        let required = required.into_iter().flatten().filter_map(Value::as_str);
        let mut more: Vec<_> = required
            .filter(|name| !names.iter().any(|known| known == name))
            .map(|name| (name.to_owned(), if is_open { Effect::Narrows } else { Effect::Any }))
            .collect();
        if self.keywords.get("patternProperties").is_some_and(|all| all.get("^x-").is_some()) {
            more.push(("x-declared".to_owned(), Effect::Narrows));
        }
        for (name, effect) in more {
            self.push(&format!("declare {name}"), effect, |keywords| {
                let properties = keywords.entry("properties").or_insert_with(|| json!({}));
                if let Value::Object(properties) = properties {
                    properties.insert(name, json!({"type": "integer"}));
                }
            });
        }
    }

    fn required(&mut self, names: &[String]) {
        let required = match self.keywords.get("required") {
            Some(Value::Array(required)) => required.clone(),
            _ => Vec::new(),
        };
        for gone in required.iter().take(3) {
            let fewer: Vec<_> = required.iter().filter(|name| *name != gone).cloned().collect();
            self.set("required", Effect::Widens, fewer.into());
        }
        let optional = names.iter().filter(|name| !required.contains(&json!(name)));
        for name in optional.take(3) {
            self.set("required", Effect::Narrows, [&required[..], &[json!(name)]].concat().into());
        }
    }

    fn unions(&mut self) {
        for key in ["anyOf", "oneOf"] {
            let Some(Value::Array(members)) = self.keywords.get(key).cloned() else { continue };
            let is_any = key == "anyOf";
            for at in 0..members.len().min(4) {
                let mut fewer = members.clone();
                fewer.remove(at);
                let effect = if is_any { Effect::Narrows } else { Effect::Any };
                if !fewer.is_empty() {
                    self.set(key, effect, fewer.into());
                }
            }
            for more in
                [json!({"type": "boolean"}), json!({"const": 4711}), json!({"type": "null"})]
            {
                let effect = if is_any { Effect::Widens } else { Effect::Any };
                self.set(key, effect, [&members[..], &[more]].concat().into());
            }
            self.remove(key, Effect::Widens);
        }
    }
}
