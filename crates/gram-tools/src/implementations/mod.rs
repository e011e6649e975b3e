//! The kinds of implementations.
//!
//! Each is an [`Implementation`](crate::invocation::Implementation). What the world outside has to
//! say to them is bounded: an answer by the invocation's `max_answer`, what goes into a message by
//! a few kilobytes. They know nothing of time limits: whoever drops an invocation's future ends
//! what was started for it.

mod builtin;
mod client;
#[cfg(feature = "command")]
mod command;
mod function;
#[cfg(feature = "http")]
mod http;
#[cfg(feature = "mcp")]
mod mcp;
mod replay;

pub use builtin::Builtin;
pub use client::Client;
#[cfg(feature = "command")]
pub use command::Command;
pub use function::{Function, async_function, function};
#[cfg(feature = "http")]
pub use http::{Http, HttpClient};
#[cfg(feature = "mcp")]
pub use mcp::Mcp;
pub use replay::{Replay, ReplayError};

use crate::invocation::{Answer, InvocationError, InvocationErrorKind};
use tokio_util::sync::CancellationToken;

/// Runs `work` until the call is cancelled.
async fn run_unless_cancelled(
    cancelled: CancellationToken,
    work: impl Future<Output = Result<Answer, InvocationError>>,
) -> Result<Answer, InvocationError> {
    tokio::select! {
        biased;
        () = cancelled.cancelled() => {
            Err(InvocationError::new(InvocationErrorKind::Cancelled, "the call was cancelled"))
        }
        outcome = work => outcome,
    }
}

/// The answer is longer than allowed.
#[cfg(any(feature = "command", feature = "http", feature = "mcp"))]
pub(crate) fn too_large(who: &str, max_answer: usize) -> InvocationError {
    InvocationError::new(
        InvocationErrorKind::TooLarge,
        format!("{who} gave an answer of more than {max_answer} bytes"),
    )
}

#[cfg(test)]
mod testing;
