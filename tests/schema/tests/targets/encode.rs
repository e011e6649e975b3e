//! The way forth: the arguments of a tool's own schema as a target's schema asks for them.
//!
//! This is what a model has to do that knows the call it wants to make and reads the target's
//! schema. It is written by hand from both schemas, and knows nothing of how one became the other.

use serde_json::{Map, Value};

/// Both schemas of one tool.
pub(crate) struct Encoder<'s> {
    pub(crate) own: &'s Value,
    pub(crate) target: &'s Value,
}

/// Arguments for the target's schema, and those for the own schema that they encode, without
/// what the target cannot be told.
pub(crate) type Encoded = (Value, Value);

/// Keywords that speak of one kind of value.
const OF_KINDS: [&str; 19] = [
    "uniqueItems",
    "items",
    "prefixItems",
    "properties",
    "required",
    "additionalProperties",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "pattern",
    "format",
    "minItems",
    "maxItems",
    "minProperties",
    "maxProperties",
];

/// How deep schemas are looked at.
const DEPTH: usize = 40;

impl Encoder<'_> {
    /// Arguments in the target's form; `None` where that is not plain to see.
    pub(crate) fn arguments(&self, arguments: &Value) -> Option<Encoded> {
        self.value(self.own, self.target, arguments, 0)
    }

    fn value(&self, own: &Value, target: &Value, value: &Value, depth: usize) -> Option<Encoded> {
        if depth > DEPTH {
            return None;
        }
        let target = followed(self.target, target)?;
        // A schema that says something of lists and objects, and not that its values are some of
        // these, is taken to mean them alone. So is one with such a sibling of a reference.
        let says = |schema: &Value| OF_KINDS.iter().any(|key| schema.get(*key).is_some());
        let beside = says(own) && own.get("$ref").is_some();
        let own = followed(self.own, own)?;
        if names_of_types(own).is_empty() && (beside || says(own)) {
            return None;
        }
        if is_json_text(target) {
            // Null may be allowed as well as the text.
            if value.is_null() && names_of_types(target).contains(&"null") {
                return Some((Value::Null, Value::Null));
            }
            // Of some other kind, it is what another member of a union says.
            let says = |words: &str| describes(target, &format!("JSON text of {words}"));
            let other =
                (says("an object") && !value.is_object()) || (says("a list") && !value.is_array());
            return (!other).then(|| (Value::String(value.to_string()), value.clone()));
        }
        // What says which keys there may be speaks of those of the other schema, too.
        if ["propertyNames", "minProperties", "maxProperties"]
            .iter()
            .any(|it| own.get(*it).is_some())
            || target.get("allOf").is_some()
            || own.get("allOf").is_some()
        {
            return None;
        }
        if let Some(members) = members_of(target) {
            return self.member(own, members, value, depth);
        }
        if members_of(own).is_some() {
            // The target says less, or in another way.
            return None;
        }
        match value {
            Value::Object(map) => self.object(own, target, map, depth),
            Value::Array(items) => self.array(own, target, items, depth),
            value => Some((value.clone(), value.clone())),
        }
    }

    /// The encoding by the first member of a union that takes it.
    fn member(
        &self,
        own: &Value,
        members: &[Value],
        value: &Value,
        depth: usize,
    ) -> Option<Encoded> {
        // Text that holds JSON is not told from other text, nor are lists that hold such text.
        let mut kinds = Vec::new();
        self.kinds(members, &mut kinds, depth);
        if ["string", "array"].iter().any(|kind| kinds.iter().filter(|k| k == &kind).count() > 1) {
            return None;
        }
        let null = |member: &Value| member.get("type").is_some_and(|ty| ty == "null");
        if value.is_null() && members.iter().any(null) {
            return Some((Value::Null, Value::Null));
        }
        let own_members = members_of(own);
        members.iter().enumerate().filter(|(_, member)| !null(member)).find_map(|(at, member)| {
            let own = match own_members {
                Some(own) if own.len() == members.len() => &own[at],
                // A union with null that the target needed for what may be left out.
                None if members.len() == 2 && members.iter().any(null) => own,
                _ => return None,
            };
            // By a member that does not take the value, it would be taken for something else.
            accepts(self.own, own, value).then_some(())?;
            let encoded = self.value(own, member, value, depth + 1)?;
            accepts(self.target, member, &encoded.0).then_some(encoded)
        })
    }

    /// The types of all members of a union, those of unions inside of it included.
    fn kinds<'t>(&'t self, members: &'t [Value], kinds: &mut Vec<&'t str>, depth: usize) {
        for member in members.iter().filter_map(|member| followed(self.target, member)) {
            match members_of(member) {
                Some(inner) if depth < DEPTH => self.kinds(inner, kinds, depth + 1),
                _ => kinds.extend(names_of_types(member)),
            }
        }
    }

    fn object(
        &self,
        own: &Value,
        target: &Value,
        map: &Map<String, Value>,
        depth: usize,
    ) -> Option<Encoded> {
        let none = Map::new();
        let properties =
            |schema: &'_ Value| schema.get("properties").and_then(Value::as_object).cloned();
        let (own_fields, fields) = (properties(own), properties(target));
        let (own_fields, fields) =
            (own_fields.unwrap_or_else(|| none.clone()), fields.unwrap_or_else(|| none.clone()));
        if own_fields.len() != fields.len() {
            return None;
        }
        let (mut encoded, mut known) = (Map::new(), Map::new());
        // Names may be others; the order is the same.
        for ((name, own_field), (key, field)) in own_fields.iter().zip(&fields) {
            if let Some(value) = map.get(name) {
                let (value, own_value) = self.value(own_field, field, value, depth + 1)?;
                encoded.insert(key.clone(), value);
                known.insert(name.clone(), own_value);
            } else if requires(target, key) {
                if requires(own, name) {
                    return None;
                }
                encoded.insert(key.clone(), Value::Null);
            }
        }
        for (name, value) in map.iter().filter(|(name, _)| !own_fields.contains_key(*name)) {
            let any = Value::Bool(true);
            let own_rest = own.get("additionalProperties").unwrap_or(&any);
            let rest = target.get("additionalProperties").unwrap_or(&any);
            // The target may not be told, and may call something else by this name.
            if *rest == Value::Bool(false) || fields.contains_key(name) {
                continue;
            }
            let (value, own_value) = self.value(own_rest, rest, value, depth + 1)?;
            encoded.insert(name.clone(), value);
            known.insert(name.clone(), own_value);
        }
        Some((Value::Object(encoded), Value::Object(known)))
    }

    fn array(&self, own: &Value, target: &Value, items: &[Value], depth: usize) -> Option<Encoded> {
        let any = Value::Bool(true);
        let schema_at = |schema: &Value, at: usize| {
            let prefix = schema.get("prefixItems").and_then(Value::as_array);
            let first = prefix.and_then(|prefix| prefix.get(at));
            first.or_else(|| schema.get("items")).unwrap_or(&any).clone()
        };
        let (mut encoded, mut known) = (Vec::new(), Vec::new());
        for (at, item) in items.iter().enumerate() {
            let (own, target) = (schema_at(own, at), schema_at(target, at));
            let (item, own_item) = self.value(&own, &target, item, depth + 1)?;
            encoded.push(item);
            known.push(own_item);
        }
        Some((Value::Array(encoded), Value::Array(known)))
    }
}

/// What a schema refers to, for as long as it does.
fn followed<'s>(root: &'s Value, mut schema: &'s Value) -> Option<&'s Value> {
    for _ in 0..DEPTH {
        let Some(reference) = schema.get("$ref").and_then(Value::as_str) else {
            return Some(schema);
        };
        schema = root.pointer(&decoded(reference.strip_prefix('#')?))?;
    }
    None
}

/// A fragment of a URI decoded.
fn decoded(fragment: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = fragment.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let digits: String = rest.by_ref().take(2).map(char::from).collect();
            bytes.push(u8::from_str_radix(&digits, 16).expect("two digits behind a percent sign"));
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).expect("text")
}

/// Whether a place takes text that holds JSON. It says so.
fn is_json_text(schema: &Value) -> bool {
    names_of_types(schema).contains(&"string") && describes(schema, "JSON text of ")
}

/// Whether a schema's description holds some words.
fn describes(schema: &Value, words: &str) -> bool {
    let text = schema.get("description").and_then(Value::as_str);
    text.is_some_and(|text| text.contains(words))
}

fn names_of_types(schema: &Value) -> Vec<&str> {
    match schema.get("type") {
        Some(Value::String(name)) => vec![name],
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

fn members_of(schema: &Value) -> Option<&[Value]> {
    let members = schema.get("anyOf").or_else(|| schema.get("oneOf"));
    members.and_then(Value::as_array).map(Vec::as_slice)
}

fn requires(schema: &Value, name: &str) -> bool {
    let names = schema.get("required").and_then(Value::as_array);
    names.is_some_and(|names| names.iter().any(|known| known == name))
}

/// Whether a part of a schema accepts a value.
fn accepts(root: &Value, part: &Value, value: &Value) -> bool {
    let Value::Object(part) = part else { return *part == Value::Bool(true) };
    let mut schema = part.clone();
    for key in ["$defs", "definitions"] {
        if let Some(types) = root.get(key) {
            schema.insert(key.to_owned(), types.clone());
        }
    }
    super::validator(&Value::Object(schema)).is_ok_and(|schema| schema.is_valid(value))
}
