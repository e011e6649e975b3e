//! A bound library as an MCP server.
//!
//! The protocol is spoken by the crate `rmcp`: the revision 2026-07-28, and those before it for
//! older clients. What stands here says which tools there are ([`Server`]), and carries each call
//! through a session of the library. So a client hears of a bad call what any model hears, and
//! nothing undeclared reaches an implementation.
//!
//! A connection over standard input and output has a session of its own, and so has each session
//! of HTTP. From the revision 2026-07-28 on, HTTP has no sessions: all such clients share one.

mod answer;
mod catalog;
mod connection;
mod http;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use gram_check::Valid;
use gram_model::Module;
use gram_tools::Bound;
use rmcp::service::{RoleServer, ServerInitializeError, ServiceExt as _};
use rmcp::transport::IntoTransport;
use tokio::sync::{RwLock, RwLockWriteGuard};
use tokio_util::sync::CancellationToken;

use self::catalog::Catalog;
use self::connection::{Connection, Conversation};
pub use self::http::Listener;

/// How long calls that run may go on when the server is to end.
const LAST_CALLS: Duration = Duration::from_secs(5);

/// How long their answers may be on their way.
const LAST_ANSWERS: Duration = Duration::from_millis(50);

/// Why nothing can be served, in a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServeError {
    /// A tool has what the protocol cannot hold.
    Tool(String),
    /// What the client says is not the protocol.
    Client(String),
    /// The address is none that can be listened at.
    Address(String),
    /// Others can connect at the address, and there is no token.
    NoToken(String),
}

impl fmt::Display for ServeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tool(why) | Self::Client(why) | Self::Address(why) | Self::NoToken(why) => {
                f.write_str(why)
            }
        }
    }
}

impl std::error::Error for ServeError {}

/// An MCP server for the tools of a bound library. Cheap to clone, and shared by all connections.
#[derive(Debug, Clone)]
pub struct Server(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    catalog: Catalog,
    bound: Bound,
    /// What clients without sessions share.
    sessionless: Conversation,
    /// Calls read this while they run, so that whoever can write knows that none does.
    running: RwLock<()>,
}

impl Server {
    /// A server for all tools of a specification, those of imported files included.
    ///
    /// # Errors
    ///
    /// A tool has what the protocol cannot hold.
    pub fn new(module: &Valid<Module>, bound: &Bound) -> Result<Self, ServeError> {
        let catalog = Catalog::new(module)?;
        let sessionless = Conversation::new(bound, &catalog);
        let running = RwLock::default();
        Ok(Self(Arc::new(Inner { catalog, bound: bound.clone(), sessionless, running })))
    }

    /// Serves one client over standard input and output, until it hangs up or `until` is over.
    /// Calls that run then have five seconds to end.
    ///
    /// # Errors
    ///
    /// What the client says at first is not the protocol.
    pub async fn over_stdio(&self, until: impl Future<Output = ()>) -> Result<(), ServeError> {
        self.over(rmcp::transport::io::stdio_pipes(), until).await
    }

    /// Serves one client over any transport, as [`Self::over_stdio`] does.
    ///
    /// # Errors
    ///
    /// What the client says at first is not the protocol.
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
        let work = async {
            match self.connection().serve_with_ct(transport, stop.clone()).await {
                Ok(service) => {
                    // It ends when the client hangs up or `stop` says so; both are right.
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
        let mut work = std::pin::pin!(work);
        tokio::select! {
            outcome = &mut work => outcome,
            () = until => {
                let _nobody = self.last_calls().await;
                stop.cancel();
                work.await
            }
        }
    }

    /// Waits for the calls that run, for a while. While somebody holds what this gives, no other
    /// call begins.
    async fn last_calls(&self) -> Option<RwLockWriteGuard<'_, ()>> {
        let ended = tokio::time::timeout(LAST_CALLS, self.0.running.write()).await.ok();
        // The last answers are still on their way through other tasks, which nobody hears of.
        tokio::time::sleep(LAST_ANSWERS).await;
        ended
    }

    /// What serves a new connection.
    fn connection(&self) -> Connection {
        Connection::new(self)
    }
}

#[cfg(test)]
mod tests;
