//! Writes JSON Schemas as TypeScript types.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

use gramc_json_schema::keywords::Keyword as K;
use serde_json::{Map, Value};

use super::defs::{Declared, definition_name};
use super::text::{self, group, list, literals};
use crate::lower::{constraint_sentence, endless_references, reference_target};

/// The maximum depth of indentation. Deeper types are `unknown`.
const MAX_DEPTH: usize = 40;

/// The maximum number of types within each other, with those that need no indentation.
const MAX_NESTING: usize = 100;

/// Keywords that the types express.
const EXPRESSED: [K; 16] = [
    K::Type,
    K::Enum,
    K::Const,
    K::Properties,
    K::Required,
    K::Items,
    K::PrefixItems,
    K::AnyOf,
    K::OneOf,
    K::AllOf,
    K::Ref,
    K::Defs,
    K::Definitions,
    K::Description,
    K::Nullable,
    K::AdditionalProperties,
];

/// A type, and what it does not express.
#[derive(Default)]
pub(super) struct Written {
    pub(super) text: String,
    pub(super) notes: String,
}

impl Written {
    fn new(text: &str) -> Self {
        Self { text: text.to_owned(), notes: String::new() }
    }
}

/// Writes the types of one schema.
pub(super) struct TypeWriter<'w> {
    declared: &'w mut Declared,
    root: &'w Value,
    endless: HashSet<String>,
    /// The identifiers of the types that references lead to.
    identifiers: HashMap<String, String>,
    waiting: Vec<(String, String)>,
    /// How many types are in progress.
    nesting: usize,
}

impl<'w> TypeWriter<'w> {
    pub(super) fn new(declared: &'w mut Declared, root: &'w Value) -> Self {
        let mut identifiers = HashMap::new();
        let mut waiting = Vec::new();
        for key in ["$defs", "definitions"] {
            let Some(Value::Object(definitions)) = root.get(key) else { continue };
            let (names, new) = declared.of_schema(definitions);
            for name in new {
                if let Some(identifier) = names.get(&name) {
                    waiting.push((format!("#/{key}/{}", escape(&name)), identifier.clone()));
                }
            }
            for (name, identifier) in names {
                identifiers.insert(format!("#/{key}/{}", escape(&name)), identifier);
            }
        }
        let endless = endless_references(root);
        Self { declared, root, endless, identifiers, waiting, nesting: 0 }
    }

    /// The type of the root. Declares all types that it refers to.
    pub(super) fn root(&mut self, schema: &Value, depth: usize) -> Written {
        let written = self.schema(schema, depth);
        let mut done = HashSet::new();
        // Definitions that nothing refers to are declared, too, as other schemas may share them.
        let mut next = 0;
        while let Some((to, identifier)) = self.waiting.get(next).cloned() {
            next += 1;
            if !done.insert(identifier.clone()) {
                continue;
            }
            let found = reference_target(self.root, &to).cloned().unwrap_or_default();
            let own = if self.endless.contains(&to) {
                Written::new("unknown")
            } else {
                self.schema(&found, 0)
            };
            self.declared.add(&identifier, &describe(&found, &own.notes), &own.text);
        }
        written
    }

    /// The type of a schema at a depth of indentation.
    fn schema(&mut self, schema: &Value, depth: usize) -> Written {
        self.nesting += 1;
        let written = match schema {
            Value::Object(map) if depth <= MAX_DEPTH && self.nesting <= MAX_NESTING => {
                self.compose(map, depth)
            }
            _ => Written::new(if *schema == Value::Bool(false) { "never" } else { "unknown" }),
        };
        self.nesting -= 1;
        written
    }

    /// The type of a schema with keywords.
    fn compose(&mut self, map: &Map<String, Value>, depth: usize) -> Written {
        let mut parts = Vec::new();
        let mut inner_notes = Vec::new();
        if let Some(Value::String(to)) = map.get("$ref")
            && let Some(name) = self.reference(to)
        {
            parts.push(name);
        }
        for key in ["anyOf", "oneOf"] {
            if let Some(Value::Array(members)) = map.get(key) {
                parts.extend(self.union(members, depth));
            }
        }
        if let Some(Value::Array(members)) = map.get("allOf") {
            for member in members {
                let member = self.schema(member, depth);
                parts.extend((member.text != "unknown").then_some(member.text));
                inner_notes.push(member.notes);
            }
        }
        match self.own_type(map, depth, &mut inner_notes) {
            // A union or a reference says more than the bare type next to it.
            Some(own) if parts.is_empty() || map.contains_key("properties") => parts.push(own),
            _ => {}
        }
        let mut notes = self.notes(map);
        for note in inner_notes.iter().filter(|note| !note.is_empty()) {
            text::sentence(&mut notes, note);
        }
        let text = match parts.len() {
            0 => "unknown".to_owned(),
            1 => parts.remove(0),
            _ => parts.iter().map(|part| group(part)).collect::<Vec<_>>().join(" & "),
        };
        Written { text, notes }
    }

    /// The identifier of what a reference leads to.
    fn reference(&mut self, to: &str) -> Option<String> {
        if self.endless.contains(to) {
            return None;
        }
        if let Some(known) = self.identifiers.get(to) {
            return Some(known.clone());
        }
        if let Some(name) = definition_name(to) {
            for key in ["$defs", "definitions"] {
                let plain = format!("#/{key}/{}", escape(&name));
                if let Some(known) = self.identifiers.get(&plain) {
                    return Some(known.clone());
                }
            }
        }
        reference_target(self.root, to)?;
        let last = to.rsplit('/').next().unwrap_or_default();
        let name = if last == "#" { "Arguments" } else { last };
        let identifier = self.declared.identifier(name);
        self.identifiers.insert(to.to_owned(), identifier.clone());
        self.waiting.push((to.to_owned(), identifier.clone()));
        Some(identifier)
    }

    /// A union. `None` if it says nothing about types.
    fn union(&mut self, members: &[Value], depth: usize) -> Option<String> {
        let mut texts: Vec<String> = Vec::new();
        for member in members {
            let mut written = self.schema(member, depth);
            if written.text == "unknown" {
                // TypeScript would reduce the union to `unknown`.
                return None;
            }
            let doc = describe(member, &written.notes);
            if !doc.is_empty() {
                let doc = doc.replace('\n', " ").replace("*/", "*\\/");
                written.text = format!("/** {doc} */ {}", group(&written.text));
            }
            if !texts.contains(&written.text) {
                texts.push(written.text);
            }
        }
        (!texts.is_empty()).then(|| texts.join(" | "))
    }

    /// The type that a schema's own keywords express. `None` if it is any.
    fn own_type(
        &mut self,
        map: &Map<String, Value>,
        depth: usize,
        notes: &mut Vec<String>,
    ) -> Option<String> {
        if let Some(value) = map.get("const") {
            return Some(value.to_string());
        }
        if let Some(Value::Array(values)) = map.get("enum") {
            return Some(literals(values));
        }
        let names: Vec<&str> = match map.get("type") {
            Some(Value::String(name)) => vec![name],
            Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
            _ if map.contains_key("properties") => vec!["object"],
            _ if map.contains_key("items") || map.contains_key("prefixItems") => vec!["array"],
            _ => return None,
        };
        let mut texts: Vec<String> = Vec::new();
        for name in names {
            let text = match name {
                "integer" | "number" => "number".to_owned(),
                "object" => self.object(map, depth, notes),
                "array" => self.array(map, depth, notes),
                "string" | "boolean" | "null" => name.to_owned(),
                _ => "unknown".to_owned(),
            };
            if !texts.contains(&text) {
                texts.push(text);
            }
        }
        Some(texts.join(" | "))
    }

    fn object(
        &mut self,
        map: &Map<String, Value>,
        depth: usize,
        notes: &mut Vec<String>,
    ) -> String {
        let none = Map::new();
        let properties = map.get("properties").and_then(Value::as_object).unwrap_or(&none);
        let required: HashSet<&str> = match map.get("required") {
            Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
            _ => HashSet::new(),
        };
        let index = match map.get("additionalProperties") {
            Some(schema @ Value::Object(_)) => {
                let others = self.schema(schema, depth);
                if !others.notes.is_empty() || !description(schema).is_empty() {
                    let mut note = "Each value: ".to_owned();
                    note.push_str(description(schema));
                    text::sentence(&mut note, &others.notes);
                    notes.push(note);
                }
                // The type of an index signature would have to be that of all properties.
                let fits = properties.is_empty();
                Some(if fits { others.text } else { "unknown".to_owned() })
            }
            Some(Value::Bool(true)) => Some("unknown".to_owned()),
            None if properties.is_empty() => Some("unknown".to_owned()),
            _ => None,
        };
        let missing: Vec<&str> =
            required.iter().copied().filter(|name| !properties.contains_key(*name)).collect();
        if !missing.is_empty() {
            let mut missing: Vec<String> = missing.iter().map(|name| format!("`{name}`")).collect();
            missing.sort();
            notes.push(format!("Also needed: {}.", missing.join(", ")));
        }
        let mut lines = String::new();
        let mut plain = Vec::new();
        let mut commented = false;
        for (name, schema) in properties {
            let written = self.schema(schema, depth + 1);
            let doc = describe(schema, &written.notes);
            commented |= !doc.is_empty() || written.text.contains('\n');
            text::comment(&mut lines, &doc, depth + 1);
            let mark = if required.contains(name.as_str()) { "" } else { "?" };
            let line = format!("{}{mark}: {}", text::key(name), written.text);
            text::indent(&mut lines, depth + 1);
            // Writing to a string does not fail.
            let _ = writeln!(lines, "{line};");
            plain.push(line);
        }
        if let Some(index) = index {
            let line = format!("[key: string]: {index}");
            commented |= index.contains('\n');
            text::indent(&mut lines, depth + 1);
            let _ = writeln!(lines, "{line};");
            plain.push(line);
        }
        if plain.is_empty() {
            return "{}".to_owned();
        }
        if !commented && plain.iter().map(String::len).sum::<usize>() < 80 {
            return format!("{{ {} }}", plain.join("; "));
        }
        let mut end = String::new();
        text::indent(&mut end, depth);
        format!("{{\n{lines}{end}}}")
    }

    fn array(&mut self, map: &Map<String, Value>, depth: usize, notes: &mut Vec<String>) -> String {
        let any = Value::Bool(true);
        let items = map.get("items").unwrap_or(&any);
        if let Some(Value::Array(first)) = map.get("prefixItems") {
            let least = map.get("minItems").and_then(Value::as_u64).unwrap_or_default();
            let mut texts: Vec<String> = Vec::new();
            for (at, item) in first.iter().enumerate() {
                let mark = if (at as u64) < least { "" } else { "?" };
                texts.push(format!("{}{mark}", group(&self.schema(item, depth).text)));
            }
            if *items != Value::Bool(false) {
                texts.push(format!("...{}", list(&self.schema(items, depth).text)));
            }
            return format!("[{}]", texts.join(", "));
        }
        let item = self.schema(items, depth);
        let doc = describe(items, &item.notes);
        if !doc.is_empty() {
            notes.push(format!("Each item: {doc}"));
        }
        list(&item.text)
    }

    /// What the types do not express.
    fn notes(&self, map: &Map<String, Value>) -> String {
        let mut notes = Vec::new();
        let is_integer = match map.get("type") {
            Some(Value::Array(names)) => names.iter().any(|name| name == "integer"),
            name => name.is_some_and(|name| name == "integer"),
        };
        let fixed = map.contains_key("enum") || map.contains_key("const");
        let range = range(map);
        if is_integer && !fixed {
            notes.push(match &range {
                Some(range) => format!("Integer, {range}."),
                None => "Integer.".to_owned(),
            });
        } else {
            notes.extend(range.as_ref().map(|range| format!("{range}.")));
        }
        for (key, value) in map {
            let keyword = K::of(key);
            let in_range = range.is_some() && matches!(keyword, K::Minimum | K::Maximum);
            let counted = keyword == K::MinItems && map.contains_key("prefixItems");
            if !EXPRESSED.contains(&keyword) && !in_range && !counted && !keyword.is_bookkeeping() {
                notes.extend(constraint_sentence(keyword, value, self.root));
            }
        }
        notes.join(" ")
    }
}

/// `minimum` and `maximum` as a range.
fn range(map: &Map<String, Value>) -> Option<String> {
    let [low, high] = ["minimum", "maximum"].map(|key| map.get(key).filter(|it| it.is_number()));
    Some(format!("{} to {}", low?, high?))
}

fn description(schema: &Value) -> &str {
    schema.get("description").and_then(Value::as_str).unwrap_or_default()
}

/// A description with notes.
fn describe(schema: &Value, notes: &str) -> String {
    let mut doc = description(schema).trim().to_owned();
    if !notes.is_empty() {
        text::sentence(&mut doc, notes);
    }
    doc
}

fn escape(name: &str) -> String {
    gramc_json_schema::pointer::escape_fragment_token(name).into_owned()
}
