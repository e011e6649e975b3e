//! Refactorings: extraction of types, the notation of types, a library for tools, imports in order.

use std::collections::BTreeSet;
use std::sync::Arc;

use gram_check::names::{Kind, Space};
use gram_lint::{LINTS, Level, Settings};
use gram_model::print::{identifier, string};
use gram_syntax::{Diagnostic, Edit, Node, NodeKind as N, Span};
use lsp_types::{CodeAction, CodeActionKind};

use crate::lookup::{chain, enclosing_declaration};
use crate::request::RequestContext;

/// The kind of the action that sorts imports and removes those that are not needed.
pub(crate) const ORGANIZE_IMPORTS: &str = "source.organizeImports";
pub(crate) const EXTRACT: &str = "refactor.extract";
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
    let mut add = |kind: &str, title: String, edits: Vec<Edit>| {
        found.push(CodeAction {
            title,
            kind: Some(CodeActionKind::from(kind.to_owned())),
            edit: Some(super::edits(cx, &edits)),
            ..CodeAction::default()
        });
    };
    if wants(EXTRACT)
        && let Some((name, edits)) = extract_record(cx, span.start)
    {
        add(EXTRACT, format!("extract the record `{name}`"), edits);
    }
    if wants(REWRITE) {
        // Lints take longer than what an editor asks at each move of the cursor.
        for (lint, title) in NOTATIONS.into_iter().filter(|_| is_explicit) {
            let edits = notation(cx, lint, span);
            if !edits.is_empty() {
                add(REWRITE, title.to_owned(), edits);
            }
        }
        if let Some((count, edit)) = library(cx, span.start) {
            let tools = if count == 1 { "tool" } else { "tools" };
            add(REWRITE, format!("add a library for {count} {tools} of this file"), vec![edit]);
        }
    }
    if wants(ORGANIZE_IMPORTS)
        && let Some(edit) = organized_imports(cx)
    {
        add(ORGANIZE_IMPORTS, "organize imports".to_owned(), vec![edit]);
    }
    found
}

/// Declares the innermost record type at an offset. Its name, and the edits.
fn extract_record(cx: &RequestContext, at: u32) -> Option<(String, Vec<Edit>)> {
    let tree = cx.file.parse().tree();
    let chain = chain(tree, at);
    let inner = chain.iter().rposition(|node| node.kind() == N::TypeRecord)?;
    let record = chain[inner];
    let name = chain[..inner].iter().rev().find_map(|node| match node.kind() {
        N::TypeField => node.children().next(),
        N::NodePattern => node.subject().identifier,
        _ => None,
    });
    let name = name.map_or_else(|| "Result".into(), Node::content);
    let name = type_name(cx, &name);
    let fields = record.children().filter(|node| node.kind() == N::TypeField);
    let fields = fields.map(field).collect::<Option<Vec<_>>>()?;
    let own = cx.snapshot.names().of(cx.number);
    let mut declaration = enclosing_declaration(own, at)?;
    // A type in a tool is seen in that tool only; the new one is declared outside.
    while let Some(holder) = own[declaration].holder {
        declaration = holder;
    }
    let text = format!("\n\n[{name}::Record |\n  {}\n]", fields.join(",\n  "));
    let end = Span::empty(own[declaration].span.end);
    let edits = vec![Edit { span: record.span(), text: name.clone() }, Edit { span: end, text }];
    Some((name, edits))
}

/// A name for a type that no other one has.
fn type_name(cx: &RequestContext, field: &str) -> String {
    let words = field.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let upper = |word: &str| word[..1].to_ascii_uppercase() + &word[1..];
    let mut name: String = words.map(upper).collect();
    if !name.starts_with(|c: char| c.is_ascii_alphabetic()) {
        name.insert_str(0, "Type");
    }
    let names = cx.snapshot.names();
    let taken = |name: &str| {
        !gram_check::is_type_name(name)
            || names.all().any(|(_, one)| one.kind.space() == Space::Types && one.name == name)
    };
    let numbered = (2..).map(|n| format!("{name}{n}"));
    std::iter::once(name.clone()).chain(numbered).find(|name| !taken(name)).unwrap_or(name)
}

/// A field of a record type as a field of a declared record.
fn field(node: Node<'_>) -> Option<String> {
    let mut parts = node.children().filter(|part| part.kind() != N::Error);
    let (name, ty) = (parts.next()?, parts.next()?);
    let mut attributes = Vec::new();
    for part in parts {
        if part.kind() == N::Record {
            let entries = part.entries();
            attributes.extend(entries.map(|it| format!("{}: {}", it.key.text(), it.value.text())));
        } else {
            attributes.push(format!("default: {}", part.text()));
        }
    }
    let doc = node.doc().map(|doc| format!("{} ", doc.text())).unwrap_or_default();
    let optional = if name.optional_mark().is_some() { "?" } else { "" };
    let attributes = match attributes.len() {
        0 => String::new(),
        _ => format!(" {{{}}}", attributes.join(", ")),
    };
    let name = identifier(&name.content());
    Some(format!("{doc}({name}{optional}::{}{attributes})", ty.text()))
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
    let found = gram_lint::diagnostics(&texts, cx.snapshot.imports(), &settings);
    let own = cx.snapshot.names().of(cx.number).iter().map(|one| one.span);
    let own: Vec<_> = own.filter(|it| it.start <= span.end && span.start <= it.end).collect();
    let is_here = |one: &&Diagnostic| Arc::ptr_eq(&one.source, cx.file.source());
    let here = found.iter().filter(|one| one.code.name == lint).filter(is_here);
    let fixes = here.filter_map(|one| one.fixes.first()).flat_map(|fix| fix.edits.iter());
    let inside =
        |edit: &&Edit| own.iter().any(|it| it.start <= edit.span.start && edit.span.end <= it.end);
    fixes.filter(inside).cloned().collect()
}

/// A library of programs for the tools of the file that no library implements, if a tool is at the
/// offset.
fn library(cx: &RequestContext, at: u32) -> Option<(usize, Edit)> {
    let names = cx.snapshot.names();
    let own = names.of(cx.number);
    enclosing_declaration(own, at).filter(|at| own[*at].kind == Kind::Tool)?;
    let mut implemented = BTreeSet::new();
    for file in 0..cx.snapshot.files().len() {
        let declared = names.of(file);
        let uses = cx.snapshot.uses_of(file);
        let in_library = uses.iter().filter(|used| {
            used.holder.is_some_and(|holder| declared[holder].kind == Kind::Library)
        });
        implemented.extend(in_library.map(|used| used.name.clone()));
    }
    let tools = own.iter().filter(|one| one.kind == Kind::Tool);
    let tools: Vec<_> = tools.filter(|one| !implemented.contains(&one.name)).collect();
    if tools.is_empty() {
        return None;
    }
    let taken = |name: &str| names.all().any(|(_, one)| one.name == name);
    let numbered = (2..).map(|n| format!("programs{n}"));
    let name = std::iter::once("programs".to_owned()).chain(numbered).find(|it| !taken(it))?;
    let entry = |one: &&gram_check::names::Declaration| {
        let program = string(&format!("./{}", one.name));
        format!("  ({}:Command {{run: [{program}]}})", identifier(&one.name))
    };
    let entries: Vec<_> = tools.iter().map(entry).collect();
    let end = crate::position::number(cx.file.text().trim_end().len());
    let text = format!("\n\n[{name}:Library |\n{}\n]", entries.join(",\n"));
    Some((tools.len(), Edit { span: Span::empty(end), text }))
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
    let brings = |start: usize| {
        let (mut seen, mut todo) = (BTreeSet::from([start]), vec![start]);
        while let Some(file) = todo.pop() {
            let links = graph.of.get(file).into_iter().flatten();
            let next = links.filter_map(|link| link.text.clone().ok());
            todo.extend(next.filter(|file| seen.insert(*file)));
        }
        !seen.is_disjoint(&used)
    };
    let mut kept: Vec<_> = Vec::new();
    for (import, link) in gram_check::imports(cx.file.parse()).iter().zip(graph.of.get(cx.number)?)
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
