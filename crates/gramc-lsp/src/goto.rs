//! Definitions, references and highlights.

use gramc_check::names::{Found, Kind};
use gramc_model::Type;
use gramc_syntax::Span;
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

/// The occurrences of the enum member at a position, its definition first.
fn member_at(cx: &RequestContext, position: lsp::Position) -> Option<Vec<Location>> {
    let at = symbol_at(cx, position)?;
    let Symbol::Member(found) = at.symbol else { return None };
    let member = crate::hover::name_at(cx, at.span);
    let places = crate::enum_members::occurrences(&cx.snapshot, found, &member);
    Some(places.iter().filter_map(|(file, span)| cx.snapshot.location(*file, *span)).collect())
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
    if let Some(start) = crate::named_files::named_at(cx, at) {
        return Ok(Some(lsp::GotoDefinitionResponse::Scalar(start)));
    }
    let places: Vec<_> = if let Some(places) = member_at(cx, position) {
        // The first one is the definition.
        places.into_iter().take(1).collect()
    } else {
        let found = declarations_at(cx, position).into_iter();
        found.filter_map(|it| name_of(&cx.snapshot, it)).collect()
    };
    Ok((!places.is_empty()).then_some(lsp::GotoDefinitionResponse::Array(places)))
}

/// `textDocument/implementation`: the implementations of a tool in libraries.
pub(crate) fn implementation(
    cx: &RequestContext,
    params: lsp::GotoDefinitionParams,
) -> RequestResult<Option<lsp::GotoDefinitionResponse>> {
    let snapshot = &*cx.snapshot;
    let found = declarations_at(cx, params.text_document_position_params.position);
    let in_library = |one: &Occurrence| {
        let own = snapshot.names().of(one.file);
        let at = crate::lookup::enclosing_declaration(own, one.span.start);
        at.is_some_and(|at| own[at].kind == Kind::Library)
    };
    let all = occurrences(snapshot, &found, &everywhere(snapshot)).into_iter();
    let places: Vec<_> = all
        .filter(|one| !one.declares && in_library(one))
        .filter_map(|one| snapshot.location(one.file, one.span))
        .collect();
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
    let Some(id) = ty.as_ref().and_then(named_type) else { return Ok(None) };
    let Some(place) = snapshot.shared_module().module().spans().ty(id) else { return Ok(None) };
    let location = snapshot.location(place.file, place.name);
    Ok(location.map(lsp::GotoDefinitionResponse::Scalar))
}

/// The declared type in a nullable, list or map type.
fn named_type(ty: &Type) -> Option<gramc_model::TypeId> {
    match ty {
        Type::Named(id) => Some(*id),
        Type::Nullable(inner) => named_type(inner),
        Type::List(inner) | Type::Map(inner) => named_type(inner.as_deref()?),
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
    let position = params.text_document_position.position;
    let with = params.context.include_declaration;
    if let Some(places) = member_at(cx, position) {
        return Ok(Some(places.into_iter().skip(usize::from(!with)).collect()));
    }
    let found = declarations_at(cx, position);
    if found.is_empty() {
        return Ok(None);
    }
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
    if let Some(places) = member_at(cx, position) {
        let own = places.into_iter().filter(|place| place.uri == cx.file.uri);
        let highlight = |place: Location| lsp::DocumentHighlight {
            range: place.range,
            kind: Some(lsp::DocumentHighlightKind::TEXT),
        };
        return Ok(Some(own.map(highlight).collect()));
    }
    let own = symbol_at(cx, position).filter(|at| matches!(at.symbol, Symbol::Field(_)));
    Ok(own.map(|at| vec![highlight(Occurrence { file: cx.number, span: at.span, declares: true })]))
}
