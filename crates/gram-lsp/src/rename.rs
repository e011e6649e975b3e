//! Renaming of declarations, parameters and fields.

use std::collections::HashMap;

use gram_check::names::{Found, Kind, Space};
use gram_model::BUILT_IN;
use gram_model::print::identifier;
use gram_syntax::Span;
use lsp_types as lsp;
use lsp_types::{Uri, WorkspaceEdit};

use crate::goto::{Occurrence, everywhere, occurrences};
use crate::lookup::{Symbol, SymbolAt, node_of, signature, symbol_at};
use crate::request::{RequestContext, RequestError, RequestResult};

/// The symbol to rename.
enum RenameTarget {
    /// A declaration, or equal declarations of a term.
    Declared(Vec<Found>),
    /// A parameter or field with its own type.
    Field(Found, Span),
}

fn target(at: &SymbolAt) -> RequestResult<RenameTarget> {
    match &at.symbol {
        Symbol::Declared(found) => Ok(RenameTarget::Declared(vec![*found])),
        Symbol::Used(_, found) if found.len() == 1 => Ok(RenameTarget::Declared(found.clone())),
        Symbol::Used(used, found) if found.is_empty() => Err(RequestError::failed(format!(
            "cannot rename `{}`: it has no declaration",
            used.name
        ))),
        Symbol::Used(used, _) => Err(RequestError::failed(format!(
            "cannot rename `{}`: it is declared in several files; import one of them first",
            used.name
        ))),
        Symbol::Field(found) => Ok(RenameTarget::Field(*found, at.span)),
        Symbol::BuiltIn(name) => Err(RequestError::failed(format!("`{name}` is a built-in type"))),
        Symbol::Key | Symbol::Label(_) => Err(RequestError::failed("cannot rename a keyword")),
    }
}

/// `textDocument/prepareRename`
pub(crate) fn prepare(
    cx: &RequestContext,
    params: lsp::TextDocumentPositionParams,
) -> RequestResult<Option<lsp::PrepareRenameResponse>> {
    let Some(at) = symbol_at(cx, params.position) else { return Ok(None) };
    target(&at)?;
    let placeholder = match &at.symbol {
        Symbol::Used(used, _) => used.name.to_string(),
        _ => crate::hover::name_at(cx, at.span),
    };
    let range = cx.positions().range(at.span);
    Ok(Some(lsp::PrepareRenameResponse::RangeWithPlaceholder { range, placeholder }))
}

/// `textDocument/rename`
pub(crate) fn rename(
    cx: &RequestContext,
    params: lsp::RenameParams,
) -> RequestResult<Option<WorkspaceEdit>> {
    let position = params.text_document_position.position;
    let Some(at) = symbol_at(cx, position) else {
        return Err(RequestError::failed("no name at this position"));
    };
    let name = params.new_name.trim_matches('`');
    if name.is_empty() || name.contains(['\n', '\r']) {
        return Err(RequestError::invalid("a name has at least one character and no line break"));
    }
    let places = match target(&at)? {
        RenameTarget::Declared(found) => {
            for found in &found {
                allowed(cx, *found, name)?;
            }
            let all = occurrences(&cx.snapshot, &found, &everywhere(&cx.snapshot));
            let terms = found
                .iter()
                .all(|it| cx.snapshot.declaration(*it).is_some_and(|one| one.kind == Kind::Term));
            if terms {
                no_second_parameter(cx, &all, name)?;
            }
            all
        }
        RenameTarget::Field(found, span) => {
            free_in(cx, found, name)?;
            vec![Occurrence { file: cx.number, span, declares: true }]
        }
    };
    let mut changes: Vec<(Uri, Option<i32>, Vec<lsp::TextEdit>)> = Vec::new();
    let mut files: HashMap<usize, usize> = HashMap::new();
    for place in places {
        let Some(file) = cx.snapshot.text(place.file) else { continue };
        let range = file.positions(cx.snapshot.encoding).range(place.span);
        let quoted = file.source().slice(place.span).starts_with('`');
        let types = at_type(cx, &at);
        // Type names are never quoted.
        let text = if types && !quoted { name.to_owned() } else { identifier(name) };
        let at = *files.entry(place.file).or_insert_with(|| {
            changes.push((file.uri.clone(), file.version, Vec::new()));
            changes.len() - 1
        });
        changes[at].2.push(lsp::TextEdit::new(range, text));
    }
    Ok(Some(edit(cx, changes)))
}

/// Edits of several documents.
pub(crate) fn edit(
    cx: &RequestContext,
    changes: Vec<(Uri, Option<i32>, Vec<lsp::TextEdit>)>,
) -> WorkspaceEdit {
    if cx.client.versioned_edits {
        let edits = changes.into_iter().map(|(uri, version, edits)| lsp::TextDocumentEdit {
            text_document: lsp::OptionalVersionedTextDocumentIdentifier { uri, version },
            edits: edits.into_iter().map(lsp::OneOf::Left).collect(),
        });
        let edits = lsp::DocumentChanges::Edits(edits.collect());
        return WorkspaceEdit { document_changes: Some(edits), ..WorkspaceEdit::default() };
    }
    #[expect(clippy::mutable_key_type, reason = "`Uri` has interior mutability in lsp-types")]
    let changes = changes.into_iter().map(|(uri, _, edits)| (uri, edits)).collect();
    WorkspaceEdit::new(changes)
}

fn at_type(cx: &RequestContext, at: &SymbolAt) -> bool {
    let found = match &at.symbol {
        Symbol::Declared(found) => Some(found),
        Symbol::Used(_, found) => found.first(),
        _ => None,
    };
    let one = found.and_then(|found| cx.snapshot.declaration(*found));
    one.is_some_and(|one| one.kind.is_type())
}

/// Rejects invalid and duplicate names of declarations.
fn allowed(cx: &RequestContext, found: Found, name: &str) -> RequestResult<()> {
    let Some(own) = cx.snapshot.declaration(found) else { return Ok(()) };
    let space = own.kind.space();
    if space == Space::Types {
        let part = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let valid = name.chars().all(part) && !name.starts_with(|c: char| c.is_ascii_digit());
        if !valid {
            return Err(RequestError::invalid(format!(
                "invalid type name `{name}`: expected letters, digits and `_`, not starting with a digit"
            )));
        }
        if BUILT_IN.contains(&name)
            || Kind::of_label(name).is_some()
            || matches!(name, "true" | "false" | "null")
        {
            return Err(RequestError::invalid(format!("`{name}` is a reserved word")));
        }
    }
    let names = cx.snapshot.names();
    let same = |one: &gram_check::names::Declaration| one.kind.space() == space && one.name == name;
    let taken = names.all().find(|(other, one)| {
        // A type declared in a tool is visible only in that tool.
        let seen = match (one.holder, own.holder) {
            (Some(_), _) | (_, Some(_)) if space == Space::Types => {
                other.file == found.file && one.holder == own.holder
            }
            _ => true,
        };
        same(one) && seen && *other != found
    });
    match taken {
        Some((other, one)) => {
            let file = cx.snapshot.text(other.file).map_or("", |file| file.source().name());
            Err(RequestError::failed(format!(
                "a {} `{name}` is already declared in {file}",
                one.kind.word()
            )))
        }
        None => Ok(()),
    }
}

/// Rejects a name that another parameter or field of the same declaration has.
fn free_in(cx: &RequestContext, found: Found, name: &str) -> RequestResult<()> {
    let Some(node) = node_of(&cx.snapshot, found) else { return Ok(()) };
    let parameters = signature(node);
    let fields = node.elements().filter_map(|element| element.children().next());
    let mut all = parameters.into_iter().chain(fields).filter_map(|it| it.subject().identifier);
    if all.any(|known| known.content() == name) {
        let known = cx.snapshot.declaration(found).map_or("this", |one| one.name.as_str());
        return Err(RequestError::failed(format!("`{known}` already has a `{name}`")));
    }
    Ok(())
}

/// Rejects a name of a term that would duplicate a parameter or field where the term is used.
fn no_second_parameter(
    cx: &RequestContext,
    places: &[Occurrence],
    name: &str,
) -> RequestResult<()> {
    for place in places.iter().filter(|place| !place.declares) {
        let own = cx.snapshot.names().of(place.file);
        if let Some(at) = crate::lookup::enclosing_declaration(own, place.span.start) {
            free_in(cx, Found { file: place.file, at }, name)?;
        }
    }
    Ok(())
}
