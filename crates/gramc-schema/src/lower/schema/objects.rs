//! Lowers objects: properties, required properties, and additional properties.

use std::collections::HashSet;

use gramc_json_schema::type_set::TypeSet;
use serde_json::{Map, Value};

use super::super::loss::{Became, renamed};
use super::super::restore::{FieldPlan, RestorePlan};
use super::super::target_spec::ObjectRule;
use super::parts::Object;
use super::{At, Lowerer, Out, Site, merge, parts, sentences};
use gramc_json_schema::keywords::{Keyword as K, name as k};
use gramc_json_schema::strings::StringCheck;

/// What becomes of an optional property that accepts null, where all properties are required.
const ALWAYS_GIVEN: Became =
    Became::Narrowed { reason: "it cannot be omitted, and null is the value null" };

impl Lowerer<'_> {
    /// Lowers an object with named properties.
    pub(super) fn object(&mut self, site: &mut Site<'_>) -> RestorePlan {
        let mut properties = match site.map.get_mut(k::PROPERTIES) {
            Some(Value::Object(properties)) => std::mem::take(properties),
            _ => Map::new(),
        };
        let required = match site.map.get_mut(k::REQUIRED) {
            Some(Value::Array(required)) => std::mem::take(required),
            _ => Vec::new(),
        };
        let needed = Needed::of(&required);
        let mut fields = Vec::new();
        let inside = site.path.key(k::PROPERTIES);
        for (key, property) in &mut properties {
            let is_needed = needed.contains(key);
            let at = At {
                required: site.at.required || is_needed,
                optional: site.at.optional || !is_needed,
                ..site.at.deeper()
            };
            let seen = site.keys.seen(key);
            let place = inside.property(key, seen);
            let absent = self.spec.objects.all_required && !is_needed;
            let takes_null = absent
                && self.takes_null(property, 0)
                && matching(site.map, key).all(|schema| self.takes_null(schema, 0));
            let is_pinned = absent && is_pinned(property);
            let Out { plan, up } = self.node(property, &place, at);
            site.notes.extend(up.iter().map(|note| sentences::about(seen, note)));
            let null_is_absent = absent && {
                let took_null = self.takes_null(property, 0);
                make_nullable(property);
                self.changed = true;
                let null_is_absent = is_pinned || !(takes_null && took_null);
                let became = if null_is_absent { Became::Nullable } else { ALWAYS_GIVEN };
                self.lose(&place, k::REQUIRED, false.into(), became);
                null_is_absent
            };
            let original = site.keys.changed(key).map(|_| key.clone());
            if null_is_absent || !plan.is_keep() || original.is_some() {
                fields.push(FieldPlan { key: seen.to_owned(), original, null_is_absent, plan });
            }
        }
        self.write_required(site, required, &properties);
        if site.map.contains_key(k::PROPERTIES)
            || !properties.is_empty()
            || self.spec.objects.closed
        {
            parts::put(site.map, k::PROPERTIES, properties);
        }
        if self.spec.objects.closed {
            self.close(site);
        }
        self.rename_keys(site);
        self.open_object(site, fields)
    }

    /// Lowers the additional properties of an object.
    pub(super) fn open_object(
        &mut self,
        site: &mut Site<'_>,
        mut fields: Vec<FieldPlan>,
    ) -> RestorePlan {
        // Without `patternProperties`, `additionalProperties` would also be about the properties
        // that match a pattern.
        if site.map.contains_key(k::PATTERN_PROPERTIES)
            && !self.spec.keeps(K::PatternProperties)
            && !self.spec.objects.closed
            && let Some(others) = site.map.shift_remove(k::ADDITIONAL_PROPERTIES)
            && others != Value::Bool(true)
        {
            self.tell(site, k::ADDITIONAL_PROPERTIES, others);
        }
        let mut rest = RestorePlan::Keep;
        if self.spec.keeps(K::AdditionalProperties)
            && let Some(others @ Value::Object(_)) = site.map.get_mut(k::ADDITIONAL_PROPERTIES)
        {
            let key = site.path.key(k::ADDITIONAL_PROPERTIES);
            let out = self.node(others, &key, site.at.deeper());
            site.notes.extend(out.up.iter().map(|note| sentences::about("*", note)));
            rest = out.plan;
        }
        if !rest.is_keep()
            && let Some(Value::Object(properties)) = site.map.get(k::PROPERTIES)
        {
            // Named properties are not additional properties, even if their plan is `Keep`.
            let known: HashSet<&str> = fields.iter().map(|field| field.key.as_str()).collect();
            let others = properties.keys().filter(|key| !known.contains(key.as_str()));
            let others: Vec<FieldPlan> =
                others.map(|key| FieldPlan::keep(key.clone(), None)).collect();
            fields.extend(others);
        }
        RestorePlan::object(fields, rest)
    }

    fn write_required(
        &mut self,
        site: &mut Site<'_>,
        mut required: Vec<Value>,
        properties: &Object,
    ) {
        let ObjectRule { required_exist, all_required, .. } = self.spec.objects;
        if required_exist {
            let known = |key: &Value| key.as_str().is_some_and(|key| properties.contains_key(key));
            if !required.iter().all(known) {
                let missing: Vec<Value>;
                (required, missing) = required.into_iter().partition(known);
                self.tell(site, k::REQUIRED, missing);
            }
        }
        if all_required {
            required = properties.keys().map(|key| Value::from(key.as_str())).collect();
        }
        if site.map.contains_key(k::REQUIRED) || all_required {
            parts::put(site.map, k::REQUIRED, required);
        }
    }

    /// Sets `additionalProperties: false`.
    fn close(&mut self, site: &mut Site<'_>) {
        let others = site.map.insert(k::ADDITIONAL_PROPERTIES.to_owned(), false.into());
        match others {
            Some(Value::Bool(false)) => {}
            Some(others) if !others.is_null() && !merge::is_anything(&others) => {
                self.tell(site, k::ADDITIONAL_PROPERTIES, others);
            }
            // An object is open by default.
            others => {
                let others = others.unwrap_or_default();
                self.lose_key(site.path, k::ADDITIONAL_PROPERTIES, others, Became::Closed);
            }
        }
    }

    /// Renames the properties whose keys the target rejects.
    pub(super) fn rename_keys(&mut self, site: &mut Site<'_>) {
        if site.keys.is_empty() {
            return;
        }
        self.changed = true;
        if let Some(Value::Object(properties)) = site.map.get(k::PROPERTIES)
            && !self.muted
        {
            let inside = site.path.key(k::PROPERTIES);
            for key in properties.keys() {
                if let Some(to) = site.keys.changed(key) {
                    self.renamed.push((key.clone(), to.to_owned()));
                    let place = inside.key(key).text();
                    self.losses.push(renamed(self.tool, &place, key, to));
                }
            }
        }
        for (key, value) in site.map.iter_mut() {
            // Unsupported keywords become sentences, and their losses show the original keys.
            let keyword = K::of(key);
            if self.spec.keeps(keyword) {
                site.keys.change(keyword, value, 0);
            }
        }
    }

    /// Whether a schema accepts null. True if unknown.
    pub(super) fn takes_null(&self, schema: &Value, depth: usize) -> bool {
        let map = match schema {
            Value::Object(map) => map,
            other => return *other != Value::Bool(false),
        };
        if depth > 32 {
            return true;
        }
        let has = parts::keywords(map);
        if parts::types(map).is_some_and(|types| !types.has(TypeSet::NULL))
            && !(has.has(K::Nullable) && map.get(k::NULLABLE) == Some(&Value::Bool(true)))
        {
            return false;
        }
        let narrower = [K::Enum, K::Const, K::AnyOf, K::OneOf, K::AllOf, K::Ref];
        if !has.has_any(&narrower) {
            return true;
        }
        let takes = |schema: &Value| self.takes_null(schema, depth + 1);
        map.iter().all(|(key, value)| match (K::of(key), value) {
            (K::Enum, Value::Array(values)) => values.contains(&Value::Null),
            (K::Const, value) => value.is_null(),
            (K::AnyOf, Value::Array(parts)) => parts.iter().any(takes),
            (K::OneOf, Value::Array(parts)) => parts.iter().filter(|it| takes(it)).count() == 1,
            (K::AllOf, Value::Array(parts)) => parts.iter().all(takes),
            (K::Ref, Value::String(to)) => self.target(to).is_none_or(takes),
            _ => true,
        })
    }
}

/// The schemas whose pattern a key matches.
fn matching<'m>(map: &'m Object, key: &str) -> impl Iterator<Item = &'m Value> {
    let patterns = map.get(k::PATTERN_PROPERTIES).and_then(Value::as_object).into_iter().flatten();
    patterns.filter_map(move |(pattern, schema)| {
        let check = StringCheck::of_pattern(pattern);
        check.is_none_or(|check| check.accepts(key)).then_some(schema)
    })
}

/// Whether the host sets a property's value. If so, its description then asks for null.
fn is_pinned(property: &mut Value) -> bool {
    let Some(Value::String(text)) = property.get_mut(k::DESCRIPTION) else { return false };
    let Some(own) = text.strip_suffix(sentences::PINNED) else { return false };
    *text = format!("{own}{}", sentences::PINNED_NULL);
    true
}

/// The required keys. Short lists are searched without a hash set.
enum Needed<'r> {
    Few(&'r [Value]),
    Many(HashSet<&'r str>),
}

impl<'r> Needed<'r> {
    fn of(required: &'r [Value]) -> Self {
        if required.len() <= 16 {
            return Self::Few(required);
        }
        Self::Many(required.iter().filter_map(Value::as_str).collect())
    }

    fn contains(&self, key: &str) -> bool {
        match self {
            Self::Few(required) => required.iter().any(|needed| needed == key),
            Self::Many(required) => required.contains(key),
        }
    }
}

/// Makes a schema accept null.
fn make_nullable(schema: &mut Value) {
    let Value::Object(map) = schema else { return };
    let null = || TypeSet::NULL.keyword();
    let has = parts::keywords(map);
    if has.has(K::AnyOf)
        && let Some(Value::Array(alternatives)) = map.get_mut(k::ANY_OF)
    {
        let is_null = |part: &Value| {
            let values = part.get(k::ENUM).and_then(Value::as_array);
            TypeSet::declared(part).is_some_and(|types| types.has(TypeSet::NULL))
                && values.is_none_or(|values| values.contains(&Value::Null))
                && part.get(k::CONST).is_none_or(Value::is_null)
        };
        if !alternatives.iter().any(is_null) {
            alternatives.push(parts::null().into());
        }
        return;
    }
    if has.has(K::Ref)
        && let Some(to) = map.shift_remove(k::REF)
    {
        parts::put(map, k::ANY_OF, vec![Value::from(parts::one(k::REF, to)), parts::null().into()]);
        return;
    }
    match map.get_mut(k::TYPE) {
        Some(Value::Array(names)) if !names.contains(&null()) => names.push(null()),
        Some(name @ Value::String(_)) if *name != null() => {
            *name = Value::Array(vec![name.take(), null()]);
        }
        _ => {}
    }
    if !has.has_any(&[K::Const, K::Enum]) {
        return;
    }
    if let Some(value) = map.shift_remove(k::CONST) {
        parts::put(map, k::ENUM, vec![value]);
    }
    if let Some(Value::Array(values)) = map.get_mut(k::ENUM)
        && !values.contains(&Value::Null)
    {
        values.push(Value::Null);
    }
}
