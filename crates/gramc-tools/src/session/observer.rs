//! Observers of finished calls.

use std::time::Duration;

use crate::verdict::Verdict;

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
