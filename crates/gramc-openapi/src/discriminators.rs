//! Unions by discriminator: schemas whose values are those of their children, and the constants that
//! tell the members of a union apart.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use gramc_json_schema::pointer::escape_token;
use serde_json::{Map, Value, json};

use crate::document::{Document, DocumentKind, MAX_CHAIN, Target};
use crate::notes::Notes;
use crate::schema::MAX_DISTRIBUTED;

/// The values of discriminators, by the name of the schema and the property.
type Constants<'d> = BTreeMap<(&'d str, &'d str), BTreeSet<&'d str>>;

/// Writes schemas with a discriminator as unions of their children, and the value of the
/// discriminator into each member of a union.
pub(crate) fn expand<'d>(root: &'d Value, kind: DocumentKind, notes: &mut Notes) -> Cow<'d, Value> {
    let folder = match kind {
        DocumentKind::OpenApi3 => "/components/schemas",
        DocumentKind::Swagger2 => "/definitions",
        DocumentKind::Discovery => return Cow::Borrowed(root),
    };
    let Some(Value::Object(schemas)) = root.pointer(folder) else { return Cow::Borrowed(root) };
    let document = Document::new(root, kind);
    let mut unions = Vec::new();
    gather_unions(root, &mut unions);
    let parents = schemas.iter().filter(|(_, schema)| members_of(schema).is_none());
    let parents = parents.filter_map(|(name, it)| Some((&**name, Discriminator::of(it)?)));
    let parents: Vec<_> = parents.collect();
    if unions.is_empty() && parents.is_empty() {
        return Cow::Borrowed(root);
    }
    let hierarchy = Hierarchy::new(&document, folder, schemas);
    let mut constants = Constants::new();
    for (discriminator, members) in unions {
        let members = members.iter().filter_map(|member| hierarchy.name(member));
        hierarchy.add_constants(&discriminator, members, &mut constants);
    }
    let mut expanded = root.clone();
    let Some(Value::Object(changed)) = expanded.pointer_mut(folder) else {
        return Cow::Borrowed(root);
    };
    for (parent, discriminator) in parents {
        let children = hierarchy.descendants(parent);
        let place = format!("{}/{parent}", &folder[1..]);
        if children.len() > MAX_DISTRIBUTED {
            notes.add("too many schemas extend it, so it does not stand for them", &place);
        } else if !children.is_empty() {
            hierarchy.add_constants(&discriminator, children.iter().copied(), &mut constants);
            hierarchy.replace_by_union(changed, parent, &discriminator, &children);
            let listed: Vec<String> = children.iter().map(|child| format!("`{child}`")).collect();
            notes.add(format!("it stands for {}", listed.join(", ")), &place);
        }
    }
    let mut inlined = BTreeMap::new();
    for ((name, property), values) in constants {
        let values: Vec<&str> = values.into_iter().collect();
        let allowed = |value: &&str| {
            schemas.get(name).is_some_and(|it| hierarchy.allows(it, property, value, 0))
        };
        let values: Vec<&str> = values.into_iter().filter(allowed).collect();
        let Some(schema) = changed.get_mut(name).filter(|_| !values.is_empty()) else { continue };
        if members_of(schema).is_some() {
            // Its own members have the values.
        } else if hierarchy.extending.contains_key(name) {
            // Those that extend it have other values.
            inlined.insert((hierarchy.pointer(name), property), constant_part(property, &values));
        } else {
            add_constant(schema, property, &values);
        }
    }
    if !inlined.is_empty() {
        inline_constants(&mut expanded, &inlined, &document);
    }
    Cow::Owned(expanded)
}

/// A discriminator: the property, and the schemas that its values map to.
struct Discriminator<'d> {
    property: &'d str,
    mapping: Option<&'d Map<String, Value>>,
}

impl<'d> Discriminator<'d> {
    fn of(schema: &'d Value) -> Option<Self> {
        let found = schema.get("discriminator")?;
        // In Swagger 2.0, it is the name of the property.
        let property = found.as_str().or_else(|| found.get("propertyName")?.as_str())?;
        Some(Self { property, mapping: found.get("mapping").and_then(Value::as_object) })
    }
}

fn members_of(schema: &Value) -> Option<&Vec<Value>> {
    ["oneOf", "anyOf"].iter().find_map(|key| schema.get(*key)?.as_array())
}

/// Gathers all unions with a discriminator.
fn gather_unions<'d>(value: &'d Value, unions: &mut Vec<(Discriminator<'d>, &'d Vec<Value>)>) {
    unions.extend(Discriminator::of(value).zip(members_of(value)));
    match value {
        Value::Object(map) => map.values().for_each(|value| gather_unions(value, unions)),
        Value::Array(items) => items.iter().for_each(|value| gather_unions(value, unions)),
        _ => {}
    }
}

/// The named schemas, and those that extend them by `allOf`.
struct Hierarchy<'d> {
    document: &'d Document<'d>,
    folder: &'static str,
    names: BTreeMap<String, &'d str>,
    /// The schemas that extend a schema directly, by its name.
    extending: BTreeMap<&'d str, Vec<&'d str>>,
}

impl<'d> Hierarchy<'d> {
    fn new(
        document: &'d Document<'d>,
        folder: &'static str,
        schemas: &'d Map<String, Value>,
    ) -> Self {
        let names =
            schemas.keys().map(|name| (format!("{folder}/{}", escape_token(name)), &**name));
        let mut hierarchy =
            Self { document, folder, names: names.collect(), extending: BTreeMap::new() };
        for (name, schema) in schemas {
            for part in schema.get("allOf").and_then(Value::as_array).into_iter().flatten() {
                if let Some(parent) = hierarchy.name(part) {
                    hierarchy.extending.entry(parent).or_default().push(name);
                }
            }
        }
        hierarchy
    }

    /// The name of the schema that a reference leads to.
    fn name(&self, schema: &Value) -> Option<&'d str> {
        self.target_name(schema.get("$ref")?.as_str()?)
    }

    fn target_name(&self, reference: &str) -> Option<&'d str> {
        let Target::Here(pointer, _) = self.document.target(reference) else { return None };
        self.names.get(&pointer).copied()
    }

    fn pointer(&self, name: &str) -> String {
        format!("#{}/{}", self.folder, escape_token(name))
    }

    /// The schemas that extend a schema, directly or indirectly.
    fn descendants(&self, parent: &'d str) -> BTreeSet<&'d str> {
        let mut found = BTreeSet::new();
        let mut open = vec![parent];
        while let Some(name) = open.pop() {
            let children = self.extending.get(name).into_iter().flatten();
            open.extend(children.filter(|child| **child != parent && found.insert(**child)));
        }
        found
    }

    /// Adds the values of a discriminator for schemas: those that are mapped, or the schema's name.
    fn add_constants(
        &self,
        discriminator: &Discriminator<'d>,
        names: impl Iterator<Item = &'d str>,
        constants: &mut Constants<'d>,
    ) {
        let mut mapped: BTreeMap<&str, Vec<&'d str>> = BTreeMap::new();
        for (value, to) in discriminator.mapping.into_iter().flatten() {
            if let Some(name) = to.as_str().and_then(|to| self.target_name(to)) {
                mapped.entry(name).or_default().push(value);
            }
        }
        for name in names {
            let values = constants.entry((name, discriminator.property)).or_default();
            values.extend(mapped.get(name).unwrap_or(&vec![name]));
        }
    }

    /// Turns a schema into the union of its children, which extend what it was.
    fn replace_by_union(
        &self,
        schemas: &mut Map<String, Value>,
        parent: &str,
        discriminator: &Discriminator<'_>,
        children: &BTreeSet<&str>,
    ) {
        let mut names = (1..).map(|number| match number {
            1 => format!("{parent}Base"),
            number => format!("{parent}Base{number}"),
        });
        let Some(base) = names.find(|name| !schemas.contains_key(name)) else { return };
        for child in self.extending.get(parent).into_iter().flatten() {
            let parts = schemas.get_mut(*child).and_then(|it| it.get_mut("allOf")?.as_array_mut());
            for part in parts.into_iter().flatten() {
                if self.name(part) == Some(parent) {
                    part["$ref"] = self.pointer(&base).into();
                }
            }
        }
        let members: Vec<Value> =
            children.iter().map(|it| json!({"$ref": self.pointer(it)})).collect();
        let property = discriminator.property;
        let mut union = json!({"oneOf": members, "discriminator": {"propertyName": property}});
        let Some(whole) = schemas.get_mut(parent) else { return };
        if let Some(description) = whole.get("description") {
            union["description"] = description.clone();
        }
        let whole = std::mem::replace(whole, union);
        schemas.insert(base, whole);
    }

    /// Whether the values that a schema lists for a property have a value.
    fn allows(&self, schema: &Value, property: &str, value: &str, depth: usize) -> bool {
        if depth > MAX_CHAIN {
            return true;
        }
        let target = |schema: &Value| self.document.here(schema.get("$ref")?.as_str()?);
        let lists = |schema: &Value| {
            let schema = target(schema).unwrap_or(schema);
            schema.get("const").is_none_or(|it| it == value)
                && schema
                    .get("enum")
                    .and_then(Value::as_array)
                    .is_none_or(|values| values.iter().any(|it| it == value))
        };
        schema.get("properties").and_then(|it| it.get(property)).is_none_or(lists)
            && target(schema).is_none_or(|it| self.allows(it, property, value, depth + 1))
            && schema.get("allOf").and_then(Value::as_array).is_none_or(|parts| {
                parts.iter().all(|part| self.allows(part, property, value, depth + 1))
            })
    }
}

fn constant(values: &[&str]) -> (&'static str, Value) {
    match values {
        [only] => ("const", (*only).into()),
        _ => ("enum", values.into()),
    }
}

/// The schema of objects whose property has one of the values.
fn constant_part(property: &str, values: &[&str]) -> Value {
    let (keyword, value) = constant(values);
    json!({
        "type": "object",
        "properties": {property: {"type": "string", keyword: value}},
        "required": [property]
    })
}

/// Fixes the value of a property, which is required then.
fn add_constant(schema: &mut Value, property: &str, values: &[&str]) {
    let Value::Object(map) = schema else { return };
    if let Some(parts) = map.get_mut("allOf").and_then(Value::as_array_mut) {
        parts.push(constant_part(property, values));
        return;
    }
    let properties = map.entry("properties").or_insert_with(|| json!({}));
    let Value::Object(properties) = properties else { return };
    let own = properties.entry(property).or_insert_with(|| json!({}));
    if let Value::Object(own) = own
        && !own.contains_key("$ref")
    {
        let (keyword, value) = constant(values);
        own.shift_remove("enum");
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

/// Adds constants to the members of unions with a discriminator, by the schema that a member refers to
/// and the property.
fn inline_constants(
    value: &mut Value,
    constants: &BTreeMap<(String, &str), Value>,
    document: &Document<'_>,
) {
    let property = Discriminator::of(value).map(|it| it.property.to_owned());
    if let Some(property) = property {
        for key in ["oneOf", "anyOf"] {
            let members = value.get_mut(key).and_then(Value::as_array_mut);
            for member in members.into_iter().flatten() {
                let to = member.get("$ref").and_then(Value::as_str).map(|to| document.target(to));
                if let Some(Target::Here(pointer, _)) = to
                    && let Some(part) = constants.get(&(format!("#{pointer}"), &*property))
                {
                    *member = json!({"allOf": [member.take(), part]});
                }
            }
        }
    }
    match value {
        Value::Object(map) => {
            for value in map.values_mut() {
                inline_constants(value, constants, document);
            }
        }
        Value::Array(items) => {
            for item in items {
                inline_constants(item, constants, document);
            }
        }
        _ => {}
    }
}
