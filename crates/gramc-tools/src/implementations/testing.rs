//! Helpers for the tests of implementations.

use std::time::Duration;

use crate::invocation::Invocation;

/// Enough for a busy machine, and little for a person who waits for a test that fails.
pub(crate) const SOON: Duration = Duration::from_secs(30);

/// A call of a tool whose result is not text, which may answer with a megabyte.
pub(crate) fn invocation(tool: &str, arguments: &str) -> Invocation {
    Invocation::new(tool, arguments)
}

/// The same of a tool whose result is text.
pub(crate) fn text_invocation(tool: &str, arguments: &str) -> Invocation {
    Invocation { text_result: true, ..invocation(tool, arguments) }
}
