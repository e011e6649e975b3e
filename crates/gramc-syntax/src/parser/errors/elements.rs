//! Elements, heads of declarations and nodes that are written in other brackets, or without any.

use crate::diagnostic::{Diagnostic, Edit};
use crate::parser::Parser;
use crate::parser::group::{Group, Items, is_arrow};
use crate::token::TokenKind as T;

impl Parser<'_> {
    /// The mistake at an unexpected token in the head of a declaration, in a node or after an element.
    pub(super) fn known_cause(&mut self, group: Group, items: Items) -> Option<Diagnostic> {
        let place = match items {
            Items::One if group.closer == T::RParen => "node",
            Items::One => "head",
            Items::Annotation => "annotation",
            Items::Elements => "elements",
            _ => return None,
        };
        self.mistake(place, Some(group))
    }

    /// Names with types, or with values, that are not in parentheses. Gives the help and the edits.
    pub(super) fn bare_nodes(&mut self, group: Group) -> Option<(String, Vec<Edit>)> {
        let mut edits = Vec::new();
        let mut first = self.last;
        let mut help = String::new();
        loop {
            let colon = self.after(first);
            if self.tokens.kind(first) != T::Symbol || !self.is_colon(colon) {
                break;
            }
            let end = self.end_of_bare_node(self.after(colon));
            let text = self.text_between(first, end);
            if edits.is_empty() {
                help = format!("({text})");
            }
            edits.push(Edit::insert(self.span(first).start, "("));
            edits.push(Edit::insert(self.span(end).end, ")"));
            let comma = self.after(end);
            self.cover(comma + 1);
            if self.is_tool(group) {
                let Some(next) = self.after_arrow(comma) else { break };
                first = next;
                if self.tokens.kind(next) == T::Symbol && !self.is_colon(self.after(next)) {
                    edits.push(Edit::new(self.span(next), format!("(::{})", self.text(next))));
                    self.cover(next + 1);
                }
                continue;
            }
            if self.tokens.kind(comma) != T::Comma {
                break;
            }
            first = self.after(comma);
        }
        (!edits.is_empty()).then_some((help, edits))
    }

    /// The token after an arrow.
    fn after_arrow(&self, arrow: u32) -> Option<u32> {
        let mut end = arrow;
        while is_arrow(self.tokens.kind(end)) {
            end += 1;
        }
        while self.tokens.kind(end).is_trivia() {
            end += 1;
        }
        (end > arrow).then_some(end)
    }

    /// The last token of a type and a record after it.
    pub(super) fn end_of_bare_node(&self, ty: u32) -> u32 {
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
