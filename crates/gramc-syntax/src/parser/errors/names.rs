//! Names that need quotes, and names and labels in another order.

use super::scan::{edit, is_plain_name, likely};
use crate::codes;
use crate::diagnostic::Applicability::NeedsLook;
use crate::diagnostic::{Diagnostic, Fix};
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
        let message = format!("`{name}` needs backticks to be a name");
        let quoted = format!("`{name}`");
        self.cover(end);
        Some(
            self.error(&codes::NAME, span, message)
                .help(format!("write {quoted}: a name with other characters than A–Z, a–z, 0–9, `_`, `.`, `-` and `@`, or with a digit first, is in backticks"))
                .fix(Fix::replace(NeedsLook, format!("write {quoted}"), span, quoted)),
        )
    }

    /// The error about characters without any width in a name.
    fn zero_width_in(&self, span: Span) -> Option<Diagnostic> {
        let text = self.source.slice(span);
        let zero = |c: &char| super::is_zero_width(c.encode_utf8(&mut [0; 4]));
        let found = text.chars().find(zero)?;
        let what = super::invisible(found.encode_utf8(&mut [0; 4]))?;
        let plain: String = text.chars().filter(|c| !zero(c)).collect();
        Some(
            self.error(&codes::NAME, span, format!("{what} is part of this name"))
                .help("remove it")
                .fix(Fix::replace(NeedsLook, "remove it", span, plain)),
        )
    }

    /// A name in quotes: `"add"`, or with its label in them, `"add:Tool"`.
    pub(super) fn quoted_name_error(&self) -> Diagnostic {
        let (span, text) = (self.here(), self.text(self.at));
        let name = text.get(1..text.len() - 1).unwrap_or_default();
        let error =
            self.error(&codes::NAME, span, format!("expected a name, found {}", self.found()));
        let label = name.split_once(':').map(|(_, label)| label.trim_start_matches(':'));
        if label.is_some_and(|label| !label.is_empty() && !label.contains(char::is_whitespace)) {
            let quotes = vec![
                edit(Span::new(span.start, span.start + 1), ""),
                edit(Span::new(span.end - 1, span.end), ""),
            ];
            return error
                .help("write names and labels without quotes")
                .fix(likely("remove the quotes", quotes));
        }
        if is_plain_name(name) {
            return error.help("write names without quotes").fix(Fix::replace(
                NeedsLook,
                "remove the quotes",
                span,
                name,
            ));
        }
        error.help(format!("quote a name with backticks: `{name}`")).fix(Fix::replace(
            NeedsLook,
            "use backticks",
            span,
            format!("`{name}`"),
        ))
    }
}
