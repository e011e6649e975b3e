//! Edits of documents in the form that the client supports.

use lsp_types as lsp;
use lsp_types::{Uri, WorkspaceEdit};

use crate::client::Client;

/// The document, its version, and its edits.
pub(crate) type DocumentEdits = (Uri, Option<i32>, Vec<lsp::TextEdit>);

/// Creates a file with a text, and edits documents. `None` if the client cannot create files.
pub(crate) fn workspace_edit_with_new_file(
    client: &Client,
    (uri, text): (Uri, String),
    changes: Vec<DocumentEdits>,
) -> Option<WorkspaceEdit> {
    if !client.creates_files {
        return None;
    }
    let create = lsp::CreateFile { uri: uri.clone(), options: None, annotation_id: None };
    let create = lsp::DocumentChangeOperation::Op(lsp::ResourceOp::Create(create));
    let written = (uri, None, vec![lsp::TextEdit::new(lsp::Range::default(), text)]);
    let edits = std::iter::once(written).chain(changes).map(document_edit);
    let edits = edits.map(lsp::DocumentChangeOperation::Edit);
    let operations = std::iter::once(create).chain(edits).collect();
    let document_changes = Some(lsp::DocumentChanges::Operations(operations));
    Some(WorkspaceEdit { document_changes, ..WorkspaceEdit::default() })
}

fn document_edit((uri, version, edits): DocumentEdits) -> lsp::TextDocumentEdit {
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
    let changes = changes.into_iter().map(|(uri, _, edits)| (uri, edits)).collect();
    WorkspaceEdit::new(changes)
}
