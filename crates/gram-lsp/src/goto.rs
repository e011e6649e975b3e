//! Definitions, references and highlights.

use gram_check::names::{Found, Kind};
use gram_model::Type;
use gram_syntax::Span;
use lsp_types as lsp;
use lsp_types::Location;

use crate::lookup::{Symbol, field_of, symbol_at, term_of, tool_of};
use crate::request::{RequestContext, RequestResult};
use crate::snapshot::Snapshot;

/// The declarations that the name at a position refers to.
pub(crate) fn declarations_at(cx: &RequestContext, position: lsp::Position) -> Vec<Found> {
    match symbol_at(cx, position).map(|at| at.symbol) {
        Some(Symbol::Declared(found)) => vec![found],
        Some(Symbol::Used(_, found)) => found,
        _ => Vec::new(),
    }
}

fn name_of(snapshot: &Snapshot, found: Found) -> Option<Location> {
    snapshot.location(found.file, snapshot.declaration(found)?.place)
}

/// `textDocument/definition`
pub(crate) fn definition(
    cx: &RequestContext,
    params: lsp::GotoDefinitionParams,
) -> RequestResult<Option<lsp::GotoDefinitionResponse>> {
    let position = params.text_document_position_params.position;
    let at = cx.positions().offset(position);
    let links = cx.snapshot.imports().of.get(cx.number);
    let import =
        links.into_iter().flatten().find(|link| link.span.start <= at && at <= link.span.end);
    if let Some(Ok(number)) = import.map(|link| link.text.clone()) {
        let start = cx.snapshot.location(number, Span::empty(0));
        return Ok(start.map(lsp::GotoDefinitionResponse::Scalar));
    }
    let found = declarations_at(cx, position);
    let places: Vec<_> = found.into_iter().filter_map(|it| name_of(&cx.snapshot, it)).collect();
    Ok((!places.is_empty()).then_some(lsp::GotoDefinitionResponse::Array(places)))
}

/// `textDocument/typeDefinition`: where the type of a parameter, field, term or result is declared.
pub(crate) fn type_definition(
    cx: &RequestContext,
    params: lsp::GotoDefinitionParams,
) -> RequestResult<Option<lsp::GotoDefinitionResponse>> {
    let position = params.text_document_position_params.position;
    let Some(at) = symbol_at(cx, position) else { return Ok(None) };
    let snapshot = &*cx.snapshot;
    let kind = |found: &Found| snapshot.declaration(*found).map(|one| one.kind);
    let ty = match &at.symbol {
        Symbol::Field(found) => {
            field_of(snapshot, *found, &crate::hover::name_at(cx, at.span)).map(|it| it.type_use.ty)
        }
        Symbol::Declared(found) if kind(found) == Some(Kind::Term) => {
            term_of(snapshot, *found).map(|it| it.type_use.ty.clone())
        }
        Symbol::Declared(found) if kind(found) == Some(Kind::Tool) => {
            tool_of(snapshot, *found).and_then(|it| Some(it.get()?.result.type_use.ty.clone()))
        }
        Symbol::Used(_, found) => match found.first().filter(|it| kind(it) == Some(Kind::Term)) {
            Some(term) => term_of(snapshot, *term).map(|it| it.type_use.ty.clone()),
            None => return definition(cx, params),
        },
        _ => None,
    };
    let Some(id) = ty.as_ref().and_then(named) else { return Ok(None) };
    let Some(place) = snapshot.shared_module().module().spans().ty(id) else { return Ok(None) };
    let location = snapshot.location(place.file, place.name);
    Ok(location.map(lsp::GotoDefinitionResponse::Scalar))
}

/// The declared type in a nullable, list or map type.
fn named(ty: &Type) -> Option<gram_model::TypeId> {
    match ty {
        Type::Named(id) => Some(*id),
        Type::Nullable(inner) => named(inner),
        Type::List(inner) | Type::Map(inner) => named(inner.as_deref()?),
        _ => None,
    }
}

/// An occurrence of a declaration's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Occurrence {
    pub(crate) file: usize,
    pub(crate) span: Span,
    /// Whether this is the declaration itself.
    pub(crate) declares: bool,
}

/// All occurrences of the declarations' names, in source order. Equal declarations of the same term
/// are one symbol.
pub(crate) fn occurrences(
    snapshot: &Snapshot,
    found: &[Found],
    files: &[usize],
) -> Vec<Occurrence> {
    let mut wanted = found.to_vec();
    for found in found {
        let Some(own) = snapshot.declaration(*found).filter(|one| one.kind == Kind::Term) else {
            continue;
        };
        let twins =
            snapshot.names().all().filter(|(_, one)| one.kind == own.kind && one.name == own.name);
        wanted.extend(twins.map(|(twin, _)| twin));
    }
    wanted.sort_unstable();
    wanted.dedup();
    let mut all = Vec::new();
    for found in &wanted {
        if let Some(one) = snapshot.declaration(*found).filter(|_| files.contains(&found.file)) {
            all.push(Occurrence { file: found.file, span: one.place, declares: true });
        }
    }
    let first = wanted.first().and_then(|found| snapshot.declaration(*found));
    let Some(first) = first else { return all };
    let space = first.kind.space();
    for file in files {
        let uses = snapshot.uses_of(*file);
        for used in uses.iter().filter(|used| used.space == space && used.name == first.name) {
            let meant = snapshot.names().meaning(*file, used);
            if meant.iter().any(|meant| wanted.contains(meant)) {
                all.push(Occurrence { file: *file, span: used.place, declares: false });
            }
        }
    }
    all.sort_unstable();
    all.dedup();
    all
}

/// The indices of all files.
pub(crate) fn everywhere(snapshot: &Snapshot) -> Vec<usize> {
    (0..snapshot.files().len()).collect()
}

/// `textDocument/references`
pub(crate) fn references(
    cx: &RequestContext,
    params: lsp::ReferenceParams,
) -> RequestResult<Option<Vec<Location>>> {
    let found = declarations_at(cx, params.text_document_position.position);
    if found.is_empty() {
        return Ok(None);
    }
    let with = params.context.include_declaration;
    let all = occurrences(&cx.snapshot, &found, &everywhere(&cx.snapshot));
    let all = all.into_iter().filter(|one| with || !one.declares);
    Ok(Some(all.filter_map(|one| cx.snapshot.location(one.file, one.span)).collect()))
}

/// `textDocument/documentHighlight`
pub(crate) fn highlights(
    cx: &RequestContext,
    params: lsp::DocumentHighlightParams,
) -> RequestResult<Option<Vec<lsp::DocumentHighlight>>> {
    let position = params.text_document_position_params.position;
    let found = declarations_at(cx, position);
    let highlight = |one: Occurrence| lsp::DocumentHighlight {
        range: cx.positions().range(one.span),
        kind: Some(if one.declares {
            lsp::DocumentHighlightKind::WRITE
        } else {
            lsp::DocumentHighlightKind::READ
        }),
    };
    if !found.is_empty() {
        let all = occurrences(&cx.snapshot, &found, &[cx.number]);
        return Ok(Some(all.into_iter().map(highlight).collect()));
    }
    let own = symbol_at(cx, position).filter(|at| matches!(at.symbol, Symbol::Field(_)));
    Ok(own.map(|at| vec![highlight(Occurrence { file: cx.number, span: at.span, declares: true })]))
}
