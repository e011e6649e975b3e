//! Parsed files to a checked module, with all diagnostics at once.
//!
//! ```
//! let text = "[add:Tool | (a::Int)==>(b::Int)==>(::Int)]";
//! let parse = gram_syntax::parse(gram_syntax::SourceFile::new("add.gram", text));
//! let module = gram_check::check(&[parse]).module.expect("the text has no errors");
//! assert_eq!(module.tools[0].parameters.len(), 2);
//! ```
//!
//! 1. [`index`]: what each file declares, by its syntax alone.
//! 2. [`resolve`]: what names mean in each file; types and terms, which may refer to each other.
//! 3. [`analyze`]: each declaration on its own, cached by its text and what it refers to.
//!
//! What compares declarations (duplicate names, unused types) needs all of them: names in
//! [`resolve`], the rest in the lints. A declaration with syntax errors keeps its name, so that
//! nothing is reported about its uses, and is not read otherwise.

mod agent;
mod analyze;
mod attributes;
pub mod codes;
mod constraints;
mod container;
mod cycles;
mod declared;
mod field;
mod foreign;
mod imports;
mod index;
mod keys;
mod libraries;
mod named;
pub mod names;
mod object;
mod partial;
mod resolve;
mod satisfiable;
mod scopes;
mod seen;
mod signature;
pub mod threads;
mod tool;
mod types;
mod unions;
mod valid;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use gram_syntax::{Code, Diagnostic, Limits, Node, NodeKind, Parse, Severity, SourceFile, Span};
use smol_str::SmolStr;

use gram_model::{Field, Module, Output, Type, TypeId, Types};

pub use analyze::{Cache, FileAnalysis, Known, Scope, ToolAt, ToolSummary, Visitor, analyze};
pub use declared::is_type_name;
use declared::only_node;
pub use imports::{Import, ImportGraph, ResolvedImport, imports};
pub use partial::PartialModule;
pub use satisfiable::{empty_interval, is_empty_enum};
use scopes::Local;
pub use scopes::{Meaning, NameMap, Scopes};
pub use unions::{plain, same_members, twins};
pub use valid::Valid;

/// The result of a check.
#[derive(Debug)]
pub struct Checked {
    /// The module, if no file has an error.
    pub module: Option<Valid<Module>>,
    /// All diagnostics, syntax errors included, in the order of the files.
    pub diagnostics: Vec<Diagnostic>,
}

/// Checks files that import nothing: each declares for all of them.
pub fn check(texts: &[Parse]) -> Checked {
    check_linked(texts, &ImportGraph::default())
}

/// Checks files of which some import others.
///
/// A name means what the file itself declares, else what one of the files that it imports
/// declares, else what any other file declares.
pub fn check_linked(texts: &[Parse], imports: &ImportGraph) -> Checked {
    analyze(texts, imports, Scope::Whole, None, &()).0.checked(MAX_PER_FILE)
}

/// The parameters and the result of the signature that a file consists of.
///
/// # Errors
///
/// All diagnostics, if the file is not a single signature without errors.
pub fn check_signature(text: &Parse) -> Result<(Vec<Field>, Output), Vec<Diagnostic>> {
    Checker::new(std::slice::from_ref(text)).only_signature(text)
}

/// The type of an expression that names no declared type; nothing of any other, and of what is none.
///
/// ```
/// use gram_model::Type;
///
/// assert_eq!(gram_check::plain_type("Int"), Some(Type::Integer));
/// assert_eq!(gram_check::plain_type("Address"), None);
/// ```
pub fn plain_type(expression: &str) -> Option<Type> {
    if let Some(ty) = gram_model::format::built_in(expression) {
        return Some(ty);
    }
    let text = format!("()==>(::{})", gram_model::print::quoted_label(expression));
    let parse = gram_syntax::parse(SourceFile::new("type", text));
    check_signature(&parse).ok().map(|(_, result)| result.slot.ty)
}

/// The declarations of files, with or without errors.
pub struct Analysis {
    /// Whether there is no error.
    valid: bool,
    /// What is declared; where there are errors, as much as could be read.
    pub module: Module,
    /// The diagnostics of each file, in no order.
    pub found: Vec<Vec<Diagnostic>>,
    /// Vocabulary terms by name: places in the module's.
    terms: Arc<Scopes<usize>>,
    /// Declared types by name.
    type_names: Arc<Scopes<TypeId>>,
    /// Which files use what other files declare.
    pub uses: HashSet<(usize, usize)>,
    /// The number of top-level patterns that were analyzed, not reused.
    pub analyzed: usize,
}

impl Analysis {
    /// The vocabulary and the declared types.
    pub fn known(&self) -> Known<'_> {
        Known {
            terms: &self.module.terms,
            term_places: &self.module.spans.terms,
            term_names: &self.terms,
            types: &self.module.types,
            type_places: &self.module.spans.types,
            type_names: &self.type_names,
        }
    }

    /// The module, if no file has an error.
    pub fn valid(&self) -> Option<Valid<&Module>> {
        self.valid.then(|| Valid::new(&self.module))
    }

    /// The module if it is valid, and the diagnostics in order, at most `max` of each file.
    pub fn checked(self, max: usize) -> Checked {
        let mut diagnostics = Vec::new();
        for mut found in self.found {
            found.sort_by_key(|diagnostic| diagnostic.span().start);
            gram_syntax::limit_diagnostics(&mut found, max);
            diagnostics.append(&mut found);
        }
        Checked { module: self.valid.then(|| Valid::new(self.module)), diagnostics }
    }
}

pub(crate) fn is_error(found: &Diagnostic) -> bool {
    found.severity == Severity::Error
}

/// Whether a syntax error is inside of a node.
fn is_broken(text: &Parse, node: Node<'_>) -> bool {
    let (found, span) = (text.diagnostics(), node.span());
    let first = found.partition_point(|found| found.span().start < span.start);
    found.get(first).is_some_and(|found| found.span().start < span.end.max(span.start + 1))
}

/// A name's first declaration.
#[derive(Debug, Clone, Copy)]
struct First {
    file: usize,
    span: Span,
    kind: Kind,
}

/// What a label declares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Tool,
    Agent,
    Container,
    Type(declared::Form),
    Library,
    Experiment,
}

impl Kind {
    /// The label that declares it.
    fn label(self) -> &'static str {
        match self {
            Self::Tool => "Tool",
            Self::Agent => "Agent",
            Self::Container => "Container",
            Self::Type(form) => form.label(),
            Self::Library => "Library",
            Self::Experiment => "Experiment",
        }
    }
}

/// Diagnostics of one file: at most [`MAX_PER_FILE`] errors and as many others.
#[derive(Debug, Default)]
struct DiagnosticBuffer {
    all: Vec<Diagnostic>,
    errors: usize,
    others: usize,
}

impl DiagnosticBuffer {
    /// Whether no more errors are kept, so that none need be looked for.
    fn is_full(&self) -> bool {
        self.errors > MAX_PER_FILE
    }

    fn add(&mut self, diagnostic: Diagnostic) {
        let count = if is_error(&diagnostic) { &mut self.errors } else { &mut self.others };
        if *count <= MAX_PER_FILE {
            *count += 1;
            self.all.push(diagnostic);
        }
    }

    fn extend(&mut self, diagnostics: impl IntoIterator<Item = Diagnostic>) {
        diagnostics.into_iter().for_each(|diagnostic| self.add(diagnostic));
    }
}

/// How many errors about one file are kept, and how many other diagnostics.
const MAX_PER_FILE: usize = Limits::MAX_DIAGNOSTICS;

struct Checker<'t> {
    texts: &'t [Parse],
    /// By file.
    found: BTreeMap<usize, DiagnosticBuffer>,
    module: Module,
    /// Tools, containers and agents, which share a namespace.
    names: Arc<NameMap<SmolStr, First>>,
    /// Libraries and experiments, which share another.
    libraries: Arc<NameMap<SmolStr, First>>,
    /// Vocabulary terms by name: places in `term_fields`.
    terms: Arc<Scopes<usize>>,
    /// What the vocabulary says.
    term_fields: Arc<Vec<Field>>,
    /// Declared types by name.
    type_names: Arc<Scopes<TypeId>>,
    /// Declared types.
    types: Arc<Types>,
    /// The types inside of the tool that is read.
    local: Option<Local>,
    /// How many types terms have brought into fields.
    brought: usize,
    /// Whether terms and types are read for the first time: nothing is reported then.
    silent: bool,
    /// Names of vocabulary terms with syntax errors, about which nothing more is reported either.
    unread_terms: Arc<HashSet<SmolStr>>,
    /// Which files use what other files declare.
    uses: HashSet<(usize, usize)>,
    /// The types of expressions that mean the same everywhere.
    plain_types: HashMap<Box<str>, Type>,
}

impl<'t> Checker<'t> {
    fn new(texts: &'t [Parse]) -> Self {
        let mut checker = Self::empty(texts);
        let sources = texts.iter().map(|text| Arc::clone(text.source()));
        checker.module.spans.sources = sources.collect();
        checker
    }

    /// A checker that knows no declarations.
    fn empty(texts: &'t [Parse]) -> Self {
        Self {
            texts,
            found: BTreeMap::new(),
            module: Module::default(),
            names: Arc::default(),
            libraries: Arc::default(),
            terms: Arc::default(),
            term_fields: Arc::default(),
            type_names: Arc::default(),
            types: Arc::default(),
            local: None,
            brought: 0,
            silent: false,
            unread_terms: Arc::default(),
            uses: HashSet::new(),
            plain_types: HashMap::new(),
        }
    }

    /// Reads the signature that the only file consists of.
    fn only_signature(mut self, text: &'t Parse) -> Result<(Vec<Field>, Output), Vec<Diagnostic>> {
        let mut patterns = text.tree().root().children();
        let signature = match (patterns.next(), patterns.next()) {
            (Some(path), None) if path.kind() == NodeKind::Path => self.signature(0, path),
            (first, second) => {
                let place = second.or(first).unwrap_or(text.tree().root()).span();
                let message = "expected a single signature";
                let error = self.error(&codes::MISSING_SIGNATURE, 0, place, message);
                self.report(0, error.help("a signature is (name::Type)==>(::Type)"));
                None
            }
        };
        let reading = self.finish();
        let valid = reading.valid;
        signature.filter(|_| valid).ok_or_else(|| reading.checked(MAX_PER_FILE).diagnostics)
    }

    fn finish(mut self) -> Analysis {
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

    /// Records that a file uses what another one declares.
    fn used(&mut self, file: usize, owner: usize) {
        if file != owner {
            self.uses.insert((file, owner));
        }
    }

    fn source(&self, file: usize) -> &'t Arc<SourceFile> {
        self.texts[file].source()
    }

    fn error(
        &self,
        code: &'static Code,
        file: usize,
        span: Span,
        message: impl Into<String>,
    ) -> Diagnostic {
        Diagnostic::error(code, self.source(file), span, message)
    }

    fn warning(
        &self,
        code: &'static Code,
        file: usize,
        span: Span,
        message: impl Into<String>,
    ) -> Diagnostic {
        Diagnostic::new(Severity::Warning, code, self.source(file), span, message)
    }

    fn report(&mut self, file: usize, diagnostic: Diagnostic) {
        if !self.silent {
            self.found.entry(file).or_default().add(diagnostic);
        }
    }

    /// The number of diagnostics about a file.
    fn found(&self, file: usize) -> usize {
        self.found.get(&file).map_or(0, |found| found.errors + found.others)
    }

    /// Whether no more errors about a file are kept.
    fn is_full(&self, file: usize) -> bool {
        self.found.get(&file).is_some_and(DiagnosticBuffer::is_full)
    }

    /// Whether a syntax error is inside of a node.
    fn is_broken(&self, file: usize, node: Node<'_>) -> bool {
        is_broken(&self.texts[file], node)
    }
}
