//! Lowers one schema, for a target that supports only some keywords.

use gramc_json_schema::containment::filter_allowed;
use gramc_json_schema::text::MAX_SCHEMA_LEVELS;
use gramc_json_schema::type_set::TypeSet;
use serde_json::{Map, Value};

use super::super::loss::Became;
use super::super::restore::RestorePlan;
use super::super::target_spec::{AnyOfRule, SeveralTypes};
use super::parts::Object;
use super::{At, Lowerer, Out, Site, merge, parts};
use gramc_json_schema::keywords::{Keyword as K, Keywords, name as k};
use gramc_json_schema::path::Path;

impl Lowerer<'_> {
    /// Lowers the root, for a target that supports only some keywords.
    pub(super) fn lower_root(&mut self, site: &mut Site<'_>) -> RestorePlan {
        for key in [k::DEFS, k::DEFINITIONS] {
            if let Some(Value::Object(definitions)) = site.map.shift_remove(key)
                && self.original.is_none()
            {
                for (name, definition) in definitions {
                    let why = Became::dropped("nothing refers to it");
                    self.lose(&Path::ROOT.key(key).key(&name), key, definition, why);
                }
            }
        }
        self.mentions.rewrite(site.map);
        self.drop_nullable(site);
        self.drop_irrelevant(site, TypeSet::OBJECT);
        if self.spec.types.always {
            // A list of constant objects cannot be combined with named properties.
            for (key, value) in parts::take(site.map, |key| matches!(key, K::Enum | K::Const)) {
                self.tell(site, &key, value);
            }
        }
        if self.spec.any_of != AnyOfRule::Anything && self.spec.root_keeps(K::AnyOf) {
            // The sentences are for the description of the tool.
            let own = site.map.shift_remove(k::DESCRIPTION);
            self.one_of(site);
            let union = site.map.contains_key(k::ANY_OF).then(|| self.union(site));
            if let Some(Value::String(added)) = site.map.shift_remove(k::DESCRIPTION) {
                site.notes.push(added);
            }
            site.map.extend(own.map(|own| (k::DESCRIPTION.to_owned(), own)));
            if let Some(Out { plan, up }) = union {
                site.notes.extend(up);
                site.map.shift_insert(0, k::TYPE.to_owned(), "object".into());
                return plan;
            }
        }
        site.find_keys(self.spec);
        let mut plan = self.object(site);
        for key in [k::ANY_OF, k::ONE_OF] {
            // If the root may be a union, its members are lowered like other schemas.
            if self.spec.root_keeps(K::of(key)) {
                plan = plan.or(self.alternatives(site, key));
            }
        }
        self.leftovers(site, TypeSet::OBJECT);
        // The schema of a tool without parameters may be omitted.
        if self.spec.objects.empty_as_text
            && site.map.get(k::PROPERTIES).and_then(Value::as_object).is_none_or(Map::is_empty)
            && !self.spec.objects.closed
            && let Some(Value::String(description)) = site.map.shift_remove(k::DESCRIPTION)
        {
            site.notes.insert(0, description);
        }
        plan
    }

    /// Lowers a schema below the root.
    pub(super) fn node(&mut self, value: &mut Value, path: &Path<'_>, at: At) -> Out {
        let mut map = parts::object_of(value.take());
        let out = self.place(&mut Site::new(&mut map, path, at));
        *value = Value::Object(map);
        out
    }

    /// The same for an object schema.
    pub(super) fn place(&mut self, site: &mut Site<'_>) -> Out {
        if !self.stack.is_empty() {
            self.inlined += 1;
        }
        self.mentions.rewrite(site.map);
        if site.at.depth >= MAX_SCHEMA_LEVELS {
            let types = parts::types(site.map).unwrap_or(TypeSet::ALL);
            return self.text(site, k::TYPE, types);
        }
        self.all_of(site);
        self.drop_nullable(site);
        let has = parts::keywords(site.map);
        if has.has(K::Ref) {
            return self.reference(site);
        }
        let old = [K::AdditionalItems, K::Items, K::ExclusiveMinimum, K::ExclusiveMaximum];
        if has.has_any(&old) {
            parts::modernize(site.map, has);
        }
        let is_exclusive = has.has(K::OneOf);
        if is_exclusive && !self.keeps_one_of(site.map) {
            self.one_of(site);
        }
        if !has.has_any(&[K::AnyOf, K::OneOf]) {
            return self.plain_of(site, has);
        }
        let mut out = self.union(site);
        if is_exclusive {
            out.plan.prefer_changes();
        }
        out
    }

    /// Lowers a schema without a union or a reference.
    pub(super) fn plain(&mut self, site: &mut Site<'_>) -> Out {
        self.plain_of(site, parts::keywords(site.map))
    }

    /// The same for a schema with known keywords.
    fn plain_of(&mut self, site: &mut Site<'_>, has: Keywords) -> Out {
        if has.has(K::Const) && !self.spec.keeps(K::Const) {
            self.constant(site);
        }
        let declared = parts::types(site.map);
        let types = declared.or_else(|| parts::infer_types(site.map));
        if let Some(types) = types {
            self.drop_irrelevant(site, types);
        }
        if let Some(out) = self.as_text(site, has, types) {
            return out;
        }
        if self.spec.enum_alone {
            self.apply_to_values(site);
        }
        let always = self.spec.types.always;
        let known = types.unwrap_or(TypeSet::ALL);
        if always && self.has_to_split(known) {
            return self.split(site, known);
        }
        let needs_type = self.spec.types.with_constraints && !has.has_any(&[K::Enum, K::Const]);
        if always || needs_type && types.is_some() {
            self.write_type(site, known, declared.is_none());
        }
        if self.spec.enum_of_text_only {
            self.enum_of_text(site, known);
        }
        let has = parts::keywords(site.map);
        site.find_keys(self.spec);
        let mut plan = RestorePlan::Keep;
        if has.has(K::Properties) || always && known.has(TypeSet::OBJECT) {
            plan = self.object(site);
        } else if has.has(K::AdditionalProperties) {
            plan = self.open_object(site, Vec::new());
        }
        let is_array = types.is_some_and(|types| types.has(TypeSet::ARRAY));
        if has.has_any(&[K::Items, K::PrefixItems]) || is_array {
            plan = plan.or(self.array(site, is_array));
        }
        self.leftovers(site, known);
        site.describe();
        plan.into()
    }

    /// Removes `nullable`, which is not a JSON Schema keyword and allows no null.
    fn drop_nullable(&mut self, site: &mut Site<'_>) {
        if let Some(value) = site.map.shift_remove(k::NULLABLE) {
            let why = Became::dropped("it is not a JSON Schema keyword");
            self.lose_key(site.path, k::NULLABLE, value, why);
        }
    }

    /// Drops keywords that apply only to types that the schema does not accept.
    fn drop_irrelevant(&mut self, site: &mut Site<'_>, types: TypeSet) {
        for (key, value) in parts::take(site.map, |keyword| !parts::speaks_of(keyword).meets(types))
        {
            self.lose_key(site.path, &key, value, Became::dropped("it applies to other types"));
        }
    }

    /// Turns a schema that the target cannot express into a string of JSON text.
    ///
    /// `has` are the keywords of the schema. It may include a few that were removed.
    fn as_text(
        &mut self,
        site: &mut Site<'_>,
        has: Keywords,
        types: Option<TypeSet>,
    ) -> Option<Out> {
        if !self.spec.types.always {
            return None;
        }
        let Some(types) = types else {
            let why = if has.has(K::Not) { k::NOT } else { k::TYPE };
            return Some(self.text(site, why, TypeSet::ALL));
        };
        let structured = |value: &Value| value.is_object() || value.is_array();
        if let Some(Value::Array(values)) = site.map.get(k::ENUM)
            && values.iter().any(structured)
        {
            return Some(self.text(site, k::ENUM, types));
        }
        if site.map.get(k::CONST).is_some_and(structured) {
            return Some(self.text(site, k::CONST, types));
        }
        if types.without(TypeSet::NULL) != TypeSet::OBJECT || !self.spec.objects.empty_as_text {
            return None;
        }
        let keys_of = |key: &str| site.map.get(key).and_then(Value::as_object).map_or(0, Map::len);
        let empty = keys_of(k::PROPERTIES) == 0;
        let others = site
            .map
            .get(k::ADDITIONAL_PROPERTIES)
            .is_some_and(|of| empty || *of != Value::Bool(false) && !merge::is_anything(of));
        let key = if others {
            k::ADDITIONAL_PROPERTIES
        } else if keys_of(k::PATTERN_PROPERTIES) > 0 {
            k::PATTERN_PROPERTIES
        } else if empty {
            k::TYPE
        } else {
            return None;
        };
        Some(self.text(site, key, types))
    }

    /// Whether these types require a union.
    fn has_to_split(&self, types: TypeSet) -> bool {
        let others = types.without(TypeSet::NULL);
        match self.spec.types.several {
            SeveralTypes::List => {
                others.count() > 1 && (others.has(TypeSet::OBJECT) || others.has(TypeSet::ARRAY))
            }
            SeveralTypes::AnyOf => types.count() > 1,
            SeveralTypes::Nullable => others.count() > 1,
        }
    }

    /// Splits a schema into a union with one member for each type.
    fn split(&mut self, site: &mut Site<'_>, types: TypeSet) -> Out {
        let named = site.map.get(k::TYPE).cloned();
        let says = parts::take(site.map, |keyword| !keyword.is_annotation());
        let others = types.without(TypeSet::NULL);
        let mut alternatives: Vec<Value> =
            others.each().filter_map(|one| of_one_type(&says, one, others)).collect();
        let listed = says.get(k::ENUM).and_then(Value::as_array);
        if types.has(TypeSet::NULL)
            && says.get(k::CONST).is_none_or(Value::is_null)
            && listed.is_none_or(|values| values.contains(&Value::Null))
        {
            alternatives.push(parts::null().into());
        }
        if let Some(named) = named {
            self.lose_key(site.path, k::TYPE, named, Became::rewritten(k::ANY_OF));
        }
        parts::put(site.map, k::ANY_OF, alternatives);
        self.union(site)
    }

    /// Writes `type`, for a target that requires it.
    fn write_type(&mut self, site: &mut Site<'_>, types: TypeSet, missing: bool) {
        if !self.spec.has_nullable() || !types.has(TypeSet::NULL) {
            let has_one = |names: &Value| names.as_array().is_some_and(|names| names.len() == 1);
            if missing {
                site.map.shift_insert(0, k::TYPE.to_owned(), types.keyword());
                let is_listed = parts::keywords(site.map).has_any(&[K::Enum, K::Const]);
                if !is_listed && types != TypeSet::ALL {
                    let why = Became::Narrowed { reason: "values of other types cannot be given" };
                    self.lose(site.path, k::TYPE, Value::Null, why);
                }
            } else if site.map.get(k::TYPE).is_some_and(has_one) {
                parts::put(site.map, k::TYPE, types.keyword());
            }
            return;
        }
        let named = site.map.get(k::TYPE).cloned();
        if missing {
            site.map.shift_insert(0, k::TYPE.to_owned(), Value::Null);
        }
        let others = types.without(TypeSet::NULL);
        if others == TypeSet::NONE {
            // The target has no type for only null.
            site.map.shift_remove(k::ENUM);
            parts::put(site.map, k::TYPE, "string");
            let sentence = "Always null.".to_owned();
            self.lose(site.path, k::TYPE, "null".into(), Became::sentence(sentence.as_str()));
            site.notes.push(sentence);
        } else {
            parts::put(site.map, k::TYPE, others.keyword());
            if let Some(named) = named {
                self.lose_key(site.path, k::TYPE, named, Became::rewritten(k::NULLABLE));
            }
        }
        parts::put(site.map, k::NULLABLE, true);
    }

    /// Rewrites `const` for a target that supports only `enum`.
    fn constant(&mut self, site: &mut Site<'_>) {
        let Some(value) = site.map.get(k::CONST).cloned() else { return };
        site.map.shift_remove(k::ENUM);
        parts::rename(site.map, k::CONST, k::ENUM);
        parts::put(site.map, k::ENUM, vec![value.clone()]);
        if value.is_string() || !self.spec.enum_of_text_only {
            self.lose_key(site.path, k::CONST, value, Became::rewritten(k::ENUM));
        }
    }

    /// Applies the keywords next to `enum` or `const` to its values, for a target that ignores them.
    fn apply_to_values(&mut self, site: &mut Site<'_>) {
        let values = match (site.map.get(k::CONST), site.map.get(k::ENUM)) {
            (Some(value), None) => vec![value.clone()],
            (None, Some(Value::Array(values))) => values.clone(),
            _ => return,
        };
        let is_constraint = |keyword: K| {
            !keyword.is_annotation() && !matches!(keyword, K::Enum | K::Const | K::Type)
        };
        let says = parts::take(site.map, is_constraint);
        let mut all = says.clone();
        all.extend(site.map.get(k::TYPE).map(|types| (k::TYPE.to_owned(), types.clone())));
        let count = values.len();
        let Some(values) = filter_allowed(&all.into(), values) else {
            // It refers to schemas elsewhere.
            for (key, value) in says {
                self.tell(site, &key, value);
            }
            return;
        };
        for (key, value) in says {
            self.lose_key(site.path, &key, value, Became::rewritten(k::ENUM));
        }
        if values.len() < count {
            site.map.shift_remove(k::CONST);
            parts::put(site.map, k::ENUM, values);
        }
    }

    /// Rewrites an enum for a target that supports only strings in `enum`.
    fn enum_of_text(&mut self, site: &mut Site<'_>, types: TypeSet) {
        let Some(Value::Array(values)) = site.map.get_mut(k::ENUM) else { return };
        if types.has(TypeSet::NULL) {
            values.retain(|value| !value.is_null());
        }
        let is_text = |value: &Value| value.as_str().is_some_and(|text| !text.is_empty());
        if types.has(TypeSet::STRING) && !values.is_empty() && values.iter().all(is_text) {
            return;
        }
        let values = std::mem::take(values);
        site.map.shift_remove(k::ENUM);
        match <[Value; 1]>::try_from(values) {
            Ok([one]) => self.tell(site, k::CONST, one),
            Err(values) => self.tell(site, k::ENUM, values),
        }
    }
}

/// The keywords that apply to one type of a schema for `all` these types. `None` if the schema
/// accepts no value of that type.
fn of_one_type(says: &Object, one: TypeSet, all: TypeSet) -> Option<Value> {
    let mut alternative = parts::one(k::TYPE, one.keyword());
    for (key, value) in says {
        let value = match (K::of(key), value) {
            (K::Type, _) => continue,
            (K::Enum, Value::Array(values)) => {
                let values: Vec<Value> =
                    values.iter().filter(|value| one.accepts(value)).cloned().collect();
                if values.is_empty() {
                    return None;
                }
                values.into()
            }
            (K::Const, value) if !one.accepts(value) => return None,
            // Most formats are for strings, but some are for numbers.
            (K::Format, _) if one != TypeSet::STRING && all.has(TypeSet::STRING) => continue,
            (keyword, value) if parts::speaks_of(keyword).meets(one) => value.clone(),
            _ => continue,
        };
        alternative.insert(key.clone(), value);
    }
    Some(alternative.into())
}
