//! What parsing gives.

use std::sync::Arc;

use crate::codes;
use crate::diagnostic::{Diagnostic, Severity};
use crate::limits::Limits;
use crate::parser;
use crate::source::SourceFile;
use crate::span::{Span, offset};
use crate::token::{TokenKind, Tokens};
use crate::tree::{NodeData, NodeKind, Tree};

/// A tree, what is wrong with it, and which extensions of gram notation it uses.
#[derive(Debug)]
pub struct Parse {
    tree: Tree,
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
        return too_large(&source, limits);
    }
    let parsed = parser::parse(&source, limits);
    Parse {
        tree: parsed.tree,
        diagnostics: parsed.diagnostics,
        extensions: parsed.extensions,
    }
}

/// The answer to a text beyond the size limit: its first line's place and one diagnostic.
fn too_large(source: &Arc<SourceFile>, limits: &Limits) -> Parse {
    let mut tokens = Tokens::with_capacity(2);
    tokens.push(TokenKind::Unknown, 0);
    tokens.push(TokenKind::End, offset(source.text().len()));
    let nodes = vec![
        NodeData { kind: NodeKind::Document, first: 0, last: 1, end: 2 },
        NodeData { kind: NodeKind::Error, first: 0, last: 0, end: 2 },
    ];
    let message = format!(
        "the file has {} bytes; the most that gramc reads is {}",
        source.text().len(),
        limits.max_bytes
    );
    let diagnostic = Diagnostic::error(&codes::TOO_LARGE, source, Span::empty(0), message)
        .help("split it into several files");
    Parse {
        tree: Tree { source: Arc::clone(source), tokens, nodes, docs: Vec::new() },
        diagnostics: vec![diagnostic],
        extensions: Vec::new(),
    }
}

impl Parse {
    /// The tree.
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// The text.
    pub fn source(&self) -> &Arc<SourceFile> {
        &self.tree.source
    }

    /// What is wrong with the text, in its order.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    /// Whether one of the diagnostics is an error.
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error)
    }

    /// The places that use extensions, in order.
    pub fn extensions(&self) -> &[ExtensionUse] {
        &self.extensions
    }

    /// The tree as the reference grammar's S-expression, with its node and field names.
    pub fn sexp(&self) -> String {
        crate::sexp::sexp(&self.tree)
    }
}
