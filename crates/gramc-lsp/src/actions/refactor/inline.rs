//! Writes a declared type where it is used.

use std::collections::BTreeMap;

use gramc_check::names::{Found, Kind};
use gramc_model::print::type_expression;
use gramc_model::{Constraint, Type, TypeDeclaration, TypeKind, TypeUse};
use gramc_syntax::{NodeKind as N, Span};
use lsp_types::{TextEdit, WorkspaceEdit};

use crate::lookup::{Symbol, chain, symbol, type_of};
use crate::request::RequestContext;
use crate::workspace_edit::DocumentEdits;

/// The edits that inline the type at an offset: where it is used there, and in all places, which
/// removes its declaration. Each with a title.
pub(super) fn inline_type(cx: &RequestContext, at: u32) -> Vec<(String, WorkspaceEdit)> {
    let Some(found) = symbol(&cx.snapshot, cx.number, &cx.file, at) else { return Vec::new() };
    let (target, used) = match found.symbol {
        Symbol::Declared(target) => (target, None),
        Symbol::Used(used, targets) => match targets[..] {
            [target] => (target, Some(used.place)),
            _ => return Vec::new(),
        },
        _ => return Vec::new(),
    };
    let Some((name, expression)) = expression(cx, target) else { return Vec::new() };
    let mut made = Vec::new();
    let here = used.and_then(|place| edit(cx, cx.number, place, &expression));
    if let Some(edit) = here {
        made.push((
            format!("inline `{name}` here"),
            workspace_edit(cx, [(cx.number, vec![edit])].into()),
        ));
    }
    if let Some(edits) = everywhere(cx, target, &expression) {
        let title = format!("inline `{name}` everywhere and remove its declaration");
        made.push((title, workspace_edit(cx, edits)));
    }
    made
}

/// The name of a declared type, and what it is as an expression. `None` if an expression cannot say it, or
/// if the type refers to itself.
fn expression(cx: &RequestContext, target: Found) -> Option<(String, String)> {
    let declaration = cx.snapshot.declaration(target)?;
    if !matches!(declaration.kind, Kind::Record | Kind::Enum | Kind::Alias | Kind::Union) {
        return None;
    }
    let id = type_of(&cx.snapshot, target)?;
    let module = cx.snapshot.partial_module(target.file, declaration.span);
    let types = &module.module().types;
    let text = type_expression(types, &without_declaration(types.get(id)?)?)?;
    let uses = cx.snapshot.uses_of(target.file);
    let refers_to_itself = uses.iter().any(|used| {
        used.holder == Some(target.at)
            && cx.snapshot.names().meaning(target.file, used).contains(&target)
    });
    (!refers_to_itself).then(|| (declaration.name.to_string(), text))
}

/// What a declaration declares, as a type. `None` if it has attributes or descriptions of its own.
fn without_declaration(declared: &TypeDeclaration) -> Option<Type> {
    let TypeUse { ty, default: None, constraints, details: None, .. } = &declared.type_use else {
        return None;
    };
    match (&declared.kind, &constraints[..]) {
        (TypeKind::Enum(descriptions), [Constraint::Enum(values)]) => {
            let literals = values.iter().map(|value| Type::Literal(Box::new(value.clone())));
            let is_plain = descriptions.iter().all(Option::is_none) && !values.is_empty();
            is_plain.then(|| Type::Union(literals.collect()))
        }
        (TypeKind::Union(Some(_)), _) => None,
        (_, []) => Some(ty.clone()),
        _ => None,
    }
}

/// The edit that replaces a use. `None` where no type expression can be written.
fn edit(cx: &RequestContext, file: usize, place: Span, expression: &str) -> Option<TextEdit> {
    let text = cx.snapshot.text(file)?;
    let chain = chain(text.parse().tree(), place.start);
    if !chain.iter().any(|node| matches!(node.kind(), N::Labels | N::TypeExpression)) {
        return None;
    }
    let source = text.text();
    let (before, after) = (source.get(..place.start as usize)?, source.get(place.end as usize..)?);
    let is_whole = before.ends_with("::") && (after.starts_with(')') || after.starts_with(' '));
    let expression = if before.ends_with('`') && after.starts_with('`') || is_whole {
        expression.to_owned()
    } else if expression.contains(" | ") {
        format!("({expression})")
    } else {
        expression.to_owned()
    };
    Some(TextEdit::new(cx.snapshot.positions(file)?.range(place), expression))
}

/// The edits of all files. `None` if a use cannot be replaced, or if there is none.
fn everywhere(
    cx: &RequestContext,
    target: Found,
    expression: &str,
) -> Option<BTreeMap<usize, Vec<TextEdit>>> {
    let mut edits: BTreeMap<usize, Vec<TextEdit>> = BTreeMap::new();
    for (file, uses) in cx.snapshot.uses().iter().enumerate() {
        for used in uses.iter() {
            if cx.snapshot.names().meaning(file, used).contains(&target) {
                edits.entry(file).or_default().push(edit(cx, file, used.place, expression)?);
            }
        }
    }
    if edits.is_empty() {
        return None;
    }
    let removed =
        TextEdit::new(cx.snapshot.positions(target.file)?.range(whole(cx, target)?), String::new());
    edits.entry(target.file).or_default().push(removed);
    Some(edits)
}

/// The span of a declaration with its comment and the empty lines after it.
pub(super) fn whole(cx: &RequestContext, found: Found) -> Option<Span> {
    let declaration = cx.snapshot.declaration(found)?;
    let file = cx.snapshot.text(found.file)?;
    let node = file.parse().tree().node(declaration.node);
    let start = node
        .doc()
        .map_or(declaration.span.start, |doc| doc.span().start.min(declaration.span.start));
    let after = file.text().get(declaration.span.end as usize..)?;
    let blank = after.len() - after.trim_start_matches(['\n', '\r', ' ', '\t']).len();
    Some(Span::new(start, declaration.span.end + crate::position::number(blank)))
}

fn workspace_edit(cx: &RequestContext, edits: BTreeMap<usize, Vec<TextEdit>>) -> WorkspaceEdit {
    let changes = edits.into_iter().filter_map(|(file, edits)| {
        let file = cx.snapshot.text(file)?;
        Some(DocumentEdits::new(file, edits))
    });
    crate::workspace_edit::workspace_edit(&cx.client, changes.collect())
}
