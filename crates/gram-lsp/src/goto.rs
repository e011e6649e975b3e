//! From a name to where it is declared, and to all places that use it.

use gram_check::names::{Found, Kind};
use gram_model::Type;
use gram_syntax::Span;
use lsp_types as lsp;
use lsp_types::Location;

use crate::dispatch::{Answer, Cx};
use crate::place::{Thing, field_of, term_of, thing_at, tool_of};
use crate::snapshot::Snapshot;

/// What the name at a position means.
pub(crate) fn meant(cx: &Cx, position: lsp::Position) -> Vec<Found> {
    match thing_at(cx, position).map(|at| at.thing) {
        Some(Thing::Declared(found)) => vec![found],
        Some(Thing::Used(_, found)) => found,
        _ => Vec::new(),
    }
}

fn name_of(snapshot: &Snapshot, found: Found) -> Option<Location> {
    snapshot.location(found.file, snapshot.declaration(found)?.place)
}

/// `textDocument/definition`
pub(crate) fn definition(
    cx: &Cx,
    params: lsp::GotoDefinitionParams,
) -> Answer<Option<lsp::GotoDefinitionResponse>> {
    let position = params.text_document_position_params.position;
    let at = cx.positions().offset(position);
    let links = cx.snapshot.imports().of.get(cx.number);
    let import =
        links.into_iter().flatten().find(|link| link.span.start <= at && at <= link.span.end);
    if let Some(Ok(number)) = import.map(|link| link.text.clone()) {
        let start = cx.snapshot.location(number, Span::empty(0));
        return Ok(start.map(lsp::GotoDefinitionResponse::Scalar));
    }
    let found = meant(cx, position);
    let places: Vec<_> = found.into_iter().filter_map(|it| name_of(&cx.snapshot, it)).collect();
    Ok((!places.is_empty()).then_some(lsp::GotoDefinitionResponse::Array(places)))
}

/// `textDocument/typeDefinition`: where the type of a parameter, field, term or result is declared.
pub(crate) fn type_definition(
    cx: &Cx,
    params: lsp::GotoDefinitionParams,
) -> Answer<Option<lsp::GotoDefinitionResponse>> {
    let position = params.text_document_position_params.position;
    let Some(at) = thing_at(cx, position) else { return Ok(None) };
    let snapshot = &*cx.snapshot;
    let kind = |found: &Found| snapshot.declaration(*found).map(|one| one.kind);
    let ty = match &at.thing {
        Thing::Field(found) => {
            field_of(snapshot, *found, &crate::hover::name_at(cx, at.span)).map(|it| it.slot.ty)
        }
        Thing::Declared(found) if kind(found) == Some(Kind::Term) => {
            term_of(snapshot, *found).map(|it| it.slot.ty.clone())
        }
        Thing::Declared(found) if kind(found) == Some(Kind::Tool) => {
            tool_of(snapshot, *found).and_then(|it| Some(it.get()?.result.slot.ty.clone()))
        }
        Thing::Used(_, found) => match found.first().filter(|it| kind(it) == Some(Kind::Term)) {
            Some(term) => term_of(snapshot, *term).map(|it| it.slot.ty.clone()),
            None => return definition(cx, params),
        },
        _ => None,
    };
    let Some(id) = ty.as_ref().and_then(named) else { return Ok(None) };
    let Some(place) = snapshot.shared_module().module().spans().ty(id) else { return Ok(None) };
    let location = snapshot.location(place.file, place.name);
    Ok(location.map(lsp::GotoDefinitionResponse::Scalar))
}

/// The declared type that a type is made of.
fn named(ty: &Type) -> Option<gram_model::TypeId> {
    match ty {
        Type::Named(id) => Some(*id),
        Type::Nullable(inner) => named(inner),
        Type::List(inner) | Type::Map(inner) => named(inner.as_deref()?),
        _ => None,
    }
}

/// A place that names something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Mention {
    pub(crate) file: usize,
    pub(crate) span: Span,
    /// Whether it is the declaration.
    pub(crate) declares: bool,
}

/// All places that name one of these declarations, in the order of the texts. A term that is
/// declared several times, each time the same, is one thing.
pub(crate) fn mentions(snapshot: &Snapshot, found: &[Found], files: &[usize]) -> Vec<Mention> {
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
            all.push(Mention { file: found.file, span: one.place, declares: true });
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
                all.push(Mention { file: *file, span: used.place, declares: false });
            }
        }
    }
    all.sort_unstable();
    all.dedup();
    all
}

/// All texts.
pub(crate) fn everywhere(snapshot: &Snapshot) -> Vec<usize> {
    (0..snapshot.files().len()).collect()
}

/// `textDocument/references`
pub(crate) fn references(cx: &Cx, params: lsp::ReferenceParams) -> Answer<Option<Vec<Location>>> {
    let found = meant(cx, params.text_document_position.position);
    if found.is_empty() {
        return Ok(None);
    }
    let with = params.context.include_declaration;
    let all = mentions(&cx.snapshot, &found, &everywhere(&cx.snapshot));
    let all = all.into_iter().filter(|one| with || !one.declares);
    Ok(Some(all.filter_map(|one| cx.snapshot.location(one.file, one.span)).collect()))
}

/// `textDocument/documentHighlight`
pub(crate) fn highlights(
    cx: &Cx,
    params: lsp::DocumentHighlightParams,
) -> Answer<Option<Vec<lsp::DocumentHighlight>>> {
    let position = params.text_document_position_params.position;
    let found = meant(cx, position);
    let highlight = |one: Mention| lsp::DocumentHighlight {
        range: cx.positions().range(one.span),
        kind: Some(if one.declares {
            lsp::DocumentHighlightKind::WRITE
        } else {
            lsp::DocumentHighlightKind::READ
        }),
    };
    if !found.is_empty() {
        let all = mentions(&cx.snapshot, &found, &[cx.number]);
        return Ok(Some(all.into_iter().map(highlight).collect()));
    }
    let own = thing_at(cx, position).filter(|at| matches!(at.thing, Thing::Field(_)));
    Ok(own.map(|at| vec![highlight(Mention { file: cx.number, span: at.span, declares: true })]))
}
