//! Values that a type takes, and values that are nearly so.

use gram_schema::Format;
use gram_schema::model::{Field, Host, ObjectType, Open, Slot, Type};
use serde_json::{Map, Value};

use super::Modules;
use crate::reading;

impl Modules<'_> {
    /// A value that a type takes; `None` where none is found.
    pub fn value(&mut self, ty: &Type, depth: usize) -> Option<Value> {
        Some(match ty {
            Type::Any => self.any_value(depth.min(2)),
            Type::Null => Value::Null,
            Type::Boolean => Value::Bool(self.rng.chance(50)),
            Type::Integer => Value::Number(self.integer()),
            Type::Number => Value::Number(self.number()),
            Type::Text => Value::String(self.text()),
            Type::Bytes => Value::from(self.rng.pick(&["", "aGk=", "AAAA"])),
            Type::Formatted(format) => Value::from(formatted(*format)),
            Type::Literal(value) => (**value).clone(),
            Type::List(item) => {
                let items =
                    (0..self.rng.below(4)).map(|_| self.value(item, depth.saturating_sub(1)));
                items.collect::<Option<_>>()?
            }
            Type::Tuple(items) => {
                let items = items.iter().map(|item| self.value(item, depth.saturating_sub(1)));
                items.collect::<Option<_>>()?
            }
            Type::Map(inner) => {
                let count = self.rng.below(3);
                let keys = self.names(count);
                let entry = |key| Some((key, self.value(inner, depth.saturating_sub(1))?));
                Value::Object(keys.into_iter().map(entry).collect::<Option<_>>()?)
            }
            Type::Object(object) => Value::Object(self.object(object, depth)?),
            Type::Nullable(inner) => {
                if self.rng.chance(30) {
                    Value::Null
                } else {
                    self.value(inner, depth)?
                }
            }
            Type::Union(members) => {
                let at = self.rng.below(members.len());
                self.value(members.get(at)?, depth)?
            }
        })
    }

    fn object(&mut self, object: &ObjectType, depth: usize) -> Option<Map<String, Value>> {
        self.arguments(object.fields.as_deref().unwrap_or_default(), &object.open, depth)
    }

    /// An object of the given fields, which may be the arguments of a tool.
    pub fn arguments(
        &mut self,
        fields: &[Field],
        open: &Open,
        depth: usize,
    ) -> Option<Map<String, Value>> {
        let mut map = Map::new();
        for field in fields {
            let value = match &field.host {
                Host::Injected => None,
                Host::Pinned(pinned) => Some((**pinned).clone()).filter(|_| self.rng.chance(50)),
                Host::No if !field.required() && self.rng.chance(50) => None,
                Host::No => {
                    let value = self.slot_value(&field.slot, depth);
                    if value.is_none() && field.required() {
                        return None;
                    }
                    value
                }
            };
            map.extend(value.map(|value| (field.name.to_string(), value)));
        }
        let others = match open {
            Open::Yes | Open::Unsaid => Some(&Type::Any),
            Open::Of(ty) => Some(&**ty),
            Open::No => None,
        };
        if let Some(ty) = others
            && self.rng.chance(20)
        {
            let name = self.name();
            if !fields.iter().any(|field| field.name == name) {
                map.extend(self.value(ty, depth.saturating_sub(1)).map(|value| (name, value)));
            }
        }
        Some(map)
    }

    /// A value that a place takes: one that it names, or one that is found by trying.
    fn slot_value(&mut self, slot: &Slot, depth: usize) -> Option<Value> {
        let examples = slot.details.iter().flat_map(|details| &details.examples).flatten();
        let mut known: Vec<Value> = examples.cloned().collect();
        known.extend(slot.default.as_deref().cloned());
        for _ in 0..4 {
            known.extend(self.value(&slot.ty, depth.saturating_sub(1)));
        }
        known.retain(|value| reading::slot(slot, value));
        let at = self.rng.below(known.len());
        known.into_iter().nth(at)
    }

    /// True in `percent` of a hundred cases.
    pub fn decide(&mut self, percent: usize) -> bool {
        self.rng.chance(percent)
    }

    /// A value of a type, or nearly one.
    pub fn try_value(&mut self, ty: &Type) -> Value {
        let mut value = self.value(ty, 2).unwrap_or_default();
        if self.rng.chance(40) {
            self.change(&mut value);
        }
        value
    }

    /// Gives one argument a value of its type, whatever attributes say of it.
    pub fn try_attributes(&mut self, fields: &[Field], arguments: &mut Map<String, Value>) {
        if let Some(field) = fields.get(self.rng.below(fields.len()))
            && let Some(value) = self.value(&field.slot.ty, 2)
        {
            arguments.insert(field.name.to_string(), value);
        }
    }

    #[expect(clippy::same_functions_in_if_condition, reason = "each asks chance anew")]
    /// Changes something somewhere in a value.
    pub fn change(&mut self, value: &mut Value) {
        let deeper = self.rng.chance(75);
        match value {
            Value::Array(items) if deeper && !items.is_empty() => {
                let at = self.rng.below(items.len());
                if self.rng.chance(25) {
                    items.remove(at);
                } else if self.rng.chance(25) {
                    let twin = items[at].clone();
                    items.push(twin);
                } else {
                    self.change(&mut items[at]);
                }
            }
            Value::Object(map) if deeper && !map.is_empty() => {
                let at = self.rng.below(map.len());
                let key = map.keys().nth(at).cloned().unwrap_or_default();
                if self.rng.chance(25) {
                    map.remove(&key);
                } else if self.rng.chance(25) {
                    let (name, value) = (self.name(), self.any_value(1));
                    map.insert(name, value);
                } else if let Some(value) = map.get_mut(&key) {
                    self.change(value);
                }
            }
            _ => *value = self.any_value(2),
        }
    }
}

/// A text of a format.
fn formatted(format: Format) -> &'static str {
    match format {
        Format::Date => "2026-03-02",
        Format::Time => "09:00:00Z",
        Format::DateTime => "2026-03-02T09:00:00+01:00",
        Format::Duration => "PT15M",
        Format::Email => "ada@example.com",
        Format::Uri => "https://example.com/a?b=c",
        Format::Uuid => "6ba7b810-9dad-11d1-80b4-00c04fd430c8",
        Format::Ipv4 => "192.0.2.1",
        Format::Ipv6 => "2001:db8::1",
        Format::Hostname => "example.com",
    }
}
