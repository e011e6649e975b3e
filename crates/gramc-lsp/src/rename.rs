//! Renaming of declarations, parameters, fields and enum members, with all that refers to them.

mod fields;
mod remote;

use gramc_check::names::{Found, Kind, Space};
use gramc_model::BUILT_IN;
use gramc_syntax::{Diagnostic, Node, Parse, Severity};
use lsp_types as lsp;
use lsp_types::WorkspaceEdit;

use self::fields::FieldRename;
use crate::goto::{Occurrence, everywhere, occurrences};
use crate::lookup::{Symbol, node_of, only_node, signature, symbol_at};
use crate::request::{RequestContext, RequestError, RequestResult};
use crate::snapshot::Snapshot;
use crate::workspace_edit::Edits;

/// Rejects a symbol that cannot be renamed.
fn check_symbol(symbol: &Symbol) -> RequestResult<()> {
    let why = match symbol {
        Symbol::Used(used, found) if found.is_empty() => {
            format!("cannot rename `{}`: it has no declaration", used.name)
        }
        Symbol::Used(used, found) if found.len() > 1 => format!(
            "cannot rename `{}`: it is declared in several files; import one of them first",
            used.name
        ),
        Symbol::BuiltIn(name) => format!("`{name}` is a built-in type"),
        Symbol::Key | Symbol::Label(_) | Symbol::Implementation(_) | Symbol::Lint(_) => {
            "cannot rename a keyword".to_owned()
        }
        Symbol::Declared(_) | Symbol::Used(..) | Symbol::Field(_) | Symbol::Member(_) => {
            return Ok(());
        }
    };
    Err(RequestError::failure(why))
}

/// `textDocument/prepareRename`
pub(crate) fn prepare(
    cx: &RequestContext,
    params: lsp::TextDocumentPositionParams,
) -> RequestResult<Option<lsp::PrepareRenameResponse>> {
    let at = cx.positions().offset(params.position);
    let Some(at) = symbol_at(cx, at) else { return Ok(None) };
    check_symbol(&at.symbol)?;
    let placeholder = match &at.symbol {
        Symbol::Used(used, _) => used.name.to_string(),
        _ => crate::hover::name_at(cx, at.span),
    };
    let range = cx.range(at.span);
    Ok(Some(lsp::PrepareRenameResponse::RangeWithPlaceholder { range, placeholder }))
}

/// `textDocument/rename`
pub(crate) fn rename(
    cx: &RequestContext,
    params: lsp::RenameParams,
) -> RequestResult<Option<WorkspaceEdit>> {
    let at = cx.positions().offset(params.text_document_position.position);
    let Some(at) = symbol_at(cx, at) else {
        return Err(RequestError::failure("no name at this position"));
    };
    let name = params.new_name.trim_matches('`');
    if name.is_empty() || name.contains(['\n', '\r']) {
        return Err(RequestError::invalid("a name has at least one character and no line break"));
    }
    check_symbol(&at.symbol)?;
    let mut edits = Edits::default();
    let old = crate::hover::name_at(cx, at.span);
    match &at.symbol {
        Symbol::Declared(found) => rename_declarations(cx, &mut edits, &[*found], name)?,
        Symbol::Used(_, found) => rename_declarations(cx, &mut edits, found, name)?,
        Symbol::Field(found) => {
            check_free(cx, *found, name)?;
            let snapshot = &*cx.snapshot;
            FieldRename { snapshot, old: &old, new: name }.apply(&mut edits, [*found]);
        }
        Symbol::Member(found) => {
            for (file, span) in crate::lookup::member_occurrences(&cx.snapshot, *found, &old) {
                edits.rename(&cx.snapshot, file, span, name);
            }
        }
        _ => {}
    }
    check_result(cx, &edits, name)?;
    Ok(Some(edits.to_protocol(cx)))
}

/// Renames declarations of a name, and what refers to them.
fn rename_declarations(
    cx: &RequestContext,
    edits: &mut Edits,
    found: &[Found],
    name: &str,
) -> RequestResult<()> {
    let snapshot = &*cx.snapshot;
    for found in found {
        check_renaming(cx, *found, name)?;
    }
    let Some(own) = found.first().and_then(|first| snapshot.declaration(*first)) else {
        return Ok(());
    };
    let places = occurrences(snapshot, found, &everywhere(snapshot));
    for place in &places {
        edits.rename(snapshot, place.file, place.span, name);
    }
    if own.kind == Kind::Tool {
        remote::keep_names(edits, snapshot, &found.iter().copied().collect(), &own.name, name);
    }
    if own.kind == Kind::Term {
        let holder = |place: &Occurrence| {
            let own = snapshot.names().of(place.file);
            let at = crate::lookup::enclosing_declaration(own, place.span.start)?;
            Some(Found { file: place.file, at })
        };
        let uses = places.iter().filter(|place| !place.declares);
        let holders: Vec<_> = uses.filter_map(holder).collect();
        for holder in &holders {
            check_free(cx, *holder, name)?;
        }
        FieldRename { snapshot, old: &own.name, new: name }.apply(edits, holders);
    }
    Ok(())
}

/// Rejects a renaming that leads to errors: not all references can be followed, such as the keys of
/// default values.
fn check_result(cx: &RequestContext, edits: &Edits, name: &str) -> RequestResult<()> {
    let snapshot = &*cx.snapshot;
    let errors = |texts: &[Parse]| -> Vec<Diagnostic> {
        let found = gramc_check::check_linked(texts, snapshot.imports()).diagnostics;
        found.into_iter().filter(|one| one.severity == Severity::Error).collect()
    };
    let mut known: Vec<_> = errors(&snapshot.parses()).iter().map(|one| one.code.name).collect();
    for error in errors(&edits.texts(snapshot)) {
        let at = known.iter().position(|known| *known == error.code.name).ok_or_else(|| {
            RequestError::failure(format!(
                "cannot rename it to `{name}`: {} in {}; change this place first",
                error.message,
                error.source.name()
            ))
        })?;
        known.swap_remove(at);
    }
    Ok(())
}

/// The implementations of a library: their nodes, and the tools that they name.
fn library_entries<'s>(
    snapshot: &'s Snapshot,
    file: usize,
    library: Node<'s>,
) -> Vec<(Node<'s>, Option<Found>)> {
    let nodes = library.elements().filter_map(only_node);
    let entry = |node: Node<'s>| {
        let name = node.subject().identifier?.content();
        Some((node, snapshot.names().find(file, None, Space::Tools, &name).first().copied()))
    };
    nodes.filter_map(entry).collect()
}

/// Rejects invalid and duplicate names of declarations.
fn check_renaming(cx: &RequestContext, found: Found, name: &str) -> RequestResult<()> {
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
    let taken = names.all().find(|(other, one)| {
        // A type declared in a tool is visible only in that tool.
        let seen = match (one.holder, own.holder) {
            (Some(_), _) | (_, Some(_)) if space == Space::Types => {
                other.file == found.file && one.holder == own.holder
            }
            _ => true,
        };
        one.kind.space() == space && one.name == name && seen && *other != found
    });
    let Some((other, one)) = taken else { return Ok(()) };
    let file = cx.snapshot.text(other.file).map_or("", |file| file.source().name());
    let kind = one.kind.word();
    Err(RequestError::failure(format!("a {kind} `{name}` is already declared in {file}")))
}

/// Rejects a name that another parameter or field of the same declaration has.
fn check_free(cx: &RequestContext, found: Found, name: &str) -> RequestResult<()> {
    let Some(node) = node_of(&cx.snapshot, found) else { return Ok(()) };
    let parameters = signature(node);
    let fields = node.elements().filter_map(|element| element.children().next());
    let mut all = parameters.into_iter().chain(fields).filter_map(|it| it.subject().identifier);
    if all.any(|known| known.content() == name) {
        let known = cx.snapshot.declaration(found).map_or("this", |one| one.name.as_str());
        return Err(RequestError::failure(format!("`{known}` already has a `{name}`")));
    }
    Ok(())
}
