//! Edits of documents in the form that the client supports.

use std::collections::BTreeMap;

use gramc_model::print::{identifier, string};
use gramc_syntax::{Edit, Node, Parse, SourceFile, Span, parse};
use lsp_types as lsp;
use lsp_types::{Uri, WorkspaceEdit};

use crate::client::Client;
use crate::file::File;
use crate::request::RequestContext;
use crate::snapshot::Snapshot;

/// Edits of the files of a project, which do not overlap.
#[derive(Debug, Default)]
pub(crate) struct Edits {
    /// By the index of a file, then by span.
    files: BTreeMap<usize, BTreeMap<Span, String>>,
}

impl Edits {
    pub(crate) fn of_document(cx: &RequestContext, edits: impl IntoIterator<Item = Edit>) -> Self {
        let edits = edits.into_iter().map(|edit| (edit.span, edit.text));
        Self { files: [(cx.number, edits.collect())].into() }
    }

    pub(crate) fn add(&mut self, file: usize, span: Span, text: String) {
        self.files.entry(file).or_default().insert(span, text);
    }

    pub(crate) fn add_entry(&mut self, file: usize, map: Node<'_>, key: &str, value: &str) {
        let comma = if map.entries().next().is_some() { ", " } else { "" };
        let at = Span::empty(map.span().start + 1);
        self.add(file, at, format!("{}: {value}{comma}", identifier(key)));
    }

    /// Replaces a name by another one, in the way it is written.
    pub(crate) fn rename(&mut self, snapshot: &Snapshot, file: usize, span: Span, name: &str) {
        let Some(text) = snapshot.text(file) else { return };
        let quoted = text.source().slice(span).starts_with(['"', '\'']);
        self.add(file, span, if quoted { string(name) } else { identifier(name) });
    }

    pub(crate) fn add_attribute(&mut self, file: usize, node: Node<'_>, key: &str, value: &str) {
        let subject = node.subject();
        if let Some(record) = subject.record {
            self.add_entry(file, record, key, value);
        } else if let Some(labels) = subject.labels_node() {
            self.add(file, Span::empty(labels.span().end), format!(" {{{key}: {value}}}"));
        }
    }

    /// The gram files after the edits.
    pub(crate) fn texts(&self, snapshot: &Snapshot) -> Vec<Parse> {
        let files = snapshot.files().iter().enumerate();
        let edited = files.map(|(at, file)| match self.files.get(&at) {
            None => file.parse().clone(),
            Some(edits) => {
                let mut text = file.text().to_owned();
                for (span, new) in edits.iter().rev() {
                    text.replace_range(span.range(), new);
                }
                parse(SourceFile::new(file.source().name(), text))
            }
        });
        edited.collect()
    }

    pub(crate) fn to_protocol(&self, cx: &RequestContext) -> WorkspaceEdit {
        workspace_edit(&cx.client, self.documents(cx))
    }

    fn documents(&self, cx: &RequestContext) -> Vec<DocumentEdits> {
        let document = |(at, edits): (&usize, &BTreeMap<Span, String>)| {
            let is_own = *at == cx.number;
            let file = if is_own { &*cx.file } else { cx.snapshot.text(*at)? };
            let positions = file.positions(cx.snapshot.encoding);
            let edit = |(span, text): (&Span, &String)| {
                lsp::TextEdit::new(positions.range(*span), text.clone())
            };
            Some(DocumentEdits::new(file, edits.iter().map(edit).collect()))
        };
        self.files.iter().filter_map(document).collect()
    }
}

pub(crate) struct DocumentEdits {
    pub(crate) uri: Uri,
    pub(crate) version: Option<i32>,
    pub(crate) edits: Vec<lsp::TextEdit>,
}

impl DocumentEdits {
    pub(crate) fn new(file: &File, edits: Vec<lsp::TextEdit>) -> Self {
        Self { uri: file.uri.clone(), version: file.version, edits }
    }
}

/// Creates a file with a text, and edits documents. `None` if the client cannot create files.
pub(crate) fn workspace_edit_with_new_file(
    cx: &RequestContext,
    uri: Uri,
    text: String,
    edits: &Edits,
) -> Option<WorkspaceEdit> {
    if !cx.client.creates_files {
        return None;
    }
    let create = lsp::CreateFile { uri: uri.clone(), options: None, annotation_id: None };
    let create = lsp::DocumentChangeOperation::Op(lsp::ResourceOp::Create(create));
    let content = vec![lsp::TextEdit::new(lsp::Range::default(), text)];
    let content = DocumentEdits { uri, version: None, edits: content };
    let edits = std::iter::once(content).chain(edits.documents(cx)).map(document_edit);
    let edits = edits.map(lsp::DocumentChangeOperation::Edit);
    let operations = std::iter::once(create).chain(edits).collect();
    let document_changes = Some(lsp::DocumentChanges::Operations(operations));
    Some(WorkspaceEdit { document_changes, ..WorkspaceEdit::default() })
}

fn document_edit(document: DocumentEdits) -> lsp::TextDocumentEdit {
    let DocumentEdits { uri, version, edits } = document;
    lsp::TextDocumentEdit {
        text_document: lsp::OptionalVersionedTextDocumentIdentifier { uri, version },
        edits: edits.into_iter().map(lsp::OneOf::Left).collect(),
    }
}

pub(crate) fn workspace_edit(client: &Client, changes: Vec<DocumentEdits>) -> WorkspaceEdit {
    if client.versioned_edits {
        let edits = changes.into_iter().map(document_edit);
        let edits = lsp::DocumentChanges::Edits(edits.collect());
        return WorkspaceEdit { document_changes: Some(edits), ..WorkspaceEdit::default() };
    }
    #[expect(clippy::mutable_key_type, reason = "`Uri` has interior mutability in lsp-types")]
    let changes = changes.into_iter().map(|it| (it.uri, it.edits)).collect();
    WorkspaceEdit::new(changes)
}
