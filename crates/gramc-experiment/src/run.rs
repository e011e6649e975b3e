//! Runs and their measurements.

use std::sync::Arc;

use gramc_tools::{CallError, Verdict};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::evaluation::{EvaluatorUse, Judgement, Preference};
use gramc_agent::{Event, Observer};
use gramc_agent::{Message, Usage};

/// A finished run: a case in an arm. A line of `runs.jsonl`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
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
    /// What the judge says, if the case has a rubric.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judgement: Option<Judgement>,
    /// Comparisons of arms with the first one that became possible with this run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub preferences: Vec<Preference>,
    /// What judges and simulated users used. It does not count as the arm's.
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

impl Run {
    /// The measurements.
    pub fn measures(&self) -> RunMetrics {
        let Self {
            calls, refused, repairs, attempts, iterations, tokens, cost, latency_ms, ..
        } = *self;
        RunMetrics { calls, refused, repairs, attempts, iterations, tokens, cost, latency_ms }
    }
}

/// The input of a grader.
#[derive(Debug, Clone, Default)]
pub(crate) struct Transcript {
    pub(crate) case: String,
    /// The case as written in its file.
    pub(crate) definition: Arc<str>,
    pub(crate) arm: String,
    pub(crate) text: String,
    pub(crate) messages: Vec<Message>,
    pub(crate) calls: Vec<RecordedCall>,
}

impl Transcript {
    /// The input of programs: the transcript without the name of the arm.
    pub(crate) fn json(&self) -> Value {
        let Self { case, definition, text, messages, calls, .. } = self;
        // It was read before.
        let definition: Value = serde_json::from_str(definition).unwrap_or_default();
        let calls = calls
            .iter()
            .map(|call| json!({"name": call.name, "arguments": call.arguments, "ok": call.ok}));
        let calls: Value = calls.collect();
        json!({
            "case": case, "definition": definition, "text": text, "messages": messages, "calls": calls,
        })
    }
}

/// A call in a transcript.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct RecordedCall {
    /// The name of the tool.
    pub name: String,
    /// The repaired arguments if the call was accepted, else those of the model.
    pub arguments: Value,
    /// Whether the call succeeded.
    pub ok: bool,
}

/// Counts the events of a run.
#[derive(Debug, Default)]
pub(crate) struct RunCounter(Mutex<RunCounts>);

#[derive(Debug, Default)]
pub(crate) struct RunCounts {
    pub(crate) calls: Vec<RecordedCall>,
    pub(crate) refused: u32,
    pub(crate) repairs: u32,
    pub(crate) attempts: u32,
    pub(crate) iterations: u32,
    /// The model of the first reply, as the provider names it.
    pub(crate) model: Option<String>,
    /// Tokens by agent.
    pub(crate) usage: Vec<(String, Usage)>,
    /// Consecutive refused calls by tool.
    rows: Vec<(String, u32)>,
}

impl RunCounter {
    /// Returns the counts and resets them.
    pub(crate) fn take(&self) -> RunCounts {
        std::mem::take(&mut self.0.lock())
    }
}

impl Observer for RunCounter {
    fn on_event(&self, agent: &str, event: &Event<'_>) {
        match event {
            Event::ModelRequested { .. } => self.0.lock().iterations += 1,
            Event::ModelReplied { reply, .. } => {
                let mut counts = self.0.lock();
                counts.used(agent, reply.usage);
                if counts.model.is_none() {
                    counts.model.clone_from(&reply.model);
                }
            }
            Event::ToolCalled { call, verdict, .. } => {
                self.0.lock().called(&call.name, &call.arguments, verdict);
            }
            _ => {}
        }
    }
}

impl RunCounts {
    fn used(&mut self, agent: &str, usage: Usage) {
        match self.usage.iter_mut().find(|(known, _)| known == agent) {
            Some((_, known)) => known.add(usage),
            None => self.usage.push((agent.to_owned(), usage)),
        }
    }

    fn called(&mut self, name: &str, sent: &str, verdict: &Verdict) {
        let arguments = match &verdict.outcome {
            Ok(success) => {
                self.repairs += u32::try_from(success.repairs.len()).unwrap_or(u32::MAX);
                &success.arguments
            }
            Err(_) => sent,
        };
        let arguments = serde_json::from_str(arguments).unwrap_or_else(|_| arguments.into());
        let refused = verdict.outcome.as_ref().is_err_and(is_refusal);
        self.refused += u32::from(refused);
        let known = self.rows.iter().position(|(known, _)| known == name);
        let at = known.unwrap_or_else(|| {
            self.rows.push((name.to_owned(), 0));
            self.rows.len() - 1
        });
        let row = &mut self.rows[at].1;
        *row += 1;
        self.attempts = self.attempts.max(*row);
        if !refused {
            *row = 0;
        }
        self.calls.push(RecordedCall { name: name.to_owned(), arguments, ok: verdict.is_ok() });
    }
}

/// Whether a call was refused before it ran.
fn is_refusal(error: &CallError) -> bool {
    !matches!(error, CallError::Invocation { .. } | CallError::Timeout { .. })
}
