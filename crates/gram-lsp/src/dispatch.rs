//! From the name of a request to what answers it.

use std::sync::Arc;

use lsp_server::{ErrorCode, ResponseError};
use lsp_types::Uri;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::client::Client;
use crate::file::File;
use crate::position::Positions;
use crate::snapshot::Snapshot;
use crate::transport::Json;
use crate::{
    actions, completion, diagnostics, folding, formatting, goto, hierarchy, hover, inlay, lens,
    links, rename, selection, signature, symbols, tokens,
};

/// Why a request is refused, in a sentence that a person may read.
#[derive(Debug)]
pub(crate) struct Refusal(pub(crate) ErrorCode, pub(crate) String);

impl Refusal {
    /// A request that says something impossible.
    pub(crate) fn invalid(why: impl Into<String>) -> Self {
        Self(ErrorCode::InvalidParams, why.into())
    }

    /// A request that makes sense, and cannot be granted.
    pub(crate) fn failed(why: impl Into<String>) -> Self {
        Self(ErrorCode::RequestFailed, why.into())
    }
}

impl From<Refusal> for ResponseError {
    fn from(Refusal(code, message): Refusal) -> Self {
        Self { code: code as i32, message, data: None }
    }
}

/// What comes of a request.
pub(crate) type Answer<T> = Result<T, Refusal>;

/// What a request is answered by: a project at one moment, and the document that it is about.
#[derive(Debug)]
pub(crate) struct Cx {
    pub(crate) snapshot: Arc<Snapshot>,
    pub(crate) client: Arc<Client>,
    /// The number of the document.
    pub(crate) number: usize,
    pub(crate) file: Arc<File>,
}

impl Cx {
    /// The positions in the document.
    pub(crate) fn positions(&self) -> Positions<'_> {
        self.file.positions(self.snapshot.encoding)
    }
}

/// The document that a request is about.
pub(crate) fn document(params: &Value) -> Option<Uri> {
    let uri = [
        params.pointer("/textDocument/uri"),
        params.pointer("/item/uri"),
        params.pointer("/data/uri"),
    ];
    uri.into_iter().flatten().next()?.as_str()?.parse().ok()
}

/// Whether a request is about a document, and whether there is such a request at all.
pub(crate) fn is_about_document(method: &str) -> Option<bool> {
    if handler(method).is_some() {
        return Some(true);
    }
    matches!(method, "workspace/symbol" | "workspace/diagnostic" | "workspace/executeCommand")
        .then_some(false)
}

/// Answers a request about a document.
pub(crate) fn answer(cx: &Cx, method: &str, params: Value) -> Answer<Json> {
    let handler = handler(method).ok_or_else(|| Refusal::invalid("nobody knows this request"))?;
    handler(cx, params)
}

type Handler = fn(&Cx, Value) -> Answer<Json>;

/// Reads what a request says, and writes what comes of it.
fn run<P: DeserializeOwned, R: Serialize>(
    cx: &Cx,
    params: Value,
    work: impl Fn(&Cx, P) -> Answer<R>,
) -> Answer<Json> {
    let params = serde_json::from_value(params).map_err(|error| {
        Refusal::invalid(format!("the parameters are of another shape: {error}"))
    })?;
    json(&work(cx, params)?)
}

/// What comes of a request, as JSON.
pub(crate) fn json(made: &impl Serialize) -> Answer<Json> {
    let json = serde_json::to_string(made).map(Json);
    json.map_err(|error| Refusal(ErrorCode::InternalError, error.to_string()))
}

fn handler(method: &str) -> Option<Handler> {
    Some(match method {
        "textDocument/diagnostic" => |cx, params| run(cx, params, diagnostics::pull),
        "textDocument/hover" => |cx, params| run(cx, params, hover::hover),
        "textDocument/completion" => |cx, params| run(cx, params, completion::completion),
        "textDocument/signatureHelp" => |cx, params| run(cx, params, signature::help),
        "textDocument/definition" => |cx, params| run(cx, params, goto::definition),
        "textDocument/typeDefinition" => |cx, params| run(cx, params, goto::type_definition),
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
        "textDocument/documentLink" => |cx, params| run(cx, params, links::links),
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
