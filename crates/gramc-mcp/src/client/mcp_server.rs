//! A server that a library keeps a connection to.

use std::collections::HashMap;
use std::fmt::{self, Display};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures_util::future::BoxFuture;
use gramc_calls::check::ToolCheck;
use gramc_tools::invocation::{InvocationError, InvocationErrorKind, RequestOrigin};
use gramc_tools::sanitize::sanitize_line;
use gramc_tools::{ProgramEnvironment, SessionClient};
use parking_lot::{Mutex, RwLock};
use reqwest::header::{HeaderName, HeaderValue};
use serde_json::{Map, Value};
use smol_str::SmolStr;

use super::address::{ServerAddress, ServerPlace};
use super::client_slot::ClientSlot;
use super::connection::{Connection, UpstreamError};
use super::handshake::Introduction;
use super::inbox::RequestOptions;
use super::link::{ConnectionResult, ServerLink};
use super::tool_pages::ListedTools;
use super::{McpError, UrlOptions};
use crate::param_headers::param_headers;

/// An MCP server. Copies share one connection, which is opened when it is needed first, and again
/// when it broke. All of this must happen inside a tokio runtime. When the last copy is dropped, a
/// server that was started is ended.
#[derive(Clone)]
pub struct McpServer(Arc<ServerState>);

struct ServerState {
    address: ServerAddress,
    /// Whether sessions share the connection, even those with servers of their own.
    is_shared: bool,
    /// Set once a tool was called, so that the server may have a state.
    is_used: AtomicBool,
    client: Option<Arc<dyn SessionClient>>,
    link: Mutex<ServerLink>,
    /// What the server said about itself last.
    introduction: RwLock<Option<Arc<Introduction>>>,
    /// The tools that were listed last.
    tools: RwLock<Option<Arc<ListedTools>>>,
    /// The checks of their results, by tool.
    outputs: Mutex<HashMap<String, Option<ToolCheck>>>,
}

fn needs_own_connection(client: &dyn SessionClient) -> bool {
    client.is_modern() || !client.capabilities().is_empty()
}

impl McpServer {
    /// The server that a program is, with its arguments, run in `folder`. A program whose name
    /// holds a path separator is looked for from there.
    pub fn command(words: Vec<String>, folder: impl Into<PathBuf>) -> Self {
        Self::command_with(words, ProgramEnvironment::in_folder(&folder.into()))
    }

    /// The server that a program is, with its arguments, in an environment.
    pub fn command_with(words: Vec<String>, environment: ProgramEnvironment) -> Self {
        Self::new(ServerAddress::command(words, environment), false, None)
    }

    /// The server at an address, over streamable HTTP. Fails where that is no whole URL.
    pub fn url(url: &str) -> Result<Self, InvocationError> {
        Self::url_with(url, UrlOptions::default())
    }

    /// The server at an address, with options. Fails as [`Self::url`] does.
    pub fn url_with(url: &str, options: UrlOptions) -> Result<Self, InvocationError> {
        let address = ServerAddress::url(url, options).ok_or(McpError::InvalidAddress);
        Ok(Self::new(address.map_err(InvocationError::unreachable)?, false, None))
    }

    fn new(
        address: ServerAddress,
        is_shared: bool,
        client: Option<Arc<dyn SessionClient>>,
    ) -> Self {
        Self(Arc::new(ServerState {
            address,
            is_shared,
            is_used: AtomicBool::new(false),
            client,
            link: Mutex::default(),
            introduction: RwLock::default(),
            tools: RwLock::default(),
            outputs: Mutex::default(),
        }))
    }

    /// The same server with a connection of its own, for a client.
    #[must_use]
    pub fn for_client(&self, client: Arc<dyn SessionClient>) -> Self {
        Self::new(self.0.address.clone(), false, Some(client))
    }

    /// The same server with a name for messages, and a connection of its own.
    #[must_use]
    pub fn with_name(&self, name: impl Into<SmolStr>) -> Self {
        let address = ServerAddress { name: Some(name.into()), ..self.0.address.clone() };
        Self::new(address, self.0.is_shared, self.0.client.clone())
    }

    /// Connects to the server, and waits until the connection breaks. `on_connect` is called in
    /// between, once the tools are listed. The caller does this again and again: from now on, other
    /// requests fail at once while a broken connection is not open again.
    pub async fn keep_connected(&self, on_connect: impl Future) -> Result<(), InvocationError> {
        self.0.link.lock().is_kept = true;
        let connection = self.open_connection(true).await?;
        self.tools_of(&connection).await?;
        on_connect.await;
        let end = connection.end();
        // It ends when nobody uses it any more.
        drop(connection);
        end.cancelled().await;
        Ok(())
    }

    /// The tools that were listed last, if they were asked for already.
    pub fn known_tools(&self) -> Option<Arc<ListedTools>> {
        self.0.tools.read().clone()
    }

    /// Whether the server was not connected to yet, and somebody tries it again and again.
    pub(crate) fn is_awaited(&self) -> bool {
        self.introduction().is_none() && self.0.link.lock().is_kept
    }

    /// Whether the server says that its tools have changed since they were listed.
    pub fn has_other_tools(&self) -> bool {
        let link = self.0.link.lock();
        let Some(opening) = &link.opening else { return false };
        matches!(&*opening.outcome.borrow(), Some(Ok(connection)) if connection.has_other_tools())
    }

    /// The same server, whose connection is shared even by sessions with servers of their own.
    #[must_use]
    pub fn to_shared(&self) -> Self {
        Self::new(self.0.address.clone(), true, None)
    }

    /// The same server with a connection of its own, for a client. It takes over the one that there
    /// is, if no tool was called over it. A client with capabilities needs another one, because
    /// servers learn the capabilities when they begin, and so does one that uses another revision.
    pub(super) fn fork(&self, client: Option<Arc<dyn SessionClient>>) -> Self {
        let fork = Self::new(self.0.address.clone(), false, client);
        if !self.0.is_used.load(Ordering::Acquire) {
            let link = std::mem::take(&mut *self.0.link.lock());
            match (&fork.0.client, &link.opening) {
                (Some(client), Some(_)) if needs_own_connection(&**client) => {
                    let unused = Self::new(self.0.address.clone(), false, None);
                    *unused.0.link.lock() = link;
                    tokio::spawn(async move { unused.close().await });
                }
                (client, opening) => {
                    if let (Some(client), Some(opening)) = (client, opening) {
                        opening.client.set(Arc::clone(client));
                    }
                    *fork.0.link.lock() = link;
                }
            }
        }
        fork.0.tools.write().clone_from(&self.0.tools.read());
        fork.0.introduction.write().clone_from(&self.0.introduction.read());
        fork
    }

    /// Opens the connection and asks for the tools, unless that was done already. Fails where the
    /// server cannot be reached, ends, or does not answer within a minute.
    pub async fn connect(&self) -> Result<(), InvocationError> {
        self.tools().await.map(drop)
    }

    /// The tools of the server, each exactly as it sent them. It is asked once a connection, and
    /// again when it said that it has other tools. Fails as [`McpServer::connect`] does.
    pub async fn tools(&self) -> Result<Arc<ListedTools>, InvocationError> {
        let connection = self.connection().await?;
        self.tools_of(&connection).await
    }

    /// Ends the connection. A server that was started is asked to end, and waited for; the
    /// connection is opened again when it is needed.
    pub async fn close(&self) {
        let Some(opening) = self.0.link.lock().opening.take() else {
            return;
        };
        let outcome = opening.outcome.borrow().clone();
        drop(opening);
        if let Some(Ok(connection)) = outcome
            // Where calls are under way, the last one of them ends it.
            && let Some(connection) = Arc::into_inner(connection)
        {
            connection.close().await;
        }
    }

    /// The values that the server gets and that must not appear in any output.
    pub(crate) fn secrets(&self) -> &[String] {
        self.0.address.secrets()
    }

    /// What the server says with the list of its tools, if it was asked for them already.
    pub(crate) fn known_others(&self) -> Map<String, Value> {
        self.0.tools.read().as_ref().map(|tools| tools.others.clone()).unwrap_or_default()
    }

    /// A tool as the server lists it, if its tools were asked for already.
    pub(crate) fn known_tool(&self, name: &str) -> Option<Value> {
        let tools = self.0.tools.read();
        tools.as_ref()?.find(name).cloned()
    }

    /// Whether a tool can only be called as a task, if its server says so.
    fn runs_as_task(&self, name: &str) -> bool {
        let tools = self.0.tools.read();
        let tool = tools.as_ref().and_then(|tools| tools.find(name));
        tool.is_some_and(|tool| tool["execution"]["taskSupport"] == "required")
    }

    /// Why the structured content of a result violates the tool's output schema, if the tools were
    /// listed already.
    pub(crate) fn output_violation(&self, tool: &str, value: &Value) -> Option<String> {
        let check = self.0.outputs.lock().get(tool).cloned();
        let check = check.unwrap_or_else(|| {
            let schema = self.known_tool(tool)?.get("outputSchema").cloned();
            // A schema that cannot be compiled is no reason to refuse results.
            let check = schema.and_then(|schema| ToolCheck::of_result_schema(&schema).ok());
            self.0.outputs.lock().insert(tool.to_owned(), check.clone());
            check
        });
        check?.fits(&value.to_string()).err().map(|rejection| rejection.of_result())
    }

    /// Whether the client of the connection receives progress and messages of the server.
    pub(crate) fn has_hearing_client(&self) -> bool {
        self.0.client.as_ref().is_some_and(|client| client.hears())
    }

    /// Calls a tool, and returns its result as sent by the server.
    pub(crate) async fn call<'c>(
        &'c self,
        tool: &'c str,
        arguments: &'c Map<String, Value>,
        max_answer: usize,
        origin: RequestOrigin,
    ) -> Result<Value, UpstreamError> {
        self.0.is_used.store(true, Ordering::Release);
        self.over_connection(|connection| {
            let origin = origin.clone();
            Box::pin(async move {
                let headers = self.param_headers(&connection, tool, arguments).await?;
                let options = RequestOptions { max_answer: Some(max_answer), origin, headers };
                if !connection.is_modern() && self.runs_as_task(tool) {
                    connection.call_as_task(tool, arguments.clone(), options).await
                } else {
                    connection.call(tool, arguments.clone(), options).await
                }
            })
        })
        .await
    }

    /// Makes a request over the connection, and again over another one if the session is lost: then
    /// the server has not run it.
    async fn over_connection<'c>(
        &self,
        request: impl Fn(Arc<Connection>) -> BoxFuture<'c, Result<Value, UpstreamError>>,
    ) -> Result<Value, UpstreamError> {
        let mut connection = self.connection().await?;
        let mut outcome = request(Arc::clone(&connection)).await;
        if matches!(outcome, Err(UpstreamError::LostSession)) {
            connection = self.connection().await?;
            outcome = request(Arc::clone(&connection)).await;
        }
        if let Err(UpstreamError::NoAnswer(error)) = &outcome {
            self.abandon_if_broken(&connection, error);
        }
        outcome
    }

    /// The headers that a call has over HTTP, which depend on the schema of the tool.
    async fn param_headers(
        &self,
        connection: &Arc<Connection>,
        tool: &str,
        arguments: &Map<String, Value>,
    ) -> Result<Vec<(HeaderName, HeaderValue)>, InvocationError> {
        if !connection.is_modern() || !matches!(self.0.address.place, ServerPlace::Url(_)) {
            return Ok(Vec::new());
        }
        // Without the tools, the call says what is wrong.
        let tools = self.tools_of(connection).await.unwrap_or_default();
        let tool = tools.find(tool);
        let Some(tool) = tool else { return Ok(Vec::new()) };
        param_headers(&tool["inputSchema"], arguments).map_err(|why| {
            let server = connection.name();
            InvocationError::failure(format!("a tool of {server} cannot be called: {why}"))
        })
    }

    /// What the server said about itself, if it was connected to already.
    pub(crate) fn introduction(&self) -> Option<Arc<Introduction>> {
        self.0.introduction.read().clone()
    }

    /// The instructions of the server, if it was connected to already.
    pub fn instructions(&self) -> Option<String> {
        self.introduction()?.instructions().map(str::to_owned)
    }

    /// The capabilities that the server announces. It is connected to if need be.
    pub async fn announced_capabilities(&self) -> Result<Map<String, Value>, UpstreamError> {
        if let Some(known) = self.introduction() {
            return Ok(known.capabilities());
        }
        Ok(self.connection().await?.introduction().capabilities())
    }

    /// Whether both share one connection.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Whether sessions share the connection, even those with servers of their own.
    pub fn is_shared(&self) -> bool {
        self.0.is_shared
    }

    /// Makes a request for the client, and gives the result exactly as the server sent it. An answer
    /// has at most `max_answer` bytes.
    pub async fn request<'c>(
        &'c self,
        method: &'c str,
        params: Option<Value>,
        max_answer: usize,
        origin: RequestOrigin,
    ) -> Result<Value, UpstreamError> {
        let options =
            RequestOptions { max_answer: Some(max_answer), origin, ..RequestOptions::default() };
        self.over_connection(|connection| {
            let (params, options) = (params.clone(), options.clone());
            Box::pin(async move { connection.request(method, params, &options).await })
        })
        .await
    }

    /// Sends a notification of the client, if there is a connection.
    pub async fn notify(&self, method: &str, params: Option<Value>) {
        let open = self.0.link.lock().opening.as_ref().map(|opening| opening.outcome.clone());
        let open = open.and_then(|outcome| outcome.borrow().clone());
        if let Some(Ok(connection)) = open {
            connection.notify(method, params).await;
        }
    }

    fn abandon_if_broken(&self, connection: &Arc<Connection>, error: &InvocationError) {
        let is_broken =
            matches!(error.kind, InvocationErrorKind::Died | InvocationErrorKind::Unreachable);
        if connection.is_over() || is_broken {
            self.abandon(connection, error);
        }
    }

    /// That the server lacks a tool, if it does; the server is asked if need be.
    pub(crate) async fn missing(&self, tool: &str) -> Option<InvocationError> {
        let connection = self.connection().await.ok()?;
        self.tools_of(&connection).await.ok()?;
        self.known_missing(tool).map(InvocationError::failure)
    }

    /// The names of the server's tools, if they were asked for already.
    pub(crate) fn known_names(&self) -> Option<Vec<String>> {
        let tools = self.0.tools.read();
        let names = tools.as_ref()?.names();
        Some(names.map(str::to_owned).collect())
    }

    /// That the server lacks a tool, if its tools were asked for already.
    pub(crate) fn known_missing(&self, tool: &str) -> Option<String> {
        let tools = self.0.tools.read();
        let tools = tools.as_ref()?;
        let names = || tools.names();
        if names().any(|name| name == tool) {
            return None;
        }
        let (server, tool) = (&self.0.address, sanitize_line(tool));
        let mut detail = format!("the MCP server {server} has no tool `{tool}`");
        if let Some(question) = gramc_model::did_you_mean(&tool, names()) {
            detail += "; ";
            detail += &question;
        }
        Some(detail)
    }

    async fn tools_of(
        &self,
        connection: &Arc<Connection>,
    ) -> Result<Arc<ListedTools>, InvocationError> {
        let tools = connection.tools().await.inspect_err(|error| {
            if connection.is_over() {
                self.abandon(connection, error);
            }
        })?;
        let before = self.0.tools.write().replace(Arc::clone(&tools));
        if before.is_none_or(|before| !Arc::ptr_eq(&before, &tools)) {
            self.0.outputs.lock().clear();
        }
        Ok(tools)
    }

    /// The connection, which is opened if need be.
    async fn connection(&self) -> ConnectionResult {
        self.open_connection(false).await
    }

    async fn open_connection(&self, is_keeper: bool) -> ConnectionResult {
        // A server that does not listen any more is given up, and started again; that once.
        for _ in 0..2 {
            let client = || ClientSlot::of(self.0.client.clone());
            let (mut outcome, number) =
                self.0.link.lock().open(&self.0.address, client, is_keeper)?;
            let opened = match outcome.wait_for(Option::is_some).await {
                Ok(opened) => opened.clone(),
                Err(_) => None,
            };
            match opened {
                Some(Ok(connection)) if connection.listens().await => {
                    *self.0.introduction.write() = Some(Arc::clone(connection.introduction()));
                    return Ok(connection);
                }
                Some(Ok(connection)) => {
                    let silent = format!("{} does not listen any more", connection.name());
                    self.abandon(&connection, &InvocationError::unreachable(silent));
                }
                Some(Err(error)) => {
                    self.0.link.lock().count_failure(number, &error);
                    return Err(error);
                }
                // It was closed concurrently.
                None => self.0.link.lock().forget(number),
            }
        }
        Err(InvocationError::unreachable("the MCP server was closed while it was needed"))
    }

    /// Uses a connection no more. Other calls that are under way on it may still end well.
    fn abandon(&self, connection: &Arc<Connection>, error: &InvocationError) {
        let mut link = self.0.link.lock();
        let number = link.opening.as_ref().and_then(|opening| match &*opening.outcome.borrow() {
            Some(Ok(open)) if Arc::ptr_eq(open, connection) => Some(opening.number),
            _ => None,
        });
        match number {
            Some(number) if connection.is_proven() => {
                link.forget(number);
                link.failures = 0;
            }
            Some(number) => link.count_failure(number, error),
            // It was counted before.
            None => {}
        }
    }
}

/// The server without the arguments and credentials, which may be secret.
impl Display for McpServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.address.fmt(f)
    }
}

impl fmt::Debug for McpServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("McpServer").field(&self.0.address.to_string()).finish()
    }
}
