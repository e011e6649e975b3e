//! Refactorings: extraction and inlining of types, the notation of types, descriptions, libraries for tools,
//! tools in files of their own, imports in order.

mod descriptions;
mod extract;
mod inline;
mod libraries;
mod move_tool;

use std::collections::BTreeSet;
use std::sync::Arc;

use gramc_lint::{Level, Lint, Settings};
use gramc_model::print::string;
use gramc_syntax::{Diagnostic, Edit, NodeKind as N, Span};
use lsp_types::CodeAction;

use super::{action, edit_action};
use crate::lookup::header;
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
    let at = span.start;
    let mut found = Vec::new();
    if wants(EXTRACT)
        && let Some((name, edits)) = extract::extract_record(cx, at)
    {
        found.push(edit_action(cx, EXTRACT, format!("extract the record `{name}`"), edits));
    }
    if wants(INLINE) {
        let inlined = inline::inline_type(cx, at).into_iter();
        found.extend(inlined.map(|(title, edits)| action(INLINE, title, edits.to_protocol(cx))));
    }
    if wants(MOVE)
        && let Some((title, edit)) = move_tool::move_tool(cx, at)
    {
        found.push(action(MOVE, title, edit));
    }
    if wants(REWRITE) {
        // Lints are too slow for each move of the cursor.
        for (lint, title) in NOTATIONS.into_iter().filter(|_| is_explicit) {
            let edits = notation(cx, lint, span);
            if !edits.is_empty() {
                found.push(edit_action(cx, REWRITE, title.to_owned(), edits));
            }
        }
        if let Some((title, edits)) = descriptions::add_descriptions(cx, at) {
            found.push(edit_action(cx, REWRITE, title, edits));
        }
        for (stub, what) in [(Stub::Programs, "a library"), (Stub::Fakes, "a library of fakes")] {
            if let Some((count, edit)) = libraries::library(cx, at, stub) {
                let tools = if count == 1 { "tool" } else { "tools" };
                let title = format!("add {what} for {count} {tools} of this file");
                found.push(edit_action(cx, REWRITE, title, [edit]));
            }
        }
    }
    if wants(ORGANIZE_IMPORTS)
        && let Some(edit) = organize_imports(cx)
    {
        found.push(edit_action(cx, ORGANIZE_IMPORTS, "organize imports".to_owned(), [edit]));
    }
    found
}

/// The fixes of a lint in the declarations that a span touches.
fn notation(cx: &RequestContext, lint: &str, span: Span) -> Vec<Edit> {
    let mut settings = Settings::default();
    settings.set_all(Level::Allow);
    if let Some(lint) = Lint::of(lint) {
        settings.set(lint, Level::Warn);
    }
    // All files, because lints skip declarations with errors.
    let found = gramc_lint::diagnostics(&cx.snapshot.parses(), cx.snapshot.imports(), &settings);
    let own = cx.declarations().iter().map(|one| one.span);
    let own: Vec<_> = own.filter(|it| it.touches(span)).collect();
    let is_here = |one: &&Diagnostic| Arc::ptr_eq(&one.source, cx.file.source());
    let here = found.iter().filter(|one| one.code.name == lint).filter(is_here);
    let fixes = here.filter_map(|one| one.fixes.first()).flat_map(|fix| fix.edits.iter());
    let inside = |edit: &&Edit| own.iter().any(|it| it.contains(edit.span));
    fixes.filter(inside).cloned().collect()
}

/// The imports in alphabetical order, without those that bring no name that the file uses.
fn organize_imports(cx: &RequestContext) -> Option<Edit> {
    let snapshot = &*cx.snapshot;
    let graph = snapshot.imports();
    let list = header(cx.tree())?.entries().find(|it| it.key.content() == "imports")?.value;
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
