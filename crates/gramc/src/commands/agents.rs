//! Agents that are programs.

use std::path::PathBuf;

use gramc_agent::TeamOptions;
use gramc_agent::model::Sampling;
use gramc_model::Module;
use tokio::runtime::Builder;

use crate::args::{AgentOptions, Bridge};
use crate::failure::{CLEAN, Failure, Outcome};
use crate::start::start_command;

/// The name of an agent that the specification does not declare.
const UNDECLARED: &str = "agent";

/// The options of a team for those of the command line, without a model.
pub(super) fn team_options(args: &AgentOptions) -> Result<TeamOptions, Failure> {
    let command = args.agent_command.as_deref();
    let words = command.map(|command| split_command(command, "--agent-command")).transpose()?;
    Ok(TeamOptions {
        model: None,
        attributes: Vec::new(),
        fallback: true,
        sampling: Sampling { temperature: args.temperature, ..Sampling::default() },
        command: words.map(|words| (words, PathBuf::from("."))),
        bridge: bridge(),
        guidance: !args.no_guidance,
    })
}

/// The words of a command that an option has.
pub(super) fn split_command(command: &str, option: &str) -> Result<Vec<String>, Failure> {
    let words = shlex::split(command)
        .ok_or_else(|| Failure::new(format!("invalid quoting in the command of {option}")))?;
    if words.first().is_none_or(String::is_empty) {
        return Err(Failure::new(format!("the command of {option} is empty")));
    }
    Ok(words)
}

/// The command that connects such a program with its MCP server.
fn bridge() -> Vec<String> {
    let words: Option<Vec<String>> = match start_command() {
        Some((program, arguments)) => {
            let words = std::iter::once(program).chain(arguments);
            words.map(|word| word.to_str().map(str::to_owned)).collect()
        }
        None => std::env::current_exe()
            .ok()
            .and_then(|path| path.to_str().map(|path| vec![path.to_owned()])),
    };
    let name = Bridge::NAME.to_owned();
    words.map(|words| words.into_iter().chain([name]).collect()).unwrap_or_default()
}

/// The agent to run: the one that is asked for, else the only one that no other agent calls.
/// `is_program` is whether it is a program that the specification need not declare.
pub(super) fn choose(
    module: &Module,
    asked: Option<&str>,
    is_program: bool,
) -> Result<String, Failure> {
    if let Some(name) = asked {
        return Ok(name.to_owned());
    }
    let called =
        |name: &str| module.agents.iter().any(|agent| agent.members.iter().any(|it| it == name));
    let free: Vec<_> = module.agents.iter().filter(|agent| !called(&agent.name)).collect();
    match (&free[..], &module.agents[..]) {
        ([only], _) => Ok(only.name.to_string()),
        ([], [only]) => Ok(only.name.to_string()),
        (_, []) if is_program => Ok(UNDECLARED.to_owned()),
        (_, []) => Err(Failure::new("the specification declares no agent")),
        (_, all) => {
            let names: Vec<_> = all.iter().map(|agent| agent.name.as_str()).collect();
            Err(Failure::new(format!(
                "the specification declares several agents ({}): choose one with --agent",
                names.join(", ")
            )))
        }
    }
}

/// `gramc connect`
pub(super) fn connect(args: &Bridge) -> Outcome {
    let runtime = Builder::new_current_thread().enable_all().build();
    let runtime =
        runtime.map_err(|error| Failure::new(format!("cannot start the runtime: {error}")))?;
    let connected = runtime.block_on(gramc_mcp::bridge(&args.address, &args.secret));
    // Standard input is read by a thread of its own, which does not notice the end.
    runtime.shutdown_background();
    connected.map(|()| CLEAN).map_err(|error| {
        Failure::new(format!("cannot connect to the MCP server of the run: {error}"))
    })
}
