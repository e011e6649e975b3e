//! The schemas inside a schema, where references lead, and which are cyclic.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::same::{item, member};

/// How deep schemas are walked. Parsed JSON has at most 128 levels.
const DEPTH: usize = 256;

/// The relation of a schema to the schema around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Link {
    /// It is the root.
    Root,
    /// It is a property.
    Property {
        /// Whether the object requires it.
        required: bool,
    },
    /// It is a definition, which applies only through references.
    Definition,
    /// It is a member of `anyOf`, `oneOf` or `allOf`.
    Member,
    /// It is under another keyword.
    Keyword(&'static str),
}

/// A schema inside a schema.
#[derive(Debug, Clone)]
pub(super) struct Node<'a> {
    /// Its JSON path.
    pub(super) path: String,
    /// Its relation to the schema around it.
    pub(super) link: Link,
    pub(super) schema: &'a Value,
    /// The number of objects around it, itself included. A definition begins anew.
    pub(super) objects: usize,
    /// Whether it is below `items` or in `$defs`.
    pub(super) verbatim: bool,
}

/// Keywords whose value is one schema.
const ONE: [&str; 12] = [
    "items",
    "additionalProperties",
    "propertyNames",
    "contains",
    "not",
    "if",
    "then",
    "else",
    "unevaluatedItems",
    "unevaluatedProperties",
    "contentSchema",
    "additionalItems",
];

/// Keywords whose value is an object of schemas.
const NAMED: [(&str, &str); 5] = [
    ("properties", "properties"),
    ("patternProperties", "patternProperties"),
    ("dependentSchemas", "dependentSchemas"),
    ("$defs", "$defs"),
    ("definitions", "definitions"),
];

/// The root and all schemas inside it. The values of `enum`, `const`, `default` and examples are data.
pub(super) fn nodes<'a>(root: &'a Value, path: &str) -> Vec<Node<'a>> {
    let mut found = Vec::new();
    enter(
        Node { path: path.to_owned(), link: Link::Root, schema: root, objects: 0, verbatim: false },
        DEPTH,
        &mut found,
    );
    found
}

fn enter<'a>(mut node: Node<'a>, depth: usize, found: &mut Vec<Node<'a>>) {
    if depth == 0 {
        return;
    }
    if node.link == Link::Definition {
        node.objects = 0;
    }
    node.objects += usize::from(is_kind(node.schema, "object"));
    node.verbatim |= matches!(node.link, Link::Definition | Link::Keyword("items"));
    let (objects, verbatim) = (node.objects, node.verbatim);
    let below = children(node.schema, &node.path);
    found.push(node);
    for (path, link, schema) in below {
        enter(Node { path, link, schema, objects, verbatim }, depth - 1, found);
    }
}

/// The schemas directly inside a schema, with their paths.
pub(super) fn children<'a>(schema: &'a Value, path: &str) -> Vec<(String, Link, &'a Value)> {
    let Some(members) = schema.as_object() else { return Vec::new() };
    let mut found = Vec::new();
    for (keyword, place) in NAMED {
        let Some(Value::Object(schemas)) = members.get(keyword) else { continue };
        let above = member(path, keyword);
        for (name, schema) in schemas {
            let link = match place {
                "properties" => Link::Property { required: requires(members, name) },
                "$defs" | "definitions" => Link::Definition,
                other => Link::Keyword(other),
            };
            found.push((member(&above, name), link, schema));
        }
    }
    for keyword in ["anyOf", "oneOf", "allOf", "prefixItems", "items"] {
        let Some(Value::Array(schemas)) = members.get(keyword) else { continue };
        let link = match keyword {
            "prefixItems" | "items" => Link::Keyword("prefixItems"),
            _ => Link::Member,
        };
        let above = member(path, keyword);
        found.extend(
            schemas.iter().enumerate().map(|(at, schema)| (item(&above, at), link, schema)),
        );
    }
    for keyword in ONE {
        if let Some(schema @ (Value::Object(_) | Value::Bool(_))) = members.get(keyword) {
            found.push((member(path, keyword), Link::Keyword(keyword), schema));
        }
    }
    found
}

/// Whether an object's schema requires the property `name`.
pub(super) fn requires(members: &Map<String, Value>, name: &str) -> bool {
    members
        .get("required")
        .and_then(Value::as_array)
        .is_some_and(|names| names.iter().any(|required| required == name))
}

/// Whether a value of the schema may have this type.
pub(super) fn is_kind(schema: &Value, kind: &str) -> bool {
    match schema.get("type") {
        Some(Value::String(own)) => own == kind,
        Some(Value::Array(kinds)) => kinds.iter().any(|own| own == kind),
        _ => kind == "object" && schema.get("properties").is_some(),
    }
}

/// The target of a reference, a pointer or an anchor; `None` if it is not inside `root`.
pub(super) fn resolve<'a>(root: &'a Value, reference: &str) -> Option<&'a Value> {
    let fragment = reference.strip_prefix('#')?;
    if fragment.is_empty() || fragment.starts_with('/') {
        return root.pointer(fragment).or_else(|| root.pointer(&decoded(fragment)?));
    }
    nodes(root, "").into_iter().find_map(|node| {
        let named = |key| node.schema.get(key).is_some_and(|anchor| anchor == fragment);
        (named("$anchor") || named("$dynamicAnchor")).then_some(node.schema)
    })
}

/// The paths of schemas that consist of references and unions back to themselves.
pub(super) fn endless(root: &Value, path: &str) -> Vec<String> {
    nodes(root, path)
        .into_iter()
        .filter(|node| {
            let mut seen = Vec::new();
            let mut open = vec![node.schema];
            while let Some(schema) = open.pop() {
                if let Some(to) = schema.get("$ref").and_then(Value::as_str)
                    && let Some(found) = resolve(root, to)
                {
                    if std::ptr::eq(found, node.schema) {
                        return true;
                    }
                    if !seen.contains(&to) {
                        seen.push(to);
                        open.push(found);
                    }
                }
                for key in ["anyOf", "oneOf", "allOf"] {
                    open.extend(schema.get(key).and_then(Value::as_array).into_iter().flatten());
                }
            }
            false
        })
        .map(|node| node.path)
        .collect()
}

/// A URI's fragment without its percent signs; `None` if they encode no text.
fn decoded(fragment: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let mut rest = fragment.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let mut digit = || char::from(rest.next()?).to_digit(16);
            let (high, low) = (digit()?, digit()?);
            bytes.push(u8::try_from(high * 16 + low).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok()
}

/// The paths of references that lead back to themselves, through schemas inside them and other references.
/// With `through_optional`, a way through an optional property is no circle.
pub(super) fn circles(root: &Value, path: &str, through_optional: bool) -> Vec<String> {
    nodes(root, path)
        .into_iter()
        .filter(|node| {
            let reference = node.schema.get("$ref").and_then(Value::as_str);
            let target = reference.and_then(|reference| resolve(root, reference));
            target.is_some_and(|target| {
                let mut seen = BTreeSet::new();
                reaches(root, target, node.schema, through_optional, &mut seen)
            })
        })
        .map(|node| node.path)
        .collect()
}

/// Whether there is a way from one schema to another. Schemas are told apart by their place in
/// memory, and each is left once, so the search ends.
fn reaches(
    root: &Value,
    from: &Value,
    to: &Value,
    through_optional: bool,
    seen: &mut BTreeSet<usize>,
) -> bool {
    let mut open = vec![from];
    while let Some(schema) = open.pop() {
        if std::ptr::eq(schema, to) {
            return true;
        }
        if !seen.insert(std::ptr::from_ref(schema).addr()) {
            continue;
        }
        for (_, link, below) in children(schema, "") {
            let skipped = match link {
                Link::Definition => true,
                Link::Property { required } => through_optional && !required,
                _ => false,
            };
            if !skipped {
                open.push(below);
            }
        }
        let reference = schema.get("$ref").and_then(Value::as_str);
        open.extend(reference.and_then(|reference| resolve(root, reference)));
    }
    false
}
