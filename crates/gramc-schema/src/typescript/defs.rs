//! The declarations of types that several places refer to.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

use serde_json::{Map, Value};

use super::text;
use crate::lower::references_in;

/// All declared types.
#[derive(Default)]
pub(super) struct Declared {
    taken: HashSet<String>,
    /// The first definition of each name, with its identifier.
    first: HashMap<String, (Value, String)>,
    text: String,
}

impl Declared {
    /// The identifiers of the definitions of one schema, and the names of those that are new.
    ///
    /// A definition that equals one of another schema, also in all that it refers to, shares its
    /// declaration.
    pub(super) fn of_schema(
        &mut self,
        definitions: &Map<String, Value>,
    ) -> (HashMap<String, String>, Vec<String>) {
        let targets = |definition: &Value| {
            let names = references_in(definition).into_iter();
            names.map(|to| definition_name(&to)).collect::<Vec<Option<String>>>()
        };
        let mut shared: HashSet<&str> = definitions
            .iter()
            .filter(|(name, own)| self.first.get(*name).is_some_and(|(first, _)| first == *own))
            .map(|(name, _)| name.as_str())
            .collect();
        let mut users: HashMap<String, Vec<&str>> = HashMap::new();
        let mut lost: Vec<&str> =
            definitions.keys().map(String::as_str).filter(|name| !shared.contains(name)).collect();
        for (name, definition) in definitions {
            for target in targets(definition) {
                match target {
                    Some(target) => users.entry(target).or_default().push(name),
                    // What is outside of the definitions may be different.
                    None => lost.push(name),
                }
            }
        }
        while let Some(name) = lost.pop() {
            shared.remove(name);
            for user in users.remove(name).unwrap_or_default() {
                if shared.contains(user) {
                    lost.push(user);
                }
            }
        }
        let mut new = Vec::new();
        let mut identifiers = HashMap::new();
        for (name, definition) in definitions {
            let identifier = match self.first.get(name) {
                Some((_, known)) if shared.contains(name.as_str()) => known.clone(),
                _ => {
                    new.push(name.clone());
                    let identifier = self.identifier(name);
                    let first = (definition.clone(), identifier.clone());
                    self.first.entry(name.clone()).or_insert(first);
                    identifier
                }
            };
            identifiers.insert(name.clone(), identifier);
        }
        (identifiers, new)
    }

    /// A new identifier.
    pub(super) fn identifier(&mut self, name: &str) -> String {
        let identifier = text::identifier(name, |name| self.taken.contains(name));
        self.taken.insert(identifier.clone());
        identifier
    }

    /// Adds a declaration.
    pub(super) fn add(&mut self, identifier: &str, doc: &str, ty: &str) {
        text::comment(&mut self.text, doc, 0);
        // Writing to a string does not fail.
        let _ = writeln!(self.text, "type {identifier} = {ty};");
    }

    pub(super) fn into_text(self) -> String {
        self.text
    }
}

/// The name of the definition that a reference leads to.
pub(super) fn definition_name(to: &str) -> Option<String> {
    let name = to.strip_prefix("#/$defs/").or_else(|| to.strip_prefix("#/definitions/"))?;
    (!name.contains('/')).then(|| gramc_json_schema::pointer::unescape_fragment_token(name))
}
