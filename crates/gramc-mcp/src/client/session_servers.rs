//! The MCP servers of libraries and sessions.

use std::sync::{Arc, OnceLock};

use gramc_tools::invocation::{CloseFuture, SessionResource, SessionResources};
use gramc_tools::{Bound, Session, SessionClient, ToolLibrary};
use parking_lot::Mutex;
use smol_str::SmolStr;

use super::McpServer;

/// An MCP server of a library.
#[derive(Clone)]
pub struct LibraryServer {
    /// The server.
    pub server: McpServer,
    /// Whether the library uses all its tools, and with them everything else that it offers.
    pub is_whole: bool,
    /// The beginning of the names of its tools and prompts, as clients know them.
    pub prefix: SmolStr,
}

/// Makes servers those of a library, in this order.
pub fn with_servers(library: ToolLibrary, servers: Vec<LibraryServer>) -> ToolLibrary {
    library.with_servers(Arc::new(servers))
}

/// The MCP servers of a library, in its order.
pub fn library_servers(bound: &Bound) -> &[LibraryServer] {
    let servers = bound.servers().and_then(|servers| servers.downcast_ref::<Vec<LibraryServer>>());
    servers.map_or(&[], Vec::as_slice)
}

/// The MCP servers of a session's library, in its order, with the connections of the session.
pub fn session_servers(session: &Session) -> Vec<LibraryServer> {
    let own = session.resources().map(SessionResources::get::<SessionServers>);
    let of = |server: &LibraryServer| match &own {
        Some(own) => LibraryServer { server: own.of(&server.server), ..server.clone() },
        None => server.clone(),
    };
    library_servers(session.bound()).iter().map(of).collect()
}

/// Lets the session's own MCP servers send requests and notifications to its client. Servers that
/// were connected before do not, and neither do those that sessions share.
pub fn attach_client(session: &Session, client: Arc<dyn SessionClient>) {
    if let Some(resources) = session.resources() {
        resources.get::<SessionServers>().attach(client);
    }
}

/// The MCP servers of one session. A session that has none shares those of its library.
#[derive(Default)]
pub(crate) struct SessionServers {
    servers: Mutex<Vec<(McpServer, McpServer)>>,
    client: OnceLock<Arc<dyn SessionClient>>,
}

impl SessionServers {
    /// Sets the client of the session, to which its own servers speak from now on. The first one
    /// stays.
    pub(crate) fn attach(&self, client: Arc<dyn SessionClient>) {
        let _ = self.client.set(client);
    }

    /// The session's own connection to a server of the library, unless the server is shared.
    pub(crate) fn of(&self, server: &McpServer) -> McpServer {
        if server.is_shared() {
            return server.clone();
        }
        let mut known = self.servers.lock();
        let own = known.iter().find(|(known, _)| known.is_same(server));
        if let Some((_, own)) = own {
            return own.clone();
        }
        let own = server.fork(self.client.get().cloned());
        known.push((server.clone(), own.clone()));
        own
    }
}

impl SessionResource for SessionServers {
    fn close(self: Arc<Self>) -> CloseFuture {
        Box::pin(async move {
            let servers = std::mem::take(&mut *self.servers.lock());
            let closing = servers.iter().map(|(_, own)| own.close());
            futures_util::future::join_all(closing).await;
        })
    }
}
