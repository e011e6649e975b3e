//! Renaming: every place that names a thing, in all texts at once.

use std::collections::HashMap;

use gram_check::names::{Found, Kind, Space};
use gram_model::BUILT_IN;
use gram_model::print::identifier;
use gram_syntax::Span;
use lsp_types as lsp;
use lsp_types::{Uri, WorkspaceEdit};

use crate::dispatch::{Answer, Cx, Refusal};
use crate::goto::{Mention, everywhere, mentions};
use crate::place::{At, Thing, node_of, signature, thing_at};

/// What is renamed.
enum Target {
    /// A declaration, or several that are one thing.
    Declared(Vec<Found>),
    /// A parameter or field with a type of its own.
    Field(Found, Span),
}

fn target(at: &At) -> Answer<Target> {
    match &at.thing {
        Thing::Declared(found) => Ok(Target::Declared(vec![*found])),
        Thing::Used(_, found) if found.len() == 1 => Ok(Target::Declared(found.clone())),
        Thing::Used(used, found) if found.is_empty() => Err(Refusal::failed(format!(
            "nothing declares `{}`, so it cannot be renamed",
            used.name
        ))),
        Thing::Used(used, _) => Err(Refusal::failed(format!(
            "`{}` is declared in several files; import the one that is meant first",
            used.name
        ))),
        Thing::Field(found) => Ok(Target::Field(*found, at.span)),
        Thing::BuiltIn(name) => Err(Refusal::failed(format!("`{name}` is a built-in type"))),
        Thing::Key(_) | Thing::Label(_) => {
            Err(Refusal::failed("this is a word of the language, which has one name"))
        }
    }
}

/// `textDocument/prepareRename`
pub(crate) fn prepare(
    cx: &Cx,
    params: lsp::TextDocumentPositionParams,
) -> Answer<Option<lsp::PrepareRenameResponse>> {
    let Some(at) = thing_at(cx, params.position) else { return Ok(None) };
    target(&at)?;
    let placeholder = match &at.thing {
        Thing::Used(used, _) => used.name.to_string(),
        _ => crate::hover::name_at(cx, at.span),
    };
    let range = cx.positions().range(at.span);
    Ok(Some(lsp::PrepareRenameResponse::RangeWithPlaceholder { range, placeholder }))
}

/// `textDocument/rename`
pub(crate) fn rename(cx: &Cx, params: lsp::RenameParams) -> Answer<Option<WorkspaceEdit>> {
    let position = params.text_document_position.position;
    let Some(at) = thing_at(cx, position) else {
        return Err(Refusal::failed("here stands nothing that has a name"));
    };
    let name = params.new_name.trim_matches('`');
    if name.is_empty() || name.contains(['\n', '\r']) {
        return Err(Refusal::invalid("a name has at least one character, and stands on one line"));
    }
    let places = match target(&at)? {
        Target::Declared(found) => {
            for found in &found {
                allowed(cx, *found, name)?;
            }
            let all = mentions(&cx.snapshot, &found, &everywhere(&cx.snapshot));
            let terms = found
                .iter()
                .all(|it| cx.snapshot.declaration(*it).is_some_and(|one| one.kind == Kind::Term));
            if terms {
                no_second_parameter(cx, &all, name)?;
            }
            all
        }
        Target::Field(found, span) => {
            free_in(cx, found, name)?;
            vec![Mention { file: cx.number, span, declares: true }]
        }
    };
    let mut changes: Vec<(Uri, Option<i32>, Vec<lsp::TextEdit>)> = Vec::new();
    let mut files: HashMap<usize, usize> = HashMap::new();
    for place in places {
        let Some(file) = cx.snapshot.text(place.file) else { continue };
        let range = file.positions(cx.snapshot.encoding).range(place.span);
        let quoted = file.source().slice(place.span).starts_with('`');
        let types = at_type(cx, &at);
        // In a type expression a name stands as it is, for types need no quotes.
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
pub(crate) fn edit(cx: &Cx, changes: Vec<(Uri, Option<i32>, Vec<lsp::TextEdit>)>) -> WorkspaceEdit {
    if cx.client.versioned_edits {
        let edits = changes.into_iter().map(|(uri, version, edits)| lsp::TextDocumentEdit {
            text_document: lsp::OptionalVersionedTextDocumentIdentifier { uri, version },
            edits: edits.into_iter().map(lsp::OneOf::Left).collect(),
        });
        let edits = lsp::DocumentChanges::Edits(edits.collect());
        return WorkspaceEdit { document_changes: Some(edits), ..WorkspaceEdit::default() };
    }
    #[expect(clippy::mutable_key_type, reason = "the protocol's types have such keys")]
    let changes = changes.into_iter().map(|(uri, _, edits)| (uri, edits)).collect();
    WorkspaceEdit::new(changes)
}

fn at_type(cx: &Cx, at: &At) -> bool {
    let found = match &at.thing {
        Thing::Declared(found) => Some(found),
        Thing::Used(_, found) => found.first(),
        _ => None,
    };
    let one = found.and_then(|found| cx.snapshot.declaration(*found));
    one.is_some_and(|one| one.kind.is_type())
}

/// Refuses a name that a declaration may not have.
fn allowed(cx: &Cx, found: Found, name: &str) -> Answer<()> {
    let Some(own) = cx.snapshot.declaration(found) else { return Ok(()) };
    let space = own.kind.space();
    if space == Space::Types {
        let part = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let valid = name.chars().all(part) && !name.starts_with(|c: char| c.is_ascii_digit());
        if !valid {
            return Err(Refusal::invalid(format!(
                "`{name}` is no name of a type; one is made of letters, digits and _, and begins with no digit"
            )));
        }
        if BUILT_IN.contains(&name)
            || Kind::of_label(name).is_some()
            || matches!(name, "true" | "false" | "null")
        {
            return Err(Refusal::invalid(format!("`{name}` is a word of the language")));
        }
    }
    let names = cx.snapshot.names();
    let same = |one: &gram_check::names::Declaration| one.kind.space() == space && one.name == name;
    let taken = names.all().find(|(other, one)| {
        // A type inside of a tool is seen there alone.
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
            Err(Refusal::failed(format!(
                "there is a {} `{name}` already, in {file}",
                one.kind.word()
            )))
        }
        None => Ok(()),
    }
}

/// Refuses a name that another parameter or field of the same declaration has.
fn free_in(cx: &Cx, found: Found, name: &str) -> Answer<()> {
    let Some(node) = node_of(&cx.snapshot, found) else { return Ok(()) };
    let parameters = signature(node);
    let fields = node.elements().filter_map(|element| element.children().next());
    let mut all = parameters.into_iter().chain(fields).filter_map(|it| it.subject().identifier);
    if all.any(|known| known.content() == name) {
        let known = cx.snapshot.declaration(found).map_or("this", |one| one.name.as_str());
        return Err(Refusal::failed(format!("`{known}` has a `{name}` already")));
    }
    Ok(())
}

/// Refuses a name of a term that would be the second of its kind in a signature or record.
fn no_second_parameter(cx: &Cx, places: &[Mention], name: &str) -> Answer<()> {
    for place in places.iter().filter(|place| !place.declares) {
        let own = cx.snapshot.names().of(place.file);
        if let Some(at) = crate::place::holder(own, place.span.start) {
            free_in(cx, Found { file: place.file, at }, name)?;
        }
    }
    Ok(())
}
