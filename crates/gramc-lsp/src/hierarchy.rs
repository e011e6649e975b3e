//! Call hierarchy: agents call tools, containers and agents; containers contain tools.

use gramc_check::names::{Found, Kind, Space, Use};
use lsp_types as lsp;
use lsp_types::{CallHierarchyItem, SymbolKind};
use serde_json::json;

use crate::goto::declarations_at;
use crate::request::RequestContext;
use crate::snapshot::Snapshot;

fn item(snapshot: &Snapshot, found: Found) -> Option<CallHierarchyItem> {
    let one = snapshot.declaration(found)?;
    let file = snapshot.text(found.file)?;
    let positions = file.positions(snapshot.encoding);
    Some(CallHierarchyItem {
        name: one.name.to_string(),
        kind: if one.kind == Kind::Tool { SymbolKind::FUNCTION } else { SymbolKind::CLASS },
        tags: None,
        detail: Some(one.kind.word().to_owned()),
        uri: file.uri.clone(),
        range: positions.range(one.span),
        selection_range: positions.range(one.place),
        data: Some(json!({"name": one.name.as_str()})),
    })
}

/// `textDocument/prepareCallHierarchy`
pub(crate) fn prepare(cx: &RequestContext, at: u32) -> Option<Vec<CallHierarchyItem>> {
    let tools = declarations_at(cx, at).into_iter().filter(|it| {
        cx.snapshot.declaration(*it).is_some_and(|one| one.kind.space() == Space::Tools)
    });
    let items: Vec<_> = tools.filter_map(|it| item(&cx.snapshot, it)).collect();
    (!items.is_empty()).then_some(items)
}

fn of_item(cx: &RequestContext, item: &CallHierarchyItem) -> Option<Found> {
    let at = cx.positions().offset(item.selection_range.start);
    let own = cx.declarations();
    let here = own.iter().position(|one| one.place.start == at && one.name == item.name.as_str());
    let by_name = || {
        own.iter()
            .position(|one| one.name == item.name.as_str() && one.kind.space() == Space::Tools)
    };
    Some(Found { file: cx.number, at: here.or_else(by_name)? })
}

/// The members of agents and containers: the owner, the member and the span that names it.
fn edges(snapshot: &Snapshot) -> Vec<(Found, Found, gramc_syntax::Span)> {
    let mut all = Vec::new();
    for (file, uses) in snapshot.uses().iter().enumerate() {
        let own = snapshot.names().of(file);
        let holds = |at: usize| {
            own.get(at).is_some_and(|one| matches!(one.kind, Kind::Agent | Kind::Container))
        };
        for used in uses.iter().filter(|used: &&Use| used.space == Space::Tools) {
            let Some(at) = used.holder.filter(|at| holds(*at)) else { continue };
            for callee in snapshot.names().meaning(file, used) {
                all.push((Found { file, at }, callee, used.place));
            }
        }
        // A tool declared inside an agent or container is a member of it.
        for (at, one) in own.iter().enumerate() {
            if let Some(holder) = one.holder.filter(|holder| holds(*holder)) {
                all.push((Found { file, at: holder }, Found { file, at }, one.place));
            }
        }
    }
    all
}

/// `callHierarchy/incomingCalls`
pub(crate) fn incoming(
    cx: &RequestContext,
    params: lsp::CallHierarchyIncomingCallsParams,
) -> Vec<lsp::CallHierarchyIncomingCall> {
    let own = of_item(cx, &params.item);
    let edges = edges(&cx.snapshot).into_iter().filter(|(_, to, _)| Some(*to) == own);
    let calls =
        group(edges.filter_map(|(from, _, span)| {
            Some((from, cx.snapshot.positions(from.file)?.range(span)))
        }));
    let call = |(from, from_ranges)| {
        let from = item(&cx.snapshot, from)?;
        Some(lsp::CallHierarchyIncomingCall { from, from_ranges })
    };
    calls.into_iter().filter_map(call).collect()
}

/// `callHierarchy/outgoingCalls`
pub(crate) fn outgoing(
    cx: &RequestContext,
    params: lsp::CallHierarchyOutgoingCallsParams,
) -> Vec<lsp::CallHierarchyOutgoingCall> {
    let own = of_item(cx, &params.item);
    let edges = edges(&cx.snapshot).into_iter().filter(|(from, ..)| Some(*from) == own);
    let calls = group(edges.map(|(_, to, span)| (to, cx.range(span))));
    let call = |(to, from_ranges)| {
        let to = item(&cx.snapshot, to)?;
        Some(lsp::CallHierarchyOutgoingCall { to, from_ranges })
    };
    calls.into_iter().filter_map(call).collect()
}

/// The ranges of each declaration, in the order of their first ones.
fn group(calls: impl Iterator<Item = (Found, lsp::Range)>) -> Vec<(Found, Vec<lsp::Range>)> {
    let mut grouped: Vec<(Found, Vec<lsp::Range>)> = Vec::new();
    for (of, range) in calls {
        match grouped.iter_mut().find(|(known, _)| *known == of) {
            Some((_, ranges)) => ranges.push(range),
            None => grouped.push((of, vec![range])),
        }
    }
    grouped
}
