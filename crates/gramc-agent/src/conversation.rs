//! Conversations with agents.

mod agent_call;
mod answers;
mod external_turn;
mod mask;
mod reply_stream;

use std::sync::Arc;
use std::time::Instant;

use futures_util::{StreamExt, stream};
use gramc_tools::{Call, CallError, Callers, Image, ReplyEnding, Session, Warning};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use crate::external::RunningAgent;
use crate::message::{FinishReason, Message, ModelCall, Reply, Usage};
use crate::model::{Model, ModelError, ModelErrorKind, ModelRequest, ReplyDelta};
use crate::observer::{Event, Observer};
use crate::team::{AgentTeam, PreparedAgent};
use crate::text_calls::{TextCallRules, read_calls};
use crate::tools::AgentTools;
use crate::turn::{Limits, Streaming, TurnEnd, TurnResult};
use agent_call::{agent_verdict, call_agent};
use mask::mask_verdict;
use reply_stream::{CallIds, ReplyStream, begin_stream};

/// Maximum concurrent calls of one reply. Tools may have lower limits.
const MAX_CONCURRENT_CALLS: usize = 16;
/// Maximum agents that one reply may call. Further calls are refused.
pub(crate) const MAX_AGENT_CALLS: usize = 8;
/// Maximum depth of agents that call agents.
pub(crate) const MAX_AGENT_DEPTH: usize = 5;

/// A conversation with the first agent of a team.
#[derive(Debug)]
pub struct Conversation {
    team: Arc<AgentTeam>,
    member: usize,
    session: Arc<Session>,
    messages: Vec<Message>,
    usage: Usage,
    limits: Limits,
    depth: usize,
    /// The number of models that were unavailable.
    given_up: usize,
    /// The agent, if it is external and runs.
    external: Option<RunningAgent>,
    /// Values of secret parameters, which are masked in events and saved conversations.
    secrets: Vec<String>,
}

/// A conversation that can be resumed. Values of secret parameters are masked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedConversation {
    /// The name of the agent.
    pub agent: String,
    /// All messages.
    pub messages: Vec<Message>,
    /// The tokens of all turns.
    #[serde(default)]
    pub usage: Usage,
}

impl Conversation {
    /// Starts a conversation.
    pub fn new(team: &Arc<AgentTeam>, limits: Limits) -> Self {
        Self::of_member(team, 0, limits, 0)
    }

    fn of_member(team: &Arc<AgentTeam>, member: usize, limits: Limits, depth: usize) -> Self {
        let session = match team.members.get(member) {
            Some(agent) if agent.external.is_none() => {
                new_session(team, agent).with_callers(Callers::OneModel)
            }
            Some(agent) => new_session(team, agent),
            None => Session::new(&team.bound),
        };
        let secrets = session.bound().secrets().to_vec();
        let mut conversation = Self {
            team: Arc::clone(team),
            member,
            session: Arc::new(session),
            messages: Vec::new(),
            usage: Usage::default(),
            limits,
            depth,
            given_up: 0,
            external: None,
            secrets: Vec::new(),
        };
        conversation.mask_from_now_on(secrets);
        conversation
    }

    /// Resumes a conversation. Containers that were expanded are expanded again.
    pub fn resume(team: &Arc<AgentTeam>, limits: Limits, saved: SavedConversation) -> Self {
        let mut conversation = Self::new(team, limits);
        for call in saved.messages.iter().flat_map(Message::calls) {
            conversation.session.expand(&call.name);
        }
        conversation.messages = saved.messages;
        conversation.usage = saved.usage;
        conversation
    }

    /// Returns the conversation for a later [`Self::resume`].
    pub fn save(&self) -> SavedConversation {
        let messages = self.mask_messages(&self.messages).into_owned();
        SavedConversation { agent: self.team.agent().to_owned(), messages, usage: self.usage }
    }

    /// The session that runs the calls.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// Whether its model is sent images.
    pub fn takes_images(&self) -> bool {
        let member = self.team.members.get(self.member);
        let model = member.and_then(|member| self.model(&self.team, member));
        member.zip(model).is_some_and(|(member, (model, _))| sends_images(member, model))
    }

    /// The tokens of all turns.
    pub fn usage(&self) -> Usage {
        self.usage
    }

    /// Runs a turn: sends the user's message to the model and runs its tool calls until it answers
    /// or a limit ends the turn. The messages stay valid in any case: each call has a result.
    pub async fn turn(
        &mut self,
        text: &str,
        observer: &dyn Observer,
        cancelled: &CancellationToken,
    ) -> TurnResult {
        self.turn_with(text, Vec::new(), observer, cancelled).await
    }

    /// Runs a turn like [`Self::turn`], whose message has images.
    pub async fn turn_with(
        &mut self,
        text: &str,
        images: Vec<Image>,
        observer: &dyn Observer,
        cancelled: &CancellationToken,
    ) -> TurnResult {
        let team = Arc::clone(&self.team);
        let Some(member) = team.members.get(self.member) else {
            return TurnResult { end: TurnEnd::Cancelled, ..TurnResult::default() };
        };
        observer.on_event(&member.name, &Event::TurnStarted { text: &self.mask_text(text) });
        self.session.begin_turn();
        self.messages.push(Message::User { content: text.to_owned(), images });
        let deadline = self.limits.time.and_then(|time| Instant::now().checked_add(time));
        let turn = TurnResult::default();
        let mut state =
            TurnState { member, observer, cancelled, deadline, turn, attempts: 0, cut_off: 0 };
        state.turn.end = match &member.external {
            Some(agent) => self.run_external_turn(agent, &mut state).await,
            None => self.run_turn(&mut state).await,
        };
        let turn = state.turn;
        observer.on_event(&member.name, &Event::TurnEnded(&self.mask_turn(&turn)));
        turn
    }

    async fn run_turn(&mut self, state: &mut TurnState<'_>) -> TurnEnd {
        loop {
            if let Some(end) = self.reached_limit(state) {
                return end;
            }
            let reply = match self.request_reply(state).await {
                Ok(reply) => reply,
                Err(end) => return end,
            };
            let Reply { message, finish_reason, calls_as_text, .. } = reply;
            if let Some(text) = &message.content {
                state.turn.text.clone_from(text);
            }
            let calls = message.tool_calls.clone();
            let is_empty = message.is_empty();
            // Some providers reject a conversation with an empty message.
            if !is_empty {
                self.messages.push(Message::Assistant(message));
            }
            let problem = finish_reason.problem().or(is_empty.then_some("the reply is empty"));
            if !calls.is_empty() {
                state.turn.calls += calls.len();
                self.run_calls(&calls, finish_reason, calls_as_text, state).await;
            }
            let end = match problem {
                Some(why) => self.reject_reply(finish_reason, why, !calls.is_empty(), state),
                None if calls.is_empty() => self.check_answer(state).await,
                None => None,
            };
            if problem.is_none() {
                state.cut_off = 0;
            }
            if let Some(end) = end {
                return end;
            }
        }
    }

    fn reached_limit(&self, state: &TurnState<'_>) -> Option<TurnEnd> {
        let iterations = self.limits.iterations.unwrap_or(state.member.iterations);
        if state.cancelled.is_cancelled() {
            return Some(TurnEnd::Cancelled);
        }
        if state.turn.iterations >= iterations {
            return Some(TurnEnd::Iterations(iterations));
        }
        if let Some(max) = self.limits.tokens.filter(|max| self.usage.total() >= *max) {
            return Some(TurnEnd::Tokens(max));
        }
        match (self.limits.time, state.deadline) {
            (Some(max), Some(at)) if Instant::now() >= at => Some(TurnEnd::Time(max)),
            _ => None,
        }
    }

    /// Requests a reply of the model, or of the next one if it is unavailable.
    async fn request_reply(&mut self, state: &mut TurnState<'_>) -> Result<Reply, TurnEnd> {
        state.turn.iterations += 1;
        loop {
            match self.send_request(state).await {
                Err(TurnEnd::Failed(error)) if self.fall_back(&error, state) => {}
                outcome => return outcome,
            }
        }
    }

    /// Continues with the next model if the current one is unavailable. Returns whether there is
    /// one.
    fn fall_back(&mut self, error: &ModelError, state: &TurnState<'_>) -> bool {
        let next = state.member.fallbacks.get(self.given_up);
        let Some(next) = next.filter(|_| error.is_unavailable()) else { return false };
        self.given_up += 1;
        let event = Event::ModelReplaced { error, model: next.model.name() };
        state.observer.on_event(&state.member.name, &event);
        true
    }

    /// The current model of an agent, and its tools in the form of the model's target.
    fn model<'m>(
        &self,
        team: &'m AgentTeam,
        member: &'m PreparedAgent,
    ) -> Option<(&'m dyn Model, &'m AgentTools)> {
        match self.given_up.checked_sub(1) {
            Some(at) => member.fallbacks.get(at).map(|it| (&*it.model, &it.tools)),
            None => team.models.get(self.member).map(|model| (&**model, &member.tools)),
        }
    }

    async fn send_request(&mut self, state: &mut TurnState<'_>) -> Result<Reply, TurnEnd> {
        let TurnState { member, observer, cancelled, deadline, .. } = *state;
        let team = Arc::clone(&self.team);
        let Some((model, offered)) = self.model(&team, member) else {
            return Err(TurnEnd::Cancelled);
        };
        let tools = offered.visible(&self.session);
        let mut messages = offered.rename_calls(&self.messages);
        if !sends_images(member, model)
            && messages.iter().any(|message| !message.images().is_empty())
        {
            let texts = messages.into_owned().into_iter().map(Message::without_images);
            messages = texts.collect::<Vec<_>>().into();
        }
        let request = ModelRequest {
            instruction: &member.instruction,
            messages: &messages,
            tools: &tools,
            sampling: &member.sampling,
            stream: self.limits.stream != Streaming::Off,
        };
        let iteration = state.turn.iterations;
        let shown = self.mask_messages(&messages);
        let shown = ModelRequest { messages: &shown, ..request };
        observer.on_event(&member.name, &Event::ModelRequested { iteration, request: &shown });
        let stream = ReplyStream {
            team: &team,
            member,
            tools: offered,
            session: Arc::clone(&self.session),
            observer,
            checks_calls: self.limits.stream == Streaming::Calls,
            secrets: self.secrets.clone(),
            ids: CallIds::new(&self.messages),
            so_far: Mutex::default(),
            refused: CancellationToken::new(),
        };
        let sink = |delta: ReplyDelta<'_>| stream.add(delta);
        let start = Instant::now();
        let sent = self.limits.retry.send(model, request, &sink);
        let mut reply = tokio::select! {
            biased;
            () = cancelled.cancelled() => return Err(TurnEnd::Cancelled),
            reply = sent => reply.map_err(TurnEnd::Failed)?,
            // Dropping the request closes its connection.
            () = stream.refused.cancelled() => stream.stop(),
            () = sleep_until(deadline) => {
                return Err(TurnEnd::Time(self.limits.time.unwrap_or_default()));
            }
        };
        let rules = TextCallRules {
            is_tool: &|name| offered.contains(name),
            is_quoted: &|text| self.messages.iter().any(|it| it.quotes(text)),
            unmarked: member.answer.is_none(),
        };
        let has_tools = offered.each().next().is_some();
        let read = if has_tools { read_calls(&mut reply, &rules) } else { Ok(()) };
        let calls = std::mem::take(&mut reply.message.tool_calls);
        reply.message.tool_calls = calls.into_iter().map(|it| offered.restore_call(it)).collect();
        self.learn_secrets(&reply.message.tool_calls);
        stream.finish(&mut reply, &self.secrets);
        self.usage.add(reply.usage);
        state.turn.usage.add(reply.usage);
        let took = start.elapsed();
        let shown = Reply { message: self.mask_message(&reply.message), ..reply.clone() };
        observer.on_event(&member.name, &Event::ModelReplied { reply: &shown, took });
        let kind = ModelErrorKind::UnreadCall;
        read.map_err(|error| TurnEnd::Failed(ModelError::new(kind, error.to_string())))?;
        Ok(reply)
    }

    /// Runs the calls of one reply concurrently and adds their results in order. If the reply is
    /// not complete, the last call is refused, and if it was stopped, incomplete calls are. `as_text` is
    /// whether the model wrote the calls as text.
    async fn run_calls(
        &mut self,
        calls: &[ModelCall],
        finish_reason: FinishReason,
        as_text: bool,
        state: &mut TurnState<'_>,
    ) {
        self.session.begin_reply();
        let ending = state.cancelled.child_token();
        let TurnState { member, observer, deadline, .. } = *state;
        let mut limits = self.limits;
        // Called agents share the remaining tokens.
        let used = self.usage.total();
        limits.tokens = limits.tokens.map(|max| max.saturating_sub(used));
        let (team, session, depth) = (&self.team, &self.session, self.depth);
        let secrets = &self.secrets;
        let shown = self.mask_calls(calls);
        let mut agents = 0;
        let last = calls.len().saturating_sub(1);
        let one = |(at, (call, shown)): (usize, (&ModelCall, ModelCall))| {
            let (call, ending) = (call.clone(), ending.clone());
            let cut_off = finish_reason.problem().filter(|_| at == last);
            let is_partial = finish_reason == FinishReason::Stopped && !call.is_complete();
            let agent = member.agents.iter().find(|(name, _)| *name == call.name);
            let agent = agent.filter(|_| cut_off.is_none());
            agents += usize::from(agent.is_some());
            let too_many = agents > MAX_AGENT_CALLS;
            async move {
                let start = Instant::now();
                let (mut verdict, usage) = if is_partial {
                    let mut stream = begin_stream(team, member, session, &call);
                    stream.feed(&call.arguments);
                    (session.stop_stream(stream), Usage::default())
                } else if agent.is_some() && too_many {
                    let detail = format!(
                        "a reply can call at most {MAX_AGENT_CALLS} agents: call this one again"
                    );
                    let error = CallError::Invocation { detail };
                    (agent_verdict(&call, Err(error)), Usage::default())
                } else if let Some((_, at)) = agent {
                    let depth = depth + 1;
                    Box::pin(call_agent(team, *at, depth, limits, &call, observer, &ending)).await
                } else {
                    let ModelCall { id, name, arguments } = call.clone();
                    let arguments = (!arguments.is_empty()).then_some(arguments);
                    let reply = cut_off.map_or(ReplyEnding::Complete, ReplyEnding::CutOff);
                    let call =
                        Call { id: Some(id), arguments, ending: reply, ..Call::new(name, "") };
                    (session.call_until(call, ending).await, Usage::default())
                };
                if as_text {
                    let message = "the model wrote this call as text".to_owned();
                    verdict.warnings.push(Warning { code: "call-as-text", message });
                }
                let took = start.elapsed();
                let verdict_shown = &*mask_verdict(secrets, &verdict);
                let event = Event::ToolCalled { call: &shown, verdict: verdict_shown, took };
                observer.on_event(&member.name, &event);
                (Message::result(call.id, call.name, &verdict), usage)
            }
        };
        let all = stream::iter(calls.iter().zip(shown).enumerate().map(one));
        let all = all.buffered(MAX_CONCURRENT_CALLS).collect::<Vec<_>>();
        let mut all = std::pin::pin!(all);
        let results = tokio::select! {
            biased;
            results = &mut all => results,
            () = sleep_until(deadline) => {
                // Cancelled calls still return a verdict, so each call gets a result.
                ending.cancel();
                all.await
            }
        };
        for (message, usage) in results {
            self.messages.push(message);
            self.usage.add(usage);
            state.turn.usage.add(usage);
        }
    }
}

/// A session for the calls of an agent.
fn new_session(team: &AgentTeam, agent: &PreparedAgent) -> Session {
    Session::new(&team.bound)
        .scoped_to(agent.scope.iter().map(|name| &**name))
        .with_approvals(team.approvals.of_agent(&agent.name))
}

struct TurnState<'r> {
    member: &'r PreparedAgent,
    observer: &'r dyn Observer,
    cancelled: &'r CancellationToken,
    deadline: Option<Instant>,
    turn: TurnResult,
    /// The number of rejected and accepted answers.
    attempts: u32,
    /// The number of incomplete replies in a row.
    cut_off: u32,
}

/// Whether a model of an agent is sent images: as the agent says, else if most of the provider's models
/// take them.
fn sends_images(agent: &PreparedAgent, model: &dyn Model) -> bool {
    agent.images.unwrap_or_else(|| model.takes_images())
}

/// Waits until the deadline, or forever if there is none.
async fn sleep_until(deadline: Option<Instant>) {
    match deadline {
        Some(at) => tokio::time::sleep_until(at.into()).await,
        None => std::future::pending().await,
    }
}
