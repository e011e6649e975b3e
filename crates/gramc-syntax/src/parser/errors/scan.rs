//! Looks at the tokens around an error.

use super::LOOK_AHEAD;
use crate::diagnostic::Edit;
use crate::parser::Parser;
use crate::parser::group::{Group, is_arrow, is_closer};
use crate::span::Span;
use crate::token::TokenKind as T;

/// The labels that declare tools.
const TOOLS: [&str; 1] = ["Tool"];
/// All labels that declare something.
pub(in crate::parser) const LABELS: [&str; 9] =
    ["Tool", "Agent", "Container", "Record", "Enum", "Union", "Alias", "Library", "Experiment"];

impl<'a> Parser<'a> {
    /// The token before `index` that is not trivia; the first one has none before it.
    pub(super) fn previous(&self, index: u32) -> u32 {
        let mut previous = index;
        while previous > 0 {
            previous -= 1;
            if !self.tokens.kind(previous).is_trivia() {
                break;
            }
        }
        previous
    }

    /// The bracket that closes the one at `opener`.
    pub(super) fn closer_of(&self, opener: u32) -> Option<u32> {
        let (mut depth, mut index) = (0_u32, opener);
        for _ in 0..LOOK_AHEAD {
            match self.tokens.kind(index) {
                T::End => return None,
                T::LBracket if index > opener && self.begins_line(index) => return None,
                T::LBracket | T::LParen | T::LBrace => depth += 1,
                kind if is_closer(kind) && kind != T::Greater => {
                    depth = depth.checked_sub(1)?;
                    if depth == 0 {
                        return Some(index);
                    }
                }
                _ => {}
            }
            index = self.after(index);
        }
        None
    }

    /// The bracket that the one at `closer` closes.
    pub(super) fn opener_of(&self, closer: u32) -> Option<u32> {
        let (mut depth, mut index) = (0_u32, closer);
        for _ in 0..LOOK_AHEAD {
            match self.tokens.kind(index) {
                T::LBracket | T::LParen | T::LBrace => {
                    depth = depth.checked_sub(1)?;
                    if depth == 0 {
                        return Some(index);
                    }
                }
                kind if is_closer(kind) && kind != T::Greater => depth += 1,
                _ => {}
            }
            if index == 0 {
                return None;
            }
            index = self.previous(index);
        }
        None
    }

    /// The first token from `index` on that matches, outside of brackets in between and before the
    /// end of the bracket around them.
    pub(super) fn find_outside(
        &self,
        mut index: u32,
        matches: impl Fn(u32, T) -> bool,
    ) -> Option<u32> {
        for _ in 0..LOOK_AHEAD {
            let kind = self.tokens.kind(index);
            if matches(index, kind) {
                return Some(index);
            }
            match kind {
                T::LBracket | T::LParen | T::LBrace => index = self.closer_of(index)?,
                T::End => return None,
                kind if is_closer(kind) && kind != T::Greater => return None,
                _ => {}
            }
            index = self.after(index);
        }
        None
    }

    /// The first such token of some kinds.
    pub(super) fn next_of(&self, index: u32, kinds: &[T]) -> Option<u32> {
        self.find_outside(index, |_, kind| kinds.contains(&kind))
    }

    /// The closer of the bracket around a token.
    pub(super) fn closer_around(&self, index: u32) -> Option<u32> {
        self.find_outside(index, |_, kind| is_closer(kind) && kind != T::Greater)
    }

    /// The last token of an arrow.
    pub(super) fn arrow_end(&self, mut arrow: u32) -> u32 {
        while is_arrow(self.tokens.kind(arrow + 1)) {
            arrow += 1;
        }
        arrow
    }

    /// The label of the declaration that a group is the bracket of.
    pub(super) fn label_of(&self, group: Group) -> &'a str {
        let mut index = self.after(group.opener);
        if matches!(self.tokens.kind(index), T::Symbol | T::Backticked) {
            index = self.after(index);
        }
        let colon = matches!(self.tokens.kind(index), T::Colon | T::ColonColon);
        if group.closer == T::RBracket && colon { self.text(self.after(index)) } else { "" }
    }

    /// Whether a declaration may contain the one that begins at the next token.
    pub(in crate::parser) fn may_hold(&self, group: Group) -> bool {
        let inner = Group { opener: self.at, closer: T::RBracket };
        let (outer, inner) = (self.label_of(group), self.label_of(inner));
        match outer {
            "Tool" => matches!(inner, "Record" | "Enum" | "Union" | "Alias"),
            "Container" => inner == "Tool",
            "Agent" => matches!(inner, "Tool" | "Container" | "Agent"),
            _ => !LABELS.contains(&outer),
        }
    }

    pub(super) fn is_tool(&self, group: Group) -> bool {
        TOOLS.contains(&self.label_of(group))
    }

    /// Whether the token is the name of a label that declares something.
    pub(super) fn is_declaring_label(&self, index: u32) -> bool {
        self.tokens.kind(index) == T::Symbol && LABELS.contains(&self.text(index))
    }

    /// Whether a token is a text, a number, `true` or `false`.
    pub(super) fn is_literal(&self, index: u32) -> bool {
        let kind = self.tokens.kind(index);
        kind.is_number()
            || matches!(kind, T::DoubleQuoted | T::SingleQuoted)
            || (kind == T::Symbol && matches!(self.text(index), "true" | "false"))
    }

    /// Whether an entry of a record begins at a token: a name, a colon or `=`, and a literal value
    /// or a list.
    pub(super) fn is_entry(&self, index: u32) -> bool {
        let colon = self.after(index);
        let value = self.after(colon);
        matches!(self.tokens.kind(index), T::Symbol | T::DoubleQuoted)
            && matches!(self.tokens.kind(colon), T::Colon | T::Equals)
            && (self.is_literal(value) || self.tokens.kind(value) == T::LBracket)
    }

    /// The rest of a line from an offset on.
    pub(super) fn line_from(&self, start: u32) -> &'a str {
        self.source.text()[start as usize..].lines().next().unwrap_or_default()
    }

    /// The text from one token to another, both included.
    pub(super) fn text_between(&self, first: u32, last: u32) -> &'a str {
        self.source.slice(self.span_between(first, last))
    }

    /// The span from one token to another, both included.
    pub(super) fn span_between(&self, first: u32, last: u32) -> Span {
        Span::new(self.span(first).start, self.span(last).end)
    }

    /// The bracket of a pattern around the one at `opener`.
    pub(super) fn holder_of(&self, opener: u32) -> Option<Group> {
        let (mut depth, mut index) = (0_u32, opener);
        for _ in 0..LOOK_AHEAD {
            if index == 0 {
                return None;
            }
            index = self.previous(index);
            match self.tokens.kind(index) {
                T::RBracket => depth += 1,
                T::LBracket => match depth.checked_sub(1) {
                    Some(less) => depth = less,
                    None => return Some(Group { opener: index, closer: T::RBracket }),
                },
                _ => {}
            }
        }
        None
    }

    /// Adds an entry to the record that ends at `brace`.
    pub(super) fn added_entry(&self, brace: u32, entry: &str) -> Edit {
        let before = self.previous(brace);
        let comma = if self.tokens.kind(before) == T::LBrace { "" } else { ", " };
        Edit::insert(self.span(before).end, format!("{comma}{entry}"))
    }

    /// Whether an entry of a record follows the comma that is the next token.
    pub(in crate::parser) fn entry_follows(&self) -> bool {
        self.is_entry(self.after(self.at))
    }

    /// Reports nothing more before a token once the next error is reported: it would be a consequence.
    pub(super) fn cover(&mut self, end: u32) {
        self.to_cover = self.to_cover.max(end);
    }
}

/// Whether a text is a name without quotes.
pub(super) fn is_plain_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || "_.-@".contains(c))
}
