//! Trees to a checked module: names, types, attributes; all findings at once.
//!
//! Three passes: the first one collects what the texts declare, so that order does not matter; the
//! second one reads terms and types without a word, for they may name each other; the third one
//! reads every declaration, with all types known, and reports what it finds. A declaration with
//! syntax errors keeps its name, so that nothing is reported about its uses, and is not read
//! otherwise.

mod agent;
mod alone;
mod attributes;
mod constraints;
mod container;
mod cycles;
mod declarations;
mod declared;
mod field;
mod foreign;
mod libraries;
mod links;
mod named;
mod object;
mod parts;
mod pieces;
mod satisfiable;
mod scopes;
mod seen;
mod signature;
mod tool;
mod types;
mod unions;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use gram_syntax::{Code, Diagnostic, Limits, Node, NodeKind, Parse, Severity, SourceFile, Span};
use smol_str::SmolStr;

use crate::codes;
use crate::model::{Field, Module, Output, TypeId, Types, Valid};
pub(crate) use crate::walk::{endless, heads, names, names_of_slot, parts};
pub(crate) use alone::{Alone, Outline, all_differ, is_large, read_alone};
pub(crate) use declared::{is_type_name, only_node};
pub use links::{Import, Link, Links, imports};
pub(crate) use parts::{Done, Known, Read, Ready, Texts};
pub(crate) use pieces::{Piece, Pieces};
pub(crate) use satisfiable::{empty_interval, is_empty_enum};
pub(crate) use scopes::{Local, Meaning, Scopes};
pub(crate) use unions::{plain, same_members, twins};

/// What checking gives.
#[derive(Debug)]
pub struct Checked {
    /// The module, where no text has an error.
    pub module: Option<Valid<Module>>,
    /// What was found, syntax errors included, in the order of the texts.
    pub diagnostics: Vec<Diagnostic>,
}

/// Checks texts that belong together: each declares for all of them.
pub fn check(texts: &[Parse]) -> Checked {
    check_linked(texts, &Links::default())
}

/// Checks texts that belong together, of which some import others.
///
/// A name means what the text itself declares, else what one of the texts that it imports
/// declares, else what any other text declares.
pub fn check_linked(texts: &[Parse], links: &Links) -> Checked {
    let whole = Texts { keep: true, alone: &|_| None };
    read::<()>(texts, links, &whole, |_, _, _, _| ()).0.checked(MOST)
}

/// Reads all declarations of texts that belong together. As soon as a text is read, `visit` sees
/// what it declares, types and terms aside, beside the pieces that were read alone; what that gives
/// is given back, but for texts that were read alone.
pub(crate) fn read<'a, R: Send + Sync + 'a>(
    texts: &[Parse],
    links: &Links,
    how: &Texts<'_, 'a, R>,
    visit: impl Fn(Known<'_>, usize, &Module, &[Piece<R>]) -> R + Sync,
) -> (Reading, Vec<Done<'a, R>>) {
    Checker::new(texts).read_texts(links, how, visit)
}

/// Reads the patterns of a text that touch a span, as if there were nothing else.
pub(crate) fn read_some(text: &Parse, span: Span) -> Reading {
    let mut checker = Checker::new(std::slice::from_ref(text));
    let near = |top: &Node<'_>| top.span().start <= span.end && span.start <= top.span().end;
    let own = checker.collect_patterns(0, text.tree().root().children().filter(near));
    own.others.iter().for_each(|declaration| checker.read(declaration));
    checker.finish()
}

/// All that reading the declarations of texts gives, errors or not.
pub(crate) struct Reading {
    /// Whether there is no error.
    pub(crate) valid: bool,
    /// What is declared; where there are errors, as much as could be read.
    pub(crate) module: Module,
    /// What was found about each text, in no order.
    pub(crate) found: Vec<Vec<Diagnostic>>,
    /// Vocabulary terms by name: places in the module's.
    pub(crate) terms: Arc<Scopes<usize>>,
    /// Declared types by name.
    pub(crate) type_names: Arc<Scopes<TypeId>>,
    /// Which texts use what other texts declare.
    pub(crate) uses: HashSet<(usize, usize)>,
}

impl Reading {
    /// The vocabulary and the declared types.
    pub(crate) fn known(&self) -> Known<'_> {
        Known {
            terms: &self.module.terms,
            term_places: &self.module.spans.terms,
            term_names: &self.terms,
            types: &self.module.types,
            type_places: &self.module.spans.types,
            type_names: &self.type_names,
        }
    }

    /// The module where it is valid, and the findings in order, so many of each text.
    pub(crate) fn checked(self, most: usize) -> Checked {
        let mut diagnostics = Vec::new();
        for mut found in self.found {
            found.sort_by_key(|diagnostic| diagnostic.span().start);
            gram_syntax::limit_diagnostics(&mut found, most);
            diagnostics.append(&mut found);
        }
        Checked { module: self.valid.then(|| Valid::new(self.module)), diagnostics }
    }
}

pub(crate) fn is_error(found: &Diagnostic) -> bool {
    found.severity == Severity::Error
}

/// Reads the signature that a text consists of.
pub(crate) fn check_signature(text: &Parse) -> Result<(Vec<Field>, Output), Vec<Diagnostic>> {
    let texts = std::slice::from_ref(text);
    let mut checker = Checker::new(texts);
    checker.link(&Links::default(), |_| false);
    checker.only_signature(text)
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

/// What was found about a text: as many errors as anybody reads, and as much else.
#[derive(Default)]
struct Found {
    all: Vec<Diagnostic>,
    /// How many errors there are, those included that another checker found before.
    errors: usize,
    /// How much else there is, likewise.
    others: usize,
}

impl Found {
    /// Whether there are as many errors as anybody reads, so that more need not be looked for.
    fn is_full(&self) -> bool {
        self.errors > MOST
    }

    fn add(&mut self, diagnostic: Diagnostic) {
        if is_error(&diagnostic) {
            if !self.is_full() {
                self.errors += 1;
                self.all.push(diagnostic);
            }
        } else if self.others <= MOST {
            self.others += 1;
            self.all.push(diagnostic);
        }
    }

    /// Nothing yet, in a text about which another checker found as much as this before.
    fn behind(&self) -> Self {
        Self { all: Vec::new(), ..*self }
    }

    /// Adds what was found by a checker that began behind this one.
    fn take_over(&mut self, other: Self) {
        for finding in other.all {
            self.add(finding);
        }
    }
}

/// How many findings about one text are kept.
const MOST: usize = Limits::MAX_DIAGNOSTICS;

struct Checker<'t> {
    texts: &'t [Parse],
    diagnostics: Vec<Found>,
    module: Module,
    /// Tools, containers and agents, which share a namespace.
    names: Arc<HashMap<SmolStr, First>>,
    /// Libraries and experiments, which share another.
    libraries: Arc<HashMap<SmolStr, First>>,
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
    /// Names of vocabulary terms with syntax errors, of which nothing more is said either.
    unread_terms: Arc<HashSet<SmolStr>>,
    /// Which texts use what other texts declare.
    uses: HashSet<(usize, usize)>,
    /// Whether it was asked what a name means beside the built-in types: texts may answer that
    /// differently together than alone.
    asked: bool,
    /// The types of expressions that mean the same everywhere.
    plain_types: HashMap<Box<str>, crate::model::Type>,
    /// Memory for what is read next.
    spare: Spare<'t>,
}

/// Memory that was used before, all of it empty.
#[derive(Default)]
struct Spare<'t> {
    attributes: Vec<attributes::Attribute<'t>>,
    steps: Vec<signature::Step<'t>>,
    names: seen::Seen<'t>,
}

impl<'t> Checker<'t> {
    fn new(texts: &'t [Parse]) -> Self {
        let mut module = Module::default();
        module.spans.sources = texts.iter().map(|text| Arc::clone(text.source())).collect();
        let diagnostics = texts.iter().map(|_| Found::default()).collect();
        Self {
            texts,
            diagnostics,
            module,
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
            asked: false,
            plain_types: HashMap::new(),
            spare: Spare::default(),
        }
    }

    fn read_texts<'a, R: Send + Sync + 'a>(
        mut self,
        links: &Links,
        how: &Texts<'_, 'a, R>,
        visit: impl Fn(Known<'_>, usize, &Module, &[Piece<R>]) -> R + Sync,
    ) -> (Reading, Vec<Done<'a, R>>) {
        self.link(links, |file| (how.alone)(file).is_some_and(Ready::is_whole));
        let declarations = self.collect(how.alone);
        self.know_types(&declarations);
        self.read_terms(&declarations.terms);
        self.read_types(&declarations.types);
        let read = self.read_all(declarations.others, how, visit);
        (self.finish(), read)
    }

    /// Reads the signature that the only text consists of.
    fn only_signature(mut self, text: &'t Parse) -> Result<(Vec<Field>, Output), Vec<Diagnostic>> {
        let mut patterns = text.tree().root().children();
        let signature = match (patterns.next(), patterns.next()) {
            (Some(path), None) if path.kind() == NodeKind::Path => self.signature(0, path),
            (first, second) => {
                let place = second.or(first).unwrap_or(text.tree().root());
                let error = self
                    .error(
                        &codes::MISSING_SIGNATURE,
                        0,
                        place.span(),
                        "this is no single signature",
                    )
                    .help("a signature is (name::Type)==>(::Type)");
                self.report(0, error);
                None
            }
        };
        let reading = self.finish();
        let valid = reading.valid;
        signature.filter(|_| valid).ok_or_else(|| reading.checked(MOST).diagnostics)
    }

    fn finish(mut self) -> Reading {
        self.module.types = Arc::unwrap_or_clone(self.types);
        for (text, found) in self.texts.iter().zip(&mut self.diagnostics) {
            // As many as anybody reads are there already.
            found.errors += text.diagnostics().iter().filter(|syntax| is_error(syntax)).count();
            found.all.extend(text.diagnostics().iter().cloned());
        }
        Reading {
            valid: self.diagnostics.iter().all(|found| found.errors == 0),
            module: self.module,
            found: self.diagnostics.into_iter().map(|found| found.all).collect(),
            terms: self.terms,
            type_names: self.type_names,
            uses: self.uses,
        }
    }

    /// Takes note that a text uses what another one declares.
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
        if !self.silent
            && let Some(found) = self.diagnostics.get_mut(file)
        {
            found.add(diagnostic);
        }
    }

    /// How much was found about a text.
    fn found(&self, file: usize) -> usize {
        self.diagnostics.get(file).map_or(0, |found| found.errors + found.others)
    }

    /// Whether there are as many errors in a text as anybody reads.
    fn is_full(&self, file: usize) -> bool {
        self.diagnostics.get(file).is_some_and(Found::is_full)
    }

    /// Whether a syntax error stands inside of a node.
    fn is_broken(&self, file: usize, node: Node<'_>) -> bool {
        let found = self.texts[file].diagnostics();
        if found.is_empty() {
            return false;
        }
        let span = node.span();
        let inside = |at: Span| span.start <= at.start && at.start < span.end.max(span.start + 1);
        found.iter().any(|diagnostic| inside(diagnostic.span()))
    }
}
