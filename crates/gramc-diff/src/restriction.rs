//! Properties that a comparison sets aside, because only one version declares them.

use std::collections::{BTreeMap, BTreeSet};

use gramc_json_schema::containment::confirm;
use gramc_json_schema::keywords::Keyword;
use gramc_json_schema::pointer::unescape_fragment_token;
use serde_json::{Map, Value, json};

use crate::relation::is_anything;

type Names<'s> = BTreeSet<&'s str>;

type KeywordMap = Map<String, Value>;

/// The start of references to the definitions of a schema.
const DEFS: &str = "#/$defs/";

/// The end of the names of definitions without restrictions of their own.
const OPEN: &str = "!open";

/// The most schemas that apply to one value and are searched for the properties that they declare.
const MAX_PARTS: usize = 200;

/// The names of properties that are set aside: the consumer declares them, and no object requires them
/// without declaring them.
pub(crate) fn names_set_aside<'s>(producer: &'s Value, consumer: &'s Value) -> Names<'s> {
    let (mut names, mut wanted) = (Names::new(), Names::new());
    declared_names(consumer, &mut names);
    wanted_names(producer, &mut wanted);
    wanted_names(consumer, &mut wanted);
    names.retain(|name| !wanted.contains(name));
    names
}

/// Collects the names of all properties that a schema declares anywhere.
fn declared_names<'s>(schema: &'s Value, names: &mut Names<'s>) {
    let Value::Object(keywords) = schema else { return };
    for (key, value) in keywords {
        let keyword = Keyword::of(key);
        if let (Keyword::Properties, Value::Object(properties)) = (keyword, value) {
            names.extend(properties.keys().map(String::as_str));
        }
        keyword.subschemas(value).into_iter().for_each(|part| declared_names(part, names));
    }
}

/// Collects the names of properties that objects require without declaring them.
fn wanted_names<'s>(schema: &'s Value, names: &mut Names<'s>) {
    let Value::Object(keywords) = schema else { return };
    let declared = keywords.get("properties").and_then(Value::as_object);
    let dependent = keywords.get("dependentRequired").and_then(Value::as_object);
    let dependent = dependent.into_iter().flatten();
    let sources = dependent.clone().map(|(source, _)| source.as_str());
    let lists = dependent.map(|(_, names)| names).chain(keywords.get("required"));
    let listed = lists.filter_map(Value::as_array).flatten().filter_map(Value::as_str);
    let is_declared = |name: &str| declared.is_some_and(|declared| declared.contains_key(name));
    names.extend(listed.chain(sources).filter(|name| !is_declared(name)));
    for (key, value) in keywords {
        for part in Keyword::of(key).subschemas(value) {
            wanted_names(part, names);
        }
    }
}

/// Whether an object says which names its properties have, or what values some of these names have.
fn constrains_names(keywords: &KeywordMap, names: &Names<'_>) -> bool {
    if keywords.contains_key("propertyNames") {
        return true;
    }
    let Some(Value::Object(patterns)) = keywords.get("patternProperties") else { return false };
    let none: Map<_, _> = patterns.keys().map(|key| (key.clone(), Value::Bool(false))).collect();
    let all: Map<_, _> = names.iter().map(|name| ((*name).to_owned(), Value::Null)).collect();
    confirm(&Value::Bool(false), &json!({"patternProperties": none}), all.into()).is_none()
}

/// A schema with all schemas that apply to the same values.
struct Extent<'s> {
    parts: Vec<&'s KeywordMap>,
    /// The names of properties that these declare.
    declared: Names<'s>,
    declares: bool,
    has_unions: bool,
}

impl<'s> Extent<'s> {
    /// The extent of a schema without one of its keywords.
    fn of(root: &'s Value, schema: &'s KeywordMap, skipped: &str) -> Self {
        let (declared, declares) = (Names::new(), false);
        let mut extent = Self { parts: vec![schema], declared, declares, has_unions: false };
        let mut at = 0;
        while let Some(keywords) = extent.parts.get(at).copied() {
            at += 1;
            for (key, value) in keywords.iter().filter(|(key, _)| at > 1 || *key != skipped) {
                let keyword = Keyword::of(key);
                if let (Keyword::Properties, Value::Object(properties)) = (keyword, value) {
                    extent.declares = true;
                    extent.declared.extend(properties.keys().map(String::as_str));
                }
                extent.has_unions |= matches!(keyword, Keyword::AnyOf | Keyword::OneOf);
                let target = value.as_str().filter(|_| keyword == Keyword::Ref);
                let target = target.and_then(|target| root.pointer(target.strip_prefix('#')?));
                let parts =
                    if keyword.applies_in_place() { keyword.subschemas(value) } else { Vec::new() };
                for part in parts.into_iter().chain(target).filter_map(Value::as_object) {
                    let is_known = extent.parts.iter().any(|known| std::ptr::eq(*known, part));
                    if !is_known && extent.parts.len() < MAX_PARTS {
                        extent.parts.push(part);
                    }
                }
            }
        }
        extent
    }

    /// Whether it allows any values of undeclared properties, some of which have these names.
    fn is_silent(&self, names: &Names<'_>) -> bool {
        self.parts.iter().all(|keywords| {
            let mut rest = ["additionalProperties", "unevaluatedProperties"].into_iter();
            rest.all(|key| keywords.get(key).is_none_or(is_anything))
                && !constrains_names(keywords, names)
        })
    }
}

/// The place of a schema in the schemas that apply to the same value.
#[derive(Clone, Copy)]
enum Place<'n> {
    /// It is restricted, with these names declared around it.
    Whole(&'n Names<'n>),
    /// Another one is restricted, because members of an intersection do not declare the properties of
    /// each other.
    Part,
}

/// Forbids the properties that are set aside in open objects that declare other ones: an open object
/// of the producer allows any value of that name, and no caller sends one.
pub(crate) struct Restriction<'s> {
    original: &'s Value,
    names: &'s Names<'s>,
    /// Whether only those objects are restricted that say nothing else of undeclared properties.
    is_of_producer: bool,
    /// The definitions of which copies without restrictions of their own are needed.
    needed: Vec<&'s str>,
}

impl<'s> Restriction<'s> {
    pub(crate) fn of_producer(schema: &'s Value, names: &'s Names<'s>) -> Self {
        Self { original: schema, names, is_of_producer: true, needed: Vec::new() }
    }

    pub(crate) fn of_consumer(schema: &'s Value, names: &'s Names<'s>) -> Self {
        Self { is_of_producer: false, ..Self::of_producer(schema, names) }
    }

    /// The restricted schema.
    pub(crate) fn apply(mut self, is_root: bool) -> Value {
        let mut schema = self.original.clone();
        self.restrict(self.original, &mut schema, Place::Whole(&Names::new()), is_root);
        let defs = self.original.get("$defs").unwrap_or(&Value::Null);
        let mut copies = BTreeMap::new();
        while let Some(name) = self.needed.pop() {
            if let (Some(def), false) = (defs.get(name), copies.contains_key(name)) {
                let mut copy = def.clone();
                self.restrict(def, &mut copy, Place::Part, false);
                copies.insert(name, copy);
            }
        }
        if let Some(Value::Object(defs)) = schema.get_mut("$defs") {
            defs.extend(copies.into_iter().map(|(name, copy)| (name.to_owned() + OPEN, copy)));
        }
        schema
    }

    /// Restricts a copy of a schema and its parts.
    fn restrict(&mut self, schema: &'s Value, copy: &mut Value, place: Place<'_>, is_root: bool) {
        let (Value::Object(schema), Value::Object(copy)) = (schema, copy) else { return };
        // The names that are declared around the members of a union, if these are restricted one by
        // one, and the names that are declared in this schema, if it is restricted itself.
        let (mut around_members, mut declared) = (None, None);
        let mut is_lone_reference = false;
        if let Place::Whole(around) = place {
            let in_place = schema.keys().filter(|key| Keyword::of(key).applies_in_place());
            is_lone_reference = schema.contains_key("$ref")
                && in_place.count() == 1
                && !schema.contains_key("properties")
                && around.is_empty();
            let unions = ["anyOf", "oneOf"];
            let mut union = unions.into_iter().find(|union| schema.contains_key(*union));
            let mut extent = Extent::of(self.original, schema, union.unwrap_or_default());
            if union.is_some() && extent.has_unions {
                union = None;
                extent = Extent::of(self.original, schema, "");
            }
            let applies = extent.is_silent(self.names) || !self.is_of_producer;
            let is_object = extent.declares || is_root || !around.is_empty();
            let mut names = extent.declared;
            names.extend(around);
            if union.is_some() && applies {
                around_members = Some(names);
            } else if is_object && applies && !is_lone_reference {
                declared = Some(names);
            }
        }
        let nothing = Names::new();
        for (key, value) in schema {
            let keyword = Keyword::of(key);
            let Some(copy) = copy.get_mut(key) else { continue };
            let place = match keyword {
                Keyword::AllOf => Place::Part,
                Keyword::AnyOf | Keyword::OneOf => {
                    around_members.as_ref().map_or(Place::Part, Place::Whole)
                }
                Keyword::Ref if !is_lone_reference => {
                    self.refer_to_copy(value, copy);
                    continue;
                }
                // Forbidding more in the others would allow more.
                Keyword::Properties
                | Keyword::PatternProperties
                | Keyword::AdditionalProperties
                | Keyword::Items
                | Keyword::PrefixItems
                | Keyword::Defs
                | Keyword::Definitions => Place::Whole(&nothing),
                _ => continue,
            };
            let parts = keyword.subschemas(value).into_iter().zip(keyword.subschemas_mut(copy));
            for (part, copy) in parts {
                self.restrict(part, copy, place, false);
            }
        }
        if let Some(declared) = declared {
            let properties = copy.entry("properties").or_insert_with(|| Map::new().into());
            if let Value::Object(properties) = properties {
                for name in self.names.difference(&declared) {
                    properties.insert((*name).to_owned(), Value::Bool(false));
                }
            }
        }
    }

    /// Makes a reference lead to the copy of a definition.
    fn refer_to_copy(&mut self, reference: &'s Value, copy: &mut Value) {
        let defs = self.original.get("$defs").and_then(Value::as_object);
        let name = reference.as_str().and_then(|reference| reference.strip_prefix(DEFS));
        let name = name.map(unescape_fragment_token);
        let name = name.and_then(|name| defs?.get_key_value(&name)).map(|(name, _)| name.as_str());
        if let (Some(name), Value::String(reference)) = (name, copy) {
            self.needed.push(name);
            reference.push_str(OPEN);
        }
    }
}
