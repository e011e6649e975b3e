//! JSON Schema, drafts 2020-12 and 7.
//!
//! Keywords come in a fixed order: what the value is, what it is for, what narrows it, what it
//! holds, then its default and examples.

use serde::ser::{SerializeMap, SerializeSeq};
use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::model::{Constraint, Details, Field, Host, ObjectType, Open, Slot, Tool, Type};

/// A version of JSON Schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Draft {
    /// Draft 2020-12.
    #[default]
    Draft2020,
    /// Draft 7.
    Draft7,
}

/// How schemas are written.
#[derive(Debug, Clone, Copy)]
struct Style {
    draft: Draft,
    /// Whether every array has `items`, as some providers want it.
    items: bool,
}

/// The schema of a tool's parameters: one object with a property for each.
#[derive(Debug, Clone, Copy)]
pub struct ParameterSchema<'m> {
    tool: &'m Tool,
    style: Style,
}

impl<'m> ParameterSchema<'m> {
    /// The schema of a tool's parameters in the given draft.
    pub fn new(tool: &'m Tool, draft: Draft) -> Self {
        Self { tool, style: Style { draft, items: false } }
    }

    pub(super) fn tool(&self) -> &'m Tool {
        self.tool
    }

    /// The same with `items` in every array.
    pub(super) fn with_items(mut self) -> Self {
        self.style.items = true;
        self
    }
}

impl Serialize for ParameterSchema<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("type", "object")?;
        let title = self.tool.attributes.iter().find(|(key, _)| key == "schemaTitle");
        if let Some((_, title)) = title {
            map.serialize_entry("title", title)?;
        }
        fields(&mut map, &self.tool.parameters, self.style)?;
        open(&mut map, &self.tool.open, self.style)?;
        map.end()
    }
}

/// `properties` and `required`.
fn fields<M: SerializeMap>(map: &mut M, fields: &[Field], style: Style) -> Result<(), M::Error> {
    map.serialize_entry("properties", &Properties { fields, style })?;
    map.serialize_entry("required", &Required(fields))
}

/// `additionalProperties`
fn open<M: SerializeMap>(map: &mut M, open: &Open, style: Style) -> Result<(), M::Error> {
    match open {
        Open::Unsaid => Ok(()),
        Open::Yes => map.serialize_entry("additionalProperties", &true),
        Open::No => map.serialize_entry("additionalProperties", &false),
        Open::Of(ty) => map.serialize_entry("additionalProperties", &TypeSchema { ty, style }),
    }
}

struct Properties<'m> {
    fields: &'m [Field],
    style: Style,
}

impl Serialize for Properties<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for field in self.fields.iter().filter(|field| field.host != Host::Injected) {
            map.serialize_entry(&*field.name, &FieldSchema { field, style: self.style })?;
        }
        map.end()
    }
}

struct Required<'m>(&'m [Field]);

impl Serialize for Required<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(None)?;
        for field in self.0.iter().filter(|field| field.required()) {
            list.serialize_element(&*field.name)?;
        }
        list.end()
    }
}

/// The sentence that tells a model not to supply a pinned value.
const PINNED: &str = "Leave this out: the host sets it.";

struct FieldSchema<'m> {
    field: &'m Field,
    style: Style,
}

impl Serialize for FieldSchema<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Field { slot, host, .. } = self.field;
        let mut map = serializer.serialize_map(None)?;
        let pinned = matches!(host, Host::Pinned(_));
        let description = match (&slot.description, pinned) {
            (Some(description), true) => Some(format!("{description} {PINNED}")),
            (None, true) => Some(PINNED.to_owned()),
            (_, false) => None,
        };
        let description = description.as_deref().or(slot.description.as_deref());
        self::slot(&mut map, slot, description, self.style)?;
        map.end()
    }
}

/// All keywords of a type in its place.
fn slot<M: SerializeMap>(
    map: &mut M,
    slot: &Slot,
    description: Option<&str>,
    style: Style,
) -> Result<(), M::Error> {
    let details = slot.details.as_deref();
    head(map, &slot.ty, details, style)?;
    if let Some(title) = details.and_then(|details| details.title.as_deref()) {
        map.serialize_entry("title", title)?;
    }
    if let Some(description) = description {
        map.serialize_entry("description", description)?;
    }
    if let Some(details) = details {
        constraints(map, details, &slot.ty, style)?;
    }
    body(map, &slot.ty, details, style)?;
    if let Some(default) = &slot.default {
        map.serialize_entry("default", default)?;
    }
    if let Some(details) = details {
        if let Some(examples) = &details.examples {
            map.serialize_entry("examples", examples)?;
        }
        if details.deprecated {
            map.serialize_entry("deprecated", &true)?;
        }
    }
    Ok(())
}

/// The keywords of attributes that narrow a type.
fn constraints<M: SerializeMap>(
    map: &mut M,
    details: &Details,
    ty: &Type,
    style: Style,
) -> Result<(), M::Error> {
    let (ty, nullable) = match ty {
        Type::Nullable(inner) => (&**inner, true),
        ty => (ty, false),
    };
    let sizes = |map: &mut M, items: &'static str, properties: &'static str, size: &u64| {
        if may_be(ty, "array") {
            map.serialize_entry(items, size)?;
        }
        if may_be(ty, "object") {
            map.serialize_entry(properties, size)?;
        }
        Ok(())
    };
    for constraint in &details.constraints {
        match constraint {
            // Written with the constant, which leaves one of them at most.
            Constraint::Enum(_) if nullable && constant(details).is_some() => {}
            Constraint::Enum(values) => {
                map.serialize_entry("enum", &Values { values, null: nullable })?;
            }
            Constraint::Const(constant) if nullable && !constant.is_null() => {
                let allowed = details.constraints.iter().all(|other| match other {
                    Constraint::Enum(values) => {
                        values.iter().any(|value| crate::value::same(value, constant))
                    }
                    _ => true,
                });
                let values: Vec<_> =
                    allowed.then_some(&**constant).into_iter().chain([&Value::Null]).collect();
                map.serialize_entry("enum", &values)?;
            }
            Constraint::Const(constant) => map.serialize_entry("const", constant)?,
            Constraint::Minimum(number) => map.serialize_entry("minimum", number)?,
            Constraint::Maximum(number) => map.serialize_entry("maximum", number)?,
            Constraint::Above(number) => map.serialize_entry("exclusiveMinimum", number)?,
            Constraint::Below(number) => map.serialize_entry("exclusiveMaximum", number)?,
            Constraint::MultipleOf(number) => map.serialize_entry("multipleOf", number)?,
            Constraint::MinLength(length) => map.serialize_entry("minLength", length)?,
            Constraint::MaxLength(length) => map.serialize_entry("maxLength", length)?,
            Constraint::Pattern(pattern) => map.serialize_entry("pattern", &**pattern)?,
            Constraint::Format(format) => map.serialize_entry("format", &**format)?,
            // A tuple's own least size is written with its items.
            Constraint::MinSize(_) if matches!(ty, Type::Tuple(_)) => {}
            Constraint::MinSize(size) => sizes(map, "minItems", "minProperties", size)?,
            Constraint::MaxSize(size) => sizes(map, "maxItems", "maxProperties", size)?,
            Constraint::Unique => map.serialize_entry("uniqueItems", &true)?,
            Constraint::Keys(ty) => {
                map.serialize_entry("propertyNames", &TypeSchema { ty, style })?;
            }
        }
    }
    Ok(())
}

/// The constant that attributes name, unless it is null.
fn constant(details: &Details) -> Option<&Value> {
    details.constraints.iter().find_map(|constraint| match constraint {
        Constraint::Const(constant) if !constant.is_null() => Some(&**constant),
        _ => None,
    })
}

/// Values of an enum, and null where the type allows it.
struct Values<'m> {
    values: &'m [Value],
    null: bool,
}

impl Serialize for Values<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let null = self.null && !self.values.contains(&Value::Null);
        serializer.collect_seq(self.values.iter().chain(null.then_some(&Value::Null)))
    }
}

/// A type of which nothing more is said.
struct TypeSchema<'m> {
    ty: &'m Type,
    style: Style,
}

impl Serialize for TypeSchema<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        head(&mut map, self.ty, None, self.style)?;
        body(&mut map, self.ty, None, self.style)?;
        map.end()
    }
}

/// JSON Schema's name of a type, where it has a single one.
fn type_name(ty: &Type) -> Option<&'static str> {
    Some(match ty {
        Type::Null => "null",
        Type::Boolean => "boolean",
        Type::Integer => "integer",
        Type::Number => "number",
        Type::Text | Type::Bytes | Type::Formatted(_) => "string",
        Type::List(_) | Type::Tuple(_) => "array",
        Type::Map(_) | Type::Object(_) => "object",
        Type::Any | Type::Literal(_) | Type::Nullable(_) | Type::Union(_) => return None,
    })
}

/// Whether values of a type may be of the given JSON Schema type.
fn may_be(ty: &Type, name: &str) -> bool {
    match ty {
        Type::Any => true,
        Type::Nullable(inner) => may_be(inner, name),
        Type::Union(members) => members.iter().any(|member| may_be(member, name)),
        ty => type_name(ty) == Some(name),
    }
}

/// The keywords that say what a value is.
///
/// What attributes say of the same keyword overrides the type's own.
fn head<M: SerializeMap>(
    map: &mut M,
    ty: &Type,
    details: Option<&Details>,
    style: Style,
) -> Result<(), M::Error> {
    let said = |kind: fn(&Constraint) -> bool| Details::of(details).iter().any(kind);
    if let Some(name) = type_name(ty) {
        return map.serialize_entry("type", name);
    }
    match ty {
        Type::Nullable(inner) => match type_name(inner) {
            Some("null") => map.serialize_entry("type", "null"),
            Some(name) => map.serialize_entry("type", &[name, "null"]),
            None => {
                map.serialize_entry("anyOf", &AnyOf { members: &[&**inner, &Type::Null], style })
            }
        },
        Type::Literal(_) if said(|known| matches!(known, Constraint::Const(_))) => Ok(()),
        Type::Literal(value) => map.serialize_entry("const", value),
        Type::Union(members) => {
            if let Some((name, values)) = literals(members) {
                map.serialize_entry("type", name)?;
                if said(|known| matches!(known, Constraint::Enum(_))) {
                    return Ok(());
                }
                map.serialize_entry("enum", &values)
            } else {
                let members: Vec<_> = members.iter().collect();
                map.serialize_entry("anyOf", &AnyOf { members: &members, style })
            }
        }
        _ => Ok(()),
    }
}

/// The values of a union of literals of one kind, and the kind's name.
fn literals(members: &[Type]) -> Option<(&'static str, Vec<&Value>)> {
    let kind = |value: &Value| match value {
        Value::String(_) => Some("string"),
        Value::Bool(_) => Some("boolean"),
        Value::Number(number) if crate::value::is_integer(number) => Some("integer"),
        Value::Number(_) => Some("number"),
        _ => None,
    };
    let values: Option<Vec<_>> = members
        .iter()
        .map(|member| match member {
            Type::Literal(value) => Some(&**value),
            _ => None,
        })
        .collect();
    let values = values?;
    let kinds: Option<Vec<_>> = values.iter().map(|value| kind(value)).collect();
    let kinds = kinds?;
    let first = *kinds.first()?;
    if kinds.iter().all(|other| *other == first) {
        return Some((first, values));
    }
    // Whole and other numbers are of one kind in a type expression.
    let numbers = kinds.iter().all(|kind| matches!(*kind, "integer" | "number"));
    numbers.then_some(("number", values))
}

struct AnyOf<'m> {
    members: &'m [&'m Type],
    style: Style,
}

impl Serialize for AnyOf<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.members.iter().map(|ty| TypeSchema { ty, style: self.style }))
    }
}

/// The keywords that say what a value holds.
fn body<M: SerializeMap>(
    map: &mut M,
    ty: &Type,
    details: Option<&Details>,
    style: Style,
) -> Result<(), M::Error> {
    let constraints = Details::of(details);
    match ty {
        Type::Formatted(_) if constraints.iter().any(|c| matches!(c, Constraint::Format(_))) => {
            Ok(())
        }
        Type::Formatted(format) => map.serialize_entry("format", format.json_name()),
        Type::Bytes => map.serialize_entry("contentEncoding", "base64"),
        Type::List(item) if **item == Type::Any && !style.items => Ok(()),
        Type::List(item) => map.serialize_entry("items", &TypeSchema { ty: item, style }),
        Type::Tuple(items) => tuple(map, items, constraints, style),
        Type::Map(value) if **value == Type::Any => Ok(()),
        Type::Map(ty) => map.serialize_entry("additionalProperties", &TypeSchema { ty, style }),
        Type::Object(object) => self::object(map, object, style),
        Type::Nullable(inner) if type_name(inner).is_some() => body(map, inner, details, style),
        _ => Ok(()),
    }
}

fn object<M: SerializeMap>(map: &mut M, object: &ObjectType, style: Style) -> Result<(), M::Error> {
    if let Some(declared) = &object.fields {
        fields(map, declared, style)?;
    }
    open(map, &object.open, style)
}

fn tuple<M: SerializeMap>(
    map: &mut M,
    items: &[Type],
    constraints: &[Constraint],
    style: Style,
) -> Result<(), M::Error> {
    let schemas: Vec<_> = items.iter().map(|ty| TypeSchema { ty, style }).collect();
    match style.draft {
        Draft::Draft2020 => {
            map.serialize_entry("prefixItems", &schemas)?;
            map.serialize_entry("items", &false)?;
        }
        Draft::Draft7 => {
            map.serialize_entry("items", &schemas)?;
            map.serialize_entry("additionalItems", &false)?;
        }
    }
    let least = constraints.iter().find_map(|constraint| match constraint {
        Constraint::MinSize(least) => usize::try_from(*least).ok(),
        _ => None,
    });
    map.serialize_entry("minItems", &items.len().max(least.unwrap_or_default()))
}
