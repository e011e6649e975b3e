//! The result of parsing.

use std::sync::Arc;

use crate::codes;
use crate::diagnostic::{Diagnostic, Severity};
use crate::limits::Limits;
use crate::parser::{self, Parsed};
use crate::source::SourceFile;
use crate::span::{Span, offset};
use crate::token::{TokenKind, Tokens};
use crate::tree::{NodeData, NodeKind, Tree};

/// A tree, its syntax errors, and the extensions of gram notation that it uses.
///
/// Clones share the tree.
#[derive(Debug, Clone)]
pub struct Parse {
    source: Arc<SourceFile>,
    parsed: Arc<Parsed>,
}

/// An extension of the reference grammar. Extensions do not change the meaning of texts that the
/// reference grammar accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Extension {
    /// Arrays and maps inside arrays and maps, and the empty array.
    NestedValue,
    /// A record in angle brackets: `<key: value>`.
    AngleRecord,
    /// A `\u` escape with four hexadecimal digits.
    UnicodeEscape,
    /// A string that begins with `//`, which is a comment in the reference grammar.
    SlashString,
    /// A type expression without backticks: `(tags::Text[])`.
    BareType,
    /// `?` after an identifier: `(limit?::Integer)`.
    OptionalMark,
}

/// A use of an extension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExtensionUse {
    /// The extension.
    pub kind: Extension,
    /// The span.
    pub span: Span,
}

/// Parses a text with the default [`Limits`]. Never fails: errors are diagnostics, and the tree
/// contains every byte of the text.
pub fn parse(source: impl Into<Arc<SourceFile>>) -> Parse {
    parse_with(source, &Limits::default())
}

/// Parses a text with the given limits.
pub fn parse_with(source: impl Into<Arc<SourceFile>>, limits: &Limits) -> Parse {
    let source = source.into();
    if source.text().len() > limits.max_bytes.min(u32::MAX as usize / 2) {
        let bytes = source.text().len();
        return too_large(&source, &format!("{bytes} bytes"), limits);
    }
    let parsed = Arc::new(parser::parse(&source, limits));
    Parse { source, parsed }
}

/// Parses a part of a text as a type expression, such as the content of a label in backticks. The
/// root of its tree is the expression, and all spans refer to the whole text.
pub fn parse_type(source: &Arc<SourceFile>, span: Span) -> Parse {
    let parsed = Arc::new(parser::parse_type(source, span));
    Parse { source: Arc::clone(source), parsed }
}

/// Whether a text is a type expression. What its names mean does not matter.
pub fn is_type(text: &str) -> bool {
    let source = Arc::new(SourceFile::new("type", text));
    parse_type(&source, Span::new(0, offset(text.len()))).diagnostics().is_empty()
}

/// Parses the bytes of a file with the given limits. Invalid UTF-8 is reported at the first invalid
/// byte.
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
    let message = format!("the file is not valid UTF-8: invalid byte 0x{byte:02x}");
    let diagnostic = Diagnostic::error(&codes::INVALID_UTF8, &source, span, message)
        .help("save the file as UTF-8");
    unread(&source, diagnostic)
}

/// The parse of a file above the size limit. `start` is the part that was read, `size` the size in
/// words.
pub fn too_large(start: &Arc<SourceFile>, size: &str, limits: &Limits) -> Parse {
    let most = limits.max_bytes;
    let message = format!("the file has {size}; the maximum is {most}");
    let diagnostic =
        Diagnostic::error(&codes::TOO_LARGE, start, Span::empty(0), message).help("split the file");
    unread(start, diagnostic)
}

/// The error about a file that is JSON.
pub fn json_file(source: &Arc<SourceFile>) -> Diagnostic {
    let text = source.text();
    let rest = text.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
    let start = offset(text.len() - rest.len());
    let span = Span::new(start, start + 1);
    Diagnostic::error(&codes::JSON_FILE, source, span, "this file is JSON")
        .help("convert it to gram: gramc import FILE")
}

/// A text that is not parsed: one error node and a diagnostic.
fn unread(source: &Arc<SourceFile>, diagnostic: Diagnostic) -> Parse {
    let mut tokens = Tokens::with_capacity(2);
    tokens.push(TokenKind::Unknown, 0);
    tokens.push(TokenKind::End, offset(source.text().len()));
    let nodes = vec![
        NodeData { kind: NodeKind::Document, first: 0, last: 1, end: 2 },
        NodeData { kind: NodeKind::Error, first: 0, last: 0, end: 2 },
    ];
    let tree = Tree { source: Arc::clone(source), tokens, nodes, docs: Vec::new() };
    let parsed = Parsed { tree, diagnostics: vec![diagnostic], extensions: Vec::new() };
    Parse { source: Arc::clone(source), parsed: Arc::new(parsed) }
}

impl Parse {
    /// The tree.
    pub fn tree(&self) -> &Tree {
        &self.parsed.tree
    }

    /// The text.
    pub fn source(&self) -> &Arc<SourceFile> {
        &self.source
    }

    /// The text, without a copy if it is not shared.
    pub(crate) fn into_text(self) -> String {
        drop(self.parsed);
        Arc::try_unwrap(self.source)
            .map_or_else(|shared| shared.text().to_owned(), SourceFile::into_text)
    }

    /// The diagnostics in source order.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.parsed.diagnostics
    }

    /// Whether one of the diagnostics is an error.
    pub fn has_errors(&self) -> bool {
        self.parsed.diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error)
    }

    /// The uses of extensions in source order.
    pub fn extensions(&self) -> &[ExtensionUse] {
        &self.parsed.extensions
    }

    /// The tree as the reference grammar's S-expression, with its node and field names.
    pub fn sexp(&self) -> String {
        crate::sexp::sexp(self.tree())
    }
}
