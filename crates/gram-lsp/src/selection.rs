//! Ever larger selections: from a word outwards, node by node.

use lsp_types::{SelectionRange, SelectionRangeParams};

use crate::dispatch::{Answer, Cx};
use crate::place::chain;

/// `textDocument/selectionRange`
pub(crate) fn ranges(cx: &Cx, params: SelectionRangeParams) -> Answer<Vec<SelectionRange>> {
    let positions = cx.positions();
    let of = |position| {
        let at = positions.offset(position);
        let mut found: Option<SelectionRange> = None;
        for node in chain(cx.file.parse().tree(), at) {
            let range = positions.range(node.span());
            if found.as_ref().is_some_and(|outer| outer.range == range) {
                continue;
            }
            found = Some(SelectionRange { range, parent: found.map(Box::new) });
        }
        let range = lsp_types::Range::new(position, position);
        found.unwrap_or(SelectionRange { range, parent: None })
    };
    Ok(params.positions.into_iter().map(of).collect())
}
