//! Attributes: entries of records, annotations and doc comments, and what their values are read
//! as.

use std::borrow::Cow;

use gramc_syntax::{Node, NodeKind as N, Span};
use serde_json::{Number, Value};
use smol_str::SmolStr;

use crate::checker::Checker;
use crate::codes;
use crate::foreign_values::likely_value;
use crate::index::DeclarationSyntax;
use crate::seen::{FEW, Seen};
use gramc_model::attributes::{AttributeOwner, ValueType, find};
use gramc_model::value;
use gramc_model::{Open, Type, TypeId};

/// One attribute: a key and a value.
pub(crate) struct Attribute<'t> {
    pub(crate) key: Cow<'t, str>,
    /// The span of the key, or of the doc comment.
    pub(crate) key_span: Span,
    /// Whether it is an entry of a record.
    is_entry: bool,
    value: Given<'t>,
}

/// How an attribute's value was given.
enum Given<'t> {
    Node(Node<'t>),
    /// By a doc comment.
    Doc(Cow<'t, str>),
    /// By a mark, which means `true`.
    Mark,
}

/// Bounds of a size: least and most.
pub(crate) type Bounds<T> = (Option<T>, Option<T>);

impl<'t> Attribute<'t> {
    /// The span of the value.
    pub(crate) fn span(&self) -> Span {
        match &self.value {
            Given::Node(node) => node.span(),
            Given::Doc(_) | Given::Mark => self.key_span,
        }
    }

    /// The default behind the `=` of a field.
    pub(crate) fn default_of(value: Node<'t>) -> Self {
        let key = Cow::Borrowed("default");
        Self { key, key_span: value.span(), is_entry: false, value: Given::Node(value) }
    }

    /// The value, if a node says it.
    pub(crate) fn node(&self) -> Option<Node<'t>> {
        match self.value {
            Given::Node(node) => Some(node),
            Given::Doc(_) | Given::Mark => None,
        }
    }

    /// The span of the key and the value, where a record gives them.
    pub(crate) fn entry_span(&self) -> Option<Span> {
        match &self.value {
            Given::Node(node) if self.is_entry => {
                Some(Span::new(self.key_span.start, node.span().end))
            }
            _ => None,
        }
    }

    /// The value as a text: a string, or a bare word.
    pub(crate) fn text(&self, checker: &mut Checker<'_>) -> Option<SmolStr> {
        match &self.value {
            Given::Doc(text) => return Some(SmolStr::new(text)),
            Given::Mark => {}
            Given::Node(node) => {
                if matches!(node.kind(), N::String | N::Symbol)
                    || (node.kind() == N::TaggedString && node.tag() != Some("json"))
                {
                    return Some(SmolStr::new(node.content()));
                }
            }
        }
        self.wrong(checker, ValueType::Text);
        None
    }

    /// The value as a boolean.
    pub(crate) fn flag(&self, checker: &mut Checker<'_>) -> Option<bool> {
        match self.value {
            Given::Mark => return Some(true),
            Given::Node(node) if node.kind() == N::Boolean => return Some(node.text() == "true"),
            _ => {}
        }
        self.wrong(checker, ValueType::Flag);
        None
    }

    /// The value as a number of things, at least 1.
    pub(crate) fn count(&self, checker: &mut Checker<'_>) -> Option<u64> {
        let count = match self.value {
            Given::Node(node) => whole(node).filter(|&count| count > 0),
            Given::Doc(_) | Given::Mark => None,
        };
        if count.is_none() {
            self.wrong(checker, ValueType::Count(1));
        }
        count
    }

    /// The value as a number.
    pub(crate) fn number(&self, checker: &mut Checker<'_>) -> Option<Number> {
        let number = match self.value {
            Given::Node(node) => value::number(node).ok(),
            Given::Doc(_) | Given::Mark => None,
        };
        if number.is_none() {
            self.wrong(checker, ValueType::Number);
        }
        number
    }

    /// The value as a number above 0.
    pub(crate) fn step(&self, checker: &mut Checker<'_>) -> Option<Number> {
        let number = self.number(checker)?;
        if value::compare(&number, &Number::from(0)) == std::cmp::Ordering::Greater {
            return Some(number);
        }
        self.wrong(checker, ValueType::Step);
        None
    }

    /// The value as bounds of numbers.
    pub(crate) fn range(&self, checker: &mut Checker<'_>) -> Option<Bounds<Number>> {
        let bounds = self.bounds(|node| value::number(node).ok());
        let Some(bounds) = bounds else {
            self.wrong(checker, ValueType::Range);
            return None;
        };
        Some(bounds)
    }

    /// The value as bounds of a length or size.
    pub(crate) fn size(&self, checker: &mut Checker<'_>) -> Option<Bounds<u64>> {
        let Some(bounds) = self.bounds(whole) else {
            self.wrong(checker, ValueType::Size);
            return None;
        };
        if let (Some(least), Some(most)) = bounds
            && least > most
        {
            self.empty(checker);
        }
        Some(bounds)
    }

    fn bounds<T>(&self, read: impl Fn(Node<'t>) -> Option<T>) -> Option<Bounds<T>> {
        let Given::Node(node) = self.value else { return None };
        if node.kind() != N::Range {
            return None;
        }
        let mut bounds = (None, None);
        for bound in node.children() {
            let lower = bound.span().start == node.span().start;
            let slot = if lower { &mut bounds.0 } else { &mut bounds.1 };
            *slot = Some(read(bound)?);
        }
        Some(bounds)
    }

    fn empty(&self, checker: &mut Checker<'_>) {
        let text = checker.source().slice(self.span());
        let message = format!("no value lies in {text}");
        let error = checker
            .error(&codes::EMPTY_CONSTRAINT, self.span(), message)
            .help("write the smaller bound first");
        checker.report(error);
    }

    /// The value as JSON.
    pub(crate) fn json(&self, checker: &mut Checker<'_>) -> Option<Value> {
        let Given::Node(node) = self.value else { return None };
        match value::json(node) {
            Ok(value) => Some(value),
            Err(error) => {
                let error = checker
                    .error(&codes::ATTRIBUTE_VALUE, error.span, error.message)
                    .help("a value is text, a number, true, false, null, [list], {map} or json`…`");
                checker.report(error);
                None
            }
        }
    }

    /// The value as a list of JSON values.
    pub(crate) fn list(&self, checker: &mut Checker<'_>) -> Option<Vec<Value>> {
        if let Value::Array(items) = self.json(checker)? {
            Some(items)
        } else {
            self.wrong(checker, ValueType::List);
            None
        }
    }

    /// The value as JSON for keeping: what is no JSON is kept as its text.
    pub(crate) fn keep_value(&self, checker: &mut Checker<'_>) -> Option<Value> {
        match self.value {
            Given::Node(node) if node.kind() == N::Range => {
                Some(Value::String(node.text().to_owned()))
            }
            _ => self.json(checker),
        }
    }

    /// The value as a type expression.
    pub(crate) fn type_expression(&self, checker: &mut Checker<'_>) -> Option<Type> {
        if let Given::Node(node) = self.value
            && matches!(node.kind(), N::String | N::Symbol)
        {
            return checker.string_type(node);
        }
        self.wrong(checker, ValueType::Type);
        None
    }

    /// The value as a list of names.
    pub(crate) fn names(&self, checker: &mut Checker<'_>) -> Option<Vec<SmolStr>> {
        let items = self.list(checker)?;
        let names: Option<Vec<_>> =
            items.iter().map(|item| item.as_str().map(SmolStr::new)).collect();
        if names.is_none() {
            self.wrong_as(checker, ValueType::List, "a list of names, such as [\"path\"]");
        }
        names
    }

    /// The value as a list of names of declared types.
    pub(crate) fn type_names(&self, checker: &mut Checker<'_>) -> Option<Vec<TypeId>> {
        let mut found = Vec::new();
        for item in self.items(checker)? {
            match checker.string_type(item) {
                Some(Type::Named(id)) => found.push(id),
                Some(_) => {
                    self.wrong_as(checker, ValueType::List, "a list of names of declared types");
                }
                None => {}
            }
        }
        Some(found)
    }

    /// The value as what `open` takes: true, false or a type.
    pub(crate) fn open(&self, checker: &mut Checker<'_>) -> Option<Open> {
        match self.value {
            Given::Node(node) if node.kind() == N::Boolean => {
                Some(if node.text() == "true" { Open::Yes } else { Open::No })
            }
            Given::Node(node)
                if node.kind() == N::String
                    && (likely_value(node, ValueType::Flag).is_none()
                        || checker.is_known_type(&node.content())) =>
            {
                if matches!(&*node.content(), "true" | "false") {
                    self.boolean_in_quotes(checker, node);
                }
                checker.string_type(node).map(|ty| Open::Of(Box::new(ty)))
            }
            _ => {
                self.wrong_as(checker, ValueType::Flag, "true, false or a type in quotes");
                None
            }
        }
    }

    /// The items of an array of maps.
    pub(crate) fn items(&self, checker: &mut Checker<'_>) -> Option<Vec<Node<'t>>> {
        if let Given::Node(node) = self.value
            && node.kind() == N::Array
        {
            return Some(node.children().collect());
        }
        self.wrong_as(
            checker,
            ValueType::List,
            match &*self.key {
                "fields" => "a list, such as [{name: \"city\", type: \"Text\"}]",
                "extends" => "a list of records, such as [Person]",
                _ => "a list, such as [Address, City]",
            },
        );
        None
    }
}

/// A node as a whole number, not below 0.
fn whole(node: Node<'_>) -> Option<u64> {
    match node.kind() {
        N::Integer => node.text().parse().ok(),
        _ => value::number(node).ok()?.as_u64(),
    }
}

impl<'t> Checker<'t> {
    /// The attributes of a record. A second value for a key is reported and left out.
    pub(crate) fn record_attributes<'a>(&mut self, record: Option<Node<'a>>) -> Vec<Attribute<'a>> {
        let Some(record) = record else { return Vec::new() };
        let mut attributes: Vec<Attribute<'a>> = Vec::with_capacity(4);
        let mut many = None;
        for entry in record.entries() {
            let attribute = Attribute {
                key: entry.key.content(),
                key_span: entry.key.span(),
                is_entry: true,
                value: Given::Node(entry.value),
            };
            let first = if attributes.len() < FEW {
                let known = attributes.iter().find(|known| known.key == attribute.key);
                known.map(|known| known.key_span)
            } else {
                let many = many.get_or_insert_with(|| {
                    let mut seen = Seen::default();
                    for known in &attributes {
                        seen.insert(known.key.clone(), known.key_span);
                    }
                    seen
                });
                many.insert(attribute.key.clone(), attribute.key_span)
            };
            match first {
                None => attributes.push(attribute),
                Some(first) => self.second_value(&attribute, first),
            }
        }
        attributes
    }

    /// The attributes of a node: those of its record, and that its name is marked as optional.
    pub(crate) fn marked_attributes<'a>(
        &mut self,
        optional: Option<Span>,
        record: Option<Node<'a>>,
    ) -> Vec<Attribute<'a>> {
        let mut attributes = self.record_attributes(record);
        if let Some(key_span) = optional {
            let key = Cow::Borrowed("optional");
            let mark = Attribute { key, key_span, is_entry: false, value: Given::Mark };
            self.add_attribute(&mut attributes, mark);
        }
        attributes
    }

    pub(crate) fn add_attribute<'a>(
        &mut self,
        attributes: &mut Vec<Attribute<'a>>,
        attribute: Attribute<'a>,
    ) {
        match attributes.iter().find(|known| known.key == attribute.key) {
            None => attributes.push(attribute),
            Some(first) => self.second_value(&attribute, first.key_span),
        }
    }

    fn second_value(&mut self, attribute: &Attribute<'_>, first: Span) {
        let message = format!("`{}` is given twice", attribute.key);
        let error = self
            .error(&codes::DUPLICATE_KEY, attribute.key_span, message)
            .here("the second one")
            .label(first, "the first one")
            .help("remove one of them");
        self.report(error);
    }

    /// Adds the doc comment before a node as its description, unless it has one.
    pub(crate) fn add_doc<'a>(attributes: &mut Vec<Attribute<'a>>, node: Node<'a>) {
        let Some(doc) = node.doc() else { return };
        if attributes.iter().any(|known| known.key == "description") {
            return;
        }
        let text = doc.doc_text();
        if !text.is_empty() {
            attributes.push(Attribute {
                key: Cow::Borrowed("description"),
                key_span: doc.span(),
                is_entry: false,
                value: Given::Doc(text),
            });
        }
    }

    /// The attributes of a tool or agent: of its record, its doc comment and its annotations.
    /// An unknown key that resembles a known one is reported.
    pub(crate) fn declaration_attributes(
        &mut self,
        declaration: &DeclarationSyntax<'t>,
        owner: AttributeOwner,
    ) -> Vec<Attribute<'t>> {
        let mut attributes = self.all_attributes(declaration);
        self.take_foreign(&mut attributes, owner, None);
        for attribute in &attributes {
            if find(owner, &attribute.key).is_none() {
                self.near_attribute(attribute, owner);
            }
        }
        attributes
    }

    /// The attributes of a declaration: of its record, its doc comment and its annotations.
    pub(crate) fn all_attributes(
        &mut self,
        declaration: &DeclarationSyntax<'t>,
    ) -> Vec<Attribute<'t>> {
        let DeclarationSyntax { node, annotated, subject, .. } = *declaration;
        let mut attributes = self.record_attributes(subject.record);
        Self::add_doc(&mut attributes, annotated.unwrap_or(node));
        Self::add_doc(&mut attributes, node);
        self.add_annotations(annotated, &mut attributes);
        attributes
    }

    /// Adds the annotations of an annotated pattern.
    pub(crate) fn add_annotations(
        &mut self,
        annotated: Option<Node<'t>>,
        attributes: &mut Vec<Attribute<'t>>,
    ) {
        let annotations = annotated.and_then(|node| node.child(N::Annotations));
        for annotation in annotations.into_iter().flat_map(Node::children) {
            let mut parts = annotation.children();
            let (Some(key), Some(value), N::PropertyAnnotation) =
                (parts.next(), parts.next(), annotation.kind())
            else {
                continue;
            };
            if self.unescaped.is_none() && self.is_broken(annotation) {
                continue;
            }
            let described = attributes.iter().any(|known| known.key == "description");
            if key.text() == "description" && described {
                continue;
            }
            let attribute = Attribute {
                key: Cow::Borrowed(key.text()),
                key_span: key.span(),
                is_entry: false,
                value: Given::Node(value),
            };
            self.add_attribute(attributes, attribute);
        }
    }
}
