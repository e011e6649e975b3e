//! Which schemas differ between requests and responses.

use std::collections::{HashMap, HashSet};

use gramc_json_schema::keywords::name as k;
use serde_json::Value;

use crate::document::{Document, Target};

/// The pointers of the listed schemas in which a property is required in one direction only, or that
/// refer to such a schema.
pub(super) fn find(document: &Document<'_>) -> HashSet<String> {
    let mut users: HashMap<String, Vec<String>> = HashMap::new();
    let mut open = Vec::new();
    for folder in ["/components/schemas", "/definitions"] {
        let schemas = document.root.pointer(folder).and_then(Value::as_object);
        for (name, schema) in schemas.into_iter().flatten() {
            let pointer = format!("{folder}/{}", gramc_json_schema::pointer::escape_token(name));
            let mut scan = Scan { document, targets: Vec::new(), is_one_way: false };
            scan.visit(schema);
            if scan.is_one_way {
                open.push(pointer.clone());
            }
            for target in scan.targets {
                users.entry(target).or_default().push(pointer.clone());
            }
        }
    }
    let mut found = HashSet::new();
    while let Some(pointer) = open.pop() {
        if found.insert(pointer.clone()) {
            open.extend(users.remove(&pointer).into_iter().flatten());
        }
    }
    found
}

struct Scan<'s, 'd> {
    document: &'s Document<'d>,
    targets: Vec<String>,
    is_one_way: bool,
}

impl Scan<'_, '_> {
    fn visit(&mut self, value: &Value) {
        match value {
            Value::Object(map) => {
                if let Some(reference) = map.get(k::REF).and_then(Value::as_str)
                    && let Target::Here(pointer, _) = self.document.target(reference)
                {
                    self.targets.push(pointer);
                }
                if let (Some(Value::Array(required)), Some(Value::Object(properties))) =
                    (map.get(k::REQUIRED), map.get(k::PROPERTIES))
                {
                    self.is_one_way |= required.iter().filter_map(Value::as_str).any(|name| {
                        properties.get(name).is_some_and(|property| {
                            [k::READ_ONLY, k::WRITE_ONLY]
                                .iter()
                                .any(|key| property.get(*key) == Some(&Value::Bool(true)))
                        })
                    });
                }
                map.values().for_each(|inner| self.visit(inner));
            }
            Value::Array(items) => items.iter().for_each(|inner| self.visit(inner)),
            _ => {}
        }
    }
}
