//! Calls past the check, for tests of implementations.

use super::{AdmittedCall, Session};
use crate::bind::CallTarget;
use crate::invocation::RequestOrigin;
use gramc_calls::check::Accepted;

impl Session {
    /// A call whose arguments reach the implementation as they are, to test what it does with invalid
    /// ones. `None` if there is no such tool, or if its throttle admits no calls.
    pub fn admit_unchecked(&self, name: &str, arguments: String) -> Option<AdmittedCall<'_>> {
        let Some(CallTarget::Tool(tool)) = self.find(name) else { return None };
        let throttle = &self.bound.settings(Some(tool)).throttle;
        let ticket =
            self.state.lock().throttle.admit(Some(tool), throttle, self.clock.now()).ok()?;
        Some(AdmittedCall {
            session: self,
            tool,
            id: None,
            name: name.to_owned(),
            accepted: Accepted { arguments, ..Accepted::default() },
            injected: Vec::new(),
            warnings: Vec::new(),
            judged: true,
            approval: None,
            ticket,
            origin: RequestOrigin::default(),
        })
    }
}
