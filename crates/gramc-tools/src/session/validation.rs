//! Validators that are programs or services.

use gramc_calls::check::InvalidArguments;
use tokio_util::sync::CancellationToken;

use super::Admission;
use super::run::{AdmittedCall, RunFailure};
use crate::validator::problems;
use crate::verdict::{CallError, Verdict};

impl<'s> AdmittedCall<'s> {
    /// Asks the validator that is a program or a service, if there is one and it has not been asked.
    /// A call that it does not accept is complete.
    pub async fn judge(mut self, cancelled: &CancellationToken) -> Admission<'s> {
        let session = self.session;
        let validator = session.external_validator(self.tool).filter(|_| !self.judged);
        let Some(validator) = validator else { return Admission::Ready(Box::new(self)) };
        let limit = self.settings().time_limit();
        let found = tokio::select! {
            biased;
            () = cancelled.cancelled() => {
                return Admission::Answered(self.end(Err(RunFailure::cancellation())));
            }
            found = problems(validator, &self.name, &self.accepted.arguments, limit) => found,
        };
        let masks = session.bound.masks(self.tool, &self.accepted.secrets);
        let error = match (found, session.bound.check(self.tool)) {
            (Ok(found), _) if found.is_empty() => {
                session.state.lock().note_acceptance(self.tool);
                self.judged = true;
                return Admission::Ready(Box::new(self));
            }
            (Ok(found), Ok(check)) => {
                let found = found.into_iter().map(|problem| masks.problem(problem)).collect();
                CallError::Validation(InvalidArguments::of_host(check, found))
            }
            (Ok(_), Err(error)) => CallError::Invocation { detail: error.to_string() },
            (Err(error), _) => {
                let why = masks.text(&error.to_string());
                let detail = format!("the validator of its arguments {why}");
                CallError::Invocation { detail }
            }
        };
        let Self { tool, id, name, warnings, ticket, accepted, .. } = self;
        let error = session.refuse(tool, ticket, &accepted.arguments, error);
        Admission::Answered(Verdict { warnings, ..Verdict::new(id, name, Err(error)) })
    }
}
