//! What an agent costs before a token is spent.

use gram_schema::Target;
use gram_schema::model::{Agent, Module, Valid};
use serde_json::{Value, json};
use smol_str::SmolStr;

use crate::conversation::{DEEPEST, MOST_AGENTS_AT_ONCE};
use crate::model::Models;
use crate::tools::Tools;

/// What one agent costs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Costs {
    /// The agent.
    pub agent: SmolStr,
    /// What its tools are compiled to.
    pub target: Target,
    /// The tokens of its instruction and tools, which each request to its model holds. They are
    /// counted as OpenAI's newer models do (`o200k_base`); others differ by some percent.
    pub tokens: usize,
    /// The same when all its containers are expanded.
    pub expanded_tokens: usize,
    /// How often models are asked for one message of the user, at most: as often as the agent may
    /// ask its own, with the agents that each reply calls. Asking again after failures comes on
    /// top.
    pub most_model_calls: u64,
}

impl Costs {
    /// The costs of all agents of a specification, in order. An agent without a model is counted
    /// as one of OpenAI's.
    pub fn of(module: &Valid<Module>) -> Vec<Self> {
        let cost = |agent: &Agent| {
            let target = Models::target(agent.model.as_deref().unwrap_or_default(), agent.api);
            let tools = Tools::new(module, agent, target);
            let (at_first, all) = tools.sizes();
            let all: Vec<&Value> = all.collect();
            let instruction = tokens(agent.instruction.as_deref().unwrap_or_default());
            Self {
                agent: agent.name.clone(),
                target,
                tokens: instruction
                    + at_first.iter().map(|tool| tokens(&tool.to_string())).sum::<usize>(),
                expanded_tokens: instruction
                    + all.iter().map(|tool| tokens(&tool.to_string())).sum::<usize>(),
                most_model_calls: most(module, agent, 0),
            }
        };
        module.agents.iter().map(cost).collect()
    }

    /// The costs as JSON.
    pub fn json(&self) -> Value {
        json!({
            "agent": self.agent.as_str(),
            "target": self.target.name(),
            "tokens": self.tokens,
            "expanded_tokens": self.expanded_tokens,
            "most_model_calls": self.most_model_calls,
        })
    }
}

fn tokens(text: &str) -> usize {
    tiktoken_rs::o200k_base_singleton().count_ordinary(text)
}

/// How often models are asked for one message to an agent, at most: each of its iterations is one
/// request, and its reply calls so many agents, of which the costliest is assumed.
fn most(module: &Module, agent: &Agent, depth: usize) -> u64 {
    // As deep as this, agents are not called any more.
    let called = agent.members.iter().filter(|_| depth + 1 < DEEPEST);
    let called = called.filter_map(|name| module.agent(name));
    let costliest = called.map(|other| most(module, other, depth + 1)).max().unwrap_or(0);
    let at_once = u64::try_from(MOST_AGENTS_AT_ONCE).unwrap_or(u64::MAX);
    agent.max_iterations.saturating_mul(costliest.saturating_mul(at_once).saturating_add(1))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test stops where it cannot go on")]
mod tests {
    use gram_syntax::{SourceFile, parse};

    use super::*;

    #[test]
    fn costs_are_known_before() {
        let text = r#"
[chief:Agent {model: "anthropic/x", maxIterations: 3} | clerk, maths, [now:Tool | ()==>(::Text)]]
[clerk:Agent {maxIterations: 2, instruction: "You add numbers."}]
[maths:Container | [add:Tool | (a::Int)==>(b::Int)==>(::Int)]]
"#;
        let checked = gram_schema::check(&[parse(SourceFile::new("a.gram", text))]);
        let costs = Costs::of(&checked.module.unwrap());
        let [chief, clerk] = &costs[..] else { unreachable!("there are two agents") };
        assert_eq!((chief.target, clerk.target), (Target::Anthropic, Target::OpenAi));
        assert_eq!((chief.most_model_calls, clerk.most_model_calls), (3 * (8 * 2 + 1), 2));
        // Counted with OpenAI's own tokenizer.
        assert_eq!(clerk.tokens, 4);
        assert!(chief.expanded_tokens > chief.tokens + 20, "{chief:?}");
    }
}
