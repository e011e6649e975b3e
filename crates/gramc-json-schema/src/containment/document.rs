//! A schema's document: its dialect, and what its references lead to.

use serde_json::{Map, Value};

use crate::keywords::name as k;
use crate::pointer::{decode_fragment, unescape_token};
use crate::text::MAX_SCHEMA_DEPTH;

/// How many values a document may hold. A list of all countries has a few hundred.
pub(super) const MAX_SIZE: usize = 1_000_000;

/// A version of JSON Schema, as far as its keywords are known here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Dialect {
    /// Draft 2020-12, the default.
    Draft2020,
    /// Draft 7, which many MCP servers write.
    Draft7,
}

/// Which of the two schemas something belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Side {
    /// The schema that should allow everything.
    Wide,
    /// The schema whose values should be allowed.
    Narrow,
}

/// A schema with what is needed to read it.
#[derive(Debug)]
pub(super) struct Document<'s> {
    pub(super) root: &'s Value,
    pub(super) dialect: Dialect,
}

impl<'s> Document<'s> {
    /// Looks at the outside of a schema. `None` where its dialect is not known here.
    pub(super) fn of(root: &'s Value) -> Option<Self> {
        let dialect = match root.get(k::SCHEMA) {
            None => Dialect::Draft2020,
            Some(Value::String(name)) => match name.trim_end_matches('#') {
                "https://json-schema.org/draft/2020-12/schema" => Dialect::Draft2020,
                "http://json-schema.org/draft-07/schema"
                | "https://json-schema.org/draft-07/schema" => Dialect::Draft7,
                _ => return None,
            },
            Some(_) => return None,
        };
        Some(Self { root, dialect })
    }

    /// Whether a schema is read by rules of its own: its references begin elsewhere.
    pub(super) fn is_foreign(&self, schema: &'s Map<String, Value>) -> bool {
        let own = |key| schema.get(key).is_some_and(Value::is_string);
        let is_root = self.root.as_object().is_some_and(|root| std::ptr::eq(root, schema));
        !is_root && (own(k::ID) || own(k::SCHEMA))
    }

    /// What a reference leads to, inside of the document. `None` where it leads nowhere, outside,
    /// or to a place that has a name instead of a path.
    pub(super) fn resolve(&self, reference: &str) -> Option<&'s Value> {
        let path = reference.strip_prefix('#')?;
        let mut found = self.root;
        if path.is_empty() {
            return Some(found);
        }
        let decoded = decode_fragment(path);
        for part in decoded.strip_prefix('/')?.split('/') {
            let part = unescape_token(part);
            found = match found {
                Value::Object(map) if !self.is_foreign(map) => map.get(&*part)?,
                Value::Array(items) => items.get(part.parse::<usize>().ok()?)?,
                _ => return None,
            };
        }
        Some(found)
    }
}

/// Whether a reference leads out of its document.
pub(super) fn leads_outside(reference: &str) -> bool {
    !reference.starts_with('#')
}

/// How much a document holds, in values. `None` where that is more than is looked at, or where it
/// nests deeper.
pub(super) fn size(root: &Value) -> Option<usize> {
    size_within(root, MAX_SCHEMA_DEPTH)
}

/// Whether a document nests no deeper than so many levels.
pub(super) fn is_flat(root: &Value, depth: usize) -> bool {
    size_within(root, depth).is_some()
}

/// Counts level by level, without recursion.
fn size_within(root: &Value, depth: usize) -> Option<usize> {
    let (mut size, mut level) = (0, vec![root]);
    for _ in 0..depth {
        if level.is_empty() {
            return Some(size);
        }
        size += level.len();
        if size > MAX_SIZE {
            return None;
        }
        let mut below = Vec::new();
        for value in level {
            match value {
                Value::Array(items) => below.extend(items),
                Value::Object(map) => below.extend(map.values()),
                _ => {}
            }
        }
        level = below;
    }
    level.is_empty().then_some(size)
}
