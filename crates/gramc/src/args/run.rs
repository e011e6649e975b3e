//! The arguments of `gramc run`.

use std::path::{Path, PathBuf};

use clap::Args as ClapArgs;

use super::error::ArgError;
use super::{Approve, Bind, Journal, LiveServer, Spec};

/// Run an agent: a model that calls the tools of a library
///
/// Each message is one turn of a conversation. Without messages, each line of standard input is one;
/// a terminal becomes a chat with a history. Answers go to standard output, tool calls and their
/// results to standard error. Exit code 1 if a turn ends without a valid answer.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  gramc run hello-world.gram 'Hello, I am Ada!' --library friendly.gram
  gramc run hello-world.gram --library friendly.gram --model openai/gpt-4o-mini
  OPENAI_BASE_URL=http://127.0.0.1:8080/v1 gramc run hello-world.gram 'Hello!' \\
      --library friendly.gram --model openai/local

Models: openai/…, openai-responses/…, anthropic/…, gemini/…, mistral/…, ollama/…, llamacpp/…. The
provider's environment variables give the key and the address (OPENAI_API_KEY, OPENAI_BASE_URL, …).
scripted/echo and scripted/FILE need no network.")]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct Run {
    #[command(flatten)]
    spec: Spec,
    /// Messages of the user, one per turn
    #[arg(value_name = "MESSAGE")]
    pub(crate) messages: Vec<String>,
    #[command(flatten)]
    pub(crate) bind: Bind,
    /// Environment variable that calls of an API may send; repeatable
    #[arg(long, value_name = "NAME", conflicts_with_all = ["library", "fake"])]
    pub(crate) env: Vec<String>,
    #[command(flatten)]
    pub(crate) approve: Approve,
    #[command(flatten)]
    pub(crate) journal: Journal,
    /// Image file for the first message; repeatable
    #[arg(long = "image", value_name = "FILE")]
    pub(crate) images: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) agents: AgentOptions,
    /// Replay the model's responses from a trace
    #[arg(long, value_name = "TRACE", conflicts_with = "model")]
    pub(crate) replay: Option<PathBuf>,
    /// File that stores the conversation; continues it if it exists
    #[arg(long, value_name = "FILE")]
    pub(crate) conversation: Option<PathBuf>,
    /// Do not save the history of the chat
    #[arg(long)]
    pub(crate) no_history: bool,
    /// Write a trace to this file, as JSON lines
    #[arg(long, value_name = "FILE")]
    pub(crate) trace: Option<PathBuf>,
    /// Maximum tokens of the conversation
    #[arg(long, value_name = "COUNT")]
    pub(crate) max_tokens: Option<u64>,
    /// Show answers when they are complete instead of streaming them
    #[arg(long)]
    pub(crate) no_stream: bool,
    /// Print the run as JSON lines while it happens; stop replies with a call that cannot be valid
    #[arg(long, conflicts_with = "no_stream")]
    pub(crate) stream: bool,
    /// Allow tools without an implementation
    #[arg(long)]
    pub(crate) partial: bool,
    /// Maximum characters shown of a call or result
    #[arg(long, value_name = "CHARACTERS", default_value_t = 150)]
    pub(crate) show: usize,
    /// Print each model request and each verdict as JSON
    #[arg(long)]
    pub(crate) debug: bool,
}

/// Agents and their models.
#[derive(Debug, ClapArgs)]
pub(crate) struct AgentOptions {
    /// Agent to run [default: the one that no other agent calls]
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Option<String>,
    /// Run this program as the agent: it reads {"input": …} from standard input, writes
    /// {"output": …} and calls the tools of the MCP server at GRAMC_MCP_URL
    #[arg(long, value_name = "COMMAND")]
    pub(crate) agent_command: Option<String>,
    /// Model [default: the agent's]
    #[arg(long, value_name = "PROVIDER/NAME")]
    pub(crate) model: Option<String>,
    /// Maximum model requests per turn [default: the agent's]
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_iterations: Option<u32>,
    /// Maximum seconds per turn
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) time_limit: Option<f64>,
    /// Sampling temperature (0 = most deterministic) [default: the provider's]
    #[arg(long, value_name = "NUMBER", value_parser = temperature)]
    pub(crate) temperature: Option<f64>,
    /// Omit the tool-calling guidance from the system prompt
    #[arg(long)]
    pub(crate) no_guidance: bool,
}

fn temperature(text: &str) -> Result<f64, ArgError> {
    number(text, |number| number >= 0.0, "a number of at least 0")
}

pub(super) fn seconds(text: &str) -> Result<f64, ArgError> {
    number(text, |seconds| seconds > 0.0, "a number of seconds greater than 0")
}

/// Parses a finite number that fits.
pub(super) fn number(
    text: &str,
    fits: fn(f64) -> bool,
    expected: &'static str,
) -> Result<f64, ArgError> {
    let number = text.parse().ok().filter(|number: &f64| number.is_finite() && fits(*number));
    number.ok_or(ArgError::Expected(expected))
}

/// Summarize a trace, or turn traces into cases
///
/// Shows the cost of each tool, refused and repaired calls, tools that are called together, and call
/// patterns that suggest another tool.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  gramc run agent.gram 'Hello!' --library tools.gram --trace run.jsonl
  gramc trace run.jsonl
  gramc trace run.jsonl --format json
  gramc trace runs/*.jsonl --cases > cases.jsonl")]
pub(crate) struct Trace {
    /// Trace; several with --cases
    #[arg(value_name = "FILE", required = true)]
    pub(crate) paths: Vec<PathBuf>,
    /// Print a case for gramc ab for each trace: the messages of the user as "input", the accepted
    /// calls as "expect"
    #[arg(long)]
    pub(crate) cases: bool,
}

impl Run {
    /// The specification, with the variables that calls of an API may send.
    pub(crate) fn spec(&self) -> Spec {
        let Spec { path, stdin_filename, .. } = &self.spec;
        let server = LiveServer { env: self.env.clone(), ..LiveServer::default() };
        Spec { path: path.clone(), stdin_filename: stdin_filename.clone(), server }
    }

    /// The path of the specification.
    pub(crate) fn path(&self) -> &Path {
        &self.spec.path
    }
}
