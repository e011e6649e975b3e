//! JSON Schema, draft 2020-12.
//!
//! Keywords have a fixed order: type, texts, constraints, contents, default, examples, definitions.

use std::borrow::Cow;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::Value;
use smol_str::SmolStr;

use super::defs::Defs;
use super::keywords::keywords;
use super::place::TypePlace;
use crate::lower::PINNED;
use gramc_json_schema::keywords::name as k;
use gramc_model::{Field, FieldPattern, Open, Root, Tool, Type, TypeUse, Types, ValueSource};

/// The schema of a tool's parameters: one object with a property for each.
#[derive(Debug, Clone)]
pub struct ParameterSchema<'m> {
    tool: &'m Tool,
    defs: Defs<'m>,
}

impl<'m> ParameterSchema<'m> {
    /// The schema of a tool's parameters. `types` are the types of the tool's
    /// module.
    pub fn new(types: &'m Types, tool: &'m Tool) -> Self {
        Self { tool, defs: Defs::of_parameters(types, tool) }
    }
}

impl Serialize for ParameterSchema<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let root = self.tool.root.as_deref();
        if let Some(verbatim) = root.and_then(|root| root.verbatim.as_ref()) {
            return Verbatim { schema: verbatim, defs: &self.defs }.serialize(serializer);
        }
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry(k::TYPE, "object")?;
        if let Some(Root { title, description, .. }) = root {
            texts(&mut map, title.as_deref(), description.as_deref())?;
        }
        let requires = root.map_or(&[][..], |root| &root.requires);
        fields(&mut map, &self.tool.parameters, requires, &self.defs)?;
        patterns(&mut map, self.tool.patterns(), &self.defs)?;
        open(&mut map, &self.tool.open, &self.defs)?;
        for (key, value) in root.iter().flat_map(|root| &root.extensions) {
            map.serialize_entry(&**key, value)?;
        }
        self.defs.write(&mut map)?;
        map.end()
    }
}

/// The schema of a tool's result.
#[derive(Debug, Clone)]
pub struct ResultSchema<'m> {
    type_use: &'m TypeUse,
    defs: Defs<'m>,
}

impl<'m> ResultSchema<'m> {
    /// The schema of a tool's result. `None` if any value is allowed.
    pub fn new(types: &'m Types, tool: &'m Tool) -> Option<Self> {
        let type_use = &tool.result.type_use;
        if type_use.ty == Type::Any && type_use.constraints.is_empty() && type_use.details.is_none()
        {
            return None;
        }
        Some(Self { type_use, defs: Defs::of_result(types, type_use) })
    }

    /// The standalone schema of a type.
    pub(super) fn of_type_use(types: &'m Types, type_use: &'m TypeUse) -> Self {
        Self { type_use, defs: Defs::of_result(types, type_use) }
    }
}

impl Serialize for ResultSchema<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // Clients read the root's type directly, so a name at the root is inlined.
        let place = TypePlace::new(&self.defs, self.type_use, true);
        if let Some(verbatim) = place.verbatim {
            return Verbatim { schema: verbatim, defs: &self.defs }.serialize(serializer);
        }
        let mut map = serializer.serialize_map(None)?;
        keywords(&mut map, &place, None, &self.defs)?;
        self.defs.write(&mut map)?;
        map.end()
    }
}

/// A verbatim schema at the root, instead of a generated one. It may refer to declared types.
struct Verbatim<'m> {
    schema: &'m Value,
    defs: &'m Defs<'m>,
}

impl Serialize for Verbatim<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Value::Object(keywords) = self.schema else { return self.schema.serialize(serializer) };
        let mut map = serializer.serialize_map(None)?;
        for (key, value) in keywords {
            map.serialize_entry(key, value)?;
        }
        if !keywords.contains_key(k::DEFS) {
            self.defs.write(&mut map)?;
        }
        map.end()
    }
}

/// An object whose entries are serialized one by one.
pub(super) struct Entries<F>(pub(super) F);

impl<F, I, K, V> Serialize for Entries<F>
where
    F: Fn() -> I,
    I: IntoIterator<Item = (K, V)>,
    K: Serialize,
    V: Serialize,
{
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map((self.0)())
    }
}

/// A list whose items are serialized one by one.
pub(super) struct Items<F>(pub(super) F);

impl<F, I> Serialize for Items<F>
where
    F: Fn() -> I,
    I: IntoIterator,
    I::Item: Serialize,
{
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq((self.0)())
    }
}

/// Writes `properties` and `required`. `requires` are required names without a field.
pub(super) fn fields<M: SerializeMap>(
    map: &mut M,
    fields: &[Field],
    requires: &[SmolStr],
    defs: &Defs<'_>,
) -> Result<(), M::Error> {
    let properties = || {
        let fields = fields.iter().filter(|field| field.source != ValueSource::Injected);
        fields.map(|field| (&*field.name, FieldSchema { field, defs }))
    };
    map.serialize_entry(k::PROPERTIES, &Entries(properties))?;
    let required = || fields.iter().filter(|field| field.required()).map(|field| &field.name);
    let is_new = |at: usize, name: &SmolStr| {
        !requires[..at].contains(name) && !required().any(|field| field == name)
    };
    let others = || requires.iter().enumerate().filter(|(at, name)| is_new(*at, name));
    let all = || required().chain(others().map(|(_, name)| name)).map(SmolStr::as_str);
    map.serialize_entry(k::REQUIRED, &Items(all))
}

/// Writes `patternProperties`.
pub(super) fn patterns<M: SerializeMap>(
    map: &mut M,
    patterns: &[FieldPattern],
    defs: &Defs<'_>,
) -> Result<(), M::Error> {
    if patterns.is_empty() {
        return Ok(());
    }
    let schemas = || {
        patterns.iter().map(|known| (known.pattern.as_str(), TypeSchema { ty: &known.ty, defs }))
    };
    map.serialize_entry(k::PATTERN_PROPERTIES, &Entries(schemas))
}

/// Writes `additionalProperties`.
pub(super) fn open<M: SerializeMap>(
    map: &mut M,
    open: &Open,
    defs: &Defs<'_>,
) -> Result<(), M::Error> {
    match open {
        Open::Unsaid => Ok(()),
        Open::Yes => map.serialize_entry(k::ADDITIONAL_PROPERTIES, &true),
        Open::No => map.serialize_entry(k::ADDITIONAL_PROPERTIES, &false),
        Open::Of(ty) => map.serialize_entry(k::ADDITIONAL_PROPERTIES, &TypeSchema { ty, defs }),
    }
}

struct FieldSchema<'m> {
    field: &'m Field,
    defs: &'m Defs<'m>,
}

impl Serialize for FieldSchema<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let pinned = matches!(self.field.source, ValueSource::Pinned(_)).then_some(PINNED);
        let Self { field: Field { type_use, .. }, defs } = self;
        TypeUseSchema { type_use, described: None, remark: pinned, defs }.serialize(serializer)
    }
}

/// A type with its attributes.
pub(super) struct TypeUseSchema<'m> {
    pub(super) type_use: &'m TypeUse,
    /// Replaces the description.
    pub(super) described: Option<Cow<'m, str>>,
    /// Appended to the description.
    pub(super) remark: Option<&'static str>,
    pub(super) defs: &'m Defs<'m>,
}

impl Serialize for TypeUseSchema<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut place = TypePlace::new(self.defs, self.type_use, false);
        if let Some(described) = &self.described {
            place.description = Some(Cow::Borrowed(described));
        }
        let own = self.type_use.details.as_deref().and_then(|details| details.verbatim.as_deref());
        if let Some(verbatim) = own {
            return verbatim.serialize(serializer);
        }
        if let Some(verbatim) = place.verbatim {
            return over(verbatim, &place, self.remark, self.defs).serialize(serializer);
        }
        let mut map = serializer.serialize_map(None)?;
        keywords(&mut map, &place, self.remark, self.defs)?;
        map.end()
    }
}

/// The verbatim schema of a declared type, with the attributes of its use added.
fn over(schema: &Value, place: &TypePlace<'_>, remark: Option<&str>, defs: &Defs<'_>) -> Value {
    let mut schema = schema.clone();
    let mut said = Vec::new();
    let mut serializer = serde_json::Serializer::new(&mut said);
    let written = serializer.serialize_map(None).and_then(|mut map| {
        keywords(&mut map, place, remark, defs)?;
        SerializeMap::end(map)
    });
    // The map has only string keys, so it can be written and read back.
    let said = written.and_then(|()| serde_json::from_slice(&said));
    if let (Value::Object(schema), Ok(Value::Object(said))) = (&mut schema, said) {
        schema.extend(said);
    }
    schema
}

/// A type without attributes.
pub(super) struct TypeSchema<'m> {
    pub(super) ty: &'m Type,
    pub(super) defs: &'m Defs<'m>,
}

impl Serialize for TypeSchema<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let place = TypePlace::of_type(self.defs, self.ty);
        if let Some(verbatim) = place.verbatim {
            return verbatim.serialize(serializer);
        }
        let mut map = serializer.serialize_map(None)?;
        keywords(&mut map, &place, None, self.defs)?;
        map.end()
    }
}

pub(super) fn texts<M: SerializeMap>(
    map: &mut M,
    title: Option<&str>,
    description: Option<&str>,
) -> Result<(), M::Error> {
    if let Some(title) = title {
        map.serialize_entry(k::TITLE, title)?;
    }
    match description {
        Some(description) => map.serialize_entry(k::DESCRIPTION, description),
        None => Ok(()),
    }
}
