//! Lowers arrays and tuples.

use serde_json::{Map, Value};

use super::super::loss::Became;
use super::super::restore::RestorePlan;
use super::{At, Lowerer, merge, parts, sentences};
use gramc_json_schema::keywords::{Keyword as K, name as k};
use gramc_json_schema::path::Path;

impl Lowerer<'_> {
    /// Lowers an array. If `is_array` is false, the schema also accepts other types, and only
    /// constrains the items of arrays.
    pub(super) fn array(
        &mut self,
        map: &mut Map<String, Value>,
        notes: &mut Vec<String>,
        path: &Path<'_>,
        at: At,
        is_array: bool,
    ) -> RestorePlan {
        let mut prefix = Vec::new();
        if map.contains_key(k::PREFIX_ITEMS) {
            if self.spec.keeps(K::PrefixItems) {
                prefix = self.prefix(map, notes, path, at);
            } else {
                self.tuple_as_list(map, notes, path);
            }
        }
        if map.get(k::ITEMS) == Some(&Value::Bool(false)) && !self.spec.keeps(K::PrefixItems) {
            map.shift_remove(k::ITEMS);
            let key = path.key(k::ITEMS);
            if self.spec.keeps(K::MaxItems) {
                map.insert(k::MAX_ITEMS.to_owned(), 0.into());
                self.lose(&key, k::ITEMS, false.into(), Became::Rewritten(k::MAX_ITEMS.to_owned()));
            } else {
                let sentence = "Always empty.".to_owned();
                self.lose(&key, k::ITEMS, false.into(), Became::Description(sentence.clone()));
                notes.push(sentence);
            }
        }
        let missing = map.get(k::ITEMS).is_none_or(|items| *items == Value::Bool(true));
        if missing && is_array && self.spec.arrays_need_items {
            map.insert(k::ITEMS.to_owned(), Value::Object(Map::new()));
        } else if missing {
            map.shift_remove(k::ITEMS);
        }
        let items = match map.get_mut(k::ITEMS) {
            Some(items @ Value::Object(_)) => {
                let out = self.node(items, &path.key(k::ITEMS), at.deeper());
                notes.extend(out.up.iter().map(|note| format!("Each item: {note}")));
                out.plan
            }
            _ => RestorePlan::Keep,
        };
        RestorePlan::array(prefix, items)
    }

    /// Lowers `prefixItems`, for a target that supports tuples.
    fn prefix(
        &mut self,
        map: &mut Map<String, Value>,
        notes: &mut Vec<String>,
        path: &Path<'_>,
        at: At,
    ) -> Vec<RestorePlan> {
        let Some(Value::Array(items)) = map.get_mut(k::PREFIX_ITEMS) else { return Vec::new() };
        let inside = path.key(k::PREFIX_ITEMS);
        let each = items.iter_mut().enumerate().map(|(number, item)| {
            let out = self.node(item, &inside.index(number), at.deeper());
            let name = (number + 1).to_string();
            notes.extend(out.up.iter().map(|note| sentences::about(&name, note)));
            out.plan
        });
        each.collect()
    }

    /// Rewrites a tuple to an array with a union of its item types, for a target without tuples.
    fn tuple_as_list(
        &mut self,
        map: &mut Map<String, Value>,
        notes: &mut Vec<String>,
        path: &Path<'_>,
    ) {
        let Some(Value::Array(items)) = map.shift_remove(k::PREFIX_ITEMS) else { return };
        let length = items.len();
        let value = Value::Array(items);
        let rest = map.shift_remove(k::ITEMS);
        self.sentence_of(notes, path, k::PREFIX_ITEMS, value.clone());
        let Value::Array(items) = value else { return };
        let mut kinds: Vec<Value> = Vec::new();
        let mut add = |item: Value| {
            if !kinds.contains(&item) {
                kinds.push(item);
            }
        };
        items.into_iter().for_each(&mut add);
        match rest {
            Some(Value::Bool(false)) => {
                let key = path.key(k::ITEMS);
                if self.spec.keeps(K::MaxItems) {
                    let tighter = map.get(k::MAX_ITEMS).and_then(Value::as_u64);
                    let most = tighter.map_or(length as u64, |most| most.min(length as u64));
                    map.insert(k::MAX_ITEMS.to_owned(), most.into());
                    let to = Became::Rewritten(k::MAX_ITEMS.to_owned());
                    self.lose(&key, k::ITEMS, false.into(), to);
                } else {
                    self.sentence_of(notes, path, k::ITEMS, false.into());
                }
            }
            Some(rest) if !merge::is_anything(&rest) => {
                self.sentence_of(notes, path, k::ADDITIONAL_ITEMS, rest.clone());
                add(rest);
            }
            _ => add(Value::Object(Map::new())),
        }
        let items = match <[Value; 1]>::try_from(kinds) {
            Ok([one]) => one,
            // Items of any type need no union.
            Err(kinds) if kinds.iter().any(merge::is_anything) => Value::Object(Map::new()),
            Err(kinds) => Value::Object(parts::one(k::ANY_OF, kinds)),
        };
        map.insert(k::ITEMS.to_owned(), items);
    }
}
