//! Brackets: separators, ends and error recovery.

use super::Parser;
use crate::token::TokenKind as T;
use crate::tree::NodeKind as N;

/// A bracket that was opened.
#[derive(Debug, Clone, Copy)]
pub(super) struct Group {
    /// The token that opened it.
    pub(super) opener: u32,
    /// The kind of token that closes it.
    pub(super) closer: T,
}

/// The content of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Items {
    /// One item, without commas.
    One,
    /// The one value of an annotation.
    Annotation,
    /// Patterns and references.
    Elements,
    /// Keys and values.
    Entries,
    /// Values.
    Values,
    /// Types.
    Types,
    /// Fields of a record type.
    Fields,
}

/// The token after an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum After {
    /// Another item.
    Item,
    /// The end of the group, which was consumed.
    Closed,
    /// The group is not closed; the next token belongs to the enclosing group.
    Abandoned,
}

impl Parser<'_> {
    /// Opens a group at the next token, which the caller consumes.
    pub(super) fn group(&mut self, closer: T) -> Group {
        if let Some(open) = self.open.get_mut(sort(closer)) {
            *open += 1;
        }
        Group { opener: self.at, closer }
    }

    fn end_group(&mut self, group: Group) {
        if let Some(open) = self.open.get_mut(sort(group.closer)) {
            *open = open.saturating_sub(1);
        }
    }

    /// Consumes the separator after an item, or the end of the group.
    pub(super) fn after_item(&mut self, group: Group, items: Items) -> After {
        loop {
            while self.foreign_comment() {}
            let kind = self.kind();
            if kind == group.closer {
                self.bump();
                self.end_group(group);
                return After::Closed;
            }
            if kind == T::Comma {
                return self.comma(group, items);
            }
            if self.abandons(group) {
                return After::Abandoned;
            }
            if is_closer(kind) {
                let surplus = self.wrong_closer(group);
                self.error_token();
                if surplus {
                    // What follows up to the next item was cut off by the surplus bracket.
                    if !self.at_separator(group) {
                        self.skip_to_separator(group);
                    }
                    continue;
                }
                self.end_group(group);
                return After::Closed;
            }
            if items == Items::Elements && self.bare_parameter(group) {
                continue;
            }
            if matches!(items, Items::Entries | Items::Values) && self.bare_words(group) {
                continue;
            }
            if self.starts_item(items) {
                self.missing_comma(group);
                return After::Item;
            }
            self.unexpected_in_group(group, items);
            self.skip_to_separator(group);
        }
    }

    /// Consumes the end of a group with one item.
    pub(super) fn close_group(&mut self, group: Group, items: Items) {
        if self.kind() == group.closer {
            self.bump();
            self.end_group(group);
            return;
        }
        while self.after_item(group, items) == After::Item {}
    }

    /// A comma between items, or an extra comma.
    fn comma(&mut self, group: Group, items: Items) -> After {
        if matches!(items, Items::One | Items::Annotation) {
            let record = group.closer == T::RParen && self.second() == T::LBrace;
            if self.closes_soon(group, true) || self.entry_follows() || record {
                self.second_thing(group, items);
                return self.after_item(group, items);
            }
            // The comma belongs to a group around it.
            self.report_unclosed(group);
            self.end_group(group);
            return After::Abandoned;
        }
        let comma = self.at;
        self.bump();
        while self.foreign_comment() {}
        while self.kind() == T::Comma {
            self.extra_comma(self.at);
            self.error_token();
        }
        if self.kind() == group.closer {
            self.extra_comma(comma);
            self.bump();
            self.end_group(group);
            return After::Closed;
        }
        After::Item
    }

    /// Whether the group is over without its end, which is then reported: at the end of the
    /// text, at what begins a declaration, and at the end of a group around it.
    fn abandons(&mut self, group: Group) -> bool {
        let kind = self.kind();
        let open = self.open.get(sort(kind)).copied().unwrap_or_default();
        let outer = open > 0 && self.unmatched_closers() <= open;
        let over = kind == T::End || self.at_declaration() || (is_closer(kind) && outer);
        // An arrow or a bar ends a node that has no end, and a bar the record of a head.
        let arrow = is_arrow(kind) && is_arrow(self.second());
        let beyond = match group.closer {
            T::RParen => (arrow || kind == T::Pipe) && !self.closes_soon(group, true),
            T::RBrace => kind == T::Pipe && !self.closes_soon(group, true),
            _ => false,
        };
        if over || beyond {
            self.report_unclosed(group);
            self.end_group(group);
        }
        over || beyond
    }

    /// Whether a pattern that is never closed is over before the declaration that follows, which it
    /// cannot hold. That is reported.
    pub(super) fn ends_unclosed(&mut self, group: Group) -> bool {
        let over = self.never_closed.binary_search(&group.opener).is_ok()
            && self.at_declaration()
            && !self.may_hold(group);
        if over {
            self.report_unclosed(group);
            self.end_group(group);
        }
        over
    }

    fn starts_item(&self, items: Items) -> bool {
        match items {
            Items::One | Items::Annotation => false,
            Items::Elements => {
                matches!(self.kind(), T::LBracket | T::LParen | T::Symbol | T::Backticked)
            }
            Items::Entries => {
                matches!(self.kind(), T::Symbol | T::Backticked | T::DoubleQuoted)
                    && matches!(self.second(), T::Colon | T::ColonColon)
            }
            Items::Fields => {
                matches!(self.kind(), T::Symbol | T::DoubleQuoted)
                    && matches!(self.second(), T::Colon | T::ColonColon | T::Question)
            }
            Items::Types => {
                let kind = self.kind();
                kind.is_number()
                    || matches!(kind, T::Symbol | T::DoubleQuoted | T::LBrace | T::LBracket)
            }
            Items::Values => {
                let kind = self.kind();
                kind.is_number()
                    || matches!(kind, T::Symbol | T::Backticked | T::DoubleQuoted)
                    || matches!(kind, T::SingleQuoted | T::LBrace | T::LBracket)
            }
        }
    }

    /// Skips unexpected tokens up to a comma or the end of the group.
    fn skip_to_separator(&mut self, group: Group) {
        let node = self.open(N::Error);
        let start = self.at;
        while !self.at_separator(group) || self.at == start {
            self.skip_token_tree();
        }
        self.close(node);
    }

    fn at_separator(&self, group: Group) -> bool {
        let kind = self.kind();
        kind == T::End
            || kind == T::Comma
            || is_closer(kind)
            || self.at_declaration()
            || (group.closer == T::RParen && is_arrow(kind) && is_arrow(self.second()))
    }

    /// Passes over one token, or over a bracket with its content. At an end or at what
    /// begins a declaration inside of it, it stops there.
    pub(super) fn skip_token_tree(&mut self) {
        let mut depth = 0_u32;
        loop {
            match self.kind() {
                T::End => return,
                T::Unclosed => self.swallowed = Some(self.at),
                T::LBracket | T::LParen | T::LBrace => depth += 1,
                T::RBracket | T::RParen | T::RBrace => depth = depth.saturating_sub(1),
                _ => {}
            }
            self.bump();
            if depth == 0 || self.at_declaration() {
                return;
            }
        }
    }

    /// An error node of one token.
    pub(super) fn error_token(&mut self) {
        if self.kind() != T::End {
            self.leaf(N::Error);
        }
    }
}

/// The place of a closing bracket in [`Parser::open`].
fn sort(closer: T) -> usize {
    match closer {
        T::RBracket => 0,
        T::RParen => 1,
        T::RBrace => 2,
        T::Greater => 3,
        _ => usize::MAX,
    }
}

pub(super) fn is_closer(kind: T) -> bool {
    matches!(kind, T::RBracket | T::RParen | T::RBrace | T::Greater)
}

/// Whether a token begins or ends an arrow.
pub(super) fn is_arrow(kind: T) -> bool {
    (kind as u8) >= (T::Dash as u8) && (kind as u8) <= (T::LessTilde as u8)
}
