//! Lowers one schema, for a target that supports only some keywords.

use gramc_json_schema::text::MAX_SCHEMA_LEVELS;
use gramc_json_schema::type_set::TypeSet;
use serde_json::{Map, Value};

use super::super::loss::Became;
use super::super::restore::RestorePlan;
use super::super::target_spec::SeveralTypes;
use super::keys::Keys;
use super::{At, Lowerer, Out, leftovers, merge, parts};
use gramc_json_schema::keywords::{Keyword as K, Keywords, name as k};
use gramc_json_schema::path::Path;

impl Lowerer<'_> {
    /// Lowers the root, for a target that supports only some keywords.
    pub(super) fn closed(
        &mut self,
        map: &mut Map<String, Value>,
        notes: &mut Vec<String>,
    ) -> RestorePlan {
        for key in [k::DEFS, k::DEFINITIONS] {
            if let Some(Value::Object(definitions)) = map.shift_remove(key)
                && self.original.is_none()
            {
                for (name, definition) in definitions {
                    let why = Became::Dropped("nothing refers to it");
                    self.lose(&Path::ROOT.key(key).key(&name), key, definition, why);
                }
            }
        }
        let at = At::default();
        self.mentions.rewrite(map);
        self.no_nullable(map, &Path::ROOT);
        self.irrelevant(map, &Path::ROOT, TypeSet::OBJECT);
        if self.spec.types.always {
            // A list of constant objects cannot be combined with named properties.
            for (key, value) in parts::take(map, |key| matches!(key, K::Enum | K::Const)) {
                self.sentence_of(notes, &Path::ROOT, &key, value);
            }
        }
        let keys = Keys::of(self.spec.keys.as_ref(), map, &Path::ROOT);
        let mut plan = self.object(map, notes, &Path::ROOT, (at, &keys));
        for key in [k::ANY_OF, k::ONE_OF] {
            // If the root may be a union, its members are lowered like other schemas.
            if self.spec.root_keeps(K::of(key))
                && let Some(Value::Array(alternatives)) = map.get_mut(key)
            {
                let mut alternatives = std::mem::take(alternatives);
                let own = self.alternatives(&mut alternatives, key, &Path::ROOT, at);
                map.insert(key.to_owned(), alternatives.into());
                if plan.is_keep() {
                    plan = own;
                }
            }
        }
        self.leftovers_of(&keys, map, notes, &Path::ROOT, TypeSet::OBJECT);
        if !self.spec.objects.empty_as_text {
            return plan;
        }
        // The schema of a tool without parameters may be omitted.
        if map.get(k::PROPERTIES).and_then(Value::as_object).is_none_or(Map::is_empty)
            && !self.spec.objects.closed
            && let Some(Value::String(description)) = map.shift_remove(k::DESCRIPTION)
        {
            notes.insert(0, description);
        }
        plan
    }

    /// Lowers a schema below the root.
    pub(super) fn node(&mut self, value: &mut Value, path: &Path<'_>, at: At) -> Out {
        let mut map = match value.take() {
            Value::Object(map) => map,
            Value::Bool(false) => parts::nothing(),
            _ => Map::new(),
        };
        let out = self.place(&mut map, path, at);
        *value = Value::Object(map);
        out
    }

    /// The same for an object schema.
    pub(super) fn place(&mut self, map: &mut Map<String, Value>, path: &Path<'_>, at: At) -> Out {
        if !self.stack.is_empty() {
            self.inlined += 1;
        }
        self.mentions.rewrite(map);
        if at.depth >= MAX_SCHEMA_LEVELS {
            let types = map.get(k::TYPE).and_then(TypeSet::of_keyword).unwrap_or(TypeSet::ALL);
            return self.text(map, path, k::TYPE, types);
        }
        let mut has = parts::keywords(map);
        if has.has(K::AllOf) {
            self.all_of(map, path);
            has = parts::keywords(map);
        }
        if has.has(K::Nullable) {
            self.no_nullable(map, path);
            has = parts::keywords(map);
        }
        if has.has(K::Ref) {
            return self.reference(map, path, at);
        }
        let old = [K::AdditionalItems, K::Items, K::ExclusiveMinimum, K::ExclusiveMaximum];
        if has.has_any(&old) {
            parts::modernize(map, has);
            has = parts::keywords(map);
        }
        let is_exclusive = has.has(K::OneOf);
        if is_exclusive && !self.keeps_one_of(map) {
            self.one_of(map, path);
            has = parts::keywords(map);
        }
        if has.has(K::AnyOf) || has.has(K::OneOf) {
            let mut out = self.union(map, path, at);
            if is_exclusive {
                out.plan.prefer_changes();
            }
            return out;
        }
        self.plain_of(has, map, path, at)
    }

    /// Lowers a schema without a union or a reference.
    pub(super) fn plain(&mut self, map: &mut Map<String, Value>, path: &Path<'_>, at: At) -> Out {
        self.plain_of(parts::keywords(map), map, path, at)
    }

    /// The same for a schema with known keywords.
    fn plain_of(
        &mut self,
        has: Keywords,
        map: &mut Map<String, Value>,
        path: &Path<'_>,
        at: At,
    ) -> Out {
        if has.has(K::Const) && !self.spec.keeps(K::Const) {
            self.constant(map, path);
        }
        let declared = map.get(k::TYPE).and_then(TypeSet::of_keyword);
        let types = declared.or_else(|| parts::inferred(map));
        if let Some(types) = types {
            self.irrelevant(map, path, types);
        }
        if let Some(out) = self.as_text(has, map, path, types) {
            return out;
        }
        let always = self.spec.types.always;
        let known = types.unwrap_or(TypeSet::ALL);
        if always && self.has_to_split(known) {
            return self.split(map, known, path, at);
        }
        let mut notes = Vec::new();
        if always {
            self.write_type(map, &mut notes, path, known, declared.is_none());
        }
        if self.spec.enum_of_text_only {
            self.enum_of_text(map, &mut notes, path, known);
        }
        let has = parts::keywords(map);
        let keys = Keys::of(self.spec.keys.as_ref(), map, path);
        let mut plan = RestorePlan::Keep;
        if has.has(K::Properties) || always && known.has(TypeSet::OBJECT) {
            plan = self.object(map, &mut notes, path, (at, &keys));
        } else if has.has(K::AdditionalProperties) {
            plan = self.open_object(map, &mut notes, path, at, Vec::new());
        }
        let is_array = types.is_some_and(|types| types.has(TypeSet::ARRAY));
        if has.has_any(&[K::Items, K::PrefixItems]) || is_array {
            let own = self.array(map, &mut notes, path, at, is_array);
            plan = if plan.is_keep() { own } else { plan };
        }
        self.leftovers_of(&keys, map, &mut notes, path, known);
        Out { plan, up: leftovers::describe(map, notes) }
    }

    /// Removes `nullable`, which is not a JSON Schema keyword and allows no null.
    fn no_nullable(&mut self, map: &mut Map<String, Value>, path: &Path<'_>) {
        if let Some(value) = map.shift_remove(k::NULLABLE) {
            let why = Became::Dropped("it is not a JSON Schema keyword");
            self.lose(&path.key(k::NULLABLE), k::NULLABLE, value, why);
        }
    }

    /// Drops keywords that apply only to types that the schema does not accept.
    fn irrelevant(&mut self, map: &mut Map<String, Value>, path: &Path<'_>, types: TypeSet) {
        let is = |keyword: K| !parts::speaks_of(keyword).meets(types);
        if !map.keys().any(|key| is(K::of(key))) {
            return;
        }
        for (key, value) in parts::take(map, is) {
            let why = Became::Dropped("it applies to other types");
            self.lose(&path.key(&key), &key, value, why);
        }
    }

    /// Turns a schema that the target cannot express into a string of JSON text.
    ///
    /// `has` are the keywords of the schema. It may include a few that were removed.
    fn as_text(
        &mut self,
        has: Keywords,
        map: &mut Map<String, Value>,
        path: &Path<'_>,
        types: Option<TypeSet>,
    ) -> Option<Out> {
        if !self.spec.types.always {
            return None;
        }
        let Some(types) = types else {
            let why = if has.has(K::Not) { k::NOT } else { k::TYPE };
            return Some(self.text(map, path, why, TypeSet::ALL));
        };
        let structured = |value: &Value| value.is_object() || value.is_array();
        let constants =
            if has.has_any(&[K::Enum, K::Const]) { &[k::ENUM, k::CONST][..] } else { &[] };
        for &key in constants {
            let found = match map.get(key) {
                Some(Value::Array(values)) if key == k::ENUM => values.iter().any(structured),
                Some(value) => key == k::CONST && structured(value),
                None => false,
            };
            if found {
                return Some(self.text(map, path, key, types));
            }
        }
        if types.without(TypeSet::NULL) != TypeSet::OBJECT || !self.spec.objects.empty_as_text {
            return None;
        }
        let keys_of = |key: &str| map.get(key).and_then(Value::as_object).map_or(0, Map::len);
        let empty = keys_of(k::PROPERTIES) == 0;
        let others = has.has(K::AdditionalProperties)
            && map
                .get(k::ADDITIONAL_PROPERTIES)
                .is_some_and(|of| empty || *of != Value::Bool(false) && !merge::is_anything(of));
        let key = if others {
            k::ADDITIONAL_PROPERTIES
        } else if has.has(K::PatternProperties) && keys_of(k::PATTERN_PROPERTIES) > 0 {
            k::PATTERN_PROPERTIES
        } else if empty {
            k::TYPE
        } else {
            return None;
        };
        Some(self.text(map, path, key, types))
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
    fn split(
        &mut self,
        map: &mut Map<String, Value>,
        types: TypeSet,
        path: &Path<'_>,
        at: At,
    ) -> Out {
        let named = map.get(k::TYPE).cloned();
        let says = parts::take(map, |keyword| !keyword.is_annotation());
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
            self.lose(&path.key(k::TYPE), k::TYPE, named, Became::Rewritten(k::ANY_OF.to_owned()));
        }
        map.insert(k::ANY_OF.to_owned(), alternatives.into());
        self.union(map, path, at)
    }

    /// Writes `type`, for a target that requires it.
    fn write_type(
        &mut self,
        map: &mut Map<String, Value>,
        notes: &mut Vec<String>,
        path: &Path<'_>,
        types: TypeSet,
        missing: bool,
    ) {
        if !self.spec.has_nullable() || !types.has(TypeSet::NULL) {
            if missing {
                map.shift_insert(0, k::TYPE.to_owned(), types.keyword());
            } else if let Some(Value::Array(names)) = map.get_mut(k::TYPE)
                && names.len() == 1
            {
                map.insert(k::TYPE.to_owned(), types.keyword());
            }
            return;
        }
        let named = map.get(k::TYPE).cloned();
        if missing {
            map.shift_insert(0, k::TYPE.to_owned(), Value::Null);
        }
        let others = types.without(TypeSet::NULL);
        if others == TypeSet::NONE {
            // The target has no type for only null.
            map.shift_remove(k::ENUM);
            map.insert(k::TYPE.to_owned(), "string".into());
            let sentence = "Always null.".to_owned();
            self.lose(path, k::TYPE, "null".into(), Became::Description(sentence.clone()));
            notes.push(sentence);
        } else {
            map.insert(k::TYPE.to_owned(), others.keyword());
            if let Some(named) = named {
                let to = k::NULLABLE.to_owned();
                self.lose(&path.key(k::TYPE), k::TYPE, named, Became::Rewritten(to));
            }
        }
        map.insert(k::NULLABLE.to_owned(), true.into());
    }

    /// Rewrites `const` for a target that supports only `enum`.
    fn constant(&mut self, map: &mut Map<String, Value>, path: &Path<'_>) {
        let Some(value) = map.get(k::CONST).cloned() else { return };
        map.shift_remove(k::ENUM);
        parts::rename(map, k::CONST, k::ENUM);
        map.insert(k::ENUM.to_owned(), Value::Array(vec![value.clone()]));
        let text = value.is_string() || !self.spec.enum_of_text_only;
        if text {
            let to = k::ENUM.to_owned();
            self.lose(&path.key(k::CONST), k::CONST, value, Became::Rewritten(to));
        }
    }

    /// Rewrites an enum for a target that supports only strings in `enum`.
    fn enum_of_text(
        &mut self,
        map: &mut Map<String, Value>,
        notes: &mut Vec<String>,
        path: &Path<'_>,
        types: TypeSet,
    ) {
        let Some(Value::Array(values)) = map.get_mut(k::ENUM) else { return };
        if types.has(TypeSet::NULL) {
            values.retain(|value| !value.is_null());
        }
        if types.has(TypeSet::STRING) && !values.is_empty() && values.iter().all(Value::is_string) {
            return;
        }
        let values = std::mem::take(values);
        map.shift_remove(k::ENUM);
        let key = if values.len() == 1 { k::CONST } else { k::ENUM };
        let value = match <[Value; 1]>::try_from(values) {
            Ok([one]) => one,
            Err(values) => Value::Array(values),
        };
        self.sentence_of(notes, path, key, value);
    }
}

/// The keywords that apply to one type of a schema for `all` these types. `None` if the schema
/// accepts no value of that type.
fn of_one_type(says: &Map<String, Value>, one: TypeSet, all: TypeSet) -> Option<Value> {
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
