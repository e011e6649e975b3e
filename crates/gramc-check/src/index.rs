//! What the top-level declarations of one file are, by its syntax alone.
//!
//! A [`FileIndex`] depends on nothing but the text of its file. Names are resolved later, when the
//! indexes of all files are known.

mod header;
mod labels;

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use gramc_syntax::{
    Code, Diagnostic, Node, NodeId, NodeKind as N, Parse, Severity, SourceFile, Span, Subject,
};
use smol_str::SmolStr;

use crate::checker::DiagnosticBuffer;
use crate::codes;
use crate::fingerprints::{EarlierFingerprints, Fingerprints, hash_tokens};
use crate::kind::Kind;
use gramc_model::spans::Place;

/// What a file declares, in the order of its text.
#[derive(Debug, Default)]
pub(crate) struct FileIndex {
    /// The top-level patterns.
    pub(crate) items: Vec<Item>,
    /// Type declarations, those inside of tools included.
    pub(crate) types: Vec<Entry>,
    /// Top-level nodes that may be vocabulary terms.
    pub(crate) terms: Vec<TermEntry>,
    /// Tools, agents, containers, libraries and experiments.
    pub(crate) others: Vec<Entry>,
    /// What tells the items of two versions of the file apart.
    fingerprints: OnceLock<Fingerprints>,
    /// What is wrong with the declarations as such.
    pub(crate) found: DiagnosticBuffer,
}

/// A top-level pattern: the unit that is analyzed and cached.
#[derive(Debug)]
pub(crate) struct Item {
    /// Its text, with the comments before it.
    pub(crate) span: Span,
    pub(crate) node: NodeId,
    /// Whether a syntax error is in it or touches it.
    pub(crate) broken: bool,
    /// Whether it declares more than tools. Its analysis may depend on any other declaration.
    pub(crate) depends_on_all: bool,
    /// Its place among the tools, agents, containers, libraries and experiments of the index.
    pub(crate) others: Range<usize>,
}

/// A tool, container, agent, library, experiment or type.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) kind: Kind,
    pub(crate) node: NodeId,
    /// The annotated pattern around it.
    annotated: Option<NodeId>,
    pub(crate) name: SmolStr,
    name_node: NodeId,
    pub(crate) name_span: Span,
    /// The tool that a type is declared in.
    pub(crate) owner: Option<NodeId>,
}

/// A top-level node that may be a vocabulary term.
#[derive(Debug)]
pub(crate) struct TermEntry {
    pub(crate) node: NodeId,
    /// The annotated pattern around it.
    pub(crate) annotated: Option<NodeId>,
}

pub(crate) struct DeclarationSyntax<'t> {
    pub(crate) file: usize,
    pub(crate) kind: Kind,
    pub(crate) node: Node<'t>,
    /// The annotated pattern around it.
    pub(crate) annotated: Option<Node<'t>>,
    pub(crate) name: SmolStr,
    pub(crate) name_node: Node<'t>,
    pub(crate) subject: Subject<'t>,
    /// The tool that a type is declared in.
    pub(crate) owner: Option<crate::scopes::Local>,
}

impl Entry {
    pub(crate) fn declaration<'t>(&self, file: usize, text: &'t Parse) -> DeclarationSyntax<'t> {
        let tree = text.tree();
        let node = tree.node(self.node);
        DeclarationSyntax {
            file,
            kind: self.kind,
            node,
            annotated: self.annotated.map(|id| tree.node(id)),
            name: self.name.clone(),
            name_node: tree.node(self.name_node),
            subject: node.subject(),
            owner: self.owner.map(|tool| (file, tool)),
        }
    }
}

impl DeclarationSyntax<'_> {
    pub(crate) fn place(&self) -> Place {
        Place { file: self.file, node: self.node.id(), name: self.name_node.span() }
    }
}

impl FileIndex {
    /// Indexes a file.
    pub(crate) fn new(text: &Parse) -> Self {
        let mut indexer = Indexer { text, index: Self::default() };
        indexer.header();
        let mut before = 0;
        for top in text.tree().root().children() {
            indexer.item(top, before);
            before = top.span().end;
        }
        indexer.index
    }

    /// The hash of an item's text, and the hashes of the names that it mentions. `None` if some of
    /// these may be hidden by escapes.
    pub(crate) fn fingerprint(&self, text: &Parse, item: usize) -> Option<(u64, &[u64])> {
        let all = self.fingerprints(text, None);
        let own = all.items.get(item).filter(|own| !own.escapes)?;
        Some((own.text, all.references.get(own.references.clone())?))
    }

    /// The fingerprints of all items. Those of an earlier version of the file speed it up.
    pub(crate) fn fingerprints(
        &self,
        text: &Parse,
        before: Option<(&SourceFile, &Self)>,
    ) -> &Fingerprints {
        self.fingerprints.get_or_init(|| {
            let before = before.and_then(|(text, index)| {
                Some(EarlierFingerprints {
                    text,
                    items: &index.items,
                    all: index.fingerprints.get()?,
                })
            });
            Fingerprints::new(text, &self.items, before)
        })
    }

    /// The hash of the text of the item at a place.
    pub(crate) fn hash_at(&self, text: &Parse, place: &Place) -> u64 {
        let at = self.item_at(place);
        let own = self.fingerprints(text, None).items.get(at).map_or(0, |own| own.text);
        // An error before an item may reach into it, and then it is not read.
        if self.items.get(at).is_some_and(|item| item.broken) { !own } else { own }
    }

    /// The hash of the text before the elements of a pattern.
    pub(crate) fn outline_at(&self, text: &Parse, place: &Place) -> u64 {
        let first = text.tree().node(place.node).elements().next();
        match (self.items.get(self.item_at(place)), first) {
            (Some(item), Some(first)) if !item.broken => {
                let span = Span::new(item.span.start, first.span().start);
                hash_tokens(text.source().slice(span), text.tree().node(item.node), span.end)
            }
            _ => self.hash_at(text, place),
        }
    }

    fn item_at(&self, place: &Place) -> usize {
        self.items.partition_point(|item| item.span.end <= place.name.start)
    }
}

struct Indexer<'t> {
    text: &'t Parse,
    index: FileIndex,
}

impl<'t> Indexer<'t> {
    fn source(&self) -> &'t Arc<SourceFile> {
        self.text.source()
    }

    fn error(&self, code: &'static Code, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic::error(code, self.source(), span, message)
    }

    fn unknown_label(&self, span: Span, message: impl Into<String>) -> Diagnostic {
        let code = &codes::UNKNOWN_LABEL;
        Diagnostic::new(Severity::Warning, code, self.source(), span, message)
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        self.index.found.add(diagnostic);
    }

    fn item(&mut self, top: Node<'t>, before: u32) {
        let first = self.index.others.len();
        self.declarations(top);
        let end = top.span().end;
        let text = self.source().slice(Span::new(before, end));
        // White space before it makes no difference. No text is longer than 31 bits count.
        let space = u32::try_from(text.len() - text.trim_start().len()).unwrap_or_default();
        let span = Span::new(before + space, end);
        let others = first..self.index.others.len();
        let is_tool = |entry: &Entry| entry.kind == Kind::Tool;
        self.index.items.push(Item {
            span,
            node: top.id(),
            broken: is_touched(self.text, span),
            depends_on_all: !self.index.others[others.clone()].iter().all(is_tool),
            others,
        });
    }

    /// Collects what a top-level pattern declares.
    fn declarations(&mut self, top: Node<'t>) {
        let (node, annotated) = match top.kind() {
            N::AnnotatedPattern => match top.children().nth(1) {
                Some(inner) => (inner, Some(top.id())),
                None => return,
            },
            _ => (top, None),
        };
        match node.kind() {
            N::SubjectPattern => self.pattern(node, annotated),
            N::Path => self.index.terms.push(TermEntry { node: node.id(), annotated }),
            _ => {}
        }
    }

    /// Collects a declaration and what is declared inside of it.
    fn pattern(&mut self, node: Node<'t>, annotated: Option<NodeId>) {
        let (mut next, mut stack) = (Some((node, annotated)), Vec::new());
        while let Some((node, annotated)) = next.take().or_else(|| stack.pop()) {
            let subject = node.subject();
            let Some(kind) = self.kind(node, subject) else { continue };
            if matches!(kind, Kind::Agent | Kind::Container) {
                let inner = node.elements().filter(|element| element.kind() == N::SubjectPattern);
                let inner: Vec<_> = inner.map(|element| (element, None)).collect();
                stack.extend(inner.into_iter().rev());
            }
            let Some(name) = subject.identifier else {
                self.nameless(node, kind);
                continue;
            };
            let entry = entry(kind, node, annotated, name, None);
            if kind.is_type() {
                self.index.types.push(entry);
                continue;
            }
            self.index.others.push(entry);
            if kind == Kind::Tool {
                self.local_types(node);
            }
        }
    }

    /// Collects the types that are declared inside of a tool.
    fn local_types(&mut self, tool: Node<'t>) {
        for node in tool.elements().filter(|element| element.kind() == N::SubjectPattern) {
            let subject = node.subject();
            let mut labels = subject.labels();
            let kind = labels.find_map(|label| Kind::of_type_label(&label.content()));
            let Some(kind) = kind else { continue };
            match subject.identifier {
                Some(name) => {
                    self.index.types.push(entry(kind, node, None, name, Some(tool.id())));
                }
                None => self.nameless(node, kind),
            }
        }
    }

    /// What a pattern declares; `None` for data.
    fn kind(&mut self, node: Node<'t>, subject: Subject<'t>) -> Option<Kind> {
        let known = |label: Node<'t>| Some((Kind::of_label(&label.content())?, label));
        let mut labels = subject.labels().filter_map(known);
        let Some((kind, _)) = labels.next() else {
            self.report_unlabelled(node, subject);
            return None;
        };
        if kind == Kind::Record {
            self.parent_label(node, subject);
        }
        if let Some((_, second)) = labels.next() {
            let message = format!("`{}` has more than one declaration label", name_of(node));
            let error = self
                .error(&codes::SEVERAL_LABELS, second.span(), message)
                .help("write one declaration per label");
            self.report(error);
            return None;
        }
        Some(kind)
    }

    fn nameless(&mut self, node: Node<'t>, kind: Kind) {
        let (label, word) = (kind.label(), kind.word());
        let span = node.subject().labels_node().map_or(node.span(), Node::span);
        let message = format!("this {word} has no name");
        let error = self
            .error(&codes::NAMELESS, span, message)
            .help(format!("write the name before the label: [name:{label} | …]"));
        self.report(error);
    }
}

fn entry(
    kind: Kind,
    node: Node<'_>,
    annotated: Option<NodeId>,
    name: Node<'_>,
    owner: Option<NodeId>,
) -> Entry {
    Entry {
        kind,
        node: node.id(),
        annotated,
        name: SmolStr::new(name.content()),
        name_node: name.id(),
        name_span: name.span(),
        owner,
    }
}

/// Whether a syntax error is in a stretch of a text, or touches it.
fn is_touched(text: &Parse, span: Span) -> bool {
    let found = text.diagnostics();
    let first = found.partition_point(|found| found.span().start < span.start);
    found.get(first).is_some_and(|found| found.span().start <= span.end)
}

/// Whether a label declares something.
pub(crate) fn is_label(name: &str) -> bool {
    Kind::of_label(name).is_some()
}

/// The name of a declaration, for messages.
pub(crate) fn name_of(node: Node<'_>) -> String {
    node.subject().identifier.map_or_else(|| "this".to_owned(), |name| name.content().into_owned())
}
