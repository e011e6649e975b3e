//! OpenTelemetry spans of runs, following its semantic conventions for generative AI.
//!
//! A turn is a span `invoke_agent NAME` that contains the model requests (`chat MODEL`) and the
//! tool calls (`execute_tool NAME`). The turn of a called agent is inside the call. Message contents
//! are only recorded on request.

mod calls;
mod contents;
mod export;
mod histograms;
mod otlp;

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use gramc_tools::{CallError, Verdict};
use parking_lot::Mutex;
use serde_json::Value;
use smol_str::SmolStr;

use crate::message::{ModelCall, Reply, Usage};
use crate::model::ModelRequest;
use crate::observer::{Event, Observer};
use crate::team::AgentTeam;
use crate::turn::{TurnEnd, TurnResult};

pub use export::{Telemetry, TelemetryError};

use self::export::SpanQueue;
use self::histograms::MODEL_OPERATION;
use self::otlp::{Attribute, Span, SpanIds, SpanKind};

/// Records one conversation as spans.
pub struct SpanRecorder {
    shared: Arc<SpanContext>,
    /// The call that the conversation belongs to, if any.
    parent: Option<SpanIds>,
    conversation: String,
    state: Mutex<OpenSpans>,
}

/// The data that the conversations of one run share.
struct SpanContext {
    queue: SpanQueue,
    contents: bool,
    agents: HashMap<SmolStr, ModelIdentity>,
}

/// The model of an agent.
struct ModelIdentity {
    provider: String,
    model: String,
}

impl ModelIdentity {
    fn new(name: &str) -> Self {
        let (provider, model) = name.split_once('/').unwrap_or(("", name));
        Self { provider: provider_name(provider).to_owned(), model: model.to_owned() }
    }
}

/// The spans that are not ended.
#[derive(Default)]
struct OpenSpans {
    turn: Option<Span>,
    request: Option<OpenRequest>,
    /// Calls of agents, by id.
    calls: HashMap<String, Span>,
    /// The model that replaced the one of the agent, if any.
    model: Option<ModelIdentity>,
}

impl Span {
    /// A span that starts now.
    fn start(
        queue: &SpanQueue,
        name: String,
        attributes: Vec<Attribute>,
        parent: Option<SpanIds>,
    ) -> Self {
        let start = SystemTime::now();
        Self {
            ids: queue.new_ids(parent),
            parent,
            trace_state: String::new(),
            name,
            kind: SpanKind::Internal,
            start,
            end: start,
            attributes,
            failed: false,
            instrument: None,
        }
    }

    /// Ends the span. `error` is its type.
    fn end(mut self, queue: &SpanQueue, end: SystemTime, error: Option<&str>) {
        self.attributes.extend(error.map(|error| Attribute::new("error.type", error)));
        queue.send(Self { end, failed: error.is_some(), ..self });
    }
}

/// The current model request.
#[derive(Clone)]
struct OpenRequest {
    start: SystemTime,
    attributes: Vec<Attribute>,
}

impl fmt::Debug for SpanRecorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SpanRecorder")
            .field("conversation", &self.conversation)
            .finish_non_exhaustive()
    }
}

impl SpanRecorder {
    /// Records a conversation with the first agent of a team.
    pub fn new(telemetry: &Telemetry, team: &AgentTeam) -> Self {
        let known = team.members.iter().zip(&team.models);
        let known =
            known.map(|(member, model)| (member.name.clone(), ModelIdentity::new(model.name())));
        let (queue, contents, agents) =
            (telemetry.queue.clone(), telemetry.contents, known.collect());
        Self::with_parent(Arc::new(SpanContext { queue, contents, agents }), None)
    }

    fn with_parent(shared: Arc<SpanContext>, parent: Option<SpanIds>) -> Self {
        let conversation = uuid::Uuid::new_v4().simple().to_string();
        Self { shared, parent, conversation, state: Mutex::default() }
    }

    fn identity<'i>(&'i self, state: &'i OpenSpans, agent: &str) -> Option<&'i ModelIdentity> {
        state.model.as_ref().or_else(|| self.shared.agents.get(agent))
    }

    /// The attributes of all spans of an agent's model.
    fn model_attributes(&self, operation: &'static str, agent: &str) -> Vec<Attribute> {
        let mut all = vec![
            Attribute::new("gen_ai.operation.name", operation),
            Attribute::new("gen_ai.conversation.id", self.conversation.clone()),
        ];
        if let Some(known) = self.identity(&self.state.lock(), agent) {
            all.push(Attribute::new("gen_ai.provider.name", known.provider.clone()));
            all.push(Attribute::new("gen_ai.request.model", known.model.clone()));
        }
        all
    }

    /// The span that contains the requests and calls of the turn.
    fn parent(&self, state: &OpenSpans) -> Option<SpanIds> {
        state.turn.as_ref().map(|turn| turn.ids).or(self.parent)
    }

    fn start_turn(&self, agent: &str) {
        let mut attributes = self.model_attributes("invoke_agent", agent);
        attributes.push(Attribute::new("gen_ai.agent.name", agent.to_owned()));
        let name = format!("invoke_agent {agent}");
        let turn = Span::start(&self.shared.queue, name, attributes, self.parent);
        let mut state = self.state.lock();
        let model = state.model.take();
        *state = OpenSpans { turn: Some(turn), model, ..OpenSpans::default() };
    }

    fn start_request(&self, agent: &str, request: &ModelRequest<'_>) {
        let mut attributes = self.model_attributes("chat", agent);
        let mut put = |key, value: Value| {
            attributes.extend((!value.is_null()).then(|| Attribute::new(key, value)));
        };
        let sampling = request.sampling;
        put("gen_ai.request.temperature", sampling.temperature.into());
        put("gen_ai.request.top_p", sampling.top_p.into());
        put("gen_ai.request.max_tokens", sampling.max_tokens.into());
        put("gen_ai.request.seed", sampling.seed.into());
        put("gen_ai.request.stream", request.stream.then_some(true).into());
        if self.shared.contents {
            put("gen_ai.system_instructions", contents::instruction(request.instruction).into());
            put("gen_ai.input.messages", contents::messages(request.messages).into());
            put("gen_ai.tool.definitions", contents::tools(request.tools).into());
        }
        let start = SystemTime::now();
        self.state.lock().request = Some(OpenRequest { start, attributes });
    }

    /// Ends the span of a model request. A retry starts a new one after the delay.
    fn end_request(
        &self,
        agent: &str,
        outcome: Result<&Reply, &'static str>,
        again: Option<Duration>,
    ) {
        let mut state = self.state.lock();
        let Some(request) = state.request.take() else { return };
        let OpenRequest { start, mut attributes } = request.clone();
        let now = SystemTime::now();
        // The turn ended during the delay before a retry.
        if start > now {
            return;
        }
        let model = self.identity(&state, agent);
        let (kind, instrument) = match model {
            Some(known) if known.provider == "scripted" => (SpanKind::Internal, None),
            _ => (SpanKind::Client, Some(&MODEL_OPERATION)),
        };
        let name = format!("chat {}", model.map_or("", |known| known.model.as_str()));
        state.request = again.and_then(|wait| {
            let start = now.checked_add(wait)?;
            Some(OpenRequest { start, ..request })
        });
        if let Ok(reply) = outcome {
            attributes.extend(usage(reply.usage));
            let finish_reason = reply.finish_reason.name(!reply.message.tool_calls.is_empty());
            let reasons = vec![finish_reason];
            attributes.push(Attribute::new("gen_ai.response.finish_reasons", reasons));
            if self.shared.contents {
                let message = contents::reply(&reply.message, finish_reason);
                attributes.push(Attribute::new("gen_ai.output.messages", message));
            }
        }
        let queue = &self.shared.queue;
        let span = Span::start(queue, name, attributes, self.parent(&state));
        Span { kind, start, instrument, ..span }.end(queue, now, outcome.err());
    }

    fn call_attributes(&self, id: &str, name: &str) -> (String, Vec<Attribute>) {
        let attributes = vec![
            Attribute::new("gen_ai.operation.name", "execute_tool"),
            Attribute::new("gen_ai.conversation.id", self.conversation.clone()),
            Attribute::new("gen_ai.tool.name", name.to_owned()),
            Attribute::new("gen_ai.tool.call.id", id.to_owned()),
            Attribute::new("gen_ai.tool.type", "function"),
        ];
        (format!("execute_tool {name}"), attributes)
    }

    fn end_call(&self, call: &ModelCall, verdict: &Verdict, took: Duration) {
        let now = SystemTime::now();
        let mut state = self.state.lock();
        let mut span = state.calls.remove(&call.id).unwrap_or_else(|| {
            let (name, attributes) = self.call_attributes(&call.id, &call.name);
            let start = now.checked_sub(took).unwrap_or(now);
            let parent = self.parent(&state);
            Span { start, ..Span::start(&self.shared.queue, name, attributes, parent) }
        });
        if self.shared.contents {
            span.attributes.extend(contents::call(&call.arguments, verdict));
        }
        let error = verdict.outcome.as_ref().err().map(CallError::error_type);
        span.end(&self.shared.queue, now, error);
    }

    fn end_turn(&self, agent: &str, turn: &TurnResult) {
        let error = match &turn.end {
            TurnEnd::Answered => None,
            TurnEnd::Failed(error) => Some(error.kind.name()),
            TurnEnd::Time(_) => Some("timeout"),
            other => Some(other.name()),
        };
        // Requests and calls that are still open end with the turn.
        self.end_request(agent, Err(error.unwrap_or("_OTHER")), None);
        let mut open = self.state.lock();
        let model = open.model.take();
        let state = std::mem::replace(&mut *open, OpenSpans { model, ..OpenSpans::default() });
        drop(open);
        for call in state.calls.into_values() {
            call.end(&self.shared.queue, SystemTime::now(), Some("_OTHER"));
        }
        let Some(mut span) = state.turn else { return };
        span.attributes.extend(usage(turn.usage));
        span.end(&self.shared.queue, SystemTime::now(), error);
    }
}

impl Observer for SpanRecorder {
    fn on_event(&self, agent: &str, event: &Event<'_>) {
        match event {
            Event::TurnStarted { .. } => self.start_turn(agent),
            Event::ModelRequested { request, .. } => self.start_request(agent, request),
            Event::ModelRetried { error, wait } => {
                self.end_request(agent, Err(error.kind.name()), Some(*wait));
            }
            Event::ModelReplaced { error, model } => {
                self.end_request(agent, Err(error.kind.name()), None);
                self.state.lock().model = Some(ModelIdentity::new(model));
            }
            Event::ModelReplied { reply, .. } => self.end_request(agent, Ok(reply), None),
            Event::ToolCalled { call, verdict, took } => self.end_call(call, verdict, *took),
            Event::TurnEnded(turn) => self.end_turn(agent, turn),
            Event::ReplyText(_)
            | Event::CallBegan { .. }
            | Event::CallGrew { .. }
            | Event::AnswerRejected { .. } => {}
        }
    }

    fn observe_call<'w>(&'w self, id: &str, agent: &str) -> Option<Box<dyn Observer + 'w>> {
        let mut state = self.state.lock();
        let (name, attributes) = self.call_attributes(id, agent);
        let call = Span::start(&self.shared.queue, name, attributes, self.parent(&state));
        let parent = Some(call.ids);
        state.calls.insert(id.to_owned(), call);
        Some(Box::new(Self::with_parent(Arc::clone(&self.shared), parent)))
    }
}

fn usage(usage: Usage) -> impl Iterator<Item = Attribute> {
    let counts = [
        ("gen_ai.usage.input_tokens", usage.input_tokens),
        ("gen_ai.usage.output_tokens", usage.output_tokens),
    ];
    counts.into_iter().filter_map(|(key, count)| Some(Attribute::new(key, count?)))
}

/// The name of a provider in the semantic conventions.
fn provider_name(own: &str) -> &str {
    match own {
        "openai-responses" => "openai",
        "gemini" => "gcp.gemini",
        "mistral" => "mistral_ai",
        other => other,
    }
}
