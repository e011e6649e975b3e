//! Document links of imports.

use lsp_types::{DocumentLink, DocumentLinkParams};

use crate::request::{RequestContext, RequestResult};

/// `textDocument/documentLink`
pub(crate) fn links(
    cx: &RequestContext,
    _: DocumentLinkParams,
) -> RequestResult<Vec<DocumentLink>> {
    let links = cx.snapshot.imports().of.get(cx.number).into_iter().flatten();
    let link = |link: &gram_check::ResolvedImport| {
        let number = *link.text.as_ref().ok()?;
        let target = cx.snapshot.text(number)?.uri.clone();
        // Without the quotes.
        let (start, end) = (link.span.start + 1, link.span.end.saturating_sub(1));
        let range = cx.positions().range(gram_syntax::Span::new(start, end));
        Some(DocumentLink { range, target: Some(target), tooltip: None, data: None })
    };
    Ok(links.filter_map(link).collect())
}
