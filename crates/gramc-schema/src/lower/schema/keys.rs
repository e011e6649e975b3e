//! Property keys that a target rejects, and the keys that replace them.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use gramc_json_schema::text::MAX_SCHEMA_DEPTH;
use serde_json::Value;

use super::super::names;
use super::super::target_spec::KeyRule;
use super::parts::Object;
use gramc_json_schema::keywords::{Keyword as K, name as k};
use gramc_json_schema::path::Path;
use gramc_json_schema::pointer::{
    escape_fragment_token as escaped, unescape_fragment_token as unescaped,
};

/// The renamed keys of one object's properties.
#[derive(Default)]
pub(super) struct Keys {
    changed: HashMap<String, String>,
}

impl Keys {
    /// Assigns a unique valid key to each property key that the rule rejects.
    pub(super) fn of(rule: Option<&KeyRule>, schema: &Object, path: &Path<'_>) -> Self {
        let Some(KeyRule { rule, root_only }) = rule else { return Self::default() };
        let Some(Value::Object(properties)) = schema.get(k::PROPERTIES) else {
            return Self::default();
        };
        if *root_only && !path.is_root() || properties.keys().all(|key| rule.allows(key)) {
            return Self::default();
        }
        let allowed = properties.keys().filter(|key| rule.allows(key));
        let mut taken: HashSet<String> = allowed.cloned().collect();
        let mut changed = HashMap::new();
        for key in properties.keys().filter(|key| !rule.allows(key)) {
            let to = names::free(rule, key, "_key", |candidate| taken.contains(candidate));
            taken.insert(to.clone());
            changed.insert(key.clone(), to);
        }
        Self { changed }
    }

    /// Whether no key is renamed.
    pub(super) fn is_empty(&self) -> bool {
        self.changed.is_empty()
    }

    /// The new name of a renamed key.
    pub(super) fn changed(&self, key: &str) -> Option<&str> {
        self.changed.get(key).map(String::as_str)
    }

    /// The key that the model sees.
    pub(super) fn seen<'k>(&'k self, key: &'k str) -> &'k str {
        self.changed(key).unwrap_or(key)
    }

    /// The value of a keyword of the same schema, with the keys that the model sees.
    pub(super) fn in_value<'v>(&self, keyword: K, value: &'v Value) -> Cow<'v, Value> {
        if self.is_empty() {
            return Cow::Borrowed(value);
        }
        let mut value = value.clone();
        self.change(keyword, &mut value, 0);
        Cow::Owned(value)
    }

    /// The same, in place.
    pub(super) fn change(&self, keyword: K, value: &mut Value, depth: usize) {
        match (keyword, value) {
            (K::Required, Value::Array(keys)) => self.change_list(keys),
            (K::Properties, Value::Object(map)) => self.change_keys(map),
            (
                K::DependentRequired | K::DependentSchemas | K::Dependencies,
                Value::Object(needs),
            ) => {
                for need in needs.values_mut() {
                    match need {
                        Value::Array(keys) => self.change_list(keys),
                        schema => self.change_schema(schema, depth + 1),
                    }
                }
                self.change_keys(needs);
            }
            (K::AnyOf | K::OneOf | K::AllOf, Value::Array(parts)) => {
                for part in parts {
                    self.change_schema(part, depth + 1);
                }
            }
            (K::Not | K::If | K::Then | K::Else, schema) => self.change_schema(schema, depth + 1),
            _ => {}
        }
    }

    /// Renames the keys in a schema that applies to the same object.
    fn change_schema(&self, schema: &mut Value, depth: usize) {
        let Value::Object(map) = schema else { return };
        if depth > MAX_SCHEMA_DEPTH {
            return;
        }
        for (key, value) in map {
            self.change(K::of(key), value, depth);
        }
    }

    /// The updated reference, if it pointed to a renamed property.
    pub(super) fn update_reference(&self, to: &str) -> Option<String> {
        let rest = to.strip_prefix("#/properties/")?;
        let (step, behind) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let key = self.changed(&unescaped(step))?;
        Some(format!("#/properties/{}{behind}", escaped(key)))
    }

    fn change_list(&self, keys: &mut [Value]) {
        for key in keys {
            if let Some(to) = key.as_str().and_then(|key| self.changed(key)) {
                *key = to.into();
            }
        }
    }

    fn change_keys(&self, map: &mut Object) {
        if map.keys().any(|key| self.changed(key).is_some()) {
            let old = std::mem::take(map);
            map.extend(old.into_iter().map(|(key, value)| (self.seen(&key).to_owned(), value)));
        }
    }
}
