//! Patterns that are data, but look like declarations.

use gramc_syntax::{Edit, Fix, Node, NodeKind as N, Span, Subject, Words};

use super::{Indexer, is_label, name_of};
use crate::kind::Kind;
use gramc_model::ImplementationKind;
use gramc_model::attributes::{AttributeOwner, find};
use gramc_model::format::built_in;
use gramc_model::nearest::nearest;

/// The elements without which a pattern with a label of another language is data.
#[derive(Clone, Copy)]
enum Elements {
    /// Nodes with types.
    Types,
    /// Names of what the file declares, or tools in place.
    Names,
    /// Names, in a pattern that is named like a type.
    Members,
    /// Nodes with kinds of implementations.
    Implementations,
}

/// Words of other languages for what labels declare.
const FOREIGN_LABELS: [(Words, &str, Elements); 9] = [
    (Words("Tools"), "Tool", Elements::Types),
    (Words("Function Func Method Action Operation function func def"), "Tool", Elements::Types),
    (
        Words("Struct Class Interface Object Model Schema struct class interface object"),
        "Record",
        Elements::Types,
    ),
    (Words("Type Typedef type"), "Alias", Elements::Types),
    (
        Words("Toolset Toolbox Toolkit Tools Group Namespace Category Module"),
        "Container",
        Elements::Names,
    ),
    (Words("Assistant Bot Chatbot"), "Agent", Elements::Names),
    (Words("Comparison Compare Benchmark Test ABTest Evaluation"), "Experiment", Elements::Names),
    (
        Words("Lib Impl Implementation Implementations Bindings Binding Backend"),
        "Library",
        Elements::Implementations,
    ),
    (Words("Enumeration Literal Literals Choices"), "Enum", Elements::Members),
];

impl<'t> Indexer<'t> {
    /// Warns about a pattern that is data, but looks like a declaration: its label is nearly a
    /// known one, or it has no label and contains a signature.
    pub(super) fn report_unlabelled(&mut self, node: Node<'t>, subject: Subject<'t>) {
        let swapped = self.swapped_label(subject) || self.bracketed_term(node, subject);
        if swapped || self.near_label(node, subject) {
            return;
        }
        let signature = node.elements().next().is_some_and(is_signature);
        if let (Some(name), None, true) = (subject.identifier, subject.labels_node(), signature) {
            let message = format!("`{}` has no label and declares nothing", name.content());
            let end = Span::empty(name.span().end);
            let warning = self
                .unknown_label(name.span(), message)
                .about(name.content())
                .help(format!("a tool is [{}:Tool | …]", name.content()))
                .replace("make it a tool", end, ":Tool");
            self.report(warning);
        }
    }

    /// `[Tool:add | …]`
    fn swapped_label(&mut self, subject: Subject<'t>) -> bool {
        let (Some(name), Some(labels)) = (subject.identifier, subject.labels_node()) else {
            return false;
        };
        let label = subject.labels().next().map(Node::text).unwrap_or_default();
        let lower = Kind::LABELLED.into_iter().find(|kind| kind.word() == name.text());
        let lower = lower.filter(|_| label.starts_with(char::is_lowercase));
        let meant = Kind::of_label(name.text()).or(lower).map(Kind::label);
        let Some(meant) = meant.filter(|_| labels.children().count() == 1) else { return false };
        let span = Span::new(name.span().start, labels.span().end);
        let right = format!("{label}:{meant}");
        let warning = self
            .unknown_label(span, format!("`{label}` declares nothing"))
            .help(format!("write the name before the label: [{right} | …]"))
            .replace(format!("write `{right}`"), span, right);
        self.report(warning);
        true
    }

    /// `[personName::Text {description: "…"}]`
    fn bracketed_term(&mut self, node: Node<'t>, subject: Subject<'t>) -> bool {
        let mut labels = subject.labels();
        let (Some(name), Some(label), None) = (subject.identifier, labels.next(), labels.next())
        else {
            return false;
        };
        let known = |key: &str| find(AttributeOwner::Field, key).is_some() || key.starts_with("x-");
        if built_in(label.text()).is_none()
            || node.elements().next().is_some()
            || !subject.entries().all(|entry| known(&entry.key.content()))
        {
            return false;
        }
        let span = node.span();
        if name.text().starts_with(char::is_uppercase) {
            // It is named like a type.
            let record = subject.record.map(|record| format!(" {}", record.text()));
            let record = record.unwrap_or_default();
            let written = format!("[{}::Alias | (::{}{record})]", name.text(), label.text());
            let message = format!("`{}` declares nothing", name.content());
            let warning = self
                .unknown_label(name.span(), message)
                .about(name.content())
                .help(format!("a type is an alias: {written}"))
                .replace("declare an alias", span, written);
            self.report(warning);
            return true;
        }
        let edits = vec![
            Edit::new(Span::new(span.start, span.start + 1), "("),
            Edit::new(Span::new(span.end - 1, span.end), ")"),
        ];
        let message = format!("`{}` declares nothing", name.content());
        let help =
            format!("a vocabulary term is in parentheses: ({}::{})", name.content(), label.text());
        let fix = Fix::edits("write parentheses", edits);
        let warning = self.unknown_label(name.span(), message).about(name.content());
        self.report(warning.help(help).fix(fix));
        true
    }

    /// A label that is nearly a known one, or is a word of another language for one.
    fn near_label(&mut self, node: Node<'t>, subject: Subject<'t>) -> bool {
        let near = subject.labels().find_map(|label| {
            let foreign = FOREIGN_LABELS.iter().filter(|(word, ..)| word.contains(label.text()));
            if foreign.clone().next().is_some() {
                let mut likely = foreign.filter(|(_, _, elements)| self.contains(node, *elements));
                return likely.next().map(|(_, ours, _)| match *ours {
                    // What has fields is a record, whatever it is called.
                    "Alias" if holds_fields(node) => (label, "Record"),
                    ours => (label, ours),
                });
            }
            if let Some(near) = self.label_within(node, label.text()) {
                return Some((label, near));
            }
            let known = nearest(label.text(), Kind::LABELLED.into_iter().map(Kind::label));
            let likely = label.text().len() > 2;
            known.first().filter(|_| likely).map(|near| (label, *near))
        });
        let Some((label, near)) = near else { return false };
        let message = format!("`{}` declares nothing", label.text());
        let warning = self
            .unknown_label(label.span(), message)
            .help(format!("did you mean `{near}`?"))
            .replace(format!("write `{near}`"), label.span(), near);
        let name = subject.identifier.map(Node::content);
        self.report(match name {
            Some(name) => warning.about(name),
            None => warning,
        });
        true
    }

    /// The label that a longer one contains, if the pattern has its elements: `Tool` of `AsyncTool`
    /// and of `Tool.v2`.
    fn label_within(&self, node: Node<'t>, label: &str) -> Option<&'static str> {
        let kinds = [
            ("Tool", Elements::Types),
            ("Record", Elements::Types),
            ("Enum", Elements::Members),
            ("Agent", Elements::Names),
            ("Container", Elements::Names),
            ("Library", Elements::Implementations),
            ("Experiment", Elements::Names),
        ];
        let contains = |name: &str| label.starts_with(name) || label.ends_with(name);
        let mut kinds = kinds.into_iter().filter(|(name, _)| contains(name));
        kinds.find(|(_, elements)| self.contains(node, *elements)).map(|(name, _)| name)
    }

    /// Warns about a parent of a record that is written as a second label:
    /// `[Address::Record : Place | …]`.
    pub(super) fn parent_label(&mut self, node: Node<'t>, subject: Subject<'t>) {
        let Some(labels) = subject.labels_node() else { return };
        let mut of_record = subject.labels().skip_while(|label| label.text() != "Record");
        let (Some(record), Some(parent)) = (of_record.next(), of_record.next()) else { return };
        let name = parent.text();
        if is_label(name) || !self.declares(name) {
            return;
        }
        let extends = format!("extends: [{name}]");
        let gap = Span::new(record.span().end, labels.span().end);
        let (span, text) = match subject.record {
            Some(record) => {
                let comma = if record.entries().next().is_some() { ", " } else { "" };
                let brace = Span::new(gap.start, record.span().start + 1);
                (brace, format!(" {{{extends}{comma}"))
            }
            None => (gap, format!(" {{{extends}}}")),
        };
        let message = format!("the label `{name}` does not make `{}` extend it", name_of(node));
        let warning = self.unknown_label(parent.span(), message);
        self.report(warning.advise(format!("write {{{extends}}}"), span, text));
    }

    /// Whether a pattern has elements of a kind, so that it is hardly data.
    fn contains(&self, node: Node<'t>, kind: Elements) -> bool {
        let is_reference = |element: &Node<'t>| element.kind() == N::PatternReference;
        match kind {
            Elements::Types => has_label(node, |label| built_in(label).is_some()),
            Elements::Implementations => {
                let kinds = ImplementationKind::ALL.map(ImplementationKind::name);
                has_label(node, |label| kinds.contains(&label))
            }
            Elements::Names => node.elements().any(|element| match element.kind() {
                N::PatternReference => self.declares(element.text()),
                N::SubjectPattern => element.subject().labels().any(|label| is_label(label.text())),
                _ => false,
            }),
            Elements::Members => {
                let type_name = name_of(node).starts_with(char::is_uppercase);
                let mut elements = node.elements();
                type_name
                    && elements.next().is_some_and(|it| is_reference(&it))
                    && elements.all(|element| is_reference(&element))
            }
        }
    }

    /// Whether the file declares a name at its top level.
    fn declares(&self, name: &str) -> bool {
        let mut top = self.text.tree().root().children().map(|top| match top.kind() {
            N::AnnotatedPattern => top.children().nth(1).unwrap_or(top),
            _ => top,
        });
        top.any(|top| {
            let subject = top.subject();
            top.kind() == N::SubjectPattern
                && subject.identifier.is_some_and(|it| it.text() == name)
                && subject.labels().any(|label| is_label(label.text()))
        })
    }
}

/// Whether a node among the elements of a pattern has a label of a kind.
fn has_label(node: Node<'_>, is_kind: impl Fn(&str) -> bool) -> bool {
    let paths = node.elements().filter(|element| element.kind() == N::Path);
    let mut nodes = paths.flat_map(Node::children);
    nodes.any(|node| node.subject().labels().any(|label| is_kind(label.text())))
}

/// Whether each element of a pattern is a node with a name.
fn holds_fields(node: Node<'_>) -> bool {
    node.elements().all(|element| {
        element.kind() == N::Path
            && element.children().all(|node| node.subject().identifier.is_some())
    })
}

/// Whether an element is a path that ends in a result: a type without a name.
fn is_signature(element: Node<'_>) -> bool {
    let last = element.children().last().filter(|_| element.kind() == N::Path);
    last.is_some_and(|node| {
        let subject = node.subject();
        let mut labels = subject.labels();
        subject.identifier.is_none() && labels.any(|label| built_in(label.text()).is_some())
    })
}
