//! The tree: nodes over tokens.
//!
//! All nodes of a text are in one vector, parents before children. A tree is one allocation, is
//! dropped without recursion and is traversed in memory order.

use std::sync::Arc;

use crate::source::SourceFile;
use crate::span::{Span, offset};
use crate::token::{TokenKind, Tokens};

/// The kind of a node. The names are those of the reference grammar, except for paths: a path is one
/// flat node here and a chain of nested relationships there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum NodeKind {
    /// The whole document: an optional record, then patterns.
    Document,
    /// Annotations and the pattern that they annotate.
    AnnotatedPattern,
    /// One or more annotations.
    Annotations,
    /// `@@id:Label`
    IdentifiedAnnotation,
    /// `@key(value)`
    PropertyAnnotation,
    /// `[subject | elements]`
    SubjectPattern,
    /// The elements after the `|`.
    Elements,
    /// A name among elements.
    PatternReference,
    /// Nodes with arrows between them; or a single node.
    Path,
    /// `(subject)`
    NodePattern,
    /// `--`, and its like
    UndirectedArrow,
    /// `<--`
    LeftArrow,
    /// `-->`
    RightArrow,
    /// `<-->`
    BidirectionalArrow,
    /// The labels of a subject.
    Labels,
    /// `{key: value}` of a subject or document; also `<key: value>`.
    Record,
    /// One entry of a record.
    RecordProperty,
    /// `{key: value}` as a value.
    Map,
    /// One entry of a map.
    MapEntry,
    /// `[value, …]`
    Array,
    /// `1..2`, `1...`, `...2`
    Range,
    /// A bare word.
    Symbol,
    /// `` `…` `` as a name.
    QuotedName,
    /// `"…"` as a key.
    DoubleQuotedName,
    /// A string value.
    String,
    /// A string value with a tag.
    TaggedString,
    /// `true`, `false`
    Boolean,
    /// An integer.
    Integer,
    /// A number with a fraction.
    Decimal,
    /// `0x1f`
    Hexadecimal,
    /// `017`
    Octal,
    /// `2s`
    Measurement,
    /// A type expression as a label or inside of another one: members with `|` between them.
    TypeExpression,
    /// A member of a type expression: a primary type, then `[]` and `?`.
    TypeMember,
    /// The name of a type in a type expression.
    TypeName,
    /// `Map<T>`
    TypeArguments,
    /// `(T)`
    TypeGroup,
    /// `[T, U]`
    TypeTuple,
    /// `{name: T}`
    TypeRecord,
    /// A field of a record type.
    TypeField,
    /// Tokens that match no production.
    Error,
}

/// A node: its kind, its tokens from the first to the last, and where its subtree ends.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NodeData {
    pub(crate) kind: NodeKind,
    pub(crate) first: u32,
    pub(crate) last: u32,
    pub(crate) end: u32,
}

/// The tree of a text with its tokens and the text.
#[derive(Debug, Clone)]
pub struct Tree {
    pub(crate) source: Arc<SourceFile>,
    pub(crate) tokens: Tokens,
    pub(crate) nodes: Vec<NodeData>,
    /// For tokens that a doc comment precedes: the token and the comment, in order.
    pub(crate) docs: Vec<(u32, u32)>,
}

impl Tree {
    /// The text.
    pub fn source(&self) -> &Arc<SourceFile> {
        &self.source
    }

    /// The whole document.
    pub fn root(&self) -> Node<'_> {
        Node { tree: self, id: NodeId(0) }
    }

    /// The node with an id. An id of another tree returns an arbitrary node.
    pub fn node(&self, id: NodeId) -> Node<'_> {
        let id = if (id.0 as usize) < self.nodes.len() { id } else { NodeId(0) };
        Node { tree: self, id }
    }

    /// All tokens in order, without the empty one at the end.
    pub fn tokens(&self) -> impl Iterator<Item = Token<'_>> {
        (0..offset(self.tokens.len()).saturating_sub(1)).map(|index| self.token(index))
    }

    /// Whether tokens of one of these kinds may exist. If false, there are none. Takes constant time.
    pub fn may_have(&self, kinds: &[TokenKind]) -> bool {
        self.tokens.may_have(kinds)
    }

    /// The texts of all tokens. Joined, they are the text.
    pub fn token_texts(&self) -> impl Iterator<Item = &str> {
        self.tokens().map(Token::text)
    }

    pub(crate) fn token(&self, index: u32) -> Token<'_> {
        Token { tree: self, index }
    }

    /// The token that contains the byte at `offset`. The end token at the end of the text.
    pub fn token_at(&self, offset: u32) -> Token<'_> {
        self.token(self.tokens.at(offset))
    }

    /// The tokens that begin before `offset`, in order. Reverse iteration is as fast.
    pub fn tokens_before(&self, offset: u32) -> impl DoubleEndedIterator<Item = Token<'_>> {
        let count = if offset == 0 { 0 } else { self.tokens.at(offset - 1) + 1 };
        (0..count.min(self::offset(self.tokens.len()).saturating_sub(1)))
            .map(|index| self.token(index))
    }

    /// The tokens from an index on, without the end token.
    pub(crate) fn tokens_from(&self, index: u32) -> impl Iterator<Item = Token<'_>> {
        (index..offset(self.tokens.len()).saturating_sub(1)).map(|index| self.token(index))
    }

    /// The nodes from the document down to the innermost one that contains the byte at `offset`.
    pub fn nodes_at(&self, offset: u32) -> Vec<Node<'_>> {
        let mut found = vec![self.root()];
        let mut node = self.root();
        while let Some(child) = node.children().find(|child| {
            let span = child.span();
            span.start <= offset && offset < span.end
        }) {
            found.push(child);
            node = child;
        }
        found
    }
}

/// The index of a node in its tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(pub(crate) u32);

/// A node of a tree.
#[derive(Clone, Copy)]
pub struct Node<'t> {
    tree: &'t Tree,
    id: NodeId,
}

impl<'t> Node<'t> {
    fn data(self) -> &'t NodeData {
        // Nodes are only created with ids of their own tree.
        &self.tree.nodes[self.id.0 as usize]
    }

    /// The id.
    pub fn id(self) -> NodeId {
        self.id
    }

    /// The tree.
    pub fn tree(self) -> &'t Tree {
        self.tree
    }

    /// The kind.
    #[inline]
    pub fn kind(self) -> NodeKind {
        self.data().kind
    }

    /// The span from the first to the last token, without surrounding trivia.
    #[inline]
    pub fn span(self) -> Span {
        let data = self.data();
        Span::new(self.tree.tokens.start(data.first), self.tree.tokens.end(data.last))
    }

    /// Its text.
    pub fn text(self) -> &'t str {
        self.tree.source.slice(self.span())
    }

    /// Its children in order.
    #[inline]
    pub fn children(self) -> Children<'t> {
        Children { tree: self.tree, next: self.id.0 + 1, end: self.data().end }
    }

    pub(crate) fn no_children(self) -> Children<'t> {
        Children { tree: self.tree, next: 0, end: 0 }
    }

    /// The first child of the given kind.
    #[inline]
    pub fn child(self, kind: NodeKind) -> Option<Node<'t>> {
        self.children().find(|child| child.kind() == kind)
    }

    /// The node and its descendants, parents first.
    pub fn descendants(self) -> impl Iterator<Item = Node<'t>> {
        let tree = self.tree;
        (self.id.0..self.data().end).map(move |id| Node { tree, id: NodeId(id) })
    }

    /// Its tokens, trivia included.
    pub fn tokens(self) -> impl Iterator<Item = Token<'t>> {
        let (tree, data) = (self.tree, self.data());
        (data.first..=data.last).map(move |index| tree.token(index))
    }

    /// The index of its first token.
    pub(crate) fn first(self) -> u32 {
        self.data().first
    }

    /// The index of its last token.
    pub(crate) fn last(self) -> u32 {
        self.data().last
    }

    /// The innermost node of one of the kinds that contains the start of this node.
    pub fn enclosing(self, kinds: &[NodeKind]) -> Option<Self> {
        let around = self.tree.nodes_at(self.span().start);
        around.into_iter().rev().find(|node| kinds.contains(&node.kind()))
    }

    /// The first token of the given kind in the node.
    pub fn token(self, kind: TokenKind) -> Option<Token<'t>> {
        self.tokens().find(|token| token.kind() == kind)
    }

    /// The doc comment before the node, if there is only trivia between them.
    pub fn doc(self) -> Option<Token<'t>> {
        let first = self.data().first;
        // Usually there is no token before it, or only white space.
        let before = |by: u32| first.checked_sub(by).map(|token| self.tree.tokens.kind(token));
        let space = before(1)? == TokenKind::Whitespace;
        if !before(if space { 2 } else { 1 })?.is_trivia() {
            return None;
        }
        let docs = &self.tree.docs;
        let at = docs.binary_search_by_key(&first, |&(token, _)| token).ok()?;
        docs.get(at).map(|&(_, doc)| self.tree.token(doc))
    }
}

impl std::fmt::Debug for Node<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}@{:?}", self.kind(), self.span())
    }
}

/// The children of a node.
#[derive(Debug, Clone)]
pub struct Children<'t> {
    tree: &'t Tree,
    next: u32,
    end: u32,
}

impl<'t> Iterator for Children<'t> {
    type Item = Node<'t>;

    #[inline]
    fn next(&mut self) -> Option<Node<'t>> {
        if self.next >= self.end {
            return None;
        }
        let node = Node { tree: self.tree, id: NodeId(self.next) };
        self.next = node.data().end;
        Some(node)
    }
}

/// A token of a tree.
#[derive(Clone, Copy)]
pub struct Token<'t> {
    tree: &'t Tree,
    index: u32,
}

impl<'t> Token<'t> {
    /// The kind.
    pub fn kind(self) -> TokenKind {
        self.tree.tokens.kind(self.index)
    }

    /// The span.
    pub fn span(self) -> Span {
        self.tree.tokens.span(self.index)
    }

    /// Its text.
    pub fn text(self) -> &'t str {
        self.tree.source.slice(self.span())
    }
}

impl std::fmt::Debug for Token<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}@{:?}", self.kind(), self.span())
    }
}
