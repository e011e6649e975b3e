//! Types and defaults of nodes that are written with `=`.

// The causes of an error are tried in turn, and all have one type.
#![allow(clippy::unnecessary_wraps)]

use super::scan::{edit, likely};
use crate::codes;
use crate::diagnostic::Applicability::NeedsLook;
use crate::diagnostic::{Diagnostic, Fix};
use crate::parser::Parser;
use crate::parser::group::Group;
use crate::span::Span;
use crate::token::TokenKind as T;

impl Parser<'_> {
    /// `(a::Int := 3)`, at the `=`.
    pub(super) fn colon_and_equals(&mut self) -> Option<Diagnostic> {
        let (colon, value) = (self.last, self.after(self.at));
        let end = self.next_of(value, &[T::RParen])?;
        if self.kind() != T::Equals || self.tokens.kind(value) == T::RParen {
            return None;
        }
        let record = format!("{{default: {}}}", self.text_between(value, self.previous(end)));
        let sign = Span::new(self.span(colon).start, self.here().end);
        let gap = self.span_between(colon, self.previous(end));
        let error = self.error(&codes::MISSING_TYPE, sign, "a default is not written with `:=`");
        self.cover(end);
        Some(error.help(format!("write a default as an attribute: {record}")).fix(Fix::replace(
            NeedsLook,
            format!("write {record}"),
            gap,
            record,
        )))
    }

    /// `(a = Int)` or `(a::Int = 3)`.
    pub(super) fn equals_in_node(&mut self, group: Group) -> Option<Diagnostic> {
        let value = self.after(self.at);
        let named = self.last == self.after(group.opener);
        if named && self.tokens.kind(value) == T::Symbol {
            let gap = Span::new(self.span(self.last).end, self.span(value).start);
            let message = "a name and its type are joined by `::`, not `=`";
            return Some(
                self.error(&codes::MISSING_TYPE, self.here(), message)
                    .help(format!("write ({}::{})", self.text(self.last), self.text(value)))
                    .fix(Fix::replace(NeedsLook, "write `::`", gap, "::")),
            );
        }
        let error = self.unexpected(self.here(), "a default is not written with `=`");
        let end = self.next_of(value, &[T::RParen])?;
        if self.tokens.kind(value) == T::RParen {
            return Some(error.help("write a default as an attribute: {default: 3}"));
        }
        let last = self.previous(end);
        let open = self
            .opener_of(last)
            .filter(|open| self.tokens.kind(last) == T::RBrace && *open > value);
        let text = self.text_between(value, open.map_or(last, |open| self.previous(open)));
        let record = match open {
            Some(open) if self.after(open) != last => {
                let entries = self.text_between(self.after(open), self.previous(last));
                format!("{{default: {text}, {entries}}}")
            }
            _ => format!("{{default: {text}}}"),
        };
        let span = self.span_between(self.at, last);
        if self.tokens.kind(self.last) == T::RBrace {
            let gap = Span::new(self.span(self.last).end, span.end);
            let edits =
                vec![self.added_entry(self.last, &format!("default: {text}")), edit(gap, "")];
            let help = format!("write default: {text} in its record");
            return Some(error.help(help).fix(likely("move it into the record", edits)));
        }
        Some(error.help(format!("write a default as an attribute: {record}")).fix(Fix::replace(
            NeedsLook,
            format!("write {record}"),
            span,
            record,
        )))
    }
}
