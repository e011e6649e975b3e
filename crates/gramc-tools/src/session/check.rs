//! Checks calls that the host runs itself.

use super::run::AdmittedCall;
use super::{Admission, Session};
use crate::verdict::{Call, Success, Verdict};

/// A checked call that the host runs itself.
#[derive(Debug)]
pub struct CheckedCall {
    /// The verdict, without a result.
    pub verdict: Verdict,
    /// The arguments for the implementation: a JSON object with injected values, without masks.
    /// `None` if the call was refused.
    pub arguments: Option<String>,
}

impl Session {
    /// Checks a call that the host runs itself. A refused call counts as an attempt; an accepted one
    /// counts towards no limit.
    pub fn check(&self, call: Call) -> CheckedCall {
        match self.begin(call) {
            Admission::Answered(verdict) => CheckedCall { verdict, arguments: None },
            Admission::Ready(admitted) => admitted.hand_over(),
        }
    }
}

impl AdmittedCall<'_> {
    fn hand_over(self) -> CheckedCall {
        let arguments = self.arguments();
        let masks = self.session.bound.masks(self.tool, &self.accepted.secrets);
        let spec = &self.session.bound.tool(self.tool).spec;
        let masked = masks.arguments(spec, &self.accepted.arguments).into_owned();
        let Self { session, id, name, warnings, accepted, ticket, .. } = self;
        session.state.lock().throttle.withdraw(ticket);
        let outcome = Ok(Success::new(accepted, masked));
        let verdict = Verdict { warnings, ..Verdict::new(id, name, outcome) };
        CheckedCall { verdict, arguments: Some(arguments) }
    }
}
