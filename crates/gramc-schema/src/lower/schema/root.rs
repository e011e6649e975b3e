//! The root schema, which most targets require to be a plain object.

use gramc_json_schema::type_set::TypeSet;
use serde_json::{Map, Value};

use super::super::loss::Became;
use super::super::target_spec::AnyOfRule;
use super::combined::{Combined, CombinedReader};
use super::parts::Object;
use super::{Lowerer, Site, leftovers, merge, parts, sentences};
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
        if keyword == K::OneOf
            && self.spec.any_of != AnyOfRule::Anything
            && self.spec.root_keeps(K::AnyOf)
        {
            // It becomes `anyOf`.
            return false;
        }
        self.spec.root.refused.has(keyword)
            // Keywords that the target does not support and that a plain object does not need.
            || matches!(keyword, K::AllOf | K::OneOf | K::Ref) && !self.spec.root_keeps(keyword)
            || keyword == K::Ref && !self.spec.is_open()
    }

    /// Rewrites the root to an object schema that the target accepts. Unsupported keywords become
    /// sentences of the tool's description.
    pub(super) fn root(&mut self, parameters: Value, site: &mut Site<'_>) {
        let is_plain = !self.root_breaks_rules(&parameters);
        *site.map = match parameters {
            Value::Object(map) => map,
            Value::Bool(true) => Map::new(),
            other => return self.no_object(other, k::NOT, site),
        };
        if is_plain {
            return;
        }
        self.merge_into_root(site);
        if !self.spec.is_open() {
            self.tell_all(site, &[k::REF]);
        }
        match site.map.get(k::TYPE).map(TypeSet::of_keyword) {
            None | Some(None) => {
                site.map.shift_insert(0, k::TYPE.to_owned(), "object".into());
            }
            Some(Some(types)) if types.has(TypeSet::OBJECT) => {
                let value = site.map.insert(k::TYPE.to_owned(), "object".into());
                if types != TypeSet::OBJECT {
                    let why = Became::dropped("arguments are always an object");
                    self.lose_key(site.path, k::TYPE, value.unwrap_or_default(), why);
                }
            }
            Some(Some(_)) => {
                let map = std::mem::take(site.map);
                return self.no_object(Value::Object(map), k::TYPE, site);
            }
        }
        let mut unions = Vec::new();
        for key in [k::ANY_OF, k::ONE_OF] {
            if self.refused_at_root(K::of(key))
                && let Some(Value::Array(alternatives)) = site.map.shift_remove(key)
            {
                self.lift_properties(site.map, &alternatives);
                unions.push((key, alternatives));
            }
        }
        // `lift_properties` added the last properties.
        site.find_keys(self.spec);
        for (key, alternatives) in unions {
            self.tell_union(site, key, alternatives);
        }
        for (key, value) in parts::take(site.map, |keyword| self.spec.root.refused.has(keyword)) {
            self.tell(site, &key, value);
        }
    }

    /// Turns a union whose properties were lifted into a sentence.
    fn tell_union(&mut self, site: &mut Site<'_>, key: &str, members: Vec<Value>) {
        let mut objects = CombinedReader::new(self).objects(&members).map(Value::from);
        if let Some(objects) = &mut objects {
            site.keys.change(K::OneOf, objects, 0);
        }
        let objects = objects.as_ref().and_then(Value::as_array);
        let sentence = objects.and_then(|it| sentences::union_of_objects(K::of(key), it));
        match sentence {
            Some(sentence) if !members.iter().all(sentences::is_only_required) => {
                self.note(site, key, members.into(), &sentence);
            }
            _ => self.tell(site, key, members),
        }
    }

    /// Replaces a root that accepts no object.
    fn no_object(&mut self, schema: Value, constraint: &str, site: &mut Site<'_>) {
        let became = match self.print(&schema) {
            Some(shown) => {
                let sentence = format!("The arguments as a whole fit this JSON Schema: {shown}");
                site.notes.push(sentence.clone());
                Became::sentence(sentence)
            }
            None => leftovers::TOO_LONG,
        };
        self.lose(&Path::ROOT, constraint, schema, became);
        parts::put(site.map, k::TYPE, "object");
        parts::put(site.map, k::PROPERTIES, Map::new());
    }

    /// Merges the root's `$ref` and `allOf` into it.
    fn merge_into_root(&mut self, site: &mut Site<'_>) {
        if self.spec.is_open() && self.spec.root.refused == Keywords::NONE {
            return;
        }
        for _ in 0..32 {
            if self.refused_at_root(K::AllOf) {
                self.all_of(site);
            }
            let Some(Value::String(to)) = site.map.get(k::REF).cloned() else { return };
            let Some(Value::Object(found)) = self.resolve(&to).filter(|_| to != "#") else {
                return;
            };
            site.map.shift_remove(k::REF);
            if !merge::can_merge(site.map, &found) {
                parts::put(site.map, k::REF, to);
                return;
            }
            self.lose_key(site.path, k::REF, to, Became::Inlined);
            merge::merge(site.map, found);
        }
    }

    /// Adds the properties of a union's members to the root, which could not be given otherwise.
    fn lift_properties(&self, map: &mut Object, alternatives: &[Value]) {
        let Combined { properties, required, .. } =
            CombinedReader::new(self).union(alternatives, 0);
        if properties.is_empty() && required.is_empty() {
            return;
        }
        let own = map.entry(k::PROPERTIES).or_insert_with(|| Value::Object(Map::new()));
        let Value::Object(own) = own else { return };
        for (key, property) in properties {
            own.entry(key).or_insert(property);
        }
        let is_known = |key: &Value| key.as_str().is_some_and(|key| own.contains_key(key));
        let known: Vec<Value> = required.into_iter().filter(is_known).collect();
        if known.is_empty() {
            return;
        }
        let required = map.entry(k::REQUIRED).or_insert_with(|| Value::Array(Vec::new()));
        let Value::Array(required) = required else { return };
        for key in known {
            if !required.contains(&key) {
                required.push(key);
            }
        }
    }
}
