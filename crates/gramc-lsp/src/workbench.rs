//! A language server without threads and pipes.

use std::sync::Arc;

use lsp_types::{Position, Range, TextDocumentContentChangeEvent, Uri};
use serde_json::{Value, json};

use crate::client::Client;
use crate::dispatch::answer;
use crate::global_state::GlobalState;
use crate::position::Encoding;
use crate::request::{RequestContext, RequestError};

/// Open documents and the server's responses about them.
///
/// `file` URIs are loaded with their project from disk. A document with another scheme
/// (`untitled:…`) is a project of its own.
#[derive(Debug, Default)]
pub struct Workbench {
    state: GlobalState,
    client: Arc<Client>,
    version: i32,
}

impl Workbench {
    /// Creates a workbench with columns in UTF-16 code units.
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates a workbench with columns in bytes.
    pub fn with_bytes() -> Self {
        let client = Client { encoding: Encoding::Utf8, ..Client::default() };
        let state = GlobalState::new(Encoding::Utf8, Vec::new());
        Self { state, client: Arc::new(client), version: 0 }
    }

    /// Opens a document. Its name says whether it is gram, Markdown, a project file or JSON Lines. An
    /// invalid URI is ignored.
    pub fn open(&mut self, uri: &str, text: &str) {
        self.version += 1;
        if let Ok(uri) = uri.parse() {
            self.state.open(&uri, "", self.version, text.to_owned());
            self.load();
        }
    }

    /// Replaces a range of an open document, given as zero-based lines and columns.
    pub fn change(&mut self, uri: &str, from: (u32, u32), to: (u32, u32), text: &str) {
        self.version += 1;
        let position = |(line, column)| Position::new(line, column);
        let range = Some(Range::new(position(from), position(to)));
        let change =
            TextDocumentContentChangeEvent { range, range_length: None, text: text.to_owned() };
        if let Ok(uri) = uri.parse() {
            self.state.change(&uri, self.version, vec![change]);
            self.load();
        }
    }

    /// Closes a document.
    pub fn close(&mut self, uri: &str) {
        if let Ok(uri) = uri.parse() {
            self.state.close(&uri);
            self.load();
        }
    }

    /// Loads the requested projects.
    fn load(&mut self) {
        loop {
            let requests = self.state.take_load_requests();
            if requests.is_empty() {
                return;
            }
            for request in requests {
                self.state.take_loaded(crate::load::load(&request));
            }
        }
    }

    /// The text of an open document.
    pub fn text(&self, uri: &str) -> Option<String> {
        let uri: Uri = uri.parse().ok()?;
        Some(self.state.document(&uri)?.text().to_owned())
    }

    /// The diagnostics of a document, as in the protocol.
    pub fn diagnostics(&mut self, uri: &str) -> Value {
        let params = json!({"textDocument": {"uri": uri}});
        let answer = self.request("textDocument/diagnostic", params);
        answer.map_or(Value::Null, |mut answer| answer["items"].take())
    }

    /// Handles a request about a document, as in the protocol.
    ///
    /// # Errors
    ///
    /// That of the error response.
    pub fn request(&mut self, method: &str, params: Value) -> Result<Value, RequestError> {
        let missing = || RequestError::invalid("missing document in the parameters");
        let unknown = || RequestError::invalid("unknown document");
        let uri = crate::dispatch::document(&params).ok_or_else(missing)?;
        let key = self.state.key_of(&uri).ok_or_else(unknown)?;
        let snapshot = self.state.snapshot(&key).ok_or_else(unknown)?;
        let cx = RequestContext::new(snapshot, Arc::clone(&self.client), &uri, &params);
        let answer = answer(&cx.ok_or_else(unknown)?, method, params)?;
        serde_json::from_str(&answer.0).map_err(|error| RequestError::failure(error.to_string()))
    }
}
