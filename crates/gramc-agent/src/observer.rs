//! Events of a run, and the observers that receive them.

use std::fmt;
use std::time::Duration;

use gramc_tools::{StreamUpdate, Verdict};

use crate::message::{ModelCall, Reply};
use crate::model::{ModelError, ModelRequest};
use crate::turn::TurnResult;

/// An event of a run. Values of secret parameters are masked in all events.
#[derive(Debug)]
pub enum Event<'e> {
    /// A turn started with a message of the user.
    TurnStarted {
        /// The message.
        text: &'e str,
    },
    /// A request was sent to the model.
    ModelRequested {
        /// The number of the request within the turn, from 1.
        iteration: u32,
        /// The request.
        request: &'e ModelRequest<'e>,
    },
    /// More text of a reply that is being streamed.
    ReplyText(&'e str),
    /// A call of a reply began.
    CallBegan {
        /// The id of the call.
        id: &'e str,
        /// The name of the tool.
        name: &'e str,
    },
    /// More of the arguments of a call is certain.
    CallGrew {
        /// The id of the call.
        id: &'e str,
        /// The newly certain part.
        update: &'e StreamUpdate,
    },
    /// The request failed and will be retried. Text and calls streamed so far are void.
    ModelRetried {
        /// The failure.
        error: &'e ModelError,
        /// The delay before the retry.
        wait: Duration,
    },
    /// The model is unavailable, and the request is sent to another one.
    ModelReplaced {
        /// The last failure.
        error: &'e ModelError,
        /// The name of the other model.
        model: &'e str,
    },
    /// The model replied.
    ModelReplied {
        /// The reply.
        reply: &'e Reply,
        /// The duration of the request.
        took: Duration,
    },
    /// A tool call finished.
    ToolCalled {
        /// The call as the model made it.
        call: &'e ModelCall,
        /// The verdict.
        verdict: &'e Verdict,
        /// The duration of the call.
        took: Duration,
    },
    /// The reply is not an answer: it does not have the result type of the agent, or it is not
    /// complete.
    AnswerRejected {
        /// The number of the attempt, from 1.
        attempt: u32,
        /// The errors, as reported to the model.
        correction: &'e str,
    },
    /// The turn ended.
    TurnEnded(&'e TurnResult),
}

/// Receives the events of a run. The events of one agent arrive in order. Agents that are called by
/// other agents are distinguished by name.
pub trait Observer: Send + Sync {
    /// Receives an event of an agent.
    fn on_event(&self, agent: &str, event: &Event<'_>);

    /// Returns the observer for the conversation with a called agent, or `None` to receive its
    /// events here. This distinguishes concurrent calls of one agent. `id` is the id of the call,
    /// which is reported as [`Event::ToolCalled`] when the conversation ends.
    fn observe_call<'w>(&'w self, id: &str, agent: &str) -> Option<Box<dyn Observer + 'w>> {
        let _ = (id, agent);
        None
    }
}

/// Ignores all events.
impl Observer for () {
    fn on_event(&self, _: &str, _: &Event<'_>) {}
}

impl<O: Observer + ?Sized> Observer for &O {
    fn on_event(&self, agent: &str, event: &Event<'_>) {
        (**self).on_event(agent, event);
    }

    fn observe_call<'w>(&'w self, id: &str, agent: &str) -> Option<Box<dyn Observer + 'w>> {
        (**self).observe_call(id, agent)
    }
}

/// Forwards events to several observers, in order.
#[derive(Default)]
pub struct Observers<'w>(Vec<Box<dyn Observer + 'w>>);

impl fmt::Debug for Observers<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Observers").field(&self.0.len()).finish()
    }
}

impl<'w> Observers<'w> {
    /// Adds an observer.
    #[must_use]
    pub fn with(mut self, observer: impl Observer + 'w) -> Self {
        self.0.push(Box::new(observer));
        self
    }
}

impl Observer for Observers<'_> {
    fn on_event(&self, agent: &str, event: &Event<'_>) {
        self.0.iter().for_each(|one| one.on_event(agent, event));
    }

    fn observe_call<'w>(&'w self, id: &str, agent: &str) -> Option<Box<dyn Observer + 'w>> {
        let inner: Vec<_> = self.0.iter().map(|one| one.observe_call(id, agent)).collect();
        if inner.iter().all(Option::is_none) {
            return None;
        }
        let all = self.0.iter().zip(inner);
        let all = all.map(|(one, inner)| inner.unwrap_or_else(|| Box::new(&**one)));
        Some(Box::new(Observers(all.collect())))
    }
}
