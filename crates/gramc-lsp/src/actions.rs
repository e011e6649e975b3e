//! Code actions: fixes, suppressions, explanations, refactorings, and enum values that models send.

mod refactor;

use gramc_check::names::{Found, Kind};
use gramc_lint::{Lint, Settings};
use gramc_model::print::identifier;
use gramc_syntax::{Applicability, Diagnostic, Edit, Fix, Span};
use lsp_types as lsp;
use lsp_types::{CodeAction, CodeActionKind, CodeActionOrCommand, TextEdit};
use serde_json::json;

use crate::diagnostics::{own_diagnostics, to_protocol};
use crate::document_kind::DocumentKind;
use crate::lens::rejection_summary;
use crate::lookup::{field_of, member, node_of, signature, type_of};
use crate::request::{RequestContext, RequestResult};
use crate::workspace_edit::{DocumentEdits, workspace_edit};

/// The kind of the action that applies all safe fixes.
pub(crate) const FIX_ALL: &str = "source.fixAll.gram";

pub(crate) const KINDS: [&str; 7] = [
    "quickfix",
    refactor::EXTRACT,
    refactor::INLINE,
    refactor::MOVE,
    refactor::REWRITE,
    FIX_ALL,
    refactor::ORGANIZE_IMPORTS,
];

/// The command that returns the explanation of a code.
pub(crate) const EXPLAIN: &str = "gram.explain";

/// `textDocument/codeAction`
pub(crate) fn actions(
    cx: &RequestContext,
    params: lsp::CodeActionParams,
) -> RequestResult<Vec<CodeActionOrCommand>> {
    let only = params.context.only.as_deref();
    // A kind includes its sub-kinds.
    let wants = |kind: &str| {
        only.is_none_or(|only| {
            only.iter().any(|one| {
                let one = one.as_str();
                one.is_empty()
                    || kind == one
                    || kind.strip_prefix(one).is_some_and(|it| it.starts_with('.'))
            })
        })
    };
    let span = cx.positions().span(params.range);
    let mut found = Vec::new();
    let quick = wants("quickfix");
    let own = own_diagnostics(cx);
    let here = own.iter().filter(|one| {
        let place = one.span();
        place.start <= span.end && span.start <= place.end
    });
    for diagnostic in here.filter(|_| quick) {
        let shown = to_protocol(&cx.snapshot, diagnostic);
        for (at, fix) in diagnostic.fixes.iter().enumerate() {
            let first = at == 0 && fix.applicability == Applicability::Safe;
            found.push(action(cx, &fix.message, shown.clone(), &fix.edits, first));
        }
        if let Some(edit) = suppress(cx, diagnostic) {
            let title = format!("allow `{}` here", diagnostic.code.name);
            found.push(action(cx, &title, shown.clone(), &[edit], false));
        }
        let title = format!("explain `{}`", diagnostic.code.name);
        let command = lsp::Command {
            title: title.clone(),
            command: EXPLAIN.to_owned(),
            arguments: Some(vec![json!(diagnostic.code.name)]),
        };
        found.push(CodeAction {
            title,
            kind: Some(CodeActionKind::QUICKFIX),
            diagnostics: shown.map(|one| vec![one]),
            command: Some(command),
            ..CodeAction::default()
        });
    }
    if cx.file.kind != DocumentKind::Gram {
        return Ok(found.into_iter().map(CodeActionOrCommand::CodeAction).collect());
    }
    if quick {
        suggestions(cx, span, &mut found);
    }
    found.extend(refactor::refactorings(cx, span, wants, only.is_some()));
    if wants(FIX_ALL) && own.iter().flat_map(|one| &one.fixes).any(is_safe) {
        found.extend(fix_all(cx));
    }
    Ok(found.into_iter().map(CodeActionOrCommand::CodeAction).collect())
}

fn is_safe(fix: &Fix) -> bool {
    fix.applicability == Applicability::Safe
}

fn edits(cx: &RequestContext, edits: &[Edit]) -> lsp::WorkspaceEdit {
    let positions = cx.positions();
    let edits =
        edits.iter().map(|edit| TextEdit::new(positions.range(edit.span), edit.text.clone()));
    let changes = vec![DocumentEdits::new(&cx.file, edits.collect())];
    workspace_edit(&cx.client, changes)
}

fn action(
    cx: &RequestContext,
    title: &str,
    diagnostic: Option<lsp::Diagnostic>,
    changes: &[Edit],
    preferred: bool,
) -> CodeAction {
    CodeAction {
        title: title.to_owned(),
        kind: Some(CodeActionKind::QUICKFIX),
        diagnostics: diagnostic.map(|one| vec![one]),
        edit: Some(edits(cx, changes)),
        is_preferred: preferred.then_some(true),
        ..CodeAction::default()
    }
}

/// All safe fixes of this file, applied repeatedly as by `gramc check --fix`.
fn fix_all(cx: &RequestContext) -> Option<CodeAction> {
    let snapshot = &cx.snapshot;
    let mut settings: Settings = snapshot.settings().clone();
    settings.max_diagnostics = usize::MAX;
    // The fixed file comes first.
    let mut order: Vec<usize> = (0..snapshot.files().len()).collect();
    order.swap(0, cx.number);
    let place = |file: usize| order.iter().position(|at| *at == file).unwrap_or(file);
    let mut texts: Vec<_> =
        order.iter().filter_map(|at| Some(snapshot.files().get(*at)?.parse().clone())).collect();
    // Fixes can change the imports of the first file only.
    let targets: Vec<(String, usize)> = {
        let imports = gramc_check::imports(cx.file.parse()).into_iter();
        let links = snapshot.imports().of.get(cx.number).into_iter().flatten();
        let pairs = imports.zip(links);
        pairs
            .filter_map(|(import, link)| Some((import.path, place(*link.text.as_ref().ok()?))))
            .collect()
    };
    let rest: Vec<Vec<gramc_check::ResolvedImport>> = order
        .iter()
        .map(|at| {
            let links = snapshot.imports().of.get(*at).cloned().unwrap_or_default();
            let moved = links
                .into_iter()
                .map(|link| gramc_check::ResolvedImport { text: link.text.map(place), ..link });
            moved.collect()
        })
        .collect();
    let fixed = gramc_lint::fix(&mut texts, 1, |texts| {
        let mut links = gramc_check::ImportGraph { of: rest.clone() };
        if let (Some(first), Some(own)) = (links.of.first_mut(), texts.first()) {
            let link = |import: gramc_check::Import| {
                let known = targets.iter().find(|(path, _)| *path == import.path);
                let text = known.map(|(_, text)| *text);
                let text = text.ok_or_else(|| format!("there is no file `{}`", import.path));
                gramc_check::ResolvedImport { span: import.span, text }
            };
            *first = gramc_check::imports(own).into_iter().map(link).collect();
        }
        gramc_lint::check(texts, &links, &settings)
    });
    let count = fixed.applied.first().copied().filter(|count| *count > 0)?;
    let text = texts.first()?.source().text();
    let change = difference(cx.file.text(), text);
    let s = if count == 1 { "" } else { "es" };
    Some(CodeAction {
        title: format!("apply {count} safe fix{s}"),
        kind: Some(CodeActionKind::from(FIX_ALL)),
        edit: Some(edits(cx, &[change])),
        ..CodeAction::default()
    })
}

/// The edit that turns one text into another.
fn difference(old: &str, new: &str) -> Edit {
    let same = |(one, other): &(char, char)| one == other;
    let start: usize =
        old.chars().zip(new.chars()).take_while(same).map(|(c, _)| c.len_utf8()).sum();
    let (rest, other) = (&old[start..], &new[start..]);
    let end: usize = rest
        .chars()
        .rev()
        .zip(other.chars().rev())
        .take_while(same)
        .map(|(c, _)| c.len_utf8())
        .sum();
    let span = Span::new(crate::position::number(start), crate::position::number(old.len() - end));
    Edit { span, text: other[..other.len() - end].to_owned() }
}

/// The edit that suppresses a diagnostic with a comment on the line before it.
fn suppress(cx: &RequestContext, diagnostic: &Diagnostic) -> Option<Edit> {
    Lint::of(diagnostic.code.name)?;
    let text = cx.file.text();
    let own = cx.snapshot.names().of(cx.number);
    let at = diagnostic.span().start;
    // Before the line of the diagnostic, or before the declaration if it starts on that line.
    let line = line_start(text, at);
    let inside = own.iter().any(|one| one.span.start < line && line < one.span.end);
    let start = if inside {
        line
    } else {
        let whole = own.iter().find(|one| one.span.start <= at && at <= one.span.end);
        line_start(text, whole.map_or(at, |one| one.span.start))
    };
    let line = text.get(start as usize..)?;
    let indent: String = line.chars().take_while(|c| matches!(c, ' ' | '\t')).collect();
    let new_line = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let text = format!("{indent}// gram-allow: {}{new_line}", diagnostic.code.name);
    Some(Edit { span: Span::empty(start), text })
}

fn line_start(text: &str, at: u32) -> u32 {
    let before = text.get(..at as usize).unwrap_or_default();
    crate::position::number(before.rfind('\n').map_or(0, |at| at + 1))
}

/// Suggestions from traces for the tools in a span: enum values that models send.
fn suggestions(cx: &RequestContext, span: Span, found: &mut Vec<CodeAction>) {
    let own = cx.snapshot.names().list(cx.number);
    for (at, one) in own.iter().enumerate() {
        let touched = one.span.start <= span.end && span.start <= one.span.end;
        let calls = cx.snapshot.project.trace_stats.tools.get(&one.name);
        let Some(calls) = calls.filter(|_| touched && one.kind == Kind::Tool) else { continue };
        for (key, rejected) in calls.errors.iter().filter(|(it, _)| it.code == "NOT_IN_ENUM") {
            let text =
                rejected.most_frequent().and_then(|it| serde_json::from_str::<String>(it).ok());
            let tool = Found { file: cx.number, at };
            let Some((text, (file, edit))) = text.and_then(|text| {
                Some((text.clone(), add_enum_value(cx, tool, &key.parameter, &text)?))
            }) else {
                continue;
            };
            let Some(other) = cx.snapshot.text(file) else { continue };
            let range = other.positions(cx.snapshot.encoding).range(edit.span);
            let edits = vec![TextEdit::new(range, edit.text)];
            let change = vec![DocumentEdits::new(other, edits)];
            let (parameter, why) = (&key.parameter, rejection_summary(calls, key, rejected));
            found.push(CodeAction {
                title: format!("add `{text}` to the values of `{parameter}`: {why}"),
                kind: Some(CodeActionKind::QUICKFIX),
                edit: Some(workspace_edit(&cx.client, change)),
                ..CodeAction::default()
            });
        }
    }
}

/// The edit that adds a value to a parameter's enum type or `enum` attribute.
fn add_enum_value(
    cx: &RequestContext,
    tool: Found,
    parameter: &str,
    value: &str,
) -> Option<(usize, Edit)> {
    let snapshot = &cx.snapshot;
    let node = node_of(snapshot, tool)?;
    let named = |it: &gramc_syntax::Node<'_>| {
        it.subject().identifier.is_some_and(|name| name.content() == parameter)
    };
    let own = signature(node).into_iter().find(named)?;
    let list = own.subject().entries().find(|entry| entry.key.content() == "enum");
    if let Some(last) = list.and_then(|list| list.value.children().last()) {
        let text = format!(", {}", gramc_model::print::string(value));
        return Some((tool.file, Edit { span: Span::empty(last.span().end), text }));
    }
    let field = field_of(snapshot, tool, parameter)?;
    let gramc_model::Type::Named(id) = &field.type_use.ty else { return None };
    let names = snapshot.names();
    let ty = names
        .all()
        .find(|(found, one)| one.kind == Kind::Enum && type_of(snapshot, *found) == Some(*id));
    let (found, _) = ty?;
    let (_, last) = node_of(snapshot, found)?.elements().filter_map(member).last()?;
    let end = node_of(snapshot, found)?.elements().last()?.span().end;
    let text = format!(", {}", identifier(value));
    Some((found.file, Edit { span: Span::empty(end.max(last.end)), text }))
}
