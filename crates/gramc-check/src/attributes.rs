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
use crate::seen::Seen;
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

    /// The node of the value, if it has one.
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

    /// The value that `read` makes of its node. Reports a value of another type.
    fn read<T>(
        &self,
        checker: &mut Checker<'_>,
        expected: ValueType,
        read: impl FnOnce(Node<'t>) -> Option<T>,
    ) -> Option<T> {
        let value = self.node().and_then(read);
        if value.is_none() {
            self.wrong(checker, expected);
        }
        value
    }

    /// The value as a text: a string, or a bare word.
    pub(crate) fn text(&self, checker: &mut Checker<'_>) -> Option<SmolStr> {
        if let Given::Doc(text) = &self.value {
            return Some(SmolStr::new(text));
        }
        self.read(checker, ValueType::Text, |node| {
            let is_text = matches!(node.kind(), N::String | N::Symbol)
                || (node.kind() == N::TaggedString && node.tag() != Some("json"));
            is_text.then(|| SmolStr::new(node.content()))
        })
    }

    /// The value as a boolean.
    pub(crate) fn flag(&self, checker: &mut Checker<'_>) -> Option<bool> {
        if matches!(self.value, Given::Mark) {
            return Some(true);
        }
        self.read(checker, ValueType::Flag, boolean)
    }

    /// The value as a number of things, at least 1.
    pub(crate) fn count(&self, checker: &mut Checker<'_>) -> Option<u64> {
        self.read(checker, ValueType::Count(1), |node| whole(node).filter(|count| *count > 0))
    }

    /// The value as a number.
    pub(crate) fn number(&self, checker: &mut Checker<'_>) -> Option<Number> {
        self.read(checker, ValueType::Number, |node| value::number(node).ok())
    }

    /// The value as a number above 0.
    pub(crate) fn step(&self, checker: &mut Checker<'_>) -> Option<Number> {
        let number = self.number(checker)?;
        let positive = value::compare(&number, &Number::from(0)).is_gt();
        self.read(checker, ValueType::Step, |_| positive.then_some(number))
    }

    /// The value as bounds of numbers.
    pub(crate) fn range(&self, checker: &mut Checker<'_>) -> Option<Bounds<Number>> {
        self.read(checker, ValueType::Range, |node| bounds(node, |it| value::number(it).ok()))
    }

    /// The value as bounds of a length or size.
    pub(crate) fn size(&self, checker: &mut Checker<'_>) -> Option<Bounds<u64>> {
        let bounds = self.read(checker, ValueType::Size, |node| bounds(node, whole))?;
        if let (Some(least), Some(most)) = bounds
            && least > most
        {
            let message = format!("no value lies in {}", checker.source().slice(self.span()));
            let help = "write the smaller bound first";
            checker.reject(&codes::EMPTY_CONSTRAINT, self.span(), message, help);
        }
        Some(bounds)
    }

    /// The value as JSON.
    pub(crate) fn json(&self, checker: &mut Checker<'_>) -> Option<Value> {
        let Given::Node(node) = self.value else { return None };
        match value::json(node) {
            Ok(value) => Some(value),
            Err(error) => {
                let help = "a value is text, a number, true, false, null, [list], {map} or json`…`";
                checker.reject(&codes::ATTRIBUTE_VALUE, error.span, error.message, help);
                None
            }
        }
    }

    /// The value as a list of JSON values.
    pub(crate) fn list(&self, checker: &mut Checker<'_>) -> Option<Vec<Value>> {
        let value = self.json(checker)?;
        self.read(checker, ValueType::List, |_| match value {
            Value::Array(items) => Some(items),
            _ => None,
        })
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
        let is_text = |node: &Node<'t>| matches!(node.kind(), N::String | N::Symbol);
        let node = self.read(checker, ValueType::Type, |node| Some(node).filter(is_text))?;
        checker.string_type(node)
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
                    let words = "a list of names of declared types";
                    self.wrong_as(checker, ValueType::List, words);
                }
                None => {}
            }
        }
        Some(found)
    }

    /// The value of `open`: true, false or a type.
    pub(crate) fn open(&self, checker: &mut Checker<'_>) -> Option<Open> {
        let node = self.node();
        if let Some(flag) = node.and_then(boolean) {
            return Some(if flag { Open::Yes } else { Open::No });
        }
        let is_type = |node: &Node<'t>| {
            node.kind() == N::String
                && (likely_value(*node, ValueType::Flag).is_none()
                    || checker.is_known_type(&node.content()))
        };
        let Some(node) = node.filter(is_type) else {
            self.wrong_as(checker, ValueType::Flag, "true, false or a type in quotes");
            return None;
        };
        if matches!(&*node.content(), "true" | "false") {
            self.boolean_in_quotes(checker, node);
        }
        checker.string_type(node).map(|ty| Open::Of(Box::new(ty)))
    }

    /// The items of an array of maps.
    pub(crate) fn items(&self, checker: &mut Checker<'_>) -> Option<Vec<Node<'t>>> {
        let Some(node) = self.node().filter(|node| node.kind() == N::Array) else {
            let words = match &*self.key {
                "fields" => "a list, such as [{name: \"city\", type: \"Text\"}]",
                "extends" => "a list of records, such as [Person]",
                _ => "a list, such as [Address, City]",
            };
            self.wrong_as(checker, ValueType::List, words);
            return None;
        };
        Some(node.children().collect())
    }
}

/// The bounds of a range.
fn bounds<'t, T>(node: Node<'t>, read: impl Fn(Node<'t>) -> Option<T>) -> Option<Bounds<T>> {
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

fn boolean(node: Node<'_>) -> Option<bool> {
    (node.kind() == N::Boolean).then(|| node.text() == "true")
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
        let mut seen = Seen::default();
        for entry in record.entries() {
            let (key, key_span) = (entry.key.content(), entry.key.span());
            let first = seen.insert(key.clone(), key_span);
            let value = Given::Node(entry.value);
            let attribute = Attribute { key, key_span, is_entry: true, value };
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
        let message = format!("duplicate attribute `{}`", attribute.key);
        self.reject_second(
            &codes::DUPLICATE_KEY,
            [first, attribute.key_span],
            message,
            "remove one of them",
        );
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
        self.take_foreign(&mut attributes, owner);
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
