//! The input of lints: texts, declarations and their spans.

use std::collections::HashSet;
use std::sync::Arc;

use gramc_syntax::{Diagnostic, Node, NodeKind as N, Parse, Severity, Span};
use smol_str::SmolStr;

use crate::lint::Lint;
use crate::settings::Settings;
use gramc_check::{FileAnalysis, Known, Meaning, ToolAt, ToolSummary, Valid};
use gramc_model::{Field, Module, Term, Tool, TypeDeclaration, TypeId};

/// What a lint may know.
pub(crate) struct Context<'a> {
    pub(crate) texts: &'a [Parse],
    /// For each file, the files that it imports, and where its header names them.
    pub(crate) imports: &'a [Vec<(Span, usize)>],
    /// The vocabulary and the declared types.
    pub(crate) known: Known<'a>,
    /// The other declarations; where a file has errors, as much as could be read. A lint of tools
    /// sees those of one item; tools are there for lints that want them whole.
    pub(crate) module: &'a Module,
    pub(crate) settings: &'a Settings,
    /// All files, when they are analyzed.
    pub(crate) project: Project<'a>,
}

/// What is known when all files are analyzed.
#[derive(Clone, Copy, Default)]
pub(crate) struct Project<'a> {
    /// The module, if no file has an error.
    pub(crate) valid: Option<Valid<&'a Module>>,
    /// Which files use what other files declare.
    pub(crate) uses: Option<&'a HashSet<(usize, usize)>>,
    /// The types that tools name.
    pub(crate) named: &'a [TypeId],
    pub(crate) files: &'a [Arc<FileAnalysis<LintOutput>>],
    /// All tools, in the order of the files.
    pub(crate) tools: &'a [ListedTool<'a>],
}

/// What the lints of tools found in one item.
#[derive(Debug, Default)]
pub(crate) struct LintOutput {
    pub(crate) found: Vec<Diagnostic>,
    /// Whether diagnostics were left out.
    pub(crate) cut: bool,
    /// The types that its tools name.
    pub(crate) named: Vec<TypeId>,
    /// The names of parameters that are compared with those of the whole file.
    pub(crate) names: Vec<(SmolStr, Span)>,
}

/// A tool with its file.
#[derive(Clone, Copy)]
pub(crate) struct ListedTool<'a> {
    pub(crate) file: usize,
    pub(crate) at: ToolAt<'a>,
}

impl<'a> ListedTool<'a> {
    pub(crate) fn tool(&self) -> &'a ToolSummary {
        self.at.tool
    }

    /// The place of its name.
    pub(crate) fn place(&self) -> Span {
        self.at.name_span()
    }
}

impl<'a> Context<'a> {
    /// A diagnostic of a lint, with the configured severity.
    pub(crate) fn diagnostic(
        &self,
        lint: &'static Lint,
        file: usize,
        span: Span,
        message: impl Into<String>,
    ) -> Diagnostic {
        let severity = self.settings.severity(lint).unwrap_or(Severity::Note);
        // Places in the texts come from the texts.
        Diagnostic::new(severity, &lint.code, self.texts[file].source(), span, message)
    }

    /// The tool of the given place among the module's.
    pub(crate) fn tool(&self, index: usize) -> Option<ToolView<'a>> {
        let tool = self.module.tools.get(index)?;
        let place = self.module.spans.tool(index)?;
        let node = self.texts.get(place.file)?.tree().node(place.node);
        Some(ToolView { tool, file: place.file, node, name: place.name })
    }

    /// All tools that the module holds, in the order of the texts.
    pub(crate) fn tools(&self) -> impl Iterator<Item = ToolView<'a>> {
        (0..self.module.tools.len()).filter_map(|index| self.tool(index))
    }

    /// Summaries of all tools, in the order of the files, when all are analyzed.
    pub(crate) fn summaries(&self) -> &'a [ListedTool<'a>] {
        self.project.tools
    }

    /// The vocabulary term of a name in a file.
    pub(crate) fn term(&self, file: usize, name: &str) -> Option<&'a Term> {
        if self.known.terms.is_empty() {
            return None;
        }
        match self.known.term_names.find(file, None, name) {
            Meaning::One(_, index) => self.known.terms.get(index),
            Meaning::Unknown | Meaning::Ambiguous(..) => None,
        }
    }

    /// All terms, each with its file and the span of its name.
    pub(crate) fn terms(&self) -> impl Iterator<Item = (&'a Field, usize, Span)> {
        self.terms_from(0)
    }

    /// The terms of one file, each with the span of its name.
    pub(crate) fn terms_of(&self, file: usize) -> impl Iterator<Item = (&'a Field, Span)> {
        // They come in the order of the files.
        let first = self.known.term_places.partition_point(|place| place.file < file);
        let own = self.terms_from(first).take_while(move |(_, of, _)| *of == file);
        own.map(|(term, _, name)| (term, name))
    }

    fn terms_from(&self, first: usize) -> impl Iterator<Item = (&'a Field, usize, Span)> {
        let terms = self.known.terms.iter().zip(self.known.term_places).skip(first);
        terms.map(|(term, place)| (&term.field, place.file, place.name))
    }

    /// The declared type of the given place among the module's.
    pub(crate) fn ty(&self, id: TypeId) -> Option<TypeView<'a>> {
        let declaration = self.known.types.get(id)?;
        let place = self.known.type_places.get(id.0 as usize)?;
        let node = self.texts.get(place.file)?.tree().node(place.node);
        Some(TypeView { id, declaration, file: place.file, node, name: place.name })
    }
}

/// A tool and its spans.
#[derive(Clone, Copy)]
pub(crate) struct ToolView<'a> {
    pub(crate) tool: &'a Tool,
    pub(crate) file: usize,
    /// Its declaration.
    pub(crate) node: Node<'a>,
    pub(crate) name: Span,
}

impl<'a> ToolView<'a> {
    pub(crate) fn signature(&self) -> Option<Node<'a>> {
        self.node.elements().next().filter(|path| path.kind() == N::Path)
    }

    /// The names of its parameters, in the order of the text.
    pub(crate) fn parameter_names(&self) -> impl Iterator<Item = Node<'a>> {
        let nodes = self.signature().into_iter().flat_map(Node::children);
        let nodes = nodes.filter(|node| node.kind() == N::NodePattern);
        nodes.filter_map(|node| node.subject().identifier)
    }

    pub(crate) fn parameter(&self, field: &Field) -> Option<Node<'a>> {
        named(self.signature()?.children(), field)
    }

    /// The span of the name of one of its parameters, or of its own name.
    pub(crate) fn place(&self, field: &Field) -> Span {
        name_of(self.parameter(field)).unwrap_or(self.name)
    }

    pub(crate) fn result(&self) -> Option<Node<'a>> {
        let parts: Vec<_> = self.signature()?.children().collect();
        let leftwards = parts.get(1)?.kind() == N::LeftArrow;
        if leftwards { parts.first().copied() } else { parts.last().copied() }
    }
}

/// A declared type and its spans.
#[derive(Clone, Copy)]
pub(crate) struct TypeView<'a> {
    pub(crate) id: TypeId,
    pub(crate) declaration: &'a TypeDeclaration,
    pub(crate) file: usize,
    /// Its declaration.
    pub(crate) node: Node<'a>,
    pub(crate) name: Span,
}

impl<'a> TypeView<'a> {
    /// The fields of a record.
    pub(crate) fn fields(&self) -> &'a [Field] {
        match &self.declaration.type_use.ty {
            gramc_model::Type::Object(object) => object.fields.as_deref().unwrap_or_default(),
            _ => &[],
        }
    }

    /// The node of one of a record's fields.
    pub(crate) fn field(&self, field: &Field) -> Option<Node<'a>> {
        named(self.node.elements().filter_map(|element| element.children().next()), field)
    }

    /// The span of the name of one of its fields, or of its own name.
    pub(crate) fn place(&self, field: &Field) -> Span {
        name_of(self.field(field)).unwrap_or(self.name)
    }
}

/// The node that declares a field. It is searched only for diagnostics, and no text has
/// many diagnostics.
fn named<'a>(mut nodes: impl Iterator<Item = Node<'a>>, field: &Field) -> Option<Node<'a>> {
    nodes.find(|node| {
        let name = node.subject().identifier.filter(|_| node.kind() == N::NodePattern);
        name.is_some_and(|name| name.content() == field.name.as_str())
    })
}

fn name_of(node: Option<Node<'_>>) -> Option<Span> {
    Some(node?.subject().identifier?.span())
}

/// How much is found about a text, and how much is wanted.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Count {
    /// How much is wanted: so many errors, and so much else.
    most: usize,
    errors: usize,
    others: usize,
}

impl Count {
    /// Nothing found yet.
    pub(crate) fn new(most: usize) -> Self {
        Self { most, errors: 0, others: 0 }
    }

    pub(crate) fn add(&mut self, diagnostic: &Diagnostic) {
        match diagnostic.severity {
            Severity::Error => self.errors += 1,
            Severity::Warning | Severity::Note => self.others += 1,
        }
    }
}

/// What lints found in texts that follow each other.
pub(crate) struct Report {
    /// The first of the texts.
    first: usize,
    counts: Vec<Count>,
    found: Vec<(usize, Diagnostic)>,
    /// The severity of the lint that is running.
    severity: Severity,
}

impl Report {
    /// A report behind what was found about texts, from the one numbered `first` on.
    pub(crate) fn new(first: usize, counts: Vec<Count>) -> Self {
        Self { first, counts, found: Vec::new(), severity: Severity::Warning }
    }

    /// Sets the severity of the lint that runs next.
    pub(crate) fn set_severity(&mut self, severity: Severity) {
        self.severity = severity;
    }

    /// Adds a diagnostic, unless its text has reached the limit.
    pub(crate) fn add(&mut self, file: usize, diagnostic: Diagnostic) {
        self.severity = diagnostic.severity;
        if self.is_full(file) {
            return;
        }
        if let Some(count) = self.counts.get_mut(file.wrapping_sub(self.first)) {
            count.add(&diagnostic);
            self.found.push((file, diagnostic));
        }
    }

    /// Whether a text has reached its diagnostic limit. Denied lints are counted separately, so that
    /// warnings do not hide them.
    pub(crate) fn is_full(&self, file: usize) -> bool {
        let Some(count) = self.counts.get(file.wrapping_sub(self.first)) else { return true };
        let found = match self.severity {
            Severity::Error => count.errors,
            Severity::Warning | Severity::Note => count.others,
        };
        found > count.most
    }

    /// Whether diagnostics about the first text were left out.
    pub(crate) fn is_cut(&self) -> bool {
        self.counts.first().is_some_and(|count| count.errors.max(count.others) > count.most)
    }

    /// What was found since the last call, with the file that it is about.
    pub(crate) fn take(&mut self) -> Vec<(usize, Diagnostic)> {
        std::mem::take(&mut self.found)
    }
}
