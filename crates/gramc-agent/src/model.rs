//! Models and the errors of their providers.

mod anthropic;
mod bodies;
mod chat;
pub(crate) mod client;
mod finish;
mod gemini;
mod http_model;
mod named;
mod responses;
mod retry;
mod rules;
mod scripted;

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use gramc_schema::Target;
use serde_json::Value;

use crate::message::{Message, Reply};

pub(crate) use finish::finish_reason;
pub use named::{ModelNameError, Models, providers};
pub use retry::RetryPolicy;
pub use scripted::{ScriptError, ScriptedModel};

/// A request to a model.
#[derive(Debug, Clone, Copy)]
pub struct ModelRequest<'r> {
    /// The system prompt.
    pub instruction: &'r str,
    /// The conversation, with tool names in the form of the target.
    pub messages: &'r [Message],
    /// The tools, in the form of the target.
    pub tools: &'r [Value],
    /// The sampling parameters.
    pub sampling: &'r Sampling,
    /// Whether the reply is streamed.
    pub stream: bool,
}

/// Sampling parameters. `None` leaves a parameter to the provider.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sampling {
    /// Sampling temperature (0 = most deterministic).
    pub temperature: Option<f64>,
    /// Nucleus sampling: total probability of the tokens that are considered.
    pub top_p: Option<f64>,
    /// Maximum tokens of a reply.
    pub max_tokens: Option<u32>,
    /// Seed for reproducible replies, if the provider supports it.
    pub seed: Option<u64>,
}

/// A reply that is being generated.
pub type ReplyFuture<'a> = Pin<Box<dyn Future<Output = Result<Reply, ModelError>> + Send + 'a>>;

/// A piece of a reply that is being generated.
#[derive(Debug, Clone, Copy)]
pub enum ReplyDelta<'d> {
    /// More text.
    Text(&'d str),
    /// More of a call.
    Call {
        /// The position of the call among the calls of the reply.
        index: usize,
        /// The id so far.
        id: &'d str,
        /// The name so far. It is complete before the arguments begin.
        name: &'d str,
        /// The new piece of the arguments.
        arguments: &'d str,
    },
    /// The request failed and will be retried. All pieces so far are void.
    Retry {
        /// The failure.
        error: &'d ModelError,
        /// The delay before the retry.
        wait: Duration,
    },
}

/// Receives the pieces of a reply.
pub type StreamSink<'a> = &'a (dyn Fn(ReplyDelta<'_>) + Send + Sync);

/// A model.
pub trait Model: fmt::Debug + Send + Sync {
    /// The target that tools are compiled to for this model.
    fn target(&self) -> Target;

    /// The provider and the name of the model: `openai/gpt-4o-mini`.
    fn name(&self) -> &str;

    /// Whether it is sent the images of messages, if its agent does not say.
    fn takes_images(&self) -> bool {
        false
    }

    /// Returns a copy for another conversation, if the replies depend on earlier requests.
    fn fork(&self) -> Option<Arc<dyn Model>> {
        None
    }

    /// Sends one request, without retries.
    fn send<'a>(&'a self, request: ModelRequest<'a>, sink: StreamSink<'a>) -> ReplyFuture<'a>;
}

/// A failed model request.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{detail}")]
pub struct ModelError {
    /// The kind of failure.
    pub kind: ModelErrorKind,
    /// A description for users.
    pub detail: String,
    /// The delay that the provider asks for before a retry.
    pub retry_after: Option<Duration>,
}

/// Kinds of failed model requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelErrorKind {
    /// The provider limits the rate of requests.
    RateLimited,
    /// The provider is unreachable or reports an internal error.
    Unavailable,
    /// The reply was interrupted.
    Interrupted,
    /// The reply did not arrive in time.
    Timeout,
    /// The provider does not know the model.
    UnknownModel,
    /// The provider rejects the request.
    Rejected,
    /// The provider rejects the content of the request, such as its length. It will do so again.
    InvalidRequest,
    /// The reply is malformed.
    Malformed,
    /// A call begins in the text of the reply and cannot be read.
    UnreadCall,
    /// A script has no more replies.
    Exhausted,
    /// The program of an agent ended without an answer, or wrote something else.
    Program,
}

impl ModelErrorKind {
    /// A stable name for spans.
    pub fn name(self) -> &'static str {
        match self {
            Self::RateLimited => "busy",
            Self::Unavailable => "unavailable",
            Self::Interrupted => "cut",
            Self::Timeout => "timeout",
            Self::UnknownModel => "unknown-model",
            Self::Rejected => "refused",
            Self::InvalidRequest => "invalid-request",
            Self::Malformed => "garbled",
            Self::UnreadCall => "unread-call",
            Self::Exhausted => "ended",
            Self::Program => "program",
        }
    }
}

impl ModelError {
    /// Creates an error without a delay for retries.
    pub fn new(kind: ModelErrorKind, detail: impl Into<String>) -> Self {
        Self { kind, detail: detail.into(), retry_after: None }
    }

    /// Whether a retry may succeed.
    pub fn is_transient(&self) -> bool {
        use ModelErrorKind::{Interrupted, RateLimited, Timeout, Unavailable};
        matches!(self.kind, RateLimited | Unavailable | Interrupted | Timeout)
    }

    /// Whether another model may reply to the same request.
    pub(crate) fn is_unavailable(&self) -> bool {
        self.is_transient() || self.kind == ModelErrorKind::UnknownModel
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic, reason = "a failed step fails the test")]
mod stream_tests;
