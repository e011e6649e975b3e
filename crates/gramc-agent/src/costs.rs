//! Static estimates of the tokens and requests of agents.

mod savings;

use gramc_check::Valid;
use gramc_check::codes;
use gramc_model::{Agent, Module};
use gramc_project::Budget;
use gramc_schema::Target;
use gramc_syntax::Diagnostic;
use gramc_tools::Bound;
use serde_json::{Value, json};
use smol_str::SmolStr;

use crate::answer::AnswerCheck;
use crate::conversation::{MAX_AGENT_CALLS, MAX_AGENT_DEPTH};
use crate::model::Models;
use crate::team::{agent_with_all_tools, instruction};
use crate::tools::AgentTools;

use savings::Saving;

/// The static cost of an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CostEstimate {
    /// The agent. `None` for all tools at once, of a specification without agents.
    pub agent: Option<SmolStr>,
    /// The target that its tools are compiled to.
    pub target: Target,
    /// The tokens of the system prompt and the tools, which are part of each request. Counted with
    /// the tokenizer `o200k_base`; those of other models differ by a few percent.
    pub tokens: usize,
    /// The same with all containers expanded.
    pub expanded_tokens: usize,
    /// Maximum model requests per message of the user, including those of called agents, without
    /// retries.
    pub max_model_calls: u64,
    /// What would save most tokens in each request.
    savings: Vec<Saving>,
}

impl CostEstimate {
    /// Estimates all agents of a specification on a library, in order, or else all of its tools. An agent
    /// without a model is compiled for OpenAI. `search_tools` are the definitions of the tools that a server
    /// with a search has.
    pub fn of_agents(module: &Valid<Module>, bound: &Bound, search_tools: &Value) -> Vec<Self> {
        let search = count_tokens(&search_tools.to_string());
        let attempts = Some(bound.settings_of_library().max_attempts);
        let estimate = |agent: &Agent| {
            let (target, tools) = compile_tools(module, agent);
            let result = agent.result.as_ref();
            let answer = result.and_then(|ty| AnswerCheck::new(&module.types, ty).ok());
            let prompt = count_tokens(&instruction(module, agent, attempts, answer.as_ref()));
            let sizes = tool_sizes(&tools);
            let (initial, expanded) = totals(&sizes);
            Self {
                agent: Some(agent.name.clone()),
                target,
                tokens: prompt + initial,
                expanded_tokens: prompt + expanded,
                max_model_calls: max_requests(module, agent, 0),
                savings: savings::proposals(module, target, &sizes, search),
            }
        };
        if module.agents.is_empty() && !module.tools.is_empty() {
            return vec![Self {
                agent: None,
                ..estimate(&agent_with_all_tools(module, &SmolStr::default()))
            }];
        }
        module.agents.iter().map(estimate).collect()
    }

    /// What would save most tokens in each request, those that save most first: the tokens, and what to do.
    pub fn savings(&self) -> impl Iterator<Item = (usize, &str)> {
        self.savings.iter().map(|saving| (saving.tokens, saving.message.as_str()))
    }

    /// The estimate as a JSON object.
    pub fn json(&self) -> Value {
        json!({
            "agent": self.agent.as_deref(),
            "target": self.target.name(),
            "tokens": self.tokens,
            "expanded_tokens": self.expanded_tokens,
            "most_model_calls": self.max_model_calls,
            "savings": self.savings,
        })
    }
}

/// Checks the agents of a module against a budget. Diagnostics point at the agents' names.
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
        let (_, tools) = compile_tools(module, agent);
        let expanded = "with all containers expanded";
        let limits = [
            (budget.tool_tokens, "tool-tokens", false, "in each request"),
            (budget.expanded_tool_tokens, "expanded-tool-tokens", true, expanded),
        ];
        // Counting tokens is slow, so it is skipped without a limit.
        let counted = limits.iter().any(|(limit, ..)| limit.is_some());
        let sizes = if counted { tool_sizes(&tools) } else { Vec::new() };
        for (limit, key, all, when) in limits {
            let shown = || sizes.iter().filter(|tool| all || !tool.is_hidden);
            let taken: usize = shown().map(|tool| tool.tokens).sum();
            let Some(limit) = limit.filter(|limit| to_u64(taken) > *limit) else { continue };
            let largest = largest(shown());
            report(
                format!(
                    "the tools of `{name}` take {taken} tokens {when}, but the budget is {limit}"
                ),
                format!("shorten {largest}, or increase `{key}` in gram.toml"),
            );
        }
        let calls = max_requests(module, agent, 0);
        if let Some(limit) = budget.model_calls.filter(|limit| calls > *limit) {
            let help = "decrease `maxIterations` of the agents, let fewer agents call each other, or \
                        increase `model-calls` in gram.toml";
            report(
                format!(
                    "a message to `{name}` may cause {calls} model requests, but the budget is {limit}"
                ),
                help.to_owned(),
            );
        }
    }
    found
}

fn largest<'s>(sizes: impl Iterator<Item = &'s ToolSize<'s>>) -> String {
    let mut sizes: Vec<_> = sizes.collect();
    sizes.sort_by_key(|tool| std::cmp::Reverse(tool.tokens));
    let named = sizes.iter().take(3).map(|tool| format!("`{}` ({})", tool.name, tool.tokens));
    let named = named.collect::<Vec<_>>().join(", ");
    if sizes.len() > 3 { format!("the largest, {named}") } else { named }
}

fn compile_tools(module: &Valid<Module>, agent: &Agent) -> (Target, AgentTools) {
    let first = agent.models.first().map(SmolStr::as_str).unwrap_or_default();
    let target = Models::target(first, agent.api);
    (target, AgentTools::new(module, agent, target))
}

/// A tool with the tokens that it takes.
struct ToolSize<'t> {
    name: &'t SmolStr,
    json: &'t Value,
    tokens: usize,
    /// Whether only an expanded container shows it.
    is_hidden: bool,
}

fn tool_sizes(tools: &AgentTools) -> Vec<ToolSize<'_>> {
    let size = |(name, json, is_hidden)| ToolSize {
        name,
        json,
        tokens: count_tokens(&Value::to_string(json)),
        is_hidden,
    };
    tools.each().map(size).collect()
}

/// The tokens of the initially visible tools, and of all tools.
fn totals(sizes: &[ToolSize<'_>]) -> (usize, usize) {
    let sum = |all: bool| {
        sizes.iter().filter(|tool| all || !tool.is_hidden).map(|tool| tool.tokens).sum()
    };
    (sum(false), sum(true))
}

fn to_u64(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

fn count_tokens(text: &str) -> usize {
    tiktoken_rs::o200k_base_singleton().count_ordinary(text)
}

/// Maximum model requests per message: each iteration is one request, and each reply calls the
/// costliest agent as often as it may.
fn max_requests(module: &Module, agent: &Agent, depth: usize) -> u64 {
    // Agents at the maximum depth call no further agents.
    let called = agent.members.iter().filter(|_| depth + 1 < MAX_AGENT_DEPTH);
    let called = called.filter_map(|name| module.agent(name));
    let costliest = called.map(|other| max_requests(module, other, depth + 1)).max().unwrap_or(0);
    let per_iteration = costliest.saturating_mul(to_u64(MAX_AGENT_CALLS)).saturating_add(1);
    agent.max_iterations.saturating_mul(per_iteration)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test stops where it cannot go on")]
mod tests {
    use gramc_syntax::{SourceFile, parse};
    use gramc_tools::ToolLibrary;

    use super::*;

    fn module(text: &str) -> Valid<Module> {
        gramc_check::check(&[parse(SourceFile::new("a.gram", text))]).module.unwrap()
    }

    const AGENTS: &str = r#"
[chief:Agent {model: "anthropic/x", maxIterations: 3} | clerk, maths, [now:Tool | ()==>(::Text)]]
[clerk:Agent {maxIterations: 2, instruction: "You add numbers."}]
[maths:Container | [add:Tool | (a::Int)==>(b::Int)==>(::Int)]]
"#;

    #[test]
    fn costs_are_estimated() {
        let module = module(AGENTS);
        let (bound, _) = ToolLibrary::new("").bind_partly(&module);
        let costs = CostEstimate::of_agents(&module, &bound, &json!([]));
        let [chief, clerk] = &costs[..] else { unreachable!("there are two agents") };
        assert_eq!((chief.target, clerk.target), (Target::Anthropic, Target::OpenAi));
        assert_eq!((chief.max_model_calls, clerk.max_model_calls), (3 * (8 * 2 + 1), 2));
        // Counted with tiktoken.
        assert_eq!(clerk.tokens, 4);
        assert!(chief.expanded_tokens > chief.tokens + 20, "{chief:?}");
        // The estimate includes the guidance; the budget covers the tools alone.
        let (initial, _) = totals(&tool_sizes(&compile_tools(&module, &module.agents[0]).1));
        assert!(chief.tokens > initial + 100, "{chief:?} {initial}");
    }

    #[test]
    fn an_exceeded_budget_is_reported_at_the_agent() {
        let module = module(AGENTS);
        let told = |budget| {
            let found = over_budget(&module, &budget);
            found
                .into_iter()
                .map(|it| format!("{} -> {}", it.concise(), it.help.unwrap_or_default()))
                .collect::<Vec<_>>()
        };
        assert!(told(Budget::default()).is_empty());
        let (initial, expanded) = totals(&tool_sizes(&compile_tools(&module, &module.agents[0]).1));
        let (initial, expanded) = (to_u64(initial), to_u64(expanded));
        let exact = Budget {
            tool_tokens: Some(initial),
            expanded_tool_tokens: Some(expanded),
            model_calls: Some(51),
        };
        assert!(told(exact).is_empty());
        let found = told(Budget { tool_tokens: Some(initial - 1), ..exact });
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(
            found[0].starts_with(&format!(
                "a.gram:2:2: error[over-budget] the tools of `chief` take {initial} tokens in \
                 each request, but the budget is {}",
                initial - 1
            )),
            "{found:?}"
        );
        assert!(found[0].contains("-> shorten `") && !found[0].contains("`add`"), "{found:?}");
        let found = told(Budget { expanded_tool_tokens: Some(10), ..Budget::default() });
        assert!(found[0].contains("with all containers expanded"), "{found:?}");
        assert!(found[0].contains("shorten the largest, `"), "{found:?}");
        let found = told(Budget { model_calls: Some(50), ..exact });
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(
            found[0].contains("may cause 51 model requests, but the budget is 50"),
            "{found:?}"
        );
    }
}
