//! The arguments of `gramc mcp`.

use std::path::PathBuf;

use clap::{Args as ClapArgs, ValueEnum};

use gramc_schema::Target;

use super::doc::target_parser;
use super::{Approve, Bind, Journal, SpecOrServer};

/// Serve the tools of a library as an MCP server
///
/// Clients connect over standard input and output or, with --http, over streamable HTTP. Each call is
/// checked, repaired and throttled before it reaches an implementation; an invalid call returns a
/// tool error that tells the model how to correct it. A container is listed as one tool until it is
/// called. Ends when the client disconnects, or on SIGINT and SIGTERM.
#[derive(Debug, ClapArgs)]
#[command(override_usage = "gramc mcp [OPTIONS] <SPEC>
       gramc mcp [OPTIONS] --config <FILE>
       gramc mcp [OPTIONS] --command <COMMAND>
       gramc mcp [OPTIONS] --url <URL>")]
#[command(after_help = "Examples:
  gramc mcp tools.gram --library friendly.gram
  gramc mcp guard.gram --library upstream.gram      a guard in front of another MCP server
  gramc mcp large.gram --library large.gram --search    a model loads tools on demand
  gramc mcp openapi.yaml --env SHOP_KEY             an API as an MCP server
  gramc mcp --command \"npx -y some-server\" --search
  gramc mcp --command \"npx -y some-server\" --for gemini    for a client that rejects some schemas
  gramc mcp --config servers.json                   several MCP servers as one
  gramc mcp tools.gram --library friendly.gram --http 8080
  TOKEN=… gramc mcp tools.gram --library friendly.gram --http 0.0.0.0:8080 --token-env TOKEN")]
#[command(mut_arg("path", |arg| arg.required_unless_present("config")))]
pub(crate) struct Mcp {
    #[command(flatten)]
    pub(crate) spec: SpecOrServer,
    /// Serve the MCP servers of this file as one: mcpServers as in the settings of clients, or servers
    /// as in VS Code. The file is read again when it changes
    #[arg(long, value_name = "FILE")]
    #[arg(conflicts_with_all = ["path", "command", "url", "env", "library", "fake", "journal"])]
    pub(crate) config: Option<PathBuf>,
    /// Time limit of a call in seconds, which progress begins again, for up to an hour in total; 0 for
    /// none [default: 60, or the timeout of the server in --config]
    #[arg(long, value_name = "SECONDS", conflicts_with_all = ["path", "library", "fake", "journal"])]
    pub(crate) timeout: Option<u64>,
    #[command(flatten)]
    pub(crate) bind: Bind,
    #[command(flatten)]
    pub(crate) approve: Approve,
    #[command(flatten)]
    pub(crate) journal: Journal,
    /// Serve two tools in place of all: find_tools, which returns the definitions that match words
    /// or types, and call_tool
    #[arg(long)]
    pub(crate) search: bool,
    /// Serve schemas that this target accepts, such as anthropic or openai-strict, and reverse its changes in
    /// calls
    #[arg(long = "for", value_name = "TARGET", value_parser = target_parser(), hide_possible_values = true)]
    pub(crate) target: Option<Target>,
    /// Reaction to descriptions and instructions of MCP servers that look like an attack on the model
    #[arg(long, value_enum, value_name = "ACTION", default_value_t = OnSuspicious::Warn)]
    pub(crate) on_suspicious: OnSuspicious,
    /// Write the calls to this file, as a trace of JSON lines
    #[arg(long, value_name = "FILE")]
    pub(crate) trace: Option<PathBuf>,
    /// Serve over streamable HTTP at PORT (only loopback clients) or HOST:PORT; port 0 is any free
    /// port. The address is printed to standard error
    #[arg(long, value_name = "ADDR")]
    pub(crate) http: Option<String>,
    /// Environment variable with the bearer token that clients must send. Required if ADDR is
    /// reachable from other machines
    #[arg(long, value_name = "NAME", requires = "http")]
    pub(crate) token_env: Option<String>,
    /// Maximum number of HTTP sessions. If all are in use, new clients are rejected
    #[arg(long, value_name = "N", default_value_t = 100, requires = "http")]
    pub(crate) max_sessions: usize,
}

/// A reaction to suspicious texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OnSuspicious {
    /// Leave out the tool; do not serve a server with such instructions
    Refuse,
    /// Print a warning
    Warn,
    /// Do nothing
    Ignore,
}
