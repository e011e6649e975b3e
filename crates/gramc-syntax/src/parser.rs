//! Parses tokens to a tree in one pass, without recursion. Never fails.
//!
//! Each production of the grammar is a function with the same name. Nesting uses explicit stacks, so
//! no text overflows the call stack. Unexpected tokens become an error node and a diagnostic, and the
//! parser continues after them.

mod errors;
mod group;
mod path;
mod pattern;
mod record;
mod types;
mod value;

use std::sync::Arc;

use crate::diagnostic::{Diagnostic, limit_diagnostics};
use crate::lexer::{self, Lexed, Slashes};
use crate::limits::Limits;
use crate::parse::{Extension, ExtensionUse, json_file};
use crate::source::SourceFile;
use crate::span::{Span, offset};
use crate::token::{TokenKind, Tokens};
use crate::tree::{NodeData, NodeKind, Tree};

/// The result of the parser; see [`Parse`](crate::Parse).
#[derive(Debug)]
pub(crate) struct Parsed {
    pub(crate) tree: Tree,
    pub(crate) diagnostics: Vec<Diagnostic>,
    pub(crate) extensions: Vec<ExtensionUse>,
}

/// Parses a text.
///
/// A string that begins with `//` is text (extension E4), unless the whole document is plain
/// gram when it is read as the reference grammar reads it: extensions never change the meaning
/// of plain gram. Only a document that could be read both ways is parsed a second time.
pub(crate) fn parse(source: &Arc<SourceFile>, limits: &Limits) -> Parsed {
    let lexed = lexer::lex(source.text(), Slashes::Text);
    if lexed.ambiguous {
        let plain = Parser::run(source, lexer::lex(source.text(), Slashes::Comment), limits);
        if plain.diagnostics.is_empty() && plain.extensions.is_empty() {
            return plain;
        }
    }
    Parser::run(source, lexed, limits)
}

/// Parses a part of a text as a type expression.
pub(crate) fn parse_type(source: &Arc<SourceFile>, span: Span) -> Parsed {
    let limits = Limits::default();
    let lexed = lexer::lex_part(source.text(), span);
    let mut parser = Parser::new(source, &limits, Tokens::default());
    parser.note(&lexed);
    parser.tokens = lexed.tokens;
    parser.skip_trivia(0);
    parser.whole_type();
    parser.finish()
}

struct Parser<'a> {
    source: &'a Arc<SourceFile>,
    limits: &'a Limits,
    tokens: Tokens,
    /// The next token that is not trivia.
    at: u32,
    /// The last consumed token.
    last: u32,
    nodes: Vec<NodeData>,
    docs: Vec<(u32, u32)>,
    diagnostics: Vec<Diagnostic>,
    extensions: Vec<ExtensionUse>,
    /// Number of open brackets of each kind: `]`, `)`, `}`, `>`.
    open: [u32; 4],
    /// The last unclosed string, which includes the rest of its line.
    swallowed: Option<u32>,
    /// Number of diagnostics at the start of the current declaration.
    before: usize,
    /// The token at which the last error was reported, to report each place once.
    reported: Option<u32>,
    /// The token before which nothing more is reported.
    covered: u32,
    /// The token up to which the next error covers others.
    to_cover: u32,
    /// The brackets of patterns that are open at the end of the text.
    unclosed: Vec<u32>,
    /// The same, as an earlier look found them.
    never_closed: Vec<u32>,
    /// Empty buffers that are reused for patterns and values.
    patterns: Vec<pattern::Pattern>,
    containers: Vec<value::Container>,
}

/// The state of a parser, to parse a part again.
#[derive(Debug, Clone, Copy)]
struct Checkpoint {
    at: u32,
    last: u32,
    nodes: usize,
    docs: usize,
    diagnostics: usize,
    extensions: usize,
    open: [u32; 4],
    marks: (Option<u32>, Option<u32>, u32, u32),
}

impl<'a> Parser<'a> {
    fn new(source: &'a Arc<SourceFile>, limits: &'a Limits, tokens: Tokens) -> Self {
        Self {
            source,
            limits,
            tokens,
            at: 0,
            last: 0,
            nodes: Vec::new(),
            docs: Vec::new(),
            diagnostics: Vec::new(),
            extensions: Vec::new(),
            open: [0; 4],
            swallowed: None,
            before: 0,
            reported: None,
            covered: 0,
            to_cover: 0,
            unclosed: Vec::new(),
            never_closed: Vec::new(),
            patterns: Vec::new(),
            containers: Vec::new(),
        }
    }

    fn run(source: &'a Arc<SourceFile>, lexed: Lexed, limits: &'a Limits) -> Parsed {
        let mut parser = Parser::new(source, limits, Tokens::default());
        parser.note(&lexed);
        parser.tokens = lexed.tokens;
        // Measured on tool files: 58 nodes per 100 tokens. Avoids reallocation.
        parser.nodes = Vec::with_capacity(parser.tokens.len() / 8 * 5 + 16);
        parser.nul_characters();
        let (diagnostics, extensions) = (parser.diagnostics.len(), parser.extensions.len());
        parser.document();
        if !parser.unclosed.is_empty() {
            // A second look ends what is never closed before the declaration that follows it.
            parser.restart(diagnostics, extensions);
            parser.document();
        }
        parser.finish()
    }

    fn document(&mut self) {
        let root = self.begin();
        self.patterns();
        self.last = self.at;
        self.close(root);
    }

    /// Starts again with the diagnostics and extension uses of the lexer.
    fn restart(&mut self, diagnostics: usize, extensions: usize) {
        self.diagnostics.truncate(diagnostics);
        self.extensions.truncate(extensions);
        self.nodes.clear();
        self.docs.clear();
        self.never_closed = std::mem::take(&mut self.unclosed);
        self.never_closed.sort_unstable();
        (self.at, self.last, self.open) = (0, 0, [0; 4]);
        (self.swallowed, self.reported) = (None, None);
        (self.covered, self.to_cover) = (0, 0);
    }

    /// The state at the next token.
    #[inline]
    fn checkpoint(&self) -> Checkpoint {
        Checkpoint {
            at: self.at,
            last: self.last,
            nodes: self.nodes.len(),
            docs: self.docs.len(),
            diagnostics: self.diagnostics.len(),
            extensions: self.extensions.len(),
            open: self.open,
            marks: (self.swallowed, self.reported, self.covered, self.to_cover),
        }
    }

    /// Forgets what was parsed since a checkpoint.
    fn rewind(&mut self, to: Checkpoint) {
        self.nodes.truncate(to.nodes);
        self.docs.truncate(to.docs);
        self.diagnostics.truncate(to.diagnostics);
        self.extensions.truncate(to.extensions);
        (self.at, self.last, self.open) = (to.at, to.last, to.open);
        (self.swallowed, self.reported, self.covered, self.to_cover) = to.marks;
    }

    /// Adds the lexer's errors and extension uses.
    fn note(&mut self, lexed: &Lexed) {
        self.lexical_errors(&lexed.errors);
        self.half_surrogates(&lexed.unicode_escapes);
        let texts = lexed.slash_strings.iter().map(|span| (Extension::SlashString, span));
        let escapes = lexed.unicode_escapes.iter().map(|span| (Extension::UnicodeEscape, span));
        for (kind, span) in texts.chain(escapes) {
            self.extensions.push(ExtensionUse { kind, span: *span });
        }
    }

    /// Reports `\u` escapes that are half of a surrogate pair.
    fn half_surrogates(&mut self, escapes: &[Span]) {
        let unit = |span: &Span| {
            let digits = self.source.slice(*span).get(2..6).unwrap_or_default();
            u16::from_str_radix(digits, 16).unwrap_or_default()
        };
        let mut found = Vec::new();
        let mut escapes = escapes.iter().peekable();
        while let Some(span) = escapes.next() {
            match unit(span) {
                0xd800..=0xdbff => {
                    let pair = escapes.next_if(|next| {
                        next.start == span.end && matches!(unit(next), 0xdc00..=0xdfff)
                    });
                    found.extend(pair.is_none().then_some(*span));
                }
                0xdc00..=0xdfff => found.push(*span),
                _ => {}
            }
        }
        for span in found {
            self.half_surrogate(span);
        }
    }

    fn finish(mut self) -> Parsed {
        self.nodes.shrink_to_fit();
        if !self.diagnostics.is_empty() && self.is_json() {
            self.diagnostics = vec![json_file(self.source)];
        }
        self.wide_punctuation();
        self.order();
        limit_diagnostics(&mut self.diagnostics, self.limits.max_diagnostics);
        Parsed {
            tree: Tree {
                source: Arc::clone(self.source),
                tokens: self.tokens,
                nodes: self.nodes,
                docs: self.docs,
            },
            diagnostics: self.diagnostics,
            extensions: self.extensions,
        }
    }

    /// Sorts the diagnostics by position.
    fn order(&mut self) {
        self.diagnostics.sort_by_key(|diagnostic| diagnostic.span().start);
        self.drop_shadows();
        self.drop_escapes();
        self.extensions.sort_by_key(|extension| extension.span.start);
    }

    /// The kind of the next token.
    #[inline]
    fn kind(&self) -> TokenKind {
        self.tokens.kind(self.at)
    }

    /// The index of the next token after `index` that is not trivia.
    #[inline]
    fn after(&self, index: u32) -> u32 {
        let mut next = index + 1;
        while self.tokens.kind(next).is_trivia() {
            next += 1;
        }
        next
    }

    /// The kind of the token after the next one.
    fn second(&self) -> TokenKind {
        self.tokens.kind(self.after(self.at))
    }

    /// Consumes the next token and records a doc comment after it.
    #[inline]
    fn bump(&mut self) {
        self.last = self.at;
        self.skip_trivia(self.at + 1);
    }

    #[inline]
    fn skip_trivia(&mut self, from: u32) {
        let mut next = from;
        let mut doc = None;
        loop {
            let kind = self.tokens.kind(next);
            if !kind.is_trivia() {
                break;
            }
            if kind == TokenKind::DocComment {
                doc = Some(next);
            }
            next += 1;
        }
        self.at = next;
        if let Some(doc) = doc {
            self.docs.push((next, doc));
        }
    }

    /// Consumes the next token if it is of `kind`.
    #[inline]
    fn eat(&mut self, kind: TokenKind) -> bool {
        let found = self.kind() == kind;
        if found {
            self.bump();
        }
        found
    }

    /// Starts a node at the next token. [`Self::close`] ends it.
    #[inline]
    fn open(&mut self, kind: NodeKind) -> u32 {
        let id = offset(self.nodes.len());
        self.nodes.push(NodeData { kind, first: self.at, last: self.at, end: 0 });
        id
    }

    /// Ends a node after the last consumed token.
    #[inline]
    fn close(&mut self, id: u32) {
        let end = offset(self.nodes.len());
        let last = self.last;
        let node = self.node(id);
        node.last = last.max(node.first);
        node.end = end;
    }

    #[inline]
    fn node(&mut self, id: u32) -> &mut NodeData {
        // Ids come only from `open`, and nodes are never removed.
        &mut self.nodes[id as usize]
    }

    /// A node of one token.
    #[inline]
    fn leaf(&mut self, kind: NodeKind) {
        let end = offset(self.nodes.len() + 1);
        self.nodes.push(NodeData { kind, first: self.at, last: self.at, end });
        self.bump();
    }

    fn span(&self, token: u32) -> Span {
        self.tokens.span(token)
    }

    fn text(&self, token: u32) -> &'a str {
        self.source.slice(self.span(token))
    }

    /// Whether the next token seems to begin a declaration: `[` or `@` at the start of a line. This is
    /// a heuristic, used only for error recovery.
    fn at_declaration(&self) -> bool {
        use TokenKind::{At, AtAt, LBracket};
        matches!(self.kind(), LBracket | At | AtAt) && self.begins_line(self.at)
    }

    /// Whether a token is the first thing on its line, without anything before it.
    fn begins_line(&self, token: u32) -> bool {
        let start = self.span(token).start as usize;
        start == 0 || self.source.text().as_bytes()[start - 1] == b'\n'
    }

    fn extension(&mut self, kind: Extension, span: Span) {
        self.extensions.push(ExtensionUse { kind, span });
    }
}
