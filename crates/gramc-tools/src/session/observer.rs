//! Observers of finished calls.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;

use super::{Admission, Session};
use crate::verdict::{Call, Verdict};

/// A finished call of a tool. Values of secret parameters are masked.
#[derive(Debug, Clone, Copy)]
pub struct FinishedCall<'c> {
    /// The identifier of the call. Empty if it has none.
    pub id: &'c str,
    /// The name of the tool in the specification.
    pub name: &'c str,
    /// The JSON text of the arguments as they were sent.
    pub arguments: &'c str,
    /// The verdict.
    pub verdict: &'c Verdict,
    /// The duration of the call.
    pub took: Duration,
}

/// Receives finished calls.
pub type CallObserver = dyn Fn(&FinishedCall<'_>) + Send + Sync;

/// The observer of a session.
#[derive(Clone)]
pub(super) struct SessionObserver(Arc<CallObserver>);

impl fmt::Debug for SessionObserver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SessionObserver").finish_non_exhaustive()
    }
}

impl Session {
    /// Reports the calls that [`Self::call_until`] runs to an observer.
    #[must_use]
    pub fn with_observer(mut self, observer: Arc<CallObserver>) -> Self {
        self.observer = Some(SessionObserver(observer));
        self
    }

    /// Checks a call and runs it, unless it is cancelled.
    pub async fn call_until(&self, call: Call, cancelled: CancellationToken) -> Verdict {
        let Some(SessionObserver(observer)) = &self.observer else {
            return self.run_until(call, cancelled).await;
        };
        let (id, name) = (call.id.clone().unwrap_or_default(), call.name.clone());
        let sent = call.arguments.clone().unwrap_or_default();
        let start = Instant::now();
        let verdict = self.run_until(call, cancelled).await;
        let took = start.elapsed();
        let arguments = self.redact(&name, &sent).map_or(sent, |redacted| redacted.arguments);
        let (id, name, arguments) = (&*id, &*name, &*arguments);
        observer(&FinishedCall { id, name, arguments, verdict: &verdict, took });
        verdict
    }

    async fn run_until(&self, call: Call, cancelled: CancellationToken) -> Verdict {
        match self.begin(call) {
            Admission::Answered(verdict) => verdict,
            Admission::Ready(ready) => ready.run(cancelled).await,
        }
    }
}
