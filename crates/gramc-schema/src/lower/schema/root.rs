//! The root schema, which most targets require to be a plain object.

use gramc_json_schema::type_set::TypeSet;
use serde_json::{Map, Value};

use super::super::loss::Became;
use super::keys::Keys;
use super::{Lowerer, merge, parts};
use gramc_json_schema::keywords::{Keyword as K, Keywords, name as k};
use gramc_json_schema::path::Path;

impl Lowerer<'_> {
    /// Whether the root needs to be rewritten first.
    pub(super) fn root_breaks_rules(&self, parameters: &Value) -> bool {
        let Value::Object(map) = parameters else { return true };
        map.get(k::TYPE).and_then(Value::as_str) != Some("object")
            || map.keys().any(|key| self.refused_at_root(K::of(key)))
    }

    fn refused_at_root(&self, keyword: K) -> bool {
        self.spec.root.refused.has(keyword)
            // Keywords that the target does not support and that a plain object does not need.
            || matches!(keyword, K::AllOf | K::OneOf | K::Ref) && !self.spec.root_keeps(keyword)
            || keyword == K::Ref && !self.spec.is_open()
    }

    /// Rewrites the root to an object schema that the target accepts. Unsupported keywords become
    /// `notes` for the tool's description.
    pub(super) fn root(
        &mut self,
        parameters: Value,
        notes: &mut Vec<String>,
    ) -> Map<String, Value> {
        if !self.root_breaks_rules(&parameters) {
            let Value::Object(map) = parameters else { return Map::new() };
            return map;
        }
        let mut map = match parameters {
            Value::Object(map) => map,
            Value::Bool(true) => Map::new(),
            other => {
                self.no_object(other, k::NOT, notes);
                return empty_object();
            }
        };
        self.merge_into_root(&mut map);
        if !self.spec.is_open()
            && let Some(to) = map.shift_remove(k::REF)
        {
            self.sentence_of(notes, &Path::ROOT, k::REF, to);
        }
        match map.get(k::TYPE).map(TypeSet::of_keyword) {
            None | Some(None) => {
                map.shift_insert(0, k::TYPE.to_owned(), "object".into());
            }
            Some(Some(types)) if types == TypeSet::OBJECT => {
                map.insert(k::TYPE.to_owned(), "object".into());
            }
            Some(Some(types)) if types.has(TypeSet::OBJECT) => {
                let value = map.insert(k::TYPE.to_owned(), "object".into()).unwrap_or_default();
                let why = Became::Dropped("arguments are always an object");
                self.lose(&Path::ROOT.key(k::TYPE), k::TYPE, value, why);
            }
            Some(Some(_)) => {
                self.no_object(Value::Object(map), k::TYPE, notes);
                return empty_object();
            }
        }
        let mut unions = Vec::new();
        for key in [k::ANY_OF, k::ONE_OF] {
            if self.refused_at_root(K::of(key))
                && let Some(Value::Array(alternatives)) = map.shift_remove(key)
            {
                unions.push((key, Value::Array(alternatives.clone())));
                self.lift_properties(&mut map, alternatives);
            }
        }
        // `lift_properties` added the last properties.
        let keys = Keys::of(self.spec.keys.as_ref(), &map, &Path::ROOT);
        for (key, alternatives) in unions {
            self.sentence_with_keys(&keys, notes, &Path::ROOT, key, alternatives);
        }
        let refused: Vec<String> =
            map.keys().filter(|key| self.spec.root.refused.has(K::of(key))).cloned().collect();
        for key in refused {
            if let Some(value) = map.shift_remove(&key) {
                self.sentence_with_keys(&keys, notes, &Path::ROOT, &key, value);
            }
        }
        map
    }

    /// Records a root that accepts no object.
    fn no_object(&mut self, schema: Value, constraint: &str, notes: &mut Vec<String>) {
        let shown = self.printing(|printer| printer.print(&schema));
        let sentence = format!("The arguments as a whole fit this JSON Schema: {shown}");
        self.lose(&Path::ROOT, constraint, schema, Became::Description(sentence.clone()));
        notes.push(sentence);
    }

    /// Merges the root's `$ref` and `allOf` into it.
    fn merge_into_root(&mut self, map: &mut Map<String, Value>) {
        let identity = self.spec.is_open() && self.spec.root.refused == Keywords::NONE;
        if identity {
            return;
        }
        for _ in 0..32 {
            if map.contains_key(k::ALL_OF) && self.refused_at_root(K::AllOf) {
                self.all_of(map, &Path::ROOT);
            }
            let Some(Value::String(to)) = map.get(k::REF).cloned() else { return };
            let Some(Value::Object(found)) = self.resolve(&to).filter(|_| to != "#") else {
                return;
            };
            map.shift_remove(k::REF);
            if !merge::can_merge(map, &found) {
                map.insert(k::REF.to_owned(), to.as_str().into());
                return;
            }
            self.lose(&Path::ROOT.key(k::REF), k::REF, to.into(), Became::Inlined);
            merge::merge(map, found);
        }
    }

    /// Adds the properties of a union's members to the root, which could not be given otherwise.
    fn lift_properties(&mut self, map: &mut Map<String, Value>, alternatives: Vec<Value>) {
        let mut found: Map<String, Value> = Map::new();
        let mut needed: Option<Vec<String>> = None;
        let mut whole = true;
        for alternative in alternatives {
            let resolved = match alternative.get(k::REF).and_then(Value::as_str) {
                Some(to) => self.resolve(to).unwrap_or_default(),
                None => alternative,
            };
            let Value::Object(mut part) = resolved else {
                whole = false;
                continue;
            };
            let required: Vec<String> = match part.get(k::REQUIRED) {
                Some(Value::Array(keys)) => {
                    keys.iter().filter_map(Value::as_str).map(str::to_owned).collect()
                }
                _ => Vec::new(),
            };
            needed = Some(match needed {
                None => required,
                Some(keys) => keys.into_iter().filter(|key| required.contains(key)).collect(),
            });
            let Some(Value::Object(properties)) = part.shift_remove(k::PROPERTIES) else {
                continue;
            };
            for (key, property) in properties {
                either(&mut found, key, property);
            }
        }
        if found.is_empty() && needed.as_ref().is_none_or(Vec::is_empty) {
            return;
        }
        let own = map.entry(k::PROPERTIES).or_insert_with(|| Value::Object(Map::new()));
        let Value::Object(own) = own else { return };
        for (key, property) in found {
            own.entry(key).or_insert(property);
        }
        let known: Vec<String> = needed
            .filter(|_| whole)
            .into_iter()
            .flatten()
            .filter(|key| own.contains_key(key))
            .collect();
        if known.is_empty() {
            return;
        }
        let required = map.entry(k::REQUIRED).or_insert_with(|| Value::Array(Vec::new()));
        let Value::Array(required) = required else { return };
        for key in known {
            let key = Value::from(key);
            if !required.contains(&key) {
                required.push(key);
            }
        }
    }
}

/// Adds a property. If it has another schema already, it becomes a union of both.
fn either(found: &mut Map<String, Value>, key: String, property: Value) {
    match found.get_mut(&key) {
        None => {
            found.insert(key, property);
        }
        Some(known) if *known == property => {}
        Some(Value::Object(known)) if is_union_made_here(known) => {
            if let Some(Value::Array(parts)) = known.get_mut(k::ANY_OF)
                && !parts.contains(&property)
            {
                parts.push(property);
            }
        }
        Some(known) => {
            *known = Value::Object(parts::one(k::ANY_OF, vec![known.take(), property]));
        }
    }
}

fn is_union_made_here(schema: &Map<String, Value>) -> bool {
    schema.len() == 1 && schema.contains_key(k::ANY_OF)
}

fn empty_object() -> Map<String, Value> {
    let mut map = Map::new();
    map.insert(k::TYPE.to_owned(), "object".into());
    map.insert(k::PROPERTIES.to_owned(), Value::Object(Map::new()));
    map
}
