//! Errors of the lexer.

use super::engine::Facts;
use crate::codes;
use crate::diagnostic::{Diagnostic, Edit, Fix};
use crate::lexer::{LexicalError, LexicalErrorKind as Kind};
use crate::parser::Parser;
use crate::span::{Span, offset};
use crate::token::TokenKind;

/// Punctuation of other scripts, and gram's.
const WIDE: [(char, &str); 6] =
    [('、', ","), ('；', ","), ('【', "["), ('】', "]"), ('│', "|"), ('∷', "::")];

/// Letters of other scripts that look like those of ASCII, and these.
const ALIKE: (&str, &str) =
    ("АВЕКМНОРСТУХаеіјорсухѕԛԁһΑΒΕΖΗΙΚΜΝΟΡΤΥΧο", "ABEKMHOPCTYXaeijopcyxsqdhABEZHIKMNOPTYXo");

/// The ASCII text that is meant by a character of another script or width.
fn narrow(c: char) -> Option<String> {
    if let Some((_, plain)) = WIDE.iter().find(|(wide, _)| *wide == c) {
        return Some((*plain).to_owned());
    }
    // The full-width forms of ASCII, in the same order.
    let wide = ('\u{ff01}'..='\u{ff5e}').contains(&c);
    let plain = wide.then(|| char::from_u32(u32::from(c).saturating_sub(0xfee0)))??;
    Some(plain.to_string())
}

/// The letter of ASCII that looks like one of another script.
fn alike(c: char) -> Option<String> {
    let at = ALIKE.0.chars().position(|other| other == c)?;
    ALIKE.1.get(at..=at).map(str::to_owned)
}

impl Parser<'_> {
    /// Adds an error about spans and texts, which have no tokens yet.
    fn add_lexical(
        &mut self,
        place: &str,
        spans: &[(&'static str, Span)],
        texts: &[(&'static str, &str)],
    ) {
        let error = self.mistake_with(place, None, Facts { spans, texts });
        self.diagnostics.extend(error);
    }

    /// Reports the errors of the lexer. If an unclosed string starts at the closing quote of another
    /// one, only the first is reported.
    pub(in crate::parser) fn lexical_errors(&mut self, errors: &[LexicalError]) {
        let mut rest = errors.iter().take(self.limits.max_diagnostics + 1).peekable();
        while let Some(error) = rest.next() {
            let second = rest.next_if(|next| self.ends_over_lines(error, next));
            let mut escapes = vec![error.span];
            while let Some(next) = rest.next_if(|next| self.on_one_line(error, next)) {
                escapes.push(next.span);
            }
            if error.kind == Kind::Escape {
                self.unknown_escapes(&escapes);
            } else if second.is_some() {
                let start = Span::new(error.span.start, error.span.start + 1);
                self.add_lexical("string-over-lines", &[("start", start)], &[]);
            } else {
                self.lexical_error(*error);
            }
        }
    }

    /// Whether two unknown escapes are on one line, and so likely one mistake.
    fn on_one_line(&self, first: &LexicalError, second: &LexicalError) -> bool {
        let between = self.source.slice(Span::new(first.span.start, second.span.start));
        first.kind == Kind::Escape && second.kind == Kind::Escape && !between.contains('\n')
    }

    /// Escapes that gram does not have. A quote that needs no escape loses its backslash; elsewhere
    /// the backslash is meant.
    fn unknown_escapes(&mut self, spans: &[Span]) {
        let first = spans.first().copied().unwrap_or_default();
        let shown = self.source.slice(first).escape_debug().to_string();
        let shown = shown.replace("\\\\", "\\").replace("\\'", "'").replace("\\\"", "\"");
        let quote = |span: &Span| self.source.slice(*span).ends_with(['\'', '"', '`']);
        let edits = spans.iter().map(|span| {
            let backslash = Span::new(span.start, span.start + 1);
            Edit::new(backslash, if quote(span) { "" } else { "\\\\" })
        });
        let edits = edits.collect();
        let (name, message) = if spans.iter().all(quote) {
            ("quote", "remove the backslash")
        } else {
            ("first", "make it a backslash")
        };
        let facts =
            Facts { spans: &[("first", first), (name, first)], texts: &[("shown", &shown)] };
        let Some(mut error) = self.mistake_with("unknown-escape", None, facts) else { return };
        for span in spans.iter().skip(1) {
            error = error.label(*span, "");
        }
        self.diagnostics.push(error.fix(Fix::edits(message, edits)));
    }

    /// Whether the closing quote of a string was taken for the start of the next string.
    fn ends_over_lines(&self, first: &LexicalError, second: &LexicalError) -> bool {
        let text = self.source.text();
        let quote = |error: &LexicalError| text.as_bytes().get(error.span.start as usize).copied();
        let between = text.get(first.span.end as usize..second.span.start as usize);
        first.kind == Kind::UnclosedString
            && second.kind == Kind::UnclosedString
            && quote(first) == quote(second)
            && between.is_some_and(|between| !between.contains("\n["))
    }

    /// Removes follow-up errors on the line of an unclosed string, where opening and closing quotes
    /// are swapped.
    pub(in crate::parser) fn drop_shadows(&mut self) {
        let source = self.source;
        let line = |found: &Diagnostic| source.lines().line_of(found.span().start);
        let strings = self.diagnostics.iter().filter(|found| *found.code == codes::UNCLOSED_STRING);
        let strings: Vec<u32> = strings.map(line).collect();
        if strings.is_empty() {
            return;
        }
        let mut kept = Vec::new();
        self.diagnostics.retain(|found| {
            let line = line(found);
            if strings.binary_search(&line).is_err() {
                return true;
            }
            let bracket = *found.code == codes::UNCLOSED_BRACKET;
            let first = !bracket && kept.last() != Some(&line);
            if first {
                kept.push(line);
            }
            first
        });
    }

    /// Replaces the errors of a declaration by one about its full-width punctuation, which they
    /// follow from.
    pub(in crate::parser) fn wide_punctuation(&mut self) {
        if self.diagnostics.is_empty() || !self.tokens.may_have(&[TokenKind::Unknown]) {
            return;
        }
        let mut found: Vec<(Span, String)> = Vec::new();
        for index in 0..offset(self.tokens.len()) {
            if self.tokens.kind(index) != TokenKind::Unknown {
                continue;
            }
            let start = self.span(index).start as usize;
            let chars = self.text(index).char_indices();
            let mixed = self.is_in_word_of_ascii(index);
            found.extend(chars.filter_map(|(at, c)| {
                let at = start + at;
                let plain = narrow(c).or_else(|| alike(c).filter(|_| mixed))?;
                Some((Span::new(offset(at), offset(at + c.len_utf8())), plain))
            }));
        }
        for _ in 0..self.limits.max_diagnostics {
            let Some((first, plain)) = found.first().cloned() else { break };
            let region = self.declaration_around(first.start);
            let end = found.partition_point(|(span, _)| span.start < region.end);
            let edits = found.drain(..end.max(1));
            let edits = edits.map(|(span, text)| Edit::new(span, text)).collect();
            let letter = plain.chars().all(|c| c.is_ascii_alphanumeric());
            let kind = if letter { "characters" } else { "punctuation" };
            let facts =
                Facts { spans: &[("first", first)], texts: &[("plain", &plain), ("kind", kind)] };
            self.diagnostics.retain(|other| {
                let at = other.span().start;
                at < region.start || region.end <= at
            });
            let error = self.mistake_with("wide-character", None, facts);
            let fix = Fix::edits(format!("write the {kind} of ASCII"), edits);
            self.diagnostics.extend(error.map(|error| error.fix(fix)));
        }
    }

    /// Whether a token of other characters touches a word of letters of ASCII.
    fn is_in_word_of_ascii(&self, index: u32) -> bool {
        let span = self.span(index);
        let text = self.source.text();
        text[..span.start as usize].ends_with(|c: char| c.is_ascii_alphabetic())
            || text[span.end as usize..].starts_with(|c: char| c.is_ascii_alphabetic())
    }

    /// From the line that begins a declaration around an offset to the one that begins the next.
    fn declaration_around(&self, at: u32) -> Span {
        let text = self.source.text();
        let begins = |line: usize| text[line..].starts_with(['[', '@', '［']);
        let lines =
            std::iter::once(0).chain(memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at + 1));
        let (mut start, mut end) = (0, text.len());
        for line in lines.filter(|line| begins(*line)) {
            if line <= at as usize {
                start = line;
            } else {
                end = line;
                break;
            }
        }
        // What is reported at the end of the text is after it.
        let end = if end == text.len() { end + 1 } else { end };
        Span::new(offset(start), offset(end))
    }

    /// Where an unclosed string probably ends, if it is the last value of a record: before the brace,
    /// which rarely belongs to a text, on its line or on the next one.
    fn end_of_value(&self, span: Span) -> Option<u32> {
        let (before, rest) = self.source.text().split_at_checked(span.start as usize)?;
        let is_value = before.trim_end().ends_with(':') && !rest.starts_with('`');
        let (line, below) = rest.split_once('\n').unwrap_or((rest, ""));
        let end = match line.find('}') {
            Some(brace) => brace,
            None if below.trim_start().starts_with('}') && !line.contains([']', ')']) => line.len(),
            None => return None,
        };
        is_value.then(|| span.start + offset(line[..end].trim_end().len()))
    }

    fn lexical_error(&mut self, error: LexicalError) {
        let LexicalError { kind, span } = error;
        let source = self.source;
        let text = source.slice(span);
        match kind {
            Kind::UnclosedString => {
                let quote = text.get(..1).unwrap_or("\"");
                if self.unopened_string(span.start, quote) {
                    return;
                }
                let start = Span::new(span.start, span.start + 1);
                let stop = self.end_of_value(span).map(|end| ("stop", Span::empty(end)));
                let spans: Vec<_> = [("start", start)].into_iter().chain(stop).collect();
                self.add_lexical("unclosed-string", &spans, &[("quote", quote)]);
            }
            Kind::UnclosedFence => self.add_lexical("unclosed-fence", &[("text", span)], &[]),
            Kind::UnclosedComment => self.unclosed_comment(span),
            Kind::BlockComment => {
                let inner = text.trim_start_matches("/*").trim_end_matches("*/").trim();
                self.add_lexical("block-comment", &[("text", span)], &[("inner", inner)]);
            }
            Kind::FenceLine => {
                let line = text.lines().next().unwrap_or_default();
                let line = Span::new(span.start, span.start + offset(line.len()));
                self.add_lexical("fence-line", &[("line", line)], &[]);
            }
            Kind::Escape => self.unknown_escapes(&[span]),
        }
    }

    /// A comment without its end, which is likely on the line before the next declaration.
    fn unclosed_comment(&mut self, span: Span) {
        let rest = &self.source.text()[span.start as usize..];
        let end = rest.find("\n[").or_else(|| rest.find("\n@"));
        let stop = end.and_then(|end| {
            let comment = rest[..end].trim_end();
            let slip = ["* /", "**", "/", "*"].into_iter().find(|slip| comment.ends_with(slip));
            let inner = comment.strip_suffix(slip.unwrap_or_default())?.trim_end();
            let place = Span::new(span.start + offset(inner.len()), span.start + offset(end));
            (inner.len() >= 3).then_some(("stop", place))
        });
        let spans: Vec<_> = [("text", span)].into_iter().chain(stop).collect();
        self.add_lexical("unclosed-comment", &spans, &[]);
    }

    /// Reports a string whose closing quote was taken for its opening one: `Adds two numbers"`.
    fn unopened_string(&mut self, quote_start: u32, quote: &str) -> bool {
        let before = &self.source.text()[..quote_start as usize];
        let line = before.rfind('\n').map_or(0, |at| at + 1);
        let Some(colon) = before[line..].rfind(": ").map(|at| line + at + 2) else { return false };
        let text = before[colon..].trim_start();
        let words = text.starts_with(char::is_alphanumeric)
            && text.ends_with(|c: char| c.is_alphanumeric() || ".!?)".contains(c))
            && !text.contains(['{', '}', '[', ']', '|', '"', '\'', '`']);
        if words {
            let whole = Span::new(quote_start - offset(text.len()), quote_start + 1);
            let shown = if text.len() < 60 { text } else { "…" };
            let texts = [("quote", quote), ("shown", shown)];
            self.add_lexical("unopened-string", &[("whole", whole)], &texts);
        }
        words
    }

    /// Removes errors about escapes inside of a text that another error is about.
    pub(in crate::parser) fn drop_escapes(&mut self) {
        let is_escape = |found: &Diagnostic| *found.code == codes::ESCAPE;
        if !self.diagnostics.iter().any(is_escape) {
            return;
        }
        let values = self.diagnostics.iter().filter(|found| *found.code == codes::MISSING_VALUE);
        let values: Vec<Span> = values.map(Diagnostic::span).collect();
        self.diagnostics.retain(|found| {
            let span = found.span();
            !is_escape(found)
                || !values.iter().any(|value| value.start < span.start && span.end < value.end)
        });
    }

    /// A `\u` escape that is half of a surrogate pair.
    pub(in crate::parser) fn half_surrogate(&mut self, span: Span) {
        self.add_lexical("half-surrogate", &[("text", span)], &[]);
    }

    /// NUL characters, which the reference grammar accepts nowhere.
    pub(in crate::parser) fn nul_characters(&mut self) {
        if let Some(at) = memchr::memchr(0, self.source.text().as_bytes()) {
            let span = Span::new(offset(at), offset(at + 1));
            self.add_lexical("nul-character", &[("text", span)], &[]);
        }
    }
}
