//! Edits of imports.

use std::path::{Path, PathBuf};

use gramc_model::print::string;
use gramc_syntax::{NodeKind as N, Span};
use lsp_types::TextEdit;

use crate::file::File;
use crate::lookup::header;
use crate::request::RequestContext;

/// The edit that imports another file. `None` if it is already imported or has no path.
pub(crate) fn import_edit(cx: &RequestContext, other: usize) -> Option<TextEdit> {
    let mut links = cx.snapshot.imports().of.get(cx.number)?.iter();
    if other == cx.number || links.any(|link| link.text.as_ref().is_ok_and(|it| *it == other)) {
        return None;
    }
    let path = relative(&cx.file, cx.snapshot.text(other)?)?;
    let (at, text) = import_text(&cx.file, &path);
    Some(TextEdit::new(cx.range(Span::empty(at)), text))
}

/// Where a file imports a path that it does not import yet, and the text to insert there.
pub(crate) fn import_text(file: &File, path: &str) -> (u32, String) {
    match header(file.parse().tree()) {
        None => {
            let start = u32::from(file.text().starts_with('\u{feff}')) * 3;
            (start, format!("{{imports: [{}]}}\n\n", string(path)))
        }
        Some(header) => {
            let imports = header.entries().find(|entry| entry.key.content() == "imports");
            let list = imports.map(|entry| entry.value).filter(|it| it.kind() == N::Array);
            if let Some(list) = list {
                match list.children().last() {
                    Some(last) => (last.span().end, format!(", {}", string(path))),
                    None => (list.span().start + 1, string(path)),
                }
            } else {
                let comma = if header.entries().next().is_some() { ", " } else { "" };
                (header.span().start + 1, format!("imports: [{}]{comma}", string(path)))
            }
        }
    }
}

pub(crate) fn relative(from: &File, to: &File) -> Option<String> {
    relative_path(from.path.as_deref()?, to.path.as_deref()?)
}

/// The path of a file relative to the folder of another one.
pub(crate) fn relative_path(from: &Path, to: &Path) -> Option<String> {
    let from = from.parent()?;
    let common = from.components().zip(to.components()).take_while(|(one, other)| one == other);
    let common = common.count();
    let up = from.components().skip(common).map(|_| "..".as_ref() as &Path);
    let down = to.components().skip(common).map(|part| Path::new(part.as_os_str()));
    let path: PathBuf = up.chain(down).collect();
    Some(path.to_string_lossy().replace(std::path::MAIN_SEPARATOR, "/"))
}
