//! Agents that are called as tools.

use std::sync::Arc;

use gramc_calls::check::Policy;
use gramc_tools::{CallError, Success, Verdict};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::{Conversation, MAX_AGENT_DEPTH};
use crate::message::{ModelCall, Usage};
use crate::observer::Observer;
use crate::team::AgentTeam;
use crate::turn::Limits;

pub(super) fn agent_verdict(call: &ModelCall, outcome: Result<Success, CallError>) -> Verdict {
    let (id, name) = (Some(call.id.clone()), call.name.clone());
    Verdict::new(id, name, outcome)
}

/// Calls an agent as a tool: runs one turn of a new conversation. `member` is its number in the team,
/// and `depth` the number of calls of agents that the call is inside of.
pub(super) async fn call_agent(
    team: &Arc<AgentTeam>,
    member: usize,
    depth: usize,
    limits: Limits,
    call: &ModelCall,
    observer: &dyn Observer,
    cancelled: &CancellationToken,
) -> (Verdict, Usage) {
    let verdict = |outcome| agent_verdict(call, outcome);
    let accepted = match team.message.check(&call.arguments, Policy::default()) {
        Ok(accepted) => accepted,
        Err(refused) => return (verdict(Err(refused.into())), Usage::default()),
    };
    if depth >= MAX_AGENT_DEPTH {
        let detail = format!(
            "agents can nest at most {MAX_AGENT_DEPTH} levels: complete the task without this agent"
        );
        return (verdict(Err(CallError::Invocation { detail })), Usage::default());
    }
    let message: Value = serde_json::from_str(&accepted.arguments).unwrap_or_default();
    let text = message["message"].as_str().unwrap_or_default();
    let mut other = Conversation::of_member(team, member, limits, depth);
    let inside = observer.observe_call(&call.id, &call.name);
    let turn = other.turn(text, inside.as_deref().unwrap_or(observer), cancelled).await;
    let success = Success {
        arguments: accepted.arguments,
        repairs: accepted.repairs,
        more_repairs: accepted.more_repairs,
        stripped: accepted.stripped,
        result: None,
    };
    if turn.is_answered() {
        let result = Some(turn.value.unwrap_or_else(|| turn.text.into()));
        return (verdict(Ok(Success { result, ..success })), turn.usage);
    }
    let mut detail = format!("the agent did not answer: {}", turn.end.description());
    if !turn.text.is_empty() {
        detail.push_str("; last text: ");
        detail.extend(turn.text.chars().take(500));
    }
    let failed = verdict(Err(CallError::Invocation { detail }));
    (Verdict { attempt: Some(Box::new(success)), ..failed }, turn.usage)
}
