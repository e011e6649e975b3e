//! Types in a few bytes, which rule out most of the tools before schemas are compared.

use gramc_json_schema::annotations::assertions;
use gramc_json_schema::keywords::Keyword;
use gramc_json_schema::type_set::TypeSet;
use gramc_json_schema::values::canonical;
use serde_json::{Map, Value};

use crate::relation::Relation;
use crate::schema::{only_reference, references};
use crate::words::hash;

/// The JSON types that a schema allows, and whether it asserts anything else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Summary {
    /// A superset of the JSON types of its values.
    pub(crate) kinds: TypeSet,
    /// The same of the items of its arrays.
    pub(crate) items: TypeSet,
    /// Whether it asserts nothing but the types of values and items.
    pub(crate) is_plain: bool,
    /// Whether it refers to definitions.
    pub(crate) refers: bool,
    /// Equal for schemas that assert the same.
    pub(crate) identity: u64,
}

/// The most parts of a schema that are read for the JSON types that it allows. References may lead to
/// the same part again and again.
const MAX_PARTS: usize = 500;

/// The most references in a row that are followed.
const MAX_REFERENCES: usize = 24;

impl Summary {
    const ANYTHING: Self = Self {
        kinds: TypeSet::ALL,
        items: TypeSet::ALL,
        is_plain: true,
        refers: false,
        identity: 0xa11,
    };

    /// The summary of a schema. `resolve` finds definitions by name.
    pub(crate) fn of<'s>(schema: &'s Value, resolve: &dyn Fn(&str) -> Option<&'s Value>) -> Self {
        let schema = follow(schema, resolve);
        let (kinds, items) = kinds(schema, resolve, 0, &mut { MAX_PARTS });
        let is_plain = is_plain(schema);
        if is_plain && kinds == TypeSet::ALL {
            return Self::ANYTHING;
        }
        let mut found = Vec::new();
        let refers = !references(schema, &mut found) || !found.is_empty();
        let identity = hash(&canonical(&assertions(schema, false)));
        Self { kinds, items, is_plain, refers, identity }
    }

    pub(crate) fn is_anything(self) -> bool {
        self.kinds == TypeSet::ALL && self.is_plain
    }

    /// How a narrow type relates to a wide one. If both refer to definitions, types with the same
    /// assertions may differ. `None` if the schemas have to be compared.
    pub(crate) fn within(self, wide: Self) -> Option<Relation> {
        if self.identity == wide.identity {
            return Some(Relation::Same);
        }
        if wide.is_anything() {
            return Some(Relation::Within);
        }
        let without_null = |types: TypeSet| types.without(TypeSet::NULL);
        let common = without_null(self.kinds.and(wide.kinds));
        let is_null = self.kinds == TypeSet::NULL && wide.kinds.meets(TypeSet::NULL);
        let is_more = without_null(self.kinds.or(wide.kinds)) != TypeSet::NONE;
        if common == TypeSet::NONE && !is_null && is_more {
            return Some(Relation::Disjoint);
        }
        if common == TypeSet::ARRAY && !self.items.meets(wide.items) {
            return Some(Relation::Disjoint);
        }
        let is_within = wide.kinds.has(self.kinds)
            && (!self.kinds.meets(TypeSet::ARRAY) || wide.items.has(self.items));
        let has_several = self.kinds.count() > 1 || self.kinds.has(TypeSet::NUMBER);
        match (self.is_plain, wide.is_plain) {
            (_, true) if is_within => Some(Relation::Within),
            (true, _) => Some(Relation::Crossing),
            _ if !is_within && has_several => Some(Relation::Crossing),
            _ => None,
        }
    }
}

/// The schema behind references that are all that a schema asserts.
fn follow<'s>(mut schema: &'s Value, resolve: &dyn Fn(&str) -> Option<&'s Value>) -> &'s Value {
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
) -> (TypeSet, TypeSet) {
    let keywords = match schema {
        Value::Object(keywords) if depth < MAX_REFERENCES && *left > 0 => keywords,
        Value::Bool(false) => return (TypeSet::NONE, TypeSet::NONE),
        _ => return (TypeSet::ALL, TypeSet::ALL),
    };
    *left -= 1;
    let list = |key: &str| keywords.get(key).and_then(Value::as_array);
    let mut found = TypeSet::declared(schema).unwrap_or(TypeSet::ALL);
    let mut items = TypeSet::ALL;
    if let Some(values) = list("enum") {
        found = found.and(TypeSet::of_values(values));
    }
    if let Some(value) = keywords.get("const") {
        found = found.and(TypeSet::of_values([value]));
    }
    if let Some(part) = keywords.get("items") {
        let first = list("prefixItems").into_iter().flatten();
        let all = first.chain([part]).map(|item| kinds(item, resolve, depth + 1, left).0);
        items = all.fold(TypeSet::NONE, TypeSet::or);
    }
    let referred = keywords.get("$ref").and_then(Value::as_str).and_then(crate::schema::def_name);
    let referred = referred.and_then(|name| resolve(&name));
    for part in referred.into_iter().chain(list("allOf").into_iter().flatten()) {
        let part = kinds(part, resolve, depth + 1, left);
        (found, items) = (found.and(part.0), items.and(part.1));
    }
    for members in ["anyOf", "oneOf"].into_iter().filter_map(list) {
        let members = members.iter().map(|member| kinds(member, resolve, depth + 1, left));
        let none = (TypeSet::NONE, TypeSet::NONE);
        let union = members.fold(none, |all, one| (all.0.or(one.0), all.1.or(one.1)));
        (found, items) = (found.and(union.0), items.and(union.1));
    }
    (found, if found.meets(TypeSet::ARRAY) { items } else { TypeSet::NONE })
}

/// Whether a schema asserts nothing but JSON types, of the value and of its items.
fn is_plain(schema: &Value) -> bool {
    let is_asserting = |key: &&String| !Keyword::of(key).is_annotation();
    let has_only_type =
        |items: &Map<String, Value>| items.keys().filter(is_asserting).all(|key| key == "type");
    let Value::Object(keywords) = schema else { return *schema == true };
    keywords.iter().filter(|(key, _)| is_asserting(key)).all(|(key, value)| {
        key == "type" || (key == "items" && value.as_object().map_or(*value == true, has_only_type))
    })
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
        assert_eq!(text.within(of(&json!({"type": "string"}))), Some(Relation::Same));
        assert_eq!(date.within(text), Some(Relation::Within));
        assert_eq!(text.within(date), Some(Relation::Crossing));
        assert_eq!(integer.within(number), Some(Relation::Within));
        assert_eq!(number.within(integer), Some(Relation::Crossing));
        assert_eq!(text.within(integer), Some(Relation::Disjoint));
        assert_eq!(text.within(anything), Some(Relation::Within));
        assert_eq!(anything.within(text), Some(Relation::Crossing));
        assert!(anything.is_anything());
    }

    #[test]
    fn items_of_lists_count() {
        let texts = of(&json!({"type": "array", "items": {"type": "string"}}));
        let integers = of(&json!({"type": "array", "items": {"type": "integer"}}));
        let lists = of(&json!({"type": "array"}));
        assert_eq!(texts.within(integers), Some(Relation::Disjoint));
        assert_eq!(texts.within(lists), Some(Relation::Within));
        assert_eq!(lists.within(texts), Some(Relation::Crossing));
    }

    #[test]
    fn unions_of_themselves_end() {
        let member = json!({"type": "array", "items": {"$ref": "#/$defs/Own"}});
        let own = json!({"anyOf": vec![member; 20]});
        assert!(Summary::of(&own, &|_| Some(&own)).kinds.meets(TypeSet::ARRAY));
    }

    #[test]
    fn references_are_followed() {
        let city = json!({"type": "string", "maxLength": 9});
        let summary = Summary::of(&json!({"$ref": "#/$defs/City"}), &|_| None);
        assert!(summary.refers);
        let resolved = json!({"$ref": "#/$defs/City"});
        assert_eq!(Summary::of(&resolved, &|_| Some(&city)), of(&city));
        // A reference to itself ends.
        let own = json!({"$ref": "#/$defs/Own"});
        assert!(Summary::of(&own, &|_| Some(&own)).refers);
    }
}
