//! A server that a library keeps a connection to.

use std::any::Any;
use std::collections::HashMap;
use std::fmt::{self, Display};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use parking_lot::{Mutex, RwLock};
use serde_json::{Map, Value};
use tokio::sync::watch;
use tokio::task::AbortHandle;
use tokio::time::Instant;

use super::McpError;
use super::connection::{Connection, ServerAddress};
use crate::check::ToolCheck;
use crate::environment::ProgramEnvironment;
use crate::http_client::{self, RequestHeaders};
use crate::invocation::{CloseFuture, InvocationError, InvocationErrorKind, SessionResource};
use crate::sanitize::sanitize_line;

/// How long a server may take to begin. `npx` and its like install a server before they start it,
/// which can take most of a minute.
const START_LIMIT: Duration = Duration::from_mins(1);
/// The longest wait before a broken server is tried again. The waits begin with none, and then
/// double from one second on.
const MAX_WAIT: Duration = Duration::from_mins(1);

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
    link: Mutex<ServerLink>,
    /// The tools that were listed last.
    tools: RwLock<Option<Arc<[Value]>>>,
    /// The checks of their results, by tool.
    outputs: Mutex<HashMap<String, Option<ToolCheck>>>,
}

/// The MCP servers of one session. A session that has none shares those of its library.
#[derive(Debug, Default)]
pub(crate) struct SessionServers(Mutex<Vec<(McpServer, McpServer)>>);

impl SessionServers {
    /// The session's own connection to a server of the library, unless the server is shared.
    pub(crate) fn of(&self, server: &McpServer) -> McpServer {
        if server.0.is_shared {
            return server.clone();
        }
        let mut known = self.0.lock();
        let own = known.iter().find(|(known, _)| Arc::ptr_eq(&known.0, &server.0));
        if let Some((_, own)) = own {
            return own.clone();
        }
        let own = server.fork();
        known.push((server.clone(), own.clone()));
        own
    }
}

impl SessionResource for SessionServers {
    fn as_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync> {
        self
    }

    fn close(self: Arc<Self>) -> CloseFuture {
        Box::pin(async move {
            let servers = std::mem::take(&mut *self.0.lock());
            let closing = servers.iter().map(|(_, own)| own.close());
            futures_util::future::join_all(closing).await;
        })
    }
}

/// The state of a connection.
#[derive(Default)]
struct ServerLink {
    opening: Option<ConnectionAttempt>,
    /// How often in a row it could not be opened, or broke before it was of use.
    failures: u32,
    /// When it may be tried again, and why not before.
    wait: Option<(Instant, InvocationError)>,
    /// Tells one opening from another.
    count: u64,
}

type ConnectionResult = Result<Arc<Connection>, InvocationError>;

/// A connection that is open or being opened. A separate task opens it, so that it is there for the
/// next caller if the first one gives up.
struct ConnectionAttempt {
    outcome: watch::Receiver<Option<ConnectionResult>>,
    task: AbortHandle,
    number: u64,
}

impl Drop for ConnectionAttempt {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn open(address: ServerAddress) -> ConnectionResult {
    if let ServerAddress::Command { words, .. } = &address
        && words.is_empty()
    {
        return Err(unreachable(McpError::EmptyCommand));
    }
    Connection::open(&address, START_LIMIT).await.map(Arc::new).map_err(unreachable)
}

fn unreachable(detail: impl Display) -> InvocationError {
    InvocationError::new(InvocationErrorKind::Unreachable, detail.to_string())
}

impl McpServer {
    /// The server that a program is, with its arguments, run in `folder`. A program whose name
    /// holds a path separator is looked for from there.
    pub fn command(words: Vec<String>, folder: impl Into<PathBuf>) -> Self {
        Self::command_with(words, ProgramEnvironment::in_folder(&folder.into()))
    }

    /// The server that a program is, with its arguments and its environment.
    pub fn command_with(words: Vec<String>, environment: ProgramEnvironment) -> Self {
        let environment = Arc::new(environment);
        Self::new(ServerAddress::Command { words: words.into(), environment }, false)
    }

    /// The server at an address, over streamable HTTP. Fails where that is no whole URL.
    pub fn url(url: &str) -> Result<Self, InvocationError> {
        Self::url_with(url, RequestHeaders::default())
    }

    /// The server at an address, which gets headers with each request. Fails as [`Self::url`] does.
    pub fn url_with(url: &str, headers: RequestHeaders) -> Result<Self, InvocationError> {
        let url = http_client::address(url).ok_or_else(|| unreachable(McpError::InvalidAddress))?;
        let (url, headers) = (Arc::new(url), Arc::new(headers));
        Ok(Self::new(ServerAddress::Url { url, headers }, false))
    }

    fn new(address: ServerAddress, is_shared: bool) -> Self {
        Self(Arc::new(ServerState {
            address,
            is_shared,
            is_used: AtomicBool::new(false),
            link: Mutex::default(),
            tools: RwLock::default(),
            outputs: Mutex::default(),
        }))
    }

    /// The same server, whose connection is shared even by sessions with servers of their own.
    #[must_use]
    pub fn shared(&self) -> Self {
        Self::new(self.0.address.clone(), true)
    }

    /// The same server with a connection of its own. It takes over the one that there is, if no
    /// tool was called over it.
    fn fork(&self) -> Self {
        let fork = Self::new(self.0.address.clone(), false);
        if !self.0.is_used.load(Ordering::Acquire) {
            *fork.0.link.lock() = std::mem::take(&mut *self.0.link.lock());
        }
        fork.0.tools.write().clone_from(&self.0.tools.read());
        fork
    }

    /// Opens the connection and asks for the tools, unless that was done already. Fails where the
    /// server cannot be reached, ends, or does not answer within a minute.
    pub async fn connect(&self) -> Result<(), InvocationError> {
        self.tools().await.map(drop)
    }

    /// The tools of the server, each exactly as it sent them. It is asked once a connection, and
    /// again when it said that it has other tools. Fails as [`McpServer::connect`] does.
    pub async fn tools(&self) -> Result<Vec<Value>, InvocationError> {
        let connection = self.connection().await?;
        Ok(self.tools_of(&connection).await?.to_vec())
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

    /// A tool as the server lists it, if its tools were asked for already.
    pub(crate) fn known_tool(&self, name: &str) -> Option<Value> {
        let tools = self.0.tools.read();
        tools.as_ref()?.iter().find(|tool| tool["name"] == name).cloned()
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

    /// Calls a tool, and gives the message that answers the call and the server's name.
    pub(crate) async fn call(
        &self,
        tool: &str,
        arguments: Map<String, Value>,
        max_answer: usize,
    ) -> Result<(String, String), InvocationError> {
        self.0.is_used.store(true, Ordering::Release);
        let connection = self.connection().await?;
        match connection.call(tool, arguments, max_answer).await {
            Ok(message) => Ok((message, connection.name().to_owned())),
            Err(error) => {
                if connection.is_over()
                    || matches!(
                        error.kind,
                        InvocationErrorKind::Died | InvocationErrorKind::Unreachable
                    )
                {
                    self.abandon(&connection, &error);
                }
                Err(error)
            }
        }
    }

    /// That the server lacks a tool, if it does; the server is asked if need be.
    pub(crate) async fn missing(&self, tool: &str) -> Option<InvocationError> {
        let connection = self.connection().await.ok()?;
        self.tools_of(&connection).await.ok()?;
        let detail = self.known_missing(tool)?;
        Some(InvocationError::new(InvocationErrorKind::Failed, detail))
    }

    /// The names of the server's tools, if they were asked for already.
    pub(crate) fn known_names(&self) -> Option<Vec<String>> {
        let tools = self.0.tools.read();
        let names = tools.as_ref()?.iter().filter_map(|tool| tool["name"].as_str());
        Some(names.map(str::to_owned).collect())
    }

    /// That the server lacks a tool, if its tools were asked for already.
    pub(crate) fn known_missing(&self, tool: &str) -> Option<String> {
        let tools = self.0.tools.read();
        let tools = tools.as_ref()?;
        let names = || tools.iter().filter_map(|tool| tool["name"].as_str());
        if names().any(|name| name == tool) {
            return None;
        }
        let (server, tool) = (&self.0.address, sanitize_line(tool));
        let mut detail = format!("the MCP server {server} has no tool `{tool}`");
        if let Some(question) = gram_model::did_you_mean(&tool, names()) {
            detail += "; ";
            detail += &question;
        }
        Some(detail)
    }

    async fn tools_of(
        &self,
        connection: &Arc<Connection>,
    ) -> Result<Arc<[Value]>, InvocationError> {
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
        // A server that does not listen any more is given up, and started again; that once.
        for _ in 0..2 {
            let (mut outcome, number) = self.0.link.lock().open(&self.0.address)?;
            let opened = match outcome.wait_for(Option::is_some).await {
                Ok(opened) => opened.clone(),
                Err(_) => None,
            };
            match opened {
                Some(Ok(connection)) if connection.listens().await => return Ok(connection),
                Some(Ok(connection)) => {
                    let silent = format!("{} does not listen any more", connection.name());
                    self.abandon(&connection, &unreachable(silent));
                }
                Some(Err(error)) => {
                    self.0.link.lock().failed(number, &error);
                    return Err(error);
                }
                // It was closed concurrently.
                None => self.0.link.lock().forget(number),
            }
        }
        Err(unreachable("the MCP server was closed while it was needed"))
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
            Some(number) => link.failed(number, error),
            // It was counted before.
            None => {}
        }
    }
}

impl ServerLink {
    /// The connection that there is, or else a new one, with its number. Fails where it is too
    /// early to try again.
    fn open(
        &mut self,
        address: &ServerAddress,
    ) -> Result<(watch::Receiver<Option<ConnectionResult>>, u64), InvocationError> {
        if let Some(opening) = &self.opening {
            return Ok((opening.outcome.clone(), opening.number));
        }
        if let Some((moment, error)) = &self.wait {
            let left = moment.saturating_duration_since(Instant::now());
            if !left.is_zero() {
                // Rounded up, so that it is true.
                let seconds = left.as_secs() + 1;
                let detail = format!("{}\nIt is tried again in {seconds} s.", error.detail);
                return Err(unreachable(detail));
            }
        }
        self.count += 1;
        let (tell, outcome) = watch::channel(None);
        let address = address.clone();
        let task = tokio::spawn(async move {
            let opened = open(address).await;
            // The receiver may be gone.
            let _ = tell.send(Some(opened));
        });
        let opening = ConnectionAttempt {
            outcome: outcome.clone(),
            task: task.abort_handle(),
            number: self.count,
        };
        self.opening = Some(opening);
        Ok((outcome, self.count))
    }

    fn forget(&mut self, number: u64) {
        if self.opening.as_ref().is_some_and(|opening| opening.number == number) {
            self.opening = None;
        }
    }

    /// Counts a connection that was of no use. The first time the next one may begin at once.
    fn failed(&mut self, number: u64, error: &InvocationError) {
        // Another caller has counted it.
        if self.opening.as_ref().is_none_or(|opening| opening.number != number) {
            return;
        }
        self.opening = None;
        self.failures = self.failures.saturating_add(1);
        let wait = match self.failures {
            1 => Duration::ZERO,
            failures => {
                let doubled = 1_u64.checked_shl(failures - 2).unwrap_or(u64::MAX);
                Duration::from_secs(doubled).min(MAX_WAIT)
            }
        };
        self.wait = Some((Instant::now() + wait, error.clone()));
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
