//! Subjects: names, labels, and the heads of patterns.

use super::engine::Facts;
use crate::parser::Parser;
use crate::parser::group::{Group, Items, is_arrow, is_closer};
use crate::token::TokenKind as T;
use crate::tree::NodeKind as N;

impl Parser<'_> {
    /// An unexpected token after the head of a pattern.
    pub(in crate::parser) fn missing_bar(&mut self, group: Group) {
        let after_label = self.is_colon(self.previous(self.last));
        let after_record = self.tokens.kind(self.last) == T::RBrace;
        let texts = [if after_label { ("label", "") } else { ("name", "") }, ("head", "")];
        let count = if after_label || after_record { 2 } else { 1 };
        let facts = Facts { spans: &[], texts: &texts[..count] };
        if let Some(error) = self.mistake_with("after-head", Some(group), facts) {
            return self.report_in(group, error);
        }
        if (after_label || after_record)
            && let Some(error) = self.mistake("comma-for-bar", Some(group))
        {
            self.report_in(group, error);
            return self.error_token();
        }
        let word = self.kind() == T::Symbol && self.second() != T::Symbol;
        let named = after_label || (after_record && !self.is_tool(group));
        let element = self.kind() == T::LParen || (word && named);
        if element {
            if let Some(close) = self.closer_of(group.opener).filter(|_| word) {
                self.cover(close);
            }
            if let Some(error) = self.mistake("missing-bar-before-elements", Some(group)) {
                self.report(error);
            }
        } else if self.kind() != T::RBracket {
            self.after_subject(group);
        }
    }

    /// A token that begins no element.
    pub(in crate::parser) fn no_element(&mut self, group: Group) {
        if self.is_covered() {
            return;
        }
        if let Some(error) = self.mistake("no-element", Some(group)) {
            return self.report(error);
        }
        self.report_with_cause("unexpected-element", "cause-elements", None, Facts::default());
    }

    /// A bare name among elements, followed by a type or an arrow: a node without parentheses.
    pub(in crate::parser) fn bare_parameter(&mut self, group: Group) -> bool {
        let name = self.tokens.kind(self.last) == T::Symbol;
        let typed = matches!(self.kind(), T::Colon | T::ColonColon);
        if !name || !(typed || is_arrow(self.kind())) {
            return false;
        }
        if !self.is_covered() {
            self.report_in_group("bare-element", group);
        }
        self.skip_element();
        true
    }

    /// Passes over what is left of an element.
    fn skip_element(&mut self) {
        let error = self.open(N::Error);
        while !matches!(self.kind(), T::Comma | T::End) && !is_closer(self.kind()) {
            self.skip_token_tree();
        }
        self.close(error);
    }

    /// Entries of a record whose opening brace is missing: `(a::Text default: "x"})`.
    pub(in crate::parser) fn record_without_brace(&mut self) -> bool {
        let key = matches!(self.kind(), T::Symbol | T::DoubleQuoted) && self.second() == T::Colon;
        let brackets = (self.at..self.at + 60).map(|index| self.tokens.kind(index)).find(|kind| {
            is_closer(*kind) || matches!(kind, T::LBrace | T::LParen | T::LBracket | T::End)
        });
        if !key || brackets != Some(T::RBrace) {
            return false;
        }
        self.report_mistake("missing-brace");
        true
    }

    /// An unexpected token after an identifier, labels and a record.
    pub(in crate::parser) fn after_subject(&mut self, group: Group) {
        let previous = self.tokens.kind(self.last);
        let labelled = self.next_of(self.after(group.opener), &[T::Colon, T::ColonColon]);
        let node = group.closer == T::RParen;
        if node
            && labelled.is_some_and(|colon| colon < self.at)
            && self.separates_parameters(self.at)
        {
            return self.second_thing(group, Items::One);
        }
        let text = matches!(self.kind(), T::DoubleQuoted | T::SingleQuoted);
        let mut known = if node { self.mistake("parenthesized-type", Some(group)) } else { None };
        if !text && !self.second_label_word() {
            known = known.or_else(|| self.odd_name(group));
        }
        let error = known.or_else(|| match self.kind() {
            T::Symbol | T::Backticked if previous.is_number() && self.touching() => {
                self.mistake("digit-name", None)
            }
            T::Symbol | T::Backticked if matches!(previous, T::Symbol | T::Backticked) => {
                let label = self.is_colon(self.previous(self.last));
                let texts: &[_] = if label { &[("label", "")] } else { &[] };
                let facts = Facts { spans: &[], texts };
                self.mistake_with("several-words", Some(group), facts)
            }
            _ if text && self.last == group.opener => {
                let names = self.mistake("bracketed-names", Some(group));
                names.or_else(|| self.quoted_name_error())
            }
            T::Unknown => self.adjacent_name().map(str::to_owned).and_then(|name| {
                let facts = Facts { spans: &[], texts: &[("name", &name)] };
                self.mistake_with("odd-character", None, facts)
            }),
            kind if kind.is_number() => self.mistake("digit-name", None),
            _ => self.mistake("label-after-record", Some(group)),
        });
        if let Some(error) = error {
            self.report_in(group, error);
        }
    }

    /// Reports a parent or type parameters after the name or the label of a declaration, and passes
    /// over them: `[Address extends Place::Record …]`, `[Address<T>::Record …]`.
    pub(in crate::parser) fn foreign_head(&mut self) {
        if !matches!(self.kind(), T::Symbol | T::Less) {
            return;
        }
        if let Some(error) = self.mistake("foreign-head", None) {
            let end = self.span(self.previous(self.to_cover)).end;
            self.report(error);
            self.skip_to(end);
        }
    }

    /// Whether the next token follows a label.
    fn second_label_word(&self) -> bool {
        self.is_colon(self.previous(self.last))
            || matches!(self.tokens.kind(self.last), T::RBrace | T::Greater)
    }
}
