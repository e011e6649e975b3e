//! Selection ranges: the nodes around a position.

use lsp_types::{SelectionRange, SelectionRangeParams};

use crate::lookup::chain;
use crate::request::RequestContext;

/// `textDocument/selectionRange`
pub(crate) fn ranges(cx: &RequestContext, params: SelectionRangeParams) -> Vec<SelectionRange> {
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
