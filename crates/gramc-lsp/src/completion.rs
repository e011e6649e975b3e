//! Completion.

mod context;
mod items;
mod named_values;
mod types;

use context::Expected;
use gramc_model::attributes::{AttributeSpec, find};
use gramc_syntax::{Span, Tree};
use lsp_types::{CompletionList, CompletionParams, CompletionResponse};

use crate::request::{RequestContext, RequestResult};

/// The attribute whose key is at a span.
pub(crate) fn attribute_at(tree: &Tree, key: Span) -> Option<&'static AttributeSpec> {
    let Expected::Key(owner) = context::context(tree, key.start).expected else { return None };
    find(owner.attribute_owner()?, tree.source().slice(key).trim_matches(['`', '"', '\'']))
}

/// `textDocument/completion`
pub(crate) fn completion(
    cx: &RequestContext,
    params: CompletionParams,
) -> RequestResult<Option<CompletionResponse>> {
    let at = cx.positions().offset(params.text_document_position.position);
    let context = context::context(cx.file.parse().tree(), at);
    let (items, is_incomplete) = items::items(cx, &context);
    Ok(Some(CompletionResponse::List(CompletionList { is_incomplete, items })))
}
