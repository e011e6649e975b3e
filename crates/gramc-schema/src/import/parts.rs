//! Splits a schema into parts, and reads types that need no name.

use std::collections::HashSet;

use gramc_json_schema::keywords::{Keyword, name as k};
use serde_json::{Map, Value};
use smol_str::SmolStr;

use super::keywords::{ReadPlan, ValueShape, bound, is_assertion};
use gramc_model::attributes::{ConstraintConstructor, of_keyword, writes_as_is};
use gramc_model::format::Format;
use gramc_model::value;
use gramc_model::value_check;
use gramc_model::{Constraint, Field, ObjectType, Open, Optionality, Type, TypeKind, TypeUse};

/// The maximum length of an inline type, in columns. A longer type gets a name.
const MAX_TYPE_LENGTH: usize = 60;

/// How a type is declared if it gets a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DeclarationForm {
    Plain,
    Record,
    Enum,
    Union,
    /// A union with duplicate members.
    Twins,
}

impl DeclarationForm {
    /// The type and kind of the declaration.
    pub(super) fn declare(self, mut type_use: TypeUse) -> (TypeUse, TypeKind) {
        let object = type_use.ty.without_null();
        let has_fields = matches!(object, Type::Object(object) if object.fields.is_some());
        let kind = match self {
            _ if has_fields => TypeKind::Record,
            Self::Plain | Self::Record => TypeKind::Alias,
            Self::Union | Self::Twins => TypeKind::Union(None),
            Self::Enum => {
                if let Type::Union(members) = std::mem::replace(&mut type_use.ty, Type::Text) {
                    let values = members.into_iter().filter_map(|member| match member {
                        Type::Literal(value) => Some(*value),
                        _ => None,
                    });
                    type_use.constrain(Constraint::Enum(values.collect()));
                }
                TypeKind::Enum(Vec::new())
            }
        };
        (type_use, kind)
    }
}

/// The keywords of a schema that are not converted directly.
#[derive(Default)]
pub(super) struct SchemaParts {
    pub(super) items: Option<Value>,
    pub(super) prefix: Option<Vec<Value>>,
    pub(super) properties: Option<Map<String, Value>>,
    pub(super) required: Vec<String>,
    pub(super) additional: Option<Value>,
    pub(super) patterns: Map<String, Value>,
    pub(super) names: Option<Value>,
    pub(super) members: Vec<Value>,
    /// The names in a list of types.
    pub(super) types: Vec<Value>,
    /// Validation keywords that gram cannot express.
    pub(super) assertions: Vec<String>,
    format: Option<String>,
    bytes: bool,
    values: Option<Vec<Value>>,
    constant: Option<Value>,
}

impl SchemaParts {
    /// Splits a schema: attributes go to the type use, other keywords to the parts.
    pub(super) fn of(map: Map<String, Value>, plan: ReadPlan) -> (TypeUse, Self) {
        let (mut type_use, mut parts) = (TypeUse::default(), Self::default());
        for (key, value) in map {
            parts.take(&mut type_use, key, value, plan);
        }
        (type_use, parts)
    }

    fn take(&mut self, type_use: &mut TypeUse, key: String, value: Value, plan: ReadPlan) {
        if let Some(constraint) = constraint(&key, &value) {
            // A closed tuple implies `minItems`.
            let said = self.prefix.is_some() && self.items.is_some();
            if !(said && key == k::MIN_ITEMS) {
                type_use.constrain(constraint);
            }
            return;
        }
        match (key.as_str(), value) {
            (k::TITLE, Value::String(text)) => type_use.details_mut().title = Some(text.into()),
            (k::DESCRIPTION, Value::String(text)) => type_use.description = Some(text.into()),
            (k::DEFAULT, value) => type_use.default = Some(Box::new(value)),
            (k::EXAMPLES, Value::Array(examples)) => {
                type_use.details_mut().examples = Some(examples);
            }
            (k::DEPRECATED, _) => type_use.details_mut().deprecated = true,
            (k::ENUM, Value::Array(values)) => self.values = Some(values),
            (k::CONST, value) => self.constant = Some(value),
            (k::FORMAT, Value::String(format)) => self.format = Some(format),
            (k::CONTENT_ENCODING, _) => self.bytes = true,
            (k::ITEMS, value) => self.items = Some(value),
            (k::PREFIX_ITEMS, Value::Array(items)) => self.prefix = Some(items),
            (k::PROPERTIES, Value::Object(properties)) => self.properties = Some(properties),
            (k::REQUIRED, names) => self.required = names_of(Some(names)),
            (k::ADDITIONAL_PROPERTIES, value) => self.additional = Some(value),
            (k::PATTERN_PROPERTIES, Value::Object(patterns))
                if plan.shape == ValueShape::Object && are_field_patterns(&patterns) =>
            {
                self.patterns = patterns;
            }
            (k::PROPERTY_NAMES, value) => self.names = Some(value),
            (k::ANY_OF | k::ONE_OF, Value::Array(members)) => self.members = members,
            (k::TYPE, Value::Array(names)) if plan.shape == ValueShape::Several => {
                self.types = names;
            }
            (k::TYPE | k::REF, _) => {}
            (_, value) => self.extend(type_use, key, value),
        }
        // A closed tuple implies `minItems`. This handles the case that `minItems` came first.
        if plan.shape == ValueShape::List && self.prefix.is_some() && self.items.is_some() {
            type_use.constraints.retain(|known| !matches!(known, Constraint::MinSize(_)));
        }
    }

    /// Adds a keyword that is written as it is, those with attributes of their own first.
    fn extend(&mut self, type_use: &mut TypeUse, key: String, value: Value) {
        if is_assertion(&key) {
            self.assertions.push(key.clone());
        }
        let extensions = &mut type_use.details_mut().extensions;
        let at = writes_as_is(&key, &value).and_then(|_| {
            extensions.iter().position(|(known, value)| writes_as_is(known, value).is_none())
        });
        extensions.insert(at.unwrap_or(extensions.len()), (SmolStr::from(key), value));
    }

    /// Whether a list has types for its first items, but does not fix its length and leaves other
    /// items open.
    pub(super) fn is_open_tuple(&self, type_use: &TypeUse) -> bool {
        let Some(items) = &self.prefix else { return false };
        let count = items.len() as u64;
        let sizes = &type_use.constraints;
        let sized = [Constraint::MinSize(count), Constraint::MaxSize(count)];
        self.items.is_none() && !sized.iter().all(|size| sizes.contains(size))
    }

    /// The type of a name in a list of types.
    pub(super) fn bare(&mut self, name: &str) -> Type {
        match name {
            "null" => Type::Null,
            "boolean" => Type::Boolean,
            "integer" => Type::Integer,
            "number" => Type::Number,
            "array" => Type::List(None),
            "object" => Type::Object(Box::default()),
            _ if self.bytes => Type::Bytes,
            _ => Type::Text,
        }
    }

    /// Adds the format as a constraint.
    pub(super) fn format(&mut self, type_use: &mut TypeUse) {
        if let Some(format) = self.format.take() {
            type_use.constrain(Constraint::Format(format.into()));
        }
    }

    /// Reads a schema without a type.
    pub(super) fn any(&mut self, type_use: &mut TypeUse) -> Type {
        self.format(type_use);
        let narrowed = !type_use.constraints.is_empty();
        match &mut self.constant {
            Some(constant) if !narrowed && self.values.is_none() && is_literal(constant) => {
                Type::Literal(Box::new(self.constant.take().unwrap_or_default()))
            }
            _ => Type::Any,
        }
    }

    /// Reads a string, number or boolean.
    pub(super) fn scalar(
        &mut self,
        type_use: &mut TypeUse,
        plan: ReadPlan,
    ) -> (Type, DeclarationForm) {
        let narrowed = !type_use.constraints.is_empty()
            || self.format.is_some()
            || self.bytes
            || self.constant.is_some()
            || plan.nullable;
        if !narrowed && let Some(literals) = self.literals(plan.shape) {
            let form = if plan.shape == ValueShape::Text {
                DeclarationForm::Enum
            } else {
                DeclarationForm::Plain
            };
            return (literals, form);
        }
        let ty = match plan.shape {
            ValueShape::Boolean => Type::Boolean,
            ValueShape::Integer => Type::Integer,
            ValueShape::Number => Type::Number,
            _ if self.bytes => Type::Bytes,
            _ => match self.format.as_deref().and_then(Format::from_json_name) {
                Some(format) => {
                    self.format = None;
                    Type::Formatted(format)
                }
                None => Type::Text,
            },
        };
        self.format(type_use);
        (ty, DeclarationForm::Plain)
    }

    /// The enum as an equivalent union of literals, if there is one.
    fn literals(&mut self, shape: ValueShape) -> Option<Type> {
        let values = self.values.as_ref().filter(|values| values.len() > 1)?;
        let of_kind = match shape {
            ValueShape::Text => values.iter().all(Value::is_string),
            ValueShape::Boolean => values.iter().all(Value::is_boolean),
            _ => {
                let is_whole = |value: &Value| value.as_number().map(value::is_integer);
                let kinds: Option<Vec<bool>> = values.iter().map(is_whole).collect();
                kinds?.into_iter().all(|whole| whole) == (shape == ValueShape::Integer)
            }
        };
        let mut known = HashSet::with_capacity(values.len());
        let distinct = values.iter().all(|value| known.insert(value::canonical(value)));
        if !of_kind || !distinct {
            return None;
        }
        let width: usize = values.iter().map(|value| width_of(value) + 3).sum();
        if shape != ValueShape::Text && width > MAX_TYPE_LENGTH {
            return None;
        }
        let values = self.values.take().unwrap_or_default().into_iter();
        Some(Type::Union(values.map(|value| Type::Literal(Box::new(value))).collect()))
    }

    /// Adds the constraints of `enum` and `const`.
    pub(super) fn values(&mut self, type_use: &mut TypeUse, nullable: bool) {
        if let Some(mut values) = self.values.take() {
            if nullable {
                // Null is appended to the members if it is missing.
                let nulls = values.iter().filter(|value| value.is_null()).count();
                match (nulls, values.last()) {
                    (1, Some(Value::Null)) if values.len() > 1 => {
                        values.pop();
                    }
                    (0, _) => type_use.details_mut().unsound = true,
                    _ => {}
                }
            }
            type_use.constrain(Constraint::Enum(values));
        }
        if let Some(constant) = self.constant.take() {
            type_use.constrain(Constraint::Const(Box::new(constant)));
        }
    }
}

/// The names in a list.
pub(super) fn names_of(list: Option<Value>) -> Vec<String> {
    let Some(Value::Array(names)) = list else { return Vec::new() };
    let name = |name| match name {
        Value::String(name) => Some(name),
        _ => None,
    };
    names.into_iter().filter_map(name).collect()
}

/// The constraint of a keyword that does not depend on other keywords.
fn constraint(key: &str, value: &Value) -> Option<Constraint> {
    use ConstraintConstructor as C;
    let keyword = Keyword::of(key);
    match of_keyword(keyword)?.constructor {
        C::Number(make) => bound(value).map(make),
        C::Count(make) => value.as_u64().map(make),
        C::Text(make) if keyword != Keyword::Format => value.as_str().map(|text| make(text.into())),
        C::Flag(make) => Some(make()),
        _ => None,
    }
}

/// Whether `fieldPatterns` can express these `patternProperties`.
pub(super) fn are_field_patterns(patterns: &Map<String, Value>) -> bool {
    let is_expressible = |(pattern, schema): (&String, &Value)| {
        schema.is_object() && value_check::malformed_pattern(pattern).is_none()
    };
    !patterns.is_empty() && patterns.iter().all(is_expressible)
}

/// Whether a value can be a literal type.
fn is_literal(value: &Value) -> bool {
    value.is_string() || value.is_number() || value.is_boolean()
}

/// Whether an object is short enough to need no name.
pub(super) fn is_short_record(object: &ObjectType) -> bool {
    let is_short = |field: &Field| {
        field.type_use.is_bare()
            && is_expression(&field.type_use.ty)
            && field.optionality != Optionality::Required
    };
    object.open == Open::Unsaid
        && object.patterns.is_empty()
        && object.requires.is_empty()
        && object.fields.iter().flatten().all(is_short)
        && width_of_object(object, MAX_TYPE_LENGTH) <= MAX_TYPE_LENGTH
}

/// Whether a type can be written inline, and is more readable that way.
pub(super) fn may_stand_inline(ty: &Type, form: DeclarationForm) -> bool {
    match (ty, form) {
        (_, DeclarationForm::Record | DeclarationForm::Twins) | (Type::OneOf(_), _) => false,
        (Type::Union(members), _) if members.len() < 2 => false,
        (Type::Union(_), DeclarationForm::Union | DeclarationForm::Enum) => {
            width(ty, MAX_TYPE_LENGTH) <= MAX_TYPE_LENGTH
        }
        // An object before `?` cannot have attributes.
        (Type::Nullable(inner), DeclarationForm::Plain) => is_expression(inner),
        _ => true,
    }
}

/// Whether a type expression can express a type completely.
pub(super) fn is_expression(ty: &Type) -> bool {
    match ty {
        Type::Nullable(inner) => is_expression(inner),
        Type::Object(object) => {
            object.open == Open::Unsaid && object.patterns.is_empty() && object.requires.is_empty()
        }
        _ => true,
    }
}

/// The approximate width of a type in columns. Exact only up to `most`.
fn width(ty: &Type, most: usize) -> usize {
    let sum = |types: &[Type], between: usize| {
        let mut sum = 0;
        for ty in types {
            sum += width(ty, most) + between;
            if sum > most {
                break;
            }
        }
        sum
    };
    match ty {
        Type::Literal(value) => width_of(value),
        Type::List(Some(inner)) => width(inner, most) + 2,
        Type::Map(Some(inner)) => width(inner, most) + 5,
        Type::Nullable(inner) => width(inner, most) + 1,
        Type::Tuple(types) => sum(types, 2) + 2,
        Type::Union(types) | Type::OneOf(types) => sum(types, 3),
        Type::Object(object) => width_of_object(object, most),
        Type::Named(_) => 12,
        _ => 5,
    }
}

fn width_of_object(object: &ObjectType, most: usize) -> usize {
    let mut sum = 2;
    for field in object.fields.iter().flatten() {
        sum += field.name.chars().count() + 4 + width(&field.type_use.ty, most);
        if sum > most {
            break;
        }
    }
    sum
}

fn width_of(value: &Value) -> usize {
    match value {
        Value::String(text) => text.chars().count() + 2,
        value => value.to_string().len(),
    }
}
