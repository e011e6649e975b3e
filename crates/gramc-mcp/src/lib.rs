//! A bound library as an MCP server.
//!
//! [`Server`] speaks the protocol in revision 2026-07-28 and older ones. It lists the tools and runs each
//! call in a session of the library, which checks it before the implementation runs. Messages are JSON
//! from end to end, so that whatever gramc does not know arrives as it was sent.
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
mod endpoint;
mod error;
mod finder;
mod http;
mod lines;
mod message;
mod metrics;
mod offer;
mod outbox;
mod param_headers;
mod peer;
mod program;
mod protocol;
mod questions;
mod request;
mod request_context;
mod sessions;
mod sign_in_page;
mod stdio;
mod subscription;
mod tasks;
mod tracer;
mod upstream;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use gramc_check::Valid;
use gramc_model::Module;
use gramc_schema::Target;
use gramc_tools::Bound;
use gramc_tools::approval::Approvals;
pub use gramc_tools::{CallObserver, FinishedCall};
use smol_str::SmolStr;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{RwLock, RwLockWriteGuard};

use self::connection::OwnConversation;
pub use self::error::ServeError;
pub use self::finder::search_tools;
pub use self::http::Listener;
use self::metrics::Metrics;
pub use self::offer::{LiveServer, LiveTools};
use self::offer::{Offer, OfferForm, OfferSource};
pub use self::program::{ProgramServer, bridge};
use self::questions::RestingRequests;
pub use self::sign_in_page::SignInPage;
pub use self::tracer::{CallFailure, CallSpan, CallTracer, StartedCall};
pub use self::upstream::{MEMBER_LIMIT, name_clashes};

/// Maximum time for running calls to end at shutdown.
const MAX_DRAIN_TIME: Duration = Duration::from_secs(5);

/// Time for the last responses to be sent at shutdown.
const RESPONSE_DRAIN_TIME: Duration = Duration::from_millis(50);

/// How a server treats calls.
#[derive(Default)]
pub struct ServerOptions {
    /// Whether clients get two tools in place of all others: `find_tools`, which returns
    /// definitions, and `call_tool`, which calls any tool.
    pub has_finder: bool,
    /// Names, descriptions and schemas of tools follow the rules of this target, and its changes are
    /// undone in calls.
    pub target: Option<Target>,
    /// Calls that have to be approved are approved by the approver, if there is one, and else by the
    /// client, if it supports elicitation.
    pub approvals: Approvals,
    /// Calls are reported to it.
    pub observer: Option<Box<CallObserver>>,
    /// Traces calls.
    pub tracer: Option<Box<CallTracer>>,
}

impl ServerOptions {
    const fn form(&self) -> OfferForm {
        OfferForm { has_finder: self.has_finder, target: self.target }
    }
}

impl fmt::Debug for ServerOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerOptions")
            .field("has_finder", &self.has_finder)
            .finish_non_exhaustive()
    }
}

/// An MCP server for the tools of a bound library. Cheap to clone, and shared by all connections.
#[derive(Clone)]
pub struct Server(Arc<ServerInner>);

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Server")
    }
}

struct ServerInner {
    source: OfferSource,
    approvals: Approvals,
    /// The tools and containers that clients see. `None` for all.
    scope: Option<Arc<[SmolStr]>>,
    /// The conversation shared by all clients without sessions.
    sessionless: Arc<OwnConversation>,
    /// The requests that take more than one exchange with their clients.
    resting: RestingRequests,
    /// Read-locked by running calls, so a write lock waits until none runs.
    running: RwLock<()>,
    metrics: Metrics,
    observer: Option<Box<CallObserver>>,
    tracer: Option<Box<CallTracer>>,
}

impl Server {
    /// Creates a server for all tools of a module, including those of imported files.
    pub fn new(module: &Valid<Module>, bound: &Bound) -> Result<Self, ServeError> {
        Self::with_options(module, bound, ServerOptions::default())
    }

    /// Creates a server like [`Self::new`], with options.
    pub fn with_options(
        module: &Valid<Module>,
        bound: &Bound,
        options: ServerOptions,
    ) -> Result<Self, ServeError> {
        let offer = Offer::new(module, bound.clone(), options.form())?;
        Ok(Self::of_source(OfferSource::Fixed(Arc::new(offer)), None, options))
    }

    /// Creates a server for the tools of a running server, each client of which has its own
    /// connection to it.
    pub fn live(server: Box<dyn LiveServer>, options: ServerOptions) -> Self {
        let source = OfferSource::Live { server, form: options.form() };
        Self::of_source(source, None, options)
    }

    fn of_source(
        source: OfferSource,
        scope: Option<Arc<[SmolStr]>>,
        options: ServerOptions,
    ) -> Self {
        Self(Arc::new(ServerInner {
            source,
            approvals: options.approvals,
            scope,
            sessionless: Arc::default(),
            resting: RestingRequests::default(),
            running: RwLock::default(),
            metrics: Metrics::default(),
            observer: options.observer,
            tracer: options.tracer,
        }))
    }

    /// What of the tools is not checked, as warnings.
    pub fn warnings(&self) -> Vec<String> {
        match &self.0.source {
            OfferSource::Fixed(offer) => offer.catalog.warnings(),
            OfferSource::Live { .. } => Vec::new(),
        }
    }

    /// Serves one client over standard input and output until it disconnects or `until` completes.
    /// Running calls then have five seconds to end.
    pub async fn over_stdio(&self, until: impl Future<Output = ()>) -> Result<(), ServeError> {
        let (input, output) = rmcp::transport::io::stdio_pipes();
        self.over(input, output, until).await
    }

    /// Serves one client over any input and output, like [`Self::over_stdio`].
    pub async fn over(
        &self,
        input: impl AsyncRead + Unpin,
        output: impl AsyncWrite + Unpin + Send + 'static,
        until: impl Future<Output = ()>,
    ) -> Result<(), ServeError> {
        stdio::serve(self, input, output, until).await
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
