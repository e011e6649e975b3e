//! The server. The main thread handles messages in order and changes the global state. Worker threads
//! handle requests on snapshots of it.

mod push;
mod requests;

use std::collections::{BTreeMap, HashMap};
use std::io::{self, BufRead, Write};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use lsp_types as lsp;
use lsp_types::Uri;
use serde_json::{Value, json};

use crate::capabilities::capabilities;
use crate::client::{Client, ClientSettings};
use crate::global_state::GlobalState;
use crate::load::{LoadedProject, load};
use crate::message::{
    ErrorCode, Message, Notification, Request, RequestId, Response, ResponseError,
};
use crate::position::Encoding;
use crate::transport::{self, Incoming, Json};
use crate::uri::path_of;
use crate::workers::Workers;

/// Maximum time that requests wait for projects to load.
const MAX_LOADING_WAIT: Duration = Duration::from_secs(3);

/// How often the imports of documents outside of the client's folders are looked up.
const LONE_DOCUMENT_INTERVAL: Duration = Duration::from_secs(1);

/// Number of request threads. With two, a slow request does not block the others.
const REQUEST_THREADS: usize = 2;

pub(crate) enum ServerEvent {
    Incoming(Incoming),
    /// The client closed its end of a pipe.
    Closed(io::Result<()>),
    Loaded(Box<LoadedProject>),
    Answered(RequestId, Result<Json, ResponseError>),
    Diagnosed(push::DiagnosticsUpdate),
}

struct PendingRequest {
    /// The document that positions in the response refer to.
    document: Option<Uri>,
    /// Whether the document changed since the request.
    outdated: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lifecycle {
    New,
    Running,
    /// The client sent `shutdown`.
    Shut,
}

pub(crate) struct Server {
    lifecycle: Lifecycle,
    client: Arc<Client>,
    state: GlobalState,
    events: Sender<ServerEvent>,
    out: Sender<Json>,
    workers: Workers,
    /// One thread for diagnostics and one to load projects.
    diagnoser: Workers,
    loader: Workers,
    pending: HashMap<RequestId, PendingRequest>,
    /// Requests that wait for projects to load, and the start of the wait.
    waiting: Vec<Request>,
    since: Option<Instant>,
    published: push::Publications,
    next_id: i32,
    asked: BTreeMap<i32, ClientRequest>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ClientRequest {
    /// A request without a result.
    Other,
    /// `workspace/configuration`
    Configuration,
}

/// Serves a client until it exits. Returns the exit code: 0 if the client shut the server down.
///
/// # Errors
///
/// Reading or writing messages fails.
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
                Ok(Some(message)) => ServerEvent::Incoming(message),
                Ok(None) => ServerEvent::Closed(Ok(())),
                Err(error) => ServerEvent::Closed(Err(error)),
            };
            let last = matches!(event, ServerEvent::Closed(_));
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
                // The main thread may have ended.
                let _ = writer.send(ServerEvent::Closed(Err(error)));
                return;
            }
        }
    })?;
    let mut server = Server::new(events, out, 1);
    let ended = server.run(&incoming);
    // Write all responses before the process ends.
    let Server { out, .. } = server;
    drop(out);
    let _ = writing.join();
    ended
}

impl Server {
    /// Creates a server. Without `threads`, it does all work on the thread of its caller.
    pub(crate) fn new(events: Sender<ServerEvent>, out: Sender<Json>, threads: usize) -> Self {
        Self {
            lifecycle: Lifecycle::New,
            client: Arc::default(),
            state: GlobalState::default(),
            events,
            out,
            workers: Workers::new("request", threads * REQUEST_THREADS),
            diagnoser: Workers::new("diagnostics", threads),
            loader: Workers::new("loader", threads),
            pending: HashMap::new(),
            waiting: Vec::new(),
            since: None,
            published: push::Publications::default(),
            next_id: 0,
            asked: BTreeMap::new(),
        }
    }

    fn run(&mut self, incoming: &Receiver<ServerEvent>) -> io::Result<i32> {
        loop {
            let event = if !self.waiting.is_empty() {
                let waited = self.since.map(|since| since.elapsed()).unwrap_or_default();
                incoming.recv_timeout(MAX_LOADING_WAIT.saturating_sub(waited))
            } else if self.state.has_lone_documents() {
                incoming.recv_timeout(LONE_DOCUMENT_INTERVAL)
            } else {
                incoming.recv().map_err(|_| RecvTimeoutError::Disconnected)
            };
            match event {
                Ok(ServerEvent::Incoming(Incoming::Message(message))) => {
                    if let Some(code) = self.message(message) {
                        return Ok(code);
                    }
                }
                // The client closed the connection without `shutdown`.
                Ok(ServerEvent::Closed(Ok(()))) => {
                    return Ok(i32::from(self.lifecycle != Lifecycle::Shut));
                }
                Ok(ServerEvent::Closed(Err(error))) => return Err(error),
                Ok(event) => self.handle_event(event),
                Err(RecvTimeoutError::Timeout) if !self.waiting.is_empty() => {
                    self.answer_waiting();
                }
                Err(RecvTimeoutError::Timeout) => {
                    if self.state.refresh_lone_documents() {
                        self.process_changes();
                    }
                }
                Err(RecvTimeoutError::Disconnected) => return Ok(1),
            }
        }
    }

    /// Handles an event that is neither a message nor the end of the connection.
    pub(crate) fn handle_event(&mut self, event: ServerEvent) {
        match event {
            ServerEvent::Incoming(Incoming::Wrong(answer)) => self.send(answer.into()),
            ServerEvent::Loaded(loaded) => self.add_project(*loaded),
            ServerEvent::Answered(id, answer) => self.send_answer(id, answer),
            ServerEvent::Diagnosed(diagnosed) => self.publish(diagnosed),
            ServerEvent::Incoming(Incoming::Message(_)) | ServerEvent::Closed(_) => {}
        }
    }

    pub(crate) fn send(&self, message: Json) {
        // The writer reports its end as an event.
        let _ = self.out.send(message);
    }

    fn respond(&mut self, id: RequestId, answer: Result<Json, ResponseError>) {
        self.send(match answer {
            Ok(result) => result.response_to(&id),
            Err(error) => json!({"jsonrpc": "2.0", "id": id, "error": error}).into(),
        });
    }

    fn refuse(&mut self, id: RequestId, code: ErrorCode, why: &str) {
        let error = ResponseError { code: code as i32, message: why.to_owned() };
        self.respond(id, Err(error));
    }

    fn notify(&self, method: &str, params: Value) {
        self.send(json!({"jsonrpc": "2.0", "method": method, "params": params}).into());
    }

    fn ask(&mut self, method: &str, params: Value, what: ClientRequest) {
        self.next_id += 1;
        self.asked.insert(self.next_id, what);
        let id = self.next_id;
        self.send(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).into());
    }

    fn log(&self, message: &str) {
        let params = json!({"type": lsp::MessageType::WARNING, "message": message});
        self.notify("window/logMessage", params);
    }

    /// Handles a message. Returns the exit code after `exit`.
    pub(crate) fn message(&mut self, message: Message) -> Option<i32> {
        match message {
            Message::Request(request) => match (self.lifecycle, request.method.as_str()) {
                (Lifecycle::New, "initialize") => self.initialize(request),
                (Lifecycle::New, _) => {
                    let why = "expected `initialize` as the first request";
                    self.refuse(request.id, ErrorCode::ServerNotInitialized, why);
                }
                (Lifecycle::Running, "shutdown") => {
                    self.lifecycle = Lifecycle::Shut;
                    self.respond(request.id, Ok(Value::Null.into()));
                }
                (Lifecycle::Running, "initialize") => {
                    let why = "the server is already initialized";
                    self.refuse(request.id, ErrorCode::InvalidRequest, why);
                }
                (Lifecycle::Running, _) => self.request(request),
                (Lifecycle::Shut, _) => {
                    let why = "the server is shut down";
                    self.refuse(request.id, ErrorCode::InvalidRequest, why);
                }
            },
            Message::Notification(note) if note.method == "exit" => {
                return Some(i32::from(self.lifecycle != Lifecycle::Shut));
            }
            Message::Notification(note) => {
                if self.lifecycle == Lifecycle::Running {
                    self.notification(note);
                }
            }
            Message::Response(response) => self.response(&response),
        }
        None
    }

    fn initialize(&mut self, request: Request) {
        let params = &request.params;
        if !params["capabilities"].is_object() {
            let why = "invalid parameters: missing field `capabilities`";
            return self.refuse(request.id, ErrorCode::InvalidParams, why);
        }
        let client = Client::new(params);
        let encoding: Encoding = client.encoding;
        self.client = Arc::new(client);
        let path = |uri: &Value| path_of(&uri.as_str()?.parse().ok()?);
        let folders = params["workspaceFolders"].as_array().into_iter().flatten();
        let mut folders: Vec<_> = folders.filter_map(|it| path(&it["uri"])).collect();
        if folders.is_empty() {
            // Older clients send `rootUri`.
            folders.extend(path(&params["rootUri"]));
        }
        self.state = GlobalState::new(encoding, folders);
        let result = json!({
            "capabilities": capabilities(encoding),
            "serverInfo": {"name": "gramc", "version": env!("CARGO_PKG_VERSION")},
        });
        self.respond(request.id, Ok(result.into()));
        self.lifecycle = Lifecycle::Running;
        self.process_changes();
    }

    /// Handles a notification. Invalid ones are ignored.
    fn notification(&mut self, note: Notification) {
        let _ = self.try_notification(&note.method, note.params);
        self.process_changes();
    }

    fn try_notification(&mut self, method: &str, params: Value) -> serde_json::Result<()> {
        match method {
            "initialized" => self.finish_initialization(),
            "textDocument/didOpen" => {
                let params: lsp::DidOpenTextDocumentParams = serde_json::from_value(params)?;
                let document = params.text_document;
                self.outdate(&document.uri);
                let lsp::TextDocumentItem { uri, language_id, version, text } = document;
                self.state.open(&uri, &language_id, version, text);
            }
            "textDocument/didChange" => {
                let params: lsp::DidChangeTextDocumentParams = serde_json::from_value(params)?;
                let lsp::VersionedTextDocumentIdentifier { uri, version } = params.text_document;
                self.outdate(&uri);
                if !self.state.change(&uri, version, params.content_changes) {
                    self.log(&format!("changed document is not open: {}", uri.as_str()));
                }
            }
            "textDocument/didClose" => {
                let params: lsp::DidCloseTextDocumentParams = serde_json::from_value(params)?;
                let uri = &params.text_document.uri;
                self.outdate(uri);
                self.client.tokens.forget(uri);
                self.state.close(uri);
            }
            "workspace/didChangeWatchedFiles" => {
                let params: lsp::DidChangeWatchedFilesParams = serde_json::from_value(params)?;
                let paths = params.changes.iter().filter_map(|change| path_of(&change.uri));
                self.state.files_changed(&paths.collect::<Vec<_>>());
            }
            "workspace/didChangeWorkspaceFolders" => {
                let params: lsp::DidChangeWorkspaceFoldersParams = serde_json::from_value(params)?;
                let removed = params.event.removed.iter().filter_map(|it| path_of(&it.uri));
                removed.for_each(|folder| self.state.remove_folder(&folder));
                let added = params.event.added.iter().filter_map(|it| path_of(&it.uri));
                added.for_each(|folder| self.state.add_folder(folder));
            }
            "workspace/didChangeConfiguration" if self.client.configures => self.request_settings(),
            "workspace/didChangeConfiguration" => self.apply_settings(&params["settings"]["gram"]),
            "$/cancelRequest" => {
                if let Some(id) = RequestId::of_value(&params["id"]) {
                    self.cancel(id);
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn cancel(&mut self, id: RequestId) {
        let waited = self.waiting.iter().position(|request| request.id == id);
        let known = self.pending.remove(&id).is_some();
        if let Some(at) = waited {
            self.waiting.remove(at);
        }
        if known || waited.is_some() {
            self.refuse(id, ErrorCode::RequestCanceled, "request cancelled by the client");
        }
    }

    /// Marks the pending requests about a changed document as outdated.
    fn outdate(&mut self, uri: &Uri) {
        for pending in self.pending.values_mut() {
            pending.outdated |= pending.document.as_ref() == Some(uri);
        }
    }

    fn finish_initialization(&mut self) {
        if self.client.watches {
            let watcher = |glob: &str| json!({"globPattern": glob});
            let globs = ["**/*.gram", "**/gram.toml", "**/.gitignore", "**/.ignore", "**/*.jsonl"];
            let watchers: Vec<_> = globs.into_iter().map(watcher).collect();
            let method = "workspace/didChangeWatchedFiles";
            let options = json!({"watchers": watchers});
            let one = json!({"id": "gram-files", "method": method, "registerOptions": options});
            self.ask(
                "client/registerCapability",
                json!({"registrations": [one]}),
                ClientRequest::Other,
            );
        }
        if self.client.configures {
            self.request_settings();
        }
    }

    fn request_settings(&mut self) {
        let items = json!({"items": [{"section": "gram"}]});
        self.ask("workspace/configuration", items, ClientRequest::Configuration);
    }

    fn apply_settings(&mut self, settings: &Value) {
        if !settings.is_object() {
            return;
        }
        let settings = ClientSettings::read(settings);
        if settings != self.client.settings {
            Arc::make_mut(&mut self.client).settings = settings;
            self.refresh(&[1, 2]);
        }
    }

    fn response(&mut self, response: &Response) {
        let asked = match &response.id {
            RequestId::Number(id) => self.asked.remove(id),
            RequestId::Text(_) => None,
        };
        match (asked, &response.response_result) {
            (Some(ClientRequest::Configuration), Ok(values)) => {
                self.apply_settings(&values[0].clone());
            }
            (Some(ClientRequest::Other), Err(error)) => {
                self.log(&format!("request failed on the client: {}", error.message));
            }
            _ => {}
        }
    }

    /// Loads requested projects and updates diagnostics after a change.
    fn process_changes(&mut self) {
        for request in self.state.take_load_requests() {
            let events = self.events.clone();
            self.loader.run(move || {
                let loaded = load(&request);
                let _ = events.send(ServerEvent::Loaded(Box::new(loaded)));
            });
        }
        self.diagnose();
    }

    fn add_project(&mut self, loaded: LoadedProject) {
        for error in &loaded.errors {
            self.log(error);
        }
        self.state.take_loaded(loaded);
        self.process_changes();
        if !self.state.is_loading() {
            self.answer_waiting();
        }
        self.refresh(&[1, 2]);
    }
}
