//! Arrows and annotations.

use super::scan::{edit, likely};
use super::stroke;
use crate::codes;
use crate::diagnostic::Applicability::{NeedsLook, Safe};
use crate::diagnostic::{Diagnostic, Edit, Fix};
use crate::foreign_types::{foreign_type_name, translate_type};
use crate::parse::is_type;
use crate::parser::Parser;
use crate::parser::group::{is_arrow, is_closer};
use crate::span::Span;
use crate::token::TokenKind as T;
use crate::tree::NodeKind as N;

/// Unicode arrows.
const FOREIGN_ARROWS: [&str; 10] = ["→", "⇒", "⟶", "⟹", "➔", "➜", "➝", "↦", "⇨", "►"];

/// Dashes that editors write for two hyphens.
const DASHES: [&str; 4] = ["—", "–", "―", "−"];

impl Parser<'_> {
    /// The last token of an arrow of one stroke, of a Unicode arrow, or of one of another language:
    /// `|>`, `>>`, `>`.
    fn short_arrow_end(&self, index: u32) -> Option<u32> {
        let next = self.tokens.kind(index + 1);
        let greater = next == T::Greater;
        let short = |kind| matches!(kind, T::DashGreater | T::EqualsGreater | T::TildeGreater);
        match self.tokens.kind(index) {
            kind if short(kind) => Some(if greater { index + 1 } else { index }),
            T::Unknown if greater && DASHES.contains(&self.text(index)) => Some(index + 1),
            T::Unknown => FOREIGN_ARROWS.contains(&self.text(index)).then_some(index),
            T::Pipe | T::Greater if greater || short(next) => Some(index + 1),
            T::Colon if short(next) => Some(index + 1),
            T::Greater => (self.tokens.kind(self.after(index)) == T::LParen).then_some(index),
            _ => None,
        }
    }

    fn is_colon(&self, index: u32) -> bool {
        matches!(self.tokens.kind(index), T::Colon | T::ColonColon)
    }

    /// Whether the next token begins an arrow that gram does not have.
    pub(in crate::parser) fn at_foreign_arrow(&self) -> bool {
        self.short_arrow_end(self.at).is_some()
    }

    /// `=>`, `->`, `~>`, a Unicode arrow or one of another language.
    pub(in crate::parser) fn short_arrow(&mut self) {
        let end = self.short_arrow_end(self.at).unwrap_or(self.at);
        if !self.is_covered() {
            self.report_short_arrows(end);
        }
        while self.at <= end && self.kind() != T::End {
            self.bump();
        }
    }

    fn report_short_arrows(&mut self, end: u32) {
        let span = self.span_between(self.at, end);
        let message = format!("`{}` is not an arrow", self.source.slice(span));
        let mut error = self.error(&codes::ARROW, span, message).help("write `==>`");
        // The same slip further on in the signature has the same cause.
        let (mut at, mut edits, mut certain) = ((self.at, end), Vec::new(), true);
        loop {
            let span = self.span_between(at.0, at.1);
            edits.push(edit(span, "==>"));
            if at.0 != self.at {
                error = error.label(span, "");
            }
            let node = self.after(at.1);
            self.cover(at.1 + 1);
            if self.tokens.kind(node) == T::Symbol && !self.is_colon(self.after(node)) {
                edits.push(edit(self.span(node), format!("(::{})", self.text(node))));
                certain = false;
                self.cover(node + 1);
                break;
            }
            let Some(close) = self.closer_of(node).filter(|_| self.tokens.kind(node) == T::LParen)
            else {
                break;
            };
            let next = self.after(close);
            let Some(end) = self.short_arrow_end(next) else { break };
            at = (next, end);
        }
        let applicability = if certain { Safe } else { NeedsLook };
        error = error.fix(Fix { message: "write `==>`".to_owned(), applicability, edits });
        self.report(error);
    }

    /// The edits that correct an arrow of another language after a node, and its result; what they
    /// change is covered.
    pub(super) fn arrow_edits(&mut self, close: u32) -> Vec<Edit> {
        let arrow = self.after(close);
        let Some(end) = self.short_arrow_end(arrow) else { return Vec::new() };
        let mut edits = vec![edit(self.span_between(arrow, end), "==>")];
        let result = self.after(end);
        self.cover(result);
        if self.tokens.kind(result) == T::Symbol && !self.is_colon(self.after(result)) {
            let ty = self.text(result);
            let ty = foreign_type_name(ty).unwrap_or(ty);
            edits.push(edit(self.span(result), format!("(::{ty})")));
            self.cover(result + 1);
        }
        edits
    }

    /// An arrow that begins in one family and ends in another.
    pub(in crate::parser) fn mixed_arrow(&mut self, arrow: u32) {
        let first = self.node(arrow).first;
        let stroke = stroke(self.text(first));
        let found = self.text(self.at);
        let end = if found.len() == 2 { format!("{stroke}>") } else { stroke.to_owned() };
        let message = format!("this arrow begins with `{stroke}` and ends with `{found}`");
        let error = self
            .error(&codes::ARROW, self.here(), message)
            .label(self.span(first), "begins here")
            .help(format!("end it with `{end}`"))
            .fix(Fix::replace(Safe, format!("write `{end}`"), self.here(), end));
        self.report(error);
    }

    /// An arrow without its second half.
    pub(in crate::parser) fn half_arrow(&mut self, arrow: u32) {
        let first = self.node(arrow).first;
        let span = Span::new(self.span(first).start, self.span(self.last).end);
        let stroke = stroke(self.text(first));
        let text = self.source.slice(span);
        let mut error = self
            .error(&codes::ARROW, span, format!("`{text}` is an incomplete arrow"))
            .help(format!("write `{stroke}{stroke}>` for an arrow to the right"));
        if self.kind() == T::LParen && span.len() <= 2 {
            let whole = format!("{stroke}{stroke}>");
            error = error.fix(Fix::replace(NeedsLook, format!("write `{whole}`"), span, whole));
        }
        self.report(error);
    }

    /// An unexpected token after an arrow. `true` if the path continues.
    pub(in crate::parser) fn arrow_leads_nowhere(&mut self, arrow: u32) -> bool {
        let first = self.node(arrow).first;
        let whole = Span::new(self.span(first).start, self.span(self.last).end);
        let here = self.here();
        let text = self.text(self.at).to_owned();
        let typed = matches!(self.kind(), T::Colon | T::ColonColon)
            || matches!(self.second(), T::Colon | T::ColonColon);
        if !typed && let Some(error) = self.bare_type_after_arrow(whole) {
            let end = error.span().end;
            self.report(error);
            self.skip_to(end);
            return true;
        }
        match self.kind() {
            T::Symbol | T::Backticked | T::Colon | T::ColonColon if typed => {
                self.node_without_parenthesis();
                true
            }
            T::Symbol | T::Backticked => {
                let node = format!("(::{text})");
                let message = format!("expected a node, found {}", self.found());
                let error = self
                    .error(&codes::ARROW, here, message)
                    .label(whole, "after this arrow")
                    .help(format!("write a node in parentheses: {node}"))
                    .fix(Fix::replace(NeedsLook, "make it a node", here, node));
                self.report(error);
                self.error_token();
                true
            }
            T::Unknown if self.line_from(here.start).starts_with("&gt;") => {
                self.escaped_arrow(whole)
            }
            kind if is_arrow(kind) => self.long_arrow(whole),
            T::Greater => self.separate_head(whole),
            _ if self.after_whole_arrow() => true,
            _ => {
                let end = Span::empty(whole.end);
                let error = self
                    .error(&codes::ARROW, whole, "expected a node after this arrow")
                    .help("add the result: (::Text)")
                    .fix(Fix::replace(NeedsLook, "return text", end, "(::Text)"));
                self.report(error);
                false
            }
        }
    }

    /// A comma, or a result in brackets, after an arrow.
    fn after_whole_arrow(&mut self) -> bool {
        let Some(error) = self.mistake("after-arrow", None) else { return false };
        let end = self.span(self.previous(self.to_cover)).end;
        self.report(error);
        self.skip_to(end);
        if self.kind() == T::LParen {
            self.node_pattern();
        }
        true
    }

    /// `==&gt;`, at the `&`.
    fn escaped_arrow(&mut self, begun: Span) -> bool {
        let span = Span::new(begun.start, self.here().start + 4);
        let text = self.source.slice(span);
        let error = self
            .error(&codes::ARROW, span, format!("`{text}` is an arrow of HTML"))
            .help("write `==>`")
            .fix(Fix::replace(NeedsLook, "write `==>`", span, "==>"));
        self.report(error);
        self.skip_to(span.end);
        if self.kind() == T::LParen {
            self.node_pattern();
        }
        true
    }

    /// `==>Text[]` or `==>{title: Text}`, at the type.
    fn bare_type_after_arrow(&mut self, arrow: Span) -> Option<Diagnostic> {
        let (mut last, mut index) = (self.last, self.at);
        for _ in 0..super::LOOK_AHEAD {
            match self.tokens.kind(index) {
                T::LBracket | T::LParen | T::LBrace => index = self.closer_of(index)?,
                T::Comma | T::End => break,
                kind if is_arrow(kind) || (is_closer(kind) && kind != T::Greater) => break,
                _ => {}
            }
            last = index;
            index = self.after(index);
        }
        let span = self.span_between(self.at, last.max(self.at));
        let text = self.source.slice(span);
        // A name alone may be that of a parameter.
        let plain = text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if plain || self.kind() == T::LParen {
            return None;
        }
        let ty = if is_type(text) { text.to_owned() } else { translate_type(text)?.text };
        let node = format!("(::{ty})");
        self.cover(index);
        Some(
            self.error(&codes::ARROW, span, format!("the result `{text}` is not in parentheses"))
                .label(arrow, "after this arrow")
                .help(format!("write {node}"))
                .fix(Fix::replace(NeedsLook, format!("write {node}"), span, node)),
        )
    }

    /// `== >` or `==>>`, at the last `>`.
    fn separate_head(&mut self, begun: Span) -> bool {
        let span = Span::new(begun.start, self.here().end);
        let message = if self.here().start > begun.end {
            "an arrow is written without spaces".to_owned()
        } else {
            format!("`{}` is not an arrow", self.source.slice(span))
        };
        let error = self.error(&codes::ARROW, span, message).help("write `==>`").fix(Fix::replace(
            NeedsLook,
            "write `==>`",
            span,
            "==>",
        ));
        self.report(error);
        self.error_token();
        if self.kind() == T::LParen {
            self.node_pattern();
        }
        true
    }

    /// A node after an arrow without its opening parenthesis.
    fn node_without_parenthesis(&mut self) {
        let here = Span::empty(self.here().start);
        let message = format!("missing `(` before {}", self.found());
        let error = self
            .error(&codes::ARROW, here, message)
            .here("expected `(` here")
            .help("write a parameter or result in parentheses: (name::Text), (::Text)");
        let colon = self.next_of(self.at, &[T::Colon, T::ColonColon]).unwrap_or(self.at);
        let end = self.end_of_bare_node(self.after(colon));
        let mut edits = vec![edit(here, "(")];
        let closed = self.tokens.kind(self.after(end)) == T::RParen;
        if !closed {
            edits.push(edit(Span::empty(self.span(end).end), ")"));
        }
        let title = if closed { "insert the `(`" } else { "put it into parentheses" };
        let error = error.fix(likely(title, edits));
        self.report(error);
        let node = self.open(N::NodePattern);
        self.node_subject();
        self.eat(T::RParen);
        self.close(node);
    }

    /// An arrow of more than two strokes, or two arrows in a row.
    fn long_arrow(&mut self, begun: Span) -> bool {
        let mut end = self.at;
        while is_arrow(self.tokens.kind(end + 1)) {
            end += 1;
        }
        let span = Span::new(begun.start, self.span(end).end);
        let text = self.source.slice(span);
        let stroke = stroke(text);
        let whole = format!("{stroke}{stroke}>");
        let error = self
            .error(&codes::ARROW, span, format!("`{text}` is not an arrow"))
            .help(format!("write `{whole}`"))
            .fix(Fix::replace(NeedsLook, format!("write `{whole}`"), span, whole));
        self.report(error);
        let node = self.open(N::Error);
        while is_arrow(self.kind()) {
            self.bump();
        }
        self.close(node);
        if self.kind() == T::LParen {
            self.node_pattern();
            return true;
        }
        false
    }
}
