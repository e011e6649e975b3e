//! Writes a declared type where it is used.

use gramc_check::names::{Found, Kind};
use gramc_model::print::type_expression;
use gramc_model::{Constraint, Type, TypeDeclaration, TypeKind, TypeUse};
use gramc_syntax::{NodeKind as N, Span};

use crate::lookup::{Symbol, chain, symbol_at, type_of};
use crate::request::RequestContext;
use crate::workspace_edit::Edits;

/// The edits that inline the type at an offset: where it is used there, and in all places, which
/// removes its declaration. Each with a title.
pub(super) fn inline_type(cx: &RequestContext, at: u32) -> Vec<(String, Edits)> {
    let (target, used) = match symbol_at(cx, at).map(|found| found.symbol) {
        Some(Symbol::Declared(target)) => (target, None),
        Some(Symbol::Used(used, targets)) if targets.len() == 1 => (targets[0], Some(used.place)),
        _ => return Vec::new(),
    };
    let Some((name, expression)) = expression(cx, target) else { return Vec::new() };
    let here = used.and_then(|place| {
        let mut edits = Edits::default();
        edits.add(cx.number, place, replacement(cx, cx.number, place, &expression)?);
        Some((format!("inline `{name}` here"), edits))
    });
    let all = inline_everywhere(cx, target, &expression);
    let all = all.map(|it| (format!("inline `{name}` everywhere and remove its declaration"), it));
    here.into_iter().chain(all).collect()
}

/// The name of a declared type, andwhat it is as an expression. `None` if an expression cannot say it, or
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

/// The text that replaces a use. `None` where no type expression can be written.
fn replacement(cx: &RequestContext, file: usize, place: Span, expression: &str) -> Option<String> {
    let text = cx.snapshot.text(file)?;
    let chain = chain(text.parse().tree(), place.start);
    if !chain.iter().any(|node| matches!(node.kind(), N::Labels | N::TypeExpression)) {
        return None;
    }
    let source = text.text();
    let (before, after) = (source.get(..place.start as usize)?, source.get(place.end as usize..)?);
    let is_whole = before.ends_with("::") && (after.starts_with(')') || after.starts_with(' '));
    let is_alone = is_whole || (before.ends_with('`') && after.starts_with('`'));
    let needs_parentheses = !is_alone && expression.contains(" | ");
    Some(if needs_parentheses { format!("({expression})") } else { expression.to_owned() })
}

/// The edits of all files. `None` if a use cannot be replaced, or if there is none.
fn inline_everywhere(cx: &RequestContext, target: Found, expression: &str) -> Option<Edits> {
    let mut edits = Edits::default();
    let mut is_used = false;
    for (file, uses) in cx.snapshot.uses().iter().enumerate() {
        for used in uses.iter() {
            if cx.snapshot.names().meaning(file, used).contains(&target) {
                edits.add(file, used.place, replacement(cx, file, used.place, expression)?);
                is_used = true;
            }
        }
    }
    edits.add(target.file, whole(cx, target)?, String::new());
    is_used.then_some(edits)
}

/// The span of a declaration with its comment and the empty lines after it.
pub(super) fn whole(cx: &RequestContext, found: Found) -> Option<Span> {
    let declaration = cx.snapshot.declaration(found)?;
    let file = cx.snapshot.text(found.file)?;
    let doc = file.parse().tree().node(declaration.node).doc();
    let start = doc.map_or(declaration.span, |doc| declaration.span.cover(doc.span())).start;
    let end = declaration.span.end as usize;
    let after = file.text().get(end..)?;
    let blank = after.len() - after.trim_start_matches(['\n', '\r', ' ', '\t']).len();
    Some(Span::from(start as usize..end + blank))
}
