//! The difference between a text and its formatted form, as edits.

use crate::diagnostic::Edit;
use crate::span::{Span, offset};
use crate::tree::Tree;

/// The edits that lead from one text to the other, in the patterns of the top level that a span
/// touches. Both texts have the same tokens, so that only the text between them is compared.
pub(super) fn edits(before: &Tree, after: &Tree, span: Span) -> Vec<Edit> {
    let mut edits = Vec::new();
    let (mut start, mut other_start, mut other) = (0, 0, 0);
    let mut touched = Touched::new(before, span);
    for token in 0..offset(before.tokens.len()) {
        if before.tokens.kind(token).is_trivia() {
            continue;
        }
        while after.tokens.kind(other).is_trivia() {
            other += 1;
        }
        let (place, other_place) = (before.tokens.span(token), after.tokens.span(other));
        if touched.contains(token) {
            let gap = Span::new(start, place.start);
            let text = after.source.slice(Span::new(other_start, other_place.start));
            edits.extend(smallest(gap, before.source.slice(gap), text));
        }
        (start, other_start, other) = (place.end, other_place.end, other + 1);
    }
    edits
}

/// Finds tokens in patterns that a span touches. Queries are in token order.
struct Touched<'t> {
    tree: &'t Tree,
    span: Span,
    /// The pattern of the last token, or the one after it.
    node: u32,
}

impl<'t> Touched<'t> {
    fn new(tree: &'t Tree, span: Span) -> Self {
        Self { tree, span, node: 1 }
    }

    fn contains(&mut self, token: u32) -> bool {
        let mut end = 0;
        while let Some(node) = self.tree.nodes.get(self.node as usize) {
            let (first, last) =
                (self.tree.tokens.span(node.first), self.tree.tokens.span(node.last));
            if token <= node.last {
                return first.start <= self.span.end && self.span.start <= last.end;
            }
            end = last.end;
            self.node = node.end;
        }
        // The end of the text.
        self.span.end > end || self.span.end as usize >= self.tree.source.text().len()
    }
}

/// The smallest edit that makes `text` of the `old` text in a span, if they differ.
fn smallest(span: Span, old: &str, text: &str) -> Option<Edit> {
    if old == text {
        return None;
    }
    let same = |a: &(char, char)| a.0 == a.1;
    let prefix: usize =
        old.chars().zip(text.chars()).take_while(same).map(|(c, _)| c.len_utf8()).sum();
    let (old, text) =
        (old.get(prefix..).unwrap_or_default(), text.get(prefix..).unwrap_or_default());
    let suffix: usize =
        old.chars().rev().zip(text.chars().rev()).take_while(same).map(|(c, _)| c.len_utf8()).sum();
    let text = text.get(..text.len() - suffix).unwrap_or_default().to_owned();
    let span = Span::new(span.start + offset(prefix), span.end - offset(suffix));
    Some(Edit::new(span, text))
}
