//! The tree as the reference grammar's S-expression.
//!
//! Two differences are converted: flat paths become nested relationships, and comments, which are
//! tokens in this tree, appear in the smallest node around them.
//!
//! There is no recursion, so trees of any depth can be printed.

use crate::lexer::is_space;
use crate::token::TokenKind as T;
use crate::tree::{Node, NodeKind as N, Tree};

/// The S-expression of a tree. Error nodes appear as `(ERROR)`.
pub(crate) fn sexp(tree: &Tree) -> String {
    let mut printer = Printer { tree, out: String::new(), stack: Vec::new() };
    printer.push(Step::Open { node: tree.root(), field: None });
    printer.run();
    printer.out
}

enum Step<'t> {
    /// Prints a node.
    Open { node: Node<'t>, field: Option<&'static str> },
    /// Prints the comments among the tokens from the first to before the second.
    Comments(u32, u32),
    /// Prints text as it is.
    Text(&'static str),
}

struct Printer<'t> {
    tree: &'t Tree,
    out: String,
    stack: Vec<Step<'t>>,
}

impl<'t> Printer<'t> {
    fn push(&mut self, step: Step<'t>) {
        self.stack.push(step);
    }

    fn run(&mut self) {
        while let Some(step) = self.stack.pop() {
            match step {
                Step::Open { node, field } => self.node(node, field),
                Step::Comments(from, to) => {
                    for index in from..to {
                        match self.tree.tokens.kind(index) {
                            T::Comment => self.out.push_str(" (comment)"),
                            T::DocComment => self.out.push_str(" (doc_comment)"),
                            _ => {}
                        }
                    }
                }
                Step::Text(text) => self.out.push_str(text),
            }
        }
    }

    fn begin(&mut self, field: Option<&'static str>, name: &str) {
        if !self.out.is_empty() {
            self.out.push(' ');
        }
        if let Some(field) = field {
            self.out.push_str(field);
            self.out.push_str(": ");
        }
        self.out.push('(');
        self.out.push_str(name);
    }

    fn node(&mut self, node: Node<'t>, field: Option<&'static str>) {
        match node.kind() {
            N::Path => self.path(node, field),
            N::String | N::TaggedString | N::QuotedName | N::DoubleQuotedName => {
                self.string(node, field);
            }
            kind => {
                self.begin(field, &name(kind));
                self.children(node);
            }
        }
    }

    /// Prints a node's children with the comments between them, then its end.
    fn children(&mut self, node: Node<'t>) {
        let mut steps = Vec::new();
        let mut from = node.first();
        for (index, child) in node.children().enumerate() {
            steps.push(Step::Comments(from, child.first()));
            steps.push(Step::Open { node: child, field: field(node, child, index) });
            from = child.last() + 1;
        }
        steps.push(Step::Comments(from, node.last() + 1));
        steps.push(Step::Text(")"));
        self.stack.extend(steps.into_iter().rev());
    }

    /// A path: one node, or relationships nested to the right.
    fn path(&mut self, path: Node<'t>, field: Option<&'static str>) {
        let parts: Vec<_> = path.children().collect();
        let [node, .., _] = parts.as_slice() else {
            if let [node] = parts.as_slice() {
                self.push(Step::Open { node: *node, field });
            }
            return;
        };
        let mut steps = Vec::new();
        let mut from = node.first();
        let relationships = parts.len() / 2;
        let mut part_field = "left";
        for (index, part) in parts.iter().enumerate() {
            steps.push(Step::Comments(from, part.first()));
            from = part.last() + 1;
            let last = index + 1 == parts.len();
            if index % 2 == 1 {
                steps.push(Step::Open { node: *part, field: Some("kind") });
                continue;
            }
            if last {
                part_field = "right";
            } else {
                steps.push(Step::Text(match (index, field) {
                    (0, None) => " (relationship_pattern",
                    (0, Some(_)) => " elements: (relationship_pattern",
                    _ => " right: (relationship_pattern",
                }));
            }
            steps.push(Step::Open { node: *part, field: Some(part_field) });
        }
        steps.extend((0..relationships).map(|_| Step::Text(")")));
        self.stack.extend(steps.into_iter().rev());
    }

    /// A string: its tag, its content if any, and comments between its pieces.
    fn string(&mut self, node: Node<'t>, field: Option<&'static str>) {
        self.begin(field, &name(node.kind()));
        for token in node.tokens() {
            match token.kind() {
                T::Comment => self.out.push_str(" (comment)"),
                T::DocComment => self.out.push_str(" (doc_comment)"),
                T::Symbol => self.out.push_str(" tag: (symbol)"),
                T::Fenced | T::FencedTagged => {
                    if token.kind() == T::FencedTagged {
                        self.out.push_str(" tag: (symbol)");
                    }
                    let text = token.text().trim_matches('`');
                    let body = text.find('\n').and_then(|at| text.get(at..)).unwrap_or_default();
                    if !body.bytes().all(is_space) {
                        self.out.push_str(" content: (string_content)");
                    }
                }
                T::SingleQuoted | T::DoubleQuoted | T::Backticked | T::QuoteText | T::FenceText => {
                    self.out.push_str(" content: (string_content)");
                }
                _ => {}
            }
        }
        self.out.push(')');
    }
}

/// The field of a child, by the kinds of both and the child's index.
fn field(parent: Node<'_>, child: Node<'_>, index: usize) -> Option<&'static str> {
    match (parent.kind(), child.kind()) {
        (N::Document, N::Record) => Some("root"),
        (N::AnnotatedPattern, N::Annotations) => Some("annotations"),
        (N::AnnotatedPattern, _) | (N::SubjectPattern, N::Elements) => Some("elements"),
        (N::PropertyAnnotation | N::RecordProperty | N::MapEntry, _) => {
            Some(if index == 0 { "key" } else { "value" })
        }
        (
            N::IdentifiedAnnotation
            | N::SubjectPattern
            | N::NodePattern
            | N::PatternReference
            | N::UndirectedArrow
            | N::LeftArrow
            | N::RightArrow
            | N::BidirectionalArrow,
            kind,
        ) => Some(match kind {
            N::Labels => "labels",
            N::Record => "record",
            N::Error => return None,
            _ => "identifier",
        }),
        (N::Range, _) => {
            let lower = index == 0 && parent.first() == child.first();
            Some(if lower { "lower" } else { "upper" })
        }
        _ => None,
    }
}

/// The reference's name for a kind of node: ours in snake case, with exceptions.
fn name(kind: N) -> String {
    let exception = match kind {
        N::Document => "gram_pattern",
        N::Elements => "subject_pattern_elements",
        N::Path => "relationship_pattern",
        N::String => "string_literal",
        N::Boolean => "boolean_literal",
        N::Error => "ERROR",
        _ => {
            let mut name = String::new();
            for c in format!("{kind:?}").chars() {
                if c.is_ascii_uppercase() && !name.is_empty() {
                    name.push('_');
                }
                name.push(c.to_ascii_lowercase());
            }
            return name;
        }
    };
    exception.to_owned()
}
