//! The reference parser, `tree-sitter-gram`, behind the two questions that the tests ask.

use std::cell::RefCell;

use tree_sitter::{Language, Parser};

thread_local! {
    /// One parser per thread: making one costs more than parsing a small document.
    static PARSER: RefCell<Parser> = RefCell::new(new_parser());
}

fn language() -> Language {
    tree_sitter_gram::LANGUAGE.into()
}

fn new_parser() -> Parser {
    let mut parser = Parser::new();
    parser.set_language(&language()).expect("the grammar fits the tree-sitter library");
    parser
}

/// What the reference says about a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// Whether the tree holds neither an error nor a node that the parser invented (`MISSING`).
    pub accepted: bool,
    /// The tree in the reference's S-expression form.
    pub sexp: String,
}

/// Parses `text` with the reference.
pub fn parse(text: &str) -> Verdict {
    PARSER.with_borrow_mut(|parser| {
        let tree = parser.parse(text, None).expect("no timeout and no cancellation are set");
        let root = tree.root_node();
        // A missing node has an error cost, so `has_error` speaks of both kinds.
        Verdict { accepted: !root.has_error(), sexp: root.to_sexp() }
    })
}

/// Whether the reference accepts `text`.
pub fn accepts(text: &str) -> bool {
    PARSER.with_borrow_mut(|parser| {
        let tree = parser.parse(text, None).expect("no timeout and no cancellation are set");
        !tree.root_node().has_error()
    })
}

/// The reference's tree of `text` as an S-expression.
pub fn sexp(text: &str) -> String {
    parse(text).sexp
}

/// The names of all nodes that a tree without errors can show in its S-expression.
pub fn named_kinds() -> Vec<String> {
    let language = language();
    let mut kinds: Vec<String> = (0..language.node_kind_count())
        .filter_map(|id| u16::try_from(id).ok())
        .filter(|&id| language.node_kind_is_named(id) && language.node_kind_is_visible(id))
        .filter_map(|id| language.node_kind_for_id(id).map(str::to_owned))
        .collect();
    kinds.sort_unstable();
    kinds.dedup();
    kinds
}

/// The node names of an S-expression, in order and with repetitions.
pub fn kinds_of_sexp(sexp: &str) -> impl Iterator<Item = &str> {
    sexp.split('(').skip(1).map(|part| {
        let end = part.find([' ', ')']).unwrap_or(part.len());
        &part[..end]
    })
}
