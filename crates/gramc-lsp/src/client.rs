//! The client's capabilities and settings.

use std::sync::Arc;

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
    pub(crate) pulls: bool,
    /// Whether it supports refresh requests for diagnostics, lenses, hints and tokens.
    pub(crate) refreshes: [bool; 4],
    /// Whether it can watch files for the server.
    pub(crate) watches: bool,
    /// Whether it supports snippets in completions.
    pub(crate) snippets: bool,
    /// Whether workspace edits may name document versions.
    pub(crate) versioned_edits: bool,
    pub(crate) creates_files: bool,
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
    /// Reads the client's capabilities from the parameters of its `initialize` request. They are read
    /// as JSON, since the type for all of them takes much code.
    pub(crate) fn new(params: &Value) -> Self {
        let capabilities = &params["capabilities"];
        let has = |path: &str| capabilities.pointer(path) == Some(&Value::Bool(true));
        let lists = |path: &str, name: &str| {
            let list = capabilities.pointer(path).and_then(Value::as_array);
            list.is_some_and(|all| all.iter().any(|one| one == name))
        };
        let versioned_edits = has("/workspace/workspaceEdit/documentChanges");
        let encodings = &capabilities["general"]["positionEncodings"];
        let encodings = encodings.as_array().into_iter().flatten().filter_map(Value::as_str);
        let encodings: Vec<_> = encodings.collect();
        let settings = Some(&params["initializationOptions"]).filter(|it| !it.is_null());
        Self {
            encoding: Encoding::choose(&encodings),
            pulls: capabilities.pointer("/textDocument/diagnostic").is_some(),
            refreshes: REFRESHES.map(|method| has(&format!("/{method}Support"))),
            watches: has("/workspace/didChangeWatchedFiles/dynamicRegistration"),
            snippets: has("/textDocument/completion/completionItem/snippetSupport"),
            versioned_edits,
            creates_files: versioned_edits
                && lists("/workspace/workspaceEdit/resourceOperations", "create"),
            nested_symbols: has("/textDocument/documentSymbol/hierarchicalDocumentSymbolSupport"),
            runs: lists("/experimental/commands/commands", RUN_COMMAND),
            configures: has("/workspace/configuration"),
            settings: settings.map(ClientSettings::read).unwrap_or_default(),
            tokens: Arc::default(),
        }
    }
}
