//! The server's capabilities.

use lsp_types as lsp;
use lsp_types::ServerCapabilities;

use crate::actions::{EXPLAIN, KINDS};
use crate::position::Encoding;
use crate::tokens;

const TRIGGER_CHARACTERS: [&str; 9] = [":", "(", "{", "[", "`", ",", "|", "\"", "<"];

pub(crate) fn capabilities(encoding: Encoding) -> ServerCapabilities {
    let words = |all: &[&str]| Some(all.iter().map(|one| (*one).to_owned()).collect());
    let none = lsp::WorkDoneProgressOptions::default();
    let sync = lsp::TextDocumentSyncOptions {
        open_close: Some(true),
        change: Some(lsp::TextDocumentSyncKind::INCREMENTAL),
        save: Some(lsp::TextDocumentSyncSaveOptions::Supported(true)),
        ..lsp::TextDocumentSyncOptions::default()
    };
    ServerCapabilities {
        position_encoding: Some(encoding.kind()),
        text_document_sync: Some(sync.into()),
        hover_provider: Some(true.into()),
        completion_provider: Some(lsp::CompletionOptions {
            trigger_characters: words(&TRIGGER_CHARACTERS),
            ..lsp::CompletionOptions::default()
        }),
        signature_help_provider: Some(lsp::SignatureHelpOptions {
            trigger_characters: words(&["(", ">"]),
            ..lsp::SignatureHelpOptions::default()
        }),
        definition_provider: Some(lsp::OneOf::Left(true)),
        type_definition_provider: Some(true.into()),
        implementation_provider: Some(true.into()),
        references_provider: Some(lsp::OneOf::Left(true)),
        document_highlight_provider: Some(lsp::OneOf::Left(true)),
        document_symbol_provider: Some(lsp::OneOf::Left(true)),
        workspace_symbol_provider: Some(lsp::OneOf::Left(true)),
        code_action_provider: Some(
            lsp::CodeActionOptions {
                code_action_kinds: Some(KINDS.map(lsp::CodeActionKind::from).to_vec()),
                ..lsp::CodeActionOptions::default()
            }
            .into(),
        ),
        code_lens_provider: Some(lsp::CodeLensOptions { resolve_provider: Some(true) }),
        document_formatting_provider: Some(lsp::OneOf::Left(true)),
        document_range_formatting_provider: Some(lsp::OneOf::Left(true)),
        document_on_type_formatting_provider: Some(lsp::DocumentOnTypeFormattingOptions {
            first_trigger_character: "]".to_owned(),
            more_trigger_character: words(&["\n"]),
        }),
        rename_provider: Some(lsp::OneOf::Right(lsp::RenameOptions {
            prepare_provider: Some(true),
            work_done_progress_options: none,
        })),
        document_link_provider: Some(lsp::DocumentLinkOptions {
            resolve_provider: Some(false),
            work_done_progress_options: none,
        }),
        folding_range_provider: Some(true.into()),
        selection_range_provider: Some(true.into()),
        call_hierarchy_provider: Some(true.into()),
        semantic_tokens_provider: Some(
            lsp::SemanticTokensOptions {
                legend: tokens::legend(),
                range: Some(true),
                full: Some(lsp::SemanticTokensFullOptions::Delta { delta: Some(true) }),
                work_done_progress_options: none,
            }
            .into(),
        ),
        inlay_hint_provider: Some(lsp::OneOf::Left(true)),
        diagnostic_provider: Some(lsp::DiagnosticServerCapabilities::Options(
            lsp::DiagnosticOptions {
                identifier: Some("gram".to_owned()),
                inter_file_dependencies: true,
                workspace_diagnostics: true,
                work_done_progress_options: none,
            },
        )),
        execute_command_provider: Some(lsp::ExecuteCommandOptions {
            commands: vec![EXPLAIN.to_owned()],
            work_done_progress_options: none,
        }),
        workspace: Some(lsp::WorkspaceServerCapabilities {
            workspace_folders: Some(lsp::WorkspaceFoldersServerCapabilities {
                supported: Some(true),
                change_notifications: Some(lsp::OneOf::Left(true)),
            }),
            file_operations: Some(lsp::WorkspaceFileOperationsServerCapabilities {
                will_rename: Some(renamed_files()),
                ..lsp::WorkspaceFileOperationsServerCapabilities::default()
            }),
        }),
        ..ServerCapabilities::default()
    }
}

/// The files and folders whose renaming may change what documents name.
fn renamed_files() -> lsp::FileOperationRegistrationOptions {
    let filter = |glob: &str, matches| lsp::FileOperationFilter {
        scheme: Some("file".to_owned()),
        pattern: lsp::FileOperationPattern {
            glob: glob.to_owned(),
            matches: Some(matches),
            options: None,
        },
    };
    let filters = vec![
        filter("**/*.{gram,jsonl}", lsp::FileOperationPatternKind::File),
        filter("**", lsp::FileOperationPatternKind::Folder),
    ];
    lsp::FileOperationRegistrationOptions { filters }
}
