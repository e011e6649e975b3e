//! Approval of calls by functions.

use gramc_tools::approval::{ApprovalDecision, DecidedBy};
use serde_json::Value;

/// The decision of a function: true approves a call; false, a text with the reason, and an exception
/// refuse it. Null means that there is no way to ask.
pub fn decision(answer: Result<Value, String>) -> Option<ApprovalDecision> {
    let decision =
        |approved, reason| Some(ApprovalDecision::new(approved, DecidedBy::Host, reason));
    match answer {
        Ok(Value::Bool(approved)) => decision(approved, ""),
        Ok(Value::String(reason)) => decision(false, &reason),
        Ok(Value::Null) => None,
        Ok(_) => decision(false, "the function that approves calls gave no decision"),
        // A call that nothing has approved does not run.
        Err(error) => decision(false, &error),
    }
}
