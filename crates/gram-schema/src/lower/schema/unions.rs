//! Unions, and schemas that hold together.

use serde_json::{Map, Value};

use super::super::loss::Became;
use super::super::restore::{Alternative, Fit, RestorePlan};
use super::super::target_spec::AnyOfRule;
use super::super::type_set::TypeSet;
use super::keys::Keys;
use super::{At, Lowerer, MAX_INLINED, Out, leftovers, merge, parts, references};
use json_schema_kit::keywords::Keyword as K;
use json_schema_kit::path::Path;

impl Lowerer<'_> {
    /// A schema with `anyOf` (or `oneOf`, where the target has it).
    pub(super) fn union(&mut self, map: &mut Map<String, Value>, path: &Path<'_>, at: At) -> Out {
        if self.spec.any_of == AnyOfRule::Anything {
            return self.free_union(map, path, at);
        }
        if !self.spread(map, path) {
            let mut notes = Vec::new();
            if let Some(alternatives) = map.shift_remove("anyOf") {
                let keys = Keys::of(self.spec.keys.as_ref(), map, path);
                self.say_of(&keys, &mut notes, path, "anyOf", alternatives);
            }
            let up = leftovers::describe(map, notes);
            let mut out = self.place(map, path, at);
            out.up.extend(up);
            return out;
        }
        let mut alternatives = match map.get_mut("anyOf") {
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
        let inside = path.key("anyOf");
        let mut up = Vec::new();
        let mut plans = Vec::with_capacity(alternatives.len());
        for (number, alternative) in alternatives.iter_mut().enumerate() {
            let out = self.node(alternative, &inside.index(number), at.deeper());
            up.extend(out.up);
            plans.push(out.plan);
        }
        if null {
            let named = Value::from("null");
            self.lose(&inside, "type", named, Became::Rewritten("nullable".to_owned()));
            alternatives.iter_mut().for_each(let_null);
        }
        let plan = union_plan(plans, &alternatives);
        if self.spec.any_of == AnyOfRule::Nothing {
            up.splice(0..0, self.annotations_apart(map, path));
            map.insert("anyOf".to_owned(), alternatives.into());
            return Out { plan, up };
        }
        map.insert("anyOf".to_owned(), alternatives.into());
        self.leftovers(map, &mut up, path, TypeSet::ALL);
        Out { plan, up: leftovers::describe(map, up) }
    }

    /// A union beside which the target takes whatever it takes elsewhere.
    fn free_union(&mut self, map: &mut Map<String, Value>, path: &Path<'_>, at: At) -> Out {
        let mut plan = RestorePlan::Keep;
        let mut taken = Vec::new();
        for key in ["anyOf", "oneOf"] {
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

    /// The alternatives of a union, each by itself.
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

    /// Moves what stands beside `anyOf` into its alternatives, where the target takes it there
    /// only. False: that cannot be done, and the union can only be a sentence.
    fn spread(&mut self, map: &mut Map<String, Value>, path: &Path<'_>) -> bool {
        let Some(Value::Array(alternatives)) = map.get("anyOf") else { return false };
        if alternatives.is_empty() {
            return false;
        }
        let beside = |key: &str| key != "anyOf" && !K::of(key).is_annotation();
        if !map.keys().any(|key| beside(key)) {
            // Alternatives that only narrow what nobody names take any value.
            return true;
        }
        let only_type = map.keys().all(|key| !beside(key) || key == "type");
        let fragment = |part: &Value| match part {
            Value::Object(part) => {
                !["type", "properties", "items", "$ref", "enum", "const", "anyOf", "oneOf", "allOf"]
                    .iter()
                    .any(|key| part.contains_key(*key))
            }
            _ => true,
        };
        if alternatives.iter().any(fragment) && !only_type {
            return false;
        }
        let object = map.get("type").and_then(TypeSet::of_keyword);
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
            if let Some(to) = part.get("$ref").and_then(Value::as_str) {
                let found = original.as_deref().and_then(|root| references::target(root, to));
                let fits = found.and_then(TypeSet::declared);
                let named = base.get("type").and_then(TypeSet::of_keyword);
                if only_type && fits.is_some_and(|fits| named.is_some_and(|named| named.has(fits)))
                {
                    merged.push(Value::Object(part));
                    continue;
                }
            }
            // Where both have a type, an alternative of another type takes nothing.
            if let (Some(own), Some(all)) = (
                part.get("type").and_then(TypeSet::of_keyword),
                base.get("type").and_then(TypeSet::of_keyword),
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
            self.lose(path, "anyOf", Value::Object(base), Became::Rewritten("anyOf".to_owned()));
        }
        map.insert("anyOf".to_owned(), merged.into());
        true
    }

    /// A union of one alternative, and perhaps null, as that alternative.
    fn collapse(
        &mut self,
        map: &mut Map<String, Value>,
        alternative: Option<Value>,
        null: bool,
        path: &Path<'_>,
        at: At,
    ) -> Out {
        map.shift_remove("anyOf");
        let Some(mut alternative) = alternative else {
            map.insert("type".to_owned(), "null".into());
            return self.plain(map, path, at);
        };
        let inside = path.key("anyOf");
        let out = self.node(&mut alternative, &inside.index(0), at.deeper());
        if null {
            self.lose(&inside, "type", "null".into(), Became::Rewritten("nullable".to_owned()));
            let_null(&mut alternative);
        }
        let Value::Object(mut inner) = alternative else { return out };
        if inner.contains_key("anyOf") {
            // The target takes nothing beside it.
            let mut up = self.annotations_apart(map, path);
            up.extend(out.up);
            *map = inner;
            return Out { plan: out.plan, up };
        }
        let mut notes = out.up;
        if matches!(out.plan, RestorePlan::Text(_))
            && let Some(default) = map.shift_remove("default")
        {
            self.say(&mut notes, path, "default", default);
        }
        self.leftovers(map, &mut notes, path, TypeSet::ALL);
        let outer = std::mem::take(map);
        match (outer.get("description"), inner.get_mut("description")) {
            (Some(Value::String(outer)), Some(Value::String(inner))) => {
                let both = super::sentences::joined(Some(outer), std::slice::from_ref(inner));
                if let Some(both) = both.map(std::borrow::Cow::into_owned) {
                    *inner = both;
                }
            }
            (Some(outer), None) => {
                inner.insert("description".to_owned(), outer.clone());
            }
            _ => {}
        }
        for (key, value) in outer {
            if key != "description" {
                inner.insert(key, value);
            }
        }
        *map = inner;
        Out { plan: out.plan, up: leftovers::describe(map, notes) }
    }

    /// What stands beside a union, as sentences for the place around it.
    fn annotations_apart(&mut self, map: &mut Map<String, Value>, path: &Path<'_>) -> Vec<String> {
        let mut up = Vec::new();
        for (key, value) in std::mem::take(map) {
            match (key.as_str(), value) {
                ("anyOf", _) => {}
                ("description", Value::String(text)) => {
                    let value = Value::from(text.as_str());
                    let became = Became::Description(text.clone());
                    self.lose(&path.key("description"), "description", value, became);
                    up.push(text);
                }
                (_, value) => self.say(&mut up, path, &key, value),
            }
        }
        up
    }

    /// `oneOf` as `anyOf`, for a target that has only that.
    pub(super) fn one_of(&mut self, map: &mut Map<String, Value>, path: &Path<'_>) {
        let Some(Value::Array(alternatives)) = map.get("oneOf") else {
            map.shift_remove("oneOf");
            return;
        };
        if map.contains_key("anyOf") {
            let alternatives = map.shift_remove("oneOf").unwrap_or_default();
            let mut notes = Vec::new();
            let keys = Keys::of(self.spec.keys.as_ref(), map, path);
            self.say_of(&keys, &mut notes, path, "oneOf", alternatives);
            leftovers::describe(map, notes);
            return;
        }
        let exclusive = self.are_apart(alternatives);
        let value = map.get("oneOf").cloned().unwrap_or_default();
        parts::rename(map, "oneOf", "anyOf");
        self.lose(&path.key("oneOf"), "oneOf", value, Became::AnyOf);
        if !exclusive {
            let sentence = "Exactly one of the alternatives applies.".to_owned();
            leftovers::describe(map, vec![sentence]);
        }
    }

    /// Whether it can be seen that no value fits two of the alternatives.
    fn are_apart(&self, alternatives: &[Value]) -> bool {
        let original = self.original.as_deref();
        let resolved: Vec<&Value> = alternatives
            .iter()
            .map(|part| {
                let to = part.get("$ref").and_then(Value::as_str);
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
        by_type || told_apart(&resolved)
    }

    /// `allOf`: what can be merged with the schema around it is, and the rest becomes sentences.
    pub(super) fn all_of(&mut self, map: &mut Map<String, Value>, path: &Path<'_>) {
        let Some(Value::Array(mut open)) = map.shift_remove("allOf") else { return };
        let value = Value::Array(open.clone());
        // A single reference keeps its form.
        if let [Value::Object(one)] = open.as_slice()
            && one.len() == 1
            && let Some(to) = one.get("$ref")
            && !map.contains_key("$ref")
        {
            map.insert("$ref".to_owned(), to.clone());
            self.lose(&path.key("allOf"), "allOf", value, Became::Inlined);
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
            if let Some(Value::String(to)) = part.get("$ref").cloned()
                && steps < 100
                && !self.stack.iter().any(|(open, _)| *open == to)
                && self.inlined <= MAX_INLINED
                && !self.breaks_if_copied(&to)
                && let Some(Value::Object(found)) = self.resolve(&to)
            {
                self.inlined += parts::size(&found, 0);
                part.shift_remove("$ref");
                if merge::can_merge(&part, &found) {
                    merge::merge(&mut part, found);
                } else {
                    open.push(Value::Object(found));
                }
            }
            if let Some(Value::Array(inner)) = part.shift_remove("allOf") {
                open.extend(inner.into_iter().rev());
            }
            let circle = part.contains_key("$ref");
            if !circle && merge::can_merge(map, &part) {
                merge::merge(map, part);
            } else {
                left.push(Value::Object(part));
            }
        }
        if left.is_empty() {
            self.lose(&path.key("allOf"), "allOf", value, Became::Inlined);
            return;
        }
        let mut notes = Vec::new();
        let keys = Keys::of(self.spec.keys.as_ref(), map, path);
        self.say_of(&keys, &mut notes, path, "allOf", Value::Array(left));
        leftovers::describe(map, notes);
    }
}

/// Whether each alternative has a property whose value tells it from all others.
fn told_apart(alternatives: &[&Value]) -> bool {
    let Some(Value::Object(first)) = alternatives.first().and_then(|part| part.get("properties"))
    else {
        return false;
    };
    first.keys().any(|key| {
        let mut seen: Vec<&Value> = Vec::new();
        alternatives.iter().all(|part| {
            let required = part.get("required").and_then(Value::as_array);
            let needed = required.is_some_and(|required| required.iter().any(|name| name == key));
            let property = part.get("properties").and_then(|properties| properties.get(key));
            let own: Vec<&Value> = match property {
                Some(property) => match (property.get("const"), property.get("enum")) {
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

/// Whether a schema takes null and nothing else.
fn is_null(schema: &Value) -> bool {
    let only = |list: &Value| list.as_array().is_some_and(|list| list.iter().all(Value::is_null));
    TypeSet::declared(schema) == Some(TypeSet::NULL)
        || schema.get("const").is_some_and(Value::is_null)
        || schema.get("enum").is_some_and(only)
}

/// Says with `nullable` that a schema takes null, too; in a union the first alternative says it.
fn let_null(schema: &mut Value) {
    let Value::Object(map) = schema else { return };
    if let Some(Value::Array(alternatives)) = map.get_mut("anyOf") {
        alternatives.iter_mut().for_each(let_null);
        return;
    }
    map.insert("nullable".to_owned(), true.into());
}

/// The way back for the values of a union.
fn union_plan(plans: Vec<RestorePlan>, alternatives: &[Value]) -> RestorePlan {
    if plans.iter().all(RestorePlan::is_keep) {
        return RestorePlan::Keep;
    }
    let both = plans.into_iter().zip(alternatives);
    RestorePlan::union(
        both.map(|(plan, schema)| Alternative { fit: Fit::of(schema), plan }).collect(),
    )
}
