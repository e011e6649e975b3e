//! The state of a check, and how it reports.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use gramc_model::nearest::question;
use gramc_model::{Field, Module, Output, Type, TypeId, Types};
use gramc_syntax::{Code, Diagnostic, Limits, Node, NodeKind, Parse, Severity, SourceFile, Span};
use smol_str::SmolStr;

use crate::analysis::{Analysis, is_error};
use crate::codes;
use crate::kind::Kind;
use crate::scopes::{Local, Meaning, NameMap, Scopes};

/// A name's first declaration.
#[derive(Debug, Clone, Copy)]
pub(crate) struct First {
    pub(crate) file: usize,
    pub(crate) span: Span,
    pub(crate) kind: Kind,
}

/// Whether a syntax error is inside of a node.
pub(crate) fn is_broken(text: &Parse, node: Node<'_>) -> bool {
    let (found, span) = (text.diagnostics(), node.span());
    let first = found.partition_point(|found| found.span().start < span.start);
    found.get(first).is_some_and(|found| found.span().start < span.end.max(span.start + 1))
}

/// Diagnostics of one file: at most [`MAX_PER_FILE`] errors and as many others.
#[derive(Debug, Default)]
pub(crate) struct DiagnosticBuffer {
    pub(crate) all: Vec<Diagnostic>,
    pub(crate) errors: usize,
    pub(crate) others: usize,
}

impl DiagnosticBuffer {
    /// Whether no more errors are kept, so that none need be looked for.
    pub(crate) fn is_full(&self) -> bool {
        self.errors > MAX_PER_FILE
    }

    pub(crate) fn add(&mut self, diagnostic: Diagnostic) {
        let count = if is_error(&diagnostic) { &mut self.errors } else { &mut self.others };
        if *count <= MAX_PER_FILE {
            *count += 1;
            self.all.push(diagnostic);
        }
    }

    pub(crate) fn extend(&mut self, diagnostics: impl IntoIterator<Item = Diagnostic>) {
        diagnostics.into_iter().for_each(|diagnostic| self.add(diagnostic));
    }
}

/// How many errors about one file are kept, and how many other diagnostics.
pub(crate) const MAX_PER_FILE: usize = Limits::MAX_DIAGNOSTICS;

pub(crate) struct Checker<'t> {
    pub(crate) texts: &'t [Parse],
    /// The file that is read: spans and diagnostics refer to it.
    pub(crate) file: usize,
    /// The content of the escaped string that is read, which spans refer to meanwhile.
    pub(crate) unescaped: Option<Arc<SourceFile>>,
    /// By file.
    pub(crate) found: BTreeMap<usize, DiagnosticBuffer>,
    pub(crate) module: Module,
    /// Tools, containers and agents, which share a namespace.
    pub(crate) names: Arc<NameMap<SmolStr, First>>,
    /// Libraries and experiments, which share another.
    pub(crate) libraries: Arc<NameMap<SmolStr, First>>,
    /// Vocabulary terms by name: places in `term_fields`.
    pub(crate) terms: Arc<Scopes<usize>>,
    /// The vocabulary.
    pub(crate) term_fields: Arc<Vec<Field>>,
    /// Declared types by name.
    pub(crate) type_names: Arc<Scopes<TypeId>>,
    /// Declared types.
    pub(crate) types: Arc<Types>,
    /// The records whose fields a record takes over.
    pub(crate) parents: BTreeMap<TypeId, Vec<TypeId>>,
    /// Records that extend themselves.
    pub(crate) endless_records: HashSet<TypeId>,
    /// The types inside of the tool that is read.
    pub(crate) local: Option<Local>,
    /// How many types terms have brought into fields.
    pub(crate) brought: usize,
    /// Whether terms and types are read for the first time: nothing is reported then.
    pub(crate) silent: bool,
    /// Names of vocabulary terms with syntax errors, about which nothing more is reported either.
    pub(crate) unread_terms: Arc<HashSet<SmolStr>>,
    /// Which files use what other files declare.
    pub(crate) uses: HashSet<(usize, usize)>,
    /// Whether the item that is analyzed depends on the fields of the records that it names.
    pub(crate) reads_fields: bool,
    /// The types of expressions that mean the same everywhere.
    pub(crate) plain_types: HashMap<Box<str>, Type>,
}

impl<'t> Checker<'t> {
    pub(crate) fn new(texts: &'t [Parse]) -> Self {
        let mut checker = Self::empty(texts);
        let sources = texts.iter().map(|text| Arc::clone(text.source()));
        checker.module.spans.sources = sources.collect();
        checker
    }

    /// A checker that knows no declarations.
    pub(crate) fn empty(texts: &'t [Parse]) -> Self {
        Self {
            texts,
            file: 0,
            unescaped: None,
            found: BTreeMap::new(),
            module: Module::default(),
            names: Arc::default(),
            libraries: Arc::default(),
            terms: Arc::default(),
            term_fields: Arc::default(),
            type_names: Arc::default(),
            types: Arc::default(),
            parents: BTreeMap::new(),
            endless_records: HashSet::new(),
            local: None,
            brought: 0,
            silent: false,
            unread_terms: Arc::default(),
            uses: HashSet::new(),
            reads_fields: false,
            plain_types: HashMap::new(),
        }
    }

    /// Reads the signature that the only file consists of.
    pub(crate) fn only_signature(
        mut self,
        text: &'t Parse,
    ) -> Result<(Vec<Field>, Output), Vec<Diagnostic>> {
        let mut patterns = text.tree().root().children();
        let signature = match (patterns.next(), patterns.next()) {
            (Some(path), None) if path.kind() == NodeKind::Path => self.signature(path),
            (first, second) => {
                let place = second.or(first).unwrap_or(text.tree().root()).span();
                let message = "expected a single signature";
                let error = self.error(&codes::MISSING_SIGNATURE, place, message);
                self.report(error.help("a signature is (name::Type)==>(::Type)"));
                None
            }
        };
        let reading = self.finish();
        let valid = reading.valid;
        signature.filter(|_| valid).ok_or_else(|| reading.into_checked(MAX_PER_FILE).diagnostics)
    }

    pub(crate) fn finish(mut self) -> Analysis {
        self.module.types = Arc::unwrap_or_clone(self.types);
        let mut found: Vec<Vec<_>> =
            self.texts.iter().map(|text| text.diagnostics().to_vec()).collect();
        for (file, own) in self.found {
            if let Some(found) = found.get_mut(file) {
                found.extend(own.all);
            }
        }
        Analysis {
            valid: !found.iter().flatten().any(is_error),
            module: self.module,
            found,
            terms: self.terms,
            type_names: self.type_names,
            uses: self.uses,
            analyzed: 0,
        }
    }

    /// Records that the file uses a declaration of another one.
    pub(crate) fn note_use(&mut self, owner: usize) {
        if self.file != owner {
            self.uses.insert((self.file, owner));
        }
    }

    /// The text that spans refer to.
    pub(crate) fn source(&self) -> &Arc<SourceFile> {
        self.unescaped.as_ref().unwrap_or_else(|| self.source_of(self.file))
    }

    /// The text of a file.
    pub(crate) fn source_of(&self, file: usize) -> &Arc<SourceFile> {
        self.texts[file].source()
    }

    /// The declared types that a name may mean here.
    pub(crate) fn find_type(&self, name: &str) -> Meaning<TypeId> {
        self.type_names.find(self.file, self.local, name)
    }

    /// The vocabulary terms that a name may mean here.
    pub(crate) fn find_term(&self, name: &str) -> Meaning<usize> {
        self.terms.find(self.file, None, name)
    }

    pub(crate) fn error(
        &self,
        code: &'static Code,
        span: Span,
        message: impl Into<String>,
    ) -> Diagnostic {
        Diagnostic::error(code, self.source(), span, message)
    }

    pub(crate) fn warning(
        &self,
        code: &'static Code,
        span: Span,
        message: impl Into<String>,
    ) -> Diagnostic {
        Diagnostic::new(Severity::Warning, code, self.source(), span, message)
    }

    pub(crate) fn note(
        &self,
        code: &'static Code,
        span: Span,
        message: impl Into<String>,
    ) -> Diagnostic {
        Diagnostic::new(Severity::Note, code, self.source(), span, message)
    }

    pub(crate) fn report(&mut self, diagnostic: Diagnostic) {
        if !self.silent {
            self.found.entry(self.file).or_default().add(diagnostic);
        }
    }

    /// Reports an error with help.
    pub(crate) fn reject(
        &mut self,
        code: &'static Code,
        span: Span,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.report(self.error(code, span, message).help(help));
    }

    /// Reports the second of two things, of which one is allowed.
    pub(crate) fn reject_second(
        &mut self,
        code: &'static Code,
        spans: [Span; 2],
        message: String,
        help: &str,
    ) {
        let [first, second] = spans;
        let error = self.error(code, second, message).here("the second one");
        self.report(error.label(first, "the first one").help(help));
    }

    /// Reports a second field or parameter of a name.
    pub(crate) fn reject_duplicate(&mut self, kind: &str, name: &str, spans: [Span; 2]) {
        let message = format!("duplicate {kind} `{name}`");
        self.reject_second(&codes::DUPLICATE_PARAMETER, spans, message, "rename one of them");
    }

    /// Reports a warning with help.
    pub(crate) fn warn(
        &mut self,
        code: &'static Code,
        span: Span,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.report(self.warning(code, span, message).help(help));
    }

    /// The number of diagnostics about the file.
    pub(crate) fn found(&self) -> usize {
        self.found.get(&self.file).map_or(0, |found| found.errors + found.others)
    }

    /// Reduces the diagnostics since there were `before` of them to messages about `span`.
    pub(crate) fn move_diagnostics(&mut self, before: usize, span: Span) {
        let source = Arc::clone(self.source());
        let count = self.found() - before;
        let Some(found) = self.found.get_mut(&self.file) else { return };
        for diagnostic in found.all.iter_mut().rev().take(count) {
            *diagnostic = diagnostic.relocate(&source, span);
        }
    }

    /// An error about an unknown name with similar known names, or with other help.
    pub(crate) fn suggest(
        error: Diagnostic,
        near: &[&str],
        write: impl Fn(&str) -> String,
        otherwise: impl Into<String>,
    ) -> Diagnostic {
        let span = error.span();
        let Some(first) = near.first() else { return error.help(otherwise) };
        let error = error.help(question(near).unwrap_or_default());
        error.replace(format!("write `{first}`"), span, write(first))
    }

    /// Whether no more errors about the file are kept.
    pub(crate) fn is_full(&self) -> bool {
        self.found.get(&self.file).is_some_and(DiagnosticBuffer::is_full)
    }

    /// Whether a syntax error is inside of a node.
    pub(crate) fn is_broken(&self, node: Node<'_>) -> bool {
        is_broken(&self.texts[self.file], node)
    }
}
