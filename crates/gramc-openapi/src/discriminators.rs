//! Unions by discriminator: schemas whose values are those of their children, and the constants that
//! tell the members of a union apart.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::document::DocumentKind;
use crate::notes::Notes;

type Schemas = Map<String, Value>;

/// A discriminator: the property, and the names that its values map to.
struct Discriminator {
    property: String,
    mapping: Map<String, Value>,
}

impl Discriminator {
    fn of(schema: &Value) -> Option<Self> {
        let found = schema.get("discriminator")?;
        // In Swagger 2.0, it is the name of the property.
        let property = found.as_str().or_else(|| found.get("propertyName")?.as_str())?;
        let mapping = found.get("mapping").and_then(Value::as_object).cloned().unwrap_or_default();
        Some(Self { property: property.to_owned(), mapping })
    }

    /// The values of the property for a schema.
    fn values(&self, name: &str) -> Vec<String> {
        let leads_to = |to: &Value| to.as_str().is_some_and(|to| name_of(to) == name);
        let mapped = self.mapping.iter().filter(|(_, to)| leads_to(to));
        let mapped: Vec<String> = mapped.map(|(value, _)| value.clone()).collect();
        if mapped.is_empty() { vec![name.to_owned()] } else { mapped }
    }
}

/// The name of a schema in a reference.
fn name_of(reference: &str) -> &str {
    reference.rsplit_once('/').map_or(reference, |(_, name)| name)
}

/// Writes schemas with a discriminator as unions of their children, and the value of the
/// discriminator into each member of a union.
pub(crate) fn expand<'d>(
    document: &'d Value,
    kind: DocumentKind,
    notes: &mut Notes,
) -> Cow<'d, Value> {
    let folder = match kind {
        DocumentKind::OpenApi3 => "/components/schemas",
        DocumentKind::Swagger2 => "/definitions",
        DocumentKind::Discovery => return Cow::Borrowed(document),
    };
    let has_schemas = document.pointer(folder).is_some_and(Value::is_object);
    if !has_schemas || !has_discriminator(document) {
        return Cow::Borrowed(document);
    }
    let mut document = document.clone();
    let mut constants = BTreeMap::new();
    gather_members(&document, &mut constants);
    if let Some(Value::Object(schemas)) = document.pointer_mut(folder) {
        let parents = schemas.iter().filter(|(_, schema)| members_of(schema).is_none());
        let parents = parents.filter_map(|(name, it)| Some((name.clone(), Discriminator::of(it)?)));
        for (name, discriminator) in parents.collect::<Vec<_>>() {
            spread(schemas, folder, &name, &discriminator, &mut constants, notes);
        }
        for ((name, property), values) in constants {
            if let Some(schema) = schemas.get_mut(&name) {
                add_constant(schema, &property, values);
            }
        }
    }
    Cow::Owned(document)
}

fn has_discriminator(value: &Value) -> bool {
    match value {
        Value::Object(map) => {
            map.contains_key("discriminator") || map.values().any(has_discriminator)
        }
        Value::Array(items) => items.iter().any(has_discriminator),
        _ => false,
    }
}

/// The values of discriminators, by the name of the schema and the property.
type Constants = BTreeMap<(String, String), Vec<String>>;

fn members_of(schema: &Value) -> Option<&Vec<Value>> {
    ["oneOf", "anyOf"].iter().find_map(|key| schema.get(*key)?.as_array())
}

/// Gathers the constants of the members of all unions.
fn gather_members(value: &Value, constants: &mut Constants) {
    if let (Some(discriminator), Some(members)) = (Discriminator::of(value), members_of(value)) {
        let names = members.iter().filter_map(|member| member.get("$ref")?.as_str()).map(name_of);
        for name in names {
            let place = (name.to_owned(), discriminator.property.clone());
            let values = constants.entry(place).or_default();
            values.extend(discriminator.values(name));
        }
    }
    match value {
        Value::Object(map) => map.values().for_each(|value| gather_members(value, constants)),
        Value::Array(items) => items.iter().for_each(|value| gather_members(value, constants)),
        _ => {}
    }
}

/// Turns a schema into the union of its children, which hold what it said.
fn spread(
    schemas: &mut Schemas,
    folder: &str,
    parent: &str,
    discriminator: &Discriminator,
    constants: &mut Constants,
    notes: &mut Notes,
) {
    let mut children: Vec<String> = Vec::new();
    let mut open = vec![parent.to_owned()];
    while let Some(name) = open.pop() {
        let found = schemas.iter().filter(|(_, schema)| extends(schema, &name));
        let found: Vec<String> = found.map(|(child, _)| child.clone()).collect();
        let new = found.into_iter().filter(|child| child != parent && !children.contains(child));
        let new: Vec<String> = new.collect();
        open.extend(new.iter().cloned());
        children.extend(new);
    }
    if children.is_empty() {
        return;
    }
    let mut names = (1..).map(|number| match number {
        1 => format!("{parent}Base"),
        number => format!("{parent}Base{number}"),
    });
    let Some(base) = names.find(|name| !schemas.contains_key(name)) else { return };
    let pointer = |name: &str| format!("#{folder}/{name}");
    for schema in schemas.values_mut() {
        for part in schema.get_mut("allOf").and_then(Value::as_array_mut).into_iter().flatten() {
            if is_reference_to(part, parent) {
                part["$ref"] = pointer(&base).into();
            }
        }
    }
    children.sort();
    let members: Vec<Value> = children.iter().map(|it| json!({"$ref": pointer(it)})).collect();
    let mut union =
        json!({"oneOf": members, "discriminator": {"propertyName": discriminator.property}});
    let Some(whole) = schemas.get_mut(parent) else { return };
    if let Some(description) = whole.get("description") {
        union["description"] = description.clone();
    }
    let whole = std::mem::replace(whole, union);
    schemas.insert(base, whole);
    let listed: Vec<String> = children.iter().map(|child| format!("`{child}`")).collect();
    let what = format!("its values are those of {}", listed.join(", "));
    notes.add(what, &format!("{}/{parent}", &folder[1..]));
    for child in children {
        let values = discriminator.values(&child);
        constants.entry((child, discriminator.property.clone())).or_default().extend(values);
    }
}

/// Whether a schema extends another one by `allOf`.
fn extends(schema: &Value, parent: &str) -> bool {
    let parts = schema.get("allOf").and_then(Value::as_array);
    parts.into_iter().flatten().any(|part| is_reference_to(part, parent))
}

fn is_reference_to(part: &Value, name: &str) -> bool {
    part.get("$ref").and_then(Value::as_str).is_some_and(|to| name_of(to) == name)
}

/// Fixes the value of a property, which is required then.
fn add_constant(schema: &mut Value, property: &str, mut values: Vec<String>) {
    let mut seen = std::collections::HashSet::new();
    values.retain(|value| seen.insert(value.clone()));
    let Value::Object(map) = schema else { return };
    if map.contains_key("oneOf") || map.contains_key("anyOf") {
        // Its own members have the values.
        return;
    }
    let is_fixed = |schema: &Value| schema.get("enum").is_some() || schema.get("const").is_some();
    let (keyword, value) = match values.as_slice() {
        [only] => ("const", Value::from(only.as_str())),
        _ => ("enum", Value::from(values)),
    };
    let fixed = json!({"type": "string", keyword: value});
    if let Some(parts) = map.get_mut("allOf").and_then(Value::as_array_mut) {
        parts.push(json!({
            "type": "object", "properties": {property: fixed}, "required": [property]
        }));
        return;
    }
    let properties = map.entry("properties").or_insert_with(|| json!({}));
    let Value::Object(properties) = properties else { return };
    let own = properties.entry(property).or_insert_with(|| json!({}));
    if let Value::Object(own) = own
        && !own.contains_key("$ref")
        && !is_fixed(&Value::Object(own.clone()))
    {
        own.insert("type".to_owned(), "string".into());
        own.insert(keyword.to_owned(), value);
    }
    let required = map.entry("required").or_insert_with(|| json!([]));
    if let Value::Array(required) = required
        && !required.iter().any(|name| name == property)
    {
        required.push(property.into());
    }
}
