//! Rewrites the keywords of a schema without parts.

use std::collections::HashSet;

use gramc_json_schema::keywords::name as k;
use gramc_json_schema::type_set::TypeSet;
use gramc_model::value_check::malformed_pattern;
use serde_json::{Map, Value, json};

use super::types::{self, NamedTypes};
use super::values::{clean, coerce, count, number};
use super::{Direction, Lowerer};
use crate::read::described_enum;

/// The longest example that is kept, in bytes of JSON.
const MAX_EXAMPLE: usize = 300;

/// The most examples of a schema that are kept.
const MAX_EXAMPLES: usize = 3;

impl Lowerer<'_> {
    /// Rewrites a schema that has neither parts nor members.
    pub(super) fn typed(&mut self, mut map: Map<String, Value>, is_nullable: bool) -> Value {
        let NamedTypes { types, is_nullable: has_null, is_null, format, unknown } =
            types::read_types(&map);
        if let Some(name) = unknown.filter(|_| types.is_empty()) {
            let named = format!("#/components/schemas/{name}");
            if self.document.root.pointer(&named[1..]).is_some() {
                return self.reference(&named, &map);
            }
            self.note(&format!("JSON has no type `{name}`, so any value is allowed"));
        }
        if let Some(format) = format {
            map.entry(k::FORMAT).or_insert_with(|| format.into());
        }
        let is_nullable = is_nullable || has_null;
        if is_null {
            let mut out = Map::from_iter([(k::TYPE.to_owned(), "null".into())]);
            self.annotate(&map, &mut out, None);
            return Value::Object(out);
        }
        let is_structured = types.iter().any(|ty| TypeSet::ARRAY.or(TypeSet::OBJECT).has(*ty));
        if types.len() > 1 && is_structured {
            return self.split_types(map, &types, is_nullable);
        }
        let only = (types.len() == 1).then(|| types.first().copied()).flatten();
        let mut out = Map::new();
        if let Some(names) = type_value(&types, is_nullable) {
            out.insert(k::TYPE.to_owned(), names);
        }
        self.annotate(&map, &mut out, only);
        let has_values = self.allowed_values(&map, &mut out, &types, is_nullable);
        let has = |ty: TypeSet| types.is_empty() || types.contains(&ty);
        if has(TypeSet::NUMBER) || has(TypeSet::INTEGER) {
            self.numbers(&map, &mut out);
        }
        if has(TypeSet::STRING) && !has_values {
            self.texts(&map, &mut out);
        }
        let is_text_or_number = only.is_none_or(|ty| TypeSet::STRING.or(TypeSet::NUMBER).has(ty));
        if is_text_or_number && !(has_values && only == Some(TypeSet::STRING)) {
            format_of(&map, &mut out, only);
        }
        // Without a type, these keywords are about lists and objects only, as in JSON Schema.
        if types.is_empty() || only == Some(TypeSet::ARRAY) {
            self.list(&map, &mut out);
        }
        if types.is_empty() || only == Some(TypeSet::OBJECT) {
            self.fields(&map, &mut out);
        }
        self.assertions(&map, &mut out);
        Value::Object(out)
    }

    /// Several types of which one is a list or an object, as a union.
    fn split_types(
        &mut self,
        map: Map<String, Value>,
        types: &[TypeSet],
        is_nullable: bool,
    ) -> Value {
        let (annotations, rest): (Map<String, Value>, Map<String, Value>) =
            map.into_iter().partition(|(key, _)| super::merge::is_annotation(key));
        let mut members = Vec::with_capacity(types.len() + 1);
        for ty in types {
            let mut member = rest.clone();
            member.insert(k::TYPE.to_owned(), ty.keyword());
            members.push(self.typed(member, false));
        }
        if is_nullable {
            members.push(json!({"type": "null"}));
        }
        let mut out = Map::from_iter([(k::ANY_OF.to_owned(), Value::Array(members))]);
        self.annotate(&annotations, &mut out, None);
        Value::Object(out)
    }

    /// Adds the annotations of a schema.
    pub(super) fn annotate(
        &mut self,
        map: &Map<String, Value>,
        out: &mut Map<String, Value>,
        ty: Option<TypeSet>,
    ) {
        let text = |key: &str| map.get(key).and_then(Value::as_str).map(clean);
        if let Some(title) = text(k::TITLE).filter(|text| !text.is_empty()) {
            out.insert(k::TITLE.to_owned(), title.into());
        }
        let description =
            described_enum(map).map(|text| clean(&text)).or_else(|| text(k::DESCRIPTION));
        if let Some(description) = description.filter(|text| !text.is_empty()) {
            out.insert(k::DESCRIPTION.to_owned(), description.into());
        }
        for key in [k::DEPRECATED, k::READ_ONLY, k::WRITE_ONLY] {
            if map.get(key).is_some_and(|flag| *flag == true) {
                out.insert(key.to_owned(), Value::Bool(true));
            }
        }
        match map.get(k::DEFAULT) {
            Some(Value::Null) if allows_null(out) => {
                out.insert(k::DEFAULT.to_owned(), Value::Null);
            }
            None | Some(Value::Null) => {}
            Some(value) => match coerce(value, ty) {
                Some(value) => {
                    out.insert(k::DEFAULT.to_owned(), value);
                }
                None => self.note("a default has another type than its schema and is left out"),
            },
        }
        let examples = match map.get(k::EXAMPLES) {
            Some(Value::Array(all)) => all.iter().collect(),
            Some(Value::Object(all)) => {
                all.values().map(|example| example.get("value").unwrap_or(example)).collect()
            }
            _ => Vec::new(),
        };
        let examples = map.get(k::EXAMPLE).into_iter().chain(examples);
        self.examples(examples, out, ty);
    }

    /// Adds examples that have the right type and are short.
    pub(super) fn examples<'v>(
        &mut self,
        examples: impl Iterator<Item = &'v Value>,
        out: &mut Map<String, Value>,
        ty: Option<TypeSet>,
    ) {
        let mut kept: Vec<Value> = Vec::new();
        for example in examples.filter(|example| !example.is_null()) {
            let Some(value) = coerce(example, ty) else {
                self.note("an example has another type than its schema and is left out");
                continue;
            };
            if kept.len() >= MAX_EXAMPLES || value.to_string().len() > MAX_EXAMPLE {
                self.note("long and further examples are left out");
            } else if !kept.contains(&value) {
                kept.push(value);
            }
        }
        if !kept.is_empty() {
            out.insert(k::EXAMPLES.to_owned(), Value::Array(kept));
        }
    }

    /// Adds `enum` and `const`. Returns whether there are any.
    fn allowed_values(
        &mut self,
        map: &Map<String, Value>,
        out: &mut Map<String, Value>,
        types: &[TypeSet],
        is_nullable: bool,
    ) -> bool {
        let values = match (map.get(k::CONST), map.get(k::ENUM)) {
            (Some(value), _) => std::slice::from_ref(value),
            (None, Some(Value::Array(values))) => values.as_slice(),
            _ => return false,
        };
        let mut kept: Vec<Value> = Vec::with_capacity(values.len());
        let mut seen = HashSet::with_capacity(values.len());
        let mut has_null = false;
        for value in values {
            if value.is_null() && !types.is_empty() {
                has_null = true;
                continue;
            }
            let fitting = match types {
                [] => Some(value.clone()),
                [only] => coerce(value, Some(*only)),
                several => several
                    .iter()
                    .any(|ty| coerce(value, Some(*ty)).as_ref() == Some(value))
                    .then(|| value.clone()),
            };
            match fitting {
                Some(value) if seen.insert(value.to_string()) => kept.push(value),
                Some(_) => {}
                None => {
                    self.note("a value of `enum` has another type than its schema and is left out");
                }
            }
        }
        if kept.is_empty() {
            if has_null && is_nullable {
                out.insert(k::TYPE.to_owned(), "null".into());
            }
            return false;
        }
        if map.contains_key(k::CONST) && kept.len() == 1 && !is_nullable {
            out.insert(k::CONST.to_owned(), kept.swap_remove(0));
            return true;
        }
        if is_nullable && !types.is_empty() {
            kept.push(Value::Null);
        }
        out.insert(k::ENUM.to_owned(), Value::Array(kept));
        true
    }

    fn numbers(&mut self, map: &Map<String, Value>, out: &mut Map<String, Value>) {
        let mut bounds = Map::new();
        for (bound, exclusive) in
            [(k::MINIMUM, k::EXCLUSIVE_MINIMUM), (k::MAXIMUM, k::EXCLUSIVE_MAXIMUM)]
        {
            let value = map.get(bound).map(number);
            let is_exclusive =
                map.get(exclusive).is_some_and(|flag| *flag == true || flag == "true");
            match value {
                Some(Some(value)) => {
                    let key = if is_exclusive { exclusive } else { bound };
                    bounds.insert(key.to_owned(), Value::Number(value));
                }
                Some(None) => self.note("a bound is not a number and is left out"),
                None => {}
            }
            if let Some(value @ Value::Number(_)) = map.get(exclusive) {
                bounds.insert(exclusive.to_owned(), value.clone());
            }
        }
        if let Some(step) =
            map.get(k::MULTIPLE_OF).or_else(|| map.get("divisibleBy")).and_then(number)
            && step.as_f64().is_some_and(|step| step > 0.0)
        {
            bounds.insert(k::MULTIPLE_OF.to_owned(), Value::Number(step));
        }
        if is_empty(&bounds, k::MINIMUM, k::MAXIMUM) {
            self.note("the least value is greater than the greatest; both are left out");
            bounds.retain(|key, _| key == k::MULTIPLE_OF);
        }
        out.extend(bounds);
    }

    fn counts(&mut self, map: &Map<String, Value>, out: &mut Map<String, Value>, keys: [&str; 2]) {
        let mut bounds = Map::new();
        for key in keys {
            let Some(value) = map.get(key).filter(|value| !value.is_null()) else { continue };
            match count(value) {
                Some(count) => {
                    bounds.insert(key.to_owned(), count.into());
                }
                None => self.note("a bound is not a whole number and is left out"),
            }
        }
        if is_empty(&bounds, keys[0], keys[1]) {
            self.note("the least size is greater than the greatest; both are left out");
            bounds.clear();
        }
        // Every size is at least 0.
        bounds.retain(|key, value| !(key.starts_with("min") && *value == 0));
        out.extend(bounds);
    }

    fn texts(&mut self, map: &Map<String, Value>, out: &mut Map<String, Value>) {
        self.counts(map, out, [k::MIN_LENGTH, k::MAX_LENGTH]);
        let Some(pattern) = map.get(k::PATTERN).and_then(Value::as_str) else { return };
        // Some documents write patterns between slashes, as JavaScript does.
        let bare = pattern.strip_prefix("/^").and_then(|rest| rest.strip_suffix("$/"));
        let pattern = bare.map_or_else(|| pattern.to_owned(), |bare| format!("^{bare}$"));
        if malformed_pattern(&pattern).is_some() {
            self.note("a pattern is not a regular expression of ECMAScript and is left out");
        } else {
            out.insert(k::PATTERN.to_owned(), pattern.into());
        }
    }

    fn list(&mut self, map: &Map<String, Value>, out: &mut Map<String, Value>) {
        self.counts(map, out, [k::MIN_ITEMS, k::MAX_ITEMS]);
        if map.get(k::UNIQUE_ITEMS).is_some_and(|flag| *flag == true) {
            out.insert(k::UNIQUE_ITEMS.to_owned(), Value::Bool(true));
        }
        let prefix =
            map.get(k::PREFIX_ITEMS).or_else(|| map.get(k::ITEMS).filter(|it| it.is_array()));
        match (prefix, map.get(k::ITEMS)) {
            (Some(Value::Array(prefix)), items)
                if prefix.len() > 1 || map.contains_key(k::PREFIX_ITEMS) =>
            {
                let prefix: Vec<Value> = prefix.iter().map(|item| self.lower(item)).collect();
                out.insert(k::PREFIX_ITEMS.to_owned(), Value::Array(prefix));
                let others = items.filter(|_| map.contains_key(k::PREFIX_ITEMS));
                let others = others.or_else(|| map.get(k::ADDITIONAL_ITEMS));
                let others = others.filter(|others| others.is_object() || **others == false);
                if let Some(others) = others {
                    let others =
                        if others.is_object() { self.lower(others) } else { others.clone() };
                    out.insert(k::ITEMS.to_owned(), others);
                }
            }
            (Some(Value::Array(prefix)), _) if prefix.len() == 1 => {
                let item = prefix.first().map(|item| self.lower(item)).unwrap_or_default();
                out.insert(k::ITEMS.to_owned(), item);
            }
            (_, Some(items)) if !items.is_array() && !items.is_null() => {
                let items = self.lower(items);
                if items != json!({}) {
                    out.insert(k::ITEMS.to_owned(), items);
                }
            }
            _ => {}
        }
    }

    fn fields(&mut self, map: &Map<String, Value>, out: &mut Map<String, Value>) {
        self.counts(map, out, [k::MIN_PROPERTIES, k::MAX_PROPERTIES]);
        let listed = map.get(k::REQUIRED).and_then(Value::as_array).into_iter().flatten();
        let mut seen = HashSet::new();
        let listed = listed.filter_map(Value::as_str).filter(|name| seen.insert(*name));
        let mut required: Map<String, Value> =
            listed.map(|name| (name.to_owned(), Value::Null)).collect();
        let mut properties = Map::new();
        for (name, schema) in members(map, k::PROPERTIES) {
            let mut lowered = self.lower(schema);
            if let Value::Object(lowered) = &mut lowered {
                drop_title(lowered, name);
                let one_way = match self.direction {
                    Direction::Request => k::READ_ONLY,
                    Direction::Response => k::WRITE_ONLY,
                };
                if lowered.contains_key(one_way) {
                    required.shift_remove(name);
                } else if schema.get(k::REQUIRED).is_some_and(|flag| *flag == true) {
                    required.insert(name.clone(), Value::Null);
                }
            }
            properties.insert(name.clone(), lowered);
        }
        if !properties.is_empty() {
            out.insert(k::PROPERTIES.to_owned(), Value::Object(properties));
        }
        if !required.is_empty() {
            let required: Vec<String> = required.into_iter().map(|(name, _)| name).collect();
            out.insert(k::REQUIRED.to_owned(), required.into());
        }
        let mut patterns = Map::new();
        for (pattern, schema) in members(map, k::PATTERN_PROPERTIES) {
            if malformed_pattern(pattern).is_some() {
                self.note(
                    "a pattern of property names is not a regular expression and is left out",
                );
            } else {
                patterns.insert(pattern.clone(), self.lower(schema));
            }
        }
        if !patterns.is_empty() {
            out.insert(k::PATTERN_PROPERTIES.to_owned(), Value::Object(patterns));
        }
        let open = map.get(k::ADDITIONAL_PROPERTIES).or_else(|| map.get(k::UNEVALUATED_PROPERTIES));
        let open = match open {
            Some(open @ Value::Bool(_)) => Some(open.clone()),
            Some(schema @ Value::Object(_)) => Some(
                Some(self.lower(schema)).filter(|it| *it != json!({})).unwrap_or(Value::Bool(true)),
            ),
            _ => None,
        };
        if let Some(open) = open {
            out.insert(k::ADDITIONAL_PROPERTIES.to_owned(), open);
        }
        if let Some(names @ Value::Object(_)) = map.get(k::PROPERTY_NAMES) {
            let names = self.lower(names);
            if names != json!({"type": "string"}) {
                out.insert(k::PROPERTY_NAMES.to_owned(), names);
            }
        }
    }

    /// Adds what gram keeps as JSON: keywords that belong together, if all of them keep their exact
    /// meaning.
    fn assertions(&mut self, map: &Map<String, Value>, out: &mut Map<String, Value>) {
        const GROUPS: [&[&str]; 5] = [
            &[k::NOT],
            &[k::IF, k::THEN, k::ELSE],
            &[k::CONTAINS, k::MIN_CONTAINS, k::MAX_CONTAINS],
            &[k::DEPENDENT_SCHEMAS],
            &[k::DEPENDENT_REQUIRED],
        ];
        for group in GROUPS {
            let own: Map<String, Value> = group
                .iter()
                .filter_map(|key| Some(((*key).to_owned(), map.get(*key)?.clone())))
                .collect();
            if own.is_empty() {
                continue;
            }
            if let Some(Value::Object(exact)) = self.exact(&Value::Object(own)) {
                out.extend(exact);
            } else {
                let first = group.first().unwrap_or(&"");
                self.note(&format!(
                    "`{first}` is left out, because its exact meaning cannot be kept"
                ));
            }
        }
    }
}

/// The schemas of a keyword, by name.
fn members<'m>(
    map: &'m Map<String, Value>,
    key: &str,
) -> impl Iterator<Item = (&'m String, &'m Value)> {
    map.get(key).and_then(Value::as_object).into_iter().flatten()
}

/// Whether a rewritten schema names null as one of its types.
fn allows_null(schema: &Map<String, Value>) -> bool {
    let list = |key: &str| schema.get(key).and_then(Value::as_array).into_iter().flatten();
    let null = json!({"type": "null"});
    list(k::TYPE).any(|name| name == "null")
        || list(k::ANY_OF).chain(list(k::ONE_OF)).any(|member| *member == null)
}

/// Removes a title that says the same as the name.
pub(super) fn drop_title(schema: &mut Map<String, Value>, name: &str) {
    let plain = |text: &str| -> String {
        text.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
    };
    let title = schema.get(k::TITLE).and_then(Value::as_str);
    if title.is_some_and(|title| plain(title) == plain(name)) {
        schema.shift_remove(k::TITLE);
    }
}

/// The value of `type`.
fn type_value(types: &[TypeSet], is_nullable: bool) -> Option<Value> {
    let null = is_nullable.then_some(&TypeSet::NULL);
    let mut names: Vec<Value> = types.iter().chain(null).map(|ty| ty.keyword()).collect();
    match (types, names.len()) {
        ([], _) => None,
        (_, 1) => names.pop(),
        _ => Some(names.into()),
    }
}

fn format_of(map: &Map<String, Value>, out: &mut Map<String, Value>, ty: Option<TypeSet>) {
    let format = map.get(k::FORMAT).and_then(Value::as_str).map(str::trim);
    let is_base64 = matches!(format, Some("byte" | "base64"))
        || map.get(k::CONTENT_ENCODING).is_some_and(|encoding| encoding == "base64");
    if is_base64 && ty == Some(TypeSet::STRING) {
        out.insert(k::CONTENT_ENCODING.to_owned(), "base64".into());
    } else if let Some(format) = format.filter(|format| !format.is_empty()) {
        out.insert(k::FORMAT.to_owned(), format.into());
    }
}

/// Whether no value is within bounds.
fn is_empty(bounds: &Map<String, Value>, least: &str, most: &str) -> bool {
    let number = |key: &str| bounds.get(key).and_then(Value::as_f64);
    number(least).zip(number(most)).is_some_and(|(least, most)| least > most)
}
