//! Schemas that must keep their exact meaning.
//!
//! A schema that is negated, or that is a condition, must not become wider: the values that the whole
//! accepts would become fewer. What cannot be kept exactly is left out as a whole.

use gramc_json_schema::keywords::{Keyword, Keyword as K, KeywordValue as V, name as k};
use gramc_json_schema::type_set::TypeSet;
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
        let keyword = Keyword::of(key);
        let is_exact = match keyword.value() {
            // Their meaning depends on the keywords around them.
            _ if matches!(
                keyword,
                K::AdditionalItems
                    | K::UnevaluatedItems
                    | K::UnevaluatedProperties
                    | K::ContentSchema
            ) =>
            {
                false
            }
            V::Schema | V::SchemaOrList => return self.schema(value, depth),
            V::SchemaMap => {
                let members = value.as_object()?.iter();
                let is_malformed = |name: &String| malformed_pattern(name).is_some();
                if keyword == K::PatternProperties && members.clone().any(|it| is_malformed(it.0)) {
                    return None;
                }
                let exact =
                    |(name, it): (&String, &Value)| Some((name.clone(), self.schema(it, depth)?));
                return members.map(exact).collect::<Option<Map<_, _>>>().map(Value::Object);
            }
            V::SchemaList => {
                return value.as_array()?.iter().map(|it| self.schema(it, depth)).collect();
            }
            V::Types => is_type(value),
            V::Values => value.as_array().is_some_and(|values| !values.is_empty()),
            V::Value => keyword == K::Const,
            V::Names => value.as_array().is_some_and(|all| all.iter().all(Value::is_string)),
            V::NamesMap => value.is_object(),
            V::Text => {
                keyword == K::Pattern
                    && value.as_str().is_some_and(|it| malformed_pattern(it).is_none())
            }
            V::Number => value.is_number(),
            V::Count => value.is_u64(),
            V::Boolean => value.is_boolean(),
            V::SchemaOrNamesMap | V::Reference => false,
        };
        is_exact.then(|| value.clone())
    }
}

fn is_type(value: &Value) -> bool {
    let is_name = |value: &Value| value.as_str().and_then(TypeSet::named).is_some();
    match value {
        Value::Array(names) => names.iter().all(is_name),
        name => is_name(name),
    }
}
