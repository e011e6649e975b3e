//! What the tests of a tool came to.

use serde::Serialize;
use serde_json::{Value, json};
use smol_str::SmolStr;

/// What is checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Check {
    /// A valid call gets an answer, and not a failure.
    Failure,
    /// The implementation does not end, lose its connection, or write what cannot be read.
    Crash,
    /// The answer is of the tool's result type.
    Result,
    /// The answer comes within the time limit.
    TimeLimit,
    /// The same call of a read-only or idempotent tool gets the same answer again.
    Repeat,
    /// An invalid call gets no answer.
    Accepted,
}

impl Check {
    /// All checks.
    pub const ALL: [Self; 6] =
        [Self::Failure, Self::Crash, Self::Result, Self::TimeLimit, Self::Repeat, Self::Accepted];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Failure => "failure",
            Self::Crash => "crash",
            Self::Result => "result",
            Self::TimeLimit => "time-limit",
            Self::Repeat => "repeat",
            Self::Accepted => "accepted",
        }
    }

    /// What an implementation does that does not pass it.
    pub const fn documentation(self) -> &'static str {
        match self {
            Self::Failure => "A valid call fails",
            Self::Crash => "The implementation crashes, or its output cannot be read",
            Self::Result => "The result is not of the tool's result type",
            Self::TimeLimit => "The answer takes longer than the time limit",
            Self::Repeat => "A read-only or idempotent tool answers the same call differently",
            Self::Accepted => "An invalid call gets an answer; gramc refuses such calls by itself",
        }
    }
}

/// A call that shows what is wrong, as small as it could be made.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Violation {
    /// What it violates.
    pub check: Check,
    /// What happened, as a sentence.
    pub message: String,
    /// The arguments of the call.
    pub arguments: Value,
}

/// How many calls were made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Valid calls.
    pub valid: usize,
    /// Valid calls that failed.
    pub failed: usize,
    /// Calls that were made once more, to compare the answers.
    pub repeated: usize,
    /// Invalid calls.
    pub invalid: usize,
    /// Invalid calls that got an answer.
    pub accepted: usize,
}

/// What the tests of one tool came to.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolReport {
    /// The tool.
    pub tool: SmolStr,
    /// The kind of its implementation, if it has one.
    pub implementation: Option<&'static str>,
    /// Why it was not tested, or not to the end.
    pub skipped: Option<String>,
    /// How many calls were made.
    pub counts: Counts,
    /// What is wrong, at most one for each check.
    pub violations: Vec<Violation>,
}

impl ToolReport {
    /// `failed` if there are violations, else `skipped` if nothing ran, else `passed`.
    pub fn status(&self) -> &'static str {
        if !self.violations.is_empty() {
            "failed"
        } else if self.counts.valid == 0 {
            "skipped"
        } else {
            "passed"
        }
    }

    /// The report as JSON.
    pub fn json(&self) -> Value {
        let mut value = json!({
            "tool": self.tool.as_str(),
            "implementation": self.implementation,
            "status": self.status(),
            "calls": self.counts,
            "violations": self.violations,
        });
        if let Some(why) = &self.skipped {
            value["reason"] = why.as_str().into();
        }
        value
    }
}

/// What the comparison of two implementations of one tool came to.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// The tool.
    pub tool: SmolStr,
    /// Why it was not compared, or not to the end.
    pub skipped: Option<String>,
    /// How many calls both got.
    pub calls: usize,
    /// The smallest call found that they answer differently, with both answers.
    pub difference: Option<(Value, [String; 2])>,
}

impl Comparison {
    /// `different`, `same`, or `skipped` if nothing ran.
    pub fn status(&self) -> &'static str {
        match (&self.difference, self.calls) {
            (Some(_), _) => "different",
            (None, 0) => "skipped",
            (None, _) => "same",
        }
    }

    /// The comparison as JSON.
    pub fn json(&self) -> Value {
        let mut value =
            json!({"tool": self.tool.as_str(), "status": self.status(), "calls": self.calls});
        if let Some((arguments, answers)) = &self.difference {
            value["witness"] = arguments.clone();
            value["answers"] = json!(answers);
        }
        if let Some(why) = &self.skipped {
            value["reason"] = why.as_str().into();
        }
        value
    }
}
