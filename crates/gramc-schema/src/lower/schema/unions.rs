//! Lowers `anyOf`, `oneOf` and `allOf`.

use gramc_json_schema::type_set::TypeSet;
use serde_json::Value;

use super::super::loss::Became;
use super::super::restore::RestorePlan;
use super::super::target_spec::AnyOfRule;
use super::parts::Object;
use super::{At, Lowerer, MAX_INLINED, Out, Site, leftovers, merge, parts};
use gramc_json_schema::keywords::{Keyword as K, name as k};
use gramc_json_schema::path::Path;

/// The keywords of a member that describes values on its own.
const WHOLE: [K; 9] =
    [K::Type, K::Properties, K::Items, K::Ref, K::Enum, K::Const, K::AnyOf, K::OneOf, K::AllOf];

impl Lowerer<'_> {
    /// Lowers a schema with `anyOf`, or with `oneOf` if the target supports it.
    pub(super) fn union(&mut self, site: &mut Site<'_>) -> Out {
        if self.spec.any_of == AnyOfRule::Anything {
            return self.free_union(site);
        }
        if !self.spread(site) {
            if let Some(alternatives) = site.map.shift_remove(k::ANY_OF) {
                self.describe_key(site, k::ANY_OF, alternatives);
            }
            return self.place(site);
        }
        let mut alternatives = take_alternatives(site, k::ANY_OF);
        let null = self.spec.has_nullable() && {
            let before = alternatives.len();
            alternatives.retain(|part| !is_null(part));
            before > alternatives.len()
        };
        let one = self.spec.any_of == AnyOfRule::Nothing && alternatives.len() == 1;
        if alternatives.is_empty() || one {
            return self.collapse(site, alternatives.pop(), null);
        }
        let inside = site.path.key(k::ANY_OF);
        let Out { plan, mut up } = self.members(&mut alternatives, &inside, site.at);
        if null {
            self.lose(&inside, k::TYPE, "null".into(), Became::rewritten(k::NULLABLE));
            alternatives.iter_mut().for_each(let_null);
        }
        if self.spec.any_of == AnyOfRule::Nothing {
            up.splice(0..0, self.annotations_apart(site));
            parts::put(site.map, k::ANY_OF, alternatives);
            return Out { plan, up };
        }
        parts::put(site.map, k::ANY_OF, alternatives);
        site.notes.extend(up);
        self.leftovers(site, TypeSet::ALL);
        site.describe();
        plan.into()
    }

    /// Lowers a union whose sibling keywords the target does not restrict.
    fn free_union(&mut self, site: &mut Site<'_>) -> Out {
        let mut plan = RestorePlan::Keep;
        let mut taken = Vec::new();
        for key in [k::ANY_OF, k::ONE_OF] {
            if site.map.get(key).is_some_and(Value::is_array) {
                plan = plan.or(self.alternatives(site, key));
                taken.push((key, take_alternatives(site, key)));
            }
        }
        let mut out = self.plain(site);
        for (key, alternatives) in taken {
            parts::put(site.map, key, alternatives);
        }
        out.plan = out.plan.or(plan);
        out
    }

    /// Lowers the members of a union in their place.
    pub(super) fn alternatives(&mut self, site: &mut Site<'_>, key: &str) -> RestorePlan {
        let Some(Value::Array(alternatives)) = site.map.get_mut(key) else {
            return RestorePlan::Keep;
        };
        self.members(alternatives, &site.path.key(key), site.at).plan
    }

    fn members(&mut self, members: &mut [Value], path: &Path<'_>, at: At) -> Out {
        let mut up = Vec::new();
        let mut plans = Vec::with_capacity(members.len());
        for (number, member) in members.iter_mut().enumerate() {
            let out = self.node(member, &path.index(number), at.deeper());
            up.extend(out.up);
            plans.push(out.plan);
        }
        Out { plan: RestorePlan::union(plans, members), up }
    }

    /// Moves the sibling keywords of `anyOf` into its members, for a target that does not allow
    /// them next to it. Returns false if that is not possible and the union must become a sentence.
    fn spread(&mut self, site: &mut Site<'_>) -> bool {
        let Some(Value::Array(alternatives)) = site.map.get(k::ANY_OF) else { return false };
        if alternatives.is_empty() {
            return false;
        }
        let beside = |key: &str| key != k::ANY_OF && !K::of(key).is_annotation();
        let beside = site.map.iter().filter(|(key, _)| beside(key));
        let base: Object = beside.map(|(key, value)| (key.clone(), value.clone())).collect();
        if base.is_empty() {
            // Members without a type of their own accept any value.
            return true;
        }
        let only_type = base.keys().all(|key| key == k::TYPE);
        let fragment = |part: &Value| {
            part.as_object().is_none_or(|part| !parts::keywords(part).has_any(&WHOLE))
        };
        if alternatives.iter().any(fragment) && !only_type {
            return false;
        }
        let named = parts::types(&base);
        let object = named.is_none_or(|types| types.has(TypeSet::OBJECT));
        if alternatives.iter().all(fragment) && object {
            return false;
        }
        let weight = parts::size(&base, 0) * alternatives.len();
        if self.inlined + weight > MAX_INLINED {
            return false;
        }
        let mut merged = Vec::with_capacity(alternatives.len());
        for part in alternatives {
            let mut part = part.as_object().cloned().unwrap_or_default();
            if only_type
                && let Some(to) = part.get(k::REF).and_then(Value::as_str)
                && let Some(fits) = self.target(to).and_then(TypeSet::declared)
                && named.is_some_and(|named| named.has(fits))
            {
                merged.push(Value::Object(part));
                continue;
            }
            // A member of another type accepts no value.
            if let (Some(own), Some(all)) = (parts::types(&part), named)
                && !own.meets(all)
            {
                continue;
            }
            if !merge::can_merge(&part, &base) {
                return false;
            }
            merge::merge(&mut part, base.clone());
            merged.push(Value::Object(part));
        }
        if merged.is_empty() {
            return false;
        }
        parts::take(site.map, |keyword| !keyword.is_annotation() && keyword != K::AnyOf);
        if !only_type {
            self.inlined += weight;
            self.lose(site.path, k::ANY_OF, base.into(), Became::rewritten(k::ANY_OF));
        }
        parts::put(site.map, k::ANY_OF, merged);
        true
    }

    /// Replaces a union of one member, or one member and null, by that member.
    fn collapse(&mut self, site: &mut Site<'_>, alternative: Option<Value>, null: bool) -> Out {
        site.map.shift_remove(k::ANY_OF);
        let Some(mut alternative) = alternative else {
            parts::put(site.map, k::TYPE, "null");
            return self.plain(site);
        };
        let inside = site.path.key(k::ANY_OF);
        let mut out = self.node(&mut alternative, &inside.index(0), site.at.deeper());
        if null {
            self.lose(&inside, k::TYPE, "null".into(), Became::rewritten(k::NULLABLE));
            let_null(&mut alternative);
        }
        let Value::Object(mut inner) = alternative else { return out };
        if inner.contains_key(k::ANY_OF) {
            // The target allows no sibling keywords.
            out.up.splice(0..0, self.annotations_apart(site));
            *site.map = inner;
            return out;
        }
        site.notes.append(&mut out.up);
        if matches!(out.plan, RestorePlan::Text(_)) {
            self.tell_all(site, &[k::DEFAULT]);
        }
        self.leftovers(site, TypeSet::ALL);
        let mut outer = std::mem::take(site.map);
        if let Some(outer) = outer.shift_remove(k::DESCRIPTION) {
            let own = inner.get(k::DESCRIPTION).and_then(Value::as_str).map(str::to_owned);
            parts::put(&mut inner, k::DESCRIPTION, outer);
            leftovers::describe(&mut inner, own.as_slice());
        }
        inner.extend(outer);
        *site.map = inner;
        site.describe();
        out
    }

    /// Turns the sibling keywords of a union into sentences for the enclosing schema.
    fn annotations_apart(&mut self, site: &mut Site<'_>) -> Vec<String> {
        for (key, value) in std::mem::take(site.map) {
            match (key.as_str(), value) {
                (k::ANY_OF, _) => {}
                (k::DESCRIPTION, Value::String(text)) => {
                    self.note(site, k::DESCRIPTION, text.as_str().into(), &text);
                }
                (_, value) => self.tell(site, &key, value),
            }
        }
        std::mem::take(&mut site.notes)
    }

    /// Rewrites `oneOf` to `anyOf`, for a target without `oneOf`.
    pub(super) fn one_of(&mut self, site: &mut Site<'_>) {
        let has_other = site.map.contains_key(k::ANY_OF);
        match site.map.get(k::ONE_OF) {
            Some(value @ Value::Array(alternatives)) if !has_other => {
                let exclusive = self.are_apart(alternatives);
                self.lose_key(site.path, k::ONE_OF, value.clone(), Became::AnyOf);
                parts::rename(site.map, k::ONE_OF, k::ANY_OF);
                if !exclusive {
                    let sentence = "Exactly one of the alternatives applies.".to_owned();
                    leftovers::describe(site.map, &[sentence]);
                }
            }
            _ => {
                if let Some(alternatives @ Value::Array(_)) = site.map.shift_remove(k::ONE_OF) {
                    self.describe_key(site, k::ONE_OF, alternatives);
                }
            }
        }
    }

    /// Adds the sentence of a keyword to the description at once.
    fn describe_key(&mut self, site: &mut Site<'_>, key: &str, value: Value) {
        let mut own = Site::new(site.map, site.path, site.at);
        own.find_keys(self.spec);
        self.tell(&mut own, key, value);
        own.describe();
    }

    /// Whether `oneOf` stays. A target without `pattern` loses what tells members apart, so that a
    /// value of one could match two.
    pub(super) fn keeps_one_of(&self, map: &Object) -> bool {
        let alternatives = map.get(k::ONE_OF).and_then(Value::as_array);
        let are_apart = || alternatives.is_some_and(|alternatives| self.are_apart(alternatives));
        self.spec.keeps(K::OneOf) && (self.spec.keeps(K::Pattern) || are_apart())
    }

    /// Whether the members are provably disjoint.
    fn are_apart(&self, alternatives: &[Value]) -> bool {
        let resolve = |part| {
            let to = Value::get(part, k::REF).and_then(Value::as_str);
            to.and_then(|to| self.target(to)).unwrap_or(part)
        };
        let resolved: Vec<&Value> = alternatives.iter().map(resolve).collect();
        let mut seen = TypeSet::NONE;
        let by_type = resolved.iter().all(|part| {
            let own =
                TypeSet::declared(part).or_else(|| part.as_object().and_then(parts::infer_types));
            own.is_some_and(|own| {
                let apart = !seen.meets(own);
                seen = seen.or(own);
                apart
            })
        });
        by_type || are_distinguished(&resolved)
    }

    /// Lowers `allOf`: merges its members into the schema, and turns the rest into sentences.
    pub(super) fn all_of(&mut self, site: &mut Site<'_>) {
        let Some(Value::Array(mut open)) = site.map.shift_remove(k::ALL_OF) else { return };
        let value = Value::Array(open.clone());
        // A single reference becomes a plain `$ref`.
        if let [Value::Object(one)] = open.as_slice()
            && one.len() == 1
            && let Some(to) = one.get(k::REF)
            && !site.map.contains_key(k::REF)
        {
            parts::put(site.map, k::REF, to.clone());
            self.lose_key(site.path, k::ALL_OF, value, Became::Inlined);
            return;
        }
        let mut left = Vec::new();
        let mut steps = 0;
        open.reverse();
        while let Some(part) = open.pop() {
            steps += 1;
            let Value::Object(mut part) = part else {
                if part == Value::Bool(false) {
                    left.push(part);
                }
                continue;
            };
            if let Some(Value::String(to)) = part.get(k::REF).cloned()
                && steps < 100
                && !self.stack.iter().any(|(open, _)| *open == to)
                && self.inlined <= MAX_INLINED
                && !self.breaks_if_copied(&to)
                && let Some(Value::Object(found)) = self.resolve(&to)
            {
                self.inlined += parts::size(&found, 0);
                part.shift_remove(k::REF);
                if merge::can_merge(&part, &found) {
                    merge::merge(&mut part, found);
                } else {
                    open.push(Value::Object(found));
                }
            }
            if let Some(Value::Array(inner)) = part.shift_remove(k::ALL_OF) {
                open.extend(inner.into_iter().rev());
            }
            let circle = part.contains_key(k::REF);
            if !circle && merge::can_merge(site.map, &part) {
                merge::merge(site.map, part);
            } else {
                left.push(Value::Object(part));
            }
        }
        if left.is_empty() {
            self.lose_key(site.path, k::ALL_OF, value, Became::Inlined);
        } else {
            self.describe_key(site, k::ALL_OF, left.into());
        }
    }
}

/// Whether the members have a discriminator: a required property with different constants in each.
fn are_distinguished(alternatives: &[&Value]) -> bool {
    let first = alternatives.first().and_then(|part| part.get(k::PROPERTIES)?.as_object());
    first.into_iter().flat_map(Object::keys).any(|key| {
        let mut seen: Vec<&Value> = Vec::new();
        alternatives.iter().all(|part| {
            let required = part.get(k::REQUIRED).and_then(Value::as_array);
            let needed = required.is_some_and(|required| required.iter().any(|name| name == key));
            let property = part.get(k::PROPERTIES).and_then(|properties| properties.get(key));
            let Some(own) = property.and_then(parts::listed_values) else { return false };
            let apart = needed && own.iter().all(|value| !seen.contains(&value));
            seen.extend(own);
            apart
        })
    })
}

/// Whether a schema accepts only null.
fn is_null(schema: &Value) -> bool {
    let only = |list: &Value| list.as_array().is_some_and(|list| list.iter().all(Value::is_null));
    TypeSet::declared(schema) == Some(TypeSet::NULL)
        || schema.get(k::CONST).is_some_and(Value::is_null)
        || schema.get(k::ENUM).is_some_and(only)
}

/// Sets `nullable`. In a union, on every member.
fn let_null(schema: &mut Value) {
    let Value::Object(map) = schema else { return };
    if let Some(Value::Array(alternatives)) = map.get_mut(k::ANY_OF) {
        alternatives.iter_mut().for_each(let_null);
        return;
    }
    map.insert(k::NULLABLE.to_owned(), true.into());
}

/// Removes the members of a union, whose keyword stays.
fn take_alternatives(site: &mut Site<'_>, key: &str) -> Vec<Value> {
    match site.map.get_mut(key) {
        Some(Value::Array(alternatives)) => std::mem::take(alternatives),
        _ => Vec::new(),
    }
}
