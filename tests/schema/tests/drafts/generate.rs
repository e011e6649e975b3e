//! Random schemas over the keywords of a draft, and values that are nearly of them.

use gramc_language_tests::rng::Rng;
use jsonschema::Draft;
use serde_json::{Map, Value, json};

/// Names of properties: few, so that keywords meet.
const NAMES: [&str; 5] = ["a", "b", "ab", "x-a", "c d"];

/// Patterns of names and strings.
const PATTERNS: [&str; 6] = ["^a", "b$", "^[ab]*$", "\\d", "^x-", "a|c"];

const STRINGS: [&str; 9] =
    ["", "a", "b", "ab", "aab", "x-a", "é1", "2024-02-29", "ada@example.com"];

const FORMATS: [&str; 6] = ["date", "email", "uri", "ipv4", "json-pointer", "regex"];

const TYPES: [&str; 7] = ["null", "boolean", "integer", "number", "string", "array", "object"];

/// The names of definitions. Each refers in place only to those after it, so that no schema applies
/// itself to the same value for ever.
const DEFINITIONS: [&str; 3] = ["A", "b c", "d/e"];

pub(crate) struct Generator<'r> {
    rng: &'r mut Rng,
    draft: Draft,
    /// The first definition that a reference in place may lead to.
    from: usize,
    /// Whether a reference to the root leads to another value than its own.
    is_part: bool,
}

impl<'r> Generator<'r> {
    pub(crate) fn new(rng: &'r mut Rng, draft: Draft) -> Self {
        Self { rng, draft, from: 0, is_part: false }
    }

    /// A whole schema with its definitions.
    pub(crate) fn document(&mut self) -> Value {
        let Value::Object(mut map) = self.schema(3) else { return json!({}) };
        if self.rng.chance(40) {
            map.insert("type".to_owned(), "object".into());
        }
        let key = self.definitions_key();
        let mut definitions = Map::new();
        for (at, name) in DEFINITIONS.into_iter().enumerate() {
            self.from = at + 1;
            definitions.insert(name.to_owned(), self.schema(2));
        }
        map.insert(key.to_owned(), Value::Object(definitions));
        Value::Object(map)
    }

    fn definitions_key(&self) -> &'static str {
        if self.draft <= Draft::Draft7 { "definitions" } else { "$defs" }
    }

    fn since(&self, draft: Draft) -> bool {
        self.draft >= draft
    }

    fn schema(&mut self, depth: usize) -> Value {
        if self.since(Draft::Draft6) && self.rng.chance(8) {
            return Value::Bool(self.rng.chance(70));
        }
        let mut map = Map::new();
        if self.rng.chance(45) {
            map.insert("type".to_owned(), self.types());
        }
        let count = self.rng.between(1, 3);
        for _ in 0..count {
            match self.rng.below(if depth == 0 { 4 } else { 11 }) {
                0 => self.values(&mut map),
                1 => self.numbers(&mut map),
                2 => self.strings(&mut map),
                3 => self.reference(&mut map),
                4 | 5 => self.arrays(&mut map, depth - 1),
                6..=8 => self.objects(&mut map, depth - 1),
                _ => self.logic(&mut map, depth - 1),
            }
        }
        Value::Object(map)
    }

    /// A schema of a part of a value, where a reference may lead anywhere.
    fn part(&mut self, depth: usize) -> Value {
        let before = (self.from, self.is_part);
        (self.from, self.is_part) = (0, true);
        let schema = self.schema(depth);
        (self.from, self.is_part) = before;
        schema
    }

    fn parts(&mut self, depth: usize) -> Value {
        let count = self.rng.between(1, 2);
        (0..count).map(|_| self.part(depth)).collect()
    }

    fn types(&mut self) -> Value {
        let count = if self.rng.chance(80) { 1 } else { self.rng.between(2, 3) };
        let mut names: Vec<&str> = Vec::new();
        for _ in 0..count {
            let name = TYPES[self.rng.below(TYPES.len())];
            if !names.contains(&name) {
                names.push(name);
            }
        }
        if let [name] = names[..] { name.into() } else { json!(names) }
    }

    fn values(&mut self, map: &mut Map<String, Value>) {
        if self.since(Draft::Draft6) && self.rng.chance(40) {
            map.insert("const".to_owned(), self.value(1));
        } else {
            let mut values: Vec<Value> = Vec::new();
            for _ in 0..self.rng.between(1, 4) {
                let value = self.value(1);
                if !values.contains(&value) {
                    values.push(value);
                }
            }
            map.insert("enum".to_owned(), Value::Array(values));
        }
    }

    fn numbers(&mut self, map: &mut Map<String, Value>) {
        let bound =
            [json!(0), json!(1), json!(1.5), json!(-1), json!(3)][self.rng.below(5)].clone();
        let (keyword, exclusive) =
            [("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")][self.rng.below(2)];
        match self.rng.below(3) {
            0 => drop(map.insert(keyword.to_owned(), bound)),
            1 if self.since(Draft::Draft6) => drop(map.insert(exclusive.to_owned(), bound)),
            1 => {
                map.insert(keyword.to_owned(), bound);
                map.insert(exclusive.to_owned(), self.rng.chance(70).into());
            }
            _ => {
                let step = [json!(1), json!(2), json!(0.5), json!(0.1)][self.rng.below(4)].clone();
                map.insert("multipleOf".to_owned(), step);
            }
        }
    }

    fn strings(&mut self, map: &mut Map<String, Value>) {
        match self.rng.below(4) {
            0 => drop(map.insert("minLength".to_owned(), self.rng.below(3).into())),
            1 => drop(map.insert("maxLength".to_owned(), self.rng.below(3).into())),
            2 => drop(map.insert("pattern".to_owned(), self.rng.pick(&PATTERNS).into())),
            _ => drop(map.insert("format".to_owned(), self.rng.pick(&FORMATS).into())),
        }
    }

    fn reference(&mut self, map: &mut Map<String, Value>) {
        if self.is_part && self.rng.chance(20) {
            map.insert("$ref".to_owned(), "#".into());
            return;
        }
        let Some(name) = DEFINITIONS.get(self.from..).filter(|names| !names.is_empty()) else {
            return;
        };
        let name = name[self.rng.below(name.len())];
        // Spellings of the same reference.
        let name = match self.rng.below(2) {
            0 => name.replace('/', "~1").replace(' ', "%20"),
            _ => name.replace('/', "%7E1").replace(' ', "%20").replace('A', "%41"),
        };
        let reference = format!("#/{}/{name}", self.definitions_key());
        map.insert("$ref".to_owned(), reference.into());
    }

    fn arrays(&mut self, map: &mut Map<String, Value>, depth: usize) {
        match self.rng.below(7) {
            0 if self.since(Draft::Draft202012) => {
                map.insert("prefixItems".to_owned(), self.parts(depth));
                if self.rng.chance(60) {
                    map.insert("items".to_owned(), self.part(depth));
                }
            }
            0 => {
                map.insert("items".to_owned(), self.parts(depth));
                if self.rng.chance(60) {
                    let rest = if self.rng.chance(50) { false.into() } else { self.object(depth) };
                    map.insert("additionalItems".to_owned(), rest);
                }
            }
            1 => drop(map.insert("items".to_owned(), self.object(depth))),
            2 => drop(map.insert("minItems".to_owned(), self.rng.below(3).into())),
            3 => drop(map.insert("maxItems".to_owned(), self.rng.below(3).into())),
            4 => drop(map.insert("uniqueItems".to_owned(), self.rng.chance(80).into())),
            5 if self.since(Draft::Draft6) => {
                map.insert("contains".to_owned(), self.part(depth));
                if self.since(Draft::Draft201909) && self.rng.chance(50) {
                    let keyword = ["minContains", "maxContains"][self.rng.below(2)];
                    map.insert(keyword.to_owned(), self.rng.below(3).into());
                }
            }
            6 if self.since(Draft::Draft201909) => {
                map.insert("unevaluatedItems".to_owned(), self.part(depth));
            }
            _ => {}
        }
    }

    /// A schema that draft 4 allows as well.
    fn object(&mut self, depth: usize) -> Value {
        match self.part(depth) {
            Value::Bool(is_anything) if self.draft == Draft::Draft4 => {
                if is_anything {
                    json!({})
                } else {
                    json!({"not": {}})
                }
            }
            schema => schema,
        }
    }

    fn named(&mut self, names: &[&str], depth: usize) -> Value {
        let count = self.rng.between(1, 3);
        let entry = |this: &mut Self| (this.rng.pick(names).to_owned(), this.part(depth));
        Value::Object((0..count).map(|_| entry(self)).collect())
    }

    fn names(&mut self) -> Value {
        let first = self.rng.pick(&NAMES);
        let second = self.rng.pick(&NAMES);
        if first == second { json!([first]) } else { json!([first, second]) }
    }

    fn objects(&mut self, map: &mut Map<String, Value>, depth: usize) {
        match self.rng.below(11) {
            0 | 1 => drop(map.insert("properties".to_owned(), self.named(&NAMES, depth))),
            2 | 3 => {
                map.insert("patternProperties".to_owned(), self.named(&PATTERNS, depth));
                if self.rng.chance(50) {
                    map.insert("properties".to_owned(), self.named(&NAMES, depth));
                }
                if self.rng.chance(50) {
                    map.insert("additionalProperties".to_owned(), false.into());
                }
            }
            4 => {
                let others = if self.rng.chance(50) { false.into() } else { self.object(depth) };
                map.insert("additionalProperties".to_owned(), others);
            }
            5 => drop(map.insert("required".to_owned(), self.names())),
            6 => {
                let keyword = ["minProperties", "maxProperties"][self.rng.below(2)];
                map.insert(keyword.to_owned(), self.rng.below(3).into());
            }
            7 if self.since(Draft::Draft6) => {
                map.insert("propertyNames".to_owned(), self.part(depth));
            }
            8 if self.since(Draft::Draft201909) => {
                let name = self.rng.pick(&NAMES);
                map.insert("dependentRequired".to_owned(), json!({name: self.names()}));
                let name = self.rng.pick(&NAMES);
                map.insert("dependentSchemas".to_owned(), json!({name: self.schema(depth)}));
            }
            8 => {
                let (one, other) = (self.rng.pick(&NAMES), self.rng.pick(&NAMES));
                let schema = self.in_place(depth);
                map.insert("dependencies".to_owned(), json!({one: self.names(), other: schema}));
            }
            9 if self.since(Draft::Draft201909) => {
                map.insert("unevaluatedProperties".to_owned(), self.part(depth));
            }
            _ => {}
        }
    }

    /// A schema for the same value, which draft 4 allows as well.
    fn in_place(&mut self, depth: usize) -> Value {
        match self.schema(depth) {
            Value::Bool(_) if self.draft == Draft::Draft4 => json!({}),
            schema => schema,
        }
    }

    fn logic(&mut self, map: &mut Map<String, Value>, depth: usize) {
        match self.rng.below(5) {
            at @ 0..=2 => {
                let count = self.rng.between(1, 3);
                let members: Vec<_> = (0..count).map(|_| self.in_place(depth)).collect();
                map.insert(["allOf", "anyOf", "oneOf"][at].to_owned(), members.into());
            }
            3 => drop(map.insert("not".to_owned(), self.in_place(depth))),
            _ if self.since(Draft::Draft7) => {
                for keyword in ["if", "then", "else"] {
                    if self.rng.chance(75) {
                        map.insert(keyword.to_owned(), self.in_place(depth));
                    }
                }
            }
            _ => {}
        }
    }

    fn value(&mut self, depth: usize) -> Value {
        match self.rng.below(if depth == 0 { 6 } else { 10 }) {
            0 => Value::Null,
            1 => self.rng.chance(50).into(),
            2 => self.rng.below(4).into(),
            // To draft 4, 1.0 is not an integer.
            3 if self.draft == Draft::Draft4 => json!(1.5),
            3 => [json!(1.0), json!(1.5), json!(-1), json!(0.3)][self.rng.below(4)].clone(),
            4 | 5 => self.rng.pick(&STRINGS).into(),
            6 | 7 => {
                let count = self.rng.below(4);
                (0..count).map(|_| self.value(depth - 1)).collect()
            }
            _ => {
                let count = self.rng.below(4);
                let entry =
                    |this: &mut Self| (this.rng.pick(&NAMES).to_owned(), this.value(depth - 1));
                Value::Object((0..count).map(|_| entry(self)).collect())
            }
        }
    }

    /// A value for a schema: a random one of one of its types, or one that it names.
    pub(crate) fn instance(&mut self, schema: &Value) -> Value {
        let wanted = schema["type"].as_str().map(str::to_owned);
        let wanted = wanted.filter(|_| self.rng.chance(80));
        for _ in 0..30 {
            let value = self.value(3);
            let kind = match &value {
                Value::Null => "null",
                Value::Bool(_) => "boolean",
                Value::Number(number) if number.is_i64() => "integer",
                Value::Number(_) => "number",
                Value::String(_) => "string",
                Value::Array(_) => "array",
                Value::Object(_) => "object",
            };
            if wanted.as_deref().is_none_or(|wanted| wanted == kind) {
                return value;
            }
        }
        Value::Null
    }
}
