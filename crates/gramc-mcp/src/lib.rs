//! A bound library as an MCP server.
//!
//! The crate `rmcp` implements the protocol, in revision 2026-07-28 and older ones. [`Server`] lists
//! the tools and runs each call in a session of the library, which checks it before the
//! implementation runs.
//!
//! Each stdio connection and each HTTP session has its own session of the library. From revision
//! 2026-07-28 on, HTTP has no sessions, so all its clients share one.
//!
//! [`client`] is the other side: it makes the tools of MCP servers implementations of a library.

mod answer;
mod approval;
mod catalog;
pub mod client;
mod client_link;
mod connection;
mod conversation;
mod error;
mod finder;
mod http;
mod json_connection;
mod message;
mod metrics;
mod program;
mod protocol;
mod questions;
mod request;
mod sessions;
mod sign_in_page;
mod tasks;
mod upstream;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use gramc_check::Valid;
use gramc_model::Module;
use gramc_tools::approval::Approvals;
use gramc_tools::{Bound, Callers};
pub use gramc_tools::{CallObserver, FinishedCall};
use rmcp::service::{RoleServer, ServerInitializeError, ServiceExt as _};
use rmcp::transport::IntoTransport;
use smol_str::SmolStr;
use tokio::sync::{RwLock, RwLockWriteGuard};
use tokio_util::sync::CancellationToken;

use self::catalog::Catalog;
use self::connection::Connection;
use self::conversation::Conversation;
pub use self::error::ServeError;
use self::finder::Finder;
pub use self::finder::search_tools;
pub use self::http::Listener;
use self::json_connection::JsonConnection;
use self::metrics::Metrics;
pub use self::program::{ProgramServer, bridge};
use self::questions::RestingRequests;
pub use self::sign_in_page::SignInPage;
pub use self::upstream::name_clashes;

/// Maximum time for running calls to end at shutdown.
const MAX_DRAIN_TIME: Duration = Duration::from_secs(5);

/// Time for the last responses to be sent at shutdown.
const RESPONSE_DRAIN_TIME: Duration = Duration::from_millis(50);

/// An MCP server for the tools of a bound library. Cheap to clone, and shared by all connections.
#[derive(Clone)]
pub struct Server(Arc<ServerInner>);

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Server")
    }
}

struct ServerInner {
    catalog: Arc<Catalog>,
    bound: Bound,
    approvals: Approvals,
    /// The tools and containers that clients see. `None` for all.
    scope: Option<Arc<[SmolStr]>>,
    /// The conversation shared by all clients without sessions.
    sessionless: Arc<Conversation>,
    /// The requests that take more than one exchange with their clients.
    resting: RestingRequests,
    /// Read-locked by running calls, so a write lock waits until none runs.
    running: RwLock<()>,
    metrics: Metrics,
    observer: Option<Box<CallObserver>>,
    /// Finds the tools, if clients do not see all of them.
    finder: Option<Finder>,
}

impl Server {
    /// Creates a server for all tools of a module, including those of imported files.
    pub fn new(module: &Valid<Module>, bound: &Bound) -> Result<Self, ServeError> {
        Self::with_observer(module, bound, &Approvals::default(), None)
    }

    /// Creates a server like [`Self::new`], whose calls are reported to an observer. Calls that have
    /// to be approved are approved by the approver, if there is one, and else by the client, if it
    /// supports elicitation.
    pub fn with_observer(
        module: &Valid<Module>,
        bound: &Bound,
        approvals: &Approvals,
        observer: Option<Box<CallObserver>>,
    ) -> Result<Self, ServeError> {
        let catalog = Arc::new(Catalog::new(module, bound));
        Ok(Self::with_scope(catalog, bound, approvals, None, observer))
    }

    fn with_scope(
        catalog: Arc<Catalog>,
        bound: &Bound,
        approvals: &Approvals,
        scope: Option<Arc<[SmolStr]>>,
        observer: Option<Box<CallObserver>>,
    ) -> Self {
        let callers = Callers::Many;
        let conversation = Conversation::new(bound, &catalog, approvals, scope.as_deref(), callers);
        Self(Arc::new(ServerInner {
            catalog,
            bound: bound.clone(),
            approvals: approvals.clone(),
            scope,
            sessionless: Arc::new(conversation),
            resting: RestingRequests::default(),
            running: RwLock::default(),
            metrics: Metrics::default(),
            observer,
            finder: None,
        }))
    }

    /// The server with two tools in place of all others: `find_tools`, which returns definitions, and
    /// `call_tool`, which calls any tool.
    /// Fails if the server serves clients already.
    pub fn with_search(mut self, module: &Valid<Module>) -> Result<Self, ServeError> {
        let shared = || ServeError::Tool("the server is in use".to_owned());
        let inner = Arc::get_mut(&mut self.0).ok_or_else(shared)?;
        let finder = Finder::new(module, &inner.catalog.tools().collect::<Vec<_>>());
        inner.finder = Some(finder?);
        Ok(self)
    }

    /// Serves one client over standard input and output until it disconnects or `until` completes.
    /// Running calls then have five seconds to end.
    pub async fn over_stdio(&self, until: impl Future<Output = ()>) -> Result<(), ServeError> {
        self.over(rmcp::transport::io::stdio_pipes(), until).await
    }

    /// Serves one client over any transport, like [`Self::over_stdio`].
    pub async fn over<T, E, A>(
        &self,
        transport: T,
        until: impl Future<Output = ()>,
    ) -> Result<(), ServeError>
    where
        T: IntoTransport<RoleServer, E, A>,
        E: std::error::Error + Send + Sync + 'static,
    {
        let stop = CancellationToken::new();
        let connection = Connection::new(self);
        let conversation = connection.own_conversation();
        let work = async {
            match JsonConnection(connection).serve_with_ct(transport, stop.clone()).await {
                Ok(service) => {
                    // The client disconnected or `stop` was cancelled; neither is an error.
                    let _ = service.waiting().await;
                    Ok(())
                }
                Err(
                    ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled,
                ) => Ok(()),
                Err(error) => {
                    Err(ServeError::Client(format!("the client does not speak MCP: {error}")))
                }
            }
        };
        let mut work = Box::pin(work);
        let outcome = tokio::select! {
            outcome = &mut work => outcome,
            () = until => {
                let _no_new_calls = self.drain_calls().await;
                stop.cancel();
                work.await
            }
        };
        conversation.close().await;
        outcome
    }

    /// Waits for running calls, at most [`MAX_DRAIN_TIME`]. No call starts while the guard is held.
    async fn drain_calls(&self) -> Option<RwLockWriteGuard<'_, ()>> {
        // Their clients cannot answer any more.
        self.0.resting.end();
        let ended = tokio::time::timeout(MAX_DRAIN_TIME, self.0.running.write()).await.ok();
        // Other tasks still send the last responses, and there is no way to wait for them.
        tokio::time::sleep(RESPONSE_DRAIN_TIME).await;
        ended
    }
}

#[cfg(test)]
mod tests;
