//! Definitions, references and highlights.

use gramc_check::names::{Found, Kind};
use gramc_model::Type;
use gramc_syntax::Span;
use lsp_types as lsp;
use lsp_types::Location;

use crate::lookup::{Symbol, field_of, symbol_at, term_of, tool_of};
use crate::request::RequestContext;
use crate::snapshot::Snapshot;

/// The declarations that the name at an offset refers to.
pub(crate) fn declarations_at(cx: &RequestContext, at: u32) -> Vec<Found> {
    match symbol_at(cx, at).map(|at| at.symbol) {
        Some(Symbol::Declared(found)) => vec![found],
        Some(Symbol::Used(_, found)) => found,
        _ => Vec::new(),
    }
}

/// The occurrences of the enum member at an offset, its definition first.
fn member_at(cx: &RequestContext, at: u32) -> Option<Vec<Location>> {
    let at = symbol_at(cx, at)?;
    let Symbol::Member(found) = at.symbol else { return None };
    let member = crate::hover::name_at(cx, at.span);
    let places = crate::lookup::member_occurrences(&cx.snapshot, found, &member);
    Some(places.iter().filter_map(|(file, span)| cx.snapshot.location(*file, *span)).collect())
}

/// `textDocument/definition`
pub(crate) fn definition(cx: &RequestContext, at: u32) -> Option<lsp::GotoDefinitionResponse> {
    if let Some(start) = crate::named_files::named_at(cx, at) {
        return Some(start.into());
    }
    let snapshot = &cx.snapshot;
    let place = |found: Found| snapshot.location(found.file, snapshot.declaration(found)?.place);
    let places: Vec<_> = match member_at(cx, at) {
        // The first one is the definition.
        Some(places) => places.into_iter().take(1).collect(),
        None => declarations_at(cx, at).into_iter().filter_map(place).collect(),
    };
    (!places.is_empty()).then_some(places.into())
}

/// `textDocument/implementation`: the implementations of a tool in libraries.
pub(crate) fn implementation(cx: &RequestContext, at: u32) -> Option<lsp::GotoDefinitionResponse> {
    let snapshot = &*cx.snapshot;
    let in_library = |one: &Occurrence| {
        let own = snapshot.names().of(one.file);
        let at = crate::lookup::enclosing_declaration(own, one.span.start);
        at.is_some_and(|at| own[at].kind == Kind::Library)
    };
    let all = occurrences(snapshot, &declarations_at(cx, at), &everywhere(snapshot)).into_iter();
    let places: Vec<_> = all
        .filter(|one| !one.declares && in_library(one))
        .filter_map(|one| snapshot.location(one.file, one.span))
        .collect();
    (!places.is_empty()).then_some(places.into())
}

/// `textDocument/typeDefinition`: where the type of a parameter, field, term or result is declared.
pub(crate) fn type_definition(cx: &RequestContext, at: u32) -> Option<lsp::GotoDefinitionResponse> {
    let symbol = symbol_at(cx, at)?;
    let snapshot = &*cx.snapshot;
    let kind = |found: &Found| snapshot.declaration(*found).map(|one| one.kind);
    let ty = match &symbol.symbol {
        Symbol::Field(found) => {
            field_of(snapshot, *found, &crate::hover::name_at(cx, symbol.span))?.type_use.ty
        }
        Symbol::Declared(found) if kind(found) == Some(Kind::Tool) => {
            tool_of(snapshot, *found)?.get()?.result.type_use.ty.clone()
        }
        Symbol::Declared(found) if kind(found) == Some(Kind::Term) => {
            term_of(snapshot, *found)?.type_use.ty.clone()
        }
        Symbol::Used(_, found) => match found.first().filter(|it| kind(it) == Some(Kind::Term)) {
            Some(term) => term_of(snapshot, *term)?.type_use.ty.clone(),
            None => return definition(cx, at),
        },
        _ => return None,
    };
    let place = snapshot.shared_module().module().spans().ty(named_type(&ty)?)?;
    snapshot.location(place.file, place.name).map(Into::into)
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
) -> Option<Vec<Location>> {
    let at = cx.positions().offset(params.text_document_position.position);
    let with = params.context.include_declaration;
    if let Some(places) = member_at(cx, at) {
        return Some(places.into_iter().skip(usize::from(!with)).collect());
    }
    let found = declarations_at(cx, at);
    if found.is_empty() {
        return None;
    }
    let all = occurrences(&cx.snapshot, &found, &everywhere(&cx.snapshot));
    let all = all.into_iter().filter(|one| with || !one.declares);
    Some(all.filter_map(|one| cx.snapshot.location(one.file, one.span)).collect())
}

/// `textDocument/documentHighlight`
pub(crate) fn highlights(cx: &RequestContext, at: u32) -> Option<Vec<lsp::DocumentHighlight>> {
    use lsp::DocumentHighlightKind as HighlightKind;

    let highlight = |range, kind| lsp::DocumentHighlight { range, kind: Some(kind) };
    let found = declarations_at(cx, at);
    if !found.is_empty() {
        let all = occurrences(&cx.snapshot, &found, &[cx.number]).into_iter();
        let kind = |declares| if declares { HighlightKind::WRITE } else { HighlightKind::READ };
        return Some(all.map(|one| highlight(cx.range(one.span), kind(one.declares))).collect());
    }
    if let Some(places) = member_at(cx, at) {
        let own = places.into_iter().filter(|place| place.uri == cx.file.uri);
        return Some(own.map(|place| highlight(place.range, HighlightKind::TEXT)).collect());
    }
    let own = symbol_at(cx, at).filter(|at| matches!(at.symbol, Symbol::Field(_)))?;
    Some(vec![highlight(cx.range(own.span), HighlightKind::WRITE)])
}
