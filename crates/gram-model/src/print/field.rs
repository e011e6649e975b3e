//! Parameters, fields and results: a type and attributes.

use serde_json::Value;
use smol_str::SmolStr;

use super::expression;
use super::layout::{Entry, INDENT, Layout, WIDTH};
use super::{text, value};
use crate::attributes::{of_constraint, writes_as_is};
use crate::format::built_in;
use crate::model::{
    Constraint, ConstraintValue, Details, Field, FieldPattern, ObjectType, Open, Optionality,
    Output, Type, TypeUse, Types, ValueSource,
};

/// The maximum length of a record type in a label. Longer ones are written as `fields`.
const INLINE_RECORD: usize = 80;

/// The depth from which record types are written in labels whatever their length, because the
/// depth of nested `fields` is limited.
const INLINE_DEPTH: u32 = 8;

/// The least columns around a description on a node's line: two pairs of brackets, `::`, a type,
/// the attribute's name and quotes.
const AROUND: usize = 26;

/// A parameter, field, term, result or alias: what is written as `(name::Type {…})`.
pub(super) struct Node {
    layout: Layout,
    /// The doc comment that says the description, where there is one.
    doc: Option<String>,
}

impl Node {
    /// The node of a parameter, field or term, behind `before`.
    pub(super) fn of_field(types: &Types, field: &Field, before: &str) -> Self {
        Self::new(types, Some(&field.name), &field.type_use, Some(field), before)
    }

    /// The node of a field that a vocabulary term says whole, behind `before`.
    pub(super) fn of_term(field: &Field, before: &str) -> Self {
        let layout = Layout::Text(format!("{before}({})", text::identifier(&field.name)));
        Self { layout, doc: None }
    }

    /// The node of a result, behind `before`.
    pub(super) fn of_output(types: &Types, output: &Output, before: &str) -> Self {
        Self::new(types, output.name.as_deref(), &output.type_use, None, before)
    }

    /// The node of an alias, without its description.
    pub(super) fn of_alias(types: &Types, type_use: &TypeUse) -> Self {
        let layout = layout(types, None, type_use, None, None, "");
        Self { layout, doc: None }
    }

    fn new(
        types: &Types,
        name: Option<&str>,
        type_use: &TypeUse,
        field: Option<&Field>,
        before: &str,
    ) -> Self {
        let Some(description) = type_use.description.as_deref() else {
            return Self { layout: layout(types, name, type_use, None, field, before), doc: None };
        };
        // A description of several lines, or one that does not fit on the line of the node, is
        // written before it.
        // What cannot fit is not even tried.
        let least = INDENT + before.len() + description.chars().count() + AROUND;
        if least <= WIDTH && !description.contains('\n') {
            let layout = layout(types, name, type_use, Some(description), field, before);
            if layout.width().is_some_and(|width| INDENT + width <= WIDTH) {
                return Self { layout, doc: None };
            }
        }
        let doc = text::doc(description);
        let description = type_use.description.as_deref().filter(|_| doc.is_none());
        Self { layout: layout(types, name, type_use, description, field, before), doc }
    }

    /// The doc comment to write before it.
    pub(super) fn doc(&self) -> Option<&str> {
        self.doc.as_deref()
    }

    /// The node, without its doc comment.
    pub(super) fn layout(&self) -> &Layout {
        &self.layout
    }
}

fn layout(
    types: &Types,
    name: Option<&str>,
    type_use: &TypeUse,
    description: Option<&str>,
    field: Option<&Field>,
    before: &str,
) -> Layout {
    let mut parts = parts(types, &type_use.ty, Some(type_use), 0);
    let expression = std::mem::take(&mut parts.text);
    let is_name = match &type_use.ty {
        Type::Named(_) => true,
        Type::Literal(_) | Type::Nullable(_) | Type::Union(_) => false,
        _ => built_in(&expression).is_some(),
    };
    let label = if is_name { expression } else { text::quoted(&expression, '`') };
    let entries = attributes(types, type_use, description, field, parts);
    let mut start = String::with_capacity(before.len() + label.len() + 24);
    start.push_str(before);
    start.push('(');
    if let Some(name) = name {
        text::write_identifier(&mut start, name);
    }
    start.push_str("::");
    start.push_str(&label);
    if entries.is_empty() {
        start.push(')');
        return Layout::Text(start);
    }
    start.push_str(" {");
    Layout::group(start, entries, "})")
}

/// A type as a type expression and attributes, which say what the expression cannot.
#[derive(Default)]
struct Parts {
    text: String,
    nullable: bool,
    /// `elementType` or `valueType`
    inner: Option<Entry>,
    open: Option<Entry>,
    patterns: Option<Entry>,
    requires: Option<Entry>,
    fields: Option<Entry>,
}

impl Parts {
    fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }
}

fn parts(types: &Types, ty: &Type, type_use: Option<&TypeUse>, depth: u32) -> Parts {
    let whole = expression::of(types, ty);
    // What is said of the names of a map's entries needs a map, and what of a tuple's a tuple.
    let nullable_map = matches!(ty, Type::Nullable(_))
        && type_use.is_some_and(|type_use| has_keys(type_use) || is_open_tuple(type_use));
    let spread = has_fields(ty) && depth < INLINE_DEPTH && whole.text.len() > INLINE_RECORD;
    if whole.exact && !spread && !nullable_map {
        return Parts::new(whole.text);
    }
    match ty {
        Type::Nullable(inner) if !matches!(**inner, Type::Any | Type::Null) => {
            Parts { nullable: true, ..parts(types, inner, None, depth) }
        }
        Type::List(Some(item)) => {
            let item = expression::of(types, item).text;
            let item = Entry::new("elementType", text::string(&item));
            Parts { inner: Some(item), ..Parts::new("Array") }
        }
        Type::Map(Some(value)) => {
            let value = expression::of(types, value).text;
            let value = Entry::new("valueType", text::string(&value));
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

/// Whether a type is an object with fields, or null.
fn has_fields(ty: &Type) -> bool {
    match ty {
        Type::Nullable(inner) => has_fields(inner),
        Type::Object(object) => object.fields.as_ref().is_some_and(|fields| !fields.is_empty()),
        _ => false,
    }
}

fn object(types: &Types, object: &ObjectType, depth: u32) -> Parts {
    let open = self::open(types, &object.open);
    let patterns = self::patterns(types, &object.patterns);
    let requires = self::requires(&object.requires);
    let record = expression::of_fields(types, object.fields.as_deref());
    let short = record.text.len() <= INLINE_RECORD || depth >= INLINE_DEPTH;
    if record.exact && short {
        return Parts { open, patterns, requires, ..Parts::new(record.text) };
    }
    let fields = object.fields.iter().flatten();
    let fields = fields.map(|field| Entry::item(map(types, field, depth + 1)));
    let fields = Layout::group("[".to_owned(), fields.collect(), "]");
    let fields = Some(Entry::new("fields", fields));
    Parts { open, patterns, requires, fields, ..Parts::new("Object") }
}

/// A field as a map: `{name: "street", type: "Text"}`.
fn map(types: &Types, field: &Field, depth: u32) -> Layout {
    let parts = parts(types, &field.type_use.ty, Some(&field.type_use), depth);
    let mut entries = vec![
        Entry::new("name", text::string(&field.name)),
        Entry::new("type", text::string(&parts.text)),
    ];
    let description = field.type_use.description.as_deref();
    entries.extend(attributes(types, &field.type_use, description, Some(field), parts));
    Layout::group("{".to_owned(), entries, "}")
}

/// What is said of whether an object may hold more than its fields.
pub(super) fn open(types: &Types, open: &Open) -> Option<Entry> {
    let value = match open {
        Open::Unsaid => return None,
        Open::Yes => "true".to_owned(),
        Open::No => "false".to_owned(),
        Open::Of(ty) => text::string(&expression::of(types, ty).text),
    };
    Some(Entry::new("open", value))
}

/// The types of fields by patterns of their names.
pub(super) fn patterns(types: &Types, patterns: &[FieldPattern]) -> Option<Entry> {
    let entry = |known: &FieldPattern| {
        let ty = expression::of(types, &known.ty).text;
        Entry::new(&known.pattern, text::string(&ty))
    };
    let entries: Vec<_> = patterns.iter().map(entry).collect();
    let group = |entries| Layout::group("{".to_owned(), entries, "}");
    (!entries.is_empty()).then(|| Entry::new("fieldPatterns", group(entries)))
}

/// What an object has to hold that is no field of it.
pub(super) fn requires(names: &[SmolStr]) -> Option<Entry> {
    let names: Vec<_> = names.iter().map(|name| Value::from(name.as_str())).collect();
    (!names.is_empty()).then(|| Entry::new("requires", list(&names)))
}

/// The attributes of a declared object, without its fields.
pub(super) fn of_object(
    types: &Types,
    type_use: &TypeUse,
    description: Option<&str>,
) -> Vec<Entry> {
    let (ty, nullable) = match &type_use.ty {
        Type::Nullable(inner) => (&**inner, true),
        ty => (ty, false),
    };
    let mut parts = Parts { nullable, ..Parts::default() };
    if let Type::Object(object) = ty {
        parts.open = open(types, &object.open);
        parts.patterns = patterns(types, &object.patterns);
        parts.requires = requires(&object.requires);
    }
    attributes(types, type_use, description, None, parts)
}

/// The attributes of another declared type.
pub(super) fn of_members(
    types: &Types,
    type_use: &TypeUse,
    description: Option<&str>,
) -> Vec<Entry> {
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
) -> Vec<Entry> {
    let TypeUse { default, constraints, details, .. } = type_use;
    let details = details.as_deref();
    let mut entries = Vec::new();
    let title = details.and_then(|details| details.title.as_deref());
    for (key, text) in [("description", description), ("title", title)] {
        entries.extend(text.map(|text| Entry::new(key, text::block(text))));
    }
    entries.extend(parts.inner);
    entries.extend(self::constraints(types, constraints));
    entries.extend(parts.open);
    if is_open_tuple(type_use) {
        entries.push(Entry::new("open", "true"));
    }
    entries.extend(parts.patterns);
    entries.extend(parts.requires);
    entries.extend(default.as_deref().map(|value| Entry::new("default", value::attribute(value))));
    match field.map_or(Optionality::ByDefault, |field| field.optionality) {
        Optionality::ByDefault => {}
        Optionality::Optional => entries.push(Entry::new("optional", "true")),
        Optionality::Required => entries.push(Entry::new("optional", "false")),
    }
    if parts.nullable {
        entries.push(Entry::new("nullable", "true"));
    }
    if details.is_some_and(|details| details.type_list) {
        entries.push(Entry::new("typeList", "true"));
    }
    entries.extend(details.into_iter().flat_map(remarks));
    match field.map(|field| &field.source) {
        Some(ValueSource::Pinned(value)) => {
            entries.push(Entry::new("pinned", value::attribute(value)));
        }
        Some(ValueSource::Injected) => entries.push(Entry::new("injected", "true")),
        Some(ValueSource::Model) | None => {}
    }
    if field.is_some_and(|field| field.secret) {
        entries.push(Entry::new("secret", "true"));
    }
    entries.extend(details.into_iter().flat_map(|details| extensions(&details.extensions)));
    entries.extend(parts.fields);
    let verbatim = details.and_then(|details| details.verbatim.as_deref());
    entries.extend(verbatim.map(|schema| Entry::new("schema", value::schema(schema))));
    entries
}

/// Keywords that are written as they are: attributes and `x-` keywords one by one, the others
/// together.
fn extensions(all: &[(SmolStr, Value)]) -> Vec<Entry> {
    let mut entries = Vec::new();
    let mut others = Vec::new();
    for keyword @ (key, value) in all {
        match writes_as_is(key, value) {
            Some(name) => entries.push(Entry::new(name, value::attribute(value))),
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
) -> Entry {
    let all = all.into_iter().map(|(key, value)| (key.to_string(), value.clone()));
    Entry::new(attribute, value::value(&Value::Object(all.collect())))
}

/// The details, without the title.
fn remarks(details: &Details) -> Vec<Entry> {
    let mut entries = Vec::new();
    let examples = details.examples.as_deref();
    entries.extend(examples.map(|examples| Entry::new("examples", list(examples))));
    if details.deprecated {
        entries.push(Entry::new("deprecated", "true"));
    } else if *details == Details::default() {
        // Somebody said it, and a model keeps that, for what it is worth.
        entries.push(Entry::new("deprecated", "false"));
    }
    if details.unsound {
        entries.push(Entry::new("unsound", "true"));
    }
    entries
}

/// The attributes of constraints. Both bounds of a range are one attribute.
fn constraints(types: &Types, all: &[Constraint]) -> Vec<Entry> {
    let mut entries = Vec::with_capacity(all.len());
    let mut rest = all.iter().peekable();
    while let Some(constraint) = rest.next() {
        let Some((spec, _)) = of_constraint(constraint.kind()) else { continue };
        let value = match spec.constraints {
            [least, _] if least.kind == constraint.kind() => {
                let most = rest.next_if(|next| constraint.is_like(next));
                let most = most.map_or(".".to_owned(), bound);
                Layout::Text(format!("{}..{most}", bound(constraint)))
            }
            [_, _] => Layout::Text(format!("...{}", bound(constraint))),
            _ => constraint_value(types, constraint),
        };
        entries.push(Entry::new(spec.name, value));
    }
    entries
}

/// The number of a bound.
fn bound(constraint: &Constraint) -> String {
    match constraint.value() {
        ConstraintValue::Number(number) => number.to_string(),
        ConstraintValue::Count(count) => count.to_string(),
        _ => String::new(),
    }
}

fn constraint_value(types: &Types, constraint: &Constraint) -> Layout {
    match constraint.value() {
        ConstraintValue::Values(values) => list(values),
        ConstraintValue::Value(value) => value::attribute(value),
        ConstraintValue::Number(_) | ConstraintValue::Count(_) => bound(constraint).into(),
        ConstraintValue::Text(text) => text::string(text).into(),
        ConstraintValue::Flag => "true".into(),
        ConstraintValue::Type(ty) => text::string(&expression::of(types, ty).text).into(),
    }
}

fn list(values: &[Value]) -> Layout {
    value::value(&Value::Array(values.to_vec()))
}
