//! Parameters, fields, results and terms: a type and the attributes that belong to it.

use gram_syntax::Applicability::NeedsLook;
use gram_syntax::{Fix, Node, NodeKind as N, Span};
use serde_json::Value;
use smol_str::SmolStr;

use super::Checker;
use super::attributes::Attribute;
use super::seen::Seen;
use crate::accept;
use crate::codes;
use crate::format::{built_in, describe};
use crate::model::{Constraint, Field, Host, Presence, Slot, Type};

/// The attributes of parameters, fields, results and terms.
const KNOWN: [&str; 27] = [
    "default",
    "optional",
    "nullable",
    "description",
    "title",
    "examples",
    "deprecated",
    "range",
    "above",
    "below",
    "multipleOf",
    "length",
    "pattern",
    "format",
    "size",
    "unique",
    "enum",
    "const",
    "open",
    "pinned",
    "injected",
    "secret",
    "fields",
    "elementType",
    "valueType",
    "keys",
    "unsound",
];

/// How deep fields may nest.
const MAX_DEPTH: u32 = 100;

/// What an attribute says of a type, and so which types it fits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fits {
    Numbers,
    Texts,
    Collections,
    Lists,
    Objects,
    Maps,
    Every,
}

impl Fits {
    fn words(self) -> &'static str {
        match self {
            Self::Numbers => "numbers",
            Self::Texts => "text",
            Self::Collections => "lists, maps and objects",
            Self::Lists => "lists",
            Self::Objects => "objects",
            Self::Maps => "maps",
            Self::Every => "values",
        }
    }

    fn holds(self, ty: &Type) -> bool {
        match ty {
            _ if self == Self::Every => true,
            Type::Any => true,
            Type::Nullable(inner) => self.holds(inner),
            Type::Union(members) => members.iter().any(|member| self.holds(member)),
            Type::Literal(value) => match &**value {
                Value::Number(_) => self == Self::Numbers,
                Value::String(_) => self == Self::Texts,
                _ => false,
            },
            Type::Integer | Type::Number => self == Self::Numbers,
            Type::Text | Type::Bytes | Type::Formatted(_) => self == Self::Texts,
            Type::List(_) | Type::Tuple(_) => matches!(self, Self::Collections | Self::Lists),
            Type::Map(_) => matches!(self, Self::Collections | Self::Maps),
            Type::Object(_) => matches!(self, Self::Collections | Self::Objects | Self::Maps),
            Type::Null | Type::Boolean => false,
        }
    }
}

/// A field while its attributes are read.
struct Draft {
    field: Field,
    nullable: bool,
    /// Attributes that do not fit the type.
    misfits: Vec<(String, Span, Fits)>,
    /// Which of its values the type has to accept, and where they stand.
    values: Vec<(&'static str, Span)>,
}

impl<'t> Checker<'t> {
    /// A vocabulary term: a top-level node with a type.
    pub(super) fn term_field(
        &mut self,
        file: usize,
        node: Node<'t>,
        annotated: Option<Node<'t>>,
    ) -> Option<Field> {
        let subject = node.subject();
        let name = SmolStr::new(subject.identifier?.content());
        let ty = self.label_type(file, subject.labels().next()?)?;
        let mut attributes = self.record_attributes(file, subject.record);
        Self::add_doc(&mut attributes, annotated.unwrap_or(node));
        self.add_annotations(file, annotated, &mut attributes);
        Some(self.typed_field(file, blank(name, ty), &attributes, 0))
    }

    /// A parameter: its own type, or that of the term of its name.
    pub(super) fn named_field(
        &mut self,
        file: usize,
        node: Node<'t>,
        name: Node<'t>,
        arrow: Option<Node<'t>>,
    ) -> Option<Field> {
        let subject = node.subject();
        let text = SmolStr::new(name.content());
        if subject.labels().next().is_some() {
            return self.field(file, node, Some(text), arrow);
        }
        let Some(term) = self.terms.get(&text).cloned() else {
            if !self.unread_terms.contains(&text) {
                self.missing_type(file, node, &text);
            }
            return None;
        };
        let mut attributes = self.record_attributes(file, subject.record);
        Self::add_doc(&mut attributes, node);
        if let Some(arrow) = arrow {
            Self::add_doc(&mut attributes, arrow);
        }
        Some(self.typed_field(file, term, &attributes, 0))
    }

    fn missing_type(&mut self, file: usize, node: Node<'t>, name: &str) {
        let message = format!("the parameter `{name}` has no type");
        let mut error = self.error(&codes::MISSING_TYPE, file, node.span(), message);
        error = if built_in(name).is_some() {
            error.help(format!("if `{name}` is its type, name the parameter: (name::{name})"))
        } else {
            let end = node.subject().identifier.map_or(node.span(), Node::span).end;
            error
                .help(format!("write ({name}::Text), or declare the vocabulary term ({name}::Text) at the top level"))
                .fix(Fix::replace(NeedsLook, "make it text", Span::empty(end), "::Text"))
        };
        self.report(file, error);
    }

    /// A node with exactly one label, its type.
    pub(super) fn field(
        &mut self,
        file: usize,
        node: Node<'t>,
        name: Option<SmolStr>,
        arrow: Option<Node<'t>>,
    ) -> Option<Field> {
        let subject = node.subject();
        let mut labels = subject.labels();
        let label = labels.next()?;
        if let Some(second) = labels.next() {
            let error = self
                .error(
                    &codes::SEVERAL_TYPES,
                    file,
                    second.span(),
                    "a parameter or result has one type",
                )
                .label(label.span(), "the first one")
                .help("one of several types is a union, in backticks: (a::`Text | Int`)");
            self.report(file, error);
            return None;
        }
        let ty = self.label_type(file, label)?;
        let mut attributes = self.record_attributes(file, subject.record);
        Self::add_doc(&mut attributes, node);
        if let Some(arrow) = arrow {
            Self::add_doc(&mut attributes, arrow);
        }
        Some(self.typed_field(file, blank(name.unwrap_or_default(), ty), &attributes, 0))
    }

    /// Reads attributes over a field that has a type.
    fn typed_field(
        &mut self,
        file: usize,
        field: Field,
        attributes: &[Attribute<'t>],
        depth: u32,
    ) -> Field {
        let mut draft = Draft { field, nullable: false, misfits: Vec::new(), values: Vec::new() };
        // A default that a term brings has to fit what is said here, too.
        if let (Some(_), Some(first)) = (&draft.field.slot.default, attributes.first())
            && attributes.iter().all(|attribute| attribute.key != "default")
        {
            draft.values.push(("default", first.span()));
        }
        for attribute in attributes {
            self.field_attribute(file, &mut draft, attribute, depth);
        }
        self.finish_field(file, draft)
    }

    fn field_attribute(
        &mut self,
        file: usize,
        draft: &mut Draft,
        attribute: &Attribute<'t>,
        depth: u32,
    ) {
        let slot = &mut draft.field.slot;
        match &*attribute.key {
            "description" => {
                slot.description = attribute.text(self, file).or(slot.description.take());
            }
            "default" => {
                if let Some(value) = attribute.json(self, file) {
                    slot.default = Some(Box::new(value));
                    draft.values.push(("default", attribute.span()));
                }
            }
            "optional" => {
                if let Some(flag) = attribute.flag(self, file) {
                    draft.field.presence =
                        if flag { Presence::Optional } else { Presence::Required };
                }
            }
            "title" => slot.details_mut().title = attribute.text(self, file),
            "deprecated" => {
                if let Some(flag) = attribute.flag(self, file) {
                    slot.details_mut().deprecated = flag;
                }
            }
            "examples" => {
                if let Some(examples) = attribute.list(self, file) {
                    slot.details_mut().examples = Some(examples);
                    draft.values.push(("example", attribute.span()));
                }
            }
            "nullable" => draft.nullable = attribute.flag(self, file).unwrap_or_default(),
            "unsound" => {
                if let Some(flag) = attribute.flag(self, file) {
                    slot.details_mut().unsound = flag;
                }
            }
            "secret" => draft.field.secret = attribute.flag(self, file).unwrap_or_default(),
            "injected" => {
                if attribute.flag(self, file) == Some(true) {
                    draft.field.host = Host::Injected;
                }
            }
            "pinned" => {
                if let Some(value) = attribute.json(self, file) {
                    draft.values.push(("pinned value", attribute.span()));
                    draft.field.host = Host::Pinned(Box::new(value));
                }
            }
            "fields" | "elementType" | "valueType" | "keys" | "open" => {
                self.structure(file, draft, attribute, depth);
            }
            _ => self.constraint(file, draft, attribute),
        }
    }

    /// An attribute that completes a built-in type.
    fn structure(&mut self, file: usize, draft: &mut Draft, attribute: &Attribute<'t>, depth: u32) {
        let fits = match &*attribute.key {
            "fields" | "open" => Fits::Objects,
            "elementType" => Fits::Lists,
            _ => Fits::Maps,
        };
        let slot = &mut draft.field.slot;
        match (&*attribute.key, &mut slot.ty) {
            ("fields", Type::Object(object)) => {
                let fields = self.object_fields(file, attribute, depth);
                object.fields = fields.or(object.fields.take());
            }
            ("open", Type::Object(object)) => {
                if let Some(open) = attribute.open(self, file) {
                    object.open = open;
                }
            }
            ("elementType", Type::List(item)) => {
                if let Some(ty) = attribute.type_expression(self, file) {
                    **item = ty;
                }
            }
            ("valueType", Type::Map(value)) => {
                if let Some(ty) = attribute.type_expression(self, file) {
                    **value = ty;
                }
            }
            ("keys", Type::Map(_)) => {
                if let Some(ty) = attribute.type_expression(self, file) {
                    slot.details_mut().constrain(Constraint::Keys(Box::new(ty)));
                }
            }
            _ => draft.misfits.push((attribute.key.to_string(), attribute.key_span, fits)),
        }
    }

    /// An attribute that narrows a type.
    fn constraint(&mut self, file: usize, draft: &mut Draft, attribute: &Attribute<'t>) {
        use Constraint as C;
        let (fits, constraints) = match &*attribute.key {
            "range" => {
                let (least, most) = attribute.range(self, file).unwrap_or_default();
                (Fits::Numbers, [least.map(C::Minimum), most.map(C::Maximum)])
            }
            "above" => (Fits::Numbers, [attribute.number(self, file).map(C::Above), None]),
            "below" => (Fits::Numbers, [attribute.number(self, file).map(C::Below), None]),
            "multipleOf" => (Fits::Numbers, [attribute.step(self, file).map(C::MultipleOf), None]),
            "length" => {
                let (least, most) = attribute.size(self, file).unwrap_or_default();
                (Fits::Texts, [least.map(C::MinLength), most.map(C::MaxLength)])
            }
            "pattern" => (Fits::Texts, [attribute.text(self, file).map(C::Pattern), None]),
            "format" => (Fits::Texts, [attribute.text(self, file).map(C::Format), None]),
            "size" => {
                let (least, most) = attribute.size(self, file).unwrap_or_default();
                (Fits::Collections, [least.map(C::MinSize), most.map(C::MaxSize)])
            }
            "unique" => {
                let unique = attribute.flag(self, file).unwrap_or_default();
                (Fits::Lists, [unique.then_some(C::Unique), None])
            }
            "enum" => {
                draft.values.push(("enum member", attribute.span()));
                (Fits::Every, [attribute.list(self, file).map(C::Enum), None])
            }
            "const" => {
                draft.values.push(("constant", attribute.span()));
                let constant = attribute.json(self, file).map(|value| C::Const(Box::new(value)));
                (Fits::Every, [constant, None])
            }
            _ => return self.meaningless(file, attribute, &KNOWN),
        };
        for constraint in constraints.into_iter().flatten() {
            draft.field.slot.details_mut().constrain(constraint);
        }
        if !fits.holds(&draft.field.slot.ty) {
            draft.misfits.push((attribute.key.to_string(), attribute.key_span, fits));
        }
    }

    /// The fields of an `Object`, as maps: `[{name: "street", type: "Text"}]`.
    fn object_fields(
        &mut self,
        file: usize,
        attribute: &Attribute<'t>,
        depth: u32,
    ) -> Option<Vec<Field>> {
        let items = attribute.items(self, file)?;
        if depth >= MAX_DEPTH {
            let message = format!("fields nest more than {MAX_DEPTH} deep");
            let error = self.error(&codes::NESTED_TOO_DEEP, file, attribute.key_span, message);
            self.report(file, error.help("flatten the object"));
            return None;
        }
        let mut fields: Vec<Field> = Vec::with_capacity(items.len());
        let mut seen = Seen::default();
        for item in items {
            let Some(field) = self.object_field(file, item, depth) else { continue };
            if let Some(first) = seen.insert(field.name.to_string().into(), item.span()) {
                let message = format!("two fields are called `{}`", field.name);
                let error = self
                    .error(&codes::DUPLICATE_PARAMETER, file, item.span(), message)
                    .here("the second one")
                    .label(first, "the first one")
                    .help("rename one of them");
                self.report(file, error);
            }
            fields.push(field);
        }
        Some(fields)
    }

    fn object_field(&mut self, file: usize, item: Node<'t>, depth: u32) -> Option<Field> {
        if item.kind() != N::Map {
            let error = self
                .error(&codes::ATTRIBUTE_VALUE, file, item.span(), "a field is a map")
                .help("write {name: \"street\", type: \"Text\"}");
            self.report(file, error);
            return None;
        }
        let mut attributes = self.record_attributes(file, Some(item));
        let mut take = |key: &str| {
            let at = attributes.iter().position(|attribute| attribute.key == key)?;
            Some(attributes.remove(at))
        };
        let (name, ty) = (take("name"), take("type"));
        let Some(name) = name else {
            let error = self
                .error(&codes::MISSING_NAME, file, item.span(), "this field has no name")
                .help("write {name: \"street\", type: \"Text\"}");
            self.report(file, error);
            return None;
        };
        let name = name.text(self, file)?;
        let has = |key: &str| attributes.iter().any(|attribute| attribute.key == key);
        let field = if let Some(ty) = ty {
            blank(name, ty.type_expression(self, file)?)
        } else if has("fields") {
            blank(name, built_in("Object")?)
        } else if has("elementType") {
            blank(name, built_in("Array")?)
        } else if let Some(term) = self.terms.get(&name) {
            term.clone()
        } else {
            let message = format!("the field `{name}` has no type");
            let error = self.error(&codes::MISSING_TYPE, file, item.span(), message);
            self.report(file, error.help(format!("write {{name: \"{name}\", type: \"Text\"}}")));
            return None;
        };
        Some(self.typed_field(file, field, &attributes, depth + 1))
    }

    /// Completes a field and checks that its attributes fit its type.
    fn finish_field(&mut self, file: usize, mut draft: Draft) -> Field {
        for (key, span, fits) in &draft.misfits {
            self.misfit(file, *span, key, *fits, &draft.field.slot.ty);
        }
        if draft.nullable
            && !matches!(draft.field.slot.ty, Type::Nullable(_) | Type::Null | Type::Any)
        {
            let inner = std::mem::take(&mut draft.field.slot.ty);
            draft.field.slot.ty = Type::Nullable(Box::new(inner));
        }
        let unsound = draft.field.slot.details.as_ref().is_some_and(|details| details.unsound);
        if !unsound {
            for (what, span) in &draft.values {
                self.accepts(file, *span, what, &draft.field);
            }
        }
        draft.field
    }

    fn misfit(&mut self, file: usize, span: Span, key: &str, fits: Fits, ty: &Type) {
        let message = format!("`{key}` is about {}, and this is {}", fits.words(), describe(ty));
        let error = self
            .error(&codes::ATTRIBUTE_TYPE, file, span, message)
            .help(format!("remove `{key}`, or change the type"));
        self.report(file, error);
    }

    /// Checks that a field's type accepts a value that its attributes name.
    fn accepts(&mut self, file: usize, span: Span, what: &str, field: &Field) {
        let slot = &field.slot;
        let details = slot.details.as_deref();
        let constraints = || details.iter().flat_map(|details| &details.constraints);
        let whole = |value: &Value| accept::slot(slot, value);
        let bare = |value: &Value| accept::ty(&slot.ty, value);
        let verdict = match what {
            "default" => slot.default.as_deref().map_or(Ok(()), whole),
            "example" => {
                let examples = details.and_then(|details| details.examples.as_deref());
                examples.unwrap_or_default().iter().try_for_each(whole)
            }
            "pinned value" => match &field.host {
                Host::Pinned(value) => whole(value),
                _ => Ok(()),
            },
            _ => constraints().try_for_each(|constraint| match constraint {
                Constraint::Enum(values) => values.iter().try_for_each(bare),
                Constraint::Const(value) => bare(value),
                _ => Ok(()),
            }),
        };
        let Err(refusal) = verdict else { return };
        let place =
            if refusal.path.is_empty() { String::new() } else { format!(" at `{}`", refusal.path) };
        let message = format!("the {what} does not fit the type{place}: {}", refusal.message);
        let error = self
            .error(&codes::REJECTED_VALUE, file, span, message)
            .help(format!("change the {what} or the type"));
        self.report(file, error);
    }
}

/// A field of which nothing is said but its name and type.
fn blank(name: SmolStr, ty: Type) -> Field {
    Field {
        name,
        slot: Slot::new(ty),
        presence: Presence::ByDefault,
        host: Host::No,
        secret: false,
    }
}
