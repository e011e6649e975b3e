//! A conversation with an agent: turns, and what passes in them.

mod hidden;

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Instant;

use futures_util::{StreamExt, stream};
use gram_tools::check::{Policy, Rejection};
use gram_tools::{Call, CallError, Session, Success, Verdict};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::crew::{Crew, Member};
use crate::event::{Event, Watch};
use crate::message::{Message, ModelCall, Reply, Said, Usage};
use crate::model::{Heard, Request};
use crate::turn::{End, Limits, Turn};
use hidden::hide_verdict;

/// How many calls of one reply run at once; tools may have lower limits of their own.
const MOST_AT_ONCE: usize = 16;
/// How many agents one reply may call. More would be asked after they are told how many.
pub(crate) const MOST_AGENTS_AT_ONCE: usize = 8;
/// How deep agents call agents.
pub(crate) const DEEPEST: usize = 5;

/// A conversation with the first agent of a crew.
#[derive(Debug)]
pub struct Conversation {
    crew: Arc<Crew>,
    member: usize,
    session: Session,
    messages: Vec<Message>,
    usage: Usage,
    limits: Limits,
    depth: usize,
    /// What secret parameters of calls held, to be kept out of what is shown and kept.
    secrets: Vec<String>,
}

/// What of a conversation is kept, to go on with it another time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Saved {
    /// The agent's name.
    pub agent: String,
    /// All messages, results of tools included.
    pub messages: Vec<Message>,
    /// What all turns cost.
    #[serde(default)]
    pub usage: Usage,
}

impl Conversation {
    /// A new conversation.
    pub fn new(crew: &Arc<Crew>, limits: Limits) -> Self {
        Self::of_member(crew, 0, limits, 0)
    }

    fn of_member(crew: &Arc<Crew>, member: usize, limits: Limits, depth: usize) -> Self {
        let scope = crew.members.get(member).map(|it| &it.scope[..]).unwrap_or_default();
        let session = Session::new(&crew.bound).scoped_to(scope.iter().map(|name| &**name));
        let (crew, messages) = (Arc::clone(crew), Vec::new());
        let (usage, secrets) = (Usage::default(), Vec::new());
        Self { crew, member, session, messages, usage, limits, depth, secrets }
    }

    /// A conversation that goes on. Containers that were expanded are again.
    pub fn resume(crew: &Arc<Crew>, limits: Limits, saved: Saved) -> Self {
        let mut conversation = Self::new(crew, limits);
        for message in &saved.messages {
            if let Message::Assistant(Said { tool_calls, .. }) = message {
                for call in tool_calls {
                    conversation.session.expand(&call.name);
                }
            }
        }
        conversation.messages = saved.messages;
        conversation.usage = saved.usage;
        conversation
    }

    /// What is kept of it: everything but what secret parameters held.
    pub fn save(&self) -> Saved {
        let messages = self.hide_messages(&self.messages).into_owned();
        Saved { agent: self.crew.agent().to_owned(), messages, usage: self.usage }
    }

    /// All messages up to now.
    pub fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// What its calls went through.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// What all turns cost.
    pub fn usage(&self) -> Usage {
        self.usage
    }

    /// One turn: the user says something, the model calls what it needs, until it answers or
    /// something else ends the turn. Whatever happens, the messages stay as far as they came, and
    /// each call has its answer.
    pub async fn turn(
        &mut self,
        text: &str,
        watch: &dyn Watch,
        cancelled: &CancellationToken,
    ) -> Turn {
        let crew = Arc::clone(&self.crew);
        let Some(member) = crew.members.get(self.member) else {
            let end = End::Cancelled;
            let (text, usage) = (String::new(), Usage::default());
            return Turn { text, value: None, end, iterations: 0, calls: 0, usage };
        };
        watch.see(&member.name, &Event::Begun { text: &self.hide_text(text) });
        self.session.begin_turn();
        self.messages.push(Message::User { content: text.to_owned() });
        let deadline = self.limits.time.and_then(|time| Instant::now().checked_add(time));
        let mut running = Running {
            member,
            watch,
            cancelled,
            deadline,
            turn: Turn {
                text: String::new(),
                value: None,
                end: End::Answered,
                iterations: 0,
                calls: 0,
                usage: Usage::default(),
            },
            attempts: 0,
        };
        running.turn.end = self.until_it_ends(&mut running).await;
        let turn = running.turn;
        watch.see(&member.name, &Event::Ended(&self.hide_turn(&turn)));
        turn
    }

    async fn until_it_ends(&mut self, running: &mut Running<'_>) -> End {
        loop {
            if let Some(end) = self.spent(running) {
                return end;
            }
            let reply = match self.asked(running).await {
                Ok(reply) => reply,
                Err(end) => return end,
            };
            let said = reply.said;
            if let Some(text) = &said.content {
                running.turn.text.clone_from(text);
            }
            let calls = said.tool_calls.clone();
            self.messages.push(Message::Assistant(said));
            if !calls.is_empty() {
                running.turn.calls += calls.len();
                self.run(&calls, running).await;
            } else if let Some(end) = self.answered(running) {
                return end;
            }
        }
    }

    /// Which limit is reached.
    fn spent(&self, running: &Running<'_>) -> Option<End> {
        let iterations = self.limits.iterations.unwrap_or(running.member.iterations);
        if running.cancelled.is_cancelled() {
            return Some(End::Cancelled);
        }
        if running.turn.iterations >= iterations {
            return Some(End::Iterations(iterations));
        }
        if let Some(most) = self.limits.tokens.filter(|most| self.usage.total() >= *most) {
            return Some(End::Tokens(most));
        }
        match (self.limits.time, running.deadline) {
            (Some(most), Some(at)) if Instant::now() >= at => Some(End::Time(most)),
            _ => None,
        }
    }

    async fn asked(&mut self, running: &mut Running<'_>) -> Result<Reply, End> {
        let Running { member, watch, cancelled, deadline, .. } = *running;
        running.turn.iterations += 1;
        let tools = member.tools.now(&self.session);
        let messages = member.tools.named(&self.messages);
        let request = Request {
            instruction: &member.instruction,
            messages: &messages,
            tools: &tools,
            sampling: &member.sampling,
            stream: self.limits.stream,
        };
        let iteration = running.turn.iterations;
        let shown = self.hide_messages(&messages);
        let shown = Request { messages: &shown, ..request };
        watch.see(&member.name, &Event::Asked { iteration, request: &shown });
        let ear = |heard: Heard<'_>| {
            let event = match heard {
                Heard::Text(text) => Event::Text(text),
                Heard::Again { error, wait } => Event::Again { error, wait },
            };
            watch.see(&member.name, &event);
        };
        let began = Instant::now();
        let Some(model) = self.crew.models.get(self.member) else { return Err(End::Cancelled) };
        let asked = self.limits.patience.ask(&**model, request, &ear);
        let reply = tokio::select! {
            biased;
            () = cancelled.cancelled() => return Err(End::Cancelled),
            reply = asked => reply,
            () = until(deadline) => {
                return Err(End::Time(self.limits.time.unwrap_or_default()));
            }
        };
        let mut reply = reply.map_err(End::Failed)?;
        let calls = std::mem::take(&mut reply.said.tool_calls);
        reply.said.tool_calls = calls.into_iter().map(|it| member.tools.restored(it)).collect();
        self.identify(&mut reply.said.tool_calls);
        self.learn_secrets(&reply.said.tool_calls);
        self.usage.add(reply.usage);
        running.turn.usage.add(reply.usage);
        let took = began.elapsed();
        let shown = self.hide_said(&reply.said).map(|said| Reply { said, usage: reply.usage });
        let shown = shown.as_ref().unwrap_or(&reply);
        watch.see(&member.name, &Event::Replied { reply: shown, took });
        Ok(reply)
    }

    /// Gives calls without an id of their own one.
    fn identify(&self, calls: &mut [ModelCall]) {
        let mut used: HashSet<String> = HashSet::new();
        let mut count = 0;
        for message in &self.messages {
            if let Message::Assistant(Said { tool_calls, .. }) = message {
                count += tool_calls.len();
                used.extend(tool_calls.iter().map(|call| call.id.clone()));
            }
        }
        for call in calls {
            count += 1;
            if call.id.is_empty() || used.contains(&call.id) {
                call.id = format!("call_{count}");
                while used.contains(&call.id) {
                    count += 1;
                    call.id = format!("call_{count}");
                }
            }
            used.insert(call.id.clone());
        }
    }

    /// Runs the calls of one reply, at once as far as their tools allow, and answers them in
    /// order.
    async fn run(&mut self, calls: &[ModelCall], running: &mut Running<'_>) {
        let ending = running.cancelled.child_token();
        let Running { member, watch, deadline, .. } = *running;
        let mut limits = self.limits;
        // Agents that are called have what is left.
        let spent = self.usage.total();
        limits.tokens = limits.tokens.map(|most| most.saturating_sub(spent));
        let (crew, session, depth) = (&self.crew, &self.session, self.depth);
        let secrets = &self.secrets;
        let shown = self.hide_calls(calls);
        let mut agents = 0;
        let one = |(call, shown): (&ModelCall, ModelCall)| {
            let (call, ending) = (call.clone(), ending.clone());
            let agent = member.agents.iter().find(|(name, _)| *name == call.name);
            agents += usize::from(agent.is_some());
            let too_many = agents > MOST_AGENTS_AT_ONCE;
            async move {
                let began = Instant::now();
                let (verdict, usage) = if agent.is_some() && too_many {
                    let detail = format!(
                        "one reply calls {MOST_AGENTS_AT_ONCE} agents at most: call it again"
                    );
                    let error = CallError::Invocation { detail };
                    (of_agent(&call, Err(error)), Usage::default())
                } else if let Some((_, at)) = agent {
                    let place = (crew, *at, depth + 1);
                    Box::pin(ask_agent(place, limits, &call, watch, &ending)).await
                } else {
                    let ModelCall { id, name, arguments } = call.clone();
                    let arguments = (!arguments.is_empty()).then_some(arguments);
                    let asked = Call { id: Some(id), name, arguments };
                    (session.call_until(asked, ending).await, Usage::default())
                };
                let took = began.elapsed();
                let (call_shown, verdict_shown) = (&shown, &*hide_verdict(secrets, &verdict));
                let event = Event::Called { call: call_shown, verdict: verdict_shown, took };
                watch.see(&member.name, &event);
                let result =
                    Message::Tool { id: call.id, name: call.name, content: verdict.message() };
                (result, usage)
            }
        };
        let all = stream::iter(calls.iter().zip(shown).map(one));
        let all = all.buffered(MOST_AT_ONCE).collect::<Vec<_>>();
        let mut all = std::pin::pin!(all);
        let results = tokio::select! {
            biased;
            results = &mut all => results,
            () = until(deadline) => {
                // What runs is told to end, and each call gets its answer.
                ending.cancel();
                all.await
            }
        };
        for (message, usage) in results {
            self.messages.push(message);
            self.usage.add(usage);
            running.turn.usage.add(usage);
        }
    }

    /// The model has answered with text. Gives why the turn is over, unless it has to try again.
    fn answered(&mut self, running: &mut Running<'_>) -> Option<End> {
        let Some(answer) = &running.member.answer else { return Some(End::Answered) };
        running.attempts += 1;
        let wrong = match answer.read(&running.turn.text) {
            Ok(value) => {
                running.turn.value = Some(value);
                return Some(End::Answered);
            }
            Err(wrong) => wrong,
        };
        let (attempt, correction) = (running.attempts, &*self.hide_text(&wrong));
        running.watch.see(&running.member.name, &Event::Misfit { attempt, correction });
        if running.attempts >= self.limits.attempts {
            return Some(End::NeedsHumanReview { wrong });
        }
        let content = format!(
            "Your answer is not what is wanted. {wrong}\nAnswer again, with the whole JSON and \
             nothing else."
        );
        self.messages.push(Message::User { content });
        None
    }
}

/// A turn under way.
struct Running<'r> {
    member: &'r Member,
    watch: &'r dyn Watch,
    cancelled: &'r CancellationToken,
    deadline: Option<Instant>,
    turn: Turn,
    /// How many answers were tried.
    attempts: u32,
}

/// Waits until a moment; for ever where there is none.
async fn until(deadline: Option<Instant>) {
    match deadline {
        Some(at) => tokio::time::sleep_until(at.into()).await,
        None => std::future::pending().await,
    }
}

/// What came of a call of an agent.
fn of_agent(call: &ModelCall, outcome: Result<Success, CallError>) -> Verdict {
    let (id, name) = (Some(call.id.clone()), call.name.clone());
    Verdict { id, name, warnings: Vec::new(), outcome }
}

/// An agent that is called as a tool: one turn of a conversation of its own.
async fn ask_agent(
    (crew, member, depth): (&Arc<Crew>, usize, usize),
    limits: Limits,
    call: &ModelCall,
    watch: &dyn Watch,
    cancelled: &CancellationToken,
) -> (Verdict, Usage) {
    let verdict = |outcome| of_agent(call, outcome);
    let accepted = match crew.message.check(&call.arguments, Policy::default()) {
        Ok(accepted) => accepted,
        Err(refused) => {
            let error = match refused {
                Rejection::Malformed(malformed) => CallError::Malformed(malformed),
                Rejection::Invalid(invalid) => CallError::Validation(invalid),
            };
            return (verdict(Err(error)), Usage::default());
        }
    };
    if depth >= DEEPEST {
        let detail = format!("agents call each other {DEEPEST} deep: do this without the agent");
        return (verdict(Err(CallError::Invocation { detail })), Usage::default());
    }
    let message: Value = serde_json::from_str(&accepted.arguments).unwrap_or_default();
    let text = message["message"].as_str().unwrap_or_default();
    let mut other = Conversation::of_member(crew, member, limits, depth);
    let inside = watch.inside(&call.id, &call.name);
    let turn = other.turn(text, inside.as_deref().unwrap_or(watch), cancelled).await;
    let outcome = if turn.is_answered() {
        Ok(Success {
            arguments: accepted.arguments,
            repairs: accepted.repairs,
            stripped: accepted.stripped,
            result: Some(turn.value.unwrap_or_else(|| turn.text.into())),
        })
    } else {
        let mut detail = format!("the agent gave no answer: {}", turn.end.words());
        if !turn.text.is_empty() {
            detail.push_str("; it said last: ");
            detail.extend(turn.text.chars().take(500));
        }
        Err(CallError::Invocation { detail })
    };
    (verdict(outcome), turn.usage)
}
