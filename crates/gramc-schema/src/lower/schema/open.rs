//! Lowers schemas for a target that supports all of JSON Schema with a few exceptions.

use gramc_json_schema::text::MAX_SCHEMA_DEPTH;
use gramc_json_schema::type_set::TypeSet;
use serde_json::{Map, Value};

use super::super::loss::Became;
use super::super::restore::{FieldPlan, RestorePlan};
use super::{At, Lowerer, Site, parts};
use gramc_json_schema::keywords::{Keyword as K, Keywords, name as k};
use gramc_json_schema::path::Path;

impl Lowerer<'_> {
    /// Changes only the schemas that the target does not accept.
    pub(super) fn open(&mut self, site: &mut Site<'_>) -> RestorePlan {
        if self.spec.arrays_need_items
            || self.spec.objects.never_closed
            || self.spec.keep != Keywords::ALL
            || !self.endless.is_empty()
            || !self.mentions.is_empty()
        {
            self.open_place(site);
        }
        site.find_keys(self.spec);
        let mut fields = Vec::new();
        if let Some(Value::Object(properties)) = site.map.get(k::PROPERTIES) {
            let changed = properties.keys().filter_map(|key| Some((key, site.keys.changed(key)?)));
            fields
                .extend(changed.map(|(key, to)| FieldPlan::keep(to.to_owned(), Some(key.clone()))));
        }
        self.rename_keys(site);
        if !site.keys.is_empty() {
            let keys = &site.keys;
            let mut update = |to: &mut String| {
                if let Some(new) = keys.update_reference(to) {
                    *to = new;
                }
            };
            site.map
                .values_mut()
                .for_each(|value| parts::each_reference_mut(value, &mut update, 0));
        }
        RestorePlan::object(fields, RestorePlan::Keep)
    }

    fn open_node(&mut self, value: &mut Value, path: &Path<'_>, at: At) {
        let Value::Object(map) = value else { return };
        let mut site = Site::new(map, path, at);
        self.open_place(&mut site);
        site.describe();
    }

    fn open_place(&mut self, site: &mut Site<'_>) {
        if site.at.depth > MAX_SCHEMA_DEPTH {
            return;
        }
        self.mentions.rewrite(site.map);
        if let Some(value) = self.take_endless(site.map) {
            // All types replace a reference that leads back to itself.
            if !site.map.contains_key(k::TYPE) {
                parts::put(site.map, k::TYPE, TypeSet::ALL.keyword());
            }
            self.lose_key(site.path, k::REF, value, Became::rewritten(k::TYPE));
        }
        let mut refused = false;
        for (key, value) in site.map.iter_mut() {
            let keyword = K::of(key);
            refused |= !self.spec.keeps(keyword);
            keyword.each_subschema_mut(value, &site.path.key(key), &mut |part, path| {
                self.open_node(part, path, site.at.deeper());
            });
        }
        if self.spec.arrays_need_items
            && !site.map.contains_key(k::ITEMS)
            && parts::types(site.map).is_some_and(|types| types.has(TypeSet::ARRAY))
        {
            parts::put(site.map, k::ITEMS, Map::new());
        }
        if self.spec.objects.never_closed
            && site.map.get(k::ADDITIONAL_PROPERTIES) == Some(&Value::Bool(false))
        {
            self.tell_all(site, &[k::ADDITIONAL_PROPERTIES]);
        }
        self.pattern(site);
        if refused {
            self.remove_refused(site);
        }
    }

    fn remove_refused(&mut self, site: &mut Site<'_>) {
        if !self.spec.keeps(K::OneOf) && site.map.contains_key(k::ONE_OF) {
            if site.map.contains_key(k::ANY_OF) {
                // Both unions must hold.
                let alternatives = site.map.shift_remove(k::ONE_OF).unwrap_or_default();
                self.lose_key(site.path, k::ONE_OF, alternatives.clone(), Became::AnyOf);
                let part = parts::one(k::ANY_OF, alternatives);
                match site.map.get_mut(k::ALL_OF) {
                    Some(Value::Array(parts)) => parts.push(part.into()),
                    _ => parts::put(site.map, k::ALL_OF, vec![Value::from(part)]),
                }
                site.notes.push("Exactly one of the alternatives of one union applies.".to_owned());
            } else {
                self.one_of(site);
            }
        }
        for key in [k::SCHEMA, k::ID] {
            if !self.spec.keeps(K::of(key)) {
                self.tell_all(site, &[key]);
            }
        }
    }
}
