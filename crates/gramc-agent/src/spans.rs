//! OpenTelemetry spans of runs, following its semantic conventions for generative AI.
//!
//! A turn is a span `invoke_agent NAME` that contains the model requests (`chat MODEL`) and the
//! tool calls (`execute_tool NAME`). The turn of a called agent is inside the call. Message contents
//! are only recorded on request.

mod contents;
mod export;

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use gramc_tools::Verdict;
use opentelemetry::trace::{Span as _, SpanBuilder, SpanKind, Status, TraceContextExt as _};
use opentelemetry::{Context, KeyValue, StringValue, Value};
use opentelemetry_sdk::trace::{IdGenerator as _, RandomIdGenerator, SdkTracer};
use parking_lot::Mutex;
use smol_str::SmolStr;

use crate::message::{ModelCall, Reply, Usage};
use crate::model::ModelRequest;
use crate::observer::{Event, Observer};
use crate::team::AgentTeam;
use crate::turn::{TurnEnd, TurnResult};

pub use export::{Telemetry, TelemetryError};

/// Records one conversation as spans.
pub struct SpanRecorder {
    shared: Arc<SpanContext>,
    /// The call that the conversation belongs to, if any.
    parent: Context,
    conversation: StringValue,
    state: Mutex<OpenSpans>,
}

/// What conversations of one run share.
struct SpanContext {
    tracer: SdkTracer,
    contents: bool,
    agents: HashMap<SmolStr, ModelIdentity>,
}

/// The model of an agent.
struct ModelIdentity {
    provider: StringValue,
    model: StringValue,
}

impl ModelIdentity {
    fn new(name: &str) -> Self {
        let (provider, model) = name.split_once('/').unwrap_or(("", name));
        let (provider, model) = (provider_name(provider).to_owned(), model.to_owned());
        Self { provider: provider.into(), model: model.into() }
    }
}

/// The spans that are not ended.
#[derive(Default)]
struct OpenSpans {
    turn: Option<Context>,
    /// The start and the attributes of the current model request.
    request: Option<(SystemTime, Vec<KeyValue>)>,
    /// Calls of agents, by id.
    calls: HashMap<String, Context>,
    /// The model that replaced the one of the agent, if any.
    model: Option<ModelIdentity>,
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
        let (tracer, contents) = (telemetry.tracer.clone(), telemetry.contents);
        let shared = SpanContext { tracer, contents, agents: known.collect() };
        Self::nested(Arc::new(shared), Context::new())
    }

    /// Records tool calls that belong to no agent.
    pub fn of_calls(telemetry: &Telemetry) -> Self {
        let (tracer, contents) = (telemetry.tracer.clone(), telemetry.contents);
        let shared = SpanContext { tracer, contents, agents: HashMap::new() };
        Self::nested(Arc::new(shared), Context::new())
    }

    fn nested(shared: Arc<SpanContext>, parent: Context) -> Self {
        let conversation = RandomIdGenerator::default().new_trace_id().to_string().into();
        Self { shared, parent, conversation, state: Mutex::default() }
    }

    /// The model of an agent.
    fn identity<'i>(&'i self, state: &'i OpenSpans, agent: &str) -> Option<&'i ModelIdentity> {
        state.model.as_ref().or_else(|| self.shared.agents.get(agent))
    }

    /// The attributes of all spans of an agent's model.
    fn model_attributes(&self, operation: &'static str, agent: &str) -> Vec<KeyValue> {
        let mut all = vec![
            KeyValue::new("gen_ai.operation.name", operation),
            KeyValue::new("gen_ai.conversation.id", self.conversation.clone()),
        ];
        if let Some(known) = self.identity(&self.state.lock(), agent) {
            all.push(KeyValue::new("gen_ai.provider.name", known.provider.clone()));
            all.push(KeyValue::new("gen_ai.request.model", known.model.clone()));
        }
        all
    }

    fn start_span(&self, name: String, attributes: Vec<KeyValue>, parent: &Context) -> Context {
        let builder = SpanBuilder::from_name(name).with_kind(SpanKind::Internal);
        let span = builder.with_attributes(attributes);
        Context::new().with_span(span.start_with_context(&self.shared.tracer, parent))
    }

    fn start_turn(&self, agent: &str) {
        let mut attributes = self.model_attributes("invoke_agent", agent);
        attributes.push(KeyValue::new("gen_ai.agent.name", agent.to_owned()));
        let turn = self.start_span(format!("invoke_agent {agent}"), attributes, &self.parent);
        let mut state = self.state.lock();
        let model = state.model.take();
        *state = OpenSpans { turn: Some(turn), model, ..OpenSpans::default() };
    }

    fn start_request(&self, agent: &str, request: &ModelRequest<'_>) {
        let mut attributes = self.model_attributes("chat", agent);
        let mut put = |key, value: Option<Value>| {
            attributes.extend(value.map(|value| KeyValue::new(key, value)));
        };
        let sampling = request.sampling;
        let whole = |count: u64| i64::try_from(count).unwrap_or(i64::MAX).into();
        put("gen_ai.request.temperature", sampling.temperature.map(Value::from));
        put("gen_ai.request.top_p", sampling.top_p.map(Value::from));
        put("gen_ai.request.max_tokens", sampling.max_tokens.map(|most| i64::from(most).into()));
        put("gen_ai.request.seed", sampling.seed.map(whole));
        put("gen_ai.request.stream", request.stream.then_some(Value::Bool(true)));
        if self.shared.contents {
            let attribute = |text: String| Some(Value::from(text));
            put(
                "gen_ai.system_instructions",
                attribute(contents::instruction(request.instruction)),
            );
            put("gen_ai.input.messages", attribute(contents::messages(request.messages)));
            put("gen_ai.tool.definitions", attribute(contents::tools(request.tools)));
        }
        self.state.lock().request = Some((SystemTime::now(), attributes));
    }

    /// Ends the span of a model request. A retry starts a new one after the delay.
    fn end_request(
        &self,
        agent: &str,
        outcome: Result<&Reply, &'static str>,
        again: Option<Duration>,
    ) {
        let mut state = self.state.lock();
        let Some((began, mut attributes)) = state.request.take() else { return };
        let now = SystemTime::now();
        // The turn ended during the delay before a retry.
        if began > now {
            return;
        }
        let model = self.identity(&state, agent);
        let kind = match model {
            Some(known) if known.provider.as_str() == "scripted" => SpanKind::Internal,
            _ => SpanKind::Client,
        };
        let name = format!("chat {}", model.map_or("", |known| known.model.as_str()));
        state.request = again.and_then(|wait| Some((now.checked_add(wait)?, attributes.clone())));
        if let Ok(reply) = outcome {
            attributes.extend(usage(reply.usage));
            let finish_reason = reply.finish_reason.name(!reply.message.tool_calls.is_empty());
            let reasons = Value::Array(vec![StringValue::from(finish_reason)].into());
            attributes.push(KeyValue::new("gen_ai.response.finish_reasons", reasons));
            if self.shared.contents {
                let message = contents::reply(&reply.message, finish_reason);
                attributes.push(KeyValue::new("gen_ai.output.messages", message));
            }
        }
        let builder = SpanBuilder::from_name(name).with_kind(kind);
        let builder = builder.with_start_time(began).with_attributes(attributes);
        let parent = state.turn.as_ref().unwrap_or(&self.parent);
        let mut span = builder.start_with_context(&self.shared.tracer, parent);
        if let Err(error) = outcome {
            span.set_attribute(KeyValue::new("error.type", error));
            span.set_status(Status::error(""));
        }
        span.end_with_timestamp(now);
    }

    fn call_attributes(&self, id: &str, name: &str) -> (String, Vec<KeyValue>) {
        let attributes = vec![
            KeyValue::new("gen_ai.operation.name", "execute_tool"),
            KeyValue::new("gen_ai.conversation.id", self.conversation.clone()),
            KeyValue::new("gen_ai.tool.name", name.to_owned()),
            KeyValue::new("gen_ai.tool.call.id", id.to_owned()),
            KeyValue::new("gen_ai.tool.type", "function"),
        ];
        (format!("execute_tool {name}"), attributes)
    }

    fn end_call(&self, call: &ModelCall, verdict: &Verdict, took: Duration) {
        let now = SystemTime::now();
        let mut state = self.state.lock();
        let call_span = state.calls.remove(&call.id).unwrap_or_else(|| {
            let (name, attributes) = self.call_attributes(&call.id, &call.name);
            let builder = SpanBuilder::from_name(name).with_kind(SpanKind::Internal);
            let builder = builder.with_start_time(now.checked_sub(took).unwrap_or(now));
            let parent = state.turn.as_ref().unwrap_or(&self.parent);
            let builder = builder.with_attributes(attributes);
            Context::new().with_span(builder.start_with_context(&self.shared.tracer, parent))
        });
        let span = call_span.span();
        if let Err(error) = &verdict.outcome {
            span.set_attribute(KeyValue::new("error.type", error.error_type()));
            span.set_status(Status::error(""));
        }
        if self.shared.contents {
            let cut = contents::cut;
            span.set_attribute(KeyValue::new("gen_ai.tool.call.arguments", cut(&call.arguments)));
            span.set_attribute(KeyValue::new("gen_ai.tool.call.result", cut(&verdict.message())));
        }
        span.end_with_timestamp(now);
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
        for call in state.calls.values() {
            call.span().set_status(Status::error(""));
            call.span().end();
        }
        let Some(context) = state.turn else { return };
        let span = context.span();
        span.set_attributes(usage(turn.usage));
        if let Some(error) = error {
            span.set_attribute(KeyValue::new("error.type", error));
            span.set_status(Status::error(""));
        }
        span.end();
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
            Event::ReplyText(_) | Event::AnswerRejected { .. } => {}
        }
    }

    fn observe_call<'w>(&'w self, id: &str, agent: &str) -> Option<Box<dyn Observer + 'w>> {
        let mut state = self.state.lock();
        let (name, attributes) = self.call_attributes(id, agent);
        let call = self.start_span(name, attributes, state.turn.as_ref().unwrap_or(&self.parent));
        state.calls.insert(id.to_owned(), call.clone());
        Some(Box::new(Self::nested(Arc::clone(&self.shared), call)))
    }
}

fn usage(usage: Usage) -> impl Iterator<Item = KeyValue> {
    let counts = [
        ("gen_ai.usage.input_tokens", usage.input_tokens),
        ("gen_ai.usage.output_tokens", usage.output_tokens),
    ];
    counts.into_iter().filter_map(|(key, count)| {
        Some(KeyValue::new(key, i64::try_from(count?).unwrap_or(i64::MAX)))
    })
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
