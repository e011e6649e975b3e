//! Types in a few bytes, which rule out most of the tools before schemas are compared.

use serde_json::Value;

use crate::schema::{assertions, only_reference, references};
use crate::words::hash;

/// The JSON types that a schema allows, and whether it asserts anything else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Summary {
    /// A superset of the JSON types of its values, one bit each.
    pub(crate) kinds: u8,
    /// The same of the items of its arrays.
    pub(crate) items: u8,
    pub(crate) flags: u8,
    /// Equal for schemas that assert the same.
    pub(crate) identity: u64,
}

/// Flag: the schema asserts nothing but the types of values and items.
const PLAIN: u8 = 1;
/// Flag: the schema refers to definitions.
const REFERS: u8 = 2;

/// The bits of all JSON types.
pub(crate) const ANY: u8 = 0b111_1111;
const NULL: u8 = 1;
const BOOLEAN: u8 = 2;
const INTEGER: u8 = 4;
const NUMBER: u8 = 4 | 8;
const STRING: u8 = 16;
const ARRAY: u8 = 32;
const OBJECT: u8 = 64;

/// The most parts of a schema that are read for the JSON types that it allows. References may lead to
/// the same part again and again.
const MAX_PARTS: usize = 500;

/// The most references in a row that are followed.
const MAX_REFERENCES: usize = 24;

/// How two types relate, as far as their summaries show it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Estimate {
    /// They assert the same. If they refer to definitions, these may differ.
    Same,
    /// All values of the narrow type are values of the wide one.
    Contained,
    /// Some values of the narrow type are none of the wide one, but not all.
    Overlapping,
    /// No value but null is one of both.
    Disjoint,
    /// The schemas have to be compared.
    Unknown,
}

impl Summary {
    pub(crate) const ANYTHING: Self =
        Self { kinds: ANY, items: ANY, flags: PLAIN, identity: 0xa11 };

    /// The summary of a schema. `resolve` finds definitions by name.
    pub(crate) fn of<'s>(schema: &'s Value, resolve: &dyn Fn(&str) -> Option<&'s Value>) -> Self {
        let schema = followed(schema, resolve);
        let (kinds, items) = kinds(schema, resolve, 0, &mut { MAX_PARTS });
        let plain = is_plain(schema);
        let refers = {
            let mut found = Vec::new();
            !references(schema, &mut found) || !found.is_empty()
        };
        if plain && kinds == ANY {
            return Self::ANYTHING;
        }
        let flags = if plain { PLAIN } else { 0 } | if refers { REFERS } else { 0 };
        Self { kinds, items, flags, identity: hash(&assertions(schema)) }
    }

    pub(crate) fn is_plain(self) -> bool {
        self.flags & PLAIN != 0
    }

    pub(crate) fn refers(self) -> bool {
        self.flags & REFERS != 0
    }

    pub(crate) fn is_anything(self) -> bool {
        self.kinds == ANY && self.is_plain()
    }

    /// Whether values of the type are told apart from others by more than a JSON type, so that it
    /// says something about a tool.
    pub(crate) fn is_specific(self) -> bool {
        !self.is_plain()
    }

    /// How a narrow type relates to a wide one.
    pub(crate) fn within(self, wide: Self) -> Estimate {
        if self.identity == wide.identity {
            return Estimate::Same;
        }
        if wide.is_anything() {
            return Estimate::Contained;
        }
        let common = self.kinds & wide.kinds & !NULL;
        let is_null = self.kinds == NULL && wide.kinds & NULL != 0;
        if common == 0 && !is_null && (self.kinds | wide.kinds) & !NULL != 0 {
            return Estimate::Disjoint;
        }
        if common == ARRAY && self.items & wide.items == 0 {
            return Estimate::Disjoint;
        }
        let is_within = self.kinds & !wide.kinds == 0
            && (self.kinds & ARRAY == 0 || self.items & !wide.items == 0);
        match (self.is_plain(), wide.is_plain()) {
            (_, true) if is_within => Estimate::Contained,
            (true, _) => Estimate::Overlapping,
            _ if !is_within && self.kinds.count_ones() > 1 => Estimate::Overlapping,
            _ => Estimate::Unknown,
        }
    }
}

/// The schema behind references that are all that a schema asserts.
fn followed<'s>(mut schema: &'s Value, resolve: &dyn Fn(&str) -> Option<&'s Value>) -> &'s Value {
    for _ in 0..MAX_REFERENCES {
        let Some(next) = only_reference(schema).and_then(|name| resolve(&name)) else { break };
        schema = next;
    }
    schema
}

/// A superset of the JSON types that a schema allows, and of those of its items.
fn kinds<'s>(
    schema: &'s Value,
    resolve: &dyn Fn(&str) -> Option<&'s Value>,
    depth: usize,
    left: &mut usize,
) -> (u8, u8) {
    let keywords = match schema {
        Value::Object(keywords) if depth < MAX_REFERENCES && *left > 0 => keywords,
        Value::Bool(false) => return (0, 0),
        _ => return (ANY, ANY),
    };
    *left -= 1;
    let (mut found, mut items) = (ANY, ANY);
    match keywords.get("type") {
        Some(Value::String(name)) => found &= bit(name),
        Some(Value::Array(names)) => {
            found &= names.iter().filter_map(Value::as_str).map(bit).fold(0, |all, bit| all | bit);
        }
        _ => {}
    }
    if let Some(Value::Array(values)) = keywords.get("enum") {
        found &= values.iter().map(value_bit).fold(0, |all, bit| all | bit);
    }
    if let Some(value) = keywords.get("const") {
        found &= value_bit(value);
    }
    let first = keywords.get("prefixItems").and_then(Value::as_array);
    if let Some(part) = keywords.get("items") {
        let rest = kinds(part, resolve, depth + 1, left).0;
        let first = first.into_iter().flatten().map(|item| kinds(item, resolve, depth + 1, left).0);
        items &= first.fold(rest, |all, kinds| all | kinds);
    }
    let referred = keywords.get("$ref").and_then(Value::as_str).and_then(crate::schema::def_name);
    let referred = referred.and_then(|name| resolve(&name));
    let all_of = keywords.get("allOf").and_then(Value::as_array);
    for part in referred.into_iter().chain(all_of.into_iter().flatten()) {
        let part = kinds(part, resolve, depth + 1, left);
        found &= part.0;
        items &= part.1;
    }
    for union in ["anyOf", "oneOf"] {
        if let Some(Value::Array(members)) = keywords.get(union) {
            let members = members.iter().map(|member| kinds(member, resolve, depth + 1, left));
            let member = members.fold((0, 0), |all, one| (all.0 | one.0, all.1 | one.1));
            found &= member.0;
            items &= member.1;
        }
    }
    (found, if found & ARRAY == 0 { 0 } else { items })
}

/// Whether a schema asserts nothing but JSON types, of the value and of its items.
fn is_plain(schema: &Value) -> bool {
    use gramc_json_schema::keywords::Keyword;

    let is_asserting = |key: &&String| !Keyword::of(key).is_annotation();
    match schema {
        Value::Bool(allowed) => *allowed,
        Value::Object(keywords) => {
            let mut asserting = keywords.keys().filter(is_asserting);
            asserting.all(|key| match key.as_str() {
                "type" => true,
                "items" => match &keywords["items"] {
                    Value::Object(items) => {
                        items.keys().filter(is_asserting).all(|key| key == "type")
                    }
                    value => value == true,
                },
                _ => false,
            })
        }
        _ => false,
    }
}

fn bit(name: &str) -> u8 {
    match name {
        "null" => NULL,
        "boolean" => BOOLEAN,
        "integer" => INTEGER,
        "number" => NUMBER,
        "string" => STRING,
        "array" => ARRAY,
        "object" => OBJECT,
        _ => ANY,
    }
}

fn value_bit(value: &Value) -> u8 {
    match value {
        Value::Null => NULL,
        Value::Bool(_) => BOOLEAN,
        Value::Number(_) => NUMBER,
        Value::String(_) => STRING,
        Value::Array(_) => ARRAY,
        Value::Object(_) => OBJECT,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(schema: &Value) -> Summary {
        Summary::of(schema, &|_| None)
    }

    #[test]
    fn summaries_show_simple_relations() {
        let text = of(&json!({"type": "string", "description": "a"}));
        let date = of(&json!({"type": "string", "format": "date"}));
        let integer = of(&json!({"type": "integer"}));
        let number = of(&json!({"type": "number"}));
        let anything = of(&json!({}));
        assert_eq!(text.within(of(&json!({"type": "string"}))), Estimate::Same);
        assert_eq!(date.within(text), Estimate::Contained);
        assert_eq!(text.within(date), Estimate::Overlapping);
        assert_eq!(integer.within(number), Estimate::Contained);
        assert_eq!(number.within(integer), Estimate::Overlapping);
        assert_eq!(text.within(integer), Estimate::Disjoint);
        assert_eq!(text.within(anything), Estimate::Contained);
        assert_eq!(anything.within(text), Estimate::Overlapping);
        assert!(anything.is_anything());
    }

    #[test]
    fn items_of_lists_count() {
        let texts = of(&json!({"type": "array", "items": {"type": "string"}}));
        let integers = of(&json!({"type": "array", "items": {"type": "integer"}}));
        let lists = of(&json!({"type": "array"}));
        assert_eq!(texts.within(integers), Estimate::Disjoint);
        assert_eq!(texts.within(lists), Estimate::Contained);
        assert_eq!(lists.within(texts), Estimate::Overlapping);
    }

    #[test]
    fn unions_of_themselves_end() {
        let member = json!({"type": "array", "items": {"$ref": "#/$defs/Own"}});
        let own = json!({"anyOf": vec![member; 20]});
        assert_ne!(Summary::of(&own, &|_| Some(&own)).kinds & ARRAY, 0);
    }

    #[test]
    fn references_are_followed() {
        let city = json!({"type": "string", "maxLength": 9});
        let summary = Summary::of(&json!({"$ref": "#/$defs/City"}), &|_| None);
        assert!(summary.refers());
        let resolved = json!({"$ref": "#/$defs/City"});
        assert_eq!(Summary::of(&resolved, &|_| Some(&city)), of(&city));
        // A reference to itself ends.
        let own = json!({"$ref": "#/$defs/Own"});
        assert!(Summary::of(&own, &|_| Some(&own)).refers());
    }
}
