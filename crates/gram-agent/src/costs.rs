//! What an agent costs before a token is spent.

use gram_schema::model::{Agent, Module, Valid};
use gram_schema::project::Budget;
use gram_schema::{Target, codes};
use gram_syntax::Diagnostic;
use gram_tools::Bound;
use serde_json::{Value, json};
use smol_str::SmolStr;

use crate::answer::AnswerCheck;
use crate::conversation::{DEEPEST, MOST_AGENTS_AT_ONCE};
use crate::crew::instruction;
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
    /// The costs of all agents of a specification on a library, in order. An agent without a model
    /// is counted as one of OpenAI's.
    pub fn of(module: &Valid<Module>, bound: &Bound) -> Vec<Self> {
        let attempts = Some(bound.settings_of_library().max_attempts);
        let cost = |agent: &Agent| {
            let (target, tools) = tools(module, agent);
            let result = agent.result.as_ref();
            let answer = result.and_then(|ty| AnswerCheck::new(&module.types, ty).ok());
            let instruction = tokens(&instruction(module, agent, attempts, answer.as_ref()));
            let (at_first, expanded) = totals(&sizes(&tools));
            Self {
                agent: agent.name.clone(),
                target,
                tokens: instruction + at_first,
                expanded_tokens: instruction + expanded,
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

/// What of a project's budget its agents exceed, each at the agent's name.
pub fn over_budget(module: &Valid<Module>, budget: &Budget) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for (at, agent) in module.agents.iter().enumerate() {
        let Some(place) = module.spans().agent(at) else { continue };
        let Some(source) = module.spans().sources().get(place.file) else { continue };
        let name = &agent.name;
        let mut report = |message: String, help: String| {
            let error = Diagnostic::error(&codes::OVER_BUDGET, source, place.name, message);
            found.push(error.help(help));
        };
        let (_, tools) = tools(module, agent);
        let limits = [
            (budget.tool_tokens, "tool-tokens", false, "in each request"),
            (
                budget.expanded_tool_tokens,
                "expanded-tool-tokens",
                true,
                "with all containers expanded",
            ),
        ];
        // To count takes a while.
        let counted = limits.iter().any(|(limit, ..)| limit.is_some());
        let sizes = if counted { sizes(&tools) } else { Vec::new() };
        let (at_first, expanded) = totals(&sizes);
        for (limit, key, all, when) in limits {
            let taken = if all { expanded } else { at_first };
            let Some(limit) = limit.filter(|limit| wide(taken) > *limit) else { continue };
            report(
                format!(
                    "the tools of `{name}` take {taken} tokens {when}, and the budget is {limit}"
                ),
                format!(
                    "shorten {}, or raise `{key}` in gram.toml",
                    largest(sizes.iter().filter(|(.., hidden)| all || !hidden))
                ),
            );
        }
        let calls = most(module, agent, 0);
        if let Some(limit) = budget.model_calls.filter(|limit| calls > *limit) {
            report(
                format!(
                    "a message to `{name}` may ask models {calls} times, and the budget is {limit}"
                ),
                "lower `maxIterations` of the agents, let fewer of them call each other, or raise \
                 `model-calls` in gram.toml"
                    .to_owned(),
            );
        }
    }
    found
}

/// The largest tools, as a message names them.
fn largest<'s>(sizes: impl Iterator<Item = &'s (SmolStr, usize, bool)>) -> String {
    let mut sizes: Vec<_> = sizes.collect();
    sizes.sort_by_key(|(_, tokens, _)| std::cmp::Reverse(*tokens));
    let named = sizes.iter().take(3).map(|(name, tokens, _)| format!("`{name}` ({tokens})"));
    let named = named.collect::<Vec<_>>().join(", ");
    if sizes.len() > 3 { format!("the largest, {named}") } else { named }
}

/// The tools of an agent, and what they are compiled to.
fn tools(module: &Valid<Module>, agent: &Agent) -> (Target, Tools) {
    let target = Models::target(agent.model.as_deref().unwrap_or_default(), agent.api);
    (target, Tools::new(module, agent, target))
}

/// The tokens of each tool, and whether only a container shows it.
fn sizes(tools: &Tools) -> Vec<(SmolStr, usize, bool)> {
    let size = |(name, json, hidden): (&SmolStr, &Value, bool)| {
        (name.clone(), tokens(&json.to_string()), hidden)
    };
    tools.each().map(size).collect()
}

/// The tokens that are taken at first, and with all containers expanded.
fn totals(sizes: &[(SmolStr, usize, bool)]) -> (usize, usize) {
    let sum = |all: bool| {
        sizes.iter().filter(|(.., hidden)| all || !hidden).map(|(_, tokens, _)| tokens).sum()
    };
    (sum(false), sum(true))
}

fn wide(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
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
    let most = costliest.saturating_mul(wide(MOST_AGENTS_AT_ONCE)).saturating_add(1);
    agent.max_iterations.saturating_mul(most)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test stops where it cannot go on")]
mod tests {
    use gram_syntax::{SourceFile, parse};
    use gram_tools::ToolLibrary;

    use super::*;

    fn module(text: &str) -> Valid<Module> {
        gram_schema::check(&[parse(SourceFile::new("a.gram", text))]).module.unwrap()
    }

    const AGENTS: &str = r#"
[chief:Agent {model: "anthropic/x", maxIterations: 3} | clerk, maths, [now:Tool | ()==>(::Text)]]
[clerk:Agent {maxIterations: 2, instruction: "You add numbers."}]
[maths:Container | [add:Tool | (a::Int)==>(b::Int)==>(::Int)]]
"#;

    #[test]
    fn costs_are_known_before() {
        let module = module(AGENTS);
        let (bound, _) = ToolLibrary::new("").bind_partly(&module);
        let costs = Costs::of(&module, &bound);
        let [chief, clerk] = &costs[..] else { unreachable!("there are two agents") };
        assert_eq!((chief.target, clerk.target), (Target::Anthropic, Target::OpenAi));
        assert_eq!((chief.most_model_calls, clerk.most_model_calls), (3 * (8 * 2 + 1), 2));
        // Counted with OpenAI's own tokenizer.
        assert_eq!(clerk.tokens, 4);
        assert!(chief.expanded_tokens > chief.tokens + 20, "{chief:?}");
        // What a model is told of calls counts, too: the tools alone are what the budget is about.
        let (at_first, _) = totals(&sizes(&tools(&module, &module.agents[0]).1));
        assert!(chief.tokens > at_first + 100, "{chief:?} {at_first}");
    }

    #[test]
    fn what_exceeds_a_budget_is_told_at_the_agent() {
        let module = module(AGENTS);
        let told = |budget| {
            let found = over_budget(&module, &budget);
            found
                .into_iter()
                .map(|it| format!("{} -> {}", it.concise(), it.help.unwrap_or_default()))
                .collect::<Vec<_>>()
        };
        assert!(told(Budget::default()).is_empty());
        let (at_first, expanded) = totals(&sizes(&tools(&module, &module.agents[0]).1));
        let (at_first, expanded) = (wide(at_first), wide(expanded));
        let exact = Budget {
            tool_tokens: Some(at_first),
            expanded_tool_tokens: Some(expanded),
            model_calls: Some(51),
        };
        assert!(told(exact).is_empty());
        let found = told(Budget { tool_tokens: Some(at_first - 1), ..exact });
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(
            found[0].starts_with(&format!(
                "a.gram:2:2: error[over-budget] the tools of `chief` take {at_first} tokens in \
                 each request, and the budget is {}",
                at_first - 1
            )),
            "{found:?}"
        );
        assert!(found[0].contains("-> shorten `") && !found[0].contains("`add`"), "{found:?}");
        let found = told(Budget { expanded_tool_tokens: Some(10), ..Budget::default() });
        assert!(found[0].contains("with all containers expanded"), "{found:?}");
        assert!(found[0].contains("shorten the largest, `"), "{found:?}");
        let found = told(Budget { model_calls: Some(50), ..exact });
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].contains("may ask models 51 times, and the budget is 50"), "{found:?}");
    }
}
