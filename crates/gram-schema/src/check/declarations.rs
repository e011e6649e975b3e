//! The first pass: what the texts declare.

use std::sync::Arc;

use gram_syntax::Applicability::NeedsLook;
use gram_syntax::{Fix, Node, NodeKind as N, Subject};
use smol_str::SmolStr;

use super::declared::Form;
use super::parts::{Alones, Ready};
use super::scopes::{Local, Meaning};
use super::{Checker, First, Kind, Outline, all_differ, alone};
use crate::codes;
use crate::format::built_in;
use crate::lint::unknown_label;
use crate::nearest::nearest;
use crate::parallel;

/// The labels that declare something.
const LABELS: [(&str, Kind); 9] = [
    ("Tool", Kind::Tool),
    ("Agent", Kind::Agent),
    ("Record", Kind::Type(Form::Record)),
    ("Enum", Kind::Type(Form::Enum)),
    ("Union", Kind::Type(Form::Union)),
    ("Alias", Kind::Type(Form::Alias)),
    ("Container", Kind::Container),
    ("Library", Kind::Library),
    ("Experiment", Kind::Experiment),
];

/// The declarations of all texts.
#[derive(Default)]
pub(super) struct Declarations<'t> {
    pub(super) terms: Vec<TermDeclaration<'t>>,
    pub(super) types: Vec<Declaration<'t>>,
    /// Tools, agents and containers, by text.
    pub(super) others: Vec<Vec<Declaration<'t>>>,
}

/// The declarations of one text.
#[derive(Default)]
pub(super) struct Own<'t> {
    pub(super) terms: Vec<TermDeclaration<'t>>,
    pub(super) types: Vec<Declaration<'t>>,
    pub(super) others: Vec<Declaration<'t>>,
}

/// A tool, a container, an agent, a library, an experiment or a type.
pub(super) struct Declaration<'t> {
    pub(super) kind: Kind,
    pub(super) file: usize,
    pub(super) node: Node<'t>,
    /// The annotated pattern around it.
    pub(super) annotated: Option<Node<'t>>,
    pub(super) name: SmolStr,
    pub(super) name_node: Node<'t>,
    pub(super) subject: Subject<'t>,
    /// The tool that a type is declared in.
    pub(super) owner: Option<Local>,
}

/// A top-level node that may be a vocabulary term.
pub(super) struct TermDeclaration<'t> {
    pub(super) file: usize,
    pub(super) node: Node<'t>,
    /// The annotated pattern around it.
    pub(super) annotated: Option<Node<'t>>,
}

impl<'t> Checker<'t> {
    /// Warns about a text that is nothing but a header whose keys no header has: JSON, likely.
    fn lone_header(&mut self, file: usize, root: Node<'t>) {
        let mut patterns = root.children();
        let (Some(header), None) = (patterns.next(), patterns.next()) else { return };
        let unknown = |key: &str| !matches!(key, "gram" | "imports");
        if header.kind() != N::Record || !header.entries().all(|e| unknown(&e.key.content())) {
            return;
        }
        let Some(first) = header.entries().next() else { return };
        let warning = self
            .warning(&unknown_label::RULE.code, file, first.key.span(), "this file declares nothing")
            .help("if it is JSON: a tool is [name:Tool {description: \"…\"} | (parameter::Text)==>(::Text)]");
        self.report(file, warning);
    }

    /// Collects what the texts declare, and enters its names. Of what was read alone, the tools are
    /// known.
    pub(super) fn collect<R>(&mut self, alone: Alones<'_, '_, R>) -> Declarations<'t> {
        let files = 0..self.texts.len();
        let open = files.clone().filter(|file| !alone(*file).is_some_and(Ready::is_whole));
        let open: Vec<_> = open.collect();
        let collect = |collector: &mut Self, at: usize| {
            let file = open[at];
            collector.begin(file, self);
            let own = collector.collect_text(file, alone(file));
            (own, collector.end(file))
        };
        let all = parallel::map(open.len(), self.threads(open.len()), || self.reader(), collect);
        let own = all.iter().flat_map(|(own, _)| &own.others);
        let mut names: Vec<_> = own.clone().map(|own| alone::hash(&own.name)).collect();
        for file in files.clone() {
            if let Some(ready) = alone(file) {
                ready.add_names(&mut names);
            }
        }
        let count = names.len();
        // Names are looked up by agents and containers, and where there are two of a kind.
        let wanted =
            own.clone().any(|declaration| declaration.kind != Kind::Tool) || !all_differ(&names);
        if wanted {
            Arc::make_mut(&mut self.names).reserve(count);
        }
        let mut found = Declarations::default();
        found.others.reserve(files.len());
        let mut all = open.iter().zip(all).peekable();
        for file in files {
            let own = all.next_if(|(of, _)| **of == file);
            let (mut own, diagnostics) = own.map(|(_, own)| own).unwrap_or_default();
            if let Some(found) = self.diagnostics.get_mut(file) {
                found.take_over(diagnostics);
            }
            for declaration in own.types {
                self.declare_type(&mut found.types, declaration);
            }
            if wanted {
                let first = |own: &Declaration<'t>| {
                    (own.name.clone(), First { file, span: own.name_node.span(), kind: own.kind })
                };
                let mut names: Vec<_> = own.others.iter().map(first).collect();
                for (read, by) in alone(file).into_iter().flat_map(Ready::reads) {
                    names.extend(read.tools.iter().map(|Outline { name, span, .. }| {
                        (name.clone(), First { file, span: span.moved(by), kind: Kind::Tool })
                    }));
                }
                // The first one has the name.
                names.sort_by_key(|(_, first)| first.span.start);
                for (name, first) in names {
                    self.declare(&name, first);
                }
            }
            found.terms.append(&mut own.terms);
            found.others.push(own.others);
        }
        found
    }

    /// Collects what a text declares, but for what was read alone.
    fn collect_text<R>(&mut self, file: usize, alone: Option<Ready<'_, R>>) -> Own<'t> {
        let Some(text) = self.texts.get(file) else { return Own::default() };
        let root = text.tree().root();
        self.lone_header(file, root);
        let new = |top: &Node<'t>| !alone.is_some_and(|alone| alone.holds(*top));
        self.collect_patterns(file, root.children().filter(new))
    }

    /// Collects what patterns of the top level declare.
    pub(super) fn collect_patterns(
        &mut self,
        file: usize,
        tops: impl Iterator<Item = Node<'t>>,
    ) -> Own<'t> {
        let mut found = Own::default();
        for node in tops {
            let (node, annotated) = match node.kind() {
                N::AnnotatedPattern => match node.children().nth(1) {
                    Some(inner) => (inner, Some(node)),
                    None => continue,
                },
                _ => (node, None),
            };
            match node.kind() {
                N::SubjectPattern => self.collect_pattern(&mut found, file, node, annotated),
                N::Path => found.terms.push(TermDeclaration { file, node, annotated }),
                _ => {}
            }
        }
        found
    }

    /// Collects a declaration and what is declared inside of it, in the order of the text.
    fn collect_pattern(
        &mut self,
        found: &mut Own<'t>,
        file: usize,
        node: Node<'t>,
        annotated: Option<Node<'t>>,
    ) {
        let (mut next, mut stack) = (Some((node, annotated)), Vec::new());
        while let Some((node, annotated)) = next.take().or_else(|| stack.pop()) {
            let subject = node.subject();
            let Some(kind) = self.declares(file, node, subject) else { continue };
            if matches!(kind, Kind::Agent | Kind::Container) {
                let inner = node.elements().filter(|element| element.kind() == N::SubjectPattern);
                let inner: Vec<_> = inner.map(|element| (element, None)).collect();
                stack.extend(inner.into_iter().rev());
            }
            let Some(name_node) = subject.identifier else {
                self.nameless(file, node, kind);
                continue;
            };
            let name = SmolStr::new(name_node.content());
            let owner = None;
            let declaration =
                Declaration { kind, file, node, annotated, name, name_node, subject, owner };
            if let Kind::Type(_) = kind {
                found.types.push(declaration);
                continue;
            }
            found.others.push(declaration);
            if kind == Kind::Tool {
                self.collect_local(found, file, node);
            }
        }
    }

    /// Collects the types that are declared inside of a tool.
    fn collect_local(&mut self, found: &mut Own<'t>, file: usize, tool: Node<'t>) {
        for node in tool.elements().filter(|element| element.kind() == N::SubjectPattern) {
            let subject = node.subject();
            let mut labels = subject.labels();
            let form = labels.find_map(|label| Form::of(&label.content()));
            let Some(form) = form else { continue };
            let kind = Kind::Type(form);
            let Some(name_node) = subject.identifier else {
                self.nameless(file, node, kind);
                continue;
            };
            let name = SmolStr::new(name_node.content());
            let (annotated, owner) = (None, Some((file, tool.id())));
            let declaration =
                Declaration { kind, file, node, annotated, name, name_node, subject, owner };
            found.types.push(declaration);
        }
    }

    /// What a pattern declares; `None` for data.
    fn declares(&mut self, file: usize, node: Node<'t>, subject: Subject<'t>) -> Option<Kind> {
        let mut labels = subject.labels().filter_map(|label| {
            let name = label.content();
            LABELS.iter().find(|(known, _)| *known == name).map(|(_, kind)| (*kind, label))
        });
        let Some((kind, _)) = labels.next() else {
            self.unlabelled(file, node, subject);
            return None;
        };
        if let Some((_, second)) = labels.next() {
            let message = format!("`{}` declares two things at once", name_of(node));
            let error = self
                .error(&codes::SEVERAL_LABELS, file, second.span(), message)
                .help("give each thing a declaration of its own");
            self.report(file, error);
            return None;
        }
        Some(kind)
    }

    /// Warns about a pattern that is data, but looks like a declaration: its label is nearly a
    /// known one, or it has no label and holds a signature.
    fn unlabelled(&mut self, file: usize, node: Node<'t>, subject: Subject<'t>) {
        let near = subject.labels().find_map(|label| {
            let known = nearest(label.text(), LABELS.iter().map(|(known, _)| *known));
            let likely = label.text().len() > 2;
            known.first().filter(|_| likely).map(|near| (label, *near))
        });
        if let Some((label, near)) = near {
            let message = format!("`{}` declares nothing", label.text());
            let warning = self
                .warning(&unknown_label::RULE.code, file, label.span(), message)
                .help(format!("did you mean `{near}`?"))
                .fix(Fix::replace(NeedsLook, format!("write `{near}`"), label.span(), near));
            return self.report(file, warning);
        }
        let signature = node.elements().next().is_some_and(is_signature);
        if let (Some(name), None, true) = (subject.identifier, subject.labels_node(), signature) {
            let message = format!("`{}` has no label, so it declares nothing", name.content());
            let end = gram_syntax::Span::empty(name.span().end);
            let warning = self
                .warning(&unknown_label::RULE.code, file, name.span(), message)
                .help(format!("a tool is [{}:Tool | …]", name.content()))
                .fix(Fix::replace(NeedsLook, "make it a tool", end, ":Tool"));
            self.report(file, warning);
        }
    }

    fn nameless(&mut self, file: usize, node: Node<'t>, kind: Kind) {
        let label = kind.label();
        let span = node.subject().labels_node().map_or(node.span(), Node::span);
        let error = self
            .error(
                &codes::NAMELESS,
                file,
                span,
                format!("this {} has no name", label.to_lowercase()),
            )
            .help(format!("write the name before the label: [name:{label} | …]"));
        self.report(file, error);
    }

    /// Enters a name into its namespace: that of tools and agents, or that of libraries.
    fn declare(&mut self, name: &SmolStr, first: First) {
        let First { file, span, kind } = first;
        let names = match kind {
            Kind::Library | Kind::Experiment => &mut self.libraries,
            _ => &mut self.names,
        };
        let Some(known) = names.get(name).copied() else {
            Arc::make_mut(names).insert(name.clone(), first);
            return;
        };
        if self.is_full(file) {
            return;
        }
        let what = match known.kind {
            same if same == kind => kind.label().to_lowercase(),
            Kind::Tool | Kind::Agent | Kind::Container | Kind::Library | Kind::Experiment => {
                format!("{} called", known.kind.label().to_lowercase())
            }
            Kind::Type(_) => "tool, container or agent".to_owned(),
        };
        let error = self
            .error(&codes::DUPLICATE_NAME, file, span, format!("there is another {what} `{name}`"))
            .here("declared again here")
            .label_in(self.source(known.file), known.span, "first declared here")
            .help("rename one of them");
        self.report(file, error);
    }

    /// Reads the vocabulary: top-level nodes whose label is a type.
    pub(super) fn read_terms(&mut self, declarations: &[TermDeclaration<'t>]) {
        for TermDeclaration { file, node: path, annotated } in declarations {
            let mut parts = path.children();
            let (Some(node), None) = (parts.next(), parts.next()) else { continue };
            let subject = node.subject();
            if self.is_broken(*file, *path) {
                if let Some(name) = subject.identifier {
                    let unread = Arc::make_mut(&mut self.unread_terms);
                    unread.insert(SmolStr::new(name.content()));
                }
                continue;
            }
            let (Some(name_node), true) = (subject.identifier, self.names_type(*file, subject))
            else {
                continue;
            };
            let Some(field) = self.term_field(*file, node, *annotated) else { continue };
            let place =
                crate::spans::Place { file: *file, node: node.id(), name: name_node.span() };
            let index = self.term_fields.len();
            match Arc::make_mut(&mut self.terms).enter(*file, &field.name, index) {
                None => {
                    Arc::make_mut(&mut self.term_fields).push(field.clone());
                    self.module.terms.push(crate::model::Term { field });
                    self.module.spans.terms.push(place);
                }
                Some(known) if self.term_fields.get(known) == Some(&field) => {}
                Some(known) => self.conflicting_term(*file, name_node, known),
            }
        }
    }

    /// Whether a node's one label is a type: a built-in name, or a quoted type expression. Other
    /// nodes are data; one whose label is nearly a type's name is worth a word.
    fn names_type(&mut self, file: usize, subject: Subject<'t>) -> bool {
        let mut labels = subject.labels();
        let (Some(label), None) = (labels.next(), labels.next()) else { return false };
        if let Some((known, _)) = LABELS.iter().find(|(known, _)| label.text() == *known) {
            let message =
                format!("a {known} is declared in square brackets, so this declares nothing");
            let warning = self
                .warning(&unknown_label::RULE.code, file, label.span(), message)
                .help(format!("write [name:{known} | …]"));
            self.report(file, warning);
            return false;
        }
        match label.kind() {
            N::QuotedName => true,
            _ if built_in(label.text()).is_some() => true,
            _ if self.type_names.find(file, None, label.text()) != Meaning::Unknown => true,
            _ => {
                self.near_miss(file, label);
                false
            }
        }
    }

    fn near_miss(&mut self, file: usize, label: Node<'t>) {
        let name = label.text();
        let known = crate::format::BUILT_IN.iter().copied();
        let Some(near) = nearest(name, known).first().copied() else { return };
        if !near.eq_ignore_ascii_case(name) {
            return;
        }
        let note = self.warning(
            &unknown_label::RULE.code,
            file,
            label.span(),
            format!("`{name}` is no type, so this declares no vocabulary term"),
        );
        let fix = Fix::replace(NeedsLook, format!("write `{near}`"), label.span(), near);
        self.report(file, note.help(format!("did you mean `{near}`?")).fix(fix));
    }

    fn conflicting_term(&mut self, file: usize, node: Node<'t>, known: usize) {
        let name = node.content().into_owned();
        let mut error = self
            .error(
                &codes::DUPLICATE_NAME,
                file,
                node.span(),
                format!("there is another vocabulary term `{name}`, which says something else"),
            )
            .here("declared again here");
        if let Some(place) = self.module.spans.term(known) {
            error = error.label_in(self.source(place.file), place.name, "first declared here");
        }
        self.report(file, error.help("make both the same, or remove one"));
    }
}

/// Whether a label declares something.
pub(super) fn is_label(name: &str) -> bool {
    LABELS.iter().any(|(label, _)| *label == name)
}

/// The name of a declaration, for messages.
pub(super) fn name_of(node: Node<'_>) -> String {
    node.subject().identifier.map_or_else(|| "this".to_owned(), |name| name.content().into_owned())
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
