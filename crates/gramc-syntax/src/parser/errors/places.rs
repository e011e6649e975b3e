//! Unexpected tokens and their likely causes.

use super::closer_text;
use crate::codes;
use crate::diagnostic::Applicability::{NeedsLook, Safe};
use crate::diagnostic::{Diagnostic, Fix};
use crate::parser::Parser;
use crate::parser::group::{Group, Items, is_arrow, is_closer};
use crate::span::{Span, offset};
use crate::token::TokenKind as T;

/// The context of an unexpected token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::parser) enum Place {
    /// Between declarations.
    Top,
    /// In a node or in the head of a pattern.
    Subject,
    /// Among the elements of a pattern.
    Elements,
    /// Among the entries of a record or map, or the values of an array.
    Values,
}

impl From<Items> for Place {
    fn from(items: Items) -> Self {
        match items {
            Items::One | Items::Annotation => Self::Subject,
            Items::Elements => Self::Elements,
            Items::Entries | Items::Values | Items::Types | Items::Fields => Self::Values,
        }
    }
}

impl Parser<'_> {
    /// Adds the likely cause of the unexpected token and a fix.
    pub(super) fn add_cause(&self, error: Diagnostic, place: Place) -> Diagnostic {
        let (text, here) = (self.text(self.at), self.here());
        if let Some(name) = self.adjacent_name() {
            return error.help(format!(
                "quote names that contain characters other than A–Z, a–z, 0–9, `_`, `.`, `-` and `@` with backticks: `{name}`"
            ));
        }
        if self.kind() == T::Unknown && super::is_zero_width(text) {
            return error.help("remove it").fix(Fix::replace(Safe, "remove it", here, ""));
        }
        if self.kind() == T::Unknown && super::invisible(text).is_some() {
            let message = "write a plain space";
            return error.help(message).fix(Fix::replace(Safe, message, here, " "));
        }
        let place = match place {
            Place::Top => "cause-top",
            Place::Subject => "cause-subject",
            Place::Elements => "cause-elements",
            Place::Values => "cause-values",
        };
        self.explain(place, None, error)
    }

    pub(in crate::parser) fn unexpected_in_group(&mut self, group: Group, items: Items) {
        if self.is_full() {
            return;
        }
        if items == Items::Entries && self.bare_url() {
            return;
        }
        let known = self.known_cause(group, items).or_else(|| self.known_value(group, items));
        if let Some(error) = known {
            return self.report_in(group, error);
        }
        let closer = closer_text(group.closer);
        let wanted = match items {
            Items::One | Items::Annotation => format!("`{closer}`"),
            _ => format!("`,` or `{closer}`"),
        };
        let message = format!("expected {wanted}, found {}", self.found());
        let mut error = self.error(&codes::UNEXPECTED_TOKEN, self.here(), message);
        if self.source.position(self.span(group.opener).start).line
            == self.source.position(self.here().start).line
        {
            error = error.label(self.span(group.opener), "inside this bracket");
        }
        let error = error.help(format!("remove it, or write {wanted} before it"));
        let error = self.add_cause(error, items.into());
        self.report_in(group, error);
    }

    /// The word that the next token is part of, where it touches another token of the word.
    pub(super) fn adjacent_name(&self) -> Option<&str> {
        let text = self.source.text();
        let at = self.span(self.at);
        if self.kind() != T::Unknown
            || !text[at.range()].chars().all(|c| c.is_alphanumeric() || c == '$')
        {
            return None;
        }
        let part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '-' | '.');
        let before = text[..at.start as usize].trim_end_matches(part).len();
        let behind = text[at.end as usize..].trim_start_matches(part).len();
        text.get(before..text.len() - behind)
    }

    /// An unexpected token at the top level. `true` if it begins text of another language.
    pub(in crate::parser) fn stray_error(&mut self) -> bool {
        if self.is_full() {
            return false;
        }
        let found = self.found();
        let here = self.here();
        if is_closer(self.kind()) {
            let known =
                |found: &Diagnostic| found.help.as_deref() == Some("remove it and its braces");
            if self.diagnostics.len() > self.before || self.diagnostics.iter().any(known) {
                // A consequence of an earlier error in this declaration.
                return false;
            }
            let message = format!("unmatched {found}");
            let error = self
                .error(&codes::UNCLOSED_BRACKET, here, message)
                .help("remove it, or add the opening bracket")
                .fix(Fix::replace(NeedsLook, "remove it", here, ""));
            self.report(error);
            return false;
        }
        if matches!(self.kind(), T::Fenced | T::FencedTagged) {
            self.markdown_fence();
            return false;
        }
        let known = self.after_comment();
        if let Some(error) = known.or_else(|| self.foreign_text()) {
            // One error about all marks of a list.
            let known = |found: &Diagnostic| {
                found.code == error.code
                    && found.message == error.message
                    && matches!(
                        found.help.as_deref(),
                        Some("remove the `-`" | "remove the lines of `~~~`")
                    )
            };
            if !self.diagnostics.iter().any(known) {
                self.report(error);
            }
            return true;
        }
        let message = format!("expected a declaration, found {found}");
        let error = self.error(&codes::UNEXPECTED_TOKEN, here, message);
        if self.kind() == T::Comma {
            let error = error
                .help("write declarations one after the other, without commas")
                .fix(Fix::replace(Safe, "remove the comma", here, ""));
            self.report(error);
            return false;
        }
        let help = match self.kind() {
            kind if is_arrow(kind) => "write an arrow between two nodes: (a::Text)==>(::Text)",
            T::Symbol => "write a declaration in brackets: [name:Tool | …]",
            _ => "start a declaration with `[`, `(` or `@`",
        };
        let error = self.add_cause(error.help(help), Place::Top);
        self.report(error);
        false
    }

    /// The error about the rest of a comment that ended before its author meant it to.
    fn after_comment(&self) -> Option<Diagnostic> {
        let here = self.here();
        let before = self.source.text()[..here.start as usize].trim_end_matches([' ', '\t']);
        let line = self.line_from(here.start);
        if !before.ends_with("*/") || !line.contains("*/") {
            return None;
        }
        let end = Span::new(offset(before.len() - 2), offset(before.len()));
        Some(
            self.error(&codes::COMMENT, end, "the comment ends here, at its first `*/`")
                .help("write the text of the comment without `*/`, such as `* /`"),
        )
    }

    fn markdown_fence(&mut self) {
        let span = self.here();
        let text = self.text(self.at);
        let first = text.find('\n').map_or(text.len(), |at| at + 1);
        let first = Span::new(span.start, span.start + offset(first));
        let last = Span::new(span.end - 3, span.end);
        let mut fix = Fix::replace(NeedsLook, "remove the fence", first, "");
        fix.edits.push(crate::diagnostic::Edit { span: last, text: String::new() });
        let error = self
            .error(
                &codes::UNEXPECTED_TOKEN,
                Span::new(span.start, span.start + 3),
                "the text is in a fenced code block, as in Markdown",
            )
            .help("remove the lines of three backticks")
            .fix(fix);
        self.report(error);
    }
}
