//! What happens in a run, for those who watch it.

use std::fmt;
use std::time::Duration;

use gram_tools::Verdict;

use crate::message::{ModelCall, Reply};
use crate::model::{ModelError, Request};
use crate::turn::Turn;

/// Something that happened in a run.
#[derive(Debug)]
pub enum Event<'e> {
    /// A turn begins: the user has said something.
    Begun {
        /// What.
        text: &'e str,
    },
    /// The model is asked.
    Asked {
        /// Which time in this turn, from 1.
        iteration: u32,
        /// What it is sent. What secret parameters held is masked.
        request: &'e Request<'e>,
    },
    /// More of the model's text, where it is heard while it comes.
    Text(&'e str),
    /// The model failed, and is asked once more; what was heard of this answer counts no longer.
    Again {
        /// Why.
        error: &'e ModelError,
        /// After how long.
        wait: Duration,
    },
    /// The model has answered.
    Replied {
        /// What it says and calls. What secret parameters hold is masked.
        reply: &'e Reply,
        /// How long that took.
        took: Duration,
    },
    /// A call is answered.
    Called {
        /// The call, as the model made it. What secret parameters hold is masked.
        call: &'e ModelCall,
        /// What came of it.
        verdict: &'e Verdict,
        /// How long that took.
        took: Duration,
    },
    /// The model's text is not of the type that the agent answers in.
    Misfit {
        /// Which attempt it was, from 1.
        attempt: u32,
        /// What the model is told.
        correction: &'e str,
    },
    /// The turn is over.
    Ended(&'e Turn),
}

/// Who watches a run. Events of one agent come in order; agents that others call are told apart by
/// name.
pub trait Watch: Send + Sync {
    /// Sees that something happens to an agent.
    fn see(&self, agent: &str, event: &Event<'_>);

    /// Who watches the conversation of an agent that is called, in the place of this one, which
    /// sees it all when there is nobody else. An agent that is called several times at once is
    /// told apart so. `id` is that of the call, which is told of when it is answered.
    fn inside<'w>(&'w self, id: &str, agent: &str) -> Option<Box<dyn Watch + 'w>> {
        let _ = (id, agent);
        None
    }
}

/// Nobody.
impl Watch for () {
    fn see(&self, _: &str, _: &Event<'_>) {}
}

impl<W: Watch + ?Sized> Watch for &W {
    fn see(&self, agent: &str, event: &Event<'_>) {
        (**self).see(agent, event);
    }

    fn inside<'w>(&'w self, id: &str, agent: &str) -> Option<Box<dyn Watch + 'w>> {
        (**self).inside(id, agent)
    }
}

/// Several who watch, one after the other.
#[derive(Default)]
pub struct Watchers<'w>(Vec<Box<dyn Watch + 'w>>);

impl fmt::Debug for Watchers<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Watchers").field(&self.0.len()).finish()
    }
}

impl<'w> Watchers<'w> {
    /// With one more.
    #[must_use]
    pub fn with(mut self, watch: impl Watch + 'w) -> Self {
        self.0.push(Box::new(watch));
        self
    }
}

impl Watch for Watchers<'_> {
    fn see(&self, agent: &str, event: &Event<'_>) {
        self.0.iter().for_each(|one| one.see(agent, event));
    }

    fn inside<'w>(&'w self, id: &str, agent: &str) -> Option<Box<dyn Watch + 'w>> {
        let inside: Vec<_> = self.0.iter().map(|one| one.inside(id, agent)).collect();
        if inside.iter().all(Option::is_none) {
            return None;
        }
        let all = self.0.iter().zip(inside);
        let all = all.map(|(one, inside)| inside.unwrap_or_else(|| Box::new(&**one)));
        Some(Box::new(Watchers(all.collect())))
    }
}
