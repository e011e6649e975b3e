//! Counts of the events of a run.

use gramc_agent::{Event, Observer, Usage};
use gramc_tools::{CallError, Verdict};
use parking_lot::Mutex;

use crate::grading::transcript::RecordedCall;

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
                counts.add_usage(agent, reply.usage);
                if counts.model.is_none() {
                    counts.model.clone_from(&reply.model);
                }
            }
            Event::ToolCalled { call, verdict, .. } => {
                self.0.lock().add_call(&call.name, &call.arguments, verdict);
            }
            _ => {}
        }
    }
}

impl RunCounts {
    fn add_usage(&mut self, agent: &str, usage: Usage) {
        match self.usage.iter_mut().find(|(known, _)| known == agent) {
            Some((_, known)) => known.add(usage),
            None => self.usage.push((agent.to_owned(), usage)),
        }
    }

    fn add_call(&mut self, name: &str, sent: &str, verdict: &Verdict) {
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
