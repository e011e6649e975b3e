//! Lowers `anyOf`, `oneOf` and `allOf`.

use gramc_json_schema::type_set::TypeSet;
use serde_json::{Map, Value};

use super::super::loss::Became;
use super::super::restore::{Alternative, Fit, RestorePlan};
use super::super::target_spec::AnyOfRule;
use super::keys::Keys;
use super::{At, Lowerer, MAX_INLINED, Out, leftovers, merge, parts, references};
use gramc_json_schema::keywords::{Keyword as K, name as k};
use gramc_json_schema::path::Path;

impl Lowerer<'_> {
    /// Lowers a schema with `anyOf`, or with `oneOf` if the target supports it.
    pub(super) fn union(&mut self, map: &mut Map<String, Value>, path: &Path<'_>, at: At) -> Out {
        if self.spec.any_of == AnyOfRule::Anything {
            return self.free_union(map, path, at);
        }
        if !self.spread(map, path) {
            let mut notes = Vec::new();
            if let Some(alternatives) = map.shift_remove(k::ANY_OF) {
                let keys = Keys::of(self.spec.keys.as_ref(), map, path);
                self.sentence_with_keys(&keys, &mut notes, path, k::ANY_OF, alternatives);
            }
            let up = leftovers::describe(map, notes);
            let mut out = self.place(map, path, at);
            out.up.extend(up);
            return out;
        }
        let mut alternatives = match map.get_mut(k::ANY_OF) {
            Some(Value::Array(alternatives)) => std::mem::take(alternatives),
            _ => Vec::new(),
        };
        let null = self.spec.has_nullable() && {
            let before = alternatives.len();
            alternatives.retain(|part| !is_null(part));
            before > alternatives.len()
        };
        let one = self.spec.any_of == AnyOfRule::Nothing && alternatives.len() == 1;
        if alternatives.is_empty() || one {
            return self.collapse(map, alternatives.pop(), null, path, at);
        }
        let inside = path.key(k::ANY_OF);
        let mut up = Vec::new();
        let mut plans = Vec::with_capacity(alternatives.len());
        for (number, alternative) in alternatives.iter_mut().enumerate() {
            let out = self.node(alternative, &inside.index(number), at.deeper());
            up.extend(out.up);
            plans.push(out.plan);
        }
        if null {
            let named = Value::from("null");
            self.lose(&inside, k::TYPE, named, Became::Rewritten(k::NULLABLE.to_owned()));
            alternatives.iter_mut().for_each(let_null);
        }
        let plan = union_plan(plans, &alternatives);
        if self.spec.any_of == AnyOfRule::Nothing {
            up.splice(0..0, self.annotations_apart(map, path));
            map.insert(k::ANY_OF.to_owned(), alternatives.into());
            return Out { plan, up };
        }
        map.insert(k::ANY_OF.to_owned(), alternatives.into());
        self.leftovers(map, &mut up, path, TypeSet::ALL);
        Out { plan, up: leftovers::describe(map, up) }
    }

    /// Lowers a union whose sibling keywords the target does not restrict.
    fn free_union(&mut self, map: &mut Map<String, Value>, path: &Path<'_>, at: At) -> Out {
        let mut plan = RestorePlan::Keep;
        let mut taken = Vec::new();
        for key in [k::ANY_OF, k::ONE_OF] {
            if let Some(Value::Array(alternatives)) = map.get_mut(key) {
                let mut alternatives = std::mem::take(alternatives);
                let own = self.alternatives(&mut alternatives, key, path, at);
                plan = if plan.is_keep() { own } else { plan };
                taken.push((key, alternatives));
            }
        }
        let mut out = self.plain(map, path, at);
        for (key, alternatives) in taken {
            map.insert(key.to_owned(), alternatives.into());
        }
        if out.plan.is_keep() {
            out.plan = plan;
        }
        out
    }

    /// Lowers the members of a union.
    pub(super) fn alternatives(
        &mut self,
        alternatives: &mut [Value],
        key: &str,
        path: &Path<'_>,
        at: At,
    ) -> RestorePlan {
        let inside = path.key(key);
        let mut plans = Vec::with_capacity(alternatives.len());
        for (number, alternative) in alternatives.iter_mut().enumerate() {
            plans.push(self.node(alternative, &inside.index(number), at.deeper()).plan);
        }
        union_plan(plans, alternatives)
    }

    /// Moves the sibling keywords of `anyOf` into its members, for a target that does not allow
    /// them next to it. Returns false if that is not possible and the union must become a sentence.
    fn spread(&mut self, map: &mut Map<String, Value>, path: &Path<'_>) -> bool {
        let Some(Value::Array(alternatives)) = map.get(k::ANY_OF) else { return false };
        if alternatives.is_empty() {
            return false;
        }
        let beside = |key: &str| key != k::ANY_OF && !K::of(key).is_annotation();
        if !map.keys().any(|key| beside(key)) {
            // Members without a type of their own accept any value.
            return true;
        }
        let only_type = map.keys().all(|key| !beside(key) || key == k::TYPE);
        let fragment = |part: &Value| match part {
            Value::Object(part) => ![
                k::TYPE,
                k::PROPERTIES,
                k::ITEMS,
                k::REF,
                k::ENUM,
                k::CONST,
                k::ANY_OF,
                k::ONE_OF,
                k::ALL_OF,
            ]
            .iter()
            .any(|key| part.contains_key(*key)),
            _ => true,
        };
        if alternatives.iter().any(fragment) && !only_type {
            return false;
        }
        let object = map.get(k::TYPE).and_then(TypeSet::of_keyword);
        let object = object.is_none_or(|types| types.has(TypeSet::OBJECT));
        if alternatives.iter().all(fragment) && object {
            return false;
        }
        let original = self.original.clone();
        let base: Map<String, Value> = map
            .iter()
            .filter(|(key, _)| beside(key))
            .map(|(k, v)| (k.clone(), v.clone()))
            .collect();
        let weight = parts::size(&base, 0) * alternatives.len();
        if self.inlined + weight > MAX_INLINED {
            return false;
        }
        let mut merged = Vec::with_capacity(alternatives.len());
        for part in alternatives {
            let mut part = part.as_object().cloned().unwrap_or_default();
            if let Some(to) = part.get(k::REF).and_then(Value::as_str) {
                let found = original.as_deref().and_then(|root| references::target(root, to));
                let fits = found.and_then(TypeSet::declared);
                let named = base.get(k::TYPE).and_then(TypeSet::of_keyword);
                if only_type && fits.is_some_and(|fits| named.is_some_and(|named| named.has(fits)))
                {
                    merged.push(Value::Object(part));
                    continue;
                }
            }
            // A member of another type accepts no value.
            if let (Some(own), Some(all)) = (
                part.get(k::TYPE).and_then(TypeSet::of_keyword),
                base.get(k::TYPE).and_then(TypeSet::of_keyword),
            ) && !own.meets(all)
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
        self.inlined += if only_type { 0 } else { weight };
        parts::take(map, |keyword| !keyword.is_annotation() && keyword != K::AnyOf);
        if !only_type {
            self.lose(
                path,
                k::ANY_OF,
                Value::Object(base),
                Became::Rewritten(k::ANY_OF.to_owned()),
            );
        }
        map.insert(k::ANY_OF.to_owned(), merged.into());
        true
    }

    /// Replaces a union of one member, or one member and null, by that member.
    fn collapse(
        &mut self,
        map: &mut Map<String, Value>,
        alternative: Option<Value>,
        null: bool,
        path: &Path<'_>,
        at: At,
    ) -> Out {
        map.shift_remove(k::ANY_OF);
        let Some(mut alternative) = alternative else {
            map.insert(k::TYPE.to_owned(), "null".into());
            return self.plain(map, path, at);
        };
        let inside = path.key(k::ANY_OF);
        let out = self.node(&mut alternative, &inside.index(0), at.deeper());
        if null {
            self.lose(&inside, k::TYPE, "null".into(), Became::Rewritten(k::NULLABLE.to_owned()));
            let_null(&mut alternative);
        }
        let Value::Object(mut inner) = alternative else { return out };
        if inner.contains_key(k::ANY_OF) {
            // The target allows no sibling keywords.
            let mut up = self.annotations_apart(map, path);
            up.extend(out.up);
            *map = inner;
            return Out { plan: out.plan, up };
        }
        let mut notes = out.up;
        if matches!(out.plan, RestorePlan::Text(_))
            && let Some(default) = map.shift_remove(k::DEFAULT)
        {
            self.sentence_of(&mut notes, path, k::DEFAULT, default);
        }
        self.leftovers(map, &mut notes, path, TypeSet::ALL);
        let outer = std::mem::take(map);
        match (outer.get(k::DESCRIPTION), inner.get_mut(k::DESCRIPTION)) {
            (Some(Value::String(outer)), Some(Value::String(inner))) => {
                let both = super::sentences::joined(Some(outer), std::slice::from_ref(inner));
                if let Some(both) = both.map(std::borrow::Cow::into_owned) {
                    *inner = both;
                }
            }
            (Some(outer), None) => {
                inner.insert(k::DESCRIPTION.to_owned(), outer.clone());
            }
            _ => {}
        }
        for (key, value) in outer {
            if key != k::DESCRIPTION {
                inner.insert(key, value);
            }
        }
        *map = inner;
        Out { plan: out.plan, up: leftovers::describe(map, notes) }
    }

    /// Turns the sibling keywords of a union into sentences for the enclosing schema.
    fn annotations_apart(&mut self, map: &mut Map<String, Value>, path: &Path<'_>) -> Vec<String> {
        let mut up = Vec::new();
        for (key, value) in std::mem::take(map) {
            match (key.as_str(), value) {
                (k::ANY_OF, _) => {}
                (k::DESCRIPTION, Value::String(text)) => {
                    let value = Value::from(text.as_str());
                    let became = Became::Description(text.clone());
                    self.lose(&path.key(k::DESCRIPTION), k::DESCRIPTION, value, became);
                    up.push(text);
                }
                (_, value) => self.sentence_of(&mut up, path, &key, value),
            }
        }
        up
    }

    /// Rewrites `oneOf` to `anyOf`, for a target without `oneOf`.
    pub(super) fn one_of(&mut self, map: &mut Map<String, Value>, path: &Path<'_>) {
        let Some(Value::Array(alternatives)) = map.get(k::ONE_OF) else {
            map.shift_remove(k::ONE_OF);
            return;
        };
        if map.contains_key(k::ANY_OF) {
            let alternatives = map.shift_remove(k::ONE_OF).unwrap_or_default();
            let mut notes = Vec::new();
            let keys = Keys::of(self.spec.keys.as_ref(), map, path);
            self.sentence_with_keys(&keys, &mut notes, path, k::ONE_OF, alternatives);
            leftovers::describe(map, notes);
            return;
        }
        let exclusive = self.are_apart(alternatives);
        let value = map.get(k::ONE_OF).cloned().unwrap_or_default();
        parts::rename(map, k::ONE_OF, k::ANY_OF);
        self.lose(&path.key(k::ONE_OF), k::ONE_OF, value, Became::AnyOf);
        if !exclusive {
            let sentence = "Exactly one of the alternatives applies.".to_owned();
            leftovers::describe(map, vec![sentence]);
        }
    }

    /// Whether `oneOf` stays. A target without `pattern` loses what tells members apart, so that a
    /// value of one could match two.
    pub(super) fn keeps_one_of(&self, map: &Map<String, Value>) -> bool {
        let alternatives = map.get(k::ONE_OF).and_then(Value::as_array);
        let are_apart = || alternatives.is_some_and(|alternatives| self.are_apart(alternatives));
        self.spec.keeps(K::OneOf) && (self.spec.keeps(K::Pattern) || are_apart())
    }

    /// Whether the members are provably disjoint.
    fn are_apart(&self, alternatives: &[Value]) -> bool {
        let original = self.original.as_deref();
        let resolved: Vec<&Value> = alternatives
            .iter()
            .map(|part| {
                let to = part.get(k::REF).and_then(Value::as_str);
                let found = to.and_then(|to| references::target(original?, to));
                found.unwrap_or(part)
            })
            .collect();
        let mut seen = TypeSet::NONE;
        let by_type = resolved.iter().all(|part| {
            let own =
                TypeSet::declared(part).or_else(|| part.as_object().and_then(parts::inferred));
            own.is_some_and(|own| {
                let apart = !seen.meets(own);
                seen = seen.or(own);
                apart
            })
        });
        by_type || are_distinguished(&resolved)
    }

    /// Lowers `allOf`: merges its members into the schema, and turns the rest into sentences.
    pub(super) fn all_of(&mut self, map: &mut Map<String, Value>, path: &Path<'_>) {
        let Some(Value::Array(mut open)) = map.shift_remove(k::ALL_OF) else { return };
        let value = Value::Array(open.clone());
        // A single reference becomes a plain `$ref`.
        if let [Value::Object(one)] = open.as_slice()
            && one.len() == 1
            && let Some(to) = one.get(k::REF)
            && !map.contains_key(k::REF)
        {
            map.insert(k::REF.to_owned(), to.clone());
            self.lose(&path.key(k::ALL_OF), k::ALL_OF, value, Became::Inlined);
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
            if !circle && merge::can_merge(map, &part) {
                merge::merge(map, part);
            } else {
                left.push(Value::Object(part));
            }
        }
        if left.is_empty() {
            self.lose(&path.key(k::ALL_OF), k::ALL_OF, value, Became::Inlined);
            return;
        }
        let mut notes = Vec::new();
        let keys = Keys::of(self.spec.keys.as_ref(), map, path);
        self.sentence_with_keys(&keys, &mut notes, path, k::ALL_OF, Value::Array(left));
        leftovers::describe(map, notes);
    }
}

/// Whether the members have a discriminator: a required property with different constants in each.
fn are_distinguished(alternatives: &[&Value]) -> bool {
    let Some(Value::Object(first)) = alternatives.first().and_then(|part| part.get(k::PROPERTIES))
    else {
        return false;
    };
    first.keys().any(|key| {
        let mut seen: Vec<&Value> = Vec::new();
        alternatives.iter().all(|part| {
            let required = part.get(k::REQUIRED).and_then(Value::as_array);
            let needed = required.is_some_and(|required| required.iter().any(|name| name == key));
            let property = part.get(k::PROPERTIES).and_then(|properties| properties.get(key));
            let own: Vec<&Value> = match property {
                Some(property) => match (property.get(k::CONST), property.get(k::ENUM)) {
                    (Some(value), _) => vec![value],
                    (None, Some(Value::Array(values))) => values.iter().collect(),
                    _ => return false,
                },
                None => return false,
            };
            let apart = needed && own.iter().all(|value| !seen.contains(value));
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

/// The restore plan of a union.
fn union_plan(plans: Vec<RestorePlan>, alternatives: &[Value]) -> RestorePlan {
    if plans.iter().all(RestorePlan::is_keep) {
        return RestorePlan::Keep;
    }
    let both = plans.into_iter().zip(alternatives);
    RestorePlan::union(
        both.map(|(plan, schema)| Alternative { fit: Fit::of(schema), plan }).collect(),
    )
}
