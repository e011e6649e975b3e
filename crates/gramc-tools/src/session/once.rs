//! Calls of tools that run at most once with the same arguments.

use tokio_util::sync::CancellationToken;

use super::run::{AdmittedCall, RunFailure};
use super::warnings;
use crate::invocation::{Answer, InvocationErrorKind};
use crate::journal::{Earlier, call_key};
use crate::verdict::{CallError, Verdict};

impl AdmittedCall<'_> {
    /// Runs the implementation, unless a call with the same arguments has run or may have run.
    pub(super) async fn run_once(mut self, cancelled: CancellationToken) -> Verdict {
        let (session, tool) = (self.session, &self.session.bound.tool(self.tool).spec);
        let key = call_key(&tool.name, &self.accepted.arguments);
        let masks = session.bound.masks(self.tool, &self.accepted.secrets);
        let shown = masks.arguments(tool, &self.accepted.arguments);
        match session.journal.start(&key, &tool.name, &shown) {
            Ok(Earlier::None) => {}
            Ok(Earlier::Started) => return self.refuse(CallError::OutcomeUnknown),
            Ok(Earlier::Done(result)) => {
                self.warnings.push(warnings::already_done(&tool.name));
                return self.end(Ok(Answer::Json(result)));
            }
            Err(error) => {
                let detail = format!("not run: cannot write the call journal: {error}");
                return self.refuse(CallError::Invocation { detail });
            }
        }
        let answer = self.invoke(cancelled).await;
        let had_no_effect = matches!(&answer, Err(RunFailure::Error(error))
            if matches!(error.kind, InvocationErrorKind::Failed | InvocationErrorKind::Unreachable));
        let verdict = self.end(answer);
        match &verdict.outcome {
            Ok(success) => {
                let result = success.result.clone().unwrap_or_default();
                let succeeded = warnings::negative_flags(&result).next().is_none();
                session.journal.end(&key, succeeded.then_some(result));
            }
            Err(_) if had_no_effect => session.journal.end(&key, None),
            // It may have run.
            Err(_) => {}
        }
        verdict
    }
}
