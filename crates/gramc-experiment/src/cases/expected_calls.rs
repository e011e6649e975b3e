//! Expected calls that an agent cannot make.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::OnceLock;

use gramc_model::nearest::nearest;
use gramc_model::{Experiment, Module, Open, Tool};
use gramc_schema::emit::ParameterSchema;
use jsonschema::Validator;
use serde_json::{Map, Value};
use smol_str::SmolStr;

use crate::cases::case_problems::{CasePlace, CaseProblem, pointer_to_member};
use crate::grading::grader::{ExpectationKey, Grader, NamedToolCall};

/// The tools that the agents of an experiment can call.
#[derive(Debug)]
pub struct ExpectedCalls<'m> {
    module: &'m Module,
    tools: HashMap<&'m str, CheckedTool<'m>>,
    /// All that can be called: tools, agents and containers.
    known: HashSet<&'m str>,
    /// The names that the agents of the arms can call. `None` if they are unknown.
    of_agents: Option<HashSet<&'m str>>,
    /// The names of the agents, for messages.
    agents: Vec<&'m str>,
}

/// A tool and the schema of its arguments, in which none is required.
#[derive(Debug)]
struct CheckedTool<'m> {
    tool: &'m Tool,
    schema: OnceLock<Option<Validator>>,
}

impl<'m> ExpectedCalls<'m> {
    /// The calls of an experiment of a specification without errors. `None` if an arm has a
    /// specification of its own.
    pub fn new(module: &'m Module, experiment: &'m Experiment) -> Option<Self> {
        let mut arms = experiment.arms.iter().flat_map(|arm| &arm.attributes);
        if arms.any(|(key, _)| key == "spec") {
            return None;
        }
        let agents = agents(module, experiment);
        let of_agents = agents.iter().map(|name| Some(&module.agent(name)?.members));
        let of_agents: Option<Vec<_>> = of_agents.collect();
        let of_agents = of_agents.filter(|agents| !agents.is_empty());
        let of_agents = of_agents.map(|it| callable(module, it.into_iter().flatten()));
        let tools = module.tools.iter();
        let tools = tools.map(|tool| (&*tool.name, CheckedTool { tool, schema: OnceLock::new() }));
        let known = module.tools.iter().map(|tool| &*tool.name);
        let known = known.chain(module.agents.iter().map(|agent| &*agent.name));
        let known = known.chain(module.containers.iter().map(|it| &*it.name)).collect();
        Some(Self { module, tools: tools.collect(), known, of_agents, agents })
    }

    /// Identifies the result of the checks: a hash of the tools, their schemas and the agents.
    pub fn identity(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        for tool in &self.module.tools {
            tool.name.hash(&mut hasher);
            let schema = ParameterSchema::new(&self.module.types, tool);
            serde_json::to_string(&schema).unwrap_or_default().hash(&mut hasher);
        }
        self.agents.hash(&mut hasher);
        for names in std::iter::once(&self.known).chain(&self.of_agents) {
            names.iter().copied().collect::<BTreeSet<_>>().hash(&mut hasher);
        }
        hasher.finish()
    }

    /// The expected calls that no run can make.
    pub(crate) fn problems(&self, grader: &Grader) -> Vec<CaseProblem> {
        let mut found = Vec::new();
        for call in grader.named_calls() {
            let pointer = format!("/expect/{}/{}", call.key.name(), call.at);
            if let Some(problem) = self.unknown_tool(&pointer, &call) {
                found.push(problem);
            } else if call.key == ExpectationKey::Calls {
                self.arguments(&pointer, &call, &mut found);
            }
        }
        found
    }

    fn unknown_tool(&self, pointer: &str, call: &NamedToolCall<'_>) -> Option<CaseProblem> {
        let name = call.name;
        let is_known = self.known.contains(name);
        let of_agents = self.of_agents.as_ref();
        if is_known && of_agents.is_none_or(|known| known.contains(name)) {
            return None;
        }
        let message = match &self.agents[..] {
            [agent] if is_known => format!("agent `{agent}` does not have the tool `{name}`"),
            _ if is_known => format!("no agent of the experiment has the tool `{name}`"),
            _ => format!("unknown tool `{name}`"),
        };
        let known = of_agents.unwrap_or(&self.known).iter().copied();
        let near = if is_known { Vec::new() } else { nearest(name, known) };
        let near = near.into_iter().map(str::to_owned).collect();
        let pointer =
            if call.is_name { pointer.to_owned() } else { pointer_to_member(pointer, "name") };
        Some(CaseProblem { place: CasePlace::Value(pointer), message, near })
    }

    fn arguments(&self, pointer: &str, call: &NamedToolCall<'_>, found: &mut Vec<CaseProblem>) {
        let arguments = call.arguments;
        let Some(checked) = self.tools.get(call.name).filter(|_| !arguments.is_empty()) else {
            return;
        };
        let pointer = pointer_to_member(pointer, "arguments");
        let name = call.name;
        let parameters = || checked.tool.parameters.iter().map(|field| &*field.name);
        let is_open = is_open(checked.tool);
        for key in arguments.keys().filter(|key| !is_open && !parameters().any(|it| it == **key)) {
            let near = nearest(key, parameters()).into_iter().map(str::to_owned).collect();
            let message = format!("tool `{name}` has no parameter `{key}`");
            found.push(CaseProblem {
                place: CasePlace::Key(pointer_to_member(&pointer, key)),
                message,
                near,
            });
        }
        let Some(schema) = checked.schema.get_or_init(|| self.validator(checked.tool)) else {
            return;
        };
        for (key, value) in arguments {
            let argument = Value::Object(Map::from_iter([(key.clone(), value.clone())]));
            // One error of an argument is enough.
            let Some(error) = schema.iter_errors(&argument).next() else { continue };
            let path = error.instance_path().to_string();
            // Parameters that the host supplies are not in the schema.
            if !path.is_empty() {
                let place = CasePlace::Value(format!("{pointer}{path}"));
                let message = format!("tool `{name}` refuses `{key}`: {error}");
                found.push(CaseProblem::new(place, message));
            }
        }
    }

    fn validator(&self, tool: &Tool) -> Option<Validator> {
        let schema = ParameterSchema::new(&self.module.types, tool);
        let mut schema = serde_json::to_value(schema).ok()?;
        schema.as_object_mut()?.remove("required");
        jsonschema::validator_for(&schema).ok()
    }
}

/// Whether a tool may get arguments that it does not declare.
fn is_open(tool: &Tool) -> bool {
    matches!(tool.open, Open::Yes | Open::Of(_)) || !tool.patterns().is_empty()
}

/// The agents of the arms: those that are named, or those that no other agent calls.
fn agents<'m>(module: &'m Module, experiment: &'m Experiment) -> Vec<&'m str> {
    let named = |attributes: &'m [(SmolStr, Value)]| {
        let agent = attributes.iter().find(|(key, _)| key == "agent");
        agent.and_then(|(_, value)| value.as_str())
    };
    let own = named(&experiment.attributes);
    let arms = experiment.arms.iter().map(|arm| named(&arm.attributes).or(own));
    let arms: Option<Vec<_>> = arms.collect();
    let mut agents = arms.unwrap_or_else(|| {
        let called =
            |name: &str| module.agents.iter().any(|it| it.members.iter().any(|it| it == name));
        let free = module.agents.iter().map(|agent| &*agent.name);
        free.filter(|name| !called(name)).collect()
    });
    agents.sort_unstable();
    agents.dedup();
    agents
}

/// All that agents with these members can call, directly or by other agents.
fn callable<'m>(
    module: &'m Module,
    members: impl Iterator<Item = &'m SmolStr>,
) -> HashSet<&'m str> {
    let mut found = HashSet::new();
    let mut open: Vec<&str> = members.map(SmolStr::as_str).collect();
    while let Some(name) = open.pop() {
        if found.insert(name) {
            let agent = module.agent(name).map(|agent| &agent.members);
            let container = module.container(name).map(|container| &container.members);
            open.extend(agent.into_iter().chain(container).flatten().map(SmolStr::as_str));
        }
    }
    found
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test stops where it cannot go on")]
mod tests {
    use std::path::Path;

    use gramc_syntax::{SourceFile, parse};

    use super::*;
    use crate::check_case;

    const SPEC: &str = "
[find:Tool | (order::Text {length: 1..9})==>(limit?::Int)==>(::Text)]
[erase:Tool | ()==>(::Null)]
[other:Tool | ()==>(::Null)]
[files:Container | erase]
[clerk:Agent {model: \"scripted/x\"} | find, files]
[boss:Agent {model: \"scripted/x\"} | other]
[real:Library | (find:Client), (erase:Client), (other:Client)]
[one:Experiment {agent: \"clerk\", cases: \"c.jsonl\"} | real, (b:Arm {library: \"real\"})]
[two:Experiment {cases: \"c.jsonl\"} | real, (b:Arm {library: \"real\"})]
[three:Experiment {cases: \"c.jsonl\"} | real, (b:Arm {library: \"real\", spec: \"x.gram\"})]
";

    fn found(experiment: &str, expect: &str) -> Vec<(String, String)> {
        let module = gramc_check::check(&[parse(SourceFile::new("a.gram", SPEC))]).module.unwrap();
        let calls = ExpectedCalls::new(&module, module.experiment(experiment).unwrap());
        let line = format!("{{\"input\": \"a\", \"expect\": {expect}}}");
        let case = check_case(&line, Path::new(""), calls.as_ref()).unwrap();
        let show = |problem: CaseProblem| match problem.place {
            CasePlace::Byte(at) => (at.to_string(), problem.message),
            CasePlace::Value(pointer) | CasePlace::Key(pointer) => (pointer, problem.message),
        };
        case.problems.into_iter().map(show).collect()
    }

    fn pairs(wanted: &[(&str, &str)]) -> Vec<(String, String)> {
        wanted.iter().map(|(place, text)| ((*place).to_owned(), (*text).to_owned())).collect()
    }

    #[test]
    fn tools_that_the_agent_lacks_are_found() {
        let expect = r#"{"calls": [{"name": "find"}, {"name": "fnd"}],
            "forbidden_calls": ["erase", "other", {"name": "none"}], "call_order": ["files", "x"]}"#;
        assert_eq!(
            found("one", expect),
            pairs(&[
                ("/expect/calls/1/name", "unknown tool `fnd`"),
                ("/expect/forbidden_calls/1", "agent `clerk` does not have the tool `other`"),
                ("/expect/forbidden_calls/2/name", "unknown tool `none`"),
                ("/expect/call_order/1", "unknown tool `x`"),
            ])
        );
        // Without a name, it may be any agent that no other one calls.
        assert_eq!(found("two", r#"{"call_order": ["other", "find"]}"#), []);
        assert_eq!(found("three", r#"{"call_order": ["none"]}"#), []);
    }

    #[test]
    fn arguments_that_a_tool_refuses_are_found() {
        let call = |arguments: &str| {
            found("one", &format!(r#"{{"calls": [{{"name": "find", "arguments": {arguments}}}]}}"#))
        };
        assert_eq!(call(r#"{"order": "a", "limit": 3}"#), []);
        assert_eq!(call(r#"{"limit": 3}"#), []);
        assert_eq!(
            call(r#"{"order": 7, "limit": "x", "oder": 1}"#),
            pairs(&[
                ("/expect/calls/0/arguments/oder", "tool `find` has no parameter `oder`"),
                (
                    "/expect/calls/0/arguments/order",
                    "tool `find` refuses `order`: 7 is not of type \"string\""
                ),
                (
                    "/expect/calls/0/arguments/limit",
                    "tool `find` refuses `limit`: \"x\" is not of type \"integer\""
                ),
            ])
        );
        assert_eq!(call(r#"{"order": ""}"#).len(), 1);
    }
}
