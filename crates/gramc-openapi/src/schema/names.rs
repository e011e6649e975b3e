//! Names of types, from the names and places of schemas.

use std::collections::{HashMap, HashSet};

use gramc_check::is_type_name;
use gramc_json_schema::keywords::name as k;
use gramc_json_schema::pointer::{escape_token, unescape_token};
use serde_json::Value;

use crate::names::free_name;

/// The names of the schemas of a document, by their pointers.
#[derive(Debug, Default)]
pub(super) struct DefinitionNames {
    names: HashMap<String, String>,
    taken: HashSet<String>,
}

impl DefinitionNames {
    /// Names all schemas that the document lists, in its order, so that the names do not depend on
    /// the operations.
    pub(super) fn new(root: &Value) -> Self {
        let mut names = Self::default();
        for folder in ["/components/schemas", "/definitions", "/schemas"] {
            let Some(schemas) = root.pointer(folder).and_then(Value::as_object) else { continue };
            // Of `io.k8s.api.core.v1.Pod`, the last part is enough where it is unique.
            let mut counts: HashMap<&str, usize> = HashMap::new();
            for name in schemas.keys() {
                *counts.entry(last_part(name)).or_default() += 1;
            }
            for name in schemas.keys() {
                let last = last_part(name);
                let short = if counts.get(last) == Some(&1) { last } else { name };
                let pointer = if folder == "/schemas" {
                    format!("{folder}/{name}")
                } else {
                    format!("{folder}/{}", escape_token(name))
                };
                names.assign(&pointer, short, name);
            }
        }
        names
    }

    /// The name of the schema at a pointer.
    pub(super) fn of(&mut self, pointer: &str) -> String {
        if let Some(name) = self.names.get(pointer) {
            return name.clone();
        }
        let tokens: Vec<_> = pointer.split('/').map(unescape_token).collect();
        let is_telling = |token: &&std::borrow::Cow<'_, str>| {
            let word =
                [k::PROPERTIES, k::ITEMS, "schema", "schemas", "content", "components", "paths"];
            !token.is_empty()
                && !word.contains(&&***token)
                && !token.chars().all(|c| c.is_ascii_digit())
        };
        let telling: Vec<_> = tokens.iter().filter(is_telling).collect();
        let last = telling.last().map_or("", |token| token);
        let two = telling.iter().rev().take(2).rev().map(|token| &***token);
        let two = two.collect::<Vec<_>>().join(" ");
        self.assign(pointer, last, &two)
    }

    /// A free name like another one.
    pub(super) fn variant(&mut self, name: &str, suffix: &str) -> String {
        let name = format!("{name}{suffix}");
        self.free(&name, &name)
    }

    fn assign(&mut self, pointer: &str, short: &str, long: &str) -> String {
        let name = self.free(&pascal(short), &pascal(long));
        self.names.insert(pointer.to_owned(), name.clone());
        name
    }

    fn free(&mut self, short: &str, long: &str) -> String {
        let short = if short.is_empty() { "Type" } else { short };
        let long = if long.is_empty() { short } else { long };
        let name = free_name(
            [short.to_owned(), long.to_owned(), format!("{short}Type")],
            |number| format!("{short}{number}"),
            |name| is_type_name(name) && !self.taken.contains(name),
        );
        self.taken.insert(name.clone());
        name
    }
}

/// The part after the last dot of a name without brackets.
fn last_part(name: &str) -> &str {
    if name.contains(['[', '<', '«', '(', ',', '`']) {
        return name;
    }
    name.rsplit('.').find(|part| !part.is_empty()).unwrap_or(name)
}

/// A name in `PascalCase`, without other characters than ASCII letters and digits.
fn pascal(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    let mut begins = true;
    for c in name.chars() {
        if !c.is_ascii_alphanumeric() {
            begins = true;
            continue;
        }
        if out.is_empty() && c.is_ascii_digit() {
            out.push_str("Type");
        }
        out.push(if begins { c.to_ascii_uppercase() } else { c });
        begins = false;
    }
    out
}
