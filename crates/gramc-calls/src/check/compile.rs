//! Compiles JSON Schemas to shapes.

use std::collections::HashMap;

use gramc_json_schema::keywords::{Keyword, Keywords, has_several_resources, name as k};
use gramc_json_schema::pointer::escape_token;
use gramc_json_schema::strings::StringCheck;
use gramc_json_schema::type_set::TypeSet;
use jsonschema::Validator;
use serde_json::{Map, Value, json};

use super::keyword_validators::validator;
use super::shape::{
    AllowedValues, Composition, ExtraProperties, FieldRule, ListRules, NumberRules, NumericBound,
    ObjectRules, Shape, ShapeId, Shapes, TextRules,
};

/// Why a schema cannot be compiled.
#[allow(missing_docs, reason = "each variant has its message")]
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SchemaError {
    #[error("schema nesting exceeds {MAX_OPEN_SCHEMAS} levels")]
    TooDeep,
    #[error("{0} is not a schema")]
    NotASchema(String),
    #[error("unresolved reference `{0}`")]
    UnresolvedReference(String),
    /// A schema applies itself to the same instance, so its check would not terminate.
    #[error("schema refers only to itself")]
    SelfReference,
    #[error("unsupported schema: {0}")]
    Validator(String),
}

/// The minimum number of fields that are looked up with a map.
const MANY_FIELDS: usize = 12;

/// The most schemas within each other: parts, and targets of references in a row.
const MAX_OPEN_SCHEMAS: u32 = 500;

/// The maximum number of characters of a description that messages repeat.
const MAX_DESCRIPTION: usize = 100;

/// Keywords that shapes cannot express. Schemas with them get a validator.
const VALIDATED: Keywords = Keywords::VALIDATOR_ONLY.and_those_of(Keywords::of(&[
    Keyword::AdditionalItems,
    Keyword::Anchor,
    Keyword::DynamicAnchor,
    Keyword::Id,
    Keyword::ContentMediaType,
    Keyword::ContentSchema,
]));

/// Compiles a schema of draft 2020-12.
pub(crate) fn compile(schema: &Value) -> Result<Shapes, SchemaError> {
    let mut compiler = Compiler {
        document: schema,
        list: Vec::new(),
        known: HashMap::new(),
        delicate: false,
        depth: 0,
    };
    let root = if has_several_resources(schema) {
        // References depend on where one comes from, so only the whole can be checked.
        let also = Some(Box::new(validator(schema)?));
        compiler.delicate = true;
        compiler.add(Shape { also, ..Shape::any() })
    } else {
        compiler.schema(schema)?
    };
    compiler.no_circles()?;
    compiler.shorten();
    let Compiler { list, delicate, .. } = compiler;
    Ok(Shapes { list, root, delicate, secret: false, host: None })
}

struct Compiler<'s> {
    document: &'s Value,
    list: Vec<Shape>,
    /// The shapes of `$ref` targets.
    known: HashMap<String, ShapeId>,
    delicate: bool,
    depth: u32,
}

impl<'s> Compiler<'s> {
    fn add(&mut self, shape: Shape) -> ShapeId {
        self.list.push(shape);
        // There are fewer schemas than bytes in the document.
        u32::try_from(self.list.len() - 1).unwrap_or(u32::MAX)
    }

    fn schema(&mut self, schema: &'s Value) -> Result<ShapeId, SchemaError> {
        let id = self.add(Shape::any());
        self.fill(id, schema)?;
        Ok(id)
    }

    fn fill(&mut self, id: ShapeId, schema: &'s Value) -> Result<(), SchemaError> {
        self.depth += 1;
        if self.depth > MAX_OPEN_SCHEMAS {
            return Err(SchemaError::TooDeep);
        }
        let shape = match schema {
            Value::Object(keywords) => self.keywords(schema, keywords)?,
            Value::Bool(true) => Shape::any(),
            Value::Bool(false) => Shape { kinds: TypeSet::NONE, ..Shape::any() },
            other => return Err(SchemaError::NotASchema(other.to_string())),
        };
        self.list[id as usize] = shape;
        self.depth -= 1;
        Ok(())
    }

    fn keywords(
        &mut self,
        schema: &'s Value,
        map: &'s Map<String, Value>,
    ) -> Result<Shape, SchemaError> {
        let mut shape = Shape::any();
        shape.kinds = kinds(map.get("type"));
        shape.number = number_rules(map).map(Box::new);
        shape.text = text_rules(map).map(Box::new);
        shape.values = values(map).map(Box::new);
        shape.description = short_description(map).map(Into::into);
        if shape.kinds.meets(TypeSet::ARRAY) {
            shape.list = self.list_rules(map)?.map(Box::new);
        }
        if shape.kinds.meets(TypeSet::OBJECT) {
            shape.object = self.object_rules(map)?.map(Box::new);
        }
        if shape.values.is_some() {
            self.delicate |= shape.kinds.meets(TypeSet::ARRAY.or(TypeSet::OBJECT));
        }
        let mut judges = 0;
        let asks_itself = !shape.is_any();
        let local = |reference: &str| reference.starts_with('#');
        if let Some(reference) = map.get(k::REF).and_then(Value::as_str).filter(|to| local(to)) {
            judges += 1;
            if let Some(id) = self.compile_target(reference)? {
                shape.others = Composition::Same(id);
            }
        }
        for (key, wrap) in [
            (k::ANY_OF, Composition::Any as fn(Box<[ShapeId]>) -> Composition),
            (k::ONE_OF, Composition::One),
        ] {
            let Some(members) = map.get(key).and_then(Value::as_array) else { continue };
            judges += 1;
            self.delicate |= key == k::ONE_OF;
            let ids: Result<Vec<_>, _> = members.iter().map(|member| self.schema(member)).collect();
            shape.others = wrap(ids?.into());
        }
        let mut unknown = map.keys().any(|key| VALIDATED.has(Keyword::of(key)))
            || map.get(k::REF).is_some_and(|to| !to.as_str().is_some_and(local))
            || map.get("items").is_some_and(Value::is_array);
        if let [only] = map.get(k::ALL_OF).and_then(Value::as_array).map_or(&[][..], |all| all)
            && judges == 0
            && !asks_itself
        {
            // An `allOf` with one member wraps a reference to allow sibling keywords.
            shape.others = Composition::Same(self.schema(only)?);
            unknown = map.keys().any(|key| key != k::ALL_OF && VALIDATED.has(Keyword::of(key)));
        }
        if unknown || judges > 1 || (judges == 1 && asks_itself) {
            shape.also = Some(Box::new(self.validator(schema)?));
            self.delicate = true;
            // Other keywords may declare more properties.
            if let Some(object) = &mut shape.object {
                object.closed = false;
            }
            if judges > 1 || asks_itself {
                shape.others = Composition::None;
            }
        }
        Ok(shape)
    }

    /// The shape of the target of a reference within the document.
    fn compile_target(&mut self, reference: &str) -> Result<Option<ShapeId>, SchemaError> {
        if let Some(&id) = self.known.get(reference) {
            return Ok(Some(id));
        }
        let pointer = percent_encoding::percent_decode_str(reference.get(1..).unwrap_or_default())
            .decode_utf8_lossy();
        let target = match pointer.as_ref() {
            "" => Some(self.document),
            pointer => self.document.pointer(pointer),
        };
        let Some(target) = target else {
            return Err(SchemaError::UnresolvedReference(reference.to_owned()));
        };
        let id = self.add(Shape::any());
        self.known.insert(reference.to_owned(), id);
        self.fill(id, target)?;
        Ok(Some(id))
    }

    /// Builds the validator of a subschema. References resolve against the whole document.
    fn validator(&self, schema: &Value) -> Result<Validator, SchemaError> {
        let mut document = self.document.clone();
        let mut own = None;
        if let Value::Object(keywords) = &mut document {
            // Every schema is treated as draft 2020-12.
            keywords.remove(k::SCHEMA);
            own = keywords.get(k::ID).and_then(Value::as_str).map(str::to_owned);
        }
        if std::ptr::eq(schema, self.document) {
            return validator(&document);
        }
        let mut steps = Vec::new();
        if !leads_to(self.document, schema, &mut steps) {
            return validator(schema);
        }
        let name = own.filter(|own| own.contains(':')).unwrap_or_else(|| "urn:document".to_owned());
        document[k::ID] = Value::from(name.as_str());
        steps.push(String::new());
        steps.reverse();
        let pointer = steps.join("/");
        let pointer = percent_encoding::utf8_percent_encode(&pointer, OUTSIDE_OF_POINTERS);
        let name = name.trim_end_matches('#');
        validator(&json!({"$ref": format!("{name}#{pointer}"), "$defs": {"document": document}}))
    }

    fn list_rules(
        &mut self,
        map: &'s Map<String, Value>,
    ) -> Result<Option<ListRules>, SchemaError> {
        let mut rules = ListRules::default();
        if let Some(first) = map.get(k::PREFIX_ITEMS).and_then(Value::as_array) {
            rules.first = first.iter().map(|it| self.schema(it)).collect::<Result<_, _>>()?;
        }
        if let Some(items) = map.get("items").filter(|items| !items.is_array()) {
            rules.rest = Some(self.schema(items)?);
        }
        (rules.least, rules.most) =
            (count(map, k::MIN_ITEMS).unwrap_or(0), count(map, k::MAX_ITEMS));
        rules.unique = map.get(k::UNIQUE_ITEMS) == Some(&Value::Bool(true));
        self.delicate |= rules.unique;
        Ok((rules != ListRules::default()).then_some(rules))
    }

    fn object_rules(
        &mut self,
        map: &'s Map<String, Value>,
    ) -> Result<Option<ObjectRules>, SchemaError> {
        let mut rules = ObjectRules::default();
        let required: Vec<&str> = map
            .get("required")
            .and_then(Value::as_array)
            .map_or_else(Vec::new, |names| names.iter().filter_map(Value::as_str).collect());
        let properties = map.get("properties").and_then(Value::as_object);
        for (name, schema) in properties.into_iter().flatten() {
            let shape = self.schema(schema)?;
            rules.fields.push(FieldRule {
                required: required.contains(&name.as_str()),
                default: schema.get("default").map(|value| value.to_string().into()),
                ..FieldRule::new(name, shape)
            });
        }
        let known = |name: &str| properties.is_some_and(|known| known.contains_key(name));
        rules.required =
            required.iter().filter(|name| !known(name)).map(|&name| name.into()).collect();
        rules.extra = match map.get(k::ADDITIONAL_PROPERTIES) {
            None => ExtraProperties::Unsaid,
            Some(Value::Bool(true)) => ExtraProperties::Yes,
            Some(Value::Bool(false)) => ExtraProperties::No,
            Some(schema) => ExtraProperties::Of(self.schema(schema)?),
        };
        let patterns = map.get(k::PATTERN_PROPERTIES).and_then(Value::as_object);
        for (pattern, schema) in patterns.into_iter().flatten() {
            let Some(check) = StringCheck::of_pattern(pattern) else {
                // It is not known which names it means.
                rules.extra = ExtraProperties::Yes;
                continue;
            };
            let shape = self.schema(schema)?;
            let fields = rules.fields.iter_mut().filter(|field| check.accepts(&field.name));
            fields.for_each(|field| field.others.push(shape));
            rules.patterns.push((check, shape));
        }
        // Several schemas may apply to a value, which is changed by one of them at most.
        self.delicate |= !rules.patterns.is_empty();
        if let Some(names) = map.get(k::PROPERTY_NAMES) {
            rules.names = Some(self.schema(names)?);
        }
        rules.closed = match rules.extra {
            ExtraProperties::Unsaid => !rules.fields.is_empty(),
            ExtraProperties::No => true,
            ExtraProperties::Yes | ExtraProperties::Of(_) => false,
        };
        rules.least = count(map, k::MIN_PROPERTIES).unwrap_or(0);
        rules.most = count(map, k::MAX_PROPERTIES);
        self.delicate |= rules.least > 0 || rules.most.is_some();
        if rules.fields.len() >= MANY_FIELDS {
            // There are fewer fields than bytes in the schema.
            let places = rules.fields.iter().zip(0_u32..);
            rules.by_name = Some(places.map(|(field, at)| (field.name.clone(), at)).collect());
        }
        let said = !rules.fields.is_empty()
            || !rules.required.is_empty()
            || rules.extra != ExtraProperties::Unsaid
            || !rules.patterns.is_empty()
            || rules.names.is_some()
            || rules.least > 0
            || rules.most.is_some();
        Ok(said.then_some(rules))
    }

    /// Rejects schemas that apply themselves to the same instance: their check would not terminate.
    fn no_circles(&self) -> Result<(), SchemaError> {
        let mut seen = vec![CycleState::No; self.list.len()];
        for id in (0_u32..).take(self.list.len()) {
            self.no_circle(id, &mut seen)?;
        }
        Ok(())
    }

    /// Follows the shapes that apply to the same instance, which is no deeper than schemas nest.
    fn no_circle(&self, id: ShapeId, seen: &mut [CycleState]) -> Result<(), SchemaError> {
        match std::mem::replace(&mut seen[id as usize], CycleState::Now) {
            CycleState::Now => {
                return Err(SchemaError::SelfReference);
            }
            CycleState::Yes => {}
            CycleState::No => match &self.list[id as usize].others {
                Composition::None => {}
                Composition::Same(other) => self.no_circle(*other, seen)?,
                Composition::Any(members) | Composition::One(members) => {
                    for &member in members {
                        self.no_circle(member, seen)?;
                    }
                }
            },
        }
        seen[id as usize] = CycleState::Yes;
        Ok(())
    }

    /// Shortens chains of shapes that only refer to another shape.
    fn shorten(&mut self) {
        for at in 0..self.list.len() {
            while let Shape { others: Composition::Same(next), also: None, .. } = self.list[at]
                && let Shape { others: Composition::Same(target), also: None, .. } =
                    self.list[next as usize]
            {
                self.list[at].others = Composition::Same(target);
            }
        }
    }
}

/// The characters that are percent-encoded in the pointer of a URI.
const OUTSIDE_OF_POINTERS: &percent_encoding::AsciiSet =
    &percent_encoding::NON_ALPHANUMERIC.remove(b'/').remove(b'~').remove(b'-').remove(b'_');

/// Finds the path to a part of a value, as JSON pointer tokens in reverse order.
fn leads_to(value: &Value, part: &Value, steps: &mut Vec<String>) -> bool {
    let step = match value {
        _ if std::ptr::eq(value, part) => return true,
        Value::Object(map) => map
            .iter()
            .find(|(_, below)| leads_to(below, part, steps))
            .map(|(key, _)| escape_token(key).into_owned()),
        Value::Array(items) => {
            items.iter().position(|below| leads_to(below, part, steps)).map(|at| at.to_string())
        }
        _ => None,
    };
    let found = step.is_some();
    steps.extend(step);
    found
}

/// The progress of the cycle detection for a shape.
#[derive(Clone, Copy)]
enum CycleState {
    No,
    /// In progress.
    Now,
    Yes,
}

/// The description, if it is one short line.
fn short_description(map: &Map<String, Value>) -> Option<&str> {
    let text = map.get(k::DESCRIPTION)?.as_str()?.trim_end_matches('.');
    let is_short = text.chars().count() <= MAX_DESCRIPTION && !text.contains('\n');
    (is_short && !text.is_empty()).then_some(text)
}

/// The accepted types. Unknown names are not checked.
fn kinds(types: Option<&Value>) -> TypeSet {
    types.and_then(TypeSet::of_keyword).unwrap_or(TypeSet::ALL)
}

/// The value of a size keyword, which may be written as `2.0`.
fn count(map: &Map<String, Value>, key: &str) -> Option<u64> {
    let number = map.get(key)?.as_number()?;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "sizes beyond what 64 bits hold are beyond any value"
    )]
    number.as_u64().or_else(|| number.as_f64().map(|size| size.ceil() as u64))
}

fn number_rules(map: &Map<String, Value>) -> Option<NumberRules> {
    let bound = |key: &str| map.get(key).and_then(NumericBound::new);
    let rules = NumberRules {
        least: bound("minimum"),
        most: bound("maximum"),
        above: bound(k::EXCLUSIVE_MINIMUM),
        below: bound(k::EXCLUSIVE_MAXIMUM),
        step: bound(k::MULTIPLE_OF),
    };
    (rules != NumberRules::default()).then_some(rules)
}

fn text_rules(map: &Map<String, Value>) -> Option<TextRules> {
    let text = |key: &str| map.get(key).and_then(Value::as_str);
    let mut rules = TextRules {
        least: count(map, k::MIN_LENGTH).unwrap_or(0),
        most: count(map, k::MAX_LENGTH),
        ..TextRules::default()
    };
    let check = |key: &str, of: fn(&str) -> Option<StringCheck>| {
        text(key).and_then(|text| Some((text.into(), of(text)?)))
    };
    // What cannot be checked is accepted, see `strings::unsupported_patterns`.
    rules.pattern = check("pattern", StringCheck::of_pattern);
    rules.format = check("format", StringCheck::of_format);
    rules.encoding = check(k::CONTENT_ENCODING, StringCheck::of_encoding);
    let said = rules.least > 0
        || rules.most.is_some()
        || rules.pattern.is_some()
        || rules.format.is_some()
        || rules.encoding.is_some();
    said.then_some(rules)
}

fn values(map: &Map<String, Value>) -> Option<AllowedValues> {
    let (list, constant) = match (map.get("const"), map.get("enum")) {
        (Some(value), None) => (vec![value.clone()], true),
        (None, Some(Value::Array(members))) => (members.clone(), false),
        (Some(value), Some(Value::Array(members))) => {
            let both = members.contains(value).then(|| value.clone());
            (both.into_iter().collect(), true)
        }
        _ => return None,
    };
    let texts = list.iter().all(Value::is_string);
    Some(AllowedValues { list, constant, texts })
}
