//! Merges the parts of `allOf`, without rewriting the schemas in them.

use gramc_json_schema::keywords::{Keyword, name as k};
use gramc_json_schema::merge::intersect;
use serde_json::{Map, Value, json};

use super::{Lowerer, types};

/// The most references that are merged into one schema.
const MAX_MERGED: usize = 200;

/// A schema whose parts are merged.
#[derive(Debug, Default)]
pub(super) struct Merged {
    pub(super) map: Map<String, Value>,
    /// The unions of all parts.
    pub(super) unions: Vec<Union>,
    /// Whether null is allowed.
    pub(super) is_nullable: bool,
    /// The pointers of the schemas that are merged.
    pub(super) pointers: Vec<String>,
    /// A reference to a schema that this one is a part of.
    pub(super) enclosing: Option<String>,
    /// Whether the first part is merged already.
    has_parts: bool,
}

/// The members of `anyOf` or `oneOf`.
#[derive(Debug)]
pub(super) struct Union {
    pub(super) keyword: &'static str,
    pub(super) members: Vec<Value>,
}

/// Whether a keyword constrains no value.
pub(super) fn is_annotation(key: &str) -> bool {
    matches!(
        key,
        k::DESCRIPTION
            | k::TITLE
            | k::DEFAULT
            | k::EXAMPLE
            | k::EXAMPLES
            | k::DEPRECATED
            | k::READ_ONLY
            | k::WRITE_ONLY
            | k::NULLABLE
            | "xml"
            | "externalDocs"
            | "discriminator"
            | "summary"
            | "id"
            | "enumDescriptions"
            | "enumDeprecated"
            | "annotations"
            | k::ID
            | k::SCHEMA
            | k::COMMENT
            | k::ANCHOR
            | k::DEFS
            | k::DEFINITIONS
    ) || key.starts_with("x-")
}

/// Whether a schema constrains values, its reference and a `type` next to that aside.
pub(super) fn has_constraints(map: &Map<String, Value>) -> bool {
    map.keys().any(|key| !is_annotation(key) && !matches!(key.as_str(), k::REF | k::TYPE))
}

impl Lowerer<'_> {
    /// Adds a schema to the parts: what it refers to, the parts of its `allOf`, and itself.
    pub(super) fn flatten(&mut self, map: &Map<String, Value>, merged: &mut Merged) {
        if let Some(reference) = map.get(k::REF).and_then(Value::as_str)
            && let Some((pointer, target)) = self.resolve(reference)
            && let Some(target) = target.as_object()
        {
            if self.merging.contains(&pointer) {
                merged.enclosing.get_or_insert_with(|| reference.to_owned());
            } else if merged.pointers.len() >= MAX_MERGED {
                self.note("a schema has too many parts in `allOf`, which are left out");
            } else if !merged.pointers.contains(&pointer) {
                merged.pointers.push(pointer);
                self.flatten(target, merged);
            }
        }
        if let Some(parts) = map.get(k::ALL_OF).and_then(Value::as_array) {
            for part in parts {
                if let Some(part) = part.as_object() {
                    self.flatten(part, merged);
                }
            }
        }
        let own: Map<String, Value> = map
            .iter()
            .filter(|(key, _)| !matches!(key.as_str(), k::REF | k::ALL_OF))
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect();
        if !own.is_empty() {
            self.add_part(own, merged);
        }
    }

    fn add_part(&mut self, mut part: Map<String, Value>, merged: &mut Merged) {
        // A wrapper that only says that null is allowed means it, whatever the wrapped schema says.
        let constrains = has_constraints(&part);
        let is_nullable = types::is_nullable(&part);
        if constrains && merged.has_parts {
            merged.is_nullable &= is_nullable;
        } else {
            merged.is_nullable |= is_nullable;
        }
        merged.has_parts |= constrains;
        let is_second = merged.map.contains_key(k::IF);
        let is_condition = part.contains_key(k::IF);
        if is_second && is_condition {
            self.note("of several conditions in `allOf`, the first one counts");
        }
        if is_second || !is_condition {
            // `then` says something about the `if` next to it only.
            part.retain(|key, _| !matches!(key.as_str(), k::IF | k::THEN | k::ELSE));
        }
        part.shift_remove(k::NULLABLE);
        part.shift_remove("x-nullable");
        for keyword in [k::ANY_OF, k::ONE_OF] {
            if let Some(Value::Array(members)) = part.shift_remove(keyword)
                && !members.is_empty()
            {
                merged.unions.push(Union { keyword, members });
            }
        }
        for (key, value) in part {
            match merged.map.get_mut(&key) {
                None => {
                    merged.map.insert(key, value);
                }
                Some(known) if *known == value => {}
                Some(known) => {
                    if let Some(what) = combine(&key, known, value) {
                        self.note(&what);
                    }
                }
            }
        }
    }
}

/// Combines two values of a keyword. Returns what is lost.
fn combine(key: &str, known: &mut Value, value: Value) -> Option<String> {
    match key {
        k::PROPERTIES | k::PATTERN_PROPERTIES => {
            if let (Value::Object(known), Value::Object(value)) = (known, value) {
                for (name, schema) in value {
                    match known.get_mut(&name) {
                        Some(other) if *other != schema => {
                            *other = json!({"allOf": [other.take(), schema]});
                        }
                        Some(_) => {}
                        None => {
                            known.insert(name, schema);
                        }
                    }
                }
            }
        }
        k::TYPE | k::ENUM => {
            let both = intersect(Keyword::of(key), known, &value);
            let both = both.filter(|both| *both != Value::Array(Vec::new()));
            let is_apart = key == k::TYPE && both.is_none();
            *known = both.unwrap_or(value);
            return is_apart.then(|| {
                "the types of the parts of `allOf` exclude each other; the last one counts"
                    .to_owned()
            });
        }
        // Documents close a part and extend it elsewhere, so that only closed parts close the whole.
        k::ADDITIONAL_PROPERTIES => match (&*known, &value) {
            (Value::Bool(false), _) | (Value::Bool(true), Value::Object(_)) => *known = value,
            (Value::Object(_), Value::Object(_)) => {
                *known = json!({"allOf": [known.take(), value]});
            }
            _ => {}
        },
        k::ITEMS | k::PROPERTY_NAMES | k::NOT if value.is_object() && known.is_object() => {
            *known = if key == k::NOT {
                json!({"anyOf": [known.take(), value]})
            } else {
                json!({"allOf": [known.take(), value]})
            };
        }
        k::READ_ONLY | k::WRITE_ONLY | k::DEPRECATED => {
            *known = Value::Bool(known == true || value == true);
        }
        k::PATTERN
        | k::FORMAT
        | k::MULTIPLE_OF
        | k::CONST
        | k::CONTAINS
        | k::MIN_CONTAINS
        | k::MAX_CONTAINS
        | k::DEPENDENT_REQUIRED
        | k::DEPENDENT_SCHEMAS => {
            return Some(format!("of several values of `{key}` in `allOf`, the first one counts"));
        }
        // Of annotations, the last one is about the whole.
        key if is_annotation(key) => *known = value,
        key => {
            if let Some(both) = intersect(Keyword::of(key), known, &value) {
                *known = both;
            }
        }
    }
    None
}
