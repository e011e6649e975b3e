//! The calls of a session, from the call of the model to the verdict.

use std::time::Instant;

use tokio_util::sync::CancellationToken;

use super::observer::FinishedCall;
use super::{Admission, Session};
use crate::verdict::{Call, Verdict};

impl Session {
    /// Checks a call and runs it.
    pub async fn call(&self, call: Call) -> Verdict {
        self.call_until(call, CancellationToken::new()).await
    }

    /// Checks a call and runs it, unless it is cancelled.
    pub async fn call_until(&self, call: Call, cancelled: CancellationToken) -> Verdict {
        self.run_call(call, |call| self.begin(call), cancelled).await
    }

    /// Checks a call by a function, and runs it.
    pub(super) async fn run_call<'s>(
        &'s self,
        call: Call,
        begin: impl FnOnce(Call) -> Admission<'s>,
        cancelled: CancellationToken,
    ) -> Verdict {
        let observed = self.observer.as_ref().map(|observer| (observer, call.clone()));
        let start = Instant::now();
        let verdict = match begin(call) {
            Admission::Answered(verdict) => verdict,
            Admission::Ready(admitted) => admitted.run(cancelled).await,
        };
        if let Some((observer, call)) = observed {
            let took = start.elapsed();
            let sent = call.arguments.unwrap_or_default();
            let redacted = self.redact(&call.name, &sent);
            observer(&FinishedCall {
                id: call.id.as_deref().unwrap_or_default(),
                name: &call.name,
                arguments: redacted.as_ref().map_or(&sent, |redacted| &redacted.arguments),
                verdict: &verdict,
                took,
            });
        }
        verdict
    }
}
