//! Agents that ask their models themselves: programs, and functions of the host program.

use std::sync::Arc;
use std::time::{Duration, Instant};

use gramc_tools::{FinishedCall, Verdict};
use serde::Deserialize;
use serde_json::Value;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};

use crate::function::{AgentFunction, RunningFunction};
use crate::message::{Message, ModelCall, Usage};
use crate::model::{Model, ModelError, ModelErrorKind, ModelRequest, ReplyFuture, StreamSink};
use crate::program::{AgentProgram, RunningProgram};

/// Maximum characters of an invalid answer in messages.
const MAX_SHOWN: usize = 80;

/// An agent that asks its model itself.
#[derive(Debug)]
pub(crate) enum ExternalAgent {
    Program(AgentProgram),
    Function(Arc<dyn AgentFunction>),
}

#[derive(Debug)]
pub(crate) enum RunningAgent {
    Program(Box<RunningProgram>),
    Function(RunningFunction),
}

/// A finished call of an external agent.
#[derive(Debug)]
pub(crate) struct AgentCall {
    pub(crate) call: ModelCall,
    pub(crate) verdict: Verdict,
    pub(crate) took: Duration,
}

/// An answer of an external agent.
#[derive(Debug)]
pub(crate) struct AgentAnswer {
    pub(crate) text: String,
    pub(crate) usage: Usage,
    /// The model, if the agent says it.
    pub(crate) model: Option<String>,
    /// The number of model requests, or 0 if the agent does not say.
    pub(crate) requests: u32,
    /// The time since the message was sent.
    pub(crate) took: Duration,
}

/// The form of an answer that is more than a text.
#[derive(Deserialize)]
pub(crate) struct AnswerFields {
    output: Option<Value>,
    error: Option<String>,
    model: Option<String>,
    usage: Option<AnswerUsage>,
}

#[derive(Default, Deserialize)]
struct AnswerUsage {
    #[serde(flatten)]
    tokens: Usage,
    requests: Option<u32>,
}

impl RunningAgent {
    /// The request for a message of the user. `before` are the messages before it that the agent has
    /// not seen.
    pub(crate) fn request(&self, text: &str, before: &[Message]) -> String {
        match self {
            Self::Program(program) => program.line(text, before),
            Self::Function(_) => text.to_owned(),
        }
    }

    /// Sends a request, waits for the answer, and hands over the calls that are made before it.
    pub(crate) async fn ask(
        &mut self,
        request: &str,
        on_call: impl FnMut(AgentCall),
    ) -> Result<AgentAnswer, ModelError> {
        match self {
            Self::Program(program) => program.ask(request, on_call).await,
            Self::Function(function) => function.ask(request, on_call).await,
        }
    }

    /// Ends the agent, and gives a program time to exit.
    pub(crate) async fn close(self) {
        if let Self::Program(program) = self {
            program.close().await;
        }
    }
}

impl AgentCall {
    /// Reports finished calls to a channel.
    pub(crate) fn observer(
        sender: UnboundedSender<Self>,
    ) -> impl Fn(&FinishedCall<'_>) + Send + Sync {
        move |call| {
            let FinishedCall { id, name, arguments, verdict, took } = *call;
            let (id, name, arguments) = (id.to_owned(), name.to_owned(), arguments.to_owned());
            let call = ModelCall { id, name, arguments };
            // The conversation may have ended.
            let _ = sender.send(Self { call, verdict: verdict.clone(), took });
        }
    }

    /// Hands over the calls that are made until some work is done.
    pub(crate) async fn wait_with_calls<T>(
        calls: &mut UnboundedReceiver<Self>,
        work: impl Future<Output = T>,
        mut on_call: impl FnMut(Self),
    ) -> T {
        let mut work = std::pin::pin!(work);
        let done = loop {
            tokio::select! {
                biased;
                Some(call) = calls.recv() => on_call(call),
                done = &mut work => break done,
            }
        };
        while let Ok(call) = calls.try_recv() {
            on_call(call);
        }
        done
    }
}

impl AnswerFields {
    /// Only an output.
    pub(crate) fn of_output(output: Value) -> Self {
        Self { output: Some(output), error: None, model: None, usage: None }
    }

    /// The answer of the agent `who` to a message that was sent at `start`. `shown` is the answer in
    /// messages.
    pub(crate) fn answer(
        self,
        who: &str,
        shown: &str,
        start: Instant,
    ) -> Result<AgentAnswer, ModelError> {
        let Self { output, error, model, usage } = self;
        if let Some(error) = error {
            // Such as a provider that is busy: the same run may succeed later.
            let detail = format!("{who} reports: {error}");
            return Err(ModelError::new(ModelErrorKind::Unavailable, detail));
        }
        let Some(output) = output else {
            return Err(failure(who, &format!("returned no `output`: {}", shorten_answer(shown))));
        };
        let AnswerUsage { tokens, requests } = usage.unwrap_or_default();
        Ok(AgentAnswer {
            text: match output {
                Value::String(text) => text,
                other => other.to_string(),
            },
            usage: tokens,
            model,
            requests: requests.unwrap_or_default(),
            took: start.elapsed(),
        })
    }
}

/// The beginning of an answer, for messages.
pub(crate) fn shorten_answer(answer: &str) -> String {
    answer.trim_end().chars().take(MAX_SHOWN).collect()
}

/// The error of an agent without an answer.
pub(crate) fn failure(who: &str, what: &str) -> ModelError {
    ModelError::new(ModelErrorKind::Program, format!("{who} {what}"))
}

/// The name of the model that an external agent uses. Requests are the agent's own.
#[derive(Debug)]
pub(crate) struct ExternalModel(pub(crate) String);

impl Model for ExternalModel {
    fn target(&self) -> gramc_schema::Target {
        gramc_schema::Target::Mcp
    }

    fn name(&self) -> &str {
        &self.0
    }

    fn send<'a>(&'a self, _: ModelRequest<'a>, _: StreamSink<'a>) -> ReplyFuture<'a> {
        let detail = "the agent asks its model itself";
        Box::pin(async move { Err(ModelError::new(ModelErrorKind::Rejected, detail)) })
    }
}
