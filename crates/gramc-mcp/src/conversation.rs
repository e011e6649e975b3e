//! The state of a conversation with a client.

use std::collections::HashSet;
use std::sync::{Arc, OnceLock};

use gramc_tools::approval::Approvals;
use gramc_tools::{Bound, CallError, Callers, Session, Verdict};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::Map;
use smol_str::SmolStr;
use tokio::sync::{Mutex, broadcast, watch};

use crate::catalog::Catalog;
use crate::client::{attach_client, session_servers};
use crate::client_link::{Change, ClientLink, capabilities_of, info_of};
use crate::protocol::is_modern;
use crate::upstream::Upstream;

/// A session of the library and its visible tools.
pub(crate) struct Conversation {
    pub(crate) session: Session,
    /// Number of visible tools and containers. Subscribers are notified when it changes.
    pub(crate) visible: watch::Sender<usize>,
    /// Changes of the MCP servers behind the library.
    pub(crate) changes: broadcast::Sender<Change>,
    /// The client, once it has made a request.
    client: OnceLock<Arc<ClientLink>>,
    /// Locked while the client is asked for approval.
    pub(crate) questions: Mutex<()>,
}

impl Conversation {
    pub(crate) fn new(
        bound: &Bound,
        catalog: &Catalog,
        approvals: &Approvals,
        scope: Option<&[SmolStr]>,
        callers: Callers,
    ) -> Self {
        let session = Session::new(bound).with_own_servers().with_callers(callers);
        let mut session = session.with_approvals(approvals.with_own_queue());
        let mut count = catalog.initial_count;
        if let Some(scope) = scope {
            session = session.scoped_to(scope.iter().map(SmolStr::as_str));
            count = session.visible().len();
        }
        let visible = watch::Sender::new(count);
        let (changes, client) = (ClientLink::changes(), OnceLock::new());
        Self { session, visible, changes, client, questions: Mutex::default() }
    }

    /// The client of the conversation, to which MCP servers may speak from now on.
    pub(crate) fn client(
        &self,
        context: &RequestContext<RoleServer>,
        is_sessionless: bool,
    ) -> &Arc<ClientLink> {
        self.client.get_or_init(|| {
            let client = Arc::new(if is_sessionless {
                // Servers of earlier revisions could not tell the clients apart.
                ClientLink::subscriber(Map::new(), None, &self.changes)
            } else if is_modern(context) {
                ClientLink::subscriber(capabilities_of(context), info_of(context), &self.changes)
            } else {
                ClientLink::new(context, &self.changes)
            });
            attach_client(&self.session, Arc::<ClientLink>::clone(&client));
            client
        })
    }

    /// The MCP servers behind the conversation.
    pub(crate) fn upstream(&self) -> Upstream {
        Upstream::new(session_servers(&self.session), self.session.bound())
    }

    /// Ends its MCP servers.
    pub(crate) async fn close(&self) {
        self.session.close().await;
    }

    pub(crate) fn visible(&self) -> HashSet<SmolStr> {
        self.session.visible().into_iter().collect()
    }

    /// Notifies subscribers if a call changed the visible tools. Returns whether it did.
    pub(crate) fn notify_if_changed(&self, verdict: &Verdict) -> bool {
        let expanded = match &verdict.outcome {
            Ok(success) => success.result.as_ref().is_some_and(|it| it.get("expanded").is_some()),
            Err(
                CallError::ContainerInvocation { expanded, .. }
                | CallError::ContainerNotExpanded { expanded, .. },
            ) => *expanded,
            Err(_) => false,
        };
        // Counting is slow, so only calls that expand a container are checked.
        expanded
            && self.visible.send_if_modified(|count| {
                let before = std::mem::replace(count, self.session.visible().len());
                *count != before
            })
    }
}
