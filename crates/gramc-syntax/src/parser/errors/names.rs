//! Names that need quotes, and names and labels in another order.

use super::engine::Facts;
use super::scan::is_plain_name;
use crate::diagnostic::Diagnostic;
use crate::parser::Parser;
use crate::parser::group::Group;
use crate::span::Span;
use crate::token::TokenKind as T;

impl Parser<'_> {
    /// The error about the name that a group begins with, if the next token is still part of it.
    pub(super) fn odd_name(&mut self, group: Group) -> Option<Diagnostic> {
        let first = self.after(group.opener);
        let end = self.next_of(first, &[T::Colon, T::ColonColon, T::Pipe, T::LBrace]);
        let end = end.or_else(|| self.closer_of(group.opener))?;
        let labelled = matches!(self.tokens.kind(end), T::Colon | T::ColonColon);
        if end <= self.at || first == end {
            return None;
        }
        let span = self.span_between(first, self.previous(end));
        let name = self.source.slice(span);
        if let Some(error) = self.zero_width_in(span) {
            self.cover(end);
            return Some(error);
        }
        if let Some(error) = self.mistake("odd-name", Some(group)) {
            return Some(error);
        }
        let strange = name.contains(['`', '"', '\'', '\n', '(', '=', ',', ';']) || name.len() > 60;
        let plain = !labelled && name.contains(char::is_whitespace);
        if strange || plain || (self.tokens.kind(first) == T::DotDotDot) || name.starts_with('*') {
            return None;
        }
        self.cover(end);
        self.mistake_with(
            "name-with-characters",
            None,
            Facts { spans: &[("name", span)], texts: &[] },
        )
    }

    /// The error about characters without any width in a name.
    fn zero_width_in(&mut self, span: Span) -> Option<Diagnostic> {
        let text = self.source.slice(span);
        let zero = |c: &char| super::is_zero_width(c.encode_utf8(&mut [0; 4]));
        let found = text.chars().find(zero)?;
        let character = super::invisible(found.encode_utf8(&mut [0; 4]))?;
        let plain: String = text.chars().filter(|c| !zero(c)).collect();
        let texts = [("character", &*character), ("plain", &*plain)];
        let facts = Facts { spans: &[("name", span)], texts: &texts };
        self.mistake_with("zero-width-in-name", None, facts)
    }

    /// A name in quotes: `"add"`, or with its label in them, `"add:Tool"`.
    pub(super) fn quoted_name_error(&mut self) -> Option<Diagnostic> {
        let text = self.text(self.at);
        let name = text.get(1..text.len() - 1).unwrap_or_default();
        let label = name.split_once(':').map(|(_, label)| label.trim_start_matches(':'));
        let is_label = |label: &str| !label.is_empty() && !label.contains(char::is_whitespace);
        let place = match label {
            Some(label) if is_label(label) => "quoted-head",
            _ if is_plain_name(name) => "quoted-plain-name",
            _ => "quoted-name",
        };
        self.mistake(place, None)
    }
}
