//! The state of a conversation with a client.

use std::collections::HashSet;
use std::sync::Arc;

use gramc_tools::{CallError, Callers, RpcError, Session, Verdict};
use smol_str::SmolStr;
use tokio::sync::{Mutex, broadcast, watch};

use crate::client::{attach_client, library_servers, session_servers};
use crate::client_link::{Change, ClientLink};
use crate::offer::{LiveTools, Offer, OfferSource};
use crate::protocol::internal;
use crate::request_context::RequestContext;
use crate::subscription::{ChangeSources, Subscribers};
use crate::upstream::Upstream;
use crate::{ServeError, ServerInner};

/// A session of the library and its visible tools.
pub(crate) struct Conversation {
    pub(crate) offer: Arc<Offer>,
    pub(crate) session: Session,
    /// Number of visible tools and containers. Subscribers are notified when it changes.
    pub(crate) visible: watch::Sender<usize>,
    /// Changes of the MCP servers behind the library.
    pub(crate) changes: broadcast::Sender<Change>,
    subscribers: Arc<Subscribers>,
    pub(crate) client: Arc<ClientLink>,
    /// Locked while the client is asked for approval.
    pub(crate) questions: Mutex<()>,
    /// The tools of a running server, if that is what is offered.
    live: Option<Arc<dyn LiveTools>>,
}

impl Conversation {
    /// Begins a conversation with the client of a request. It goes on with the client and the
    /// connections of an earlier one, whose tools have changed.
    pub(crate) async fn begin(
        server: &ServerInner,
        context: &RequestContext,
        earlier: Option<&Self>,
    ) -> Result<Arc<Self>, RpcError> {
        let is_shared = context.is_sessionless;
        let (changes, client) = if let Some(earlier) = earlier {
            (earlier.changes.clone(), Arc::clone(&earlier.client))
        } else {
            let changes = ClientLink::changes();
            let (introduction, peer) = if is_shared {
                // Servers of earlier revisions could not tell the clients apart.
                (Arc::default(), None)
            } else {
                (Arc::clone(&context.introduction), context.peer.clone())
            };
            let client = ClientLink::new(introduction, peer, changes.clone());
            (changes, Arc::new(client))
        };
        let (offer, live) = match &server.source {
            OfferSource::Fixed(offer) => (Arc::clone(offer), None),
            OfferSource::Live { server, form } => {
                let earlier = earlier.and_then(|earlier| earlier.live.clone());
                let live =
                    earlier.unwrap_or_else(|| server.connect(Arc::<ClientLink>::clone(&client)));
                let failed = |error: ServeError| internal(error.to_string());
                let (module, bound) = live.read().await.map_err(failed)?;
                let offer = Offer::new(&module, bound, *form).map_err(failed)?;
                live.report(&offer.catalog.warnings());
                (Arc::new(offer), Some(live))
            }
        };
        let mut session = Session::new(&offer.bound)
            .with_callers(if is_shared { Callers::Many } else { Callers::default() })
            .with_approvals(server.approvals.with_own_queue());
        if let Some(target) = &offer.target {
            session = session.with_target(Arc::clone(target));
        }
        if live.is_none() {
            session = session.with_own_servers();
            attach_client(&session, Arc::<ClientLink>::clone(&client));
        }
        let mut count = offer.catalog.initial_count;
        if let Some(scope) = &server.scope {
            session = session.scoped_to(scope.iter().map(SmolStr::as_str));
            count = session.visible().len();
        }
        // Subscribers go on as well.
        let visible = earlier.map_or_else(|| watch::Sender::new(count), |it| it.visible.clone());
        visible.send_replace(count);
        let questions = Mutex::default();
        let subscribers = earlier.map(|it| Arc::clone(&it.subscribers)).unwrap_or_default();
        Ok(Arc::new(Self {
            offer,
            session,
            visible,
            changes,
            subscribers,
            client,
            questions,
            live,
        }))
    }

    /// Whether the tools of the running server have changed.
    pub(crate) fn has_changed(&self) -> bool {
        self.live.as_ref().is_some_and(|live| live.have_changed())
    }

    /// Whether the list of tools stays the same for all clients while the server runs.
    pub(crate) fn is_constant(&self) -> bool {
        let has_fixed_tools = self.live.is_none() && library_servers(&self.offer.bound).is_empty();
        has_fixed_tools && (self.offer.finder.is_some() || !self.offer.catalog.has_containers())
    }

    /// The MCP servers behind the conversation.
    pub(crate) fn upstream(&self) -> Upstream {
        Upstream::new(session_servers(&self.session), self.session.bound())
    }

    pub(crate) fn change_sources(&self) -> ChangeSources {
        let (tools, changes) = (self.visible.subscribe(), self.changes.subscribe());
        let subscribers = Arc::clone(&self.subscribers);
        ChangeSources { tools, changes, upstream: self.upstream(), subscribers }
    }

    /// Ends its MCP servers.
    pub(crate) async fn close(&self) {
        self.session.close().await;
        if let Some(live) = &self.live {
            live.close().await;
        }
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
