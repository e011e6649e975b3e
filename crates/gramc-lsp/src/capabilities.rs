//! The server's capabilities.

use serde_json::{Value, json};

use crate::actions::{EXPLAIN, KINDS};
use crate::position::Encoding;
use crate::tokens;

const TRIGGER_CHARACTERS: [&str; 9] = [":", "(", "{", "[", "`", ",", "|", "\"", "<"];

pub(crate) fn capabilities(encoding: Encoding) -> Value {
    // Files and folders whose new names may change the text of documents.
    let renamed = |glob: &str, matches: &str| json!({"scheme": "file", "pattern": {"glob": glob, "matches": matches}});
    let renamed = [renamed("**/*.{gram,jsonl}", "file"), renamed("**", "folder")];
    json!({
        "positionEncoding": encoding.kind(),
        // Changes are incremental.
        "textDocumentSync": {"openClose": true, "change": 2, "save": true},
        "hoverProvider": true,
        "completionProvider": {"triggerCharacters": TRIGGER_CHARACTERS},
        "signatureHelpProvider": {"triggerCharacters": ["(", ">"]},
        "definitionProvider": true,
        "typeDefinitionProvider": true,
        "implementationProvider": true,
        "referencesProvider": true,
        "documentHighlightProvider": true,
        "documentSymbolProvider": true,
        "workspaceSymbolProvider": true,
        "codeActionProvider": {"codeActionKinds": KINDS},
        "codeLensProvider": {"resolveProvider": true},
        "documentFormattingProvider": true,
        "documentRangeFormattingProvider": true,
        "documentOnTypeFormattingProvider": {
            "firstTriggerCharacter": "]",
            "moreTriggerCharacter": ["\n"],
        },
        "renameProvider": {"prepareProvider": true},
        "documentLinkProvider": {"resolveProvider": false},
        "foldingRangeProvider": true,
        "selectionRangeProvider": true,
        "callHierarchyProvider": true,
        "semanticTokensProvider": {
            "legend": tokens::legend(),
            "range": true,
            "full": {"delta": true},
        },
        "inlayHintProvider": true,
        "diagnosticProvider": {
            "identifier": "gram",
            "interFileDependencies": true,
            "workspaceDiagnostics": true,
        },
        "executeCommandProvider": {"commands": [EXPLAIN]},
        "workspace": {
            "workspaceFolders": {"supported": true, "changeNotifications": true},
            "fileOperations": {"willRename": {"filters": renamed}},
        },
    })
}
