//! Typed views of nodes: subjects and the entries of records.

use crate::span::Span;
use crate::token::TokenKind;
use crate::tree::{Children, Node, NodeKind as N, Token};

/// The subject of a pattern, node or arrow: identifier, labels and record.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'t> {
    /// The identifier.
    pub identifier: Option<Node<'t>>,
    /// The `?` behind the identifier (extension E6).
    pub optional: Option<Span>,
    labels: Option<Node<'t>>,
    /// The record.
    pub record: Option<Node<'t>>,
}

impl<'t> Subject<'t> {
    /// The labels' names, in order.
    #[inline]
    pub fn labels(&self) -> impl Iterator<Item = Node<'t>> + Clone + use<'t> {
        let children = self.labels.into_iter().flat_map(Node::children);
        children.filter(|node| node.kind() != N::Error)
    }

    /// The node of all labels, with their colons.
    pub fn labels_node(&self) -> Option<Node<'t>> {
        self.labels
    }

    /// The entries of the record.
    #[inline]
    pub fn entries(&self) -> impl Iterator<Item = Entry<'t>> + Clone + use<'t> {
        self.record.into_iter().flat_map(Node::entries)
    }

    /// Whether the subject is empty: `()`.
    pub fn is_empty(&self) -> bool {
        self.identifier.is_none() && self.labels.is_none() && self.record.is_none()
    }
}

/// A key and its value in a record or map.
#[derive(Debug, Clone, Copy)]
pub struct Entry<'t> {
    /// The key: a symbol or a quoted name.
    pub key: Node<'t>,
    /// The value.
    pub value: Node<'t>,
}

impl<'t> Node<'t> {
    /// The subject of a subject pattern, node, arrow or identified annotation.
    pub fn subject(self) -> Subject<'t> {
        let mut subject = Subject { identifier: None, optional: None, labels: None, record: None };
        for child in self.children() {
            match child.kind() {
                N::Labels => subject.labels = Some(child),
                N::Record => subject.record = Some(child),
                N::Symbol | N::QuotedName | N::Integer => {
                    subject.identifier = Some(child);
                    subject.optional = child.optional_mark();
                }
                N::Elements => break,
                _ => {}
            }
        }
        subject
    }

    /// The `?` behind a name.
    pub fn optional_mark(self) -> Option<Span> {
        let tree = self.tree();
        if !tree.may_have(&[TokenKind::Question]) {
            return None;
        }
        let mut behind = tree.tokens_from(self.last() + 1);
        behind
            .find(|token| !token.kind().is_trivia())
            .filter(|token| token.kind() == TokenKind::Question)
            .map(Token::span)
    }

    /// The entries of a record or map that have both a key and a value.
    #[inline]
    pub fn entries(self) -> impl Iterator<Item = Entry<'t>> + Clone + use<'t> {
        self.children().filter_map(|entry| {
            let mut parts = entry.children().filter(|node| node.kind() != N::Error);
            Some(Entry { key: parts.next()?, value: parts.next()? })
        })
    }

    /// The elements of a subject pattern.
    pub fn elements(self) -> Children<'t> {
        self.child(N::Elements).map_or_else(|| self.no_children(), Node::children)
    }

    /// Whether this is an arrow of any kind.
    pub fn is_arrow(self) -> bool {
        use N::{BidirectionalArrow, LeftArrow, RightArrow, UndirectedArrow};
        matches!(self.kind(), UndirectedArrow | LeftArrow | RightArrow | BidirectionalArrow)
    }
}
