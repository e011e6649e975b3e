//! Runs and their measurements.

use gramc_agent::Message;
use serde::{Deserialize, Serialize};

use crate::evaluation::{EvaluatorUse, Judgement, Preference};

/// A finished run: a case in an arm. A line of `runs.jsonl`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// The place in the plan, from 0.
    pub place: usize,
    /// The id of the case.
    pub case: String,
    /// The name of the arm.
    pub arm: String,
    /// The repeat, from 0.
    pub repeat: u32,
    /// When it began, in the form of RFC 3339.
    #[serde(default)]
    pub started_at: String,
    /// The model, as the provider names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The seed of the experiment, which gave the order.
    #[serde(default)]
    pub seed: u64,
    /// Whether the run meets the expectation of its case, if there is one.
    pub success: Option<bool>,
    /// The judgement, if the case has a rubric.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judgement: Option<Judgement>,
    /// Comparisons of arms with the first one that became possible with this run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub preferences: Vec<Preference>,
    /// The use of judges and simulated users. It does not count as the arm's.
    #[serde(default, skip_serializing_if = "EvaluatorUse::is_none")]
    pub evaluation: EvaluatorUse,
    /// The expectations that are not met.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missed: Vec<String>,
    /// Why the run ended. `answered` if the model answered.
    pub end: String,
    /// Tool calls.
    pub calls: u32,
    /// Calls that were refused before they ran.
    pub refused: u32,
    /// Repaired argument values.
    pub repairs: u32,
    /// The most attempts that a tool needed until a call was accepted.
    pub attempts: u32,
    /// Model requests. 0 if they are not known.
    pub iterations: u32,
    /// Input and output tokens, if the provider reports them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// The cost, if prices are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
    /// The duration in milliseconds.
    pub latency_ms: f64,
    /// The last text of the model.
    pub text: String,
    /// The conversation. Values of secret parameters are masked.
    pub messages: Vec<Message>,
}

/// The measurements of a [`Run`].
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[allow(missing_docs, reason = "the fields of `Run` say it")]
pub struct RunMetrics {
    pub calls: u32,
    pub refused: u32,
    pub repairs: u32,
    pub attempts: u32,
    pub iterations: u32,
    pub tokens: Option<u64>,
    pub cost: Option<f64>,
    pub latency_ms: f64,
}

/// The success and measurements of a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RunSummary {
    /// Whether the run succeeded, if that is known.
    pub success: Option<bool>,
    /// The judgement, if there is one: the score, and whether it suffices.
    pub judged: Option<(f64, bool)>,
    pub measures: RunMetrics,
}

impl Run {
    /// The measurements.
    pub fn measures(&self) -> RunMetrics {
        let Self {
            calls, refused, repairs, attempts, iterations, tokens, cost, latency_ms, ..
        } = *self;
        RunMetrics { calls, refused, repairs, attempts, iterations, tokens, cost, latency_ms }
    }
}
