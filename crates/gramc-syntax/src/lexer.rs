//! Splits text into tokens. Every byte is part of exactly one token.

mod productions;
mod strings;
#[cfg(test)]
#[allow(clippy::panic)]
mod tests;

use std::collections::HashMap;

use memchr::memmem;

use crate::span::{Span, offset};
use crate::token::{TokenKind, Tokens};
use productions as p;
pub(crate) use productions::is_space;
use strings::FenceFailure;

/// How a string that begins with `//` is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Slashes {
    /// As text: the extension E4.
    Text,
    /// As the reference grammar reads it: as a comment, when the line contains the closing quote.
    Comment,
}

/// An error of the lexer, which the parser reports as a diagnostic.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LexicalError {
    pub(crate) kind: LexicalErrorKind,
    pub(crate) span: Span,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LexicalErrorKind {
    UnclosedString,
    UnclosedFence,
    UnclosedComment,
    BlockComment,
    FenceLine,
    Escape,
}

/// The result of the lexer.
#[derive(Debug)]
pub(crate) struct Lexed {
    pub(crate) tokens: Tokens,
    pub(crate) errors: Vec<LexicalError>,
    /// Strings that begin with `//` and were read as text.
    pub(crate) slash_strings: Vec<Span>,
    /// `\u` escapes.
    pub(crate) unicode_escapes: Vec<Span>,
    /// Whether a string of `slash_strings` might be what the reference grammar reads as a
    /// comment, an empty text and a closing quote on a later line.
    pub(crate) ambiguous: bool,
}

/// Splits a text into tokens. Linear in its length.
pub(crate) fn lex(text: &str, slashes: Slashes) -> Lexed {
    let mut lexer = Lexer::new(text, slashes, 0);
    while lexer.at < lexer.bytes.len() {
        lexer.token();
    }
    lexer.out.tokens.push(TokenKind::End, offset(text.len()));
    lexer.out.tokens.shrink();
    lexer.out
}

/// Splits a part of a text into tokens. Spans refer to the whole text.
pub(crate) fn lex_part(text: &str, part: Span) -> Lexed {
    let text = text.get(..part.end as usize).unwrap_or_default();
    let mut lexer = Lexer::new(text, Slashes::Text, part.start as usize);
    lexer.in_type = true;
    while lexer.at < lexer.bytes.len() {
        lexer.token();
    }
    lexer.out.tokens.push(TokenKind::End, part.end);
    lexer.out
}

struct Lexer<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Whether the text is a type expression, which has no arrows.
    in_type: bool,
    slashes: Slashes,
    comment_end: Next,
    fence: Next,
    line_break: Next,
    /// Cache: the first byte after the trivia at an offset.
    past_trivia: HashMap<usize, Option<u8>>,
    /// Cache: failed fences by the end of the first comment in their first line and whether a tag
    /// precedes it. Fences inside that comment share its end.
    failed_fences: HashMap<(usize, bool), FenceFailure>,
    out: Lexed,
}

impl<'a> Lexer<'a> {
    fn new(text: &'a str, slashes: Slashes, at: usize) -> Self {
        let mut lexer = Self {
            bytes: text.as_bytes(),
            at,
            in_type: false,
            slashes,
            comment_end: Next::default(),
            fence: Next::default(),
            line_break: Next::default(),
            past_trivia: HashMap::new(),
            failed_fences: HashMap::new(),
            out: Lexed {
                // Measured on tool files: 4.3 bytes of text per token.
                tokens: Tokens::with_capacity(text.len().saturating_sub(at) / 4 + 16),
                errors: Vec::new(),
                slash_strings: Vec::new(),
                unicode_escapes: Vec::new(),
                ambiguous: false,
            },
        };
        if at == 0 && text.starts_with('\u{feff}') {
            lexer.out.tokens.push(TokenKind::Whitespace, 0);
            lexer.at = '\u{feff}'.len_utf8();
        }
        lexer
    }

    fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    fn byte(&self, at: usize) -> u8 {
        self.bytes.get(at).copied().unwrap_or_default()
    }

    /// Ends a token of `kind` where `rest` begins.
    #[inline]
    fn finish(&mut self, kind: TokenKind, rest: &[u8]) {
        self.push_to(kind, self.bytes.len() - rest.len());
    }

    #[inline]
    fn push_to(&mut self, kind: TokenKind, end: usize) {
        self.out.tokens.push(kind, offset(self.at));
        self.at = end;
    }

    fn error(&mut self, kind: LexicalErrorKind, start: usize, end: usize) {
        let span = Span::new(offset(start), offset(end));
        self.out.errors.push(LexicalError { kind, span });
    }

    #[inline]
    fn token(&mut self) {
        let byte = self.byte(self.at);
        // The most frequent tokens.
        if p::is_space(byte) {
            return self.run(TokenKind::Whitespace, p::is_space);
        }
        if p::is_symbol_start(byte) {
            return self.run(TokenKind::Symbol, p::is_symbol_part);
        }
        if let Some(kind) = p::alone(byte) {
            return self.push_to(kind, self.at + 1);
        }
        let rest = self.rest();
        let lexed = match byte {
            quote @ (b'"' | b'\'') => return self.lex_quoted(quote),
            b'`' if rest.starts_with(b"```") => return self.lex_fenced(),
            b'`' => return self.lex_quoted(b'`'),
            b'0'..=b'9' => p::number(rest),
            b'-' if self.byte(self.at + 1).is_ascii_digit() => p::number(rest),
            b'/' => return self.slash(),
            b'<' if self.in_type => return self.push_to(TokenKind::Less, self.at + 1),
            _ => p::punctuation(rest),
        };
        match lexed {
            Ok((rest, kind)) => self.finish(kind, rest),
            Err(_) => self.unknown(),
        }
    }

    /// A token of bytes of one class:
    /// `whitespace = ( " " | "\t" | "\n" | "\v" | "\f" | "\r" )+` and
    /// `symbol = [a-zA-Z_] [0-9a-zA-Z_.\-@]*`.
    #[inline]
    fn run(&mut self, kind: TokenKind, of_class: impl Fn(u8) -> bool) {
        let mut end = self.at + 1;
        while self.bytes.get(end).is_some_and(|byte| of_class(*byte)) {
            end += 1;
        }
        self.push_to(kind, end);
    }

    /// `comment | doc_comment`, or a slash that is neither.
    fn slash(&mut self) {
        if !self.trivia() {
            if self.byte(self.at + 1) == b'*' {
                self.unfinished_comment();
            } else {
                self.push_to(TokenKind::Unknown, self.at + 1);
            }
        }
    }

    /// One token of trivia, if there is one here.
    fn trivia(&mut self) -> bool {
        match self.rest() {
            [b'/', b'/', ..] => {
                let end = self.line_end(self.at);
                self.push_to(TokenKind::Comment, end);
            }
            [b'/', b'*', b'*', ..] => {
                let Some(end) = self.comment_end(self.at + 3) else { return false };
                self.push_to(TokenKind::DocComment, end + 2);
            }
            [b, ..] if p::is_space(*b) => self.run(TokenKind::Whitespace, p::is_space),
            _ => return false,
        }
        true
    }

    /// `/* …` that is not a doc comment: an unclosed one, or a block comment.
    fn unfinished_comment(&mut self) {
        let start = self.at;
        if let (false, Some(end)) = (self.byte(start + 2) == b'*', self.comment_end(start + 2)) {
            self.error(LexicalErrorKind::BlockComment, start, end + 2);
            self.push_to(TokenKind::Unclosed, end + 2);
        } else {
            self.error(LexicalErrorKind::UnclosedComment, start, start + 2);
            let end = self.line_end(start);
            self.push_to(TokenKind::Unclosed, end);
        }
    }

    /// A sequence of characters that begin no token.
    fn unknown(&mut self) {
        let first = self.byte(self.at);
        let mut end = self.at + 1;
        if !first.is_ascii() {
            while end < self.bytes.len() && !self.byte(end).is_ascii() {
                end += 1;
            }
        }
        self.push_to(TokenKind::Unknown, end);
    }

    /// The next `*/` at or after `from`.
    fn comment_end(&mut self, from: usize) -> Option<usize> {
        self.comment_end.find(self.bytes, b"*/", from)
    }

    /// The next line break at or after `from`, or the end of the text.
    fn line_end(&mut self, from: usize) -> usize {
        self.line_break.find(self.bytes, b"\n", from).unwrap_or(self.bytes.len())
    }
}

/// A cached search for the next occurrence of a needle, so that all searches together take one pass
/// over the text.
#[derive(Debug, Default)]
struct Next {
    /// The start and the result of the last search.
    known: Option<(usize, Option<usize>)>,
}

impl Next {
    fn find(&mut self, bytes: &[u8], needle: &[u8], from: usize) -> Option<usize> {
        if let Some((searched, found)) = self.known
            && searched <= from
            && found.is_none_or(|found| found >= from)
        {
            return found;
        }
        let rest = bytes.get(from..).unwrap_or_default();
        let found = memmem::find(rest, needle).map(|at| from + at);
        self.known = Some((from, found));
        found
    }
}
