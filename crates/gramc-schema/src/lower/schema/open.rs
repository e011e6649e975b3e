//! Lowers schemas for a target that supports all of JSON Schema with a few exceptions.

use gramc_json_schema::text::MAX_SCHEMA_DEPTH;
use gramc_json_schema::type_set::TypeSet;
use serde_json::{Map, Value};

use super::super::loss::Became;
use super::super::patterns::PatternRule;
use super::super::restore::{FieldPlan, RestorePlan};
use super::keys::Keys;
use super::{Lowerer, leftovers, parts};
use gramc_json_schema::keywords::{Keyword as K, Keywords, name as k};
use gramc_json_schema::path::Path;

impl Lowerer<'_> {
    /// Changes only the schemas that the target does not accept.
    pub(super) fn open(
        &mut self,
        map: &mut Map<String, Value>,
        notes: &mut Vec<String>,
    ) -> RestorePlan {
        if self.spec.arrays_need_items
            || self.spec.objects.never_closed
            || self.spec.keep != Keywords::ALL
            || !self.endless.is_empty()
            || !self.mentions.is_empty()
        {
            self.open_place(map, notes, &Path::ROOT, 0);
        }
        let keys = Keys::of(self.spec.keys.as_ref(), map, &Path::ROOT);
        let mut fields = Vec::new();
        if let Some(Value::Object(properties)) = map.get(k::PROPERTIES) {
            let changed = properties.keys().filter_map(|key| Some((key, keys.changed(key)?)));
            fields
                .extend(changed.map(|(key, to)| FieldPlan::keep(to.to_owned(), Some(key.clone()))));
        }
        self.rename_keys(map, &keys, &Path::ROOT);
        if !keys.is_empty() {
            map.values_mut().for_each(|value| keys.change_references(value, 0));
        }
        RestorePlan::object(fields, RestorePlan::Keep)
    }

    fn open_node(&mut self, value: &mut Value, path: &Path<'_>, depth: usize) {
        let Value::Object(map) = value else { return };
        let mut notes = Vec::new();
        self.open_place(map, &mut notes, path, depth);
        leftovers::describe(map, notes);
    }

    fn open_place(
        &mut self,
        map: &mut Map<String, Value>,
        notes: &mut Vec<String>,
        path: &Path<'_>,
        depth: usize,
    ) {
        if depth > MAX_SCHEMA_DEPTH {
            return;
        }
        self.mentions.rewrite(map);
        if !self.endless.is_empty() {
            self.without_endless(map, path);
        }
        let mut refused = false;
        for (key, value) in map.iter_mut() {
            let keyword = K::of(key);
            refused |= !self.spec.keeps(keyword);
            match (keyword, value) {
                (
                    K::Properties
                    | K::PatternProperties
                    | K::DependentSchemas
                    | K::Defs
                    | K::Definitions,
                    Value::Object(parts),
                ) => {
                    let inside = path.key(key);
                    for (name, part) in parts {
                        self.open_node(part, &inside.key(name), depth + 1);
                    }
                }
                (
                    K::AnyOf | K::OneOf | K::AllOf | K::PrefixItems | K::Items,
                    Value::Array(parts),
                ) => {
                    let inside = path.key(key);
                    for (number, part) in parts.iter_mut().enumerate() {
                        self.open_node(part, &inside.index(number), depth + 1);
                    }
                }
                (
                    K::Items
                    | K::AdditionalItems
                    | K::AdditionalProperties
                    | K::PropertyNames
                    | K::Contains
                    | K::UnevaluatedItems
                    | K::UnevaluatedProperties
                    | K::ContentSchema
                    | K::Not
                    | K::If
                    | K::Then
                    | K::Else,
                    part @ Value::Object(_),
                ) => self.open_node(part, &path.key(key), depth + 1),
                _ => {}
            }
        }
        if self.spec.arrays_need_items
            && !map.contains_key(k::ITEMS)
            && map.get(k::TYPE).and_then(TypeSet::of_keyword).is_some_and(|t| t.has(TypeSet::ARRAY))
        {
            map.insert(k::ITEMS.to_owned(), Value::Object(Map::new()));
        }
        if self.spec.objects.never_closed
            && map.get(k::ADDITIONAL_PROPERTIES) == Some(&Value::Bool(false))
            && let Some(value) = map.shift_remove(k::ADDITIONAL_PROPERTIES)
        {
            self.sentence_of(notes, path, k::ADDITIONAL_PROPERTIES, value);
        }
        if self.spec.patterns != PatternRule::Any {
            self.pattern(map, notes, path);
        }
        if refused {
            self.refused(map, notes, path);
        }
    }

    /// Removes a reference that leads back to itself, and writes all types instead.
    fn without_endless(&mut self, map: &mut Map<String, Value>, path: &Path<'_>) {
        let Some(value) = self.take_endless(map) else { return };
        if !map.contains_key(k::TYPE) {
            map.insert(k::TYPE.to_owned(), TypeSet::ALL.keyword());
        }
        self.lose(&path.key(k::REF), k::REF, value, Became::Rewritten(k::TYPE.to_owned()));
    }

    fn refused(&mut self, map: &mut Map<String, Value>, notes: &mut Vec<String>, path: &Path<'_>) {
        if !self.spec.keeps(K::OneOf) && map.contains_key(k::ONE_OF) {
            if map.contains_key(k::ANY_OF) {
                // Both unions must hold.
                let alternatives = map.shift_remove(k::ONE_OF).unwrap_or_default();
                self.lose(&path.key(k::ONE_OF), k::ONE_OF, alternatives.clone(), Became::AnyOf);
                let part = parts::one(k::ANY_OF, alternatives);
                match map.get_mut(k::ALL_OF) {
                    Some(Value::Array(parts)) => parts.push(part.into()),
                    _ => {
                        map.insert(k::ALL_OF.to_owned(), Value::Array(vec![part.into()]));
                    }
                }
                notes.push("Exactly one of the alternatives of one union applies.".to_owned());
            } else {
                self.one_of(map, path);
            }
        }
        for key in [k::SCHEMA, k::ID] {
            if !self.spec.keeps(K::of(key))
                && let Some(value) = map.shift_remove(key)
            {
                self.sentence_of(notes, path, key, value);
            }
        }
    }
}
