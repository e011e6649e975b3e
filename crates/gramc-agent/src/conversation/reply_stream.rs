//! A reply that the model is writing: the one place that knows the reply so far.

use std::collections::HashSet;
use std::mem;
use std::sync::Arc;

use gramc_calls::check::Policy;
use gramc_tools::{CallStream, Session};
use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;

use super::AgentTools;
use super::mask::{MaskedText, mask_value, mask_verdict};
use crate::message::{AssistantMessage, FinishReason, Message, ModelCall, Reply, Usage};
use crate::model::ReplyDelta;
use crate::observer::{Event, Observer};
use crate::team::{AgentTeam, PreparedAgent};

/// Reports a reply while the model writes it.
pub(super) struct ReplyStream<'r> {
    pub(super) team: &'r AgentTeam,
    pub(super) member: &'r PreparedAgent,
    pub(super) tools: &'r AgentTools,
    pub(super) session: Arc<Session>,
    pub(super) observer: &'r dyn Observer,
    /// Whether calls are reported and checked.
    pub(super) checks_calls: bool,
    pub(super) secrets: Vec<String>,
    /// The ids of the calls before the reply.
    pub(super) ids: CallIds,
    pub(super) so_far: Mutex<ReplySoFar>,
    /// Cancelled when a call cannot be valid any more.
    pub(super) refused: CancellationToken,
}

#[derive(Default)]
pub(super) struct ReplySoFar {
    text: String,
    shown: MaskedText,
    calls: Vec<WrittenCall>,
    /// The number of calls that were reported.
    begun: usize,
    /// The ids of all calls, once a call of the reply has begun.
    ids: Option<CallIds>,
    /// Whether a call has secret parameters. Later pieces may contain their values.
    has_secrets: bool,
}

#[derive(Default)]
struct WrittenCall {
    /// The call in the form of the provider.
    call: ModelCall,
    /// The call that is reported and checked, unless its tool has secret parameters.
    stream: Option<CallStream>,
    /// Whether the arguments are checked while they are written, not when they are complete.
    grows: bool,
    /// The parameter whose text grows.
    parameter: String,
    shown: MaskedText,
}

/// The ids of the calls of a conversation.
#[derive(Debug, Clone, Default)]
pub(super) struct CallIds {
    used: HashSet<String>,
    count: usize,
}

impl CallIds {
    /// The ids in a conversation.
    pub(super) fn new(messages: &[Message]) -> Self {
        let known = || messages.iter().flat_map(Message::calls);
        Self { used: known().map(|call| call.id.clone()).collect(), count: known().count() }
    }

    /// Assigns a unique id to a call that has none.
    pub(super) fn assign(&mut self, call: &mut ModelCall) {
        self.count += 1;
        if call.id.is_empty() || self.used.contains(&call.id) {
            call.id = format!("call_{}", self.count);
            while self.used.contains(&call.id) {
                self.count += 1;
                call.id = format!("call_{}", self.count);
            }
        }
        self.used.insert(call.id.clone());
    }
}

/// Begins the stream of a call of a tool or of another agent.
pub(super) fn begin_stream(
    team: &AgentTeam,
    member: &PreparedAgent,
    session: &Session,
    call: &ModelCall,
) -> CallStream {
    let id = Some(call.id.clone());
    if member.agents.iter().any(|(name, _)| *name == call.name) {
        return session.begin_stream_with(&call.name, id, &team.message, Policy::default());
    }
    session.begin_stream(&call.name, id)
}

impl ReplyStream<'_> {
    /// Adds a piece of the reply.
    pub(super) fn add(&self, delta: ReplyDelta<'_>) {
        let so_far = &mut *self.so_far.lock();
        match delta {
            ReplyDelta::Text(text) => {
                so_far.text.push_str(text);
                let shown = so_far.shown.push(&self.secrets, text, so_far.has_secrets);
                self.report_text(&shown);
            }
            ReplyDelta::Call { index, id, name, arguments } if self.checks_calls => {
                if so_far.calls.len() <= index {
                    so_far.calls.resize_with(index + 1, WrittenCall::default);
                }
                // A call has begun when its arguments begin, or another call does.
                let begun = if arguments.is_empty() { index } else { index + 1 };
                if let Some(WrittenCall { call, .. }) = so_far.calls.get_mut(index) {
                    call.arguments.push_str(arguments);
                    if so_far.begun <= index {
                        (call.id, call.name) = (id.to_owned(), name.to_owned());
                    }
                }
                while so_far.begun < begun {
                    self.begin(so_far);
                }
                if let Some(written) = so_far.calls.get_mut(index).filter(|it| it.grows) {
                    self.feed(written, arguments);
                }
            }
            // A request that is about to be stopped is not retried.
            ReplyDelta::Retry { error, wait } if !self.refused.is_cancelled() => {
                *so_far = ReplySoFar::default();
                self.report(&Event::ModelRetried { error, wait });
            }
            ReplyDelta::Call { .. } | ReplyDelta::Retry { .. } => {}
        }
    }

    /// Begins the next call.
    fn begin(&self, so_far: &mut ReplySoFar) {
        let Some(written) = so_far.calls.get_mut(so_far.begun) else { return };
        so_far.begun += 1;
        so_far.ids.get_or_insert_with(|| self.ids.clone()).assign(&mut written.call);
        if !self.checks_calls {
            return;
        }
        let (name, is_unchanged) = self.tools.original(&written.call.name);
        let call = ModelCall { name: name.to_owned(), ..written.call.clone() };
        self.report(&Event::CallBegan { id: &call.id, name });
        let has_secrets = self.session.redact(name, "").is_some();
        so_far.has_secrets |= has_secrets;
        written.grows = is_unchanged && !so_far.has_secrets;
        written.stream =
            (!has_secrets).then(|| begin_stream(self.team, self.member, &self.session, &call));
    }

    /// Adds a piece of the arguments of a call, and reports what became certain.
    fn feed(&self, written: &mut WrittenCall, arguments: &str) {
        let WrittenCall { call, stream: Some(stream), parameter, shown, .. } = written else {
            return;
        };
        stream.feed(arguments);
        let mut update = stream.update();
        for (_, value) in &mut update.set {
            *value = mask_value(&self.secrets, value);
        }
        for (name, text) in &mut update.append {
            if name != parameter {
                (*parameter, *shown) = (name.clone(), MaskedText::default());
            }
            *text = shown.push(&self.secrets, text.as_str().unwrap_or_default(), false).into();
        }
        update.append.retain(|_, text| *text != "");
        update.error = update.error.map(|error| mask_verdict(&self.secrets, &error).into_owned());
        if !update.is_empty() {
            self.report(&Event::CallGrew { id: &call.id, update: &update });
        }
        if update.error.is_some() {
            self.refused.cancel();
        }
    }

    /// The reply so far, whose request was stopped because of a call.
    pub(super) fn stop(&self) -> Reply {
        let so_far = &mut *self.so_far.lock();
        let content = (!so_far.text.is_empty()).then(|| so_far.text.clone());
        let calls = so_far.calls.iter().take(so_far.begun).map(|it| it.call.clone());
        let message =
            AssistantMessage { content, tool_calls: calls.collect(), ..Default::default() };
        let usage = Usage { stopped: Some(1), ..Usage::default() };
        let finish_reason = FinishReason::Stopped;
        Reply { message, usage, finish_reason, ..Reply::default() }
    }

    /// Reports the rest of a reply, with its calls as the specification declares them, and assigns
    /// the ids of its calls.
    pub(super) fn finish(mut self, reply: &mut Reply, secrets: &[String]) {
        self.secrets = secrets.to_vec();
        let mut so_far = mem::take(&mut *self.so_far.lock());
        self.report_text(&so_far.shown.finish(secrets));
        so_far.calls.resize_with(reply.message.tool_calls.len(), WrittenCall::default);
        for (at, call) in reply.message.tool_calls.iter_mut().enumerate() {
            if at >= so_far.begun {
                so_far.calls[at].call = ModelCall { arguments: String::new(), ..call.clone() };
                self.begin(&mut so_far);
            }
            let written = &mut so_far.calls[at];
            call.id.clone_from(&written.call.id);
            let fed = if written.grows { &*written.call.arguments } else { "" };
            // Some providers change the arguments at the end.
            let rest = call.arguments.strip_prefix(fed).unwrap_or_default();
            if reply.finish_reason != FinishReason::Stopped {
                self.feed(written, rest);
            }
        }
    }

    fn report_text(&self, text: &str) {
        if !text.is_empty() {
            self.report(&Event::ReplyText(text));
        }
    }

    fn report(&self, event: &Event<'_>) {
        self.observer.on_event(&self.member.name, event);
    }
}
