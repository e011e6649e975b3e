//! The server without threads and pipes.

use std::sync::Arc;

use lsp_types::{Position, Range, TextDocumentContentChangeEvent, Uri};
use serde_json::{Value, json};

use crate::client::Client;
use crate::dispatch::{Cx, answer};
use crate::position::Encoding;
use crate::world::World;

/// Texts as an editor holds them, and what the server says of them.
///
/// Addresses of files are looked for on the disk, as the server does; those of another scheme
/// (`untitled:…`) stand alone.
#[derive(Debug, Default)]
pub struct Workbench {
    world: World,
    client: Arc<Client>,
    version: i32,
}

impl Workbench {
    /// No texts; columns count UTF-16 code units.
    pub fn new() -> Self {
        Self::default()
    }

    /// No texts; columns count bytes.
    pub fn with_bytes() -> Self {
        let client = Client { encoding: Encoding::Utf8, ..Client::default() };
        let world = World::new(Encoding::Utf8, Vec::new());
        Self { world, client: Arc::new(client), version: 0 }
    }

    /// Opens a text. An address that is none opens nothing.
    pub fn open(&mut self, uri: &str, text: &str) {
        self.version += 1;
        if let Ok(uri) = uri.parse() {
            self.world.open(&uri, self.version, text.to_owned());
            self.load();
        }
    }

    /// Replaces a range of an open text: from line and column to line and column, counted from 0.
    pub fn change(&mut self, uri: &str, from: (u32, u32), to: (u32, u32), text: &str) {
        self.version += 1;
        let position = |(line, column)| Position::new(line, column);
        let range = Some(Range::new(position(from), position(to)));
        let change =
            TextDocumentContentChangeEvent { range, range_length: None, text: text.to_owned() };
        if let Ok(uri) = uri.parse() {
            self.world.change(&uri, self.version, vec![change]);
            self.load();
        }
    }

    /// Closes a text.
    pub fn close(&mut self, uri: &str) {
        if let Ok(uri) = uri.parse() {
            self.world.close(&uri);
            self.load();
        }
    }

    /// Reads projects, as the server does beside its work.
    fn load(&mut self) {
        loop {
            let orders = self.world.take_orders();
            if orders.is_empty() {
                return;
            }
            for order in orders {
                self.world.take_loaded(crate::load::load(&order));
            }
        }
    }

    /// An open text, as the edits have made it.
    pub fn text(&self, uri: &str) -> Option<String> {
        let uri: Uri = uri.parse().ok()?;
        Some(self.world.document(&uri)?.text().to_owned())
    }

    /// What is found in a text, as the protocol has it: a list.
    pub fn diagnostics(&mut self, uri: &str) -> Value {
        let params = json!({"textDocument": {"uri": uri}});
        let answer = self.request("textDocument/diagnostic", params);
        answer.map_or(Value::Null, |mut answer| answer["items"].take())
    }

    /// Answers a request about a document, as the protocol has it.
    ///
    /// # Errors
    ///
    /// Why the request is refused, in a sentence.
    pub fn request(&mut self, method: &str, params: Value) -> Result<Value, String> {
        let uri = crate::dispatch::document(&params).ok_or("the request names no document")?;
        let key = self.world.key_of(&uri).ok_or("there is no such document")?;
        let snapshot = self.world.snapshot(&key).ok_or("there is no such project")?;
        let number = snapshot.named.iter().position(|file| file.uri == uri);
        let number = number.ok_or("there is no such document")?;
        let file = Arc::clone(&snapshot.named[number]);
        let cx = Cx { snapshot, client: Arc::clone(&self.client), number, file };
        let answer = answer(&cx, method, params).map_err(|refusal| refusal.1)?;
        serde_json::from_str(&answer.0).map_err(|error| error.to_string())
    }
}
