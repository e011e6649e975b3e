//! Subjects: names, labels, and the heads of patterns.

use super::engine::Facts;
use crate::diagnostic::{Diagnostic, Fix};
use crate::parser::Parser;
use crate::parser::group::{Group, Items, is_arrow, is_closer};
use crate::token::TokenKind as T;
use crate::tree::NodeKind as N;

impl Parser<'_> {
    /// An unexpected token after the head of a pattern.
    pub(in crate::parser) fn missing_bar(&mut self, group: Group) {
        let after_label = self.is_colon(self.previous(self.last));
        let after_record = self.tokens.kind(self.last) == T::RBrace;
        let mut known = self.mistake("missing-bar", Some(group));
        if after_label {
            known = known.or_else(|| self.mistake("bare-attributes", Some(group)));
        }
        if after_label || after_record {
            known = known.or_else(|| self.mistake("heritage", Some(group)));
        }
        if let Some(error) = known.or_else(|| self.mistake("odd-label", Some(group))) {
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
        let known = match self.kind() {
            T::LBrace => self.mistake("record-as-element", Some(group)),
            _ => self.mistake("no-element", Some(group)),
        };
        if let Some(error) = known {
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
            let known = self.mistake("bare-element", Some(group));
            if let Some(error) = known.or_else(|| self.bare_node_error(group, typed)) {
                self.report_in(group, error);
            }
        }
        self.skip_element();
        true
    }

    /// The error about a bare name among elements that is no other mistake.
    fn bare_node_error(&mut self, group: Group, typed: bool) -> Option<Diagnostic> {
        let nodes = self.bare_nodes(group);
        let (name, text) = match &nodes {
            Some((node, _)) => ("node", node.as_str()),
            None => (if typed { "typed" } else { "bare" }, ""),
        };
        let facts = Facts { spans: &[], texts: &[(name, text)] };
        let error = self.mistake_with("bare-element-node", Some(group), facts)?;
        Some(match nodes {
            Some((_, edits)) => error.fix(Fix::edits("put it into parentheses", edits)),
            None => error,
        })
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
                self.two_words(group)
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

    /// Two words where one is expected.
    fn two_words(&mut self, group: Group) -> Option<Diagnostic> {
        if let Some(error) = self.mistake("joined-label", Some(group)) {
            return Some(error);
        }
        let label = self.is_colon(self.previous(self.last));
        let places: &[&str] = if label {
            &["two-words", "modified-type", "bare-attributes", "words-after-label"]
        } else {
            &["words-of-name"]
        };
        places.iter().find_map(|place| self.mistake(place, Some(group)))
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
