//! Limits and results of turns.

use std::time::Duration;

use serde::Serialize;
use serde_json::Value;

use crate::message::Usage;
use crate::model::{ModelError, RetryPolicy};

/// Limits that end a turn before the model answers. `None` means no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Maximum model requests per turn. `None` applies the agent's `maxIterations`.
    pub iterations: Option<u32>,
    /// Maximum attempts to answer in the agent's result type, and to finish a reply.
    pub attempts: u32,
    /// Maximum tokens of all turns together.
    pub tokens: Option<u64>,
    /// Maximum duration of a turn.
    pub time: Option<Duration>,
    /// Retries of failed model requests.
    pub retry: RetryPolicy,
    /// Whether replies are streamed.
    pub stream: Streaming,
}

/// How replies are streamed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Streaming {
    /// Replies arrive when they are complete.
    #[default]
    Off,
    /// Text is reported while the model writes it.
    Text,
    /// Calls are reported, too, and checked while the model writes them. A request whose reply contains
    /// a call that cannot be valid any more is stopped.
    Calls,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            iterations: None,
            attempts: 3,
            tokens: None,
            time: None,
            retry: RetryPolicy::default(),
            stream: Streaming::Off,
        }
    }
}

/// The result of a turn.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TurnResult {
    /// The last text of the model. May be empty.
    pub text: String,
    /// The answer, if the agent has a result type and the answer has that type.
    pub value: Option<Value>,
    /// Why the turn ended.
    pub end: TurnEnd,
    /// The number of model requests.
    pub iterations: u32,
    /// The number of tool calls.
    pub calls: usize,
    /// The tokens of the turn, including those of called agents.
    pub usage: Usage,
}

/// Why a turn ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum TurnEnd {
    /// The model answered.
    #[default]
    Answered,
    /// The model reached this number of requests and still calls tools.
    Iterations(u32),
    /// The conversation reached this number of tokens.
    Tokens(u64),
    /// The turn reached this duration.
    Time(Duration),
    /// The caller cancelled the turn.
    Cancelled,
    /// All attempts to answer in the agent's result type failed, or the validator of answers failed.
    NeedsHumanReview {
        /// The errors of the last attempt.
        wrong: String,
    },
    /// All attempts to reply ended early.
    Truncated {
        /// Why the last one did.
        why: &'static str,
    },
    /// A content filter stopped all attempts to reply.
    Filtered,
    /// A model request failed.
    Failed(ModelError),
}

impl TurnEnd {
    /// A stable name for traces and reports.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Answered => "answered",
            Self::Iterations(_) => "iterations",
            Self::Tokens(_) => "tokens",
            Self::Time(_) => "time",
            Self::Cancelled => "cancelled",
            Self::NeedsHumanReview { .. } => "needs-human-review",
            Self::Truncated { .. } => "truncated",
            Self::Filtered => "filtered",
            Self::Failed(_) => "failed",
        }
    }

    /// A description for users.
    pub fn description(&self) -> String {
        match self {
            Self::Answered => "answered".to_owned(),
            Self::Iterations(max) => format!("reached the limit of {max} model requests"),
            Self::Tokens(max) => format!("reached the limit of {max} tokens"),
            Self::Time(max) => format!("reached the time limit of {} s", max.as_secs_f64()),
            Self::Cancelled => "cancelled".to_owned(),
            Self::NeedsHumanReview { .. } => {
                "the answer is not valid and needs human review".to_owned()
            }
            Self::Truncated { why } => (*why).to_owned(),
            Self::Filtered => "a content filter stopped the reply".to_owned(),
            Self::Failed(error) => error.to_string(),
        }
    }
}

impl TurnResult {
    /// Whether the model gave a valid answer.
    pub fn is_answered(&self) -> bool {
        self.end == TurnEnd::Answered
    }

    /// The result as a JSON object.
    pub fn json(&self) -> Value {
        // All keys are strings, so this cannot fail.
        serde_json::to_value(self).unwrap_or_default()
    }
}

impl Serialize for TurnResult {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Record<'t> {
            text: &'t str,
            #[serde(skip_serializing_if = "Option::is_none")]
            value: Option<&'t Value>,
            end: &'static str,
            #[serde(skip_serializing_if = "Option::is_none")]
            detail: Option<String>,
            #[serde(skip_serializing_if = "Option::is_none")]
            needs_human_review: Option<bool>,
            #[serde(skip_serializing_if = "Option::is_none")]
            wrong: Option<&'t str>,
            iterations: u32,
            calls: usize,
            usage: Usage,
        }
        let Self { text, value, end, iterations, calls, usage } = self;
        let wrong = match end {
            TurnEnd::NeedsHumanReview { wrong } => Some(wrong.as_str()),
            _ => None,
        };
        let detail = (!self.is_answered()).then(|| end.description());
        let (value, end, needs_human_review) = (value.as_ref(), end.name(), wrong.map(|_| true));
        let (iterations, calls, usage) = (*iterations, *calls, *usage);
        Record { text, value, end, detail, needs_human_review, wrong, iterations, calls, usage }
            .serialize(serializer)
    }
}
