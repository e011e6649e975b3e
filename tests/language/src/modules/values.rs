//! Values that a type takes, and values that are nearly so.

use std::rc::Rc;

use gramc_model::Format;
use gramc_model::{Constraint, Field, FieldPattern, Open, Tool, Type, TypeUse, ValueSource};
use serde_json::{Map, Value};

use super::{Modules, visit};
use crate::reading;

/// How many parts a value has at most.
const MOST: usize = 200;

impl Modules<'_> {
    /// A value that a type takes; `None` where none is found.
    pub fn value(&mut self, ty: &Type, depth: usize) -> Option<Value> {
        self.fuel = MOST;
        self.part(ty, depth)
    }

    fn part(&mut self, ty: &Type, depth: usize) -> Option<Value> {
        self.fuel = self.fuel.checked_sub(1)?;
        let below = depth.saturating_sub(1);
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
                let item = item.as_deref().unwrap_or(&Type::Any);
                let items = (0..self.count_of(item, depth)).map(|_| self.part(item, below));
                items.collect::<Option<_>>()?
            }
            Type::Tuple(items) => {
                let items = items.iter().map(|item| self.part(item, below));
                items.collect::<Option<_>>()?
            }
            Type::Map(inner) => {
                let inner = inner.as_deref().unwrap_or(&Type::Any);
                let count = self.count_of(inner, depth);
                let keys = self.names(count);
                let entry = |key| Some((key, self.part(inner, below)?));
                Value::Object(keys.into_iter().map(entry).collect::<Option<_>>()?)
            }
            Type::Object(object) => {
                let fields = object.fields.as_deref().unwrap_or_default();
                Value::Object(self.object(
                    fields,
                    &object.requires,
                    &object.patterns,
                    &object.open,
                    depth,
                )?)
            }
            Type::Nullable(inner) => {
                let null = self.rng.chance(30) || (depth == 0 && has_name(inner));
                if null { Value::Null } else { self.part(inner, depth)? }
            }
            Type::Union(members) | Type::OneOf(members) => {
                let first = self.rng.below(members.len());
                let (before, after) = members.split_at(first);
                after.iter().chain(before).find_map(|member| self.part(member, depth))?
            }
            Type::Named(id) if self.coming.contains(&id.0) => return None,
            Type::Named(id) => {
                let types = Rc::clone(&self.types);
                self.type_use_part(&types.get(*id)?.type_use, below)?
            }
        })
    }

    /// How many items or entries of a type a value has.
    fn count_of(&mut self, ty: &Type, depth: usize) -> usize {
        if depth == 0 && has_name(ty) { 0 } else { self.rng.below(4) }
    }

    /// The arguments of a tool.
    pub fn arguments(&mut self, tool: &Tool) -> Option<Map<String, Value>> {
        self.fuel = MOST;
        let requires = tool.root.as_ref().map_or(&[][..], |root| &root.requires);
        self.object(&tool.parameters, requires, tool.patterns(), &tool.open, 2)
    }

    /// An object of the given fields, which may be the arguments of a tool.
    fn object(
        &mut self,
        fields: &[Field],
        requires: &[impl std::fmt::Display],
        patterns: &[FieldPattern],
        open: &Open,
        depth: usize,
    ) -> Option<Map<String, Value>> {
        let mut map = Map::new();
        for field in fields {
            let left_out = depth == 0 && has_name(&field.type_use.ty);
            let value = match &field.source {
                ValueSource::Injected => None,
                ValueSource::Pinned(pinned) => {
                    Some((**pinned).clone()).filter(|_| self.rng.chance(50))
                }
                ValueSource::Model if !field.required() && (left_out || self.rng.chance(50)) => {
                    None
                }
                ValueSource::Model => {
                    let value = self.type_use_part(&field.type_use, depth);
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
        let below = depth.saturating_sub(1);
        for known in patterns {
            let name = self.name();
            let is_free = !fields.iter().any(|field| field.name == name);
            if is_free && reading::matches_name(&known.pattern, &name) {
                map.extend(self.part(&known.ty, below).map(|value| (name, value)));
            }
        }
        for name in requires {
            map.insert(name.to_string(), self.part(others?, below)?);
        }
        if let Some(ty) = others
            && self.rng.chance(20)
        {
            let name = self.name();
            if !fields.iter().any(|field| field.name == name) {
                map.extend(self.part(ty, below).map(|value| (name, value)));
            }
        }
        Some(map)
    }

    /// A value that a place takes: one that it names, or one that is found by trying.
    pub(super) fn type_use_value(&mut self, type_use: &TypeUse, depth: usize) -> Option<Value> {
        self.fuel = MOST;
        self.type_use_part(type_use, depth)
    }

    fn type_use_part(&mut self, type_use: &TypeUse, depth: usize) -> Option<Value> {
        let details = type_use.details.as_deref();
        if details.is_none() && type_use.constraints.is_empty() {
            return self.part(&type_use.ty, depth);
        }
        let examples = details.into_iter().flat_map(|details| &details.examples);
        let mut known: Vec<Value> = examples.flatten().cloned().collect();
        known.extend(type_use.default.as_deref().cloned());
        for constraint in &type_use.constraints {
            match constraint {
                Constraint::Enum(values) => known.extend(values.iter().cloned()),
                Constraint::Const(value) => known.push((**value).clone()),
                Constraint::Minimum(bound) | Constraint::Maximum(bound) => {
                    known.push(Value::Number(bound.clone()));
                }
                _ => {}
            }
        }
        if details.is_some_and(|details| details.verbatim.is_some()) {
            known.extend((0..4).map(|_| self.any_value(1)));
            known.push(serde_json::json!({"a": 1, "q": "x"}));
        }
        let types = Rc::clone(&self.types);
        // The use of a type overrides the type, so that a value
        // of what it is made of may do.
        let mut ty = &type_use.ty;
        for _ in 0..4 {
            known.extend(self.part(ty, depth.saturating_sub(1)));
            if let Type::Named(id) = ty
                && self.rng.chance(30)
                && let Some(declared) = types.get(*id)
            {
                ty = &declared.type_use.ty;
            }
        }
        known.retain(|value| reading::type_use(&types, type_use, value));
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

    /// Gives one argument a value of its type, whatever its attributes are.
    pub fn try_attributes(&mut self, fields: &[Field], arguments: &mut Map<String, Value>) {
        let types = Rc::clone(&self.types);
        let Some(field) = fields.get(self.rng.below(fields.len())) else { return };
        let mut ty = &field.type_use.ty;
        // What a declared type says may be what is to be left unsaid, too.
        while let Type::Named(id) = ty
            && self.rng.chance(50)
            && let Some(declared) = types.get(*id)
        {
            ty = &declared.type_use.ty;
        }
        if let Some(value) = self.value(ty, 2) {
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

/// Whether a type names another one, wherever in it.
fn has_name(ty: &Type) -> bool {
    !visit::names(ty).is_empty()
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
