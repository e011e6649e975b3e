//! Signature help.

use gramc_check::names::Kind;
use gramc_syntax::Node;
use lsp_types as lsp;

use crate::lookup::{description, signature, touches};
use crate::request::{RequestContext, RequestResult};

/// `textDocument/signatureHelp`
pub(crate) fn help(
    cx: &RequestContext,
    params: lsp::SignatureHelpParams,
) -> RequestResult<Option<lsp::SignatureHelp>> {
    let at = cx.positions().offset(params.text_document_position_params.position);
    let own = cx.snapshot.names().of(cx.number);
    let tool = own.iter().rfind(|one| one.kind == Kind::Tool && touches(one.span, at));
    let Some(tool) = tool else { return Ok(None) };
    let parts = signature(cx.file.parse().tree().node(tool.node));
    let (Some(first), Some(last)) = (parts.first(), parts.last()) else { return Ok(None) };
    if !touches(first.span().cover(last.span()), at) {
        return Ok(None);
    }
    let encoding = cx.positions().encoding();
    let mut label = format!("{}: ", tool.name);
    let mut parameters = Vec::new();
    for (number, part) in parts.iter().enumerate() {
        if number > 0 {
            label.push_str("==>");
        }
        let start = encoding.count(&label);
        label.push_str(&short(*part));
        let end = encoding.count(&label);
        parameters.push(lsp::ParameterInformation {
            label: lsp::ParameterLabel::LabelOffsets([start, end]),
            documentation: description(*part).map(lsp::Documentation::String),
        });
    }
    let active = parts.iter().position(|part| at <= part.span().end).unwrap_or(parts.len() - 1);
    let active = crate::position::number(active);
    let documentation = cx.file.parse().tree().node(tool.node).doc_text();
    let documentation = documentation.map(std::borrow::Cow::into_owned);
    Ok(Some(lsp::SignatureHelp {
        signatures: vec![lsp::SignatureInformation {
            label,
            documentation: documentation.map(lsp::Documentation::String),
            parameters: Some(parameters),
            active_parameter: Some(active),
        }],
        active_signature: Some(0),
        active_parameter: Some(active),
    }))
}

/// A parameter without its attributes.
fn short(node: Node<'_>) -> String {
    let subject = node.subject();
    let name = subject.identifier.map_or("", Node::text);
    let label = subject.labels_node().map_or("", Node::text);
    format!("({name}{label})")
}
