//! The root schema, which most targets require to be a plain object.

use gramc_json_schema::type_set::TypeSet;
use serde_json::{Map, Value};

use super::super::loss::Became;
use super::super::target_spec::AnyOfRule;
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
                unions.push((key, alternatives.clone()));
                self.lift_properties(site.map, alternatives);
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
        let mut objects = self.objects_of(&members, 0).map(Value::from);
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

    /// The objects that the members of a union accept, with the members of unions among them. `None` if a
    /// member says more than which properties there are.
    fn objects_of(&self, members: &[Value], depth: usize) -> Option<Vec<Value>> {
        let mut objects = Vec::new();
        for member in members {
            let map = member.as_object().filter(|_| depth < MAX_COMBINED)?;
            let says = |key: &&String| !K::of(key).is_annotation() && key.as_str() != k::TYPE;
            let says: Vec<&str> = map.keys().filter(says).map(String::as_str).collect();
            match says.as_slice() {
                [key @ (k::ANY_OF | k::ONE_OF)] => {
                    let inner = map.get(*key).and_then(Value::as_array)?;
                    objects.extend(self.objects_of(inner, depth + 1)?);
                }
                [k::REF] => {
                    let found = self.resolve(map.get(k::REF).and_then(Value::as_str)?)?;
                    objects.extend(self.objects_of(&[found], depth + 1)?);
                }
                _ if self.is_plain_object(map, depth) => {
                    let Reached { properties, required } = self.reach(member.clone(), 0);
                    let mut object = parts::one(k::PROPERTIES, properties);
                    parts::put(&mut object, k::REQUIRED, required);
                    objects.push(object.into());
                }
                _ => return None,
            }
        }
        Some(objects)
    }

    /// Whether a schema says only which properties an object has.
    fn is_plain_object(&self, map: &Object, depth: usize) -> bool {
        let is_plain = |schema: &Value| {
            schema.as_object().is_some_and(|map| self.is_plain_object(map, depth + 1))
        };
        depth < MAX_COMBINED
            && map.iter().all(|(key, value)| match K::of(key) {
                K::Properties | K::Required | K::AdditionalProperties => true,
                K::Type => value == "object",
                K::AllOf => value.as_array().is_some_and(|parts| parts.iter().all(is_plain)),
                K::Ref => {
                    value.as_str().and_then(|to| self.resolve(to)).is_some_and(|it| is_plain(&it))
                }
                keyword => keyword.is_annotation(),
            })
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
    fn lift_properties(&mut self, map: &mut Object, alternatives: Vec<Value>) {
        let Reached { properties, required } = self.reach_any(alternatives, 0);
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

    /// What a schema says of the properties of objects, in itself and in the schemas that it combines.
    fn reach(&self, schema: Value, depth: usize) -> Reached {
        let mut reached = Reached::default();
        let Value::Object(mut map) = schema else { return reached };
        if depth > MAX_COMBINED {
            return reached;
        }
        if let Some(Value::Array(keys)) = map.shift_remove(k::REQUIRED) {
            reached.required = keys;
        }
        if let Some(Value::Object(properties)) = map.shift_remove(k::PROPERTIES) {
            reached.properties = properties;
        }
        if let Some(Value::String(to)) = map.get(k::REF) {
            reached.and(self.reach(self.resolve(to).unwrap_or_default(), depth + 1));
        }
        if let Some(Value::Array(parts)) = map.shift_remove(k::ALL_OF) {
            for part in parts {
                reached.and(self.reach(part, depth + 1));
            }
        }
        for key in [k::ANY_OF, k::ONE_OF] {
            if let Some(Value::Array(parts)) = map.shift_remove(key) {
                reached.and(self.reach_any(parts, depth + 1));
            }
        }
        reached
    }

    /// The same for the members of a union.
    fn reach_any(&self, members: Vec<Value>, depth: usize) -> Reached {
        let mut members = members.into_iter().map(|member| self.reach(member, depth));
        let mut reached = members.next().unwrap_or_default();
        for Reached { properties, required } in members {
            reached.required.retain(|key| required.contains(key));
            properties
                .into_iter()
                .for_each(|(key, it)| add_alternative(&mut reached.properties, key, it));
        }
        reached
    }
}

/// Schemas that combine others to this depth are searched for properties.
const MAX_COMBINED: usize = 32;

/// The properties that objects of a schema can have, and those that they need.
#[derive(Default)]
struct Reached {
    properties: Object,
    required: Vec<Value>,
}

impl Reached {
    /// Adds what another schema says of the same objects.
    fn and(&mut self, other: Self) {
        for (key, property) in other.properties {
            self.properties.entry(key).or_insert(property);
        }
        let new = other.required.into_iter().filter(|key| !self.required.contains(key));
        let new: Vec<Value> = new.collect();
        self.required.extend(new);
    }
}

/// Adds a property. If it has another schema already, it becomes a union of both.
fn add_alternative(found: &mut Object, key: String, property: Value) {
    match found.get_mut(&key) {
        None => {
            found.insert(key, property);
        }
        Some(known) if *known == property => {}
        // A union that was made here.
        Some(Value::Object(known)) if known.len() == 1 && known.contains_key(k::ANY_OF) => {
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
