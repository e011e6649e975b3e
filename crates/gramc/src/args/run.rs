//! The arguments of `gramc run`.

use std::path::PathBuf;

use clap::Args as ClapArgs;

use super::{Bind, Spec};

/// Run an agent: a model that calls the tools of a library
///
/// Each message is a turn of one conversation. Without messages, lines of standard input are: a
/// chat, on a terminal, which remembers what was typed. Answers go to standard output; what the model calls, and what comes of it,
/// is shown on standard error. The exit code is 1 when a turn ends without an answer as it should
/// be.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  gramc run hello-world.gram 'Hello, I am Ada!' --library friendly.gram
  gramc run hello-world.gram --library friendly.gram --model openai/gpt-4o-mini
  OPENAI_BASE_URL=http://127.0.0.1:8080/v1 gramc run hello-world.gram 'Hello!' \\
      --library friendly.gram --model openai/local

Models: openai/…, openai-responses/…, anthropic/…, gemini/…, mistral/…, ollama/…, llamacpp/…, with
the key and the address in the variables of the provider (OPENAI_API_KEY, OPENAI_BASE_URL, …);
scripted/echo and scripted/FILE, which need no network.")]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct Run {
    #[command(flatten)]
    pub(crate) spec: Spec,
    /// What the user says, a turn each
    #[arg(value_name = "MESSAGE")]
    pub(crate) messages: Vec<String>,
    #[command(flatten)]
    pub(crate) bind: Bind,
    /// The agent; without it, the one that no other agent calls
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Option<String>,
    /// The model, in the place of the agent's own
    #[arg(long, value_name = "PROVIDER/NAME")]
    pub(crate) model: Option<String>,
    /// Play the model's part of a trace back
    #[arg(long, value_name = "TRACE", conflicts_with = "model")]
    pub(crate) replay: Option<PathBuf>,
    /// Keep the conversation in this file, and go on with the one that it holds
    #[arg(long, value_name = "FILE")]
    pub(crate) conversation: Option<PathBuf>,
    /// Remember nothing of what is typed in a chat
    #[arg(long)]
    pub(crate) no_history: bool,
    /// Write down what happens, as JSON lines
    #[arg(long, value_name = "FILE")]
    pub(crate) trace: Option<PathBuf>,
    /// How often the model may be asked in a turn, in the place of what the agent says
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_iterations: Option<u32>,
    /// How many tokens the conversation may take
    #[arg(long, value_name = "COUNT")]
    pub(crate) max_tokens: Option<u64>,
    /// How many seconds a turn may take
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) time_limit: Option<f64>,
    /// How the model picks its words, from 0, which always takes the likeliest
    #[arg(long, value_name = "NUMBER", value_parser = temperature)]
    pub(crate) temperature: Option<f64>,
    /// Wait for whole answers, and do not show them while they come
    #[arg(long)]
    pub(crate) no_stream: bool,
    /// Leave what holds of calls out of the instruction
    #[arg(long)]
    pub(crate) no_guidance: bool,
    /// Bind what fits, though some tools have no implementation
    #[arg(long)]
    pub(crate) partial: bool,
    /// How many characters of calls and results are shown
    #[arg(long, value_name = "CHARACTERS", default_value_t = 150)]
    pub(crate) show: usize,
    /// Show each request to the model and each verdict, as JSON
    #[arg(long)]
    pub(crate) debug: bool,
}

pub(super) fn temperature(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() && number >= 0.0 => Ok(number),
        _ => Err("a number from 0 on is wanted".to_owned()),
    }
}

pub(super) fn seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(seconds) if seconds.is_finite() && seconds > 0.0 => Ok(seconds),
        _ => Err("a number of seconds above 0 is wanted".to_owned()),
    }
}

/// Sum up a trace of a run
///
/// What each tool cost, what was refused and repaired, which tools are called together, and habits
/// that another tool would spare the model.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  gramc run agent.gram 'Hello!' --library tools.gram --trace run.jsonl
  gramc trace run.jsonl
  gramc trace run.jsonl --format json")]
pub(crate) struct Trace {
    /// The trace
    #[arg(value_name = "FILE")]
    pub(crate) path: PathBuf,
}
