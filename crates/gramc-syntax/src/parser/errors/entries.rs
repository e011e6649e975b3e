//! Keys and values that are written as in other languages.

use super::engine::Facts;
use crate::diagnostic::Diagnostic;
use crate::parser::Parser;
use crate::parser::group::Group;
use crate::span::{Span, offset};
use crate::token::TokenKind as T;

impl Parser<'_> {
    /// The mistake at an unexpected token after a value.
    pub(super) fn known_value(&mut self, group: Group, place: &str) -> Option<Diagnostic> {
        let typed = if place == "after-entry" {
            self.mistake("entry-value", Some(group)).or_else(|| self.foreign_range(self.last))
        } else {
            None
        };
        typed.or_else(|| self.mistake(place, Some(group))).or_else(|| {
            let text = matches!(self.tokens.kind(self.last), T::DoubleQuoted | T::SingleQuoted);
            let word = self.kind() == T::Symbol && self.touching();
            if text && word { self.inner_quotes() } else { None }
        })
    }

    /// A URL without quotes, whose slashes begin a comment.
    pub(super) fn bare_url(&mut self) -> bool {
        let comment = self.tokens.kind(self.at + 1) == T::Comment;
        if self.tokens.kind(self.last) != T::Symbol || self.kind() != T::Colon || !comment {
            return false;
        }
        let Some(error) = self.mistake("unquoted", None) else { return false };
        // The comment includes what closes the brackets.
        self.swallowed = Some(self.at);
        self.diagnostics.push(error);
        self.reported = Some(self.at);
        true
    }

    /// A text with quotes of its own kind inside.
    fn inner_quotes(&mut self) -> Option<Diagnostic> {
        let start = self.span(self.last).start;
        let line = self.line_from(start);
        let quote = line.chars().next()?;
        let end = line.find([',', '}', ']']).unwrap_or(line.len());
        let inner = line[..end].trim_end().strip_prefix(quote)?.strip_suffix(quote)?;
        let span = Span::new(start, start + offset(inner.len() + 2));
        self.cover(self.tokens.at(span.end) + 1);
        let quote = quote.to_string();
        let text = format!("{quote}{}{quote}", inner.replace(&quote, &format!("\\{quote}")));
        let texts = [("quote", &*quote), ("escaped", &*text)];
        self.mistake_with("inner-quotes", None, Facts { spans: &[("text", span)], texts: &texts })
    }

    /// The key of the value at a token.
    pub(super) fn key_before(&self, value: u32) -> &str {
        let colon = self.previous(value);
        if self.is_colon(colon) { self.text(self.previous(colon)) } else { "" }
    }
}
