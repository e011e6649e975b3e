//! Inlay hints: types from terms, optional parameters and shapes of results.

use gramc_check::names::{Found, Kind, Space};
use gramc_json_schema::shorten::shorten;
use gramc_model::print::print_field;
use gramc_syntax::Span;
use lsp_types as lsp;
use lsp_types::InlayHint;

use crate::hover::{MAX_SHAPE, result_shape};
use crate::lookup::{field_of, signature, term_of, tool_of};
use crate::request::RequestContext;

/// `textDocument/inlayHint`
pub(crate) fn hints(cx: &RequestContext, wanted: Span) -> Vec<InlayHint> {
    if !cx.client.settings.inlay_hints {
        return Vec::new();
    }
    let own = cx.declarations().iter().enumerate();
    let tree = cx.tree();
    let mut found = Vec::new();
    for (at, one) in own.filter(|(_, one)| one.span.touches(wanted)) {
        let place = Found { file: cx.number, at };
        let nodes = match one.kind {
            Kind::Tool => signature(tree.node(one.node)),
            Kind::Record => {
                let elements = tree.node(one.node).elements();
                elements.filter_map(|element| element.children().next()).collect()
            }
            _ => continue,
        };
        for node in nodes {
            let span = node.span();
            if !span.touches(wanted) {
                continue;
            }
            let subject = node.subject();
            if let Some(name) = subject.identifier {
                let text = name.content();
                let end = subject.labels_node().unwrap_or(name).span().end;
                if subject.labels_node().is_none() {
                    found.extend(term_hint(cx, &text).map(|label| (end, label)));
                }
                let optional = field_of(&cx.snapshot, place, &text)
                    .is_some_and(|it| !it.required() && it.type_use.default.is_none());
                if optional {
                    found.push((name.span().end, "?".to_owned()));
                }
            } else {
                let tool = tool_of(&cx.snapshot, place);
                let shape =
                    tool.and_then(|it| result_shape(&it.module, &it.get()?.result.type_use.ty));
                let end = subject.labels_node().map_or(span.end, |node| node.span().end);
                found.extend(shape.map(|shape| (end, format!(" = {shape}"))));
            }
        }
    }
    found.sort_by_key(|(at, _)| *at);
    let positions = cx.positions();
    let hint = |(at, label): (u32, String)| InlayHint {
        position: positions.position(at),
        label: lsp::InlayHintLabel::String(label),
        kind: Some(lsp::InlayHintKind::TYPE),
        text_edits: None,
        tooltip: None,
        padding_left: None,
        padding_right: None,
        data: None,
    };
    found.into_iter().map(hint).collect()
}

/// The type and attributes that a term gives a parameter of its name: `::Text {default: "."}`.
fn term_hint(cx: &RequestContext, name: &str) -> Option<String> {
    let found = cx.snapshot.names().find(cx.number, None, Space::Terms, name);
    let [one] = found.as_slice() else { return None };
    let term = term_of(&cx.snapshot, *one)?;
    let text = print_field(&cx.snapshot.shared_module().module().types, term);
    let text = text.split_once("::")?.1.strip_suffix(')')?.split_whitespace().collect::<Vec<_>>();
    Some(format!("::{}", shorten(&text.join(" "), MAX_SHAPE)))
}
