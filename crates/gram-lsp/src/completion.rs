//! Completion: what could stand at a place, with what it is for.

mod context;
mod edits;
mod items;

use lsp_types::{CompletionList, CompletionParams, CompletionResponse};

use crate::dispatch::{Answer, Cx};
pub(crate) use items::member;

/// `textDocument/completion`
pub(crate) fn completion(cx: &Cx, params: CompletionParams) -> Answer<Option<CompletionResponse>> {
    let at = cx.positions().offset(params.text_document_position.position);
    let context = context::context(cx.file.parse().tree(), at);
    let (items, is_incomplete) = items::items(cx, &context);
    Ok(Some(CompletionResponse::List(CompletionList { is_incomplete, items })))
}
