//! What JSON Schema has and the tools that were looked at have not.

use serde_json::{Map, Value};

use super::nodes::typed;
use super::{Place, Schemas, put};

impl Schemas<'_> {
    /// Adds one thing beyond what real tools hold, to few schemas.
    pub(super) fn run_wild(&mut self, node: &mut Map<String, Value>, place: Place) {
        if !self.rng.chance(6) {
            return;
        }
        let below = place.below();
        match self.rng.below(17) {
            0 => {
                let members: Vec<Value> = (0..2).map(|_| self.type_use(below)).collect();
                put(node, "allOf", members);
            }
            1 => {
                let excluded = self.type_use(below);
                put(node, "not", excluded);
            }
            2 => {
                for keyword in ["if", "then", "else"] {
                    let branch = self.type_use(below);
                    put(node, keyword, branch);
                }
            }
            3 => {
                let mut patterns = Map::new();
                let value = self.type_use(below);
                put(&mut patterns, self.rng.pick(&["^x-", "^\\d+$", "required"]), value);
                put(node, "patternProperties", patterns);
            }
            4 => {
                let mut dependent = Map::new();
                put(&mut dependent, "a", vec!["b", "c"]);
                put(node, "dependentRequired", dependent);
            }
            5 => {
                let mut dependent = Map::new();
                let value = self.type_use(below);
                put(&mut dependent, "properties", value);
                put(node, "dependentSchemas", dependent);
            }
            6 => {
                let contained = self.type_use(below);
                put(node, "contains", contained);
                put(node, "minContains", self.rng.below(3));
            }
            7 => put(node, "unevaluatedProperties", false),
            8 => put(node, "$comment", self.text()),
            9 => put(node, self.rng.pick(&["readOnly", "writeOnly"]), true),
            10 => put(node, "contentMediaType", "application/json"),
            11 => {
                let value = self.json(2);
                put(
                    node,
                    self.rng.pick(&["x-foo", "example", "nullable", "x-order", "ui:w"]),
                    value,
                );
            }
            12 => put(node, "$ref", "#"),
            13 => put(node, "type", vec!["string", "integer", "array"]),
            14 => put(node, "$anchor", "here"),
            15 => {
                // Two ways of saying a type at once.
                let members = vec![Value::Object(typed("string")), Value::Object(Map::new())];
                put(node, self.rng.pick(&["anyOf", "oneOf"]), members);
            }
            _ => {
                let mut local = Map::new();
                let value = self.type_use(Place { depth: 0, first: 0 });
                put(&mut local, "Local", value);
                put(node, self.rng.pick(&["definitions", "$defs"]), local);
            }
        }
    }
}
