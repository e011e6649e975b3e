//! Type expressions: labels without backticks (E5), and the content of labels in backticks.

use super::Parser;
use super::errors::LABELS;
use super::group::{After, Items};
use crate::limits::MAX_TYPE_DEPTH;
use crate::parse::Extension;
use crate::span::Span;
use crate::token::TokenKind as T;
use crate::tree::NodeKind as N;

impl Parser<'_> {
    /// Whether a type expression follows the colons of a label, and not a name alone.
    pub(super) fn at_bare_type(&self) -> bool {
        match self.kind() {
            T::Symbol => match self.second() {
                // `(add:Tool | …)` is a declaration in the wrong brackets.
                T::Pipe => !LABELS.contains(&self.text(self.at)),
                T::Question => true,
                // `[` may also begin the next declaration, behind a forgotten parenthesis.
                T::LBracket => {
                    let bracket = self.after(self.at);
                    bracket == self.at + 1 || self.tokens.kind(self.after(bracket)) == T::RBracket
                }
                T::Less => !self.at_angle_record(self.after(self.at)),
                _ => false,
            },
            T::LBracket | T::LParen | T::LBrace | T::DoubleQuoted | T::SingleQuoted => true,
            T::QuoteOpen => self.text(self.at) != "`",
            kind => kind.is_number(),
        }
    }

    /// Whether `<` opens a record (E2) and not the arguments of a type: `<>` or `<key: …`.
    fn at_angle_record(&self, less: u32) -> bool {
        let first = self.after(less);
        let colon = matches!(self.tokens.kind(self.after(first)), T::Colon | T::ColonColon);
        match self.tokens.kind(first) {
            T::Greater => true,
            T::Symbol | T::DoubleQuoted | T::Backticked => colon,
            _ => false,
        }
    }

    /// A type expression as a label.
    pub(super) fn bare_type(&mut self) {
        let start = self.span(self.at).start;
        self.type_expression(0);
        self.extension(Extension::BareType, Span::new(start, self.span(self.last).end));
    }

    /// A type expression that is a whole text.
    pub(super) fn whole_type(&mut self) {
        self.type_expression(0);
        if self.kind() != T::End {
            self.after_type();
            self.bump();
            while self.kind() != T::End {
                self.bump();
            }
        }
    }

    /// `type = member { "|" member }`
    fn type_expression(&mut self, depth: u32) {
        let ty = self.open(N::TypeExpression);
        loop {
            self.type_member(depth);
            if !self.eat(T::Pipe) {
                break;
            }
        }
        self.close(ty);
    }

    /// `member = primary { "[]" | "?" }`
    fn type_member(&mut self, depth: u32) {
        let member = self.open(N::TypeMember);
        if depth > MAX_TYPE_DEPTH {
            self.type_too_deep();
            self.close(member);
            return;
        }
        self.type_primary(depth);
        let mut suffixes = 0;
        loop {
            match (self.kind(), self.second()) {
                (T::Question, _) => self.bump(),
                (T::LBracket, T::RBracket) => {
                    self.bump();
                    self.bump();
                }
                (T::LBracket, _) if self.touching() => {
                    self.type_suffix();
                    break;
                }
                _ => break,
            }
            suffixes += 1;
            if depth + suffixes > MAX_TYPE_DEPTH {
                self.type_too_deep();
                break;
            }
        }
        self.close(member);
    }

    /// `primary = name arguments? | literal | "(" type ")" | tuple | record`
    fn type_primary(&mut self, depth: u32) {
        match self.kind() {
            T::Symbol => self.type_name(depth),
            T::DoubleQuoted => self.leaf(N::String),
            T::QuoteOpen if self.text(self.at) == "\"" => self.string_pieces(N::String),
            T::SingleQuoted => {
                self.report_mistake("single-quotes");
                self.leaf(N::String);
            }
            T::LParen if self.function_type() => {}
            T::LParen => self.type_group(N::TypeGroup, T::RParen, Items::One, depth),
            T::LBracket => self.type_group(N::TypeTuple, T::RBracket, Items::Types, depth),
            T::LBrace => self.type_record(depth),
            kind if kind.is_number() => self.json_number(),
            _ => self.missing_member(),
        }
    }

    fn type_name(&mut self, depth: u32) {
        let next = self.after(self.at);
        if self.tokens.kind(next) != T::Less || self.at_angle_record(next) {
            return self.leaf(N::TypeName);
        }
        let arguments = self.open(N::TypeArguments);
        self.leaf(N::TypeName);
        self.types_in_group(T::Greater, Items::Types, depth);
        self.close(arguments);
    }

    /// Types in brackets, as a node.
    fn type_group(&mut self, kind: N, closer: T, items: Items, depth: u32) {
        let group = self.open(kind);
        self.types_in_group(closer, items, depth);
        self.close(group);
    }

    fn types_in_group(&mut self, closer: T, items: Items, depth: u32) {
        let group = self.group(closer);
        self.bump();
        loop {
            self.type_expression(depth + 1);
            if self.after_item(group, items) != After::Item {
                return;
            }
        }
    }

    /// `record = "{" [ field { "," field } ] "}"`
    fn type_record(&mut self, depth: u32) {
        let record = self.open(N::TypeRecord);
        let group = self.group(T::RBrace);
        self.bump();
        if self.kind() == T::RBrace {
            self.close_group(group, Items::Fields);
        } else {
            loop {
                self.type_field(depth);
                if self.after_item(group, Items::Fields) != After::Item {
                    break;
                }
            }
        }
        self.close(record);
    }

    /// `field = ( symbol | string ) "?"? ":" type record? ( "=" value )?`
    fn type_field(&mut self, depth: u32) {
        let field = self.open(N::TypeField);
        let named = match self.kind() {
            T::Symbol => {
                self.leaf(N::Symbol);
                true
            }
            T::DoubleQuoted => {
                self.leaf(N::DoubleQuotedName);
                true
            }
            T::QuoteOpen if self.text(self.at) == "\"" => {
                self.string_pieces(N::DoubleQuotedName);
                true
            }
            _ => {
                self.missing_field_name();
                false
            }
        };
        if named {
            self.eat(T::Question);
            if self.eat(T::Colon) || self.missing_field_colon() {
                self.type_expression(depth + 1);
                if matches!(self.kind(), T::LBrace | T::Less) {
                    self.record();
                }
                if self.eat(T::Equals) {
                    self.field_default();
                }
            }
        }
        self.close(field);
    }

    /// The default of a field: any value, and numbers also as in JSON.
    fn field_default(&mut self) {
        let exponent = |text: &str| {
            text.starts_with(['e', 'E', '+']) || text.starts_with(|c: char| c.is_ascii_digit())
        };
        if self.kind().is_number() && exponent(self.text(self.at + 1)) {
            self.json_number();
        } else {
            self.value();
        }
    }

    /// A number as in JSON, which may have an exponent.
    fn json_number(&mut self) {
        let start = self.span(self.at).start;
        let number = self.open(N::Decimal);
        self.bump();
        while self.touching() && self.continues_number() {
            self.bump();
        }
        self.close(number);
        let span = Span::new(start, self.span(self.last).end);
        if !is_json_number(self.source.slice(span)) {
            self.not_a_json_number(span);
        }
    }

    /// Whether the next token continues a number: digits, an exponent or its sign.
    fn continues_number(&self) -> bool {
        let text = self.text(self.at);
        let number = |c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | '.' | 'e' | 'E');
        let kind = self.kind();
        (kind.is_number() || matches!(kind, T::Symbol | T::Unknown)) && text.chars().all(number)
    }
}

/// `"-"? ( "0" | [1-9] [0-9]* ) ( "." [0-9]+ )? ( [eE] [+-]? [0-9]+ )?`
fn is_json_number(text: &str) -> bool {
    let digits = |text: &str| {
        let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
        (text.len() - rest.len(), rest.len())
    };
    let whole = text.strip_prefix('-').unwrap_or(text);
    let (count, rest) = digits(whole);
    let mut rest = &whole[whole.len() - rest..];
    let mut valid = count == 1 || (count > 1 && !whole.starts_with('0'));
    if let Some(fraction) = rest.strip_prefix('.') {
        let (count, left) = digits(fraction);
        valid &= count > 0;
        rest = &fraction[fraction.len() - left..];
    }
    if let Some(exponent) = rest.strip_prefix(['e', 'E']) {
        let exponent = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        let (count, left) = digits(exponent);
        valid &= count > 0;
        rest = &exponent[exponent.len() - left..];
    }
    valid && rest.is_empty()
}
