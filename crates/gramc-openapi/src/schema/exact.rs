//! Schemas that must keep their exact meaning.
//!
//! A schema that is negated, or that is a condition, must not become wider: the values that the whole
//! accepts would become fewer. What cannot be kept exactly is left out as a whole.

use gramc_model::value_check::malformed_pattern;
use serde_json::{Map, Value};

use super::Lowerer;
use super::merge::is_annotation;

/// The deepest nesting, which also ends references in a circle.
const MAX_DEPTH: usize = 12;

/// The most schemas.
const MAX_SCHEMAS: usize = 1_000;

impl Lowerer<'_> {
    /// A schema without references that accepts the same values, if there is one.
    pub(super) fn exact(&self, schema: &Value) -> Option<Value> {
        Exact { lowerer: self, count: 0 }.schema(schema, 0)
    }
}

struct Exact<'l, 'd> {
    lowerer: &'l Lowerer<'d>,
    count: usize,
}

impl Exact<'_, '_> {
    fn schema(&mut self, schema: &Value, depth: usize) -> Option<Value> {
        self.count += 1;
        let map = match schema {
            _ if depth >= MAX_DEPTH || self.count > MAX_SCHEMAS => return None,
            Value::Bool(_) => return Some(schema.clone()),
            schema => schema.as_object()?,
        };
        if let Some(reference) = map.get("$ref") {
            let is_alone = map.keys().all(|key| key == "$ref" || is_annotation(key));
            let target = self.lowerer.document.here(reference.as_str().filter(|_| is_alone)?)?;
            return self.schema(target, depth + 1);
        }
        let mut out = Map::new();
        for (key, value) in map {
            if matches!(key.as_str(), "nullable" | "x-nullable") && *value != Value::Bool(false) {
                return None;
            }
            if !is_annotation(key) {
                out.insert(key.clone(), self.keyword(key, value, depth + 1)?);
            }
        }
        Some(Value::Object(out))
    }

    /// A keyword with its value, if it means the same in JSON Schema.
    fn keyword(&mut self, key: &str, value: &Value, depth: usize) -> Option<Value> {
        let is_exact = match key {
            "not"
            | "if"
            | "then"
            | "else"
            | "contains"
            | "items"
            | "additionalProperties"
            | "propertyNames" => return self.schema(value, depth),
            "properties" | "patternProperties" | "dependentSchemas" => {
                let members = value.as_object()?.iter();
                if key == "patternProperties"
                    && members.clone().any(|(pattern, _)| malformed_pattern(pattern).is_some())
                {
                    return None;
                }
                let exact =
                    |(name, it): (&String, &Value)| Some((name.clone(), self.schema(it, depth)?));
                return members.map(exact).collect::<Option<Map<_, _>>>().map(Value::Object);
            }
            "allOf" | "anyOf" | "oneOf" | "prefixItems" => {
                let members = value.as_array()?.iter();
                return members.map(|it| self.schema(it, depth)).collect();
            }
            "type" => is_type(value),
            "enum" => value.as_array().is_some_and(|values| !values.is_empty()),
            "const" => true,
            "required" => value.as_array().is_some_and(|all| all.iter().all(Value::is_string)),
            "pattern" => value.as_str().is_some_and(|it| malformed_pattern(it).is_none()),
            "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf" => {
                value.is_number()
            }
            "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties"
            | "maxProperties" | "minContains" | "maxContains" => value.is_u64(),
            "uniqueItems" => value.is_boolean(),
            "dependentRequired" => value.is_object(),
            _ => false,
        };
        is_exact.then(|| value.clone())
    }
}

fn is_type(value: &Value) -> bool {
    let is_name = |value: &Value| {
        let names = ["array", "boolean", "integer", "null", "number", "object", "string"];
        value.as_str().is_some_and(|name| names.contains(&name))
    };
    match value {
        Value::Array(names) => names.iter().all(is_name),
        name => is_name(name),
    }
}
