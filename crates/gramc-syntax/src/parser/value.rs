//! Values.

use super::Parser;
use super::group::{After, Group, Items};
use crate::parse::Extension;
use crate::span::Span;
use crate::token::TokenKind as T;
use crate::tree::NodeKind as N;

/// An array or map whose items are being parsed.
pub(super) struct Container {
    id: u32,
    group: Group,
    /// The current map entry.
    entry: Option<u32>,
}

impl Container {
    fn items(&self) -> Items {
        if self.group.closer == T::RBrace { Items::Entries } else { Items::Values }
    }
}

impl Parser<'_> {
    /// `value = range | number | boolean | tagged_string | symbol | string | array | map`
    ///
    /// With E1, arrays and maps contain any value, and an array may be empty.
    pub(super) fn value(&mut self) {
        if !matches!(self.kind(), T::LBracket | T::LBrace) {
            return self.scalar_value();
        }
        let mut stack = std::mem::take(&mut self.containers);
        loop {
            // At a value.
            let opens = matches!(self.kind(), T::LBracket | T::LBrace);
            if opens && stack.len() >= self.limits.max_depth {
                self.too_deep();
            } else if opens {
                let container = self.open_container(stack.last());
                stack.push(container);
                if self.first_item(&mut stack) {
                    continue;
                }
            } else {
                self.scalar_value();
            }
            // After a value.
            if !self.next_item(&mut stack) {
                self.containers = stack;
                return;
            }
        }
    }

    fn open_container(&mut self, parent: Option<&Container>) -> Container {
        let map = self.kind() == T::LBrace;
        let nested = parent.is_some_and(|parent| map || parent.group.closer == T::RBracket);
        if nested {
            self.extension(Extension::NestedValue, self.span(self.at));
        }
        let id = self.open(if map { N::Map } else { N::Array });
        let group = self.group(if map { T::RBrace } else { T::RBracket });
        self.bump();
        Container { id, group, entry: None }
    }

    /// Moves to the first value of the innermost container. `false` if it has none.
    fn first_item(&mut self, stack: &mut [Container]) -> bool {
        let Some(top) = stack.last_mut() else { return false };
        if self.kind() == top.group.closer {
            if top.group.closer == T::RBracket {
                let span = Span::new(self.span(top.group.opener).start, self.span(self.at).end);
                self.extension(Extension::NestedValue, span);
            }
            return false;
        }
        self.item_start(top)
    }

    /// Parses the key before a value in a map. `false` if there is no value.
    fn item_start(&mut self, container: &mut Container) -> bool {
        if container.items() == Items::Values {
            return true;
        }
        let entry = self.open(N::MapEntry);
        container.entry = Some(entry);
        if !self.key(container.group) {
            self.node(entry).kind = N::Error;
            return false;
        }
        if self.kind() == T::ColonColon {
            self.report_mistake("double-colon");
            self.bump();
            return true;
        }
        if !self.eat(T::Colon) {
            return self.missing_colon(container.group);
        }
        true
    }

    /// Moves to the next value. `false` after the outermost container.
    fn next_item(&mut self, stack: &mut Vec<Container>) -> bool {
        while let Some(top) = stack.last_mut() {
            if let Some(entry) = top.entry.take() {
                self.close(entry);
            }
            match self.after_item(top.group, top.items()) {
                After::Item => {
                    if self.item_start(top) {
                        return true;
                    }
                }
                After::Closed | After::Abandoned => {
                    let id = top.id;
                    self.close(id);
                    stack.pop();
                }
            }
        }
        false
    }

    /// `scalar_value = range | number | boolean | tagged_string | symbol | string`
    fn scalar_value(&mut self) {
        match self.kind() {
            T::Symbol => self.symbol_value(),
            kind if kind.is_number() => self.number_or_range(kind),
            T::DotDotDot => {
                let range = self.open(N::Range);
                self.bump();
                self.range_end();
                self.close(range);
            }
            T::SingleQuoted | T::DoubleQuoted | T::Backticked | T::Fenced => self.leaf(N::String),
            T::FencedTagged => self.leaf(N::TaggedString),
            T::QuoteOpen => self.string_pieces(N::String),
            T::FenceOpen => {
                let tagged = self.second() == T::Symbol;
                self.string_pieces(if tagged { N::TaggedString } else { N::String });
            }
            _ => self.missing_value(),
        }
    }

    /// `boolean`, `symbol`, or ``tagged_string = symbol "`" text "`"``
    fn symbol_value(&mut self) {
        let text = self.text(self.at);
        if text == "true" || text == "false" {
            self.leaf(N::Boolean);
            return;
        }
        let id = self.open(N::Symbol);
        self.bump();
        match self.kind() {
            T::Backticked => {
                self.node(id).kind = N::TaggedString;
                self.bump();
            }
            T::QuoteOpen if self.text(self.at) == "`" => {
                self.node(id).kind = N::TaggedString;
                self.bump_pieces();
            }
            _ => {}
        }
        self.close(id);
    }

    /// `range = number ".." number | number "..." | "..." number`, or a number alone
    fn number_or_range(&mut self, kind: T) {
        match self.second() {
            T::DotDot => {
                let range = self.open(N::Range);
                self.leaf(number_node(kind));
                self.bump();
                self.range_end();
                self.close(range);
            }
            T::DotDotDot => {
                let range = self.open(N::Range);
                self.leaf(number_node(kind));
                self.bump();
                if self.kind().is_number() {
                    self.report_mistake("three-dots");
                    self.error_token();
                }
                self.close(range);
            }
            _ => {
                self.leaf(number_node(kind));
                self.after_number();
            }
        }
    }

    fn range_end(&mut self) {
        let kind = self.kind();
        if kind.is_number() {
            self.leaf(number_node(kind));
            self.after_number();
        } else {
            self.missing_bound();
        }
    }

    /// A string in pieces, as one node.
    pub(super) fn string_pieces(&mut self, kind: N) {
        let id = self.open(kind);
        self.bump_pieces();
        self.close(id);
    }

    /// Consumes the pieces of a string. The lexer splits only closed strings.
    fn bump_pieces(&mut self) {
        while !matches!(self.kind(), T::QuoteClose | T::FenceClose | T::End) {
            self.bump();
        }
        self.bump();
    }
}

fn number_node(kind: T) -> N {
    match kind {
        T::Decimal => N::Decimal,
        T::Hexadecimal => N::Hexadecimal,
        T::Octal => N::Octal,
        T::Measurement => N::Measurement,
        _ => N::Integer,
    }
}
