//! Completion.

mod context;
mod edits;
mod items;

use lsp_types::{CompletionList, CompletionParams, CompletionResponse};

use crate::request::{RequestContext, RequestResult};
pub(crate) use items::member;

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
