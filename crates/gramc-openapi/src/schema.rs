//! Rewrites the schemas of API descriptions as JSON Schema that gram can say.
//!
//! The documents that are found in practice break the rules of their format in many ways. Where the
//! meaning of a schema is clear, it is rewritten; what cannot be said is noted.

mod exact;
mod keywords;
mod merge;
mod names;
mod types;
mod unions;
mod values;
mod variants;

use std::collections::{HashMap, HashSet};

use gramc_json_schema::keywords::name as k;
use gramc_json_schema::text::MAX_SCHEMA_LEVELS;
use serde_json::{Map, Value, json};

use crate::document::{Document, MAX_CHAIN, Target};
use crate::notes::Notes;
use merge::Merged;
use names::DefinitionNames;
pub(crate) use unions::MAX_DISTRIBUTED;
pub(crate) use values::clean;

/// The most schemas that are rewritten.
const MAX_SCHEMAS: usize = 3_000_000;

/// The most schemas in one that the document lists, with all that is merged into it.
const MAX_IN_ONE: usize = 50_000;

/// The direction in which a value is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Direction {
    /// To the server, which sets what is `readOnly` itself.
    Request,
    /// From the server, which keeps what is `writeOnly`.
    Response,
}

/// Rewrites schemas, and collects the definitions that they refer to.
pub(crate) struct Lowerer<'d> {
    document: &'d Document<'d>,
    pub(crate) notes: Notes,
    /// The rewritten definitions, by name.
    pub(crate) definitions: Map<String, Value>,
    /// The place that notes are about.
    pub(crate) place: String,
    pub(crate) direction: Direction,
    names: DefinitionNames,
    /// The pointers of the schemas that differ between requests and responses.
    variants: HashSet<String>,
    /// The names of definitions in a direction. `None` is for both.
    known: HashMap<(String, Option<Direction>), String>,
    queue: Vec<Queued<'d>>,
    /// The pointers of the schemas that are merged into those around the current one.
    merging: Vec<String>,
    depth: usize,
    count: usize,
    count_in_one: usize,
}

/// A definition that is not rewritten yet.
struct Queued<'d> {
    name: String,
    pointer: String,
    schema: &'d Value,
    direction: Direction,
}

impl<'d> Lowerer<'d> {
    pub(crate) fn new(document: &'d Document<'d>, notes: Notes) -> Self {
        Self {
            document,
            notes,
            definitions: Map::new(),
            place: String::new(),
            direction: Direction::Request,
            names: DefinitionNames::new(document.root),
            variants: variants::find(document),
            known: HashMap::new(),
            queue: Vec::new(),
            merging: Vec::new(),
            depth: 0,
            count: 0,
            count_in_one: 0,
        }
    }

    /// Rewrites a schema and all that it refers to.
    pub(crate) fn schema(&mut self, schema: &Value, direction: Direction) -> Value {
        self.direction = direction;
        self.count_in_one = 0;
        let lowered = self.lower(schema);
        let place = self.place.clone();
        while let Some(queued) = self.queue.pop() {
            self.direction = queued.direction;
            self.count_in_one = 0;
            self.place = format!("#{}", queued.pointer);
            let mut lowered = self.lower(queued.schema);
            if let Value::Object(map) = &mut lowered {
                keywords::drop_title(map, &queued.name);
            }
            self.definitions.insert(queued.name, lowered);
        }
        self.place = place;
        lowered
    }

    /// A rewritten schema, or the definition that it refers to.
    pub(crate) fn resolved<'s>(&'s self, lowered: &'s Value) -> &'s Value {
        let target = lowered.get(k::REF).and_then(Value::as_str);
        let name = target.and_then(|target| target.strip_prefix("#/$defs/"));
        name.and_then(|name| self.definitions.get(name)).unwrap_or(lowered)
    }

    /// Adds examples to a rewritten schema.
    pub(crate) fn add_examples(&mut self, schema: &mut Map<String, Value>, examples: &[&Value]) {
        if !examples.is_empty() && !schema.contains_key(k::EXAMPLES) {
            let ty = types::read_types(schema).types;
            let only = ty.first().copied().filter(|_| ty.len() == 1);
            self.examples(examples.iter().copied(), schema, only);
        }
    }

    fn lower(&mut self, schema: &Value) -> Value {
        self.count += 1;
        self.count_in_one += 1;
        let is_too_long = self.count > MAX_SCHEMAS || self.count_in_one > MAX_IN_ONE;
        if self.depth >= MAX_SCHEMA_LEVELS || is_too_long {
            self.note("a schema is too large, so any value is allowed");
            return json!({});
        }
        self.depth += 1;
        let lowered = match schema {
            Value::Object(map) => self.object(map),
            Value::Bool(false) => json!({"not": {}}),
            Value::String(name) => {
                self.object(&Map::from_iter([(k::TYPE.to_owned(), name.clone().into())]))
            }
            Value::Bool(true) | Value::Null => json!({}),
            _ => {
                self.note("a schema is not an object, so any value is allowed");
                json!({})
            }
        };
        self.depth -= 1;
        lowered
    }

    /// Notes what is left out or changed at the current place.
    pub(crate) fn note(&mut self, what: &str) {
        self.notes.add(what, &self.place);
    }

    fn object(&mut self, map: &Map<String, Value>) -> Value {
        if let Some(reference) = map.get(k::REF).and_then(Value::as_str)
            && !merge::has_constraints(map)
        {
            return self.reference(reference, map);
        }
        if let Some(lowered) = self.single_part(map) {
            return lowered;
        }
        let mut merged = Merged::default();
        self.flatten(map, &mut merged);
        if let Some(reference) = merged.enclosing.take() {
            // Merging it would go on without an end.
            self.note("keywords next to a reference to an enclosing schema are left out");
            return self.reference(&reference, map);
        }
        let depth = self.merging.len();
        self.merging.append(&mut merged.pointers);
        let lowered = self.finish(merged);
        self.merging.truncate(depth);
        lowered
    }

    /// A schema that only annotates one other schema.
    fn single_part(&mut self, map: &Map<String, Value>) -> Option<Value> {
        let key =
            [k::ALL_OF, k::ANY_OF, k::ONE_OF].into_iter().find(|key| map.contains_key(*key))?;
        let parts = map.get(key)?.as_array()?;
        let is_something = |part: &&Value| part.as_object().is_none_or(|part| !part.is_empty());
        let mut parts = parts.iter().filter(is_something);
        let (part, None) = (parts.next()?.as_object()?, parts.next()) else { return None };
        let mut rest = map.clone();
        rest.shift_remove(key);
        let is_bare = part.get(k::REF).is_some_and(Value::is_string) && part.len() == 1;
        if !is_bare || merge::has_constraints(&rest) {
            return None;
        }
        let reference = part.get(k::REF).and_then(Value::as_str)?;
        Some(self.reference(reference, &rest))
    }

    /// A reference with the annotations next to it.
    fn reference(&mut self, reference: &str, annotations: &Map<String, Value>) -> Value {
        let Some((pointer, target)) = self.resolve(reference) else { return json!({}) };
        let name = self.define(pointer, target);
        let reference = json!({"$ref": format!("#/$defs/{name}")});
        let is_nullable = types::is_nullable(annotations);
        let mut out = match reference {
            Value::Object(reference) if !is_nullable => reference,
            reference => {
                Map::from_iter([(k::ANY_OF.to_owned(), json!([reference, {"type": "null"}]))])
            }
        };
        self.annotate(annotations, &mut out, None);
        Value::Object(out)
    }

    /// Where a reference leads at last.
    fn resolve(&mut self, reference: &str) -> Option<(String, &'d Value)> {
        let mut reference = reference.to_owned();
        for _ in 0..MAX_CHAIN {
            match self.document.target(&reference) {
                Target::Here(pointer, target) => {
                    let next = target.as_object().filter(|map| !merge::has_constraints(map));
                    match next.and_then(|map| map.get(k::REF)).and_then(Value::as_str) {
                        Some(next) => next.clone_into(&mut reference),
                        None => return Some((pointer, target)),
                    }
                }
                Target::Remote => {
                    self.document.remote(&reference, &self.place);
                    return None;
                }
                Target::Missing => {
                    self.note(&format!(
                        "the reference `{reference}` leads nowhere, so any value is allowed"
                    ));
                    return None;
                }
            }
        }
        self.note(&format!("the reference `{reference}` leads in a circle"));
        None
    }

    /// The name of the definition at a pointer.
    fn define(&mut self, pointer: String, schema: &'d Value) -> String {
        let direction = self.variants.contains(&pointer).then_some(self.direction);
        let key = (pointer, direction);
        if let Some(name) = self.known.get(&key) {
            return name.clone();
        }
        let base = self.names.of(&key.0);
        let name = if direction == Some(Direction::Request) {
            self.names.variant(&base, "Input")
        } else {
            base
        };
        self.known.insert(key.clone(), name.clone());
        let direction = self.direction;
        self.queue.push(Queued { name: name.clone(), pointer: key.0, schema, direction });
        name
    }
}

#[cfg(test)]
mod tests;
