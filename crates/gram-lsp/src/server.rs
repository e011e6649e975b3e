//! The server: one thread that takes messages in their order and changes the world, others that
//! answer what is asked about it.

mod push;
mod requests;

use std::collections::{BTreeMap, HashMap};
use std::io::{self, BufRead, Write};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use lsp_server::{ErrorCode, Message, Notification, Request, RequestId, Response, ResponseError};
use lsp_types as lsp;
use lsp_types::Uri;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::capabilities::capabilities;
use crate::client::{Client, Wishes};
use crate::jobs::Workers;
use crate::load::{Loaded, load};
use crate::position::Encoding;
use crate::transport::{self, Incoming, Json};
use crate::uri::path_of;
use crate::world::{Key, World};

/// How long requests wait for a project to be read, before they are answered by what is known.
const PATIENCE: Duration = Duration::from_secs(3);

/// How many threads answer requests: one that takes long lets others pass.
const WORKERS: usize = 2;

/// What reaches the thread that changes the world.
pub(crate) enum Event {
    Incoming(Incoming),
    /// The client reads or writes no more.
    Closed(io::Result<()>),
    Loaded(Box<Loaded>),
    Answered(RequestId, Result<Json, ResponseError>),
    Diagnosed(push::Diagnosed),
}

/// A request that is being answered.
struct Pending {
    /// The document that it is about, where its answer says places in it.
    document: Option<Uri>,
    /// Whether that changed since.
    outdated: bool,
}

/// Where the talk with the client stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    New,
    Running,
    /// The client wants no more answers.
    Shut,
}

pub(crate) struct Server {
    stage: Stage,
    client: Arc<Client>,
    world: World,
    events: Sender<Event>,
    out: Sender<Json>,
    workers: Workers,
    /// One thread for diagnostics, and one to read projects.
    diagnoser: Workers,
    loader: Workers,
    pending: HashMap<RequestId, Pending>,
    /// Requests that wait until the projects are read, and since when.
    waiting: Vec<Request>,
    since: Instant,
    /// What clients have of each document, and what each project was diagnosed at.
    pushed: push::Pushed,
    next_id: i32,
    asked: BTreeMap<i32, Asked>,
}

/// What the server asked the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Asked {
    /// Something whose answer says nothing.
    Nothing,
    /// What it wants.
    Wishes,
}

/// Serves a client until it leaves, and gives the exit code: 0 if the client said goodbye.
///
/// # Errors
///
/// The error of reading the client's messages, or of writing to it.
pub fn serve(
    mut input: impl BufRead + Send + 'static,
    output: impl Write + Send + 'static,
) -> io::Result<i32> {
    let (events, incoming) = mpsc::channel();
    let (out, outgoing) = mpsc::channel::<Json>();
    let reader = events.clone();
    thread::Builder::new().name("reader".to_owned()).spawn(move || {
        loop {
            let event = match transport::read(&mut input) {
                Ok(Some(message)) => Event::Incoming(message),
                Ok(None) => Event::Closed(Ok(())),
                Err(error) => Event::Closed(Err(error)),
            };
            let last = matches!(event, Event::Closed(_));
            if reader.send(event).is_err() || last {
                return;
            }
        }
    })?;
    let writer = events.clone();
    let writing = thread::Builder::new().name("writer".to_owned()).spawn(move || {
        let mut output = io::BufWriter::new(output);
        for message in outgoing {
            if let Err(error) = transport::write(&mut output, &message) {
                // There may be nobody left to tell.
                let _ = writer.send(Event::Closed(Err(error)));
                return;
            }
        }
    })?;
    let mut server = Server::new(events, out);
    let ended = server.run(&incoming);
    // What was answered is written before the process ends.
    let Server { out, .. } = server;
    drop(out);
    let _ = writing.join();
    ended
}

impl Server {
    fn new(events: Sender<Event>, out: Sender<Json>) -> Self {
        Self {
            stage: Stage::New,
            client: Arc::default(),
            world: World::default(),
            events,
            out,
            workers: Workers::new("request", WORKERS),
            diagnoser: Workers::new("diagnostics", 1),
            loader: Workers::new("loader", 1),
            pending: HashMap::new(),
            waiting: Vec::new(),
            since: Instant::now(),
            pushed: push::Pushed::default(),
            next_id: 0,
            asked: BTreeMap::new(),
        }
    }

    fn run(&mut self, incoming: &Receiver<Event>) -> io::Result<i32> {
        loop {
            let event = if self.waiting.is_empty() {
                incoming.recv().map_err(|_| RecvTimeoutError::Disconnected)
            } else {
                incoming.recv_timeout(PATIENCE.saturating_sub(self.since.elapsed()))
            };
            match event {
                Ok(Event::Incoming(Incoming::Wrong(answer))) => self.send(answer.into()),
                Ok(Event::Incoming(Incoming::Message(message))) => {
                    if let Some(code) = self.message(message) {
                        return Ok(code);
                    }
                }
                // A client that is gone without a goodbye is no success.
                Ok(Event::Closed(Ok(()))) => return Ok(i32::from(self.stage != Stage::Shut)),
                Ok(Event::Closed(Err(error))) => return Err(error),
                Ok(Event::Loaded(loaded)) => self.loaded(*loaded),
                Ok(Event::Answered(id, answer)) => self.answered(id, answer),
                Ok(Event::Diagnosed(diagnosed)) => self.diagnosed(diagnosed),
                Err(RecvTimeoutError::Timeout) => self.answer_waiting(),
                Err(RecvTimeoutError::Disconnected) => return Ok(1),
            }
        }
    }

    fn send(&self, message: Json) {
        // When the writer is gone, an event says so.
        let _ = self.out.send(message);
    }

    fn respond(&mut self, id: RequestId, answer: Result<Json, ResponseError>) {
        self.send(match answer {
            Ok(result) => result.answers(&id),
            Err(error) => {
                let response = Response { id, response_result: Err(error) };
                transport::json(&Message::Response(response))
            }
        });
    }

    fn refuse(&mut self, id: RequestId, code: ErrorCode, why: &str) {
        let error = ResponseError { code: code as i32, message: why.to_owned(), data: None };
        self.respond(id, Err(error));
    }

    fn notify(&self, method: &str, params: Value) {
        let note = Notification { method: method.to_owned(), params };
        self.send(transport::json(&Message::Notification(note)));
    }

    fn ask(&mut self, method: &str, params: Value, what: Asked) {
        self.next_id += 1;
        self.asked.insert(self.next_id, what);
        let id = RequestId::from(self.next_id);
        let request = Request { id, method: method.to_owned(), params };
        self.send(transport::json(&Message::Request(request)));
    }

    fn log(&self, message: &str) {
        self.notify(
            "window/logMessage",
            json!({"type": lsp::MessageType::WARNING, "message": message}),
        );
    }

    /// Takes a message; gives the exit code where it is the last one.
    fn message(&mut self, message: Message) -> Option<i32> {
        match message {
            Message::Request(request) => match (self.stage, request.method.as_str()) {
                (Stage::New, "initialize") => self.initialize(request),
                (Stage::New, _) => {
                    let why = "the first request is `initialize`";
                    self.refuse(request.id, ErrorCode::ServerNotInitialized, why);
                }
                (Stage::Running, "shutdown") => {
                    self.stage = Stage::Shut;
                    self.respond(request.id, Ok(Value::Null.into()));
                }
                (Stage::Running, "initialize") => {
                    let why = "the server is initialized already";
                    self.refuse(request.id, ErrorCode::InvalidRequest, why);
                }
                (Stage::Running, _) => self.request(request),
                (Stage::Shut, _) => {
                    let why = "the server is shut down";
                    self.refuse(request.id, ErrorCode::InvalidRequest, why);
                }
            },
            Message::Notification(note) if note.method == "exit" => {
                return Some(i32::from(self.stage != Stage::Shut));
            }
            Message::Notification(note) => {
                if self.stage == Stage::Running {
                    self.notification(note);
                }
            }
            Message::Response(response) => self.response(&response),
        }
        None
    }

    fn initialize(&mut self, request: Request) {
        let params: lsp::InitializeParams = match serde_json::from_value(request.params) {
            Ok(params) => params,
            Err(error) => {
                let why = format!("the parameters are of another shape: {error}");
                return self.refuse(request.id, ErrorCode::InvalidParams, &why);
            }
        };
        let client = Client::new(&params);
        let encoding: Encoding = client.encoding;
        self.client = Arc::new(client);
        let folders = params.workspace_folders.unwrap_or_default();
        let mut folders: Vec<_> = folders.iter().filter_map(|it| path_of(&it.uri)).collect();
        if folders.is_empty() {
            #[expect(deprecated, reason = "older clients say it in this way")]
            folders.extend(params.root_uri.as_ref().and_then(path_of));
        }
        self.world = World::new(encoding, folders);
        let result = json!({
            "capabilities": capabilities(encoding),
            "serverInfo": {"name": "gramc", "version": env!("CARGO_PKG_VERSION")},
        });
        self.respond(request.id, Ok(result.into()));
        self.stage = Stage::Running;
        self.after();
    }

    fn notification(&mut self, note: Notification) {
        let Notification { method, params } = note;
        match method.as_str() {
            "initialized" => self.initialized(),
            "textDocument/didOpen" => {
                if let Some(params) = read::<lsp::DidOpenTextDocumentParams>(params) {
                    let lsp::TextDocumentItem { uri, version, text, .. } = params.text_document;
                    self.outdate(&uri);
                    self.world.open(&uri, version, text);
                }
            }
            "textDocument/didChange" => {
                if let Some(params) = read::<lsp::DidChangeTextDocumentParams>(params) {
                    let lsp::VersionedTextDocumentIdentifier { uri, version } =
                        params.text_document;
                    self.outdate(&uri);
                    if !self.world.change(&uri, version, params.content_changes) {
                        self.log(&format!("{} was changed, but is not open", uri.as_str()));
                    }
                }
            }
            "textDocument/didClose" => {
                if let Some(params) = read::<lsp::DidCloseTextDocumentParams>(params) {
                    self.outdate(&params.text_document.uri);
                    self.client.tokens.forget(&params.text_document.uri);
                    self.world.close(&params.text_document.uri);
                }
            }
            "workspace/didChangeWatchedFiles" => {
                if let Some(params) = read::<lsp::DidChangeWatchedFilesParams>(params) {
                    let paths = params.changes.iter().filter_map(|change| path_of(&change.uri));
                    self.world.watched(&paths.collect::<Vec<_>>());
                }
            }
            "workspace/didChangeWorkspaceFolders" => {
                if let Some(params) = read::<lsp::DidChangeWorkspaceFoldersParams>(params) {
                    let removed = params.event.removed.iter().filter_map(|it| path_of(&it.uri));
                    removed.for_each(|folder| self.world.remove_folder(&folder));
                    let added = params.event.added.iter().filter_map(|it| path_of(&it.uri));
                    added.for_each(|folder| self.world.add_folder(folder));
                }
            }
            "workspace/didChangeConfiguration" => {
                if self.client.configures {
                    self.ask_wishes();
                } else {
                    self.wish(&params["settings"]["gram"]);
                }
            }
            "$/cancelRequest" => {
                let id = match &params["id"] {
                    Value::String(id) => Some(RequestId::from(id.clone())),
                    id => id.as_i64().and_then(|id| i32::try_from(id).ok()).map(RequestId::from),
                };
                if let Some(id) = id {
                    self.cancel(id);
                }
            }
            _ => {}
        }
        self.after();
    }

    /// Answers a request that the client does not want to be answered any more.
    fn cancel(&mut self, id: RequestId) {
        let waited = self.waiting.iter().position(|request| request.id == id);
        let known = self.pending.remove(&id).is_some();
        if let Some(at) = waited {
            self.waiting.remove(at);
        }
        if known || waited.is_some() {
            self.refuse(id, ErrorCode::RequestCanceled, "the client cancelled this request");
        }
    }

    /// A document changes: what is being answered about it says places of before.
    fn outdate(&mut self, uri: &Uri) {
        for pending in self.pending.values_mut() {
            pending.outdated |= pending.document.as_ref() == Some(uri);
        }
    }

    fn initialized(&mut self) {
        if self.client.watches {
            let watcher = |glob: &str| json!({"globPattern": glob});
            let globs = ["**/*.gram", "**/gram.toml", "**/.gitignore", "**/.ignore", "**/*.jsonl"];
            let watchers: Vec<_> = globs.into_iter().map(watcher).collect();
            let method = "workspace/didChangeWatchedFiles";
            let options = json!({"watchers": watchers});
            let one = json!({"id": "gram-files", "method": method, "registerOptions": options});
            self.ask("client/registerCapability", json!({"registrations": [one]}), Asked::Nothing);
        }
        if self.client.configures {
            self.ask_wishes();
        }
    }

    fn ask_wishes(&mut self) {
        let items = json!({"items": [{"section": "gram"}]});
        self.ask("workspace/configuration", items, Asked::Wishes);
    }

    fn wish(&mut self, settings: &Value) {
        if !settings.is_object() {
            return;
        }
        let wishes = Wishes::read(settings);
        if wishes != self.client.wishes {
            Arc::make_mut(&mut self.client).wishes = wishes;
            self.refresh(&[1, 2]);
        }
    }

    fn response(&mut self, response: &Response) {
        let id = serde_json::to_value(&response.id).ok().and_then(|id| id.as_i64());
        let asked = id.and_then(|id| self.asked.remove(&i32::try_from(id).ok()?));
        match (asked, &response.response_result) {
            (Some(Asked::Wishes), Ok(values)) => self.wish(&values[0].clone()),
            (Some(Asked::Nothing), Err(error)) => {
                self.log(&format!("the client refused something: {}", error.message));
            }
            _ => {}
        }
    }

    /// What follows from every change: projects to read, findings to look for.
    fn after(&mut self) {
        for order in self.world.take_orders() {
            let events = self.events.clone();
            self.loader.run(move || {
                let loaded = load(&order);
                let _ = events.send(Event::Loaded(Box::new(loaded)));
            });
        }
        self.diagnose();
    }

    fn loaded(&mut self, loaded: Loaded) {
        for error in &loaded.errors {
            self.log(error);
        }
        self.world.take_loaded(loaded);
        self.after();
        if !self.world.is_loading() {
            self.answer_waiting();
        }
        self.refresh(&[1, 2]);
    }

    /// The project that a document belongs to.
    fn key_of(&self, uri: &Uri) -> Option<Key> {
        self.world.key_of(uri)
    }
}

/// Reads parameters. A notification of another shape cannot be answered, and changes nothing.
fn read<P: DeserializeOwned>(params: Value) -> Option<P> {
    serde_json::from_value(params).ok()
}
