//! Resolves names in each file to types and terms.

use std::sync::Arc;

use gramc_syntax::Applicability::NeedsLook;
use gramc_syntax::{Fix, Node, NodeKind as N, Parse, Span, Subject, foreign_type_name};
use smol_str::SmolStr;

use crate::checker::{Checker, First};
use crate::codes;
use crate::imports::ImportGraph;
use crate::index::{DeclarationSyntax, FileIndex, TermEntry};
use crate::kind::Kind;
use crate::scopes::{Meaning, Scopes};
use gramc_model::format::built_in;
use gramc_model::nearest::{nearest, question};
use gramc_model::print::{identifier, string};
use gramc_model::spans::Place;

/// Types whose names in other languages are hardly labels of data.
const TERM_TYPES: [&str; 6] = ["Text", "Int", "Number", "Bool", "DateTime", "Uuid"];

/// The terms of all files, each with its file.
type TermEntries<'i> = [(usize, &'i TermEntry)];

impl<'t> Checker<'t> {
    /// Resolves the names of all files, and reads their types and terms.
    pub(crate) fn resolve_names(&mut self, indexes: &[Arc<FileIndex>], imports: &ImportGraph) {
        let edges = imports.edges(self.texts.len());
        self.terms = Arc::new(Scopes::new(&edges));
        self.type_names = Arc::new(Scopes::new(&edges));
        self.failed_imports(imports);
        let count = indexes.iter().map(|index| index.others.len()).sum();
        Arc::make_mut(&mut self.names).reserve(count);
        let (mut types, mut terms) = (Vec::new(), Vec::new());
        let texts: &'t [Parse] = self.texts;
        for (file, (index, text)) in indexes.iter().zip(texts).enumerate() {
            self.file = file;
            if !index.found.all.is_empty() {
                self.found.entry(file).or_default().extend(index.found.all.iter().cloned());
            }
            for entry in &index.types {
                self.declare_type(&mut types, entry.declaration(file, text));
            }
            for entry in &index.others {
                self.declare(&entry.name, First { file, span: entry.name_span, kind: entry.kind });
            }
            terms.extend(index.terms.iter().map(|term| (file, term)));
        }
        self.read_shared(&types, &terms);
    }

    /// Reads terms and types. They may refer to each other, so they are read twice: once without
    /// reporting anything, and again when all types are known that values have to fit.
    fn read_shared(&mut self, types: &[DeclarationSyntax<'t>], terms: &TermEntries<'_>) {
        if !types.is_empty() {
            self.silent = true;
            let before = Arc::clone(&self.terms);
            self.read_terms(terms);
            self.read_types(types);
            self.inherit(types);
            self.silent = false;
            self.brought = 0;
            self.settle(types);
            self.terms = before;
            self.term_fields = Arc::default();
            self.module.terms.clear();
            self.module.spans.terms.clear();
        }
        self.read_terms(terms);
        self.read_types(types);
    }

    /// Reports imports that cannot be resolved.
    fn failed_imports(&mut self, imports: &ImportGraph) {
        for (file, imports) in imports.of.iter().enumerate().take(self.texts.len()) {
            self.file = file;
            for import in imports {
                let Err(reason) = &import.text else { continue };
                if self.is_full() {
                    break;
                }
                let mut error = self.error(&codes::UNKNOWN_IMPORT, import.span, reason.0.clone());
                let near = self.near_files(import.span);
                let near: Vec<_> = near.iter().map(String::as_str).collect();
                if let Some(path) = near.first() {
                    let with = string(path);
                    let message = format!("write {with}");
                    error = error.replace(message, import.span, with);
                }
                let rule = "use a path relative to this file and inside the project";
                error = error.help(question(&near).unwrap_or_else(|| rule.to_owned()));
                self.report(error);
            }
        }
    }

    /// The paths of files with a similar name to the one that a string in a file names.
    fn near_files(&self, span: Span) -> Vec<String> {
        let name = |file: usize| self.source_of(file).name();
        let written = self.source().slice(span);
        let others = (0..self.texts.len()).filter(|other| *other != self.file);
        let paths: Vec<_> =
            others.map(|other| relative_path(name(self.file), name(other))).collect();
        let near = nearest(written.trim_matches(['"', '\'']), paths.iter().map(String::as_str));
        near.into_iter().map(str::to_owned).collect()
    }

    /// Enters a name into its namespace: that of tools and agents, or that of libraries.
    fn declare(&mut self, name: &SmolStr, first: First) {
        let First { span, kind, .. } = first;
        let names = match kind {
            Kind::Library | Kind::Experiment => &mut self.libraries,
            _ => &mut self.names,
        };
        let Some(known) = names.get(name).copied() else {
            Arc::make_mut(names).insert(name.clone(), first);
            return;
        };
        if self.is_full() {
            return;
        }
        let message = if known.kind == kind {
            format!("duplicate {} `{name}`", kind.word())
        } else {
            format!("the name `{name}` is already used by a `{}`", known.kind.label())
        };
        let error = self
            .error(&codes::DUPLICATE_NAME, span, message)
            .here("declared again here")
            .label_in(self.source_of(known.file), known.span, "first declared here")
            .help("rename one of them");
        self.report(error);
    }

    /// Reads the vocabulary: top-level nodes whose label is a type.
    fn read_terms(&mut self, terms: &TermEntries<'_>) {
        let texts: &'t [Parse] = self.texts;
        for (file, term) in terms {
            self.file = *file;
            let tree = texts[*file].tree();
            let (path, annotated) = (tree.node(term.node), term.annotated.map(|id| tree.node(id)));
            let mut parts = path.children();
            let (Some(node), None) = (parts.next(), parts.next()) else { continue };
            let subject = node.subject();
            if self.is_broken(path) {
                if let Some(name) = subject.identifier {
                    let unread = Arc::make_mut(&mut self.unread_terms);
                    unread.insert(SmolStr::new(name.content()));
                }
                continue;
            }
            let (Some(name_node), true) = (subject.identifier, self.names_type(subject)) else {
                continue;
            };
            let Some(field) = self.term_field(node, annotated) else { continue };
            let place = Place { file: *file, node: node.id(), name: name_node.span() };
            let index = self.term_fields.len();
            match Arc::make_mut(&mut self.terms).enter(*file, &field.name, index) {
                None => {
                    Arc::make_mut(&mut self.term_fields).push(field.clone());
                    self.module.terms.push(gramc_model::Term { field });
                    self.module.spans.terms.push(place);
                }
                Some(known) if self.term_fields.get(known) == Some(&field) => {}
                Some(known) => self.conflicting_term(name_node, known),
            }
        }
    }

    /// Whether a node's one label is a type: a built-in name, or a quoted type expression. Other
    /// nodes are data; one whose label is nearly a type's name is worth a word.
    fn names_type(&mut self, subject: Subject<'t>) -> bool {
        let mut labels = subject.labels();
        let (Some(label), None) = (labels.next(), labels.next()) else { return false };
        if let Some(known) = Kind::of_label(label.text()).map(Kind::label) {
            let name = subject.identifier.map(Node::content).unwrap_or_default();
            let message = format!("`{known}` declares nothing in parentheses");
            let warning = self
                .warning(&codes::UNKNOWN_LABEL, label.span(), message)
                .help(format!("write it in brackets: [{}:{known} | …]", identifier(&name)));
            self.report(if name.is_empty() { warning } else { warning.about(name) });
            return false;
        }
        match label.kind() {
            N::QuotedName | N::TypeExpression => true,
            _ if built_in(label.text()).is_some() => true,
            _ if self.find_type(label.text()) != Meaning::Unknown => true,
            _ => {
                if let Some(term) = subject.identifier {
                    self.near_miss(term, label);
                }
                false
            }
        }
    }

    fn near_miss(&mut self, term: Node<'t>, label: Node<'t>) {
        let name = label.text();
        let known = gramc_model::format::BUILT_IN.iter().copied();
        let same = |near: &&str| near.eq_ignore_ascii_case(name);
        // `::` is for types; after `:`, other words may be labels of data.
        let of_type = label.span().start >= 2
            && self
                .source()
                .text()
                .get(..label.span().start as usize)
                .is_some_and(|before| before.ends_with("::"));
        let near = nearest(name, known).first().copied();
        let near = near.filter(|near| same(near) || of_type && name.len() > 2);
        let foreign = || foreign_type_name(name).filter(|ours| TERM_TYPES.contains(ours));
        let Some(near) = near.or_else(foreign) else { return };
        let note = self.warning(
            &codes::UNKNOWN_LABEL,
            label.span(),
            format!("`{name}` is not a type, so this is not a vocabulary term"),
        );
        let fix = Fix::replace(NeedsLook, format!("write `{near}`"), label.span(), near);
        let note = note.about(term.content()).help(format!("did you mean `{near}`?"));
        self.report(note.fix(fix));
    }

    fn conflicting_term(&mut self, node: Node<'t>, known: usize) {
        let name = node.content().into_owned();
        let mut error = self
            .error(
                &codes::DUPLICATE_NAME,
                node.span(),
                format!("conflicting definitions of the vocabulary term `{name}`"),
            )
            .here("declared again here");
        if let Some(place) = self.module.spans.term(known) {
            error = error.label_in(self.source_of(place.file), place.name, "first declared here");
        }
        self.report(error.help("make the definitions equal, or remove one"));
    }
}

/// The path of a file from the folder of another one, where both have a path from the same folder.
fn relative_path(from: &str, to: &str) -> String {
    let (from, to): (Vec<_>, Vec<_>) = (from.split('/').collect(), to.split('/').collect());
    let same = from.iter().zip(&to).take_while(|(one, other)| one == other).count();
    let up = from.len().saturating_sub(1).saturating_sub(same);
    let down = to.get(same..).unwrap_or_default();
    std::iter::repeat_n("..", up).chain(down.iter().copied()).collect::<Vec<_>>().join("/")
}
