//! The schemas that operations share.

use std::collections::{HashMap, HashSet};

use json_schema_kit::keywords::{Keyword, has_several_resources};
use json_schema_kit::pointer::unescape_fragment_token;
use serde_json::{Map, Value, json};

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
            return json!({"$ref": format!("#/components/schemas/{name}")});
        }
        refer(&mut schema, &named);
        schema
    }

    /// The names of the definitions of a schema as components. Those of a schema with another definition
    /// of the same name get names of their own, all of them: they may refer to each other.
    fn names_of<'d>(&self, definitions: &'d Map<String, Value>) -> HashMap<&'d str, String> {
        let plain = |key: &str| -> String {
            let is_allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
            key.chars().map(|c| if is_allowed(c) { c } else { '_' }).collect()
        };
        let names: HashSet<String> = definitions.keys().map(|key| plain(key)).collect();
        let is_known = |(key, own): (&String, &Value)| {
            self.definitions.get(&plain(key)).is_none_or(|known| known == own)
        };
        if names.len() == definitions.len() && definitions.iter().all(is_known) {
            return definitions.keys().map(|key| (key.as_str(), plain(key))).collect();
        }
        let mut taken = names;
        let mut named = HashMap::new();
        for key in definitions.keys() {
            let base = plain(key);
            let mut others = (2_u64..).map(|number| format!("{base}{number}"));
            let is_free =
                |name: &String| !taken.contains(name) && !self.definitions.contains_key(name);
            let name = others.find(is_free).unwrap_or_default();
            taken.insert(name.clone());
            named.insert(key.as_str(), name);
        }
        named
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
            *reference = format!("#/components/schemas/{name}");
        }
        Keyword::of(key).subschemas_mut(value).into_iter().for_each(|it| refer(it, named));
    }
}
