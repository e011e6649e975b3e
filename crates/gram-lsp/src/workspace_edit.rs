//! Edits of documents in the form that the client supports.

use lsp_types as lsp;
use lsp_types::{Uri, WorkspaceEdit};

use crate::client::Client;

/// The document, its version, and its edits.
pub(crate) type DocumentEdits = (Uri, Option<i32>, Vec<lsp::TextEdit>);

/// Edits of several documents.
pub(crate) fn workspace_edit(client: &Client, changes: Vec<DocumentEdits>) -> WorkspaceEdit {
    if client.versioned_edits {
        let edits = changes.into_iter().map(|(uri, version, edits)| lsp::TextDocumentEdit {
            text_document: lsp::OptionalVersionedTextDocumentIdentifier { uri, version },
            edits: edits.into_iter().map(lsp::OneOf::Left).collect(),
        });
        let edits = lsp::DocumentChanges::Edits(edits.collect());
        return WorkspaceEdit { document_changes: Some(edits), ..WorkspaceEdit::default() };
    }
    #[expect(clippy::mutable_key_type, reason = "`Uri` has interior mutability in lsp-types")]
    let changes = changes.into_iter().map(|(uri, _, edits)| (uri, edits)).collect();
    WorkspaceEdit::new(changes)
}
