//! Values: numbers in all spellings, defaults that fit and some that do not.

use serde_json::{Map, Value};

use super::{Schemas, get};

/// Integers, the largest that doubles hold and those next to them among them.
const INTEGERS: [&str; 18] = [
    "0",
    "1",
    "2",
    "5",
    "10",
    "20",
    "50",
    "100",
    "365",
    "1000",
    "65535",
    "-1",
    "-90",
    "9007199254740991",
    "-9007199254740991",
    "9007199254740993",
    "18446744073709551616",
    "-9223372036854775809",
];

/// Numbers that are no integers, or are written as if they were none.
const NUMBERS: [&str; 12] = [
    "0.5",
    "0.7",
    "1.50",
    "1e-7",
    "-0.0",
    "1.0",
    "3.14159265358979323846",
    "-180.0",
    "1E3",
    "2.5e+10",
    "0.1",
    "1e300",
];

impl Schemas<'_> {
    /// A number with exactly this spelling.
    pub(super) fn number_of(text: &str) -> Value {
        serde_json::from_str(text).expect("the spellings of this module are JSON")
    }

    /// An integer: mostly small.
    pub(super) fn integer(&mut self) -> Value {
        let last = if self.rng.chance(10) { INTEGERS.len() } else { 13 };
        Self::number_of(INTEGERS[self.rng.below(last)])
    }

    /// A number; an integer in half of the cases.
    pub(super) fn number(&mut self) -> Value {
        if self.rng.chance(50) { self.integer() } else { Self::number_of(self.rng.pick(&NUMBERS)) }
    }

    /// Any JSON value.
    pub(super) fn json(&mut self, depth: usize) -> Value {
        let kinds = if depth == 0 { 6 } else { 10 };
        match self.rng.below(kinds) {
            0 => Value::Null,
            1 => Value::Bool(self.rng.chance(50)),
            2 => self.integer(),
            3 => self.number(),
            4 => Value::from(self.member()),
            5 => Value::from(self.rng.pick(&["", "a", "none"])),
            6 | 7 => (0..self.rng.below(4)).map(|_| self.json(depth - 1)).collect(),
            _ => Value::Object(self.json_object(depth - 1)),
        }
    }

    /// Any JSON object.
    pub(super) fn json_object(&mut self, depth: usize) -> Map<String, Value> {
        (0..self.rng.below(4)).map(|_| (self.key(), self.json(depth))).collect()
    }

    /// A default for a schema. It mostly fits; real schemas have some that do not.
    pub(super) fn default_of(&mut self, schema: &Map<String, Value>) -> Value {
        if self.rng.chance(4) {
            return self.json(1);
        }
        if let Some(Value::Array(members)) = get(schema, "enum") {
            let at = self.rng.below(members.len());
            return members.get(at).cloned().unwrap_or(Value::Null);
        }
        if let Some(value) = get(schema, "const") {
            return value.clone();
        }
        let kind = match get(schema, "type") {
            Some(Value::String(kind)) => kind.clone(),
            Some(Value::Array(kinds)) => {
                let at = self.rng.below(kinds.len());
                kinds.get(at).and_then(Value::as_str).unwrap_or("null").to_owned()
            }
            _ => match get(schema, "anyOf").or_else(|| get(schema, "oneOf")) {
                Some(Value::Array(members)) => {
                    let at = self.rng.below(members.len());
                    let Some(Value::Object(chosen)) = members.get(at) else { return Value::Null };
                    let chosen = chosen.clone();
                    return self.default_of(&chosen);
                }
                _ => "null".to_owned(),
            },
        };
        match kind.as_str() {
            "string" if self.rng.chance(20) => Value::from(""),
            "string" if self.rng.chance(10) => Value::from(self.text()),
            "string" => Value::from(self.member()),
            "integer" => self.integer(),
            "number" => self.number(),
            "boolean" => Value::Bool(self.rng.chance(30)),
            "array" if self.rng.chance(70) => Value::Array(Vec::new()),
            "array" => (0..self.rng.between(1, 3)).map(|_| Value::from(self.member())).collect(),
            "object" if self.rng.chance(70) => Value::Object(Map::new()),
            "object" => Value::Object(self.json_object(2)),
            _ => Value::Null,
        }
    }
}
