//! Helpers for the tests of targets: a check of the rules, and randomly generated schemas.
//!
//! The check uses the same table as the lowering, so it only shows whether the lowering follows the
//! table.

#![allow(clippy::unwrap_used, reason = "only tests build this module")]

use serde_json::{Map, Value, json};

use super::target_spec::{AnyOfRule, Recursion, RefRule, SeveralTypes, TargetSpec};
use super::{Became, Loss, Lowered, Names, Target, ToolJson, lower};
use gramc_json_schema::keywords::Keyword as K;

/// Lowers a tool `t` with a schema.
pub(super) fn lowered(target: Target, schema: &Value) -> Lowered {
    lowered_tool(target, None, schema)
}

/// The same for a tool with a description.
pub(super) fn described(target: Target, description: &str, schema: &Value) -> Lowered {
    lowered_tool(target, Some(description), schema)
}

fn lowered_tool(target: Target, description: Option<&str>, schema: &Value) -> Lowered {
    let tool = ToolJson::new("t", description, schema.clone());
    lower(target.spec(), &Names::default(), tool)
}

/// The schema and the description of a tool in a target's format.
pub(super) fn parts(spec: &TargetSpec, tool: &Value) -> (Value, String) {
    let (_, description, schema) = super::excess::parts(spec.shape, tool);
    (schema.clone(), description.and_then(Value::as_str).unwrap_or_default().to_owned())
}

/// Asserts the lowered schema of a required parameter `p`.
#[track_caller]
pub(super) fn becomes(target: Target, from: &Value, to: &Value) {
    let schema = json!({"type": "object", "properties": {"p": from}, "required": ["p"]});
    let out = lowered(target, &schema);
    let (schema, _) = parts(target.spec(), &out.value);
    assert_eq!(schema["properties"]["p"].to_string(), to.to_string(), "{from}");
}

/// Asserts the lowered root schema and the tool's description.
#[track_caller]
pub(super) fn root_becomes(target: Target, from: &Value, to: &Value, description: &str) {
    let out = lowered(target, from);
    let (schema, text) = parts(target.spec(), &out.value);
    assert_eq!(schema.to_string(), to.to_string(), "{from}");
    assert_eq!(text, description, "{from}");
}

/// The same for several parameters, as JSON texts, so that tables are easy to read.
#[track_caller]
pub(super) fn all_become(target: Target, table: &[(&str, &str)]) {
    for (from, to) in table {
        let [from, to]: [Value; 2] = [from, to].map(|text| serde_json::from_str(text).unwrap());
        becomes(target, &from, &to);
    }
}

/// Asserts that a target leaves even unusual schemas unchanged.
#[track_caller]
pub(super) fn all_stay(target: Target) {
    let odd = r##"{"type":["array","null"],"$id":"x","oneOf":[true,{"$ref":"#/a"}],"additionalProperties":false,"x":1,"default":{"b":1.50,"a":0}}"##;
    all_become(target, &[(odd, odd), ("{}", "{}"), ("true", "true")]);
}

/// The places where a lowered tool breaks its target's rules or lacks the sentence of a loss.
pub(super) fn violations(spec: &TargetSpec, out: &Lowered) -> Vec<String> {
    let (schema, _) = parts(spec, &out.value);
    let mut found = Vec::new();
    if schema.is_null() {
        return found;
    }
    if spec.root.object && schema["type"] != "object" {
        found.push("the root is no object".to_owned());
    }
    let mut check = Check { spec, root: &schema, found: &mut found };
    check.schema(&schema, "", true);
    check.recursion();
    let text = out.value.to_string();
    let plain = text.replace('\\', "");
    for loss in &out.losses {
        if let Became::Description { sentence } = &loss.became {
            // A sentence may be part of a schema in another sentence.
            let written = Value::from(sentence.as_str()).to_string().replace('\\', "");
            let is_lost = |loss: &Loss| matches!(loss.became, Became::Lost { .. });
            let cut = out.losses.iter().any(is_lost);
            if !cut && !plain.contains(&written[1..written.len() - 1]) {
                found.push(format!("nobody is told of {loss}"));
            }
        }
    }
    if serde_json::from_str::<Value>(&text).is_err() {
        found.push("too deep to be read".to_owned());
    }
    found
}

struct Check<'c> {
    spec: &'c TargetSpec,
    root: &'c Value,
    found: &'c mut Vec<String>,
}

impl Check<'_> {
    fn that(&mut self, good: bool, at: &str, what: &str) {
        if !good {
            self.found.push(format!("{at}: {what}"));
        }
    }

    fn schema(&mut self, schema: &Value, at: &str, root: bool) {
        let spec = self.spec;
        let Value::Object(map) = schema else {
            self.that(spec.is_open() || !spec.types.always, at, "is no object");
            return;
        };
        for (key, value) in map {
            let keyword = K::of(key);
            let definitions =
                root && keyword == K::Defs && matches!(spec.refs, RefRule::Defs { .. });
            let kept = if root { spec.root_keeps(keyword) } else { spec.keeps(keyword) };
            self.that(kept || definitions, at, key);
            self.inside(keyword, value, &format!("{at}/{key}"));
        }
        self.forms(map, at, root);
        if !spec.is_open() {
            self.object(map, at, root);
        }
        let types = map.get("type").map(|types| match types {
            Value::Array(types) => types.clone(),
            one => vec![one.clone()],
        });
        let is = |name: &str| types.as_ref().is_some_and(|types| types.contains(&name.into()));
        self.that(
            !(spec.arrays_need_items && is("array")) || map.contains_key("items"),
            at,
            "items",
        );
        let one = spec.types.several != SeveralTypes::List;
        self.that(!one || map.get("type").is_none_or(Value::is_string), at, "one type");
        let has_type = types.is_some() || map.contains_key("anyOf") || map.contains_key("$ref");
        self.that(root || !spec.types.always || has_type, at, "has no type");
        if spec.objects.empty_as_text && is("object") && !root {
            let empty = map["properties"].as_object().is_none_or(Map::is_empty);
            self.that(!empty, at, "has no properties");
        }
        if spec.objects.closed && is("object") {
            self.that(map["additionalProperties"] == false, at, "is open");
        }
    }

    fn forms(&mut self, map: &Map<String, Value>, at: &str, root: bool) {
        let spec = self.spec;
        if let Some(to) = map.get("$ref").and_then(Value::as_str)
            && let RefRule::Defs { root: to_root, .. } = spec.refs
        {
            self.that(map.len() == 1, at, "has something beside $ref");
            let found = self.root.pointer(to.trim_start_matches('#')).is_some();
            self.that(found && (to == "#" && to_root || to.starts_with("#/$defs/")), at, to);
        }
        if map.contains_key("anyOf") && !root {
            let beside = map.keys().filter(|key| *key != "anyOf");
            let good = match spec.any_of {
                AnyOfRule::Anything => true,
                AnyOfRule::Annotations => beside.clone().all(|key| K::of(key).is_annotation()),
                AnyOfRule::Nothing => beside.count() == 0,
            };
            self.that(good, at, "has something beside anyOf");
        }
        if let (true, Some(Value::Array(values))) = (spec.enum_of_text_only, map.get("enum")) {
            let text = values.iter().all(Value::is_string) && !values.is_empty();
            self.that(text && map["type"] == "string", at, "enum");
        }
        if let (Some(spec), Some(format)) = (spec.formats, map.get("format")) {
            let known = spec.iter().any(|rule| {
                rule.formats.split(' ').any(|known| format == known)
                    && match map.get("type") {
                        Some(types) => types.to_string().contains(rule.kind),
                        None => !self.spec.types.always,
                    }
            });
            self.that(known, at, "format");
        }
        if let (Some(most), Some(least)) = (spec.bounds.min_items, map.get("minItems")) {
            self.that(least.as_u64().is_some_and(|least| least <= most), at, "minItems");
        }
        let closed = map.get("additionalProperties") == Some(&Value::Bool(false));
        self.that(!(spec.objects.never_closed && closed), at, "is closed");
    }

    fn object(&mut self, map: &Map<String, Value>, at: &str, root: bool) {
        let Some(Value::Object(properties)) = map.get("properties") else { return };
        let required: Vec<&str> = map
            .get("required")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        if self.spec.objects.required_exist {
            let there = required.iter().all(|key| properties.contains_key(*key));
            self.that(there, at, "requires what is not there");
        }
        if self.spec.objects.all_required {
            let all = properties.keys().all(|key| required.contains(&key.as_str()));
            self.that(all, at, "has optional properties");
        }
        if let Some(keys) = &self.spec.keys
            && (root || !keys.root_only)
        {
            let good = properties.keys().all(|key| keys.rule.allows(key));
            self.that(good, at, "has a refused key");
        }
    }

    fn inside(&mut self, keyword: K, value: &Value, at: &str) {
        let is_checked = matches!(
            keyword,
            K::Properties
                | K::Defs
                | K::PatternProperties
                | K::AnyOf
                | K::OneOf
                | K::AllOf
                | K::PrefixItems
                | K::Items
                | K::AdditionalProperties
        );
        for part in keyword.subschemas(value) {
            if is_checked && (keyword == K::Items || !part.is_boolean()) {
                self.schema(part, at, false);
            }
        }
    }

    /// Looks for recursive schemas that the target does not support.
    fn recursion(&mut self) {
        let RefRule::Defs { recursion, .. } = self.spec.refs else { return };
        let mut starts = vec!["#".to_owned()];
        if let Some(definitions) = self.root["$defs"].as_object() {
            starts.extend(definitions.keys().map(|name| format!("#/$defs/{name}")));
        }
        for start in starts {
            let bad = match recursion {
                Recursion::Any => false,
                // Either all cycles are rejected, or those through a required property or through
                // none.
                Recursion::Never => self.returns(&start, &start, &mut Vec::new(), 2),
                Recursion::Optional => {
                    self.returns(&start, &start, &mut Vec::new(), 1)
                        || self.returns(&start, &start, &mut Vec::new(), 0)
                }
            };
            self.that(!bad, &start, "holds itself");
        }
    }

    /// Whether references lead from a definition back to it. `kind` 0 follows paths without
    /// properties, 1 those without optional properties, 2 all.
    fn returns(&self, start: &str, at: &str, seen: &mut Vec<String>, kind: u8) -> bool {
        let Some(schema) = self.root.pointer(at.trim_start_matches('#')) else { return false };
        let mut to = Vec::new();
        edges(schema, kind, &mut to, true);
        to.into_iter().any(|to| {
            to == start
                || !seen.contains(&to) && {
                    seen.push(to.clone());
                    self.returns(start, &to, seen, kind)
                }
        })
    }
}

fn edges(schema: &Value, kind: u8, to: &mut Vec<String>, top: bool) {
    let Value::Object(map) = schema else { return };
    if let Some(Value::String(reference)) = map.get("$ref") {
        to.push(reference.clone());
    }
    for (key, value) in map {
        match (key.as_str(), value) {
            ("$defs", _) if top => {}
            ("properties", Value::Object(parts)) => {
                for (name, part) in parts {
                    let required = map.get("required").is_some_and(|required| {
                        required.as_array().is_some_and(|keys| keys.contains(&name.as_str().into()))
                    });
                    if kind == 2 || kind == 1 && required {
                        edges(part, kind, to, false);
                    }
                }
            }
            (_, Value::Array(parts)) => {
                for part in parts {
                    edges(part, kind, to, false);
                }
            }
            (_, part) => edges(part, kind, to, false),
        }
    }
}

/// A deterministic pseudorandom number generator.
pub(super) struct Dice(u64);

impl Dice {
    pub(super) const fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn roll(&mut self, sides: u64) -> u64 {
        // Xorshift.
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % sides
    }

    fn pick(&mut self, from: &[Value]) -> Value {
        let at = self.roll(from.len() as u64);
        from[usize::try_from(at).unwrap()].clone()
    }

    /// A parameter schema.
    pub(super) fn tool(&mut self) -> Value {
        let mut root = if self.roll(10) == 0 { self.schema(4) } else { self.object(4) };
        if let Value::Object(map) = &mut root {
            let definitions: Map<String, Value> =
                ["A", "B", "C"].map(|name| (name.to_owned(), self.schema(3))).into_iter().collect();
            map.insert("$defs".to_owned(), definitions.into());
        }
        root
    }

    fn object(&mut self, depth: u64) -> Value {
        const KEYS: [&str; 6] = ["a", "Content-Type", "$v", "año", "properties", "MA(5)"];
        let mut map = Map::new();
        if self.roll(8) > 0 {
            map.insert("type".to_owned(), "object".into());
        }
        let mut properties = Map::new();
        let mut required = Vec::new();
        for key in KEYS {
            if self.roll(3) == 0 {
                properties.insert(key.to_owned(), self.schema(depth - 1));
            }
            if self.roll(4) == 0 {
                required.push(Value::from(key));
            }
        }
        if self.roll(8) > 0 {
            map.insert("properties".to_owned(), properties.into());
        }
        if self.roll(3) > 0 {
            map.insert("required".to_owned(), required.into());
        }
        self.extras(&mut map, depth, 2);
        map.into()
    }

    fn schema(&mut self, depth: u64) -> Value {
        let mut map = Map::new();
        match self.roll(if depth == 0 { 6 } else { 11 }) {
            0 => {
                return self.pick(&[
                    json!({}),
                    json!(true),
                    json!(false),
                    json!({"description": "any"}),
                ]);
            }
            1 => {
                let to = ["#/$defs/A", "#/$defs/B", "#/$defs/C", "#", "#/properties/a", "http://x"];
                let to = self.pick(&to.map(Value::from));
                map.insert("$ref".to_owned(), to);
            }
            2 => {
                map.insert(
                    "type".to_owned(),
                    self.pick(&[
                        json!(["string", "null"]),
                        json!(["string", "integer"]),
                        json!(["object", "null"]),
                        json!(["array", "string", "null"]),
                        json!("null"),
                        json!(["number"]),
                    ]),
                );
            }
            3 => {
                map.insert(
                    "enum".to_owned(),
                    self.pick(&[
                        json!(["a", "b"]),
                        json!([1, 2]),
                        json!(["a", 1, null]),
                        json!([{"x": 1}, "a"]),
                        json!([true]),
                        json!([]),
                    ]),
                );
            }
            4 | 5 => {
                let kind = self.pick(&["string", "integer", "number", "boolean"].map(Value::from));
                map.insert("type".to_owned(), kind);
            }
            6 | 7 => return self.object(depth),
            8 => {
                map.insert("type".to_owned(), "array".into());
                if self.roll(3) > 0 {
                    map.insert("items".to_owned(), self.schema(depth - 1));
                }
                if self.roll(3) == 0 {
                    let items = vec![self.schema(depth - 1), self.schema(depth - 1)];
                    let key = if self.roll(3) == 0 { "items" } else { "prefixItems" };
                    map.insert(key.to_owned(), items.into());
                }
            }
            _ => {
                let key = self.pick(&["anyOf", "oneOf", "allOf"].map(Value::from));
                let parts = (0..=self.roll(3)).map(|_| self.schema(depth - 1)).collect();
                map.insert(key.as_str().unwrap().to_owned(), Value::Array(parts));
            }
        }
        let sides = if self.roll(2) == 0 { 4 } else { 20 };
        self.extras(&mut map, depth, sides);
        map.into()
    }

    fn extras(&mut self, map: &mut Map<String, Value>, depth: u64, sides: u64) {
        let all = json!({
            "description": "What it is", "title": "T", "default": {"a": [1]}, "examples": ["x", 2],
            "minLength": 2, "maxLength": 3, "pattern": "^a`\"", "format": "uri", "const": "c",
            "minimum": 1, "maximum": 9_007_199_254_740_991_i64, "exclusiveMinimum": 0, "multipleOf": 5,
            "minItems": 2, "maxItems": 4, "uniqueItems": true, "contains": {"type": "string"},
            "additionalProperties": false, "propertyNames": {"pattern": "^x"}, "minProperties": 1,
            "patternProperties": {"^x": {"type": "string"}}, "not": {"type": "null"},
            "if": {"required": ["a"]}, "then": {"required": ["b"]}, "$comment": "c", "$id": "i",
            "$schema": "s", "x-own": 1, "nullable": true, "deprecated": true,
            "dependentRequired": {"a": ["b"]}, "unevaluatedProperties": false, "items": false,
            "anyOf": [{"required": ["a"]}, {"required": ["b"]}], "oneOf": [{"type": "string"}],
            "allOf": [{"minLength": 3}, {"$ref": "#/$defs/A"}], "additionalItems": false
        });
        for (key, value) in all.as_object().unwrap() {
            if self.roll(sides * 4) == 0 {
                map.insert(key.clone(), value.clone());
            }
        }
        if depth > 0 && self.roll(sides) == 0 {
            map.insert("additionalProperties".to_owned(), self.schema(depth - 1));
        }
    }
}

#[test]
fn what_comes_out_keeps_to_the_rules() {
    for seed in 0..500 {
        let schema = Dice::new(seed).tool();
        for target in Target::ALL {
            let out = lowered(target, &schema);
            // A model may return any arguments, so restoring must not panic.
            let _ = out.restore.arguments(schema.clone());
            let found = violations(target.spec(), &out);
            assert!(
                found.is_empty(),
                "seed {seed}, {}: {found:#?}\n{schema}\n{}",
                target.name(),
                out.value
            );
        }
    }
}
