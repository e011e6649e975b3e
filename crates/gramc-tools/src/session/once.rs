//! Calls of tools that run at most once with the same arguments.

use tokio_util::sync::CancellationToken;

use super::result::UNSUCCESSFUL;
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
        let shown = masks.arguments(tool, self.accepted.arguments.clone());
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
            _ if had_no_effect || verdict.warnings.iter().any(|it| it.code == UNSUCCESSFUL) => {
                session.journal.end(&key, None);
            }
            Ok(success) => {
                session.journal.end(&key, Some(success.result.clone().unwrap_or_default()));
            }
            // It may have run.
            Err(_) => {}
        }
        verdict
    }
}
