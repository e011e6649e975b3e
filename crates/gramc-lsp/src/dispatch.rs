//! Dispatch of requests to their handlers.

use lsp_types::Uri;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::document_kind::DocumentKind;
use crate::message::ErrorCode;
use crate::request::{RequestContext, RequestError, RequestResult};
use crate::transport::Json;
use crate::{
    actions, completion, diagnostics, folding, formatting, goto, hierarchy, hover, inlay, lens,
    named_files, rename, selection, signature, symbols, test_groups, tokens,
};

/// The document that the parameters name.
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

/// Deserializes the parameters, calls the handler and serializes its result.
fn run<P: DeserializeOwned, R: Serialize>(
    cx: &RequestContext,
    params: Value,
    work: impl Fn(&RequestContext, P) -> RequestResult<R>,
) -> RequestResult<Json> {
    let params = serde_json::from_value(params)
        .map_err(|error| RequestError::invalid(format!("invalid parameters: {error}")))?;
    serialize(&work(cx, params)?)
}

pub(crate) fn serialize(made: &impl Serialize) -> RequestResult<Json> {
    let json = serde_json::to_string(made).map(Json);
    json.map_err(|error| RequestError(ErrorCode::InternalError, error.to_string()))
}

fn handler(method: &str) -> Option<Handler> {
    Some(match method {
        "textDocument/diagnostic" => |cx, params| run(cx, params, diagnostics::pull),
        "textDocument/hover" => |cx, params| run(cx, params, hover::hover),
        "textDocument/completion" => |cx, params| run(cx, params, completion::completion),
        "textDocument/signatureHelp" => |cx, params| run(cx, params, signature::help),
        "textDocument/definition" => |cx, params| run(cx, params, goto::definition),
        "textDocument/typeDefinition" => |cx, params| run(cx, params, goto::type_definition),
        "textDocument/implementation" => |cx, params| run(cx, params, goto::implementation),
        "textDocument/references" => |cx, params| run(cx, params, goto::references),
        "textDocument/documentHighlight" => |cx, params| run(cx, params, goto::highlights),
        "textDocument/prepareRename" => |cx, params| run(cx, params, rename::prepare),
        "textDocument/rename" => |cx, params| run(cx, params, rename::rename),
        "textDocument/documentSymbol" => |cx, params| run(cx, params, symbols::of_document),
        "textDocument/foldingRange" => |cx, params| run(cx, params, folding::ranges),
        "textDocument/selectionRange" => |cx, params| run(cx, params, selection::ranges),
        "textDocument/semanticTokens/full" => |cx, params| run(cx, params, tokens::full),
        "textDocument/semanticTokens/range" => |cx, params| run(cx, params, tokens::range),
        "textDocument/semanticTokens/full/delta" => |cx, params| run(cx, params, tokens::delta),
        "textDocument/formatting" => |cx, params| run(cx, params, formatting::document),
        "textDocument/rangeFormatting" => |cx, params| run(cx, params, formatting::range),
        "textDocument/onTypeFormatting" => |cx, params| run(cx, params, formatting::on_type),
        "textDocument/documentLink" => |cx, params| run(cx, params, named_files::links),
        "textDocument/inlayHint" => |cx, params| run(cx, params, inlay::hints),
        "textDocument/codeLens" => |cx, params| run(cx, params, lens::lenses),
        "codeLens/resolve" => |cx, params| run(cx, params, lens::resolve),
        "textDocument/codeAction" => |cx, params| run(cx, params, actions::actions),
        "textDocument/prepareCallHierarchy" => |cx, params| run(cx, params, hierarchy::prepare),
        "callHierarchy/incomingCalls" => |cx, params| run(cx, params, hierarchy::incoming),
        "callHierarchy/outgoingCalls" => |cx, params| run(cx, params, hierarchy::outgoing),
        _ => return None,
    })
}
