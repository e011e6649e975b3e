//! Document and workspace symbols.

use std::sync::Arc;

use gramc_check::names::{Declaration, Kind};
use gramc_search::Query;
use gramc_syntax::{Node, NodeKind as N, Span};
use lsp_types as lsp;
use lsp_types::{DocumentSymbol, SymbolKind};

use crate::lookup::{member, signature};
use crate::request::RequestContext;
use crate::snapshot::Snapshot;

/// Maximum number of workspace symbols in a response.
const MAX_SYMBOLS: usize = 1000;

fn symbol_kind(kind: Kind) -> SymbolKind {
    match kind {
        Kind::Tool => SymbolKind::FUNCTION,
        Kind::Agent | Kind::Alias => SymbolKind::CLASS,
        Kind::Container => SymbolKind::NAMESPACE,
        Kind::Record => SymbolKind::STRUCT,
        Kind::Enum => SymbolKind::ENUM,
        Kind::Union => SymbolKind::INTERFACE,
        Kind::Library => SymbolKind::MODULE,
        Kind::Experiment => SymbolKind::PACKAGE,
        Kind::Term => SymbolKind::VARIABLE,
    }
}

#[expect(deprecated, reason = "`deprecated` is a required field of the type")]
fn symbol(
    cx: &RequestContext,
    name: &str,
    detail: &str,
    kind: SymbolKind,
    spans: (Span, Span),
) -> DocumentSymbol {
    let positions = cx.positions();
    DocumentSymbol {
        name: if name.is_empty() { "``".to_owned() } else { name.to_owned() },
        detail: (!detail.is_empty()).then(|| detail.to_owned()),
        kind,
        tags: None,
        deprecated: None,
        range: positions.range(spans.0.cover(spans.1)),
        selection_range: positions.range(spans.1),
        children: None,
    }
}

/// `textDocument/documentSymbol`
pub(crate) fn of_document(cx: &RequestContext) -> lsp::DocumentSymbolResponse {
    let own = cx.declarations();
    if !cx.client.nested_symbols {
        let flat =
            own.iter().filter_map(|one| declaration_information(&cx.snapshot, cx.number, one));
        return lsp::DocumentSymbolResponse::Flat(flat.collect());
    }
    let symbol_of = |one: &Declaration| {
        let (detail, kind) = (one.kind.word(), symbol_kind(one.kind));
        let mut made = symbol(cx, &one.name, detail, kind, (one.span, one.place));
        let children = child_symbols(cx, one.kind, cx.tree().node(one.node));
        made.children = (!children.is_empty()).then_some(children);
        made
    };
    let mut made: Vec<DocumentSymbol> = own.iter().map(symbol_of).collect();
    // Nested declarations follow their parent, so the list is processed backwards.
    let mut tops = Vec::new();
    for at in (0..made.len()).rev() {
        let Some(one) = made.pop() else { break };
        match own[at].holder.filter(|holder| *holder < at) {
            Some(holder) => {
                let children = made[holder].children.get_or_insert_default();
                let here = children.iter().position(|it| it.range.start > one.range.start);
                children.insert(here.unwrap_or(children.len()), one);
            }
            None => tops.push(one),
        }
    }
    tops.reverse();
    lsp::DocumentSymbolResponse::Nested(tops)
}

/// The parameters of a tool, the fields of a record, the members of an enum, and so on.
fn child_symbols(cx: &RequestContext, kind: Kind, node: Node<'_>) -> Vec<DocumentSymbol> {
    let typed = |node: Node<'_>, kind| {
        let subject = node.subject();
        let name = subject.identifier?;
        let label = subject.labels().next().map_or("", Node::text);
        Some(symbol(cx, &name.content(), label, kind, (node.span(), name.span())))
    };
    let inner =
        || node.elements().filter(|it| it.kind() == N::Path).filter_map(|it| it.children().next());
    match kind {
        Kind::Tool => {
            signature(node).into_iter().filter_map(|it| typed(it, SymbolKind::PROPERTY)).collect()
        }
        Kind::Record => inner().filter_map(|it| typed(it, SymbolKind::FIELD)).collect(),
        Kind::Library => inner().filter_map(|it| typed(it, SymbolKind::METHOD)).collect(),
        Kind::Enum => {
            let member = |element| {
                let (name, span) = member(element)?;
                Some(symbol(cx, &name, "", SymbolKind::ENUM_MEMBER, (element.span(), span)))
            };
            node.elements().filter_map(member).collect()
        }
        _ => Vec::new(),
    }
}

#[expect(deprecated, reason = "`deprecated` is a required field of the type")]
fn information(
    name: String,
    kind: SymbolKind,
    location: lsp::Location,
    container_name: Option<String>,
) -> lsp::SymbolInformation {
    lsp::SymbolInformation { name, kind, tags: None, deprecated: None, location, container_name }
}

fn declaration_information(
    snapshot: &Snapshot,
    file: usize,
    one: &Declaration,
) -> Option<lsp::SymbolInformation> {
    let holder = one.holder.and_then(|at| snapshot.names().of(file).get(at));
    let container = holder.map(|holder| holder.name.to_string());
    let location = snapshot.location(file, one.place)?;
    Some(information(one.name.to_string(), symbol_kind(one.kind), location, container))
}

/// The tools whose types match a query, best first.
fn by_type(snapshots: &[Arc<Snapshot>], query: &Query) -> Vec<lsp::SymbolInformation> {
    let found = snapshots.iter().flat_map(|snapshot| {
        snapshot.tool_index().find(query).into_iter().filter_map(|(name, place)| {
            let location = snapshot.location(place.file, place.name)?;
            Some(information(name, SymbolKind::FUNCTION, location, None))
        })
    });
    found.collect()
}

/// `workspace/symbol`: the tools whose types match the query, if it is a signature or a part of one,
/// or else the declarations whose names contain the query as a subsequence.
pub(crate) fn of_workspace(
    snapshots: &[Arc<Snapshot>],
    query: &str,
) -> Vec<lsp::SymbolInformation> {
    if query.contains("==>") || query.contains("::") {
        // A signature that is still being typed finds nothing.
        return Query::parse(query).map(|query| by_type(snapshots, &query)).unwrap_or_default();
    }
    let query = query.to_lowercase();
    let holds = |name: &str| {
        let name = name.to_lowercase();
        let mut letters = name.chars();
        query.chars().all(|wanted| letters.any(|letter| letter == wanted))
    };
    let mut found = Vec::new();
    for snapshot in snapshots {
        for (place, one) in snapshot.names().all().filter(|(_, one)| holds(&one.name)) {
            found.extend(declaration_information(snapshot, place.file, one));
            if found.len() >= MAX_SYMBOLS {
                return found;
            }
        }
    }
    found
}
