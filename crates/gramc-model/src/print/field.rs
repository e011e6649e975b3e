//! Parameters, fields and results: a type and attributes.

use serde_json::Value;
use smol_str::SmolStr;

use super::expression::{self, PrintedType};
use super::text::{self, entry};
use super::value;
use crate::attributes::{of_constraint, writes_as_is};
use crate::model::{
    Constraint, ConstraintValue, Details, Field, FieldPattern, ObjectType, Open, Optionality,
    Output, Type, TypeUse, Types, ValueSource,
};

/// Maximum width of a line with a description as an attribute. A longer description becomes a doc
/// comment.
const MAX_DESCRIBED: usize = 98;

/// A parameter, field, term, result or alias: what is written as `(name::Type {…})`.
pub(super) struct Node {
    /// The node on one line, except for texts in fences.
    pub(super) text: String,
    /// The doc comment that contains the description, with its line break.
    pub(super) doc: Option<String>,
}

impl Node {
    /// The node of a parameter, field or term.
    pub(super) fn of_field(types: &Types, field: &Field) -> Self {
        Self::new(types, Some(&field.name), &field.type_use, Some(field))
    }

    /// The node of a field that is equal to its vocabulary term.
    pub(super) fn of_term(field: &Field) -> Self {
        Self { text: format!("({})", text::identifier(&field.name)), doc: None }
    }

    /// The node of a result.
    pub(super) fn of_output(types: &Types, output: &Output) -> Self {
        Self::new(types, output.name.as_deref(), &output.type_use, None)
    }

    /// The node of an alias, without its description.
    pub(super) fn of_alias(types: &Types, type_use: &TypeUse) -> Self {
        Self { text: node(types, None, type_use, None, None), doc: None }
    }

    fn new(types: &Types, name: Option<&str>, type_use: &TypeUse, field: Option<&Field>) -> Self {
        let Some(description) = type_use.description.as_deref() else {
            return Self { text: node(types, name, type_use, None, field), doc: None };
        };
        // A description of several lines, or one that does not fit on the line of the node, is
        // written before it.
        if !description.contains('\n') {
            let text = node(types, name, type_use, Some(description), field);
            if !text.contains('\n') && text.chars().count() <= MAX_DESCRIBED {
                return Self { text, doc: None };
            }
        }
        let doc = text::doc(description);
        let description = type_use.description.as_deref().filter(|_| doc.is_none());
        Self { text: node(types, name, type_use, description, field), doc }
    }
}

fn node(
    types: &Types,
    name: Option<&str>,
    type_use: &TypeUse,
    description: Option<&str>,
    field: Option<&Field>,
) -> String {
    let mut parts = parts(types, &type_use.ty, Some(type_use), 0);
    let mut expression = std::mem::take(&mut parts.text);
    // As labels of nodes, these words are no types.
    if matches!(&*expression, "true" | "false" | "null") {
        expression = text::quote(&expression, '`');
    }
    let name = name.map(text::identifier).unwrap_or_default();
    let optional = field.is_some_and(|field| field.optionality == Optionality::Optional);
    let mark = if optional && !name.is_empty() { "?" } else { "" };
    parts.marked = !mark.is_empty();
    let entries = attributes(types, type_use, description, field, parts);
    format!("({name}{mark}::{expression}{})", text::record(&entries))
}

/// A field of an inline record, and whether the text represents it exactly:
/// `/** City name */ city?: Text {length: 1..80} = "Vienna"`.
pub(super) fn inline(types: &Types, field: &Field, depth: u32) -> (String, bool) {
    let Field { name, type_use, optionality, source, secret } = field;
    let mut parts = inline_parts(types, &type_use.ty, type_use, depth);
    let expression = std::mem::take(&mut parts.text);
    let exact = parts.exact && *source == ValueSource::Model && !secret;
    parts.marked = *optionality == Optionality::Optional;
    let mark = if parts.marked { "?" } else { "" };
    let doc = type_use.description.as_deref().filter(|text| !text.contains('\n'));
    let doc = doc.and_then(text::doc);
    let description = type_use.description.as_deref().filter(|_| doc.is_none());
    let doc = doc.map(|doc| doc.replace('\n', " ")).unwrap_or_default();
    let bare = TypeUse { default: None, ..type_use.clone() };
    let entries = attributes(types, &bare, description, Some(field), parts);
    let name = text::field_name(name);
    let default = type_use.default.as_deref().map(default).unwrap_or_default();
    (format!("{doc}{name}{mark}: {expression}{}{default}", text::record(&entries)), exact)
}

/// The type of a field of an inline record.
fn inline_parts(types: &Types, ty: &Type, type_use: &TypeUse, depth: u32) -> Parts {
    // Attributes of keys need a map, and those of tuples a tuple.
    if let (Type::Nullable(inner), true) = (ty, has_keys(type_use) || is_open_tuple(type_use)) {
        return Parts { nullable: true, ..inline_parts(types, inner, type_use, depth) };
    }
    let (object, nullable) = match ty {
        Type::Object(object) => (object, false),
        Type::Nullable(inner) if let Type::Object(object) = &**inner => (object, true),
        _ => return whole(expression::of_at(types, ty, depth)),
    };
    let plain = object.patterns.is_empty() && object.requires.is_empty();
    if plain && object.open == Open::Unsaid {
        return whole(expression::of_at(types, ty, depth));
    }
    let record = whole(expression::of_fields(types, object.fields.as_deref(), depth));
    Parts { nullable, ..record.with_properties(types, object) }
}

fn whole(expression: PrintedType) -> Parts {
    Parts { exact: expression.exact, ..Parts::new(expression.text) }
}

/// The default of a field of an inline record.
fn default(value: &Value) -> String {
    match value {
        Value::Number(number) => format!(" = {number}"),
        value => format!(" = {}", value::value(value)),
    }
}

/// A type as a type expression and attributes, which say what the expression cannot.
#[derive(Default)]
struct Parts {
    text: String,
    /// Whether the parts represent the type exactly.
    exact: bool,
    nullable: bool,
    /// Whether a `?` says that it is optional.
    marked: bool,
    /// `elementType` or `valueType`
    inner: Option<String>,
    open: Option<String>,
    patterns: Option<String>,
    requires: Option<String>,
    fields: Option<String>,
}

impl Parts {
    fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// The parts with the attributes of an object, apart from its fields.
    fn with_properties(self, types: &Types, object: &ObjectType) -> Self {
        Self {
            open: open(types, &object.open),
            patterns: patterns(types, &object.patterns),
            requires: requires(&object.requires),
            ..self
        }
    }
}

fn parts(types: &Types, ty: &Type, type_use: Option<&TypeUse>, depth: u32) -> Parts {
    let whole = expression::of_at(types, ty, depth);
    // Attributes of keys need a map, and those of tuples a tuple.
    let nullable_map = matches!(ty, Type::Nullable(_))
        && type_use.is_some_and(|type_use| has_keys(type_use) || is_open_tuple(type_use));
    if whole.exact && !nullable_map {
        return Parts { exact: true, ..Parts::new(whole.text) };
    }
    match ty {
        Type::Nullable(inner) if !matches!(**inner, Type::Any | Type::Null) => {
            Parts { nullable: true, ..parts(types, inner, None, depth) }
        }
        Type::List(Some(item)) => {
            let item = expression::of(types, item).text;
            let item = entry("elementType", text::string(&item));
            Parts { inner: Some(item), ..Parts::new("Array") }
        }
        Type::Map(Some(value)) => {
            let value = expression::of(types, value).text;
            let value = entry("valueType", text::string(&value));
            Parts { inner: Some(value), ..Parts::new("Map") }
        }
        Type::Object(object) => self::object(types, object, depth),
        _ => Parts::new(whole.text),
    }
}

fn has_keys(type_use: &TypeUse) -> bool {
    type_use.constraints.iter().any(|constraint| matches!(constraint, Constraint::Keys(_)))
}

fn is_open_tuple(type_use: &TypeUse) -> bool {
    type_use.details.as_ref().is_some_and(|details| details.open_tuple)
}

fn object(types: &Types, object: &ObjectType, depth: u32) -> Parts {
    let record = expression::of_fields(types, object.fields.as_deref(), depth);
    if record.exact {
        return whole(record).with_properties(types, object);
    }
    let fields = object.fields.iter().flatten().map(|field| map(types, field, depth + 1));
    let fields = format!("[{}]", fields.collect::<Vec<_>>().join(", "));
    let fields = Some(entry("fields", fields));
    Parts { fields, ..Parts::new("Object") }.with_properties(types, object)
}

/// A field as a map: `{name: "street", type: "Text"}`.
fn map(types: &Types, field: &Field, depth: u32) -> String {
    let parts = parts(types, &field.type_use.ty, Some(&field.type_use), depth);
    let mut entries =
        vec![entry("name", text::string(&field.name)), entry("type", text::string(&parts.text))];
    let description = field.type_use.description.as_deref();
    entries.extend(attributes(types, &field.type_use, description, Some(field), parts));
    format!("{{{}}}", entries.join(", "))
}

/// The attribute that says whether undeclared properties are allowed.
pub(super) fn open(types: &Types, open: &Open) -> Option<String> {
    let value = match open {
        Open::Unsaid => return None,
        Open::Yes => "true".to_owned(),
        Open::No => "false".to_owned(),
        Open::Of(ty) => text::string(&expression::of(types, ty).text),
    };
    Some(entry("open", value))
}

/// The types of fields by patterns of their names.
pub(super) fn patterns(types: &Types, patterns: &[FieldPattern]) -> Option<String> {
    let pattern = |known: &FieldPattern| {
        entry(&known.pattern, text::string(&expression::of(types, &known.ty).text))
    };
    let entries: Vec<_> = patterns.iter().map(pattern).collect();
    (!entries.is_empty()).then(|| entry("fieldPatterns", format!("{{{}}}", entries.join(", "))))
}

/// What an object has to hold that is no field of it.
pub(super) fn requires(names: &[SmolStr]) -> Option<String> {
    let names: Vec<_> = names.iter().map(|name| Value::from(name.as_str())).collect();
    (!names.is_empty()).then(|| entry("requires", list(&names)))
}

/// The attributes of a declared object, without its fields.
pub(super) fn of_object(
    types: &Types,
    type_use: &TypeUse,
    description: Option<&str>,
) -> Vec<String> {
    let (ty, nullable) = match &type_use.ty {
        Type::Nullable(inner) => (&**inner, true),
        ty => (ty, false),
    };
    let mut parts = Parts { nullable, ..Parts::default() };
    if let Type::Object(object) = ty {
        parts = parts.with_properties(types, object);
    }
    attributes(types, type_use, description, None, parts)
}

/// The attributes of another declared type.
pub(super) fn of_members(
    types: &Types,
    type_use: &TypeUse,
    description: Option<&str>,
) -> Vec<String> {
    let parts = Parts { nullable: matches!(type_use.ty, Type::Nullable(_)), ..Parts::default() };
    attributes(types, type_use, description, None, parts)
}

/// All attributes: what it is for, what it may be, whether it may be absent, who sees it, and
/// what it holds, which may be long.
fn attributes(
    types: &Types,
    type_use: &TypeUse,
    description: Option<&str>,
    field: Option<&Field>,
    parts: Parts,
) -> Vec<String> {
    let TypeUse { default, constraints, details, .. } = type_use;
    let details = details.as_deref();
    let mut entries = Vec::new();
    let title = details.and_then(|details| details.title.as_deref());
    for (key, text) in [("description", description), ("title", title)] {
        entries.extend(text.map(|text| entry(key, text::block(text))));
    }
    entries.extend(parts.inner);
    entries.extend(self::constraints(types, constraints));
    entries.extend(parts.open);
    if is_open_tuple(type_use) {
        entries.push(entry("open", "true"));
    }
    entries.extend(parts.patterns);
    entries.extend(parts.requires);
    entries.extend(default.as_deref().map(|value| entry("default", value::attribute(value))));
    match field.map_or(Optionality::ByDefault, |field| field.optionality) {
        Optionality::ByDefault => {}
        Optionality::Optional if parts.marked => {}
        Optionality::Optional => entries.push(entry("optional", "true")),
        Optionality::Required => entries.push(entry("optional", "false")),
    }
    if parts.nullable {
        entries.push(entry("nullable", "true"));
    }
    if details.is_some_and(|details| details.type_list) {
        entries.push(entry("typeList", "true"));
    }
    entries.extend(details.into_iter().flat_map(remarks));
    match field.map(|field| &field.source) {
        Some(ValueSource::Pinned(value)) => {
            entries.push(entry("pinned", value::attribute(value)));
        }
        Some(ValueSource::Injected) => entries.push(entry("injected", "true")),
        Some(ValueSource::Model) | None => {}
    }
    if field.is_some_and(|field| field.secret) {
        entries.push(entry("secret", "true"));
    }
    entries.extend(details.into_iter().flat_map(|details| extensions(&details.extensions)));
    entries.extend(parts.fields);
    let verbatim = details.and_then(|details| details.verbatim.as_deref());
    entries.extend(verbatim.map(|schema| entry("schema", value::schema(schema))));
    entries
}

/// Keywords that are written as they are: attributes and `x-` keywords one by one, the others
/// together.
fn extensions(all: &[(SmolStr, Value)]) -> Vec<String> {
    let mut entries = Vec::new();
    let mut others = Vec::new();
    for keyword @ (key, value) in all {
        match writes_as_is(key, value) {
            Some(name) => entries.push(entry(name, value::attribute(value))),
            None => others.push(keyword),
        }
    }
    if !others.is_empty() {
        entries.push(keywords("extensions", others));
    }
    entries
}

/// An attribute that is a map of keywords.
pub(super) fn keywords<'m>(
    attribute: &str,
    all: impl IntoIterator<Item = &'m (SmolStr, Value)>,
) -> String {
    let all = all.into_iter().map(|(key, value)| (key.to_string(), value.clone()));
    entry(attribute, value::value(&Value::Object(all.collect())))
}

/// The details, without the title.
fn remarks(details: &Details) -> Vec<String> {
    let mut entries = Vec::new();
    let examples = details.examples.as_deref();
    entries.extend(examples.map(|examples| entry("examples", list(examples))));
    if details.deprecated {
        entries.push(entry("deprecated", "true"));
    } else if *details == Details::default() {
        // Somebody said it, and a model keeps that, for what it is worth.
        entries.push(entry("deprecated", "false"));
    }
    if details.unsound {
        entries.push(entry("unsound", "true"));
    }
    entries
}

/// The attributes of constraints. Both bounds of a range are one attribute.
fn constraints(types: &Types, all: &[Constraint]) -> Vec<String> {
    let mut entries = Vec::with_capacity(all.len());
    let mut rest = all.iter().peekable();
    while let Some(constraint) = rest.next() {
        let Some((spec, _)) = of_constraint(constraint.kind()) else { continue };
        let value = match spec.constraints {
            [least, _] if least.kind == constraint.kind() => {
                let most = rest.next_if(|next| constraint.is_like(next));
                let most = most.map_or(".".to_owned(), print_bound);
                format!("{}..{most}", print_bound(constraint))
            }
            [_, _] => format!("...{}", print_bound(constraint)),
            _ => constraint_value(types, constraint),
        };
        entries.push(entry(spec.name, value));
    }
    entries
}

/// The number of a bound.
fn print_bound(constraint: &Constraint) -> String {
    match constraint.value() {
        ConstraintValue::Number(number) => number.to_string(),
        ConstraintValue::Count(count) => count.to_string(),
        _ => String::new(),
    }
}

fn constraint_value(types: &Types, constraint: &Constraint) -> String {
    match constraint.value() {
        ConstraintValue::Values(values) => list(values),
        ConstraintValue::Value(value) => value::attribute(value),
        ConstraintValue::Number(_) | ConstraintValue::Count(_) => print_bound(constraint),
        ConstraintValue::Text(text) => text::string(text),
        ConstraintValue::Flag => "true".to_owned(),
        ConstraintValue::Type(ty) => text::string(&expression::of(types, ty).text),
    }
}

fn list(values: &[Value]) -> String {
    value::value(&Value::Array(values.to_vec()))
}
