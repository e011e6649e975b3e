//! Rewrites schemas of drafts 4 to 2019-09, and references of any kind, as plain draft 2020-12.
//!
//! Afterwards, all references are JSON pointers from the root, except for those to metaschemas, and
//! definitions are in `$defs`. Where a reference really is dynamic, because several resources have
//! its anchor, the references and identifiers of the schema stay as they are.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::ptr::from_ref;

use referencing::{Draft, Resolver, Retrieve, SPECIFICATIONS, Uri, UriRef};
use serde_json::{Map, Value};

use crate::keywords::{Keyword, KeywordValue};
use crate::pointer::{dotted, escape_fragment_token, escape_token, unescape_token};

/// The base of schemas without an absolute `$id`, as in `jsonschema`.
const BASE: &str = "json-schema:///";

/// A reference that leads to no schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnresolvedReference {
    /// The dotted path of the schema that has it. Empty for the root.
    pub path: String,
    /// The reference as it is written.
    pub reference: String,
    /// Why it leads to none.
    pub reason: UnresolvedReason,
}

/// Why a reference leads to no schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnresolvedReason {
    /// It is not a URI reference.
    Malformed,
    /// It leads to another document.
    Remote,
    /// Nothing is at the place that it leads to.
    Missing,
}

impl fmt::Display for UnresolvedReference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, reference, reason } = self;
        if !path.is_empty() {
            write!(f, "{path}: ")?;
        }
        write!(f, "the reference `{reference}` ")?;
        f.write_str(match reason {
            UnresolvedReason::Malformed => "is not a valid URI",
            UnresolvedReason::Remote => "leads to another document: copy that schema into `$defs`",
            UnresolvedReason::Missing => "leads nowhere",
        })
    }
}

/// A rewritten schema.
#[derive(Debug, Clone, PartialEq)]
pub struct Normalized {
    /// The schema in draft 2020-12, without `$schema`.
    pub schema: Value,
    /// The dotted paths of keywords that the declared draft ignores, and that are left out.
    pub ignored: Vec<String>,
}

/// Rewrites a schema as draft 2020-12. Its draft is the one in `$schema`; a schema without it may
/// use the notation of any draft.
///
/// # Errors
///
/// If references lead to another document or nowhere: all of them.
pub fn normalize(mut schema: Value) -> Result<Normalized, Vec<UnresolvedReference>> {
    let Value::Object(map) = &mut schema else {
        return Ok(Normalized { schema, ignored: Vec::new() });
    };
    let declared = map.shift_remove("$schema");
    let declared = declared.as_ref().and_then(Value::as_str).map(Draft::from_schema_uri);
    let dialect = Dialect(declared.filter(|draft| *draft != Draft::Unknown));
    let mut malformed = Vec::new();
    check_uris(&mut schema, "", dialect, &mut malformed);
    if !malformed.is_empty() {
        return Err(malformed);
    }
    let crawl = Crawl::of(&schema, dialect)?;
    let mut rewriter = Rewriter {
        dialect,
        crawl,
        places: HashMap::new(),
        references: Vec::new(),
        ignored: Vec::new(),
    };
    let written = rewriter.root(&schema);
    Ok(Normalized { schema: written, ignored: rewriter.ignored })
}

/// The draft that a schema declares. One that declares none is of the newest, and may also use
/// what only older drafts have.
#[derive(Clone, Copy)]
struct Dialect(Option<Draft>);

impl Dialect {
    fn draft(self) -> Draft {
        self.0.unwrap_or_default()
    }

    /// Whether the reference of a schema overrules what stands next to it.
    fn is_overruled(self, schema: &Map<String, Value>) -> bool {
        self.draft() <= Draft::Draft7 && schema.get("$ref").is_some_and(Value::is_string)
    }

    /// Whether a keyword has an effect where it stands.
    fn applies(self, keyword: Keyword, schema: &Map<String, Value>) -> bool {
        let is_known = self.0.is_none_or(|draft| draft.is_known_keyword(keyword.name()));
        keyword.is_annotation()
            || matches!(keyword, Keyword::Nullable | Keyword::Ref)
            || is_known && !self.is_overruled(schema)
    }
}

/// Finds references that are no URIs, and removes identifiers that are none: nothing can refer to
/// them.
fn check_uris(
    schema: &mut Value,
    place: &str,
    dialect: Dialect,
    malformed: &mut Vec<UnresolvedReference>,
) {
    let Value::Object(map) = schema else { return };
    let is_uri = |text: &str| text.starts_with('#') || UriRef::parse(text).is_ok();
    let id = dialect.draft().id_keyword();
    if map.get(id).and_then(Value::as_str).is_some_and(|id| !is_uri(id)) {
        map.shift_remove(id);
    }
    for (key, value) in map {
        let keyword = Keyword::of(key);
        if let Some(text) = value.as_str().filter(|text| is_reference(keyword) && !is_uri(text)) {
            malformed.push(UnresolvedReference {
                path: dotted(place).into_owned(),
                reference: text.to_owned(),
                reason: UnresolvedReason::Malformed,
            });
        }
        let steps: Vec<_> = subschemas(keyword, value).into_iter().map(|(step, _)| step).collect();
        for (step, inner) in steps.into_iter().zip(keyword.subschemas_mut(value)) {
            check_uris(inner, &(below(place, key) + &step), dialect, malformed);
        }
    }
}

/// Retrieves nothing. References to other documents are found when they are resolved.
struct Nothing;

impl Retrieve for Nothing {
    fn retrieve(&self, _: &Uri<String>) -> Result<Value, Box<dyn std::error::Error + Send + Sync>> {
        Ok(Value::Object(Map::new()))
    }
}

/// The schemas of a document and where their references lead. Schemas are identified by their
/// address.
#[derive(Default)]
struct Crawl<'s> {
    schemas: HashSet<*const Value>,
    /// What the references of schemas lead to, except for metaschemas.
    references: HashMap<*const Value, &'s Value>,
    /// What the references lead to.
    targets: HashSet<*const Value>,
    /// Whether references can lead to different schemas, depending on where one comes from.
    is_dynamic: bool,
}

impl<'s> Crawl<'s> {
    fn of(root: &'s Value, dialect: Dialect) -> Result<Self, Vec<UnresolvedReference>> {
        // References and identifiers are URIs, so it has nothing to refuse.
        let malformed = |error: referencing::Error| {
            let (path, reference) = (String::new(), error.to_string());
            vec![UnresolvedReference { path, reference, reason: UnresolvedReason::Malformed }]
        };
        let draft = dialect.draft();
        let registry = SPECIFICATIONS.add(BASE, draft.create_resource_ref(root));
        let registry = registry
            .and_then(|builder| builder.draft(draft).retriever(Nothing).prepare())
            .map_err(malformed)?;
        let base = referencing::uri::from_str(BASE).map_err(malformed)?;
        let mut crawl = Self::default();
        let everything = all_values(root);
        let mut dynamic_anchors = HashSet::new();
        let mut unresolved = Vec::new();
        let mut waiting = vec![(root, registry.resolver(base), String::new())];
        while let Some((schema, resolver, path)) = waiting.pop() {
            let Value::Object(map) = schema else { continue };
            if !crawl.schemas.insert(schema) {
                continue;
            }
            let resolver =
                resolver.in_subresource(draft.create_resource_ref(schema)).unwrap_or(resolver);
            let anchor = map.get("$dynamicAnchor").or_else(|| map.get("$recursiveAnchor"));
            crawl.is_dynamic |=
                anchor.is_some_and(|anchor| {
                    *anchor != false && !dynamic_anchors.insert(anchor.to_string())
                }) || map.keys().filter(|key| is_reference(Keyword::of(key))).count() > 1;
            for (key, value) in map {
                let keyword = Keyword::of(key);
                if !dialect.applies(keyword, map) {
                    continue;
                }
                for (step, inner) in subschemas(keyword, value) {
                    waiting.push((inner, resolver.clone(), below(&path, key) + &step));
                }
                let Some(reference) = value.as_str().filter(|_| is_reference(keyword)) else {
                    continue;
                };
                match lookup(&resolver, reference, &everything) {
                    Ok(Some((target, resolver))) => {
                        crawl.references.insert(schema, target);
                        crawl.targets.insert(target);
                        waiting.push((target, resolver, path.clone()));
                    }
                    Ok(None) => {}
                    Err(reason) => unresolved.push(UnresolvedReference {
                        path: dotted(&path).into_owned(),
                        reference: reference.to_owned(),
                        reason,
                    }),
                }
            }
        }
        unresolved.sort_by(|one, other| one.path.cmp(&other.path));
        if unresolved.is_empty() { Ok(crawl) } else { Err(unresolved) }
    }
}

/// All values of a document by address, because a reference may lead anywhere.
fn all_values(root: &Value) -> HashMap<*const Value, &Value> {
    let mut found = HashMap::new();
    let mut waiting = vec![root];
    while let Some(value) = waiting.pop() {
        found.insert(from_ref(value), value);
        match value {
            Value::Array(items) => waiting.extend(items),
            Value::Object(map) => waiting.extend(map.values()),
            _ => {}
        }
    }
    found
}

/// Resolves a reference: what it leads to, or `None` if that is a metaschema.
fn lookup<'s, 'r>(
    resolver: &Resolver<'r>,
    reference: &str,
    everything: &HashMap<*const Value, &'s Value>,
) -> Result<Option<(&'s Value, Resolver<'r>)>, UnresolvedReason> {
    let inside = |value: &Value| everything.get(&from_ref(value)).copied();
    let Ok(found) = resolver.lookup(reference) else {
        let (document, _) = reference.split_once('#').unwrap_or((reference, ""));
        let is_remote =
            resolver.lookup(document).is_ok_and(|found| inside(found.contents()).is_none());
        return Err(if is_remote { UnresolvedReason::Remote } else { UnresolvedReason::Missing });
    };
    let (contents, inner, _) = found.into_inner();
    if let Some(target) = inside(contents) {
        return Ok(Some((target, inner)));
    }
    let is_metaschema = SPECIFICATIONS.contains_resource(inner.base_uri().as_str());
    if is_metaschema { Ok(None) } else { Err(UnresolvedReason::Remote) }
}

fn is_reference(keyword: Keyword) -> bool {
    matches!(keyword, Keyword::Ref | Keyword::DynamicRef | Keyword::RecursiveRef)
}

/// The schemas in the value of a keyword, each with its pointer from there.
fn subschemas(keyword: Keyword, value: &Value) -> Vec<(String, &Value)> {
    use KeywordValue as V;
    match (keyword.value(), value) {
        (V::Schema | V::SchemaOrList, Value::Object(_) | Value::Bool(_)) => {
            vec![(String::new(), value)]
        }
        (V::SchemaList | V::SchemaOrList, Value::Array(items)) => {
            items.iter().enumerate().map(|(at, item)| (format!("/{at}"), item)).collect()
        }
        (V::SchemaMap | V::SchemaOrNamesMap, Value::Object(map)) => {
            let schemas = map.iter().filter(|(_, value)| !value.is_array());
            schemas.map(|(key, value)| (format!("/{}", escape_token(key)), value)).collect()
        }
        _ => Vec::new(),
    }
}

/// Writes a document anew.
struct Rewriter<'s> {
    dialect: Dialect,
    crawl: Crawl<'s>,
    /// The pointers to the written schemas that references lead to.
    places: HashMap<*const Value, String>,
    /// The written references: the pointer to the schema that has one, and where it leads.
    references: Vec<(String, &'s Value)>,
    ignored: Vec<String>,
}

impl<'s> Rewriter<'s> {
    fn root(&mut self, root: &'s Value) -> Value {
        let mut written = self.schema(root, "");
        let mut done = 0;
        while let Some((holder, target)) = self.references.get(done).cloned() {
            done += 1;
            if !self.places.contains_key(&from_ref(target)) {
                self.define(&mut written, target);
            }
            let place = self.places.get(&from_ref(target)).map_or("", String::as_str);
            if let Some(Value::Object(map)) = written.pointer_mut(&holder) {
                map.insert("$ref".to_owned(), Value::String(fragment(place)));
            }
        }
        written
    }

    /// Adds a definition for a schema that was in a keyword that is left out.
    fn define(&mut self, root: &mut Value, schema: &'s Value) {
        let Value::Object(map) = root else { return };
        let definitions = map.entry("$defs").or_insert_with(|| Value::Object(Map::new()));
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
                    let known = map.get("$defs").and_then(Value::as_object);
                    self.definitions(value, known, place, &mut written);
                }
                Keyword::Items if value.is_array() && !map.contains_key("prefixItems") => {
                    self.keyword(Keyword::PrefixItems, value, place, &mut written);
                }
                Keyword::AdditionalItems => {
                    if map.get("items").is_some_and(Value::is_array) {
                        self.keyword(Keyword::Items, value, place, &mut written);
                    }
                }
                Keyword::Dependencies => self.dependencies(value, place, &mut written),
                Keyword::ExclusiveMinimum | Keyword::ExclusiveMaximum if value.is_boolean() => {
                    let bound = map.get(inclusive(keyword)).filter(|_| *value == true);
                    written.extend(bound.map(|bound| (key.clone(), bound.clone())));
                }
                Keyword::Minimum if map.get("exclusiveMinimum") == Some(&Value::Bool(true)) => {}
                Keyword::Maximum if map.get("exclusiveMaximum") == Some(&Value::Bool(true)) => {}
                Keyword::Unknown => {
                    let value = self.value(value, &below(place, key));
                    written.insert(key.clone(), value);
                }
                keyword => self.keyword(keyword, value, place, &mut written),
            }
        }
        Value::Object(written)
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
                ("$ref", value.clone())
            }
            Some(target) if key == "$recursiveRef" => {
                let is_dynamic = target.get("$recursiveAnchor") == Some(&Value::Bool(true));
                if is_dynamic { ("$dynamicRef", "#recursive".into()) } else { ("$ref", "#".into()) }
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
                written.insert("$dynamicAnchor".to_owned(), "recursive".into());
            }
        } else if self.crawl.is_dynamic {
            written.insert(key.to_owned(), value.clone());
        } else if place.is_empty() && key == self.dialect.draft().id_keyword() {
            // Its fragment is an anchor.
            let id = value.as_str().and_then(|id| id.split('#').next());
            let id = id.filter(|id| !id.is_empty());
            written.extend(id.map(|id| ("$id".to_owned(), id.into())));
        }
    }

    /// Writes `definitions` as `$defs`, where `known` stands beside it.
    fn definitions(
        &mut self,
        value: &'s Value,
        known: Option<&Map<String, Value>>,
        place: &str,
        written: &mut Map<String, Value>,
    ) {
        let place = below(place, "$defs");
        let definitions = value.as_object().into_iter().flatten();
        let definitions: Map<_, _> = definitions
            .map(|(name, schema)| {
                let is_taken = |name: &str| known.is_some_and(|known| known.contains_key(name));
                let name = free_name(name, is_taken);
                let schema = self.schema(schema, &below(&place, &name));
                (name, schema)
            })
            .collect();
        merge(written, Keyword::Defs, Value::Object(definitions));
    }

    /// Writes `dependencies` as `dependentRequired` and `dependentSchemas`.
    fn dependencies(&mut self, value: &'s Value, place: &str, written: &mut Map<String, Value>) {
        let place = below(place, Keyword::DependentSchemas.name());
        let (mut names, mut schemas) = (Map::new(), Map::new());
        for (key, value) in value.as_object().into_iter().flatten() {
            if value.is_array() {
                names.insert(key.clone(), value.clone());
            } else {
                schemas.insert(key.clone(), self.schema(value, &below(&place, key)));
            }
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
    matches!(key, "$id" | "$anchor" | "$dynamicAnchor" | "$recursiveAnchor")
        || key == draft.id_keyword()
}

/// The keyword that draft 4 makes exclusive with `true`.
fn inclusive(exclusive: Keyword) -> &'static str {
    if exclusive == Keyword::ExclusiveMinimum { "minimum" } else { "maximum" }
}

/// The pointer with one more token.
fn below(pointer: &str, key: &str) -> String {
    format!("{pointer}/{}", escape_token(key))
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn normalized(schema: Value) -> Value {
        normalize(schema).unwrap().schema
    }

    fn unresolved(schema: Value) -> Vec<String> {
        let errors = normalize(schema).unwrap_err();
        errors.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_schema_of_the_newest_draft_stays_as_it_is() {
        let schema = json!({
            "$id": "https://example.com/a",
            "type": "object",
            "properties": {
                "id": {"type": "string"},
                "a": {"$ref": "#/$defs/Foo<Bar>", "description": "A"},
                "b": {"$ref": "#/$defs/Foo Bar", "minLength": 3},
                "c": {"$ref": "#/properties/a"},
                "d": {"$ref": "#"}
            },
            "$defs": {"Foo<Bar>": {"type": "integer"}, "Foo Bar": {"type": "string"}}
        });
        let mut expected = schema.clone();
        expected["properties"]["a"]["$ref"] = "#/$defs/Foo%3CBar%3E".into();
        expected["properties"]["b"]["$ref"] = "#/$defs/Foo%20Bar".into();
        assert_eq!(normalized(schema), expected);
    }

    #[test]
    fn older_notation_becomes_that_of_the_newest_draft() {
        let schema = json!({
            "$schema": "http://json-schema.org/draft-04/schema#",
            "id": "http://example.com/root#",
            "properties": {
                "pair": {
                    "type": "array",
                    "items": [{"$ref": "#/definitions/n"}, {"type": "string"}],
                    "additionalItems": false
                },
                "first": {"$ref": "#/properties/pair/items/0"},
                "list": {"items": {"type": "string"}, "additionalItems": false}
            },
            "dependencies": {"pair": ["first"], "list": {"required": ["pair"]}},
            "definitions": {
                "n": {"minimum": 0, "exclusiveMinimum": true, "maximum": 9, "exclusiveMaximum": false}
            }
        });
        let expected = json!({
            "$id": "http://example.com/root",
            "properties": {
                "pair": {
                    "type": "array",
                    "prefixItems": [{"$ref": "#/$defs/n"}, {"type": "string"}],
                    "items": false
                },
                "first": {"$ref": "#/properties/pair/prefixItems/0"},
                "list": {"items": {"type": "string"}}
            },
            "dependentRequired": {"pair": ["first"]},
            "dependentSchemas": {"list": {"required": ["pair"]}},
            "$defs": {"n": {"exclusiveMinimum": 0, "maximum": 9}}
        });
        assert_eq!(normalized(schema), expected);
    }

    #[test]
    fn identifiers_and_anchors_become_pointers() {
        let schema = json!({
            "$id": "http://example.com/root/",
            "properties": {
                "a": {"$ref": "item"},
                "b": {"$ref": "http://example.com/root/item#/properties/x"},
                "c": {"$ref": "#here"},
                "d": {"$ref": "item#inner"},
                "e": {"$dynamicRef": "#node"}
            },
            "$defs": {
                "item": {
                    "$id": "item",
                    "properties": {"x": {"$anchor": "inner"}, "self": {"$ref": "#"}}
                },
                "here/there": {"$anchor": "here", "type": "string"},
                "node": {"$dynamicAnchor": "node", "items": {"$dynamicRef": "#node"}}
            }
        });
        let expected = json!({
            "$id": "http://example.com/root/",
            "properties": {
                "a": {"$ref": "#/$defs/item"},
                "b": {"$ref": "#/$defs/item/properties/x"},
                "c": {"$ref": "#/$defs/here~1there"},
                "d": {"$ref": "#/$defs/item/properties/x"},
                "e": {"$ref": "#/$defs/node"}
            },
            "$defs": {
                "item": {
                    "properties": {"x": {}, "self": {"$ref": "#/$defs/item"}}
                },
                "here/there": {"type": "string"},
                "node": {"items": {"$ref": "#/$defs/node"}}
            }
        });
        assert_eq!(normalized(schema), expected);
    }

    #[test]
    fn what_a_draft_ignores_is_left_out() {
        let schema = json!({
            "$schema": "http://json-schema.org/draft-07/schema#",
            "$ref": "#/definitions/a",
            "$id": "ignored",
            "type": "string",
            "description": "Kept",
            "definitions": {
                "a": {"properties": {"b": {"$ref": "#/properties/x"}}, "dependentRequired": {}}
            },
            "properties": {"x": {"type": "null"}}
        });
        let Normalized { schema, ignored } = normalize(schema).unwrap();
        let expected = json!({
            "$ref": "#/$defs/a",
            "description": "Kept",
            "$defs": {
                "a": {"properties": {"b": {"$ref": "#/$defs/moved"}}},
                "moved": {"type": "null"}
            }
        });
        assert_eq!(schema, expected);
        assert_eq!(ignored, ["type", "$defs.a.dependentRequired", "properties"]);
    }

    #[test]
    fn references_may_lead_to_any_place_and_to_metaschemas() {
        let schema = json!({
            "$schema": "http://json-schema.org/draft-06/schema#",
            "properties": {
                "a": {"$ref": "#/shared/a"},
                "m": {"$ref": "http://json-schema.org/draft-06/schema#"},
                "n": {"$ref": "http://json-schema.org/draft-07/schema#/definitions/nonNegativeInteger"}
            },
            "shared": {"a": {"items": [true], "examples": [{"$ref": "#/nowhere"}]}},
            "definitions": {"d": {}},
            "$defs": {"d": {}}
        });
        let expected = json!({
            "properties": {
                "a": {"$ref": "#/shared/a"},
                "m": {"$ref": "http://json-schema.org/draft-06/schema#"},
                "n": {"$ref": "http://json-schema.org/draft-07/schema#/definitions/nonNegativeInteger"}
            },
            "shared": {"a": {"prefixItems": [true], "examples": [{"$ref": "#/nowhere"}]}},
            "$defs": {"d_2": {}, "d": {}}
        });
        assert_eq!(normalized(schema), expected);
    }

    #[test]
    fn really_dynamic_references_stay() {
        let schema = json!({
            "$schema": "https://json-schema.org/draft/2019-09/schema",
            "$id": "http://example.com/tree",
            "$recursiveAnchor": true,
            "properties": {"children": {"items": {"$recursiveRef": "#"}}},
            "$defs": {"strict": {
                "$id": "strict",
                "$recursiveAnchor": true,
                "$ref": "tree",
                "unevaluatedProperties": false
            }}
        });
        let expected = json!({
            "$id": "http://example.com/tree",
            "$dynamicAnchor": "recursive",
            "properties": {"children": {"items": {"$dynamicRef": "#recursive"}}},
            "$defs": {"strict": {
                "$id": "strict",
                "$dynamicAnchor": "recursive",
                "$ref": "tree",
                "unevaluatedProperties": false
            }}
        });
        assert_eq!(normalized(schema), expected);
        let alone = json!({"$recursiveAnchor": true, "items": {"$recursiveRef": "#"}});
        assert_eq!(normalized(alone), json!({"items": {"$ref": "#"}}));
    }

    #[test]
    fn references_that_lead_nowhere_are_errors() {
        let schema = json!({
            "properties": {
                "a": {"$ref": "#/$defs/x"},
                "b": {"items": {"$ref": "other.json#/y"}},
                "c": {"$ref": "#anchor"},
                "d": {"$ref": "https://example.com/#/x"}
            }
        });
        let found = unresolved(schema);
        let expected = [
            "properties.a: the reference `#/$defs/x` leads nowhere",
            "properties.b.items: the reference `other.json#/y` leads to another document: copy \
             that schema into `$defs`",
            "properties.c: the reference `#anchor` leads nowhere",
            "properties.d: the reference `https://example.com/#/x` leads to another document: copy \
             that schema into `$defs`",
        ];
        assert_eq!(found, expected);
        let schema = json!({
            "$id": "no {id}",
            "items": {"$ref": "https://example.com/{no uri}"},
            "const": {"$ref": "#/nowhere"}
        });
        let expected = "items: the reference `https://example.com/{no uri}` is not a valid URI";
        assert_eq!(unresolved(schema), [expected]);
    }

    #[test]
    fn values_that_are_no_schemas_stay() {
        for schema in [json!(true), json!(3), json!({"properties": [1], "$ref": 3, "items": 4})] {
            assert_eq!(normalized(schema.clone()), schema);
        }
    }
}
