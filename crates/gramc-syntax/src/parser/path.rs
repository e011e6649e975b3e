//! Paths: nodes and the arrows between them.

use super::Parser;
use super::group::{Items, is_arrow};
use crate::token::TokenKind as T;
use crate::tree::NodeKind as N;

impl Parser<'_> {
    /// `path_pattern = node_pattern ( relationship_kind node_pattern )*`
    pub(super) fn path(&mut self) {
        let path = self.open(N::Path);
        self.node_pattern();
        loop {
            while self.foreign_comment() {}
            if !self.at_arrow() {
                break;
            }
            let arrow = self.relationship_kind();
            if self.kind() == T::LParen {
                self.node_pattern();
            } else if !self.arrow_leads_nowhere(arrow) {
                break;
            }
        }
        self.close(path);
    }

    /// `node_pattern = "(" subject? ")"`
    pub(super) fn node_pattern(&mut self) {
        let node = self.open(N::NodePattern);
        let group = self.group(T::RParen);
        self.bump();
        self.node_subject();
        if self.kind() != T::RParen {
            self.after_subject(group);
        }
        self.close_group(group, Items::One);
        self.close(node);
    }

    /// Whether the next token is an arrow or a likely misspelling of one.
    fn at_arrow(&self) -> bool {
        is_arrow(self.kind()) || self.at_foreign_arrow()
    }

    /// `relationship_kind = undirected_arrow | left_arrow | right_arrow | bidirectional_arrow`
    ///
    /// Each is `start ( "[" subject? "]" )? end` with both ends of one family.
    fn relationship_kind(&mut self) -> u32 {
        let arrow = self.open(N::RightArrow);
        let start = self.kind();
        let Some((family, left)) = arrow_start(start) else {
            // `=>`, `->`, `~>`, or an arrow that gram does not have.
            self.short_arrow();
            self.close(arrow);
            return arrow;
        };
        self.bump();
        if self.kind() == T::LBracket {
            let group = self.group(T::RBracket);
            self.bump();
            self.subject();
            self.close_group(group, Items::One);
        }
        let right = if let Some((end, right)) = arrow_end(self.kind()) {
            if end != family {
                self.mixed_arrow(arrow);
            }
            self.bump();
            right
        } else {
            self.half_arrow(arrow);
            !left
        };
        self.node(arrow).kind = match (left, right) {
            (false, false) => N::UndirectedArrow,
            (false, true) => N::RightArrow,
            (true, false) => N::LeftArrow,
            (true, true) => N::BidirectionalArrow,
        };
        self.close(arrow);
        arrow
    }
}

/// The family of an arrow's start, and whether it has a head.
fn arrow_start(kind: T) -> Option<(T, bool)> {
    match kind {
        T::Dash | T::Equals | T::Tilde => Some((kind, false)),
        T::LessDash => Some((T::Dash, true)),
        T::LessEquals => Some((T::Equals, true)),
        T::LessTilde => Some((T::Tilde, true)),
        _ => None,
    }
}

/// The family of an arrow's end, and whether it has a head.
fn arrow_end(kind: T) -> Option<(T, bool)> {
    match kind {
        T::Dash | T::Equals | T::Tilde => Some((kind, false)),
        T::DashGreater => Some((T::Dash, true)),
        T::EqualsGreater => Some((T::Equals, true)),
        T::TildeGreater => Some((T::Tilde, true)),
        _ => None,
    }
}
