//! Models: what answers a conversation.

mod chat;
pub(crate) mod client;
mod named;
mod patience;
mod providers;
mod rules;
mod scripted;

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use gram_schema::Target;
use serde_json::Value;

use crate::message::{Message, Reply};

pub use named::{ModelNameError, Models};
pub use patience::Patience;
pub use scripted::Scripted;

/// What a model is asked.
#[derive(Debug, Clone, Copy)]
pub struct Request<'r> {
    /// What it is told before the conversation.
    pub instruction: &'r str,
    /// The conversation, with the names that the target takes.
    pub messages: &'r [Message],
    /// The tools, in the target's form.
    pub tools: &'r [Value],
    /// How it answers.
    pub sampling: &'r Sampling,
    /// Whether its text is heard while it comes.
    pub stream: bool,
}

/// How a model picks its words; what is not said is up to its provider.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sampling {
    /// From 0, which always takes the likeliest word.
    pub temperature: Option<f64>,
    /// Takes from the likeliest words that are so probable together.
    pub top_p: Option<f64>,
    /// The most tokens of one answer.
    pub max_tokens: Option<u32>,
    /// For answers that come out the same, where the provider can.
    pub seed: Option<u64>,
}

/// What comes while a model answers.
#[derive(Debug, Clone, Copy)]
pub enum Heard<'h> {
    /// More of its text.
    Text(&'h str),
    /// It failed, and is asked once more; what was heard of its text counts no longer.
    Again {
        /// Why.
        error: &'h ModelError,
        /// When.
        wait: Duration,
    },
}

/// An answer that comes in time.
pub type Asked<'a> = Pin<Box<dyn Future<Output = Result<Reply, ModelError>> + Send + 'a>>;

/// Who listens while a model answers.
pub type Ear<'a> = &'a (dyn Fn(Heard<'_>) + Send + Sync);

/// A model.
pub trait Model: fmt::Debug + Send + Sync {
    /// What tools are compiled to for it.
    fn target(&self) -> Target;

    /// Its provider and name, as messages call it: `openai/gpt-4o-mini`.
    fn name(&self) -> &str;

    /// The same model for a conversation of its own, where its answers hang on what it was asked
    /// before.
    fn anew(&self) -> Option<Arc<dyn Model>> {
        None
    }

    /// Asks it once.
    fn ask<'a>(&'a self, request: Request<'a>, ear: Ear<'a>) -> Asked<'a>;
}

/// Why a model gave no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelError {
    /// What kind of failure it is.
    pub kind: Failure,
    /// What happened, in words.
    pub detail: String,
    /// When the provider wants to be asked again, where it said so.
    pub retry_after: Option<Duration>,
}

/// Kinds of failures of models.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failure {
    /// There are too many requests.
    Busy,
    /// The provider cannot be reached, or fails.
    Unavailable,
    /// The answer broke off.
    Cut,
    /// The answer did not come in time.
    Timeout,
    /// The provider does not take the request.
    Refused,
    /// The answer cannot be read.
    Garbled,
    /// There are no more answers.
    Ended,
}

impl Failure {
    /// A stable name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Busy => "busy",
            Self::Unavailable => "unavailable",
            Self::Cut => "cut",
            Self::Timeout => "timeout",
            Self::Refused => "refused",
            Self::Garbled => "garbled",
            Self::Ended => "ended",
        }
    }
}

impl ModelError {
    /// An error without a time to retry after.
    pub fn new(kind: Failure, detail: impl Into<String>) -> Self {
        Self { kind, detail: detail.into(), retry_after: None }
    }

    /// Whether asking again may help.
    pub fn is_passing(&self) -> bool {
        match self.kind {
            Failure::Busy | Failure::Unavailable | Failure::Cut | Failure::Timeout => true,
            Failure::Refused | Failure::Garbled | Failure::Ended => false,
        }
    }
}

impl fmt::Display for ModelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.detail)
    }
}

impl std::error::Error for ModelError {}
