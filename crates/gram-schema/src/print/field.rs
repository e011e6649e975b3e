//! Parameters, fields and results: a type and attributes.

use serde_json::Value;

use super::expression;
use super::layout::{Entry, Layout};
use super::{text, value};
use crate::format::built_in;
use crate::model::{
    Constraint, Details, Field, Host, ObjectType, Open, Output, Presence, Slot, Type,
};

/// The longest record type that stands in a label; the fields of a longer one stand one by one.
const INLINE_RECORD: usize = 80;

/// From which depth on record types stand in labels however long they are: fields can be nested
/// only so deep, and this many levels are as many as anybody wants to see.
const INLINE_DEPTH: u32 = 8;

/// A parameter, term or result: what is written as `(name::Type {…})`.
pub(super) struct Node<'m> {
    name: Option<&'m str>,
    slot: &'m Slot,
    field: Option<&'m Field>,
    /// The doc comment that says the description, where there is one.
    doc: Option<String>,
}

impl<'m> Node<'m> {
    /// The node of a parameter or term.
    pub(super) fn of_field(field: &'m Field) -> Self {
        let doc = field.slot.description.as_deref().and_then(text::doc);
        Self { name: Some(&field.name), slot: &field.slot, field: Some(field), doc }
    }

    /// The node of a result.
    pub(super) fn of_output(output: &'m Output) -> Self {
        let doc = output.slot.description.as_deref().and_then(text::doc);
        Self { name: output.name.as_deref(), slot: &output.slot, field: None, doc }
    }

    /// The doc comment to write before it.
    pub(super) fn doc(&self) -> Option<&str> {
        self.doc.as_deref()
    }

    /// The node, behind `before`, without its doc comment.
    pub(super) fn layout(&self, before: &str) -> Layout {
        let Self { name, slot, field, doc } = self;
        let parts = parts(&slot.ty, slot.details.as_deref(), 0);
        let label = if built_in(&parts.text).is_some() {
            parts.text.clone()
        } else {
            text::quoted(&parts.text, '`')
        };
        let name = name.map(text::identifier).unwrap_or_default();
        let description = slot.description.as_deref().filter(|_| doc.is_none());
        let entries = attributes(slot, description, *field, parts);
        if entries.is_empty() {
            return Layout::Text(format!("{before}({name}::{label})"));
        }
        Layout::group(format!("{before}({name}::{label} {{"), entries, "})")
    }
}

/// A type as a type expression and attributes, which say what the expression cannot.
#[derive(Default)]
struct Parts {
    text: String,
    nullable: bool,
    /// `elementType` or `valueType`
    inner: Option<Entry>,
    open: Option<Entry>,
    fields: Option<Entry>,
}

impl Parts {
    fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }
}

fn parts(ty: &Type, details: Option<&Details>, depth: u32) -> Parts {
    let whole = expression::of(ty);
    // What is said of the names of a map's entries needs a map.
    let nullable_map = matches!(ty, Type::Nullable(_)) && details.is_some_and(has_keys);
    let spread = has_fields(ty) && depth < INLINE_DEPTH && whole.text.len() > INLINE_RECORD;
    if whole.exact && !spread && !nullable_map {
        return Parts::new(whole.text);
    }
    match ty {
        Type::Nullable(inner) if !matches!(**inner, Type::Any | Type::Null) => {
            Parts { nullable: true, ..parts(inner, None, depth) }
        }
        Type::List(item) => {
            let item = Entry::new("elementType", text::string(&expression::of(item).text));
            Parts { inner: Some(item), ..Parts::new("Array") }
        }
        Type::Map(value) => {
            let value = Entry::new("valueType", text::string(&expression::of(value).text));
            Parts { inner: Some(value), ..Parts::new("Map") }
        }
        Type::Object(object) => self::object(object, depth),
        _ => Parts::new(whole.text),
    }
}

fn has_keys(details: &Details) -> bool {
    details.constraints.iter().any(|constraint| matches!(constraint, Constraint::Keys(_)))
}

/// Whether a type is an object with fields, or null.
fn has_fields(ty: &Type) -> bool {
    match ty {
        Type::Nullable(inner) => has_fields(inner),
        Type::Object(object) => object.fields.as_ref().is_some_and(|fields| !fields.is_empty()),
        _ => false,
    }
}

fn object(object: &ObjectType, depth: u32) -> Parts {
    let open = self::open(&object.open);
    let record = expression::of_fields(object.fields.as_deref());
    let short = record.text.len() <= INLINE_RECORD || depth >= INLINE_DEPTH;
    if record.exact && short {
        return Parts { open, ..Parts::new(record.text) };
    }
    let fields = object.fields.iter().flatten().map(|field| Entry::item(map(field, depth + 1)));
    let fields = Layout::group("[".to_owned(), fields.collect(), "]");
    Parts { open, fields: Some(Entry::new("fields", fields)), ..Parts::new("Object") }
}

/// A field as a map: `{name: "street", type: "Text"}`.
fn map(field: &Field, depth: u32) -> Layout {
    let parts = parts(&field.slot.ty, field.slot.details.as_deref(), depth);
    let mut entries = vec![
        Entry::new("name", text::string(&field.name)),
        Entry::new("type", text::string(&parts.text)),
    ];
    let description = field.slot.description.as_deref();
    entries.extend(attributes(&field.slot, description, Some(field), parts));
    Layout::group("{".to_owned(), entries, "}")
}

/// What is said of whether an object may hold more than its fields.
pub(super) fn open(open: &Open) -> Option<Entry> {
    let value = match open {
        Open::Unsaid => return None,
        Open::Yes => "true".to_owned(),
        Open::No => "false".to_owned(),
        Open::Of(ty) => text::string(&expression::of(ty).text),
    };
    Some(Entry::new("open", value))
}

/// All attributes: what it is for, what it may be, whether it may be absent, who sees it, and
/// what it holds, which may be long.
fn attributes(
    slot: &Slot,
    description: Option<&str>,
    field: Option<&Field>,
    parts: Parts,
) -> Vec<Entry> {
    let Slot { default, details, .. } = slot;
    let details = details.as_deref();
    let mut entries = Vec::new();
    let title = details.and_then(|details| details.title.as_deref());
    for (key, text) in [("description", description), ("title", title)] {
        entries.extend(text.map(|text| Entry::new(key, text::block(text))));
    }
    entries.extend(parts.inner);
    entries.extend(details.into_iter().flat_map(|details| constraints(&details.constraints)));
    entries.extend(parts.open);
    entries.extend(default.as_deref().map(|value| Entry::new("default", value::attribute(value))));
    match field.map_or(Presence::ByDefault, |field| field.presence) {
        Presence::ByDefault => {}
        Presence::Optional => entries.push(Entry::new("optional", "true")),
        Presence::Required => entries.push(Entry::new("optional", "false")),
    }
    if parts.nullable {
        entries.push(Entry::new("nullable", "true"));
    }
    entries.extend(details.into_iter().flat_map(remarks));
    match field.map(|field| &field.host) {
        Some(Host::Pinned(value)) => entries.push(Entry::new("pinned", value::attribute(value))),
        Some(Host::Injected) => entries.push(Entry::new("injected", "true")),
        Some(Host::No) | None => {}
    }
    if field.is_some_and(|field| field.secret) {
        entries.push(Entry::new("secret", "true"));
    }
    entries.extend(parts.fields);
    entries
}

/// What details say beside the title and what narrows the type.
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

/// The attributes that narrow a type. Two bounds of one thing, which stand side by side, are one
/// attribute.
fn constraints(all: &[Constraint]) -> Vec<Entry> {
    let mut entries = Vec::with_capacity(all.len());
    let mut rest = all;
    while let Some((constraint, after)) = rest.split_first() {
        rest = after;
        let Some((key, bound)) = bound(constraint) else {
            entries.push(constraint_entry(constraint));
            continue;
        };
        let range = match (bound, rest.first().and_then(self::bound)) {
            (Bound::Least(least), Some((other, Bound::Most(most)))) if other == key => {
                rest = rest.get(1..).unwrap_or_default();
                format!("{least}..{most}")
            }
            (Bound::Least(least), _) => format!("{least}..."),
            (Bound::Most(most), _) => format!("...{most}"),
        };
        entries.push(Entry::new(key, range));
    }
    entries
}

/// A bound, as it stands in a range.
enum Bound {
    Least(String),
    Most(String),
}

/// A bound and the attribute that it is part of, where a constraint is one.
fn bound(constraint: &Constraint) -> Option<(&'static str, Bound)> {
    use Constraint as C;
    Some(match constraint {
        C::Minimum(least) => ("range", Bound::Least(least.to_string())),
        C::Maximum(most) => ("range", Bound::Most(most.to_string())),
        C::MinLength(least) => ("length", Bound::Least(least.to_string())),
        C::MaxLength(most) => ("length", Bound::Most(most.to_string())),
        C::MinSize(least) => ("size", Bound::Least(least.to_string())),
        C::MaxSize(most) => ("size", Bound::Most(most.to_string())),
        _ => return None,
    })
}

/// The attribute of a constraint that is no bound.
fn constraint_entry(constraint: &Constraint) -> Entry {
    use Constraint as C;
    match constraint {
        C::Enum(values) => Entry::new("enum", list(values)),
        C::Const(constant) => Entry::new("const", value::attribute(constant)),
        C::Above(bound) => Entry::new("above", bound.to_string()),
        C::Below(bound) => Entry::new("below", bound.to_string()),
        C::MultipleOf(step) => Entry::new("multipleOf", step.to_string()),
        C::Pattern(pattern) => Entry::new("pattern", text::string(pattern)),
        C::Format(format) => Entry::new("format", text::string(format)),
        C::Keys(ty) => Entry::new("keys", text::string(&expression::of(ty).text)),
        _ => Entry::new("unique", "true"),
    }
}

fn list(values: &[Value]) -> Layout {
    value::value(&Value::Array(values.to_vec()))
}
