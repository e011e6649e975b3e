//! Dispatch of requests to their handlers.

use gramc_syntax::Span;
use lsp_types as lsp;
use lsp_types::Uri;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::document_kind::DocumentKind;
use crate::message::ErrorCode;
use crate::request::{RequestContext, RequestError, RequestResult};
use crate::transport::Json;
use crate::{
    actions, completion, diagnostics, formatting, goto, hierarchy, hover, inlay, lens, named_files,
    ranges, rename, signature, symbols, test_groups, tokens,
};

pub(crate) fn document(params: &Value) -> Option<Uri> {
    let uri = [
        params.pointer("/textDocument/uri"),
        params.pointer("/item/uri"),
        params.pointer("/data/uri"),
    ];
    uri.into_iter().flatten().next()?.as_str()?.parse().ok()
}

/// Whether a request is about one document. `None` for an unknown method.
pub(crate) fn is_about_document(method: &str) -> Option<bool> {
    if handler(method).is_some() {
        return Some(true);
    }
    let about_all = matches!(
        method,
        "workspace/symbol"
            | "workspace/diagnostic"
            | "workspace/executeCommand"
            | "workspace/willRenameFiles"
            | test_groups::METHOD
    );
    about_all.then_some(false)
}

/// Handles a request about a document.
pub(crate) fn answer(cx: &RequestContext, method: &str, params: Value) -> RequestResult<Json> {
    let known = handler(method).ok_or_else(|| RequestError::invalid("unknown method"))?;
    let handler = match cx.file.kind {
        DocumentKind::Gram => Some(known),
        DocumentKind::Fence => Some(known).filter(|_| FENCE_METHODS.contains(&method)),
        DocumentKind::Project | DocumentKind::Data => {
            Some(known).filter(|_| [DIAGNOSTIC, "textDocument/codeAction"].contains(&method))
        }
        DocumentKind::Markdown | DocumentKind::Other => {
            Some(known).filter(|_| method == DIAGNOSTIC)
        }
    };
    handler.map_or_else(|| serialize(&Value::Null), |handler| handler(cx, params))
}

/// The answer about an open document that is not analyzed.
pub(crate) fn empty_answer(method: &str) -> Value {
    if method == DIAGNOSTIC { json!({"kind": "full", "items": []}) } else { Value::Null }
}

const DIAGNOSTIC: &str = "textDocument/diagnostic";

/// The requests that are answered in fences of Markdown documents.
const FENCE_METHODS: [&str; 7] = [
    "textDocument/hover",
    "textDocument/completion",
    "textDocument/signatureHelp",
    "textDocument/definition",
    "textDocument/typeDefinition",
    "textDocument/documentHighlight",
    "textDocument/codeAction",
];

type Handler = fn(&RequestContext, Value) -> RequestResult<Json>;

pub(crate) fn read<P: DeserializeOwned>(params: Value) -> RequestResult<P> {
    serde_json::from_value(params)
        .map_err(|error| RequestError::invalid(format!("invalid parameters: {error}")))
}

pub(crate) fn serialize(made: &impl Serialize) -> RequestResult<Json> {
    let json = serde_json::to_string(made).map(Json);
    json.map_err(|error| RequestError(ErrorCode::InternalError, error.to_string()))
}

fn run<P: DeserializeOwned, R: Serialize>(
    cx: &RequestContext,
    params: Value,
    work: impl Fn(&RequestContext, P) -> R,
) -> RequestResult<Json> {
    serialize(&work(cx, read(params)?))
}

fn try_run<P: DeserializeOwned, R: Serialize>(
    cx: &RequestContext,
    params: Value,
    work: impl Fn(&RequestContext, P) -> RequestResult<R>,
) -> RequestResult<Json> {
    serialize(&work(cx, read(params)?)?)
}

/// Calls a handler with the offset of the cursor.
fn at<R: Serialize>(
    cx: &RequestContext,
    params: Value,
    work: impl Fn(&RequestContext, u32) -> R,
) -> RequestResult<Json> {
    let params: lsp::TextDocumentPositionParams = read(params)?;
    serialize(&work(cx, cx.positions().offset(params.position)))
}

/// Calls a handler with a span of the document.
fn within<R: Serialize>(
    cx: &RequestContext,
    params: Value,
    work: impl Fn(&RequestContext, Span) -> R,
) -> RequestResult<Json> {
    let params: lsp::InlayHintParams = read(params)?;
    serialize(&work(cx, cx.positions().span(params.range)))
}

fn handler(method: &str) -> Option<Handler> {
    Some(match method {
        DIAGNOSTIC => |cx, params| run(cx, params, diagnostics::pull),
        "textDocument/hover" => |cx, params| at(cx, params, hover::hover),
        "textDocument/completion" => |cx, params| at(cx, params, completion::completion),
        "textDocument/signatureHelp" => |cx, params| at(cx, params, signature::help),
        "textDocument/definition" => |cx, params| at(cx, params, goto::definition),
        "textDocument/typeDefinition" => |cx, params| at(cx, params, goto::type_definition),
        "textDocument/implementation" => |cx, params| at(cx, params, goto::implementation),
        "textDocument/references" => |cx, params| run(cx, params, goto::references),
        "textDocument/documentHighlight" => |cx, params| at(cx, params, goto::highlights),
        "textDocument/prepareRename" => |cx, params| try_run(cx, params, rename::prepare),
        "textDocument/rename" => |cx, params| try_run(cx, params, rename::rename),
        "textDocument/documentSymbol" => |cx, _| serialize(&symbols::of_document(cx)),
        "textDocument/foldingRange" => |cx, _| serialize(&ranges::folding_ranges(cx)),
        "textDocument/selectionRange" => |cx, params| run(cx, params, ranges::selection_ranges),
        "textDocument/semanticTokens/full" => |cx, _| serialize(&tokens::full(cx)),
        "textDocument/semanticTokens/range" => |cx, params| within(cx, params, tokens::range),
        "textDocument/semanticTokens/full/delta" => |cx, params| run(cx, params, tokens::delta),
        "textDocument/formatting" => |cx, _| serialize(&formatting::document(cx)?),
        "textDocument/rangeFormatting" => |cx, params| try_run(cx, params, formatting::range),
        "textDocument/onTypeFormatting" => |cx, params| at(cx, params, formatting::on_type),
        "textDocument/documentLink" => |cx, _| serialize(&named_files::links(cx)),
        "textDocument/inlayHint" => |cx, params| within(cx, params, inlay::hints),
        "textDocument/codeLens" => |cx, _| serialize(&lens::lenses(cx)),
        "codeLens/resolve" => |cx, params| run(cx, params, lens::resolve),
        "textDocument/codeAction" => |cx, params| run(cx, params, actions::actions),
        "textDocument/prepareCallHierarchy" => |cx, params| at(cx, params, hierarchy::prepare),
        "callHierarchy/incomingCalls" => |cx, params| run(cx, params, hierarchy::incoming),
        "callHierarchy/outgoingCalls" => |cx, params| run(cx, params, hierarchy::outgoing),
        _ => return None,
    })
}
