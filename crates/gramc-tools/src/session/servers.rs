//! The MCP servers behind a session.

use std::sync::Arc;

use super::Session;
use crate::invocation::SessionResources;
use crate::mcp::{LibraryServer, SessionClient, SessionServers};

impl Session {
    /// Lets the session's own MCP servers speak to its client. Servers that were connected to
    /// before do not, and neither do those that sessions share.
    pub fn attach_client(&self, client: Arc<dyn SessionClient>) {
        if let Some(resources) = &self.resources {
            resources.get::<SessionServers>().attach(client);
        }
    }

    /// The MCP servers of the library, in its order, with the connections of this session.
    pub fn servers(&self) -> Vec<LibraryServer> {
        let own = self.resources.as_ref().map(SessionResources::get::<SessionServers>);
        let of = |server: &LibraryServer| match &own {
            Some(own) => LibraryServer { server: own.of(&server.server), ..server.clone() },
            None => server.clone(),
        };
        self.bound.servers().iter().map(of).collect()
    }
}
