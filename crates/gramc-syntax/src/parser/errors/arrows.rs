//! Arrows and annotations.

use super::engine::Facts;
use super::stroke;
use crate::diagnostic::Edit;
use crate::foreign_types::foreign_type_name;
use crate::parser::Parser;
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
    pub(super) fn short_arrow_end(&self, index: u32) -> Option<u32> {
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

    pub(super) fn is_colon(&self, index: u32) -> bool {
        matches!(self.tokens.kind(index), T::Colon | T::ColonColon)
    }

    /// Whether the next token begins an arrow that gram does not have.
    pub(in crate::parser) fn at_foreign_arrow(&self) -> bool {
        self.short_arrow_end(self.at).is_some()
    }

    /// `=>`, `->`, `~>`, a Unicode arrow or one of another language. The same slip further on in the
    /// signature has the same cause.
    pub(in crate::parser) fn short_arrow(&mut self) {
        let end = self.short_arrow_end(self.at).unwrap_or(self.at);
        if !self.is_covered() {
            self.report_mistake("short-arrow");
        }
        while self.at <= end && self.kind() != T::End {
            self.bump();
        }
    }

    /// The edits that correct an arrow of another language after a node, and its result; what they
    /// change is covered.
    pub(super) fn arrow_edits(&mut self, close: u32) -> Vec<Edit> {
        let arrow = self.after(close);
        let Some(end) = self.short_arrow_end(arrow) else { return Vec::new() };
        let mut edits = vec![Edit::new(self.span_between(arrow, end), "==>")];
        let result = self.after(end);
        self.cover(result);
        if self.tokens.kind(result) == T::Symbol && !self.is_colon(self.after(result)) {
            let ty = self.text(result);
            let ty = foreign_type_name(ty).unwrap_or(ty);
            edits.push(Edit::new(self.span(result), format!("(::{ty})")));
            self.cover(result + 1);
        }
        edits
    }

    /// An arrow that begins in one family and ends in another.
    pub(in crate::parser) fn mixed_arrow(&mut self, arrow: u32) {
        let first = self.node(arrow).first;
        let stroke = stroke(self.text(first));
        let right = if self.text(self.at).len() == 2 { ">" } else { "" };
        let right = format!("{stroke}{right}");
        let (spans, texts) =
            ([("first", self.span(first))], [("stroke", stroke), ("right", &*right)]);
        self.report_with("mixed-arrow", None, Facts { spans: &spans, texts: &texts });
    }

    /// An arrow without its second half.
    pub(in crate::parser) fn half_arrow(&mut self, arrow: u32) {
        let (span, whole) = self.arrow_so_far(arrow);
        let short = self.kind() == T::LParen && span.len() <= 2;
        let place = if short { "short-half-arrow" } else { "half-arrow" };
        let (spans, texts) = ([("arrow", span)], [("whole", &*whole)]);
        self.report_with(place, None, Facts { spans: &spans, texts: &texts });
    }

    /// The span of an arrow up to the last token, and the arrow of two strokes that it should be.
    fn arrow_so_far(&mut self, arrow: u32) -> (Span, String) {
        let first = self.node(arrow).first;
        let stroke = stroke(self.text(first));
        (self.span_between(first, self.last), format!("{stroke}{stroke}>"))
    }

    /// An unexpected token after an arrow. `true` if the path continues.
    pub(in crate::parser) fn arrow_leads_nowhere(&mut self, arrow: u32) -> bool {
        let (span, whole) = self.arrow_so_far(arrow);
        let (spans, texts) = ([("arrow", span)], [("whole", &*whole)]);
        let facts = Facts { spans: &spans, texts: &texts };
        let node = self.is_colon(self.at)
            || (self.is_colon(self.after(self.at))
                && matches!(self.kind(), T::Symbol | T::Backticked));
        if node {
            self.node_without_parenthesis();
            return true;
        }
        let typed = self.is_colon(self.after(self.at));
        let bare = if typed { None } else { self.mistake_with("bare-result", None, facts) };
        let is_bare = bare.is_some();
        let Some(error) = bare.or_else(|| self.mistake_with("after-arrow", None, facts)) else {
            self.report_with("no-result", None, facts);
            return false;
        };
        let end = self.span(self.previous(self.to_cover)).end;
        self.report(error);
        self.skip_to(end);
        if self.kind() == T::LParen && !is_bare {
            self.node_pattern();
        }
        true
    }

    /// A node after an arrow without its opening parenthesis.
    fn node_without_parenthesis(&mut self) {
        let colon = self.next_of(self.at, &[T::Colon, T::ColonColon]).unwrap_or(self.at);
        let end = self.end_of_bare_node(self.after(colon));
        let closed = self.tokens.kind(self.after(end)) == T::RParen;
        let place = if closed { "unopened-node" } else { "bare-node" };
        self.report_with(place, None, Facts { spans: &[("node", self.span(end))], texts: &[] });
        let node = self.open(N::NodePattern);
        self.node_subject();
        self.eat(T::RParen);
        self.close(node);
    }

    /// The last token of a type and a record after it.
    fn end_of_bare_node(&self, ty: u32) -> u32 {
        let next = self.after(ty);
        match self.tokens.kind(next) {
            T::LParen if self.span(ty).end == self.span(next).start => {
                self.closer_of(next).map_or(ty, |close| self.end_of_bare_node(close))
            }
            T::LBrace => self.closer_of(next).unwrap_or(ty),
            _ => ty,
        }
    }
}
