//! What came of one run.

use std::sync::{Mutex, MutexGuard, PoisonError};

use gram_tools::{CallError, Verdict};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use gram_agent::{Event, Observer};
use gram_agent::{Message, Usage};

/// What came of one run: a case in an arm, once. It is a line of `runs.jsonl`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// Its place in the order of the experiment, from 0.
    pub place: usize,
    /// The case.
    pub case: String,
    /// The arm.
    pub arm: String,
    /// Which time of the case, from 0.
    pub repeat: u32,
    /// Whether it came to what the case expects; nothing where the case expects nothing.
    #[serde(default)]
    pub success: Option<bool>,
    /// What it misses.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missed: Vec<String>,
    /// Why it is over, as turns say it: `answered` where all is well.
    pub end: String,
    /// Calls of tools.
    pub calls: u32,
    /// Calls that were refused before anything ran.
    pub refused: u32,
    /// Values that were repaired.
    pub repairs: u32,
    /// The most tries that one tool needed until a call of it went through.
    pub attempts: u32,
    /// How often models were asked.
    pub iterations: u32,
    /// Tokens that were sent and came back; nothing where the provider does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// What the tokens cost, where there is a price.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
    /// How long it took, in milliseconds.
    pub latency_ms: f64,
    /// The last text of the model.
    pub text: String,
    /// What was said, called and answered. What secret parameters held is masked.
    pub messages: Vec<Message>,
}

/// What a run took; each field as [`Run`] has it.
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
    /// What it took.
    pub fn measures(&self) -> RunMetrics {
        let Self {
            calls, refused, repairs, attempts, iterations, tokens, cost, latency_ms, ..
        } = *self;
        RunMetrics { calls, refused, repairs, attempts, iterations, tokens, cost, latency_ms }
    }
}

/// What a grader looks at.
#[derive(Debug, Clone, Default)]
pub(crate) struct Transcript {
    pub(crate) case: String,
    pub(crate) arm: String,
    pub(crate) text: String,
    pub(crate) messages: Vec<Message>,
    pub(crate) calls: Vec<RecordedCall>,
}

/// A call as the tool received it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RecordedCall {
    pub(crate) name: String,
    /// Repaired and complete where the call went through; else as the model wrote them.
    pub(crate) arguments: Value,
    pub(crate) ok: bool,
}

/// Counts what happens in a run.
#[derive(Debug, Default)]
pub(crate) struct RunCounter(Mutex<RunCounts>);

/// What was counted.
#[derive(Debug, Default)]
pub(crate) struct RunCounts {
    pub(crate) calls: Vec<RecordedCall>,
    pub(crate) refused: u32,
    pub(crate) repairs: u32,
    pub(crate) attempts: u32,
    pub(crate) iterations: u32,
    /// By agent, what was used.
    pub(crate) usage: Vec<(String, Usage)>,
    /// Tools and how often in a row each was refused.
    rows: Vec<(String, u32)>,
}

impl RunCounter {
    fn counts(&self) -> MutexGuard<'_, RunCounts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What was counted up to now; from here on it counts anew.
    pub(crate) fn take(&self) -> RunCounts {
        std::mem::take(&mut self.counts())
    }
}

impl Observer for RunCounter {
    fn on_event(&self, agent: &str, event: &Event<'_>) {
        match event {
            Event::ModelRequested { .. } => self.counts().iterations += 1,
            Event::ModelReplied { reply, .. } => self.counts().used(agent, reply.usage),
            Event::ToolCalled { call, verdict, .. } => {
                self.counts().called(&call.name, &call.arguments, verdict);
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

/// Whether a call was refused before anything ran.
fn is_refusal(error: &CallError) -> bool {
    !matches!(error, CallError::Invocation { .. } | CallError::Timeout { .. })
}
