//! Helpers for the tests of implementations.

#![allow(dead_code, reason = "which of it is used depends on the features")]

use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::invocation::{Invocation, RequestOrigin};

/// Enough for a busy machine, and little for a person who waits for a test that fails.
pub(crate) const SOON: Duration = Duration::from_secs(30);

/// A call of a tool whose result is not text, which may answer with a megabyte.
pub(crate) fn invocation(tool: &str, arguments: &str) -> Invocation {
    Invocation {
        tool: tool.into(),
        arguments: Arc::from(arguments),
        text_result: false,
        max_answer: 1 << 20,
        occurrence: 0,
        hidden: Arc::default(),
        is_repeatable: true,
        origin: RequestOrigin::default(),
        cancelled: CancellationToken::new(),
    }
}

/// The same of a tool whose result is text.
pub(crate) fn text_invocation(tool: &str, arguments: &str) -> Invocation {
    Invocation { text_result: true, ..invocation(tool, arguments) }
}
