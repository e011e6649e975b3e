//! Schemas that must keep their exact meaning.
//!
//! A schema that is negated, or that is a condition, must not become wider: the values that the whole
//! accepts would become fewer. What cannot be kept exactly is left out as a whole.

use gramc_json_schema::keywords::name as k;
use gramc_model::value_check::malformed_pattern;
use serde_json::{Map, Value};

use super::Lowerer;
use super::merge::is_annotation;

/// The deepest nesting, which also ends references in a circle.
const MAX_LEVELS: usize = 12;

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
            _ if depth >= MAX_LEVELS || self.count > MAX_SCHEMAS => return None,
            Value::Bool(_) => return Some(schema.clone()),
            schema => schema.as_object()?,
        };
        if let Some(reference) = map.get(k::REF) {
            let is_alone = map.keys().all(|key| key == k::REF || is_annotation(key));
            let target = self.lowerer.document.here(reference.as_str().filter(|_| is_alone)?)?;
            return self.schema(target, depth + 1);
        }
        let mut out = Map::new();
        for (key, value) in map {
            if matches!(key.as_str(), k::NULLABLE | "x-nullable") && *value != Value::Bool(false) {
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
            k::NOT
            | k::IF
            | k::THEN
            | k::ELSE
            | k::CONTAINS
            | k::ITEMS
            | k::ADDITIONAL_PROPERTIES
            | k::PROPERTY_NAMES => return self.schema(value, depth),
            k::PROPERTIES | k::PATTERN_PROPERTIES | k::DEPENDENT_SCHEMAS => {
                let members = value.as_object()?.iter();
                if key == k::PATTERN_PROPERTIES
                    && members.clone().any(|(pattern, _)| malformed_pattern(pattern).is_some())
                {
                    return None;
                }
                let exact =
                    |(name, it): (&String, &Value)| Some((name.clone(), self.schema(it, depth)?));
                return members.map(exact).collect::<Option<Map<_, _>>>().map(Value::Object);
            }
            k::ALL_OF | k::ANY_OF | k::ONE_OF | k::PREFIX_ITEMS => {
                let members = value.as_array()?.iter();
                return members.map(|it| self.schema(it, depth)).collect();
            }
            k::TYPE => is_type(value),
            k::ENUM => value.as_array().is_some_and(|values| !values.is_empty()),
            k::CONST => true,
            k::REQUIRED => value.as_array().is_some_and(|all| all.iter().all(Value::is_string)),
            k::PATTERN => value.as_str().is_some_and(|it| malformed_pattern(it).is_none()),
            k::MINIMUM
            | k::MAXIMUM
            | k::EXCLUSIVE_MINIMUM
            | k::EXCLUSIVE_MAXIMUM
            | k::MULTIPLE_OF => value.is_number(),
            k::MIN_LENGTH
            | k::MAX_LENGTH
            | k::MIN_ITEMS
            | k::MAX_ITEMS
            | k::MIN_PROPERTIES
            | k::MAX_PROPERTIES
            | k::MIN_CONTAINS
            | k::MAX_CONTAINS => value.is_u64(),
            k::UNIQUE_ITEMS => value.is_boolean(),
            k::DEPENDENT_REQUIRED => value.is_object(),
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
