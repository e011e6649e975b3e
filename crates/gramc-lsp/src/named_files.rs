//! The files that a document names: imports, cases, recordings, specifications of arms. Links to
//! them, and edits where files are renamed.

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use gramc_check::names::Kind;
use gramc_model::ImplementationKind;
use gramc_model::print::string;
use gramc_syntax::{Node, NodeKind as N, Span};
use lsp_types as lsp;
use lsp_types::{DocumentLink, TextEdit, WorkspaceEdit};

use crate::client::Client;
use crate::file::File;
use crate::imports::relative_path;
use crate::lookup::{entry, only_node, touches};
use crate::request::RequestContext;
use crate::snapshot::Snapshot;
use crate::uri::{of_path, path_of, real};
use crate::workspace_edit::{DocumentEdits, workspace_edit};

#[derive(Debug)]
struct NamedFile {
    /// The string with its quotes.
    span: Span,
    path: PathBuf,
}

/// The files that a document names, whether they exist or not.
fn named_files(file: &File) -> Vec<NamedFile> {
    let Some(folder) = file.path.as_deref().and_then(Path::parent) else { return Vec::new() };
    let named = |span, path: &str| NamedFile { span, path: normal(&folder.join(path)) };
    let imports = gramc_check::imports(file.parse()).into_iter();
    let mut all: Vec<_> = imports.map(|import| named(import.span, &import.path)).collect();
    let mut add = |node: Node<'_>, key: &str| {
        if let Some(value) = entry(node, key).filter(|value| value.kind() == N::String) {
            all.push(named(value.span(), &value.content()));
        }
    };
    for declaration in file.parse().tree().root().children() {
        let declaration = match declaration.kind() {
            N::AnnotatedPattern => declaration.children().nth(1),
            _ => Some(declaration),
        };
        let Some(declaration) = declaration.filter(|it| it.kind() == N::SubjectPattern) else {
            continue;
        };
        let kind = declaration.subject().labels().find_map(|it| Kind::of_label(&it.content()));
        let elements = declaration.elements().filter_map(only_node);
        match kind {
            Some(Kind::Experiment) => {
                add(declaration, "cases");
                elements.for_each(|arm| add(arm, "spec"));
            }
            Some(Kind::Library) => {
                let replay = ImplementationKind::Replay.name();
                let is_replay =
                    |node: &Node<'_>| node.subject().labels().any(|it| it.content() == replay);
                elements.filter(is_replay).for_each(|node| add(node, "from"));
            }
            _ => {}
        }
    }
    all
}

/// `textDocument/documentLink`
pub(crate) fn links(cx: &RequestContext) -> Vec<DocumentLink> {
    let link = |named: NamedFile| {
        // Without the quotes.
        let span = Span::new(named.span.start + 1, named.span.end.saturating_sub(1));
        let target = Some(uri(&cx.snapshot, &named.path)?);
        Some(DocumentLink { range: cx.range(span), target, tooltip: None, data: None })
    };
    named_files(&cx.file).into_iter().filter_map(link).collect()
}

/// The start of the file that is named at an offset.
pub(crate) fn named_at(cx: &RequestContext, at: u32) -> Option<lsp::Location> {
    let mut named = named_files(&cx.file).into_iter();
    let named = named.find(|named| touches(named.span, at))?;
    Some(lsp::Location::new(uri(&cx.snapshot, &named.path)?, lsp::Range::default()))
}

/// The URI of a file that exists, in the client's spelling if it is a document of the project.
fn uri(snapshot: &Snapshot, path: &Path) -> Option<lsp::Uri> {
    let canonical = real(path);
    let known = snapshot.files().iter().find(|file| file.path.as_deref() == Some(&*canonical));
    match known {
        Some(file) => Some(file.uri.clone()),
        None if canonical.is_file() => of_path(path),
        None => None,
    }
}

/// `workspace/willRenameFiles`: the edits that keep what files name.
pub(crate) fn will_rename(
    client: &Client,
    snapshots: &[Arc<Snapshot>],
    params: &lsp::RenameFilesParams,
) -> Option<WorkspaceEdit> {
    let path = |uri: &str| path_of(&uri.parse().ok()?);
    let renames = params.files.iter();
    let renames = renames.filter_map(|it| Some((real(&path(&it.old_uri)?), path(&it.new_uri)?)));
    let renames: Vec<_> = renames.collect();
    let mut edits: Vec<DocumentEdits> = Vec::new();
    for snapshot in snapshots {
        for file in &snapshot.project.files {
            let known = edits.iter().any(|known| known.uri == file.uri);
            let own = if known { Vec::new() } else { edits_of(snapshot, file, &renames) };
            if !own.is_empty() {
                edits.push(DocumentEdits::new(file, own));
            }
        }
    }
    (!edits.is_empty()).then(|| workspace_edit(client, edits))
}

/// The edits of a file whose own path, or that of a file that it names, changes.
fn edits_of(snapshot: &Snapshot, file: &File, renames: &[(PathBuf, PathBuf)]) -> Vec<TextEdit> {
    let Some(path) = file.path.as_deref() else { return Vec::new() };
    let positions = file.positions(snapshot.encoding);
    let own = new_path(path, renames);
    let edit = |named: NamedFile| {
        let target = real(&named.path);
        let new = new_path(&target, renames);
        if own.is_none() && new.is_none() {
            return None;
        }
        let from = own.as_deref().unwrap_or(path);
        let new = relative_path(from, new.as_deref().unwrap_or(&target))?;
        let before = relative_path(path, &target)?;
        (new != before).then(|| TextEdit::new(positions.range(named.span), string(&new)))
    };
    named_files(file).into_iter().filter_map(edit).collect()
}

/// The new path of a file that is renamed, or in a folder that is.
fn new_path(path: &Path, renames: &[(PathBuf, PathBuf)]) -> Option<PathBuf> {
    renames.iter().find_map(|(old, new)| {
        let rest = path.strip_prefix(old).ok()?;
        Some(if rest.as_os_str().is_empty() { new.clone() } else { new.join(rest) })
    })
}

/// A path without `.` and `..`.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(normal.pop()),
            part => normal.push(part),
        }
    }
    normal
}
