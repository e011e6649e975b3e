//! Refactorings: extraction and inlining of types, the notation of types, descriptions, libraries for tools,
//! tools in files of their own, imports in order.

mod descriptions;
mod extract;
mod inline;
mod libraries;
mod move_tool;

use std::collections::BTreeSet;
use std::sync::Arc;

use gramc_lint::{LINTS, Level, Settings};
use gramc_model::print::string;
use gramc_syntax::{Diagnostic, Edit, NodeKind as N, Span};
use lsp_types::{CodeAction, CodeActionKind, WorkspaceEdit};

use crate::request::RequestContext;
use libraries::Stub;

/// The kind of the action that sorts imports and removes those that are not needed.
pub(crate) const ORGANIZE_IMPORTS: &str = "source.organizeImports";
pub(crate) const EXTRACT: &str = "refactor.extract";
pub(crate) const INLINE: &str = "refactor.inline";
pub(crate) const MOVE: &str = "refactor.move";
pub(crate) const REWRITE: &str = "refactor.rewrite";

/// The lints whose fixes write types in another notation.
const NOTATIONS: [(&str, &str); 2] = [
    ("prefer-bare-types", "write types without backticks"),
    ("portable-gram", "write types in backticks, for other gram tools"),
];

/// The refactorings at a span. `is_explicit` says whether the client asks for certain kinds.
pub(super) fn refactorings(
    cx: &RequestContext,
    span: Span,
    wants: impl Fn(&str) -> bool,
    is_explicit: bool,
) -> Vec<CodeAction> {
    let mut found = Vec::new();
    let mut add = |kind: &str, title: String, edit: WorkspaceEdit| {
        found.push(CodeAction {
            title,
            kind: Some(CodeActionKind::from(kind.to_owned())),
            edit: Some(edit),
            ..CodeAction::default()
        });
    };
    let here = |edits: &[Edit]| super::edits(cx, edits);
    if wants(EXTRACT)
        && let Some((name, edits)) = extract::extract_record(cx, span.start)
    {
        add(EXTRACT, format!("extract the record `{name}`"), here(&edits));
    }
    if wants(INLINE) {
        for (title, edit) in inline::inline_type(cx, span.start) {
            add(INLINE, title, edit);
        }
    }
    if wants(MOVE)
        && let Some((title, edit)) = move_tool::move_tool(cx, span.start)
    {
        add(MOVE, title, edit);
    }
    if wants(REWRITE) {
        // Lints take longer than what an editor asks at each move of the cursor.
        for (lint, title) in NOTATIONS.into_iter().filter(|_| is_explicit) {
            let edits = notation(cx, lint, span);
            if !edits.is_empty() {
                add(REWRITE, title.to_owned(), here(&edits));
            }
        }
        if let Some((title, edits)) = descriptions::add_descriptions(cx, span.start) {
            add(REWRITE, title, here(&edits));
        }
        for (stub, what) in [(Stub::Programs, "a library"), (Stub::Fakes, "a library of fakes")] {
            if let Some((count, edit)) = libraries::library(cx, span.start, stub) {
                let tools = if count == 1 { "tool" } else { "tools" };
                add(REWRITE, format!("add {what} for {count} {tools} of this file"), here(&[edit]));
            }
        }
    }
    if wants(ORGANIZE_IMPORTS)
        && let Some(edit) = organized_imports(cx)
    {
        add(ORGANIZE_IMPORTS, "organize imports".to_owned(), here(&[edit]));
    }
    found
}

/// The fixes of a lint in the declarations that a span touches.
fn notation(cx: &RequestContext, lint: &str, span: Span) -> Vec<Edit> {
    let mut settings = Settings::default();
    settings.set_all(Level::Allow);
    if let Some(lint) = LINTS.iter().find(|known| known.code.name == lint) {
        settings.set(lint, Level::Warn);
    }
    // All files, because lints skip declarations with errors.
    let files = cx.snapshot.files().iter();
    let texts: Vec<_> = files.map(|file| file.parse().clone()).collect();
    let found = gramc_lint::diagnostics(&texts, cx.snapshot.imports(), &settings);
    let own = cx.snapshot.names().of(cx.number).iter().map(|one| one.span);
    let own: Vec<_> = own.filter(|it| it.start <= span.end && span.start <= it.end).collect();
    let is_here = |one: &&Diagnostic| Arc::ptr_eq(&one.source, cx.file.source());
    let here = found.iter().filter(|one| one.code.name == lint).filter(is_here);
    let fixes = here.filter_map(|one| one.fixes.first()).flat_map(|fix| fix.edits.iter());
    let inside =
        |edit: &&Edit| own.iter().any(|it| it.start <= edit.span.start && edit.span.end <= it.end);
    fixes.filter(inside).cloned().collect()
}

/// The imports in alphabetical order, without those that bring no name that the file uses.
fn organized_imports(cx: &RequestContext) -> Option<Edit> {
    let snapshot = &*cx.snapshot;
    let graph = snapshot.imports();
    let header = cx.file.parse().tree().root().children().next();
    let header = header.filter(|node| node.kind() == N::Record)?;
    let list = header.entries().find(|entry| entry.key.content() == "imports")?.value;
    let uses = snapshot.uses_of(cx.number);
    let meant = uses.iter().flat_map(|used| snapshot.names().meaning(cx.number, used));
    let used: BTreeSet<_> = meant.map(|found| found.file).collect();
    let brings = |file: usize| !graph.with_imports(file).is_disjoint(&used);
    let mut kept: Vec<_> = Vec::new();
    for (import, link) in gramc_check::imports(cx.file.parse()).iter().zip(graph.of.get(cx.number)?)
    {
        // What cannot be read is reported elsewhere.
        if link.text.as_ref().map_or(true, |file| brings(*file)) {
            kept.push(string(&import.path));
        }
    }
    kept.sort();
    kept.dedup();
    let text = format!("[{}]", kept.join(", "));
    (list.kind() == N::Array && list.text() != text).then(|| Edit { span: list.span(), text })
}
