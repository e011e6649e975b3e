//! Code actions: fixes, suppressions, explanations, refactorings, and enum values that models send.

mod refactor;

use std::ops::Range;

use gramc_check::names::{Found, Kind};
use gramc_lint::{Lint, Settings};
use gramc_model::print::identifier;
use gramc_syntax::{Applicability, Diagnostic, Edit, Fix, Span};
use lsp_types as lsp;
use lsp_types::{CodeAction, CodeActionKind, WorkspaceEdit};
use serde_json::json;

use crate::diagnostics::{own_diagnostics, to_protocol};
use crate::document_kind::DocumentKind;
use crate::lens::rejection_summary;
use crate::lookup::{entry, enum_members, field_of, node_of, signature, touches, type_of};
use crate::position::line_start;
use crate::request::RequestContext;
use crate::workspace_edit::Edits;

/// The kind of the action that applies all safe fixes.
pub(crate) const FIX_ALL: &str = "source.fixAll.gram";

const QUICK_FIX: &str = "quickfix";

pub(crate) const KINDS: [&str; 7] = [
    QUICK_FIX,
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
pub(crate) fn actions(cx: &RequestContext, params: lsp::CodeActionParams) -> Vec<CodeAction> {
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
    let quick = wants(QUICK_FIX);
    let own = own_diagnostics(cx);
    for diagnostic in own.iter().filter(|one| quick && one.span().touches(span)) {
        let shown = to_protocol(&cx.snapshot, diagnostic).map(|one| vec![one]);
        let name = diagnostic.code.name;
        for (at, fix) in diagnostic.fixes.iter().enumerate() {
            let is_first = at == 0 && is_safe(fix);
            found.push(CodeAction {
                diagnostics: shown.clone(),
                is_preferred: is_first.then_some(true),
                ..edit_action(cx, QUICK_FIX, fix.message.clone(), fix.edits.clone())
            });
        }
        if let Some(edit) = suppress(cx, diagnostic) {
            found.push(CodeAction {
                diagnostics: shown.clone(),
                ..edit_action(cx, QUICK_FIX, format!("allow `{name}` here"), [edit])
            });
        }
        let title = format!("explain `{name}`");
        let command = lsp::Command::new(title.clone(), EXPLAIN.to_owned(), Some(vec![json!(name)]));
        found.push(CodeAction {
            title,
            kind: Some(CodeActionKind::QUICKFIX),
            diagnostics: shown,
            command: Some(command),
            ..CodeAction::default()
        });
    }
    if cx.file.kind != DocumentKind::Gram {
        return found;
    }
    if quick {
        suggestions(cx, span, &mut found);
    }
    found.extend(refactor::refactorings(cx, span, wants, only.is_some()));
    if wants(FIX_ALL) && own.iter().flat_map(|one| &one.fixes).any(is_safe) {
        found.extend(fix_all(cx));
    }
    found
}

fn is_safe(fix: &Fix) -> bool {
    fix.applicability == Applicability::Safe
}

fn action(kind: &'static str, title: String, edit: WorkspaceEdit) -> CodeAction {
    let (kind, edit) = (Some(CodeActionKind::from(kind)), Some(edit));
    CodeAction { title, kind, edit, ..CodeAction::default() }
}

fn edit_action(
    cx: &RequestContext,
    kind: &'static str,
    title: String,
    edits: impl IntoIterator<Item = Edit>,
) -> CodeAction {
    action(kind, title, Edits::of_document(cx, edits).to_protocol(cx))
}

/// All safe fixes of this file, applied repeatedly as by `gramc check --fix`.
fn fix_all(cx: &RequestContext) -> Option<CodeAction> {
    let (snapshot, number) = (&cx.snapshot, cx.number);
    let mut settings: Settings = snapshot.settings().clone();
    settings.max_diagnostics = usize::MAX;
    let graph = snapshot.imports();
    // Fixes can change the imports of this file only.
    let imports = gramc_check::imports(cx.file.parse()).into_iter().zip(graph.of.get(number)?);
    let targets: Vec<(String, usize)> = imports
        .filter_map(|(import, link)| Some((import.path, *link.text.as_ref().ok()?)))
        .collect();
    let resolve = |import: gramc_check::Import| {
        let known = targets.iter().find(|(path, _)| *path == import.path);
        let text = known.map(|(_, text)| *text);
        let missing = || format!("there is no file `{}`", import.path);
        let text = text.ok_or_else(|| gramc_check::ImportFailure(missing()));
        gramc_check::ResolvedImport { span: import.span, text }
    };
    let mut texts = snapshot.parses();
    let fixed = gramc_lint::fix(&mut texts, number..number + 1, |texts| {
        let mut links = gramc_check::ImportGraph { of: graph.of.clone() };
        links.of[number] = gramc_check::imports(&texts[number]).into_iter().map(resolve).collect();
        gramc_lint::check(texts, &links, &settings)
    });
    let count = fixed.applied.get(number).copied().filter(|count| *count > 0)?;
    let change = difference(cx.file.text(), texts.get(number)?.source().text());
    let s = if count == 1 { "" } else { "es" };
    Some(edit_action(cx, FIX_ALL, format!("apply {count} safe fix{s}"), [change]))
}

/// The edit that turns one text into another.
fn difference(old: &str, new: &str) -> Edit {
    let same = |pair: &(char, char)| pair.0 == pair.1;
    let length = |pair: (char, char)| pair.0.len_utf8();
    let start: usize = old.chars().zip(new.chars()).take_while(same).map(length).sum();
    let (rest, other) = (&old[start..], &new[start..]);
    let backwards = rest.chars().rev().zip(other.chars().rev());
    let end: usize = backwards.take_while(same).map(length).sum();
    let span = Span::from(start..old.len() - end);
    Edit { span, text: other[..other.len() - end].to_owned() }
}

/// The edit that suppresses a diagnostic with a comment on the line before it.
fn suppress(cx: &RequestContext, diagnostic: &Diagnostic) -> Option<Edit> {
    Lint::of(diagnostic.code.name)?;
    let text = cx.file.text();
    let own = cx.declarations();
    let at = diagnostic.span().start;
    // Before the line of the diagnostic, or before the declaration if it starts on that line.
    let line = line_start(text, at);
    let is_inside = |span: Range<usize>| span.start < line && line < span.end;
    let inside = own.iter().any(|one| is_inside(one.span.range()));
    let start = if inside {
        line
    } else {
        let whole = own.iter().find(|one| touches(one.span, at));
        line_start(text, whole.map_or(at, |one| one.span.start))
    };
    let line = text.get(start..)?;
    let indent: String = line.chars().take_while(|c| matches!(c, ' ' | '\t')).collect();
    let new_line = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let text = format!("{indent}// gram-allow: {}{new_line}", diagnostic.code.name);
    Some(Edit { span: Span::from(start..start), text })
}

/// Suggestions from traces for the tools in a span: enum values that models send.
fn suggestions(cx: &RequestContext, span: Span, found: &mut Vec<CodeAction>) {
    for (at, one) in cx.declarations().iter().enumerate() {
        let calls = cx.snapshot.project.trace_stats.tools.get(&one.name);
        let is_here = one.kind == Kind::Tool && one.span.touches(span);
        let Some(calls) = calls.filter(|_| is_here) else { continue };
        let tool = Found { file: cx.number, at };
        for (key, rejected) in calls.errors.iter().filter(|(it, _)| it.code == "NOT_IN_ENUM") {
            let Some(value) =
                rejected.most_frequent().and_then(|it| serde_json::from_str::<String>(it).ok())
            else {
                continue;
            };
            let parameter = &key.parameter;
            if let Some(edits) = add_enum_value(cx, tool, parameter, &value) {
                let why = rejection_summary(calls, key, rejected);
                let title = format!("add `{value}` to the values of `{parameter}`: {why}");
                found.push(action(QUICK_FIX, title, edits.to_protocol(cx)));
            }
        }
    }
}

/// The edit that adds a value to a parameter's enum type or `enum` attribute.
fn add_enum_value(cx: &RequestContext, tool: Found, parameter: &str, value: &str) -> Option<Edits> {
    let snapshot = &cx.snapshot;
    let named = |it: &gramc_syntax::Node<'_>| {
        it.subject().identifier.is_some_and(|name| name.content() == parameter)
    };
    let own = signature(node_of(snapshot, tool)?).into_iter().find(named)?;
    let (file, end, text) =
        if let Some(last) = entry(own, "enum").and_then(|it| it.children().last()) {
            (tool.file, last.span().end, gramc_model::print::string(value))
        } else {
            let field = field_of(snapshot, tool, parameter)?;
            let gramc_model::Type::Named(id) = &field.type_use.ty else { return None };
            let mut enums = snapshot.names().all().filter(|(_, one)| one.kind == Kind::Enum);
            let (found, _) = enums.find(|(found, _)| type_of(snapshot, *found) == Some(*id))?;
            let (_, last) = enum_members(snapshot, found).into_iter().last()?;
            let end = node_of(snapshot, found)?.elements().last()?.span().end;
            (found.file, end.max(last.end), identifier(value))
        };
    let mut edits = Edits::default();
    edits.add(file, Span::empty(end), format!(", {text}"));
    Some(edits)
}
