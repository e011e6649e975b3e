//! Turns of agents that ask their models themselves.

use std::time::{Duration, Instant};

use super::mask::mask_verdict;
use super::{CallIds, Conversation, TurnState, new_session, sleep_until};
use crate::external::{AgentAnswer, AgentCall, ExternalAgent, RunningAgent};
use crate::function::RunningFunction;
use crate::message::{AssistantMessage, FinishReason, Message, ModelCall, Reply};
use crate::observer::Event;
use crate::turn::TurnEnd;

/// The time for a turn, unless a limit is given. A model request ends by itself, an agent need not.
const TIME_LIMIT: Duration = Duration::from_mins(10);

impl Conversation {
    /// Runs a turn of an external agent, whose message is the last one.
    pub(super) async fn run_external_turn(
        &mut self,
        agent: &ExternalAgent,
        state: &mut TurnState<'_>,
    ) -> TurnEnd {
        let limit = self.limits.time.unwrap_or(TIME_LIMIT);
        state.deadline = Instant::now().checked_add(limit);
        let mut rejected = None;
        loop {
            let (cancelled, deadline) = (state.cancelled, state.deadline);
            // Dropping the future kills a program, and cancels a function.
            let asked = tokio::select! {
                biased;
                () = cancelled.cancelled() => return TurnEnd::Cancelled,
                asked = self.ask_external(agent, state) => asked,
                () = sleep_until(deadline) => return TurnEnd::Time(limit),
            };
            let answer = match (asked, rejected) {
                (Ok(answer), _) => answer,
                // A program that ends after its first answer cannot correct it.
                (Err(TurnEnd::Failed(_)), Some(wrong)) => {
                    return TurnEnd::NeedsHumanReview { wrong };
                }
                (Err(end), _) => return end,
            };
            self.add_answer(answer, state);
            if let Some(end) = self.check_answer(state).await {
                return end;
            }
            rejected = self.messages.last().and_then(Message::text).map(str::to_owned);
        }
    }

    /// Sends the last message to the agent, which is started if it does not run.
    async fn ask_external(
        &mut self,
        agent: &ExternalAgent,
        state: &mut TurnState<'_>,
    ) -> Result<AgentAnswer, TurnEnd> {
        let running = self.external.take();
        let is_new = running.is_none();
        let mut running = match running {
            Some(running) => running,
            None => self.start_external(agent, state).await?,
        };
        let request = match &self.messages[..] {
            [before @ .., last] => {
                let before = if is_new { before } else { &[] };
                running.request(last.text().unwrap_or_default(), before)
            }
            [] => running.request("", &[]),
        };
        let answer = running.ask(&request, |call| self.add_call(call, state)).await;
        let answer = answer.map_err(TurnEnd::Failed)?;
        self.external = Some(running);
        Ok(answer)
    }

    async fn start_external(
        &mut self,
        agent: &ExternalAgent,
        state: &TurnState<'_>,
    ) -> Result<RunningAgent, TurnEnd> {
        match agent {
            ExternalAgent::Program(program) => {
                let approvals = self.team.approvals.of_agent(&state.member.name);
                let started = program.start(&state.member.scope, &approvals).await;
                let started = started.map(|running| RunningAgent::Program(Box::new(running)));
                started.map_err(TurnEnd::Failed)
            }
            ExternalAgent::Function(function) => {
                let session = new_session(&self.team, state.member);
                let (running, session) = RunningFunction::start(&**function, session);
                self.session = session;
                Ok(RunningAgent::Function(running))
            }
        }
    }

    /// Adds a call that the agent made to the conversation.
    fn add_call(&mut self, call: AgentCall, state: &mut TurnState<'_>) {
        let AgentCall { call, verdict, took } = call;
        // The ids of requests begin anew with each connection.
        let mut call = ModelCall { id: String::new(), ..call };
        CallIds::new(&self.messages).assign(&mut call);
        state.turn.calls += 1;
        let [shown] = &self.mask_calls(std::slice::from_ref(&call))[..] else { return };
        let shown_verdict = &*mask_verdict(&self.secrets, &verdict);
        let event = Event::ToolCalled { call: shown, verdict: shown_verdict, took };
        state.observer.on_event(&state.member.name, &event);
        let result = Message::result(call.id.clone(), call.name.clone(), &verdict);
        let message = AssistantMessage { tool_calls: vec![call], ..AssistantMessage::default() };
        self.messages.extend([Message::Assistant(message), result]);
    }

    fn add_answer(&mut self, answer: AgentAnswer, state: &mut TurnState<'_>) {
        let AgentAnswer { text, usage, model, requests, took } = answer;
        self.usage.add(usage);
        state.turn.usage.add(usage);
        state.turn.iterations += requests;
        state.turn.text.clone_from(&text);
        let message = AssistantMessage { content: Some(text), ..AssistantMessage::default() };
        let shown = self.mask_message(&message);
        self.messages.push(Message::Assistant(message));
        let finish_reason = FinishReason::Stop;
        let reply = Reply { message: shown, usage, model, finish_reason, ..Reply::default() };
        let event = Event::ModelReplied { reply: &reply, took };
        state.observer.on_event(&state.member.name, &event);
    }

    /// Ends an external agent, and gives a program time to exit. Otherwise it is killed when the
    /// conversation is dropped.
    pub async fn close(&mut self) {
        if let Some(running) = self.external.take() {
            running.close().await;
        }
    }
}
