//! The schemas that operations share.

use std::collections::{HashMap, HashSet};

use gramc_json_schema::keywords::{Keyword, has_several_resources};
use gramc_json_schema::pointer::unescape_fragment_token;
use serde_json::{Map, Value, json};

use super::COMPONENT;
use crate::names::free_name;

/// The schemas of a document, by name.
#[derive(Debug, Default)]
pub(super) struct Components {
    schemas: Map<String, Value>,
    /// The same, as the schemas of tools have them.
    definitions: HashMap<String, Value>,
}

/// The reference to a definition within a schema.
const DEFINITION: &str = "#/$defs/";

impl Components {
    pub(super) fn into_schemas(self) -> Map<String, Value> {
        self.schemas
    }

    /// A schema whose definitions are components. `name` names it if it has to be a resource of its own.
    pub(super) fn add(&mut self, name: &str, mut schema: Value) -> Value {
        if !refers_to_definitions_only(&schema, true) {
            // References within it are relative to itself, and not to the document.
            if let Value::Object(map) = &mut schema {
                map.entry("$id").or_insert_with(|| format!("urn:tool:{name}").into());
            }
            return schema;
        }
        let definitions = match schema.as_object_mut().and_then(|map| map.shift_remove("$defs")) {
            Some(Value::Object(definitions)) => definitions,
            _ => Map::new(),
        };
        let named = self.names_of(&definitions);
        for (key, own) in &definitions {
            let Some(name) = named.get(key.as_str()) else { continue };
            if !self.definitions.contains_key(name) {
                self.definitions.insert(name.clone(), own.clone());
                let mut own = own.clone();
                refer(&mut own, &named);
                self.schemas.insert(name.clone(), own);
            }
        }
        // A schema that a definition has, too, is that definition.
        let same = definitions.iter().find(|(_, own)| **own == schema);
        if let Some(name) = same.and_then(|(key, _)| named.get(key.as_str())) {
            return json!({"$ref": format!("{COMPONENT}{name}")});
        }
        refer(&mut schema, &named);
        schema
    }

    /// The names of the definitions of a schema as components. Where another definition has one of the
    /// names, all get the first number with which none has: they may refer to each other.
    fn names_of<'d>(&self, definitions: &'d Map<String, Value>) -> HashMap<&'d str, String> {
        let plain = |key: &str| -> String {
            let is_allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
            key.chars().map(|c| if is_allowed(c) { c } else { '_' }).collect()
        };
        let numbered = |number: u64| -> HashMap<&'d str, String> {
            let suffix = if number == 1 { String::new() } else { number.to_string() };
            let mut taken = HashSet::new();
            let named = definitions.keys().map(|key| {
                let name = format!("{}{suffix}", plain(key));
                let others = |number| format!("{name}_{number}");
                let name = free_name([name.clone()], others, |name| !taken.contains(name));
                taken.insert(name.clone());
                (key.as_str(), name)
            });
            named.collect()
        };
        let is_free = |named: &HashMap<&str, String>| {
            definitions.iter().all(|(key, own)| {
                let name = named.get(key.as_str());
                let known = name.and_then(|name| self.definitions.get(name));
                known.is_none_or(|known| known == own)
            })
        };
        // Each number gives other names, of which only so many are taken.
        let mut number = 1;
        loop {
            let named = numbered(number);
            if is_free(&named) {
                return named;
            }
            number += 1;
        }
    }
}

/// The name of the definition that a reference leads to.
fn definition(reference: &str) -> Option<String> {
    reference
        .strip_prefix(DEFINITION)
        .filter(|token| !token.contains('/'))
        .map(unescape_fragment_token)
}

/// Calls `visit` with each reference of a schema.
fn each_reference<'s>(schema: &'s Value, visit: &mut impl FnMut(&'s str)) {
    for (key, value) in schema.as_object().into_iter().flatten() {
        if let ("$ref" | "$dynamicRef", Value::String(reference)) = (key.as_str(), value) {
            visit(reference);
        }
        Keyword::of(key).subschemas(value).into_iter().for_each(|it| each_reference(it, visit));
    }
}

/// Whether all references of a schema lead to its definitions, which only its root has.
fn refers_to_definitions_only(schema: &Value, is_root: bool) -> bool {
    if is_root {
        let mut is_plain = schema.get("$id").is_none() && !has_several_resources(schema);
        each_reference(schema, &mut |reference| is_plain &= definition(reference).is_some());
        if !is_plain {
            return false;
        }
    }
    schema.as_object().into_iter().flatten().all(|(key, value)| {
        let is_definitions = matches!(key.as_str(), "$defs" | "definitions");
        (is_root || !is_definitions)
            && key != "definitions"
            && Keyword::of(key)
                .subschemas(value)
                .into_iter()
                .all(|it| refers_to_definitions_only(it, false))
    })
}

/// Makes references to definitions those to components.
fn refer(schema: &mut Value, named: &HashMap<&str, String>) {
    for (key, value) in schema.as_object_mut().into_iter().flatten() {
        if let ("$ref", Value::String(reference)) = (key.as_str(), &mut *value)
            && let Some(name) = definition(reference).and_then(|key| named.get(&*key))
        {
            *reference = format!("{COMPONENT}{name}");
        }
        Keyword::of(key).subschemas_mut(value).into_iter().for_each(|it| refer(it, named));
    }
}
