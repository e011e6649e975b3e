//! Chains of tools whose results feed each other.

use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

use crate::hit::rounded;
use crate::index::Index;
use crate::plan::{Argument, Plan, Planner};
use crate::query::Query;
use crate::words::Analyzer;

/// The most steps of a chain.
const MAX_STEPS: usize = 6;

/// The least score of a chain that is proposed.
const MIN_SCORE: f32 = 0.15;

/// A chain of tools.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Chain {
    /// The calls, in their order.
    pub steps: Vec<ChainStep>,
    /// The required parameters that neither the query nor an earlier step supplies, as
    /// `step.parameter`. Steps are counted from 0.
    pub missing: Vec<String>,
    /// How well the chain matches, from 0 to 1.
    pub score: f32,
}

/// A call of a tool in a chain.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ChainStep {
    /// The name of the tool.
    pub tool: String,
    /// The name of the source that declares it.
    pub source: String,
    /// The parameters with where their values come from: `$city` is a parameter of the query, and
    /// `$0.lat` a part of the result of the first step. Names with dots are in brackets: `$0["a.b"]`.
    #[serde(serialize_with = "as_map")]
    pub arguments: Vec<(String, String)>,
}

fn as_map<S: Serializer>(pairs: &[(String, String)], serializer: S) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(Some(pairs.len()))?;
    for (key, value) in pairs {
        map.serialize_entry(key, value)?;
    }
    map.end()
}

impl Index {
    /// Chains of two or more tools, at most `steps` (and 6), that together do what the query wants,
    /// best first, at most `limit`.
    pub fn compose(&self, query: &Query, steps: usize, limit: usize) -> Vec<Chain> {
        let analyzer = Analyzer::new();
        let mut planner = Planner::new(self, query, &analyzer, steps.min(MAX_STEPS));
        let mut plans = planner.plans(limit);
        plans.retain(|plan| plan.score >= MIN_SCORE);
        plans.truncate(limit);
        plans.iter().map(|plan| chain(&planner, plan)).collect()
    }
}

fn chain(planner: &Planner<'_>, plan: &Plan) -> Chain {
    let last = plan.steps.len().saturating_sub(1);
    let mut missing = Vec::new();
    let mut steps = Vec::new();
    // A plan begins with its last step.
    for (at, step) in plan.steps.iter().rev().enumerate() {
        let tool = planner.tool(step.tool);
        let mut arguments = Vec::new();
        for (parameter, argument) in &step.arguments {
            let Some((name, _)) = tool.record.parameters.get(*parameter) else { continue };
            let value = match argument {
                Argument::Query(term) => format!("${}", planner.label(*term)),
                Argument::Step { step, output } => {
                    let from = planner.tool(plan.steps[*step].tool);
                    let path = from.record.outputs.get(*output).map_or("", String::as_str);
                    let dot = if path.is_empty() || path.starts_with('[') { "" } else { "." };
                    format!("${}{dot}{path}", last - step)
                }
                Argument::Missing => {
                    missing.push(format!("{at}.{name}"));
                    continue;
                }
            };
            arguments.push((name.clone(), value));
        }
        steps.push(ChainStep {
            tool: tool.record.name.clone(),
            source: tool.source.clone(),
            arguments,
        });
    }
    Chain { steps, missing, score: rounded(plan.score) }
}
