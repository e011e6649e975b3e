//! Lowers arrays and tuples.

use serde_json::{Map, Value};

use super::super::loss::Became;
use super::super::restore::RestorePlan;
use super::{Lowerer, Site, merge, parts, sentences};
use gramc_json_schema::keywords::{Keyword as K, name as k};

impl Lowerer<'_> {
    /// Lowers an array. If `is_array` is false, the schema also accepts other types, and only
    /// constrains the items of arrays.
    pub(super) fn array(&mut self, site: &mut Site<'_>, is_array: bool) -> RestorePlan {
        let mut prefix = Vec::new();
        if site.map.contains_key(k::PREFIX_ITEMS) {
            if self.spec.keeps(K::PrefixItems) {
                prefix = self.prefix(site);
            } else {
                self.tuple_as_list(site);
            }
        }
        if site.map.get(k::ITEMS) == Some(&Value::Bool(false)) && !self.spec.keeps(K::PrefixItems) {
            site.map.shift_remove(k::ITEMS);
            if self.spec.keeps(K::MaxItems) {
                self.close_list(site, 0);
            } else {
                self.note(site, k::ITEMS, false.into(), "Always empty.");
            }
        }
        let missing = site.map.get(k::ITEMS).is_none_or(|items| *items == Value::Bool(true));
        if missing && is_array && self.spec.arrays_need_items {
            parts::put(site.map, k::ITEMS, Map::new());
        } else if missing {
            site.map.shift_remove(k::ITEMS);
        }
        let items = match site.map.get_mut(k::ITEMS) {
            Some(items @ Value::Object(_)) => {
                let out = self.node(items, &site.path.key(k::ITEMS), site.at.deeper());
                site.notes.extend(out.up.iter().map(|note| format!("Each item: {note}")));
                out.plan
            }
            _ => RestorePlan::Keep,
        };
        RestorePlan::array(prefix, items)
    }

    /// Lowers `prefixItems`, for a target that supports tuples.
    fn prefix(&mut self, site: &mut Site<'_>) -> Vec<RestorePlan> {
        let Some(Value::Array(items)) = site.map.get_mut(k::PREFIX_ITEMS) else {
            return Vec::new();
        };
        let inside = site.path.key(k::PREFIX_ITEMS);
        let each = items.iter_mut().enumerate().map(|(number, item)| {
            let out = self.node(item, &inside.index(number), site.at.deeper());
            let name = (number + 1).to_string();
            site.notes.extend(out.up.iter().map(|note| sentences::about(&name, note)));
            out.plan
        });
        each.collect()
    }

    /// Rewrites a tuple to an array with a union of its item types, for a target without tuples.
    fn tuple_as_list(&mut self, site: &mut Site<'_>) {
        let Some(Value::Array(items)) = site.map.shift_remove(k::PREFIX_ITEMS) else { return };
        let length = items.len() as u64;
        let rest = site.map.shift_remove(k::ITEMS);
        self.tell(site, k::PREFIX_ITEMS, items.clone());
        let mut kinds: Vec<Value> = Vec::new();
        let mut add = |item: Value| {
            if !kinds.contains(&item) {
                kinds.push(item);
            }
        };
        items.into_iter().for_each(&mut add);
        match rest {
            Some(Value::Bool(false)) if self.spec.keeps(K::MaxItems) => {
                self.close_list(site, length);
            }
            Some(Value::Bool(false)) => self.tell(site, k::ITEMS, false),
            Some(rest) if !merge::is_anything(&rest) => {
                self.tell(site, k::ADDITIONAL_ITEMS, rest.clone());
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
        parts::put(site.map, k::ITEMS, items);
    }

    /// Replaces `items: false` by a maximum length.
    fn close_list(&mut self, site: &mut Site<'_>, length: u64) {
        let tighter = site.map.get(k::MAX_ITEMS).and_then(Value::as_u64);
        parts::put(site.map, k::MAX_ITEMS, tighter.map_or(length, |most| most.min(length)));
        self.lose_key(site.path, k::ITEMS, false, Became::rewritten(k::MAX_ITEMS));
    }
}
