//! Where a text uses names, by its tree alone.

use gramc_syntax::{Node, NodeKind as N, Parse, SourceFile, Span};
use smol_str::SmolStr;

use super::{Declaration, Kind, Space, Use};
use crate::declared::only_node;
use gramc_model::expression;
use gramc_model::expression::Word;
use gramc_model::format::built_in;

/// The keys whose value is a type expression.
const TYPED: [&str; 6] = ["elementType", "valueType", "open", "keys", "result", "type"];

/// Where a text of these declarations uses names, in the order of the declarations. Built-in types
/// are no names.
pub fn uses(text: &Parse, declarations: &[Declaration]) -> Vec<Use> {
    let mut found = Finder { uses: Vec::new(), holder: None };
    for (at, declaration) in declarations.iter().enumerate() {
        found.holder = Some(at);
        found.declaration(declaration.kind, text.tree().node(declaration.node));
    }
    found.uses
}

/// The values of a type expression that is made of them, as they are written in it.
pub fn values_in(expression: &str) -> Vec<&str> {
    let words = expression::words(expression).into_iter();
    let literal = |(_, word)| match word {
        Word::Literal(text) => Some(text),
        Word::Type(_) | Word::Field(_) => None,
    };
    words.filter_map(literal).collect()
}

/// The name that a type expression ends with, if it ends with one: what is being written.
pub fn type_word(expression: &str) -> &str {
    match expression::words(expression).last() {
        Some((at, Word::Type(name) | Word::Field(name))) if at + name.len() == expression.len() => {
            name
        }
        _ => "",
    }
}

/// The names of types in an expression, built-in ones included, each with its place in the
/// text around it. `node` is the label, quoted or not, or the string.
pub fn types_in(node: Node<'_>, mut each: impl FnMut(&str, Span)) {
    if node.kind() == N::Symbol {
        return each(node.text(), node.span());
    }
    if node.kind() == N::TypeExpression {
        let names = node.descendants().filter(|part| part.kind() == N::TypeName);
        return names.for_each(|name| each(name.text(), name.span()));
    }
    let content = node.content();
    let whole = node.text();
    // Without escapes, the quoted content equals the source text.
    let start = whole.find(&*content).filter(|_| !content.is_empty());
    for (at, word) in expression::words(&content) {
        let Word::Type(name) = word else { continue };
        let place = match start {
            Some(start) => {
                let offset = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
                let from = node.span().start + offset(start + at);
                Span::new(from, from + offset(name.len()))
            }
            None => node.span(),
        };
        each(name, place);
    }
}

/// The text of an implementation's signature, and where it begins in the file.
pub fn signature_text(implementation: Node<'_>) -> Option<(Parse, u32)> {
    let mut entries = implementation.subject().entries();
    let value = entries.find(|entry| entry.key.content() == "signature")?.value;
    let content = value.content();
    // Only without escapes is a span of the content one of the file.
    let start = value.text().find(&*content)?;
    let start = value.span().start + u32::try_from(start).unwrap_or(u32::MAX);
    Some((gramc_syntax::parse(SourceFile::new("signature", content.into_owned())), start))
}

struct Finder {
    uses: Vec<Use>,
    holder: Option<usize>,
}

impl Finder {
    fn add(&mut self, space: Space, name: &str, place: Span) {
        if space == Space::Types && built_in(name).is_some() {
            return;
        }
        self.uses.push(Use { space, name: SmolStr::new(name), place, holder: self.holder });
    }

    fn declaration(&mut self, kind: Kind, node: Node<'_>) {
        self.record(node.subject().record);
        match kind {
            Kind::Tool => {
                let signature = node.elements().next().filter(|path| path.kind() == N::Path);
                let nodes = signature.into_iter().flat_map(Node::children);
                nodes.filter(|part| part.kind() == N::NodePattern).for_each(|it| self.field(it));
            }
            Kind::Record => {
                node.elements().filter_map(only_node).for_each(|field| self.field(field));
            }
            Kind::Alias => {
                node.elements().filter_map(only_node).for_each(|inner| self.add_types(inner));
            }
            Kind::Term => self.add_types(node),
            Kind::Union => node.elements().for_each(|element| match only_node(element) {
                Some(inner) => self.add_types(inner),
                None => self.reference(element, Space::Types),
            }),
            Kind::Agent | Kind::Container => {
                node.elements().for_each(|element| self.reference(element, Space::Tools));
            }
            Kind::Experiment => {
                self.text(node, "agent", Space::Tools);
                for element in node.elements() {
                    self.reference(element, Space::Libraries);
                    if let Some(arm) = only_node(element) {
                        self.text(arm, "agent", Space::Tools);
                        self.text(arm, "library", Space::Libraries);
                    }
                }
            }
            Kind::Library => node.elements().filter_map(only_node).for_each(|node| {
                if let Some(name) = node.subject().identifier {
                    self.add(Space::Tools, &name.content(), name.span());
                }
                self.signature(node);
            }),
            Kind::Enum => {}
        }
    }

    /// A name in the string of an attribute.
    fn text(&mut self, node: Node<'_>, key: &str, space: Space) {
        let entry = node.subject().entries().find(|entry| entry.key.content() == key);
        if let Some(value) = entry.map(|it| it.value).filter(|it| it.kind() == N::String) {
            self.add(space, &value.content(), value.span());
        }
    }

    /// The types in the signature of an implementation.
    fn signature(&mut self, node: Node<'_>) {
        let Some((parse, start)) = signature_text(node) else { return };
        let nodes = parse.tree().root().descendants().filter(|it| it.kind() == N::NodePattern);
        for label in nodes.flat_map(|node| node.subject().labels()) {
            types_in(label, |name, place| {
                let place = Span::new(place.start + start, place.end + start);
                self.add(Space::Types, name, place);
            });
        }
    }

    /// A name among elements.
    fn reference(&mut self, element: Node<'_>, space: Space) {
        let name = element.children().next().filter(|_| element.kind() == N::PatternReference);
        let Some(name) = name else { return };
        if space == Space::Types {
            return types_in(name, |name, place| self.add(space, name, place));
        }
        self.add(space, &name.content(), name.span());
    }

    /// A parameter, field or result: without a type of its own it is a term.
    fn field(&mut self, node: Node<'_>) {
        let subject = node.subject();
        match subject.identifier {
            Some(name) if subject.labels_node().is_none() => {
                self.add(Space::Terms, &name.content(), name.span());
                self.record(subject.record);
            }
            _ => self.add_types(node),
        }
    }

    fn add_types(&mut self, node: Node<'_>) {
        let subject = node.subject();
        for label in subject.labels() {
            types_in(label, |name, place| self.add(Space::Types, name, place));
            if label.kind() == N::TypeExpression {
                let records = label.descendants().filter(|part| part.kind() == N::Record);
                records.for_each(|record| self.record(Some(record)));
            }
        }
        self.record(subject.record);
    }

    /// The types that attributes name, however deep.
    fn record(&mut self, record: Option<Node<'_>>) {
        let Some(record) = record else { return };
        let entry = |node: &Node<'_>| matches!(node.kind(), N::RecordProperty | N::MapEntry);
        for entry in record.descendants().filter(entry) {
            let mut parts = entry.children().filter(|node| node.kind() != N::Error);
            let (Some(key), Some(value)) = (parts.next(), parts.next()) else { continue };
            let key = key.content();
            if matches!(value.kind(), N::String | N::Symbol) && TYPED.contains(&&*key) {
                types_in(value, |name, place| self.add(Space::Types, name, place));
            } else if key == "fieldPatterns" && value.kind() == N::Map {
                for pattern in value.children() {
                    let mut parts = pattern.children().filter(|node| node.kind() != N::Error);
                    let (Some(key), Some(ty)) = (parts.next(), parts.next()) else { continue };
                    // A key such as `open` is found as an attribute.
                    let is_found = TYPED.contains(&&*key.content());
                    if matches!(ty.kind(), N::String | N::Symbol) && !is_found {
                        types_in(ty, |name, place| self.add(Space::Types, name, place));
                    }
                }
            } else if matches!(&*key, "defs" | "extends") && value.kind() == N::Array {
                for item in value.children() {
                    types_in(item, |name, place| self.add(Space::Types, name, place));
                }
            }
        }
    }
}
