//! The properties of objects, in a schema and in the schemas that it combines.

use std::collections::HashMap;
use std::rc::Rc;

use gramc_json_schema::keywords::{Keyword as K, name as k};
use gramc_json_schema::text::MAX_SCHEMA_DEPTH;
use serde_json::Value;

use super::parts::{self, Object};
use super::{Lowerer, MAX_INLINED};

/// The properties that objects of a schema can have, and those that they need.
#[derive(Clone, Default)]
pub(super) struct Combined {
    pub(super) properties: Object,
    pub(super) required: Vec<Value>,
    is_closed: bool,
    /// Whether the schema requires more than these properties.
    says_more: bool,
}

impl Combined {
    fn unknown() -> Self {
        Self { says_more: true, ..Self::default() }
    }

    /// Adds what another schema says about the same objects.
    fn add(&mut self, other: &Self) {
        // Properties of one part are refused by a closed other part.
        let is_limited = self.is_closed && !other.properties.is_empty()
            || other.is_closed && !self.properties.is_empty();
        self.says_more |= other.says_more || is_limited;
        self.is_closed |= other.is_closed;
        for (key, property) in &other.properties {
            self.properties.entry(key).or_insert_with(|| property.clone());
        }
        let new = other.required.iter().filter(|key| !self.required.contains(key));
        let new: Vec<Value> = new.cloned().collect();
        self.required.extend(new);
    }

    /// Adds what another member of a union says.
    fn add_alternative(&mut self, other: Self) {
        self.required.retain(|key| other.required.contains(key));
        for (key, property) in other.properties {
            match self.properties.get_mut(&key) {
                None => {
                    self.properties.insert(key, property);
                }
                Some(known) if *known == property => {}
                // A union that was made here.
                Some(Value::Object(known)) if known.len() == 1 && known.contains_key(k::ANY_OF) => {
                    if let Some(Value::Array(parts)) = known.get_mut(k::ANY_OF)
                        && !parts.contains(&property)
                    {
                        parts.push(property);
                    }
                }
                Some(known) => {
                    *known = Value::Object(parts::one(k::ANY_OF, vec![known.take(), property]));
                }
            }
        }
    }

    fn into_schema(self) -> Value {
        let mut object = parts::one(k::PROPERTIES, self.properties);
        parts::put(&mut object, k::REQUIRED, self.required);
        if self.is_closed {
            parts::put(&mut object, k::ADDITIONAL_PROPERTIES, false);
        }
        object.into()
    }
}

/// Reads combined schemas. It reads the target of each reference once, so the time does not depend on
/// the number of ways that lead to it.
pub(super) struct CombinedReader<'l, 's> {
    lowerer: &'l Lowerer<'s>,
    /// The targets of references. While one is read, it says nothing.
    known: HashMap<String, Rc<Combined>>,
    /// How many more properties are read.
    left: usize,
}

impl<'l, 's> CombinedReader<'l, 's> {
    pub(super) fn new(lowerer: &'l Lowerer<'s>) -> Self {
        Self { lowerer, known: HashMap::new(), left: MAX_INLINED }
    }

    /// The properties of the objects that fit a member of a union.
    pub(super) fn union(&mut self, members: &[Value], depth: usize) -> Combined {
        let mut union = Combined::unknown();
        for (index, member) in members.iter().enumerate() {
            let member = self.schema(member, depth);
            if index == 0 {
                union = member;
            } else {
                union.add_alternative(member);
            }
        }
        union.says_more = true;
        union
    }

    fn schema(&mut self, schema: &Value, depth: usize) -> Combined {
        let Some(map) = schema.as_object().filter(|_| depth <= MAX_SCHEMA_DEPTH) else {
            return Combined { says_more: *schema != true, ..Combined::default() };
        };
        let mut combined = Combined::default();
        for (key, value) in map {
            match (K::of(key), value) {
                (K::Properties, Value::Object(properties)) => {
                    combined.properties.clone_from(properties);
                }
                (K::Required, Value::Array(keys)) => combined.required.clone_from(keys),
                (K::Type, types) => combined.says_more |= types != "object",
                (K::AdditionalProperties, Value::Bool(is_open)) => combined.is_closed = !is_open,
                (K::AllOf | K::Ref | K::AnyOf | K::OneOf, _) => {}
                (keyword, _) => combined.says_more |= !keyword.is_annotation(),
            }
        }
        if !self.spend(&combined) {
            return Combined::unknown();
        }
        if let Some(to) = map.get(k::REF).and_then(Value::as_str) {
            let found = self.reference(to, depth);
            combined.add(&found);
        }
        let arrays = |key: &str| map.get(key).and_then(Value::as_array);
        for part in arrays(k::ALL_OF).into_iter().flatten() {
            let part = self.schema(part, depth + 1);
            combined.add(&part);
        }
        for members in [k::ANY_OF, k::ONE_OF].into_iter().filter_map(arrays) {
            let union = self.union(members, depth + 1);
            combined.add(&union);
        }
        combined
    }

    fn reference(&mut self, to: &str, depth: usize) -> Rc<Combined> {
        if let Some(known) = self.known.get(to).cloned() {
            return if self.spend(&known) { known } else { Combined::unknown().into() };
        }
        self.known.insert(to.to_owned(), Combined::unknown().into());
        let target = self.lowerer.resolve(to);
        let combined = target.map_or_else(Combined::unknown, |it| self.schema(&it, depth + 1));
        let combined = Rc::new(combined);
        self.known.insert(to.to_owned(), combined.clone());
        combined
    }

    fn spend(&mut self, combined: &Combined) -> bool {
        let left = self.left.checked_sub(1 + combined.properties.len());
        self.left = left.unwrap_or(0);
        left.is_some()
    }

    /// The object schemas that together are a union, with the members of unions in it. `None` if a member
    /// says more than which properties there are.
    pub(super) fn objects(&mut self, members: &[Value]) -> Option<Vec<Value>> {
        let mut open: Vec<Value> = members.iter().rev().cloned().collect();
        let mut objects = Vec::new();
        while let Some(member) = open.pop() {
            self.left = self.left.checked_sub(1)?;
            let map = member.as_object()?;
            let says = |key: &&String| !K::of(key).is_annotation() && key.as_str() != k::TYPE;
            let says: Vec<&str> = map.keys().filter(says).map(String::as_str).collect();
            match says.as_slice() {
                [key @ (k::ANY_OF | k::ONE_OF)] => {
                    open.extend(map.get(*key)?.as_array()?.iter().rev().cloned());
                }
                [k::REF] => open.push(self.lowerer.resolve(map.get(k::REF)?.as_str()?)?),
                _ => {
                    let object = self.schema(&member, 0);
                    if object.says_more {
                        return None;
                    }
                    objects.push(object.into_schema());
                }
            }
        }
        Some(objects)
    }
}
