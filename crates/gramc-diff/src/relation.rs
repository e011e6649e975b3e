//! How the values that one schema allows relate to those that another one allows.
//!
//! A producer sends values and a consumer takes them: for the parameters of a tool the callers of the
//! old version and the new version, for its result the new version and the callers of the old one.

use std::collections::BTreeSet;

use gramc_json_schema::annotations::assertions;
use gramc_json_schema::containment::{Containment, Counterexample, confirm, decide};
use gramc_json_schema::keywords::{Keyword, KeywordValue};
use gramc_json_schema::values::same;
use serde_json::{Map, Value, json};

/// Whether the consumer refuses a value that the producer sends.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Breaks {
    /// It accepts all of them, by a proof.
    No,
    /// It refuses one.
    Yes(Counterexample),
    /// Neither could be shown, for a reason.
    Unknown(String),
}

/// How two schemas relate.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Relation {
    pub(crate) breaks: Breaks,
    /// Where the consumer accepts a value that the producer never sends, as a JSON pointer.
    pub(crate) relaxes: Option<String>,
}

impl Relation {
    /// The relation of schemas that allow the same values.
    pub(crate) const EQUAL: Self = Self { breaks: Breaks::No, relaxes: None };

    /// Compares two schemas. The undeclared properties of a root are set aside even if it declares none.
    pub(crate) fn of(producer: &Value, consumer: &Value, is_root: bool) -> Self {
        if same(&assertions(producer, true), &assertions(consumer, true)) {
            return Self::EQUAL;
        }
        let (mut names, mut wanted) = (BTreeSet::new(), BTreeSet::new());
        declared_names(consumer, &mut names);
        wanted_names(producer, &mut wanted);
        wanted_names(consumer, &mut wanted);
        names.retain(|name| !wanted.contains(name));
        let mut sent = producer.clone();
        Restriction { names: &names, is_of_producer: true }.apply(&mut sent, is_root);
        let mut taken = consumer.clone();
        Restriction { names: &names, is_of_producer: false }.apply(&mut taken, is_root);
        let refused = |producer: &Value| match decide(consumer, producer) {
            Containment::Proven => Breaks::No,
            Containment::Refuted(example) => Breaks::Yes(example),
            Containment::Undecided(why) => Breaks::Unknown(why),
        };
        let breaks = match refused(&sent) {
            // Closing the members of a `oneOf` can allow values that several of them allowed.
            Breaks::Yes(example) => match confirm(consumer, producer, example.value) {
                Some(example) => Breaks::Yes(example),
                None => refused(producer),
            },
            breaks => breaks,
        };
        let relaxes = match decide(&sent, &taken) {
            Containment::Refuted(example) => Some(example.pointer),
            // If nothing breaks and the schemas differ, it is likely.
            Containment::Undecided(_) if breaks == Breaks::No => Some(String::new()),
            Containment::Proven | Containment::Undecided(_) => None,
        };
        Self { breaks, relaxes }
    }
}

/// Collects the names of all properties that a schema declares anywhere.
fn declared_names<'s>(schema: &'s Value, names: &mut BTreeSet<&'s str>) {
    let Value::Object(keywords) = schema else { return };
    for (key, value) in keywords {
        let keyword = Keyword::of(key);
        if let (Keyword::Properties, Value::Object(properties)) = (keyword, value) {
            names.extend(properties.keys().map(String::as_str));
        }
        keyword.subschemas(value).into_iter().for_each(|part| declared_names(part, names));
    }
}

/// Collects the names of properties that objects require without declaring them.
fn wanted_names<'s>(schema: &'s Value, names: &mut BTreeSet<&'s str>) {
    let Value::Object(keywords) = schema else { return };
    let declared = keywords.get("properties").and_then(Value::as_object);
    let dependent = keywords.get("dependentRequired").and_then(Value::as_object);
    let dependent = dependent.into_iter().flatten();
    let sources = dependent.clone().map(|(source, _)| source.as_str());
    let lists = dependent.map(|(_, names)| names).chain(keywords.get("required"));
    let listed = lists.filter_map(Value::as_array).flatten().filter_map(Value::as_str);
    let is_declared = |name: &str| declared.is_some_and(|declared| declared.contains_key(name));
    names.extend(listed.chain(sources).filter(|name| !is_declared(name)));
    for (key, value) in keywords {
        for part in Keyword::of(key).subschemas(value) {
            wanted_names(part, names);
        }
    }
}

/// Properties that are set aside: a consumer declares them, an open object of the producer allows any
/// value of that name, and no caller sends one.
struct Restriction<'s> {
    names: &'s BTreeSet<&'s str>,
    /// Whether only those objects are restricted that say nothing else of undeclared properties.
    is_of_producer: bool,
}

impl Restriction<'_> {
    /// Forbids the properties in open objects that declare other ones.
    fn apply(&self, schema: &mut Value, is_root: bool) {
        let Value::Object(keywords) = schema else { return };
        let is_open = keywords.get("additionalProperties").is_none_or(is_anything);
        let is_silent = is_open && !constrains_names(keywords, self.names);
        // The members of an intersection do not know the properties of each other.
        let is_plain = !keywords.keys().any(|key| Keyword::of(key).applies_in_place());
        let declares = keywords.get("properties").is_some_and(Value::is_object);
        if (is_silent || !self.is_of_producer) && is_plain && (declares || is_root) {
            let properties = keywords.entry("properties").or_insert_with(|| Map::new().into());
            if let Value::Object(properties) = properties {
                for name in self.names {
                    properties.entry(*name).or_insert(Value::Bool(false));
                }
            }
        }
        for (key, value) in keywords {
            let keyword = Keyword::of(key);
            // Forbidding more in the others would allow more.
            let is_positive = matches!(
                keyword,
                Keyword::Properties
                    | Keyword::PatternProperties
                    | Keyword::AdditionalProperties
                    | Keyword::Items
                    | Keyword::PrefixItems
                    | Keyword::AnyOf
                    | Keyword::OneOf
                    | Keyword::Defs
                    | Keyword::Definitions
            );
            if is_positive && keyword.value() != KeywordValue::Value {
                for part in keyword.subschemas_mut(value) {
                    self.apply(part, false);
                }
            }
        }
    }
}

/// Whether an object says which names its properties have, or what values some of these names have.
fn constrains_names(keywords: &Map<String, Value>, names: &BTreeSet<&str>) -> bool {
    if keywords.contains_key("propertyNames") {
        return true;
    }
    let Some(Value::Object(patterns)) = keywords.get("patternProperties") else { return false };
    let none: Map<_, _> = patterns.keys().map(|key| (key.clone(), Value::Bool(false))).collect();
    let all: Map<_, _> = names.iter().map(|name| ((*name).to_owned(), Value::Null)).collect();
    confirm(&Value::Bool(false), &json!({"patternProperties": none}), all.into()).is_none()
}

/// Whether a schema allows every value by its form.
pub(crate) fn is_anything(schema: &Value) -> bool {
    match schema {
        Value::Bool(answer) => *answer,
        Value::Object(keywords) => keywords.is_empty(),
        _ => false,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failed step fails the test")]
mod tests {
    use super::*;

    #[expect(clippy::needless_pass_by_value, reason = "it takes what `json!` makes")]
    fn object(properties: Value, open: Option<bool>) -> Value {
        let mut schema = json!({"type": "object", "properties": properties});
        if let Some(open) = open {
            schema["additionalProperties"] = open.into();
        }
        schema
    }

    fn relation(producer: &Value, consumer: &Value) -> (Option<bool>, bool) {
        let Relation { breaks, relaxes } = Relation::of(producer, consumer, true);
        let breaks = match breaks {
            Breaks::No => Some(false),
            Breaks::Yes(_) => Some(true),
            Breaks::Unknown(_) => None,
        };
        (breaks, relaxes.is_some())
    }

    #[test]
    fn new_properties_of_open_objects_are_set_aside() {
        let (a, b) = (json!({"type": "string"}), json!({"type": "integer"}));
        let old = object(json!({"a": a}), None);
        let new = object(json!({"a": a, "b": b}), None);
        assert_eq!(relation(&old, &new), (Some(false), true));
        // An open object still takes what it no longer declares.
        assert_eq!(relation(&new, &old), (Some(false), true));
        let closed = object(json!({"a": a}), Some(false));
        assert_eq!(relation(&old, &closed), (Some(true), false));
        assert_eq!(relation(&new, &closed), (Some(true), false));
        assert_eq!(relation(&closed, &old), (Some(false), true));
        assert_eq!(
            relation(&closed, &object(json!({"a": a, "b": b}), Some(false))),
            (Some(false), true)
        );
        let empty = json!({"type": "object"});
        assert_eq!(relation(&empty, &old), (Some(false), true));
        let nested =
            |inner: &Value| object(json!({"x": {"anyOf": [inner, {"type": "null"}]}}), None);
        assert_eq!(relation(&nested(&old), &nested(&new)), (Some(false), true));
        // What another part declares makes no difference.
        let with = |inner: &Value, more: Value| object(json!({"x": inner, "y": more}), None);
        let other = with(&old, json!({"type": "object", "properties": {"c": {"type": "null"}}}));
        let more = json!({"type": "object", "properties": {"c": {}}});
        assert_eq!(relation(&with(&old, more), &other), (Some(true), false));
        // A map takes any name.
        let map = object(json!({"x": {"type": "object"}}), None);
        assert_eq!(relation(&map, &object(json!({"x": old}), None)), (Some(true), false));
    }

    #[test]
    fn names_that_an_object_speaks_of_are_not_set_aside() {
        let declared = |more: Value| {
            let mut schema =
                object(json!({"a": {"type": "string"}, "x": {"type": "integer"}}), None);
            schema.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            json!({"type": "object", "properties": {"o": schema}})
        };
        for (more, breaks) in [
            (json!({"required": ["x"]}), true),
            (json!({"dependentRequired": {"a": ["x"]}}), true),
            (json!({"dependentRequired": {"x": ["a"]}}), true),
            (json!({"propertyNames": {"enum": ["a", "x"]}}), true),
            (json!({"patternProperties": {"^x": {"type": "string"}}}), true),
            (json!({"patternProperties": {"^y": {"type": "string"}}}), false),
            (json!({"required": ["a"]}), false),
        ] {
            let new = declared(more);
            let mut old = new.clone();
            let properties = old.pointer_mut("/properties/o/properties").unwrap();
            properties.as_object_mut().unwrap().shift_remove("x");
            assert_eq!(relation(&old, &new).0, Some(breaks), "{old}");
        }
    }

    #[test]
    fn a_type_for_undeclared_properties_narrows() {
        let nested = |inner: Value| object(json!({"a": object(json!({"b": inner}), None)}), None);
        let typed = json!({"type": "object", "properties": {"c": {}}, "additionalProperties": {"type": "string"}});
        let old = nested(object(json!({"c": {}}), None));
        assert_eq!(relation(&old, &nested(typed.clone())), (Some(true), false));
        assert_eq!(relation(&nested(typed), &old), (Some(false), true));
    }

    #[test]
    fn a_narrower_schema_is_no_wider_one_where_that_is_undecided() {
        let texts = |pattern: &str| json!({"type": "string", "pattern": pattern});
        let (old, new) = (texts("^[a-z]+$"), texts("^[a-z]{1,5}$"));
        assert_eq!(relation(&old, &new), (Some(true), false));
    }

    #[test]
    fn what_constrains_nothing_makes_no_difference() {
        let old =
            json!({"type": "object", "properties": {"a": {"description": "x"}}, "required": []});
        let new = json!({"type": "object", "properties": {"a": {"default": 1.0}}});
        assert_eq!(Relation::of(&old, &new, true), Relation::EQUAL);
        let first = json!({"required": ["a", "b"]});
        assert_eq!(Relation::of(&first, &json!({"required": ["b", "a"]}), true), Relation::EQUAL);
    }
}
