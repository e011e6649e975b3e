//! Folding ranges of declarations, records, lists and comments, and selection ranges: the nodes around a
//! position.

use gramc_syntax::{NodeKind as N, Span, TokenKind as T};
use lsp_types::{FoldingRange, FoldingRangeKind, SelectionRange, SelectionRangeParams};

use crate::lookup::{chain, header};
use crate::request::RequestContext;

/// `textDocument/foldingRange`
pub(crate) fn folding_ranges(cx: &RequestContext) -> Vec<FoldingRange> {
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
    let header = header(tree);
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

/// `textDocument/selectionRange`
pub(crate) fn selection_ranges(
    cx: &RequestContext,
    params: SelectionRangeParams,
) -> Vec<SelectionRange> {
    let positions = cx.positions();
    let of = |position| {
        let at = positions.offset(position);
        let mut found: Option<SelectionRange> = None;
        for node in chain(cx.tree(), at) {
            let range = positions.range(node.span());
            if found.as_ref().is_some_and(|outer| outer.range == range) {
                continue;
            }
            found = Some(SelectionRange { range, parent: found.map(Box::new) });
        }
        let range = lsp_types::Range::new(position, position);
        found.unwrap_or(SelectionRange { range, parent: None })
    };
    params.positions.into_iter().map(of).collect()
}
