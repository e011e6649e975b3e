//! Completion.

mod context;
mod items;
mod named_values;
mod types;

use context::Expected;
use gramc_model::attributes::{AttributeSpec, find};
use gramc_syntax::{Span, Tree};
use lsp_types::CompletionList;

use crate::request::RequestContext;

pub(crate) fn attribute_at(tree: &Tree, key: Span) -> Option<&'static AttributeSpec> {
    let Expected::Key(owner) = context::context(tree, key.start).expected else { return None };
    find(owner.attribute_owner()?, tree.source().slice(key).trim_matches(['`', '"', '\'']))
}

/// `textDocument/completion`
pub(crate) fn completion(cx: &RequestContext, at: u32) -> CompletionList {
    let context = context::context(cx.tree(), at);
    let (items, is_incomplete) = items::items(cx, &context);
    CompletionList { is_incomplete, items }
}
