//! Text of other languages: JSON files, and code between declarations.

use super::engine::Facts;
use crate::diagnostic::{Diagnostic, Edit, Fix};
use crate::parser::Parser;
use crate::span::{Span, offset};
use crate::token::TokenKind as T;

impl Parser<'_> {
    /// The error about text of another language at the top level, if it is recognized.
    pub(super) fn foreign_text(&mut self) -> Option<Diagnostic> {
        let start = self.here().start;
        if self.kind() == T::Symbol {
            let before = self.source.text()[..start as usize].trim_end_matches([' ', '\t']);
            if !before.is_empty() && !before.ends_with('\n') && !self.begins_line(self.at) {
                return None;
            }
            let word = self.text(self.at);
            if matches!(word, "package" | "module" | "namespace") && self.second() == T::Symbol {
                return self.block();
            }
            return self.mistake("top-word", None);
        }
        if self.kind() == T::Dash && self.second() == T::LBracket && self.begins_line(self.at) {
            return self.list_marks("- [");
        }
        self.mistake("top", None)
    }

    /// The name of the text of the table about what the line declares in another language.
    pub(super) fn what_the_line_declares(&self) -> &'static str {
        let line = self.line_from(self.here().start);
        let mut words = line.split(|c: char| !c.is_alphanumeric()).take(4);
        let kind = words.find_map(|word| match word {
            "struct" | "interface" | "class" | "message" => Some("RECORD"),
            "enum" => Some("ENUM"),
            "type" => Some("ALIAS"),
            "fn" | "function" | "rpc" => Some("TOOL"),
            _ => None,
        });
        let record = line.contains("object({") || line.contains("Object({");
        kind.unwrap_or(if record { "RECORD" } else { "TOOL" })
    }

    /// Whether the whole text is JSON, or nearly: it begins as JSON does, and has nothing that only
    /// gram has.
    pub(in crate::parser) fn is_json(&self) -> bool {
        let mut first = 0;
        while self.tokens.kind(first).is_trivia() {
            first += 1;
        }
        let second = self.after(first);
        let begins = match self.tokens.kind(first) {
            T::LBrace => {
                self.tokens.kind(second) == T::DoubleQuoted
                    && self.tokens.kind(self.after(second)) == T::Colon
            }
            T::LBracket => match self.tokens.kind(second) {
                T::LBrace => true,
                kind => {
                    (kind == T::DoubleQuoted || kind.is_number())
                        && matches!(self.tokens.kind(self.after(second)), T::Comma | T::RBracket)
                }
            },
            _ => false,
        };
        let only_gram = [
            T::LParen,
            T::RParen,
            T::Pipe,
            T::ColonColon,
            T::At,
            T::AtAt,
            T::Backticked,
            T::Fenced,
            T::FencedTagged,
            T::DotDot,
            T::Equals,
            T::EqualsGreater,
        ];
        begins && !self.tokens.may_have(&only_gram)
    }

    /// `package hotel` or `module hotel {`
    fn block(&mut self) -> Option<Diagnostic> {
        let line = self.line_from(self.here().start).trim_end();
        let start = self.here().start;
        let text = self.source.text().trim_end();
        let opens = line.ends_with('{');
        let end = offset(text.len());
        let closer = opens && text.ends_with('}');
        let mut spans = vec![("line", Span::new(start, start + offset(line.len())))];
        spans.extend(closer.then(|| ("closer", Span::new(end - 1, end))));
        let texts: &[_] = if opens { &[("braces", "")] } else { &[] };
        self.mistake_with("block", None, Facts { spans: &spans, texts })
    }

    /// The error about a mark before each declaration.
    fn list_marks(&mut self, mark: &str) -> Option<Diagnostic> {
        let error = self.mistake("list-mark", None)?;
        // One error is about all of them, and the whole text is looked through for it once.
        if self.diagnostics.iter().any(|found| found.help == error.help) {
            return Some(error);
        }
        let text = self.source.text();
        let lines = memchr::memmem::find_iter(text.as_bytes(), mark.as_bytes());
        let begins = |at: &usize| *at == 0 || text.as_bytes()[at - 1] == b'\n';
        let edits = lines.filter(begins).map(|at| {
            let at = offset(at);
            Edit::remove(Span::new(at, at + offset(mark.len()) - 1))
        });
        Some(error.fix(Fix::edits("remove the marks", edits.collect())))
    }
}
