//! Signature help.

use gramc_check::names::Kind;
use gramc_syntax::Node;
use lsp_types as lsp;

use crate::lookup::{description, signature, touches};
use crate::request::RequestContext;

/// `textDocument/signatureHelp`
pub(crate) fn help(cx: &RequestContext, at: u32) -> Option<lsp::SignatureHelp> {
    let mut tools = cx.declarations().iter().filter(|one| one.kind == Kind::Tool);
    let tool = tools.rfind(|one| touches(one.span, at))?;
    let node = cx.tree().node(tool.node);
    let parts = signature(node);
    if !touches(parts.first()?.span().cover(parts.last()?.span()), at) {
        return None;
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
    let active_parameter = Some(crate::position::number(active));
    let documentation = node.doc_text().map(|text| lsp::Documentation::String(text.into_owned()));
    let signature = lsp::SignatureInformation {
        label,
        documentation,
        parameters: Some(parameters),
        active_parameter,
    };
    let (signatures, active_signature) = (vec![signature], Some(0));
    Some(lsp::SignatureHelp { signatures, active_signature, active_parameter })
}

/// A parameter without its attributes.
fn short(node: Node<'_>) -> String {
    let subject = node.subject();
    let name = subject.identifier.map_or("", Node::text);
    let label = subject.labels_node().map_or("", Node::text);
    format!("({name}{label})")
}
