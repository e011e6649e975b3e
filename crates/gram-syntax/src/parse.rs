//! What parsing gives.

use std::sync::{Arc, OnceLock};

use crate::codes;
use crate::diagnostic::{Diagnostic, Severity};
use crate::limits::Limits;
use crate::parser::{self, Before, Parsed};
use crate::source::SourceFile;
use crate::span::{Span, offset};
use crate::token::{TokenKind, Tokens};
use crate::tree::{NodeData, NodeKind, Tree};

/// A tree, what is wrong with it, and which extensions of gram notation it uses.
///
/// A clone is the same parse, and costs nothing.
#[derive(Debug, Clone)]
pub struct Parse {
    source: Arc<SourceFile>,
    /// Empty where it was freed and nobody has asked for it since.
    tree: Arc<OnceLock<Tree>>,
    limits: Limits,
    found: Arc<Found>,
}

/// What was found beside the tree.
#[derive(Debug)]
struct Found {
    diagnostics: Vec<Diagnostic>,
    extensions: Vec<ExtensionUse>,
}

/// What gramc reads beyond the reference grammar. No text that the reference accepts changes its
/// meaning by these.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Extension {
    /// Arrays and maps inside arrays and maps, and the empty array.
    NestedValue,
    /// A record in angle brackets: `<key: value>`.
    AngleRecord,
    /// A `\u` escape with four hexadecimal digits.
    UnicodeEscape,
    /// A string that begins with `//`, which the reference takes for a comment.
    SlashString,
}

/// A place that uses an extension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExtensionUse {
    /// Which one.
    pub kind: Extension,
    /// The place.
    pub span: Span,
}

/// Parses a text under the default [`Limits`]. It never fails: what is wrong stands in the
/// diagnostics, and the tree holds every byte of the text.
pub fn parse(source: impl Into<Arc<SourceFile>>) -> Parse {
    parse_with(source, &Limits::default())
}

/// Parses a text under the given limits.
pub fn parse_with(source: impl Into<Arc<SourceFile>>, limits: &Limits) -> Parse {
    let source = source.into();
    if source.text().len() > limits.max_bytes.min(u32::MAX as usize / 2) {
        let bytes = source.text().len();
        return too_large(&source, &format!("{bytes} bytes"), limits);
    }
    let parsed = parser::parse(&source, limits);
    Parse::of(source, parsed, limits)
}

/// Parses the bytes of a file under the given limits. Bytes that are no UTF-8 are answered with
/// a diagnostic at the first of them.
pub fn parse_bytes(name: impl Into<String>, bytes: Vec<u8>, limits: &Limits) -> Parse {
    let error = match String::from_utf8(bytes) {
        Ok(text) => return parse_with(SourceFile::new(name, text), limits),
        Err(error) => error,
    };
    let valid = offset(error.utf8_error().valid_up_to());
    let byte = error.as_bytes().get(valid as usize).copied().unwrap_or_default();
    let text = String::from_utf8_lossy(error.as_bytes()).into_owned();
    let source = Arc::new(SourceFile::new(name, text));
    let span = Span::new(valid, valid + offset('\u{fffd}'.len_utf8()));
    let message = format!("the file is no UTF-8: the byte 0x{byte:02x} begins no character");
    let diagnostic = Diagnostic::error(&codes::INVALID_UTF8, &source, span, message)
        .help("save the file as UTF-8");
    unread(&source, diagnostic, limits)
}

/// The answer to a file beyond the size limit, of which not everything needs to be read: `start`
/// is as much of it as there is, `size` says how large it is.
pub fn too_large(start: &Arc<SourceFile>, size: &str, limits: &Limits) -> Parse {
    let most = limits.max_bytes;
    let message = format!("the file has {size}; the most that gramc reads is {most}");
    let diagnostic = Diagnostic::error(&codes::TOO_LARGE, start, Span::empty(0), message)
        .help("split it into several files");
    unread(start, diagnostic, limits)
}

/// A text that is not parsed: one error node, and the diagnostic that says why.
fn unread(source: &Arc<SourceFile>, diagnostic: Diagnostic, limits: &Limits) -> Parse {
    let mut tokens = Tokens::with_capacity(2);
    tokens.push(TokenKind::Unknown, 0);
    tokens.push(TokenKind::End, offset(source.text().len()));
    let nodes = vec![
        NodeData { kind: NodeKind::Document, first: 0, last: 1, end: 2 },
        NodeData { kind: NodeKind::Error, first: 0, last: 0, end: 2 },
    ];
    let tree = Tree {
        source: Arc::clone(source),
        tokens,
        nodes,
        docs: Vec::new(),
        farsighted: true,
        unclosed: None,
    };
    Parse {
        source: Arc::clone(source),
        tree: Arc::new(OnceLock::from(tree)),
        limits: *limits,
        found: Arc::new(Found { diagnostics: vec![diagnostic], extensions: Vec::new() }),
    }
}

impl Parse {
    /// The parse of another text, likely a later form of this one: the same as [`parse_with`] gives,
    /// sooner where they differ little, for what both have in common is not read again. The tree becomes
    /// the new one's, unless a clone holds it, too.
    #[must_use]
    pub fn again(self, source: impl Into<Arc<SourceFile>>) -> Self {
        let source = source.into();
        let limits = &self.limits;
        let Found { diagnostics, extensions } = &*self.found;
        let small = source.text().len() <= limits.max_bytes.min(u32::MAX as usize / 2);
        let tree = match Arc::try_unwrap(self.tree) {
            Ok(tree) => tree.into_inner(),
            Err(shared) => shared.get().cloned(),
        };
        let known = Before { diagnostics, extensions };
        let again = |tree| parser::again(tree, &known, &source, limits);
        match tree.filter(|_| small).and_then(again) {
            Some(parsed) => Self::of(source, parsed, limits),
            None => parse_with(source, limits),
        }
    }

    fn of(source: Arc<SourceFile>, parsed: Parsed, limits: &Limits) -> Self {
        let Parsed { tree, diagnostics, extensions } = parsed;
        Self {
            source,
            tree: Arc::new(OnceLock::from(tree)),
            limits: *limits,
            found: Arc::new(Found { diagnostics, extensions }),
        }
    }

    /// The tree.
    pub fn tree(&self) -> &Tree {
        self.tree.get_or_init(|| parser::parse(&self.source, &self.limits).tree)
    }

    /// Frees the tree, which most of the memory of a parse goes to. Whoever asks for it later gets
    /// the same one, for which the text is parsed again. A text with errors keeps its tree, and so
    /// do clones.
    pub fn free_tree(&mut self) {
        if self.found.diagnostics.is_empty() && self.tree.get().is_some() {
            self.tree = Arc::default();
        }
    }

    /// The text.
    pub fn source(&self) -> &Arc<SourceFile> {
        &self.source
    }

    /// The text alone, without a copy where nobody else holds it.
    pub(crate) fn into_text(self) -> String {
        drop(self.tree);
        Arc::try_unwrap(self.source)
            .map_or_else(|shared| shared.text().to_owned(), SourceFile::into_text)
    }

    /// What is wrong with the text, in its order.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.found.diagnostics
    }

    /// Whether one of the diagnostics is an error.
    pub fn has_errors(&self) -> bool {
        self.found.diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error)
    }

    /// The places that use extensions, in order.
    pub fn extensions(&self) -> &[ExtensionUse] {
        &self.found.extensions
    }

    /// The tree as the reference grammar's S-expression, with its node and field names.
    pub fn sexp(&self) -> String {
        crate::sexp::sexp(self.tree())
    }
}
