//! A language server in a program that exchanges the messages itself.

use std::fmt;
use std::sync::mpsc::{self, Receiver};

use crate::server::{Server, ServerEvent};
use crate::transport::{self, Incoming, Json};

/// A language server without threads and pipes. Each message is handled completely before the call
/// returns.
///
/// ```
/// let mut server = gramc_lsp::LanguageServer::new();
/// let initialize = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{}}}"#;
/// assert!(server.handle(initialize)[0].contains("hoverProvider"));
///
/// let document = r#"{"uri":"inmemory:a.gram","languageId":"gram","version":1,"text":"[a:Tol]"}"#;
/// let opened = format!(
///     r#"{{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{{"textDocument":{document}}}}}"#
/// );
/// assert!(server.handle(&opened)[0].contains("textDocument/publishDiagnostics"));
/// ```
pub struct LanguageServer {
    server: Server,
    events: Receiver<ServerEvent>,
    out: Receiver<Json>,
}

impl fmt::Debug for LanguageServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LanguageServer")
    }
}

impl Default for LanguageServer {
    fn default() -> Self {
        Self::new()
    }
}

impl LanguageServer {
    /// Creates a server that waits for `initialize`.
    pub fn new() -> Self {
        let (events, incoming) = mpsc::channel();
        let (out, outgoing) = mpsc::channel();
        Self { server: Server::new(events, out, 0), events: incoming, out: outgoing }
    }

    /// Handles a message of the client, as JSON text without a header. Returns the messages for the
    /// client in the same form.
    pub fn handle(&mut self, message: &str) -> Vec<String> {
        // Notifications that end the server have no answer.
        let _ = match transport::parse(message.as_bytes()) {
            Incoming::Message(message) => self.server.message(message),
            Incoming::Wrong(answer) => {
                self.server.send(answer.into());
                None
            }
        };
        while let Ok(event) = self.events.try_recv() {
            self.server.handle_event(event);
        }
        self.out.try_iter().map(|Json(text)| text).collect()
    }
}
