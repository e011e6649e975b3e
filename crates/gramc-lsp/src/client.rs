//! The client's capabilities and settings.

use std::sync::Arc;

use lsp_types::{ClientCapabilities, InitializeParams, ResourceOperationKind};
use serde_json::Value;

use crate::position::Encoding;
use crate::tokens::TokenCache;

/// The command of lenses that run something, which the client executes. Its argument is a
/// [`Runnable`](crate::runnables::Runnable).
pub(crate) const RUN_COMMAND: &str = "gram.run";

/// The client's capabilities and settings.
#[expect(clippy::struct_excessive_bools, reason = "each is a separate capability in the protocol")]
#[derive(Debug, Clone, Default)]
pub(crate) struct Client {
    pub(crate) encoding: Encoding,
    /// Whether the client pulls diagnostics.
    pub(crate) pulls: bool,
    /// Whether it supports refresh requests for diagnostics, lenses, hints and tokens.
    pub(crate) refreshes: [bool; 4],
    /// Whether it can watch files for the server.
    pub(crate) watches: bool,
    /// Whether it supports snippets in completions.
    pub(crate) snippets: bool,
    /// Whether workspace edits may name document versions.
    pub(crate) versioned_edits: bool,
    /// Whether workspace edits may create files.
    pub(crate) creates_files: bool,
    /// Whether it supports nested document symbols.
    pub(crate) nested_symbols: bool,
    /// Whether it executes the command [`RUN_COMMAND`] of lenses.
    pub(crate) runs: bool,
    /// Whether it supports `workspace/configuration`.
    pub(crate) configures: bool,
    pub(crate) settings: ClientSettings,
    /// The semantic tokens last sent to the client.
    pub(crate) tokens: Arc<TokenCache>,
}

/// The client's settings under `gram`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ClientSettings {
    pub(crate) inlay_hints: bool,
    pub(crate) code_lens: bool,
}

impl Default for ClientSettings {
    fn default() -> Self {
        Self { inlay_hints: true, code_lens: true }
    }
}

impl ClientSettings {
    /// Reads settings. Unknown settings and values of the wrong type are ignored.
    pub(crate) fn read(settings: &Value) -> Self {
        let flag = |key: &str| settings[key].as_bool().unwrap_or(true);
        Self { inlay_hints: flag("inlayHints"), code_lens: flag("codeLens") }
    }
}

pub(crate) const REFRESHES: [&str; 4] = [
    "workspace/diagnostic/refresh",
    "workspace/codeLens/refresh",
    "workspace/inlayHint/refresh",
    "workspace/semanticTokens/refresh",
];

impl Client {
    /// Reads the client's capabilities from its `initialize` request.
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
        let commands = capabilities.experimental.as_ref();
        let commands = commands.and_then(|it| it["commands"]["commands"].as_array());
        let operations = edits.and_then(|it| it.resource_operations.as_ref());
        Self {
            runs: commands.is_some_and(|all| all.iter().any(|name| name == RUN_COMMAND)),
            encoding: Encoding::choose(offered),
            pulls: text.is_some_and(|it| it.diagnostic.is_some()),
            refreshes,
            watches: of(watched.map(|it| it.dynamic_registration)),
            snippets: of(completion.map(|it| it.snippet_support)),
            versioned_edits: of(edits.map(|it| it.document_changes)),
            creates_files: of(edits.map(|it| it.document_changes))
                && operations.is_some_and(|all| all.contains(&ResourceOperationKind::Create)),
            nested_symbols: of(text
                .and_then(|it| it.document_symbol.as_ref())
                .map(|it| it.hierarchical_document_symbol_support)),
            configures: of(workspace.map(|it| it.configuration)),
            tokens: Arc::default(),
            settings: params
                .initialization_options
                .as_ref()
                .map(ClientSettings::read)
                .unwrap_or_default(),
        }
    }
}
