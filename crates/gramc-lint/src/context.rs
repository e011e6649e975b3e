//! The input of lints: texts, declarations and their spans.

use std::cell::RefCell;
use std::collections::HashSet;
use std::ops::Deref;
use std::sync::Arc;

use gramc_syntax::{Diagnostic, Node, NodeKind as N, Parse, Severity, Span};
use smol_str::SmolStr;

use crate::lint::Lint;
use crate::settings::Settings;
use gramc_check::{FileAnalysis, Known, Meaning, ToolAt, ToolSummary, Valid};
use gramc_model::{Field, Module, Term, Tool, Type, TypeDeclaration, TypeId, ValueSource};

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
    /// Summaries of all tools, in the order of the files.
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

#[derive(Clone, Copy)]
pub(crate) struct ListedTool<'a> {
    pub(crate) file: usize,
    pub(crate) at: ToolAt<'a>,
}

impl<'a> ListedTool<'a> {
    pub(crate) fn tool(&self) -> &'a ToolSummary {
        self.at.tool
    }

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

    pub(crate) fn types(&self) -> impl Iterator<Item = TypeView<'a>> {
        self.known.types.iter().filter_map(|(id, _)| self.ty(id))
    }

    /// The declared type of the given place among the module's.
    pub(crate) fn ty(&self, id: TypeId) -> Option<TypeView<'a>> {
        let declaration = self.known.types.get(id)?;
        let place = self.known.type_places.get(id.0 as usize)?;
        let node = self.texts.get(place.file)?.tree().node(place.node);
        Some(TypeView { id, declaration, file: place.file, node, name: place.name })
    }
}

#[derive(Clone, Copy)]
pub(crate) struct ToolView<'a> {
    pub(crate) tool: &'a Tool,
    pub(crate) file: usize,
    pub(crate) node: Node<'a>,
    pub(crate) name: Span,
}

impl<'a> ToolView<'a> {
    pub(crate) fn parameters(&self) -> impl Iterator<Item = FieldView<'a>> + use<'a> {
        let Self { tool, file, node, name } = *self;
        let is_parameter = true;
        let view =
            move |field| FieldView { field, file, is_parameter, declaration: node, owner: name };
        tool.parameters.iter().map(view)
    }

    /// The parameters that a model fills in.
    pub(crate) fn model_parameters(&self) -> impl Iterator<Item = FieldView<'a>> + use<'a> {
        self.parameters().filter(|field| field.source == ValueSource::Model)
    }

    pub(crate) fn signature(&self) -> Option<Node<'a>> {
        signature(self.node)
    }

    /// The names of its parameters, in the order of the text.
    pub(crate) fn parameter_names(&self) -> impl Iterator<Item = Node<'a>> {
        let nodes = self.signature().into_iter().flat_map(Node::children);
        let nodes = nodes.filter(|node| node.kind() == N::NodePattern);
        nodes.filter_map(|node| node.subject().identifier)
    }

    pub(crate) fn result(&self) -> Option<Node<'a>> {
        let parts: Vec<_> = self.signature()?.children().collect();
        let leftwards = parts.get(1)?.kind() == N::LeftArrow;
        if leftwards { parts.first().copied() } else { parts.last().copied() }
    }
}

fn signature(tool: Node<'_>) -> Option<Node<'_>> {
    tool.elements().next().filter(|path| path.kind() == N::Path)
}

#[derive(Clone, Copy)]
pub(crate) struct TypeView<'a> {
    pub(crate) id: TypeId,
    pub(crate) declaration: &'a TypeDeclaration,
    pub(crate) file: usize,
    pub(crate) node: Node<'a>,
    pub(crate) name: Span,
}

impl<'a> TypeView<'a> {
    pub(crate) fn fields(&self) -> impl Iterator<Item = FieldView<'a>> + use<'a> {
        let Self { declaration, file, node, name, .. } = *self;
        let fields = match &declaration.type_use.ty {
            Type::Object(object) => object.fields.as_deref().unwrap_or_default(),
            _ => &[],
        };
        let is_parameter = false;
        let view =
            move |field| FieldView { field, file, is_parameter, declaration: node, owner: name };
        fields.iter().map(view)
    }
}

/// A parameter of a tool or a field of a record.
#[derive(Clone, Copy)]
pub(crate) struct FieldView<'a> {
    pub(crate) field: &'a Field,
    pub(crate) file: usize,
    /// Whether it belongs to a tool.
    pub(crate) is_parameter: bool,
    declaration: Node<'a>,
    /// The name of the declaration.
    owner: Span,
}

impl<'a> FieldView<'a> {
    /// The node that declares it. It is searched only for diagnostics, and no text has many of them.
    pub(crate) fn node(&self) -> Option<Node<'a>> {
        let parameters = signature(self.declaration).into_iter().flat_map(Node::children);
        let fields = self.declaration.elements().filter_map(|element| element.children().next());
        parameters.chain(fields).find(|node| {
            let name = node.subject().identifier.filter(|_| node.kind() == N::NodePattern);
            name.is_some_and(|name| name.content() == self.field.name.as_str())
        })
    }

    /// The span of its name, or of the name of its declaration.
    pub(crate) fn place(&self) -> Span {
        let name = self.node().and_then(|node| node.subject().identifier);
        name.map_or(self.owner, Node::span)
    }
}

impl Deref for FieldView<'_> {
    type Target = Field;

    fn deref(&self) -> &Field {
        self.field
    }
}

/// A lint that runs: what it may know, and where its diagnostics are collected.
pub(crate) struct Linter<'c> {
    pub(crate) context: &'c Context<'c>,
    pub(crate) lint: &'static Lint,
    pub(crate) severity: Severity,
    pub(crate) report: &'c RefCell<Report>,
}

impl<'c> Deref for Linter<'c> {
    type Target = Context<'c>;

    fn deref(&self) -> &Context<'c> {
        self.context
    }
}

impl Linter<'_> {
    pub(crate) fn diagnostic(
        &self,
        file: usize,
        span: Span,
        message: impl Into<String>,
    ) -> Diagnostic {
        self.context.diagnostic(self.lint, file, span, message)
    }

    /// Adds a diagnostic, unless its text has reached the limit.
    pub(crate) fn add(&self, file: usize, diagnostic: Diagnostic) {
        self.report.borrow_mut().add(file, diagnostic);
    }

    /// Whether a text has reached its diagnostic limit.
    pub(crate) fn is_full(&self, file: usize) -> bool {
        self.report.borrow().is_full(file, self.severity)
    }
}

/// The number of diagnostics of a text, and their limit. Denied lints are counted separately, so that
/// warnings do not hide them.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Count {
    limit: usize,
    errors: usize,
    others: usize,
}

impl Count {
    pub(crate) fn new(limit: usize) -> Self {
        Self { limit, errors: 0, others: 0 }
    }

    pub(crate) fn add(&mut self, diagnostic: &Diagnostic) {
        match diagnostic.severity {
            Severity::Error => self.errors += 1,
            Severity::Warning | Severity::Note => self.others += 1,
        }
    }
}

/// The diagnostics of lints in consecutive texts.
pub(crate) struct Report {
    /// The first of the texts.
    first: usize,
    pub(crate) counts: Vec<Count>,
    /// Each with its text.
    pub(crate) found: Vec<(usize, Diagnostic)>,
}

impl Report {
    pub(crate) fn new(first: usize, counts: Vec<Count>) -> Self {
        Self { first, counts, found: Vec::new() }
    }

    fn add(&mut self, file: usize, diagnostic: Diagnostic) {
        if !self.is_full(file, diagnostic.severity) {
            self.counts[file - self.first].add(&diagnostic);
            self.found.push((file, diagnostic));
        }
    }

    fn is_full(&self, file: usize, severity: Severity) -> bool {
        let Some(count) = self.counts.get(file.wrapping_sub(self.first)) else { return true };
        let found = if severity == Severity::Error { count.errors } else { count.others };
        found > count.limit
    }

    /// Whether diagnostics of the first text were omitted.
    pub(crate) fn is_cut(&self) -> bool {
        self.counts.first().is_some_and(|count| count.errors.max(count.others) > count.limit)
    }
}
