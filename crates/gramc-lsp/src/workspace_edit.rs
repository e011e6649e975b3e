//! Edits of documents in the form that the client supports.

use lsp_types as lsp;
use lsp_types::{Uri, WorkspaceEdit};

use crate::client::Client;
use crate::file::File;

/// The edits of a document.
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
    client: &Client,
    uri: Uri,
    text: String,
    changes: Vec<DocumentEdits>,
) -> Option<WorkspaceEdit> {
    if !client.creates_files {
        return None;
    }
    let create = lsp::CreateFile { uri: uri.clone(), options: None, annotation_id: None };
    let create = lsp::DocumentChangeOperation::Op(lsp::ResourceOp::Create(create));
    let edits = vec![lsp::TextEdit::new(lsp::Range::default(), text)];
    let content = DocumentEdits { uri, version: None, edits };
    let edits = std::iter::once(content).chain(changes).map(document_edit);
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

/// Edits of several documents.
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
