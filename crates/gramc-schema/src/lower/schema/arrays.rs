//! Lowers arrays and tuples.

use serde_json::{Map, Value};

use super::super::loss::Became;
use super::super::restore::RestorePlan;
use super::{At, Lowerer, merge, parts, sentences};
use gramc_json_schema::keywords::Keyword as K;
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
        if map.contains_key("prefixItems") {
            if self.spec.keeps(K::PrefixItems) {
                prefix = self.prefix(map, notes, path, at);
            } else {
                self.tuple_as_list(map, notes, path);
            }
        }
        if map.get("items") == Some(&Value::Bool(false)) && !self.spec.keeps(K::PrefixItems) {
            map.shift_remove("items");
            let key = path.key("items");
            if self.spec.keeps(K::MaxItems) {
                map.insert("maxItems".to_owned(), 0.into());
                self.lose(&key, "items", false.into(), Became::Rewritten("maxItems".to_owned()));
            } else {
                let sentence = "Always empty.".to_owned();
                self.lose(&key, "items", false.into(), Became::Description(sentence.clone()));
                notes.push(sentence);
            }
        }
        let missing = map.get("items").is_none_or(|items| *items == Value::Bool(true));
        if missing && is_array && self.spec.arrays_need_items {
            map.insert("items".to_owned(), Value::Object(Map::new()));
        } else if missing {
            map.shift_remove("items");
        }
        let items = match map.get_mut("items") {
            Some(items @ Value::Object(_)) => {
                let out = self.node(items, &path.key("items"), at.deeper());
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
        let Some(Value::Array(items)) = map.get_mut("prefixItems") else { return Vec::new() };
        let inside = path.key("prefixItems");
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
        let Some(Value::Array(items)) = map.shift_remove("prefixItems") else { return };
        let length = items.len();
        let value = Value::Array(items);
        let rest = map.shift_remove("items");
        self.sentence_of(notes, path, "prefixItems", value.clone());
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
                let key = path.key("items");
                if self.spec.keeps(K::MaxItems) {
                    let tighter = map.get("maxItems").and_then(Value::as_u64);
                    let most = tighter.map_or(length as u64, |most| most.min(length as u64));
                    map.insert("maxItems".to_owned(), most.into());
                    let to = Became::Rewritten("maxItems".to_owned());
                    self.lose(&key, "items", false.into(), to);
                } else {
                    self.sentence_of(notes, path, "items", false.into());
                }
            }
            Some(rest) if !merge::is_anything(&rest) => {
                self.sentence_of(notes, path, "additionalItems", rest.clone());
                add(rest);
            }
            _ => add(Value::Object(Map::new())),
        }
        let items = match <[Value; 1]>::try_from(kinds) {
            Ok([one]) => one,
            // Items of any type need no union.
            Err(kinds) if kinds.iter().any(merge::is_anything) => Value::Object(Map::new()),
            Err(kinds) => Value::Object(parts::one("anyOf", kinds)),
        };
        map.insert("items".to_owned(), items);
    }
}
