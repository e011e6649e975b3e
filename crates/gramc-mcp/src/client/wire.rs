//! How messages reach a server.

use std::sync::Arc;

use tokio_util::task::AbortOnDropHandle;

use super::child_server::ChildInput;
use super::http_wire::HttpWire;
use super::inbox::{Inbox, PendingReply, PendingRequest};
use crate::message::Message;

/// A message that did not reach the server.
#[derive(Debug, Clone, Copy)]
pub(super) struct NotSent;

/// The way to a server: the standard input of its process, or HTTP requests.
#[derive(Clone)]
pub(super) enum Wire {
    Child(ChildInput),
    Http(Arc<HttpWire>),
}

impl Wire {
    /// Sends a request. Its answer arrives in the inbox, unless what this returns is dropped before
    /// that.
    pub(super) fn request(
        &self,
        request: &Arc<PendingRequest>,
        text: String,
        inbox: &Arc<Inbox>,
    ) -> Option<AbortOnDropHandle<()>> {
        match self {
            Self::Child(input) => {
                if input.send(text, None).is_err() {
                    request.close();
                }
                None
            }
            Self::Http(wire) => {
                let work = Arc::clone(wire).request(Arc::clone(request), text, Arc::clone(inbox));
                Some(AbortOnDropHandle::new(tokio::spawn(work)))
            }
        }
    }

    /// Sends a notification, or an answer to a request of the server. If that fails, the work ends.
    pub(super) async fn send(
        &self,
        message: Message,
        reply: Option<PendingReply>,
        inbox: &Inbox,
    ) -> Result<(), NotSent> {
        match self {
            Self::Child(input) => input.send(message.into_text(), reply).map_err(|()| NotSent),
            Self::Http(wire) => wire.send(message).await.map_err(|error| {
                inbox.end(error.kind(), wire.describe(&error));
                NotSent
            }),
        }
    }

    /// Sends a notification that the server need not receive.
    pub(super) async fn mention(&self, message: Message) {
        match self {
            Self::Child(input) => drop(input.send(message.into_text(), None)),
            Self::Http(wire) => drop(wire.send(message).await),
        }
    }

    /// Whether the server has to be told that a request is cancelled.
    pub(super) fn needs_cancellation(&self) -> bool {
        match self {
            Self::Child(_) => true,
            Self::Http(wire) => wire.needs_cancellation(),
        }
    }

    /// Says goodbye. The connection is not used any more.
    pub(super) async fn close(&self) {
        match self {
            Self::Child(input) => input.close(),
            Self::Http(wire) => wire.close().await,
        }
    }
}
