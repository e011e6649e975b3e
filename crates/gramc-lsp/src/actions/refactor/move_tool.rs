//! Moves a tool into a file of its own.

use std::collections::BTreeSet;

use gramc_check::names::{Found, Kind};
use gramc_model::print::string;
use gramc_syntax::Span;
use lsp_types::WorkspaceEdit;

use super::inline::whole;
use crate::imports::{import_text, relative_path};
use crate::request::RequestContext;
use crate::workspace_edit::{Edits, workspace_edit_with_new_file};

/// Moves the tool at an offset into a new file next to this one. The new file imports what the tool
/// refers to, and this file imports the new one. A title, and the edit. `None` if the client cannot create
/// files, if the file exists, or if the tool is inside of another declaration.
pub(super) fn move_tool(cx: &RequestContext, at: u32) -> Option<(String, WorkspaceEdit)> {
    let own = cx.declarations();
    let (found, tool) = cx.declaration_at(at)?;
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
    let path = cx.file.path.as_deref()?;
    let file_name = format!("{}.gram", tool.name);
    let target = path.with_file_name(&file_name);
    // What it holds already would be lost.
    if tool.kind != Kind::Tool
        || tool.holder.is_some()
        || !tool.name.chars().all(is_plain)
        || own.len() < 2
        || target.exists()
    {
        return None;
    }
    let whole = whole(cx, found)?;
    let text = cx.file.text().get(whole.start as usize..whole.end as usize)?.trim_end();

    let uses = cx.snapshot.uses_of(cx.number);
    // Types that the tool declares itself move with it.
    let is_inside = |at: usize| tool.span.contains(own[at].span);
    let of_tool = uses.iter().filter(|used| used.holder.is_some_and(is_inside));
    let is_moved = |found: &Found| found.file == cx.number && is_inside(found.at);
    let needed = of_tool.flat_map(|used| cx.snapshot.names().meaning(cx.number, used));
    let needed: BTreeSet<usize> =
        needed.filter(|found| !is_moved(found)).map(|found| found.file).collect();
    let paths = needed.into_iter().filter_map(|file| {
        relative_path(&target, cx.snapshot.text(file)?.path.as_deref()?).map(|path| string(&path))
    });
    let paths: Vec<_> = paths.collect();
    let header = match paths.len() {
        0 => String::new(),
        _ => format!("{{imports: [{}]}}\n\n", paths.join(", ")),
    };

    let mut edits = Edits::default();
    let (import_at, import) = import_text(&cx.file, &file_name);
    edits.add(cx.number, Span::empty(import_at), import);
    edits.add(cx.number, whole, String::new());
    let uri = crate::uri::of_path(&target)?;
    let text = format!("{header}{text}\n");
    let edit = workspace_edit_with_new_file(cx, uri, text, &edits)?;
    Some((format!("move `{}` to {file_name}", tool.name), edit))
}
