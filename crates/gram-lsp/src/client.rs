//! What a client can do and wants.

use std::sync::Arc;

use lsp_types::{ClientCapabilities, InitializeParams};
use serde_json::Value;

use crate::position::Encoding;
use crate::tokens::Sent;

/// What a client can do and wants.
#[expect(clippy::struct_excessive_bools, reason = "a client says each of them on its own")]
#[derive(Debug, Clone, Default)]
pub(crate) struct Client {
    pub(crate) encoding: Encoding,
    /// Whether it asks for diagnostics by itself.
    pub(crate) pulls: bool,
    /// Whether it can be told to ask again for diagnostics, lenses, hints and tokens.
    pub(crate) refreshes: [bool; 4],
    /// Whether it watches files for us.
    pub(crate) watches: bool,
    /// Whether completions may hold places to fill in.
    pub(crate) snippets: bool,
    /// Whether edits of workspaces may say which version of a document they are for.
    pub(crate) versioned_edits: bool,
    /// Whether symbols may hold others.
    pub(crate) nested_symbols: bool,
    /// Whether it can be asked what it wants.
    pub(crate) configures: bool,
    pub(crate) wishes: Wishes,
    /// The semantic tokens that it has.
    pub(crate) tokens: Arc<Sent>,
}

/// What a client wants: its settings under `gram`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Wishes {
    pub(crate) inlay_hints: bool,
    pub(crate) code_lens: bool,
}

impl Default for Wishes {
    fn default() -> Self {
        Self { inlay_hints: true, code_lens: true }
    }
}

impl Wishes {
    /// Reads settings. What is no setting, or of another kind, counts as unsaid.
    pub(crate) fn read(settings: &Value) -> Self {
        let flag = |key: &str| settings[key].as_bool().unwrap_or(true);
        Self { inlay_hints: flag("inlayHints"), code_lens: flag("codeLens") }
    }
}

/// The names of what can be asked for again, by the methods that ask for it.
pub(crate) const REFRESHES: [&str; 4] = [
    "workspace/diagnostic/refresh",
    "workspace/codeLens/refresh",
    "workspace/inlayHint/refresh",
    "workspace/semanticTokens/refresh",
];

impl Client {
    /// Reads what a client says of itself.
    pub(crate) fn new(params: &InitializeParams) -> Self {
        let capabilities: &ClientCapabilities = &params.capabilities;
        let general = capabilities.general.as_ref();
        let offered = general.and_then(|it| it.position_encodings.as_deref()).unwrap_or_default();
        let workspace = capabilities.workspace.as_ref();
        let text = capabilities.text_document.as_ref();
        let yes = |flag: Option<bool>| flag.unwrap_or_default();
        let of = |flag: Option<Option<bool>>| yes(flag.flatten());
        let completion = text.and_then(|it| it.completion.as_ref()?.completion_item.as_ref());
        let refreshes = [
            of(workspace.and_then(|it| it.diagnostic.as_ref()).map(|it| it.refresh_support)),
            of(workspace.and_then(|it| it.code_lens.as_ref()).map(|it| it.refresh_support)),
            of(workspace.and_then(|it| it.inlay_hint.as_ref()).map(|it| it.refresh_support)),
            of(workspace.and_then(|it| it.semantic_tokens.as_ref()).map(|it| it.refresh_support)),
        ];
        let watched = workspace.and_then(|it| it.did_change_watched_files.as_ref());
        let edits = workspace.and_then(|it| it.workspace_edit.as_ref());
        Self {
            encoding: Encoding::choose(offered),
            pulls: text.is_some_and(|it| it.diagnostic.is_some()),
            refreshes,
            watches: of(watched.map(|it| it.dynamic_registration)),
            snippets: of(completion.map(|it| it.snippet_support)),
            versioned_edits: of(edits.map(|it| it.document_changes)),
            nested_symbols: of(text
                .and_then(|it| it.document_symbol.as_ref())
                .map(|it| it.hierarchical_document_symbol_support)),
            configures: of(workspace.map(|it| it.configuration)),
            tokens: Arc::default(),
            wishes: params.initialization_options.as_ref().map(Wishes::read).unwrap_or_default(),
        }
    }
}
