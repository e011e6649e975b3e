//! Strings: four kinds of quotes, and trivia inside them as in the reference grammar.
//!
//! The reference reads a string as three tokens: a delimiter, a text, a delimiter, with trivia
//! permitted before each. The text is greedy, so trivia before it can only be a comment. A comment
//! wins if it is longer than the text: `// …` if the closing delimiter is on the same line, and
//! `/** … */` if it ends after the closing delimiter. Trivia after the text begins with a line
//! break, which ends a text.
//!
//! A string without such trivia, the normal case, is one token.

use super::productions as p;
use super::{Lexer, LexicalErrorKind, Slashes};
use crate::span::{Span, offset};
use crate::token::TokenKind;

/// A comment of the reference grammar at the start of a string's text.
enum Opening {
    Text,
    /// `//`, and the line ends after the text would.
    Line,
    /// `/**`, and its end, which is after the end of the text.
    Doc,
}

/// The error of a fenced string with comments in its first line.
#[derive(Debug, Clone, Copy)]
pub(super) enum FenceFailure {
    /// The first line has something other than a tag.
    Line,
    /// The closing backticks are missing.
    Unclosed,
}

impl Lexer<'_> {
    /// `"…"`, `'…'` and `` `…` ``
    pub(super) fn lex_quoted(&mut self, quote: u8) {
        let start = self.at;
        let (errors, escapes) = (self.out.errors.len(), self.out.unicode_escapes.len());
        let stop = self.reference_text_end(quote, start + 1);
        // The text around a type expression decided already what is a comment.
        let opening = if self.in_type { Opening::Text } else { self.opening(start + 1, stop) };
        let end = self.quoted_text_end(quote, start + 1, stop);
        let closed = end < self.bytes.len() && self.byte(end) == quote;
        let whole = match opening {
            Opening::Text => true,
            Opening::Line => self.slashes == Slashes::Text,
            Opening::Doc => false,
        };
        if !(whole && closed) {
            self.out.errors.truncate(errors);
            self.out.unicode_escapes.truncate(escapes);
            return self.quoted_in_pieces(quote);
        }
        if matches!(opening, Opening::Line) {
            self.note_slashes(start, end, quote);
        }
        let kind = match quote {
            b'"' => TokenKind::DoubleQuoted,
            b'\'' => TokenKind::SingleQuoted,
            _ => TokenKind::Backticked,
        };
        self.push_to(kind, end + 1);
    }

    /// Where the text that starts at `from` ends for the reference: at its delimiter, at a line
    /// break, at an unknown escape or at the end of the file.
    fn reference_text_end(&self, quote: u8, from: usize) -> usize {
        let mut at = from;
        loop {
            at = self.delimiter_or_escape(quote, at);
            if self.byte(at) != b'\\' || !is_known_escape(quote, self.byte(at + 1)) {
                return at;
            }
            at += 2;
        }
    }

    /// Where the text that starts at `from` ends: at its delimiter, at a line break or at the
    /// end of the file. There are no unknown escapes before `stop`; those behind it are noted.
    fn quoted_text_end(&mut self, quote: u8, from: usize, stop: usize) -> usize {
        let mut at = stop.max(from);
        loop {
            at = self.delimiter_or_escape(quote, at);
            if self.byte(at) != b'\\' {
                return at;
            }
            at += self.escape(quote, at);
        }
    }

    /// The next delimiter, backslash or line break, or the end of the file.
    fn delimiter_or_escape(&self, quote: u8, from: usize) -> usize {
        let rest = self.bytes.get(from..).unwrap_or_default();
        memchr::memchr3(quote, b'\\', b'\n', rest).map_or(self.bytes.len(), |found| from + found)
    }

    /// `escape = "\" [bfnrt/\ or the delimiter]`, and E3's `"\u" hex hex hex hex`. Gives its
    /// length and notes an unknown one.
    fn escape(&mut self, quote: u8, at: usize) -> usize {
        let next = self.byte(at + 1);
        if is_known_escape(quote, next) {
            return 2;
        }
        let digits = self.bytes.get(at + 2..at + 6).unwrap_or_default();
        if next == b'u' && digits.len() == 4 && digits.iter().all(u8::is_ascii_hexdigit) {
            self.out.unicode_escapes.push(Span::new(offset(at), offset(at + 6)));
            return 6;
        }
        // A backslash before a line break ends the text there.
        let len = if next == b'\n' { 1 } else { 1 + utf8_len(next) };
        self.error(LexicalErrorKind::Escape, at, (at + len).min(self.bytes.len()));
        len
    }

    /// Whether a text from `start` to `end` begins with what the reference takes for a comment.
    fn opening(&mut self, start: usize, end: usize) -> Opening {
        let mut from = start;
        while from < end && p::is_blank(self.byte(from)) {
            from += 1;
        }
        self.comment_opening(from, end)
    }

    fn comment_opening(&mut self, from: usize, end: usize) -> Opening {
        let text = self.bytes.get(from..end).unwrap_or_default();
        if text.starts_with(b"//") {
            let closed = end < self.bytes.len() && self.byte(end) != b'\n';
            return if closed { Opening::Line } else { Opening::Text };
        }
        if text.starts_with(b"/**") {
            return match self.comment_end(from + 3) {
                Some(found) if found + 2 > end => Opening::Doc,
                _ => Opening::Text,
            };
        }
        Opening::Text
    }

    /// Records a string that E4 makes text, and whether the reference might make something
    /// else of it: that needs the same delimiter as the next thing behind the line.
    fn note_slashes(&mut self, start: usize, end: usize, quote: u8) {
        let span = Span::new(offset(start), offset(end + 1));
        self.out.slash_strings.push(span);
        if self.follows_line(end) == Some(quote) {
            self.out.ambiguous = true;
        }
    }

    /// The first byte past the line that contains `at` and past the trivia behind it.
    fn follows_line(&mut self, at: usize) -> Option<u8> {
        let mut look = self.line_end(at);
        let mut passed = Vec::new();
        let follows = loop {
            if let Some(known) = self.past_trivia.get(&look) {
                break *known;
            }
            passed.push(look);
            while p::is_space(self.byte(look)) {
                look += 1;
            }
            let end = match self.bytes.get(look..).unwrap_or_default() {
                [b'/', b'/', ..] => Some(self.line_end(look)),
                [b'/', b'*', b'*', ..] => self.comment_end(look + 3).map(|end| end + 2),
                _ => None,
            };
            match end {
                Some(end) => look = end,
                None => break self.bytes.get(look).copied(),
            }
        };
        self.past_trivia.extend(passed.into_iter().map(|at| (at, follows)));
        follows
    }

    /// A string that contains trivia, or one without its end.
    fn quoted_in_pieces(&mut self, quote: u8) {
        let start = self.at;
        let tokens = self.out.tokens.len();
        self.push_to(TokenKind::QuoteOpen, start + 1);
        let text_end = loop {
            let stop = self.reference_text_end(quote, self.at);
            match self.opening(self.at, stop) {
                Opening::Line if self.slashes == Slashes::Text => {
                    let end = self.quoted_text_end(quote, self.at, stop);
                    self.note_slashes(start, end, quote);
                    break end;
                }
                Opening::Text => break self.quoted_text_end(quote, self.at, stop),
                Opening::Line | Opening::Doc => {}
            }
            while p::is_blank(self.byte(self.at)) {
                self.trivia();
            }
            self.trivia();
        };
        self.push_to(TokenKind::QuoteText, text_end);
        while self.trivia() {}
        if self.at < self.bytes.len() && self.byte(self.at) == quote {
            self.push_to(TokenKind::QuoteClose, self.at + 1);
            return;
        }
        // No end: one token up to the end of the text's line.
        self.out.tokens.truncate(tokens);
        self.at = start;
        self.error(LexicalErrorKind::UnclosedString, start, text_end);
        self.push_to(TokenKind::Unclosed, text_end);
    }

    /// ```` fenced = "```" tag? "\n"+ text? "```" ````
    pub(super) fn lex_fenced(&mut self) {
        let start = self.at;
        let mut at = self.skip_blanks(start + 3);
        let tagged = p::is_symbol_start(self.byte(at));
        if tagged {
            while p::is_symbol_part(self.byte(at)) {
                at += 1;
            }
            at = self.skip_blanks(at);
        }
        if self.byte(at) == b'/' {
            return self.fenced_in_pieces();
        }
        if self.byte(at) != b'\n' {
            return self.broken_fence_line(start);
        }
        let Some(end) = self.fence_end(at) else { return self.unclosed_fence(start) };
        match self.fence_opening(at, end) {
            Opening::Text => {}
            Opening::Line if self.slashes == Slashes::Text => {
                self.note_slashes(start, end + 2, b'`');
                // The reference would look for three backticks anywhere behind the line.
                self.out.ambiguous = true;
            }
            _ => return self.fenced_in_pieces(),
        }
        let kind = if tagged { TokenKind::FencedTagged } else { TokenKind::Fenced };
        self.push_to(kind, end + 3);
    }

    fn skip_blanks(&self, mut at: usize) -> usize {
        while p::is_blank(self.byte(at)) {
            at += 1;
        }
        at
    }

    /// The next three backticks.
    fn fence_end(&mut self, from: usize) -> Option<usize> {
        self.fence.find(self.bytes, b"```", from)
    }

    /// What the text of a fenced string begins with, past its white space.
    fn fence_opening(&mut self, start: usize, end: usize) -> Opening {
        let mut from = start;
        while from < end && p::is_space(self.byte(from)) {
            from += 1;
        }
        if self.bytes.get(from..end).is_some_and(|text| text.starts_with(b"//"))
            && memchr::memchr(b'\n', &self.bytes[from..end]).is_some()
        {
            return Opening::Text;
        }
        self.comment_opening(from, end)
    }

    fn unclosed_fence(&mut self, start: usize) {
        self.out.tokens.truncate_from(start);
        self.at = start;
        self.error(LexicalErrorKind::UnclosedFence, start, start + 3);
        let end = self.line_end(start);
        self.push_to(TokenKind::Unclosed, end);
    }

    /// Text other than a tag follows the opening backticks.
    fn broken_fence_line(&mut self, start: usize) {
        self.out.tokens.truncate_from(start);
        self.at = start;
        let line_end = self.line_end(start);
        self.error(LexicalErrorKind::FenceLine, start, line_end);
        // Pass over the whole string where it is closed, so that its text is not read as gram.
        let end = self.fence_end(start + 3).map_or(line_end, |end| end + 3);
        self.push_to(TokenKind::Unclosed, end);
    }

    /// A fenced string with comments in its first line, or before its text.
    fn fenced_in_pieces(&mut self) {
        let start = self.at;
        self.push_to(TokenKind::FenceOpen, start + 3);
        let mut passed = None;
        let failure = self.fence_pieces(start, &mut passed);
        if let (Some(failure), Some(passed)) = (failure, passed) {
            self.failed_fences.insert(passed, failure);
        }
        match failure {
            Some(FenceFailure::Line) => self.broken_fence_line(start),
            Some(FenceFailure::Unclosed) => self.unclosed_fence(start),
            None => {}
        }
    }

    /// The tokens of a fenced string behind its opening backticks. Puts into `passed` where the
    /// first comment of its first line ends, and whether a tag is before it.
    fn fence_pieces(
        &mut self,
        start: usize,
        passed: &mut Option<(usize, bool)>,
    ) -> Option<FenceFailure> {
        if let Some(known) = self.fence_line_trivia(false, passed) {
            return Some(known);
        }
        if p::is_symbol_start(self.byte(self.at)) {
            self.run(TokenKind::Symbol, p::is_symbol_part);
            if let Some(known) = self.fence_line_trivia(true, passed) {
                return Some(known);
            }
        }
        if self.byte(self.at) != b'\n' {
            return Some(FenceFailure::Line);
        }
        let mut line_end = self.at;
        while self.byte(line_end) == b'\n' {
            line_end += 1;
        }
        self.push_to(TokenKind::FenceLine, line_end);
        loop {
            let Some(end) = self.fence_end(self.at) else { return Some(FenceFailure::Unclosed) };
            let text_at = self.at;
            match self.fence_opening(self.at, end) {
                Opening::Line if self.slashes == Slashes::Comment => {}
                Opening::Doc => {}
                opening => {
                    if matches!(opening, Opening::Line) {
                        self.note_slashes(start, end + 2, b'`');
                        self.out.ambiguous = true;
                    }
                    let blank = self.bytes[text_at..end].iter().all(|&b| p::is_space(b));
                    if text_at < end {
                        let kind = if blank { TokenKind::Whitespace } else { TokenKind::FenceText };
                        self.push_to(kind, end);
                    }
                    self.push_to(TokenKind::FenceClose, end + 3);
                    return None;
                }
            }
            while p::is_space(self.byte(self.at)) {
                self.trivia();
            }
            self.trivia();
        }
    }

    /// Trivia of a fenced string's first line, which stops at the line break. Gives the failure of
    /// an earlier fence that reached the end of the same comment.
    fn fence_line_trivia(
        &mut self,
        tagged: bool,
        passed: &mut Option<(usize, bool)>,
    ) -> Option<FenceFailure> {
        loop {
            if p::is_blank(self.byte(self.at)) {
                self.push_to(TokenKind::Whitespace, self.skip_blanks(self.at));
                continue;
            }
            if self.byte(self.at) != b'/' || !self.trivia() {
                return None;
            }
            if passed.is_none() {
                let key = (self.at, tagged);
                if let Some(known) = self.failed_fences.get(&key) {
                    return Some(*known);
                }
                *passed = Some(key);
            }
        }
    }
}

/// Whether the reference knows the escape of a backslash and `next`.
fn is_known_escape(quote: u8, next: u8) -> bool {
    next == quote || matches!(next, b'b' | b'f' | b'n' | b'r' | b't' | b'/' | b'\\')
}

/// The bytes of the UTF-8 character that `first` begins.
fn utf8_len(first: u8) -> usize {
    match first {
        0..0x80 => 1,
        0x80..0xe0 => 2,
        0xe0..0xf0 => 3,
        _ => 4,
    }
}
