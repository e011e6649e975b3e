//! Writes a document anew, as draft 2020-12.

use std::collections::HashMap;
use std::ptr::from_ref;

use referencing::Draft;
use serde_json::{Map, Value};

use super::crawl::Crawl;
use super::{Dialect, Normalized, below};
use crate::keywords::{Keyword, KeywordValue, name as k};
use crate::pointer::{dotted, escape_fragment_token, unescape_token};

/// Writes a document anew.
pub(super) struct Rewriter<'s> {
    dialect: Dialect,
    crawl: Crawl<'s>,
    /// The pointers to the written schemas that references lead to.
    places: HashMap<*const Value, String>,
    /// The written references: the pointer to the schema that has one, and where it leads.
    references: Vec<(String, &'s Value)>,
    ignored: Vec<String>,
}

impl<'s> Rewriter<'s> {
    pub(super) fn new(dialect: Dialect, crawl: Crawl<'s>) -> Self {
        let (places, references, ignored) = (HashMap::new(), Vec::new(), Vec::new());
        Self { dialect, crawl, places, references, ignored }
    }

    /// Writes the document that was crawled.
    pub(super) fn rewrite(mut self, root: &'s Value) -> Normalized {
        let mut written = self.schema(root, "");
        let mut done = 0;
        while let Some((holder, target)) = self.references.get(done).cloned() {
            done += 1;
            if !self.places.contains_key(&from_ref(target)) {
                self.define(&mut written, target);
            }
            let place = self.places.get(&from_ref(target)).map_or("", String::as_str);
            if let Some(Value::Object(map)) = written.pointer_mut(&holder) {
                map.insert(k::REF.to_owned(), Value::String(fragment(place)));
            }
        }
        Normalized { schema: written, ignored: self.ignored }
    }

    /// Adds a definition for a schema that was in a keyword that is left out.
    fn define(&mut self, root: &mut Value, schema: &'s Value) {
        let Value::Object(map) = root else { return };
        let definitions = map.entry(k::DEFS).or_insert_with(|| Value::Object(Map::new()));
        if let Value::Object(definitions) = definitions {
            let name = free_name("moved", |name| definitions.contains_key(name));
            let written = self.schema(schema, &format!("/$defs/{name}"));
            definitions.insert(name, written);
        }
    }

    /// Writes a schema that has its place at a pointer.
    fn schema(&mut self, schema: &'s Value, place: &str) -> Value {
        if self.crawl.targets.contains(&from_ref(schema)) {
            self.places.insert(schema, place.to_owned());
        }
        let Value::Object(map) = schema else { return schema.clone() };
        let mut written = Map::with_capacity(map.len());
        for (key, value) in map {
            let keyword = Keyword::of(key);
            if !self.dialect.applies(keyword, map) {
                self.ignored.push(dotted(&below(place, key)).into_owned());
                continue;
            }
            match keyword {
                Keyword::Schema => {}
                Keyword::Ref | Keyword::DynamicRef | Keyword::RecursiveRef => {
                    self.reference(schema, key, value, place, &mut written);
                }
                _ if is_identifier(key, self.dialect.draft()) => {
                    if !self.dialect.is_overruled(map) {
                        self.identifier(key, value, place, &mut written);
                    }
                }
                Keyword::Definitions if !self.crawl.is_dynamic && value.is_object() => {
                    let known = map.get(k::DEFS).and_then(Value::as_object);
                    self.definitions(value, known, place, &mut written);
                }
                Keyword::Items | Keyword::AdditionalItems => {
                    self.items(map, key, value, place, &mut written);
                }
                Keyword::Dependencies => self.dependencies(map, value, place, &mut written),
                Keyword::ExclusiveMinimum | Keyword::ExclusiveMaximum if value.is_boolean() => {
                    let bound = map.get(inclusive(keyword)).filter(|_| *value == true);
                    written.extend(bound.map(|bound| (key.clone(), bound.clone())));
                }
                Keyword::Minimum if map.get(k::EXCLUSIVE_MINIMUM) == Some(&Value::Bool(true)) => {}
                Keyword::Maximum if map.get(k::EXCLUSIVE_MAXIMUM) == Some(&Value::Bool(true)) => {}
                Keyword::Unknown => {
                    let value = self.value(value, &below(place, key));
                    written.insert(key.clone(), value);
                }
                keyword => self.keyword(keyword, value, place, &mut written),
            }
        }
        Value::Object(written)
    }

    /// Writes `items` or `additionalItems`. The items of a tuple are in `prefixItems`, unless that is
    /// there as well.
    fn items(
        &mut self,
        schema: &Map<String, Value>,
        key: &str,
        value: &'s Value,
        place: &str,
        written: &mut Map<String, Value>,
    ) {
        let is_tuple = schema.get(k::ITEMS).is_some_and(Value::is_array);
        match (key, is_tuple) {
            (k::ITEMS, false) | (k::ADDITIONAL_ITEMS, true) => {
                self.keyword(Keyword::Items, value, place, written);
            }
            (k::ITEMS, true) if !schema.contains_key(k::PREFIX_ITEMS) => {
                self.keyword(Keyword::PrefixItems, value, place, written);
            }
            // Without a tuple, it applies to no item.
            (k::ADDITIONAL_ITEMS, false) => {}
            _ => self.ignored.push(dotted(&below(place, key)).into_owned()),
        }
    }

    /// Writes a keyword under its name in draft 2020-12.
    fn keyword(
        &mut self,
        keyword: Keyword,
        value: &'s Value,
        place: &str,
        written: &mut Map<String, Value>,
    ) {
        use KeywordValue as V;
        let place = below(place, keyword.name());
        let value = match (keyword.value(), value) {
            (V::Schema | V::SchemaOrList, Value::Object(_) | Value::Bool(_)) => {
                self.schema(value, &place)
            }
            (V::SchemaList | V::SchemaOrList, Value::Array(items)) => {
                let items = items.iter().enumerate();
                items.map(|(at, item)| self.schema(item, &format!("{place}/{at}"))).collect()
            }
            (V::SchemaMap, Value::Object(map)) => map
                .iter()
                .map(|(key, schema)| (key.clone(), self.schema(schema, &below(&place, key))))
                .collect(),
            _ => self.value(value, &place),
        };
        merge(written, keyword, value);
    }

    /// Writes a value that is no schema, unless a reference leads into it.
    fn value(&mut self, value: &'s Value, place: &str) -> Value {
        if self.crawl.targets.contains(&from_ref(value)) {
            return self.schema(value, place);
        }
        match value {
            Value::Array(items) => {
                let items = items.iter().enumerate();
                items.map(|(at, item)| self.value(item, &format!("{place}/{at}"))).collect()
            }
            Value::Object(map) => map
                .iter()
                .map(|(key, value)| (key.clone(), self.value(value, &below(place, key))))
                .collect(),
            value => value.clone(),
        }
    }

    fn reference(
        &mut self,
        schema: &Value,
        key: &str,
        value: &Value,
        place: &str,
        written: &mut Map<String, Value>,
    ) {
        let target = self.crawl.references.get(&from_ref(schema)).copied();
        let (key, value) = match target {
            Some(target) if !self.crawl.is_dynamic => {
                self.references.push((place.to_owned(), target));
                (k::REF, value.clone())
            }
            Some(target) if key == k::RECURSIVE_REF => {
                let is_dynamic = target.get("$recursiveAnchor") == Some(&Value::Bool(true));
                if is_dynamic {
                    (k::DYNAMIC_REF, "#recursive".into())
                } else {
                    (k::REF, "#".into())
                }
            }
            _ => (key, value.clone()),
        };
        written.insert(key.to_owned(), value);
    }

    /// Writes an identifier or anchor, if something may need it.
    fn identifier(
        &mut self,
        key: &str,
        value: &Value,
        place: &str,
        written: &mut Map<String, Value>,
    ) {
        if key == "$recursiveAnchor" {
            if self.crawl.is_dynamic && *value == true {
                written.insert(k::DYNAMIC_ANCHOR.to_owned(), "recursive".into());
            }
        } else if self.crawl.is_dynamic {
            written.insert(key.to_owned(), value.clone());
        } else if place.is_empty() && key == self.dialect.draft().id_keyword() {
            // Its fragment is an anchor.
            let id = value.as_str().and_then(|id| id.split('#').next());
            let id = id.filter(|id| !id.is_empty());
            written.extend(id.map(|id| (k::ID.to_owned(), id.into())));
        }
    }

    /// Writes `definitions` as `$defs`, where `known` are those that it already has.
    fn definitions(
        &mut self,
        value: &'s Value,
        known: Option<&Map<String, Value>>,
        place: &str,
        written: &mut Map<String, Value>,
    ) {
        let place = below(place, k::DEFS);
        let definitions = value.as_object().into_iter().flatten();
        let definitions: Map<_, _> = definitions
            .map(|(own, schema)| {
                let is_known = |name: &str| known.is_some_and(|known| known.contains_key(name));
                let is_other = |name: &str| name != own && value.get(name).is_some();
                let name = free_name(own, |name| is_known(name) || is_other(name));
                let schema = self.schema(schema, &below(&place, &name));
                (name, schema)
            })
            .collect();
        merge(written, Keyword::Defs, Value::Object(definitions));
    }

    /// Writes `dependencies` as `dependentRequired` and `dependentSchemas`. An entry that these
    /// have, too, is left out.
    fn dependencies(
        &mut self,
        schema: &Map<String, Value>,
        value: &'s Value,
        place: &str,
        written: &mut Map<String, Value>,
    ) {
        let (mut names, mut schemas) = (Map::new(), Map::new());
        for (key, value) in value.as_object().into_iter().flatten() {
            let (keyword, entries) = if value.is_array() {
                (Keyword::DependentRequired, &mut names)
            } else {
                (Keyword::DependentSchemas, &mut schemas)
            };
            if schema.get(keyword.name()).is_some_and(|known| known.get(key).is_some()) {
                let place = below(&below(place, Keyword::Dependencies.name()), key);
                self.ignored.push(dotted(&place).into_owned());
                continue;
            }
            let value = if value.is_array() {
                value.clone()
            } else {
                self.schema(value, &below(&below(place, keyword.name()), key))
            };
            entries.insert(key.clone(), value);
        }
        for (keyword, map) in
            [(Keyword::DependentRequired, names), (Keyword::DependentSchemas, schemas)]
        {
            if !map.is_empty() {
                merge(written, keyword, Value::Object(map));
            }
        }
    }
}

/// Writes a keyword, which may already be there under its older name.
fn merge(written: &mut Map<String, Value>, keyword: Keyword, value: Value) {
    match (written.get_mut(keyword.name()), value) {
        (Some(Value::Object(known)), Value::Object(more)) => known.extend(more),
        (_, value) => drop(written.insert(keyword.name().to_owned(), value)),
    }
}

fn is_identifier(key: &str, draft: Draft) -> bool {
    matches!(key, k::ID | k::ANCHOR | k::DYNAMIC_ANCHOR | "$recursiveAnchor")
        || key == draft.id_keyword()
}

/// The keyword that draft 4 makes exclusive with `true`.
fn inclusive(exclusive: Keyword) -> &'static str {
    if exclusive == Keyword::ExclusiveMinimum { k::MINIMUM } else { k::MAXIMUM }
}

/// The name, with a number if it is taken.
fn free_name(name: &str, is_taken: impl Fn(&str) -> bool) -> String {
    let numbered = (2_u32..).map(|number| format!("{name}_{number}"));
    let mut names = std::iter::once(name.to_owned()).chain(numbered);
    names.find(|name| !is_taken(name)).unwrap_or_default()
}

/// The reference to a place.
fn fragment(place: &str) -> String {
    let tokens = place.split('/').skip(1);
    let tokens = tokens.map(|token| escape_fragment_token(&unescape_token(token)).into_owned());
    tokens.fold("#".to_owned(), |text, token| text + "/" + &token)
}
