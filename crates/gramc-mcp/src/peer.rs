//! Questions to a client, and their answers.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use gramc_tools::RpcError;
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::sync::oneshot;
use tokio::time::timeout;

use crate::message::{Message, own_id};
use crate::outbox::Outbox;
use crate::protocol::internal;

/// Maximum time for the client to answer a request, which may be a question to a person.
pub(crate) const MAX_ANSWER_TIME: Duration = Duration::from_hours(1);

/// The other side of a connection or an HTTP session.
pub(crate) struct Peer {
    /// Where messages go that belong to no request of the client.
    pub(crate) outbox: Outbox,
    /// The questions that are not answered yet.
    open: Mutex<HashMap<u64, oneshot::Sender<Result<Value, RpcError>>>>,
    asked: AtomicU64,
}

impl Peer {
    pub(crate) fn new(outbox: Outbox) -> Arc<Self> {
        Arc::new(Self { outbox, open: Mutex::default(), asked: AtomicU64::default() })
    }

    /// Asks the client. Over HTTP, the question travels with the response to the request that has the
    /// outbox. If the future is dropped, the question is cancelled.
    pub(crate) async fn ask(
        self: &Arc<Self>,
        within: Option<&Outbox>,
        method: String,
        params: Option<Value>,
    ) -> Result<Value, RpcError> {
        let outbox = within.unwrap_or(&self.outbox).clone();
        let number = self.asked.fetch_add(1, Ordering::Relaxed);
        let (answer, answered) = oneshot::channel();
        self.open.lock().insert(number, answer);
        let question = PeerRequest { peer: Arc::clone(self), number, outbox };
        let message = Message::Request { id: number.into(), method, params };
        // The request may have been answered meanwhile.
        if !question.outbox.send(message.clone()).await {
            self.outbox.send(message).await;
        }
        match timeout(MAX_ANSWER_TIME, answered).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(_)) => Err(internal("the client did not answer")),
            Err(_) => Err(internal("the client did not answer in time")),
        }
    }

    /// Passes an answer of the client on. Those to no open question are ignored.
    pub(crate) fn answer(&self, id: &Value, outcome: Result<Value, RpcError>) {
        let question = own_id(id).and_then(|number| self.open.lock().remove(&number));
        if let Some(question) = question {
            // It may have stopped waiting.
            let _ = question.send(outcome);
        }
    }

    /// The client answers nothing any more.
    pub(crate) fn end(&self) {
        self.open.lock().clear();
    }
}

/// A question that is cancelled if nothing waits for its answer.
struct PeerRequest {
    peer: Arc<Peer>,
    number: u64,
    outbox: Outbox,
}

impl Drop for PeerRequest {
    fn drop(&mut self) {
        let was_open = self.peer.open.lock().remove(&self.number).is_some();
        // Without a runtime there is no connection either.
        if let (true, Ok(runtime)) = (was_open, tokio::runtime::Handle::try_current()) {
            let reason = "the server no longer waits for the answer";
            let params = json!({"requestId": self.number, "reason": reason});
            let outbox = self.outbox.clone();
            runtime.spawn(async move {
                outbox.notify("notifications/cancelled", Some(params)).await;
            });
        }
    }
}
