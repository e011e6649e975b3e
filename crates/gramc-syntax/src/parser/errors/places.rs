//! Unexpected tokens and their likely causes.

use super::closer_text;
use super::engine::Facts;
use crate::diagnostic::Diagnostic;
use crate::parser::Parser;
use crate::parser::group::{Group, Items, is_closer};
use crate::span::{Span, offset};
use crate::token::TokenKind as T;

impl Parser<'_> {
    /// Adds the likely cause of the unexpected token and a fix.
    pub(super) fn add_cause(&self, error: Diagnostic, place: &str) -> Diagnostic {
        let (text, here) = (self.text(self.at), self.here());
        if let Some(name) = self.adjacent_name() {
            return error.help(format!(
                "quote names that contain characters other than A–Z, a–z, 0–9, `_`, `.`, `-` and `@` with backticks: `{name}`"
            ));
        }
        if self.kind() == T::Unknown && super::is_zero_width(text) {
            return error.help("remove it").replace_safely("remove it", here, "");
        }
        if self.kind() == T::Unknown && super::invisible(text).is_some() {
            let message = "write a plain space";
            return error.help(message).replace_safely(message, here, " ");
        }
        self.explain(place, error)
    }

    /// Reports the error of a place with the likely cause of the unexpected token.
    pub(super) fn report_with_cause(
        &mut self,
        place: &str,
        cause: &str,
        group: Option<Group>,
        facts: Facts<'_>,
    ) {
        let Some(error) = self.mistake_with(place, group, facts) else { return };
        let error = self.add_cause(error, cause);
        match group {
            Some(group) => self.report_in(group, error),
            None => self.report(error),
        }
    }

    pub(in crate::parser) fn unexpected_in_group(&mut self, group: Group, items: Items) {
        if items == Items::Entries && self.bare_url() {
            return;
        }
        let known = match items {
            Items::One if group.closer == T::RParen => self.mistake("node", Some(group)),
            Items::One => self.mistake("head", Some(group)),
            Items::Annotation => self.mistake("annotation", Some(group)),
            Items::Elements => self.mistake("elements", Some(group)),
            Items::Entries => self.known_value(group, "after-entry"),
            Items::Values => self.known_value(group, "after-value"),
            Items::Types | Items::Fields => None,
        };
        if let Some(error) = known {
            return self.report_in(group, error);
        }
        let closer = closer_text(group.closer);
        let (wanted, cause) = match items {
            Items::One | Items::Annotation => (format!("`{closer}`"), "cause-subject"),
            Items::Elements => (format!("`,` or `{closer}`"), "cause-elements"),
            _ => (format!("`,` or `{closer}`"), "cause-values"),
        };
        let opener = self.span(group.opener);
        let line = |span: Span| self.source.position(span.start).line;
        let one_line = line(opener) == line(self.here());
        let spans: &[_] = if one_line { &[("inside", opener)] } else { &[] };
        let facts = Facts { spans, texts: &[("wanted", &wanted)] };
        self.report_with_cause("unexpected", cause, Some(group), facts);
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
        if is_closer(self.kind()) {
            let known =
                |found: &Diagnostic| found.help.as_deref() == Some("remove it and its braces");
            if self.diagnostics.len() > self.before || self.diagnostics.iter().any(known) {
                // A consequence of an earlier error in this declaration.
                return false;
            }
        }
        if matches!(self.kind(), T::Fenced | T::FencedTagged) {
            self.report_fence();
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
        self.report_with_cause("stray", "cause-top", None, Facts::default());
        false
    }

    /// The error about the rest of a comment that ended before its author meant it to.
    fn after_comment(&mut self) -> Option<Diagnostic> {
        let here = self.here();
        let before = self.source.text()[..here.start as usize].trim_end_matches([' ', '\t']);
        let line = self.line_from(here.start);
        if !before.ends_with("*/") || !line.contains("*/") {
            return None;
        }
        let stop = Span::new(offset(before.len() - 2), offset(before.len()));
        self.mistake_with("short-comment", None, Facts { spans: &[("stop", stop)], texts: &[] })
    }

    /// Text in a fenced code block of Markdown.
    fn report_fence(&mut self) {
        let (start, text) = (self.here().start, self.text(self.at));
        let first = text.find('\n').map_or(text.len(), |at| at + 1);
        let first = Span::new(start, start + offset(first));
        self.report_with("fence", None, Facts { spans: &[("first", first)], texts: &[] });
    }
}
