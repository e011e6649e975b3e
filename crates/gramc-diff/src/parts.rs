//! The differences between two schemas of objects, property by property.

use gramc_json_schema::containment::{confirm, example};
use gramc_json_schema::keywords::Keyword;
use gramc_json_schema::pointer::escape_token;
use serde_json::{Map, Value};

use crate::relation::{Breaks, Relation, is_anything};

/// A difference of one part of two schemas.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Difference {
    /// The part, as a JSON pointer into the values.
    pub(crate) pointer: String,
    pub(crate) part: Part,
    /// Whether the consumer refuses a value of the producer. A counterexample is a complete value.
    pub(crate) breaks: Breaks,
    /// Whether the consumer accepts values that the producer never sends.
    pub(crate) relaxes: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    /// The values of a property, or the whole value.
    Values,
    /// Whether a property is required.
    Presence,
    OnlyProduced,
    OnlyConsumed {
        required: bool,
    },
    /// The properties that are not declared.
    Undeclared,
}

/// The differences between the schemas of a producer and of a consumer.
pub(crate) fn differences(producer: &Value, consumer: &Value) -> Vec<Difference> {
    if let (Some(sent), Some(taken)) = (PlainObject::of(producer), PlainObject::of(consumer))
        && let Some(found) = (Comparison { producer: sent, consumer: taken }).differences()
    {
        return found;
    }
    let Relation { breaks, relaxes } = Relation::of(producer, consumer, true);
    let pointer = match (&breaks, &relaxes) {
        (Breaks::Yes(example), _) => example.pointer.clone(),
        (Breaks::No, Some(place)) => place.clone(),
        (Breaks::No, None) => return Vec::new(),
        (Breaks::Unknown(_), _) => String::new(),
    };
    vec![Difference { pointer, part: Part::Values, breaks, relaxes: relaxes.is_some() }]
}

/// A schema of an object that says nothing of it but its properties, one by one.
struct PlainObject<'s> {
    root: &'s Value,
    properties: Option<&'s Map<String, Value>>,
    required: Vec<&'s str>,
    /// The schema of undeclared properties.
    others: &'s Value,
    defs: Vec<(&'s String, &'s Value)>,
}

impl<'s> PlainObject<'s> {
    fn of(root: &'s Value) -> Option<Self> {
        let keywords = root.as_object()?;
        let is_plain = |key: &String| {
            let keyword = Keyword::of(key);
            matches!(
                keyword,
                Keyword::Type
                    | Keyword::Properties
                    | Keyword::Required
                    | Keyword::AdditionalProperties
            ) || (keyword.is_annotation() && keyword != Keyword::Id)
        };
        if keywords.get("type")? != "object"
            || !keywords.keys().all(is_plain)
            || !refers_to_defs_only(root, true)
        {
            return None;
        }
        let names = keywords.get("required").and_then(Value::as_array);
        let is_defs = |key: &str| matches!(Keyword::of(key), Keyword::Defs | Keyword::Definitions);
        Some(Self {
            root,
            properties: keywords.get("properties").and_then(Value::as_object),
            required: names.into_iter().flatten().filter_map(Value::as_str).collect(),
            others: keywords.get("additionalProperties").unwrap_or(&Value::Bool(true)),
            defs: keywords.iter().filter(|(key, _)| is_defs(key)).collect(),
        })
    }

    fn names(&self) -> impl Iterator<Item = &'s str> {
        self.properties.into_iter().flat_map(Map::keys).map(String::as_str)
    }

    fn property(&self, name: &str) -> Option<&'s Value> {
        self.properties?.get(name)
    }

    fn requires(&self, name: &str) -> bool {
        self.required.contains(&name)
    }

    /// The schema of a part as a document.
    fn document(&self, part: &Value) -> Value {
        let mut part = part.clone();
        if part.to_string().contains("\"$ref\"")
            && let Value::Object(keywords) = &mut part
        {
            let defs = self.defs.iter().map(|(key, value)| ((*key).clone(), (*value).clone()));
            keywords.extend(defs);
        }
        part
    }
}

/// Whether all references of a schema lead to the definitions at its root, and only the root has
/// definitions.
fn refers_to_defs_only(schema: &Value, is_root: bool) -> bool {
    let Value::Object(keywords) = schema else { return true };
    keywords.iter().all(|(key, value)| {
        let keyword = Keyword::of(key);
        let fits = match keyword {
            Keyword::Ref => value.as_str().is_some_and(|reference| {
                reference.starts_with("#/$defs/") || reference.starts_with("#/definitions/")
            }),
            Keyword::DynamicRef | Keyword::RecursiveRef | Keyword::Id | Keyword::Anchor => false,
            Keyword::Defs | Keyword::Definitions => is_root,
            _ => true,
        };
        fits && keyword.subschemas(value).into_iter().all(|part| refers_to_defs_only(part, false))
    })
}

struct Comparison<'s> {
    producer: PlainObject<'s>,
    consumer: PlainObject<'s>,
}

impl<'s> Comparison<'s> {
    /// The differences, in the order of the properties. `None` if one cannot be shown by a complete
    /// value.
    fn differences(&self) -> Option<Vec<Difference>> {
        let Self { producer, consumer } = self;
        let more = consumer.names().filter(|name| producer.property(name).is_none());
        let more: Vec<&str> = more.collect();
        let mut names: Vec<&str> = producer.names().chain(more).collect();
        let known = |name: &str| names.contains(&name);
        let required = [&producer.required[..], &consumer.required[..]].concat();
        let unknown: Vec<_> = required.into_iter().filter(|name| !known(name)).collect();
        names.extend(unknown);
        let mut found = Vec::new();
        for name in names {
            self.property(name, &mut found)?;
        }
        self.compare_undeclared(&mut found)?;
        Some(found)
    }

    fn property(&self, name: &'s str, found: &mut Vec<Difference>) -> Option<()> {
        let Self { producer, consumer } = self;
        let place = format!("/{}", escape_token(name));
        let (always, needed) = (producer.requires(name), consumer.requires(name));
        let (mut sent, mut taken) = (producer.property(name), consumer.property(name));
        // A property that is not declared has the values of undeclared ones, if it is required or if
        // those have a type of their own.
        if let Some(taken) = taken {
            let others = producer.others;
            let is_typed = !is_anything(others) && others != &Value::Bool(false);
            if always || (is_typed && self.relation(others, taken) != Relation::EQUAL) {
                sent = sent.or(Some(others));
            }
        }
        if sent.is_some() && needed {
            taken = taken.or(Some(consumer.others));
        }
        let difference =
            |part, breaks, relaxes| Difference { pointer: place.clone(), part, breaks, relaxes };
        if sent.is_none() && taken.is_some() {
            let part = Part::OnlyConsumed { required: needed };
            let breaks = if needed { self.complete(name, None)? } else { Breaks::No };
            found.push(difference(part, breaks, true));
            return Some(());
        }
        if sent.is_some() && taken.is_none() {
            let mut relation = self.relation(sent.unwrap_or(&Value::Null), consumer.others);
            if let Breaks::Yes(example) = relation.breaks {
                relation.breaks = self.complete(name, Some(example.value))?;
            }
            let relaxes = relation.relaxes.is_some();
            found.push(difference(Part::OnlyProduced, relation.breaks, relaxes));
        } else if let (Some(sent), Some(taken)) = (sent, taken) {
            let Relation { breaks, relaxes } = self.relation(sent, taken);
            let inner = match (&breaks, &relaxes) {
                (Breaks::Yes(example), _) => example.pointer.clone(),
                (Breaks::No, Some(place)) => place.clone(),
                _ => String::new(),
            };
            let breaks = match breaks {
                Breaks::Yes(example) => self.complete(name, Some(example.value))?,
                breaks => breaks,
            };
            if breaks != Breaks::No || relaxes.is_some() {
                let (pointer, relaxes) = (format!("{place}{inner}"), relaxes.is_some());
                found.push(Difference { pointer, part: Part::Values, breaks, relaxes });
            }
        }
        if always != needed && sent.is_some() == taken.is_some() {
            let breaks = if needed { self.complete(name, None)? } else { Breaks::No };
            found.push(difference(Part::Presence, breaks, !needed));
        }
        Some(())
    }

    fn compare_undeclared(&self, found: &mut Vec<Difference>) -> Option<()> {
        let mut relation = self.relation(self.producer.others, self.consumer.others);
        if let Breaks::Yes(example) = relation.breaks {
            let known = |name: &str| {
                self.producer.property(name).is_some() || self.consumer.property(name).is_some()
            };
            let numbered = (2..).map(|number| format!("undeclared{number}"));
            let mut names = std::iter::once("undeclared".to_owned()).chain(numbered);
            let name = names.find(|name| !known(name))?;
            relation.breaks = self.complete(&name, Some(example.value))?;
        }
        if relation != Relation::EQUAL {
            let Relation { breaks, relaxes } = relation;
            let (pointer, relaxes) = (String::new(), relaxes.is_some());
            found.push(Difference { pointer, part: Part::Undeclared, breaks, relaxes });
        }
        Some(())
    }

    fn relation(&self, sent: &Value, taken: &Value) -> Relation {
        Relation::of(&self.producer.document(sent), &self.consumer.document(taken), false)
    }

    /// A complete value of the producer with a value for one property, or without that property,
    /// that the consumer refuses, and for no other reason if possible. `None` if there is none.
    fn complete(&self, name: &str, value: Option<Value>) -> Option<Breaks> {
        let mut object = Map::new();
        for required in self.producer.required.iter().filter(|other| **other != name) {
            object.insert((*required).to_owned(), self.example_of(required)?);
        }
        object.extend(value.map(|value| (name.to_owned(), value)));
        let mut whole = object.clone();
        for required in self.consumer.required.iter().filter(|other| **other != name) {
            if !whole.contains_key(*required) {
                whole.insert((*required).to_owned(), self.example_of(required)?);
            }
        }
        let mut found = [whole, object].into_iter().filter_map(|object| {
            confirm(self.consumer.root, self.producer.root, Value::Object(object))
        });
        found.next().map(Breaks::Yes)
    }

    /// A value of a property that the producer sends, and that the consumer accepts if possible.
    fn example_of(&self, name: &str) -> Option<Value> {
        let sent = self.producer.property(name).unwrap_or(self.producer.others);
        let sent = self.producer.document(sent);
        let taken = self.consumer.property(name).map(|taken| self.consumer.document(taken));
        let shared = taken.and_then(|taken| example(&taken));
        shared
            .and_then(|value| confirm(&Value::Bool(false), &sent, value))
            .map(|found| found.value)
            .or_else(|| example(&sent))
    }
}
