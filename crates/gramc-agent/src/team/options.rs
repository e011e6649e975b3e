//! What the options of a team change.

use std::collections::HashSet;
use std::path::Path;

use gramc_check::Valid;
use gramc_mcp::Server;
use gramc_model::{Agent, Api, Module};
use gramc_tools::Bound;
use serde_json::Value;
use smol_str::SmolStr;

use super::{TeamError, TeamOptions, attribute};
use crate::model::Models;
use crate::program::AgentProgram;

/// The program that is an agent: that of the options, if this is the first agent, else the agent's.
pub(super) fn find_program(
    module: &Valid<Module>,
    spec: &Agent,
    bound: &Bound,
    models: &Models,
    options: &TeamOptions,
    is_first: bool,
) -> Result<Option<AgentProgram>, TeamError> {
    let given = options.command.clone().filter(|_| is_first);
    let declared = attribute(spec, "command").and_then(Value::as_array).map(|words| {
        let words = words.iter().filter_map(Value::as_str).map(str::to_owned);
        // The folder of a file without a folder is empty.
        (words.collect(), Path::new(".").join(models.folder()))
    });
    let Some((command, folder)) = given.or(declared) else { return Ok(None) };
    let server = Server::new(module, bound);
    let server = server.map_err(|error| TeamError::Serve(spec.name.clone(), error))?;
    let model = options.model.clone().filter(|_| is_first);
    let declared = spec.models.first().map(SmolStr::to_string);
    Ok(Some(AgentProgram {
        command,
        folder,
        instruction: spec.instruction.clone(),
        model: model.or(declared),
        server,
        bridge: options.bridge.clone(),
    }))
}

/// An agent with everything that a specification declares for models.
pub(crate) fn agent_with_all_tools(module: &Module, name: &SmolStr) -> Agent {
    let functions: HashSet<_> = module.containers.iter().flat_map(|it| &it.members).collect();
    let tools = module.tools.iter().map(|tool| &tool.name).filter(|it| !functions.contains(it));
    let containers = module.containers.iter().map(|container| &container.name);
    Agent {
        name: name.clone(),
        description: None,
        instruction: None,
        models: Vec::new(),
        max_iterations: 1,
        api: Api::default(),
        result: None,
        members: tools.chain(containers).cloned().collect(),
        attributes: Vec::new(),
    }
}

/// An agent with other values of attributes.
pub(super) fn with_attributes(mut agent: Agent, attributes: &[(SmolStr, Value)]) -> Agent {
    for (key, value) in attributes {
        match (key.as_str(), value.as_str(), value.as_u64()) {
            ("instruction", Some(text), _) => agent.instruction = Some(text.into()),
            ("maxIterations", _, Some(count)) => agent.max_iterations = count,
            _ => {
                agent.attributes.retain(|(known, _)| known != key);
                agent.attributes.push((key.clone(), value.clone()));
            }
        }
    }
    agent
}
