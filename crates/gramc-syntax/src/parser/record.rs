//! Subjects: identifier, labels and record.

use super::Parser;
use super::group::{After, Group, Items};
use crate::parse::Extension;
use crate::span::Span;
use crate::token::TokenKind as T;
use crate::tree::NodeKind as N;

impl Parser<'_> {
    /// `subject = identifier? labels? record?`
    pub(super) fn subject(&mut self) {
        self.subject_of(false);
    }

    /// The subject of a node, whose label may be a type expression (E5) and whose identifier may be
    /// optional (E6).
    pub(super) fn node_subject(&mut self) {
        self.subject_of(true);
    }

    fn subject_of(&mut self, node: bool) {
        let before = self.last;
        if self.identifier() && node && self.kind() == T::Question {
            self.extension(Extension::OptionalMark, self.span(self.at));
            self.bump();
        }
        if !node {
            self.foreign_head();
        }
        let labelled = self.labels_of(node);
        if labelled && !node {
            self.foreign_head();
        }
        if matches!(self.kind(), T::LBrace | T::Less) {
            self.record();
        } else if self.last != before && self.record_without_brace() {
            let record = self.open(N::Record);
            let group = self.group(T::RBrace);
            self.record_properties(group);
            self.close(record);
        }
    }

    /// `identifier = symbol | quoted_name | integer`, if one comes.
    pub(super) fn identifier(&mut self) -> bool {
        match self.kind() {
            T::Symbol => self.leaf(N::Symbol),
            T::Integer => self.leaf(N::Integer),
            _ => return self.quoted_name(),
        }
        true
    }

    /// ``quoted_name = "`" text "`"``, if one comes.
    fn quoted_name(&mut self) -> bool {
        match self.kind() {
            T::Backticked => self.leaf(N::QuotedName),
            T::QuoteOpen if self.text(self.at) == "`" => self.string_pieces(N::QuotedName),
            _ => return false,
        }
        true
    }

    /// `labels = ( ( ":" | "::" ) ( symbol | quoted_name ) )+`, if there are any.
    pub(super) fn labels(&mut self) -> bool {
        self.labels_of(false)
    }

    /// The labels of a node: E5 adds type expressions.
    fn labels_of(&mut self, node: bool) -> bool {
        if !matches!(self.kind(), T::Colon | T::ColonColon) {
            return false;
        }
        let labels = self.open(N::Labels);
        while matches!(self.kind(), T::Colon | T::ColonColon) {
            self.bump();
            let start = self.checkpoint();
            if node && self.at_bare_type() {
                self.bare_type();
            } else if self.kind() == T::Symbol {
                self.leaf(N::Symbol);
            } else if !self.quoted_name() {
                self.missing_type();
            }
            if node {
                self.malformed_type(start);
            }
        }
        self.close(labels);
        true
    }

    /// `record = "{" ( record_property ( "," record_property )* )? "}"`, and E2's form of it.
    pub(super) fn record(&mut self) {
        let record = self.open(N::Record);
        let angle = self.kind() == T::Less;
        let group = self.group(if angle { T::Greater } else { T::RBrace });
        self.bump();
        if self.kind() == group.closer {
            self.close_group(group, Items::Entries);
        } else {
            self.record_properties(group);
        }
        self.close(record);
        if angle {
            let span = Span::new(self.span(group.opener).start, self.span(self.last).end);
            self.extension(Extension::AngleRecord, span);
        }
    }

    fn record_properties(&mut self, group: Group) {
        loop {
            let property = self.open(N::RecordProperty);
            if self.key(group) {
                if matches!(self.kind(), T::Colon | T::ColonColon) {
                    self.bump();
                    self.value();
                } else if self.missing_colon(group) {
                    self.value();
                }
            } else {
                self.node(property).kind = N::Error;
            }
            self.close(property);
            if self.after_item(group, Items::Entries) != After::Item {
                return;
            }
        }
    }

    /// `key = symbol | quoted_name | double_quoted_name`; reports when none comes.
    pub(super) fn key(&mut self, group: Group) -> bool {
        match self.kind() {
            T::Symbol => self.leaf(N::Symbol),
            T::DoubleQuoted => self.leaf(N::DoubleQuotedName),
            T::QuoteOpen if self.text(self.at) == "\"" => self.string_pieces(N::DoubleQuotedName),
            _ => {
                if !self.quoted_name() {
                    return self.missing_key(group);
                }
            }
        }
        true
    }
}
