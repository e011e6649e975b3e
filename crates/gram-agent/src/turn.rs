//! What ends a turn, and what comes of it.

use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::message::Usage;
use crate::model::{ModelError, Patience};

/// What ends a turn before its answer. What is not said does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// How often the model is asked in one turn; else what the agent says.
    pub iterations: Option<u32>,
    /// How often an answer that is not of the agent's type is tried.
    pub attempts: u32,
    /// How many tokens all turns may take together.
    pub tokens: Option<u64>,
    /// How long one turn may take.
    pub time: Option<Duration>,
    /// How often a model that fails in passing is asked again.
    pub patience: Patience,
    /// Whether the model's text is heard while it comes.
    pub stream: bool,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            iterations: None,
            attempts: 3,
            tokens: None,
            time: None,
            patience: Patience::default(),
            stream: false,
        }
    }
}

/// What came of a turn.
#[derive(Debug, Clone, PartialEq)]
pub struct Turn {
    /// The model's last text; empty where it said nothing.
    pub text: String,
    /// The answer, where the agent answers in a type and this is of it.
    pub value: Option<Value>,
    /// Why it is over.
    pub end: End,
    /// How often the model was asked.
    pub iterations: u32,
    /// How many calls were made.
    pub calls: usize,
    /// What the turn cost, agents that were called included.
    pub usage: Usage,
}

/// Why a turn is over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// The model answered with text.
    Answered,
    /// It was asked so often, and calls on.
    Iterations(u32),
    /// The tokens are spent.
    Tokens(u64),
    /// The time is over.
    Time(Duration),
    /// Somebody ended it.
    Cancelled,
    /// The answer is not of the agent's type, and does not become so: a person has to look.
    NeedsHumanReview {
        /// What was wrong with the last one.
        wrong: String,
    },
    /// The model gave no answer.
    Failed(ModelError),
}

impl Turn {
    /// Whether there is an answer as it should be.
    pub fn is_answered(&self) -> bool {
        self.end == End::Answered
    }
}

impl End {
    /// Why it is over, for people.
    pub fn words(&self) -> String {
        match self {
            Self::Answered => "answered".to_owned(),
            Self::Iterations(most) => {
                format!("the model was asked {most} times and has no answer yet")
            }
            Self::Tokens(most) => format!("the budget of {most} tokens is spent"),
            Self::Time(most) => format!("the time of {} s is over", most.as_secs_f64()),
            Self::Cancelled => "it was ended".to_owned(),
            Self::NeedsHumanReview { .. } => {
                "the answer is not of the agent's type: a person has to look".to_owned()
            }
            Self::Failed(error) => error.to_string(),
        }
    }
}

impl Turn {
    /// The turn as JSON, one object: `text`, `value` where the agent answers in a type, `end`,
    /// `iterations`, `calls`, `usage`, and `needs_human_review` where that is so.
    pub fn json(&self) -> Value {
        let mut map = Map::new();
        map.insert("text".to_owned(), json!(self.text));
        if let Some(value) = &self.value {
            map.insert("value".to_owned(), value.clone());
        }
        map.insert("end".to_owned(), json!(self.end.name()));
        if self.end != End::Answered {
            map.insert("detail".to_owned(), json!(self.end.words()));
        }
        if let End::NeedsHumanReview { wrong } = &self.end {
            map.insert("needs_human_review".to_owned(), json!(true));
            map.insert("wrong".to_owned(), json!(wrong));
        }
        map.insert("iterations".to_owned(), json!(self.iterations));
        map.insert("calls".to_owned(), json!(self.calls));
        map.insert("usage".to_owned(), serde_json::to_value(self.usage).unwrap_or_default());
        map.into()
    }
}

impl End {
    /// A stable name.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Answered => "answered",
            Self::Iterations(_) => "iterations",
            Self::Tokens(_) => "tokens",
            Self::Time(_) => "time",
            Self::Cancelled => "cancelled",
            Self::NeedsHumanReview { .. } => "needs-human-review",
            Self::Failed(_) => "failed",
        }
    }
}
