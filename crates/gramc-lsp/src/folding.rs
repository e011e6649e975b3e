//! Folding ranges of declarations, records, lists and comments.

use gramc_syntax::{NodeKind as N, Span, TokenKind as T};
use lsp_types::{FoldingRange, FoldingRangeKind};

use crate::request::RequestContext;

/// `textDocument/foldingRange`
pub(crate) fn ranges(cx: &RequestContext) -> Vec<FoldingRange> {
    let tree = cx.tree();
    let positions = cx.positions();
    let mut found = Vec::new();
    let mut add = |span: Span, kind: Option<FoldingRangeKind>| {
        let range = positions.range(span);
        if range.start.line < range.end.line {
            found.push(FoldingRange {
                start_line: range.start.line,
                end_line: range.end.line,
                kind,
                ..FoldingRange::default()
            });
        }
    };
    let header = tree.root().children().next().filter(|node| node.kind() == N::Record);
    for node in tree.root().descendants() {
        match node.kind() {
            N::Record if header.is_some_and(|header| header.id() == node.id()) => {
                add(node.span(), Some(FoldingRangeKind::Imports));
            }
            N::SubjectPattern | N::Record | N::Map | N::Array => add(node.span(), None),
            _ => {}
        }
    }
    // Comments on consecutive lines are folded together.
    let mut block: Option<Span> = None;
    for token in tree.tokens() {
        match token.kind() {
            T::DocComment => add(token.span(), Some(FoldingRangeKind::Comment)),
            T::Comment => {
                block = Some(block.map_or(token.span(), |block| block.cover(token.span())));
            }
            T::Whitespace if token.text().matches('\n').count() <= 1 => {}
            _ => {
                if let Some(block) = block.take() {
                    add(block, Some(FoldingRangeKind::Comment));
                }
            }
        }
    }
    if let Some(block) = block {
        add(block, Some(FoldingRangeKind::Comment));
    }
    found.sort_by_key(|range| (range.start_line, std::cmp::Reverse(range.end_line)));
    found.dedup_by_key(|range| (range.start_line, range.end_line));
    found
}
