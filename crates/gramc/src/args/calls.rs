//! The arguments of the commands that check and run calls.

use std::path::PathBuf;

use clap::{Args as ClapArgs, ValueEnum};

/// A specification.
#[derive(Debug, ClapArgs)]
pub(crate) struct Spec {
    /// A file, whose imports come along, a folder, or - for standard input
    #[arg(value_name = "SPEC")]
    pub(crate) path: PathBuf,
    /// What messages call standard input
    #[arg(long, value_name = "NAME", default_value = "<stdin>")]
    pub(crate) stdin_filename: String,
}

/// A library.
#[derive(Debug, ClapArgs)]
pub(crate) struct Bind {
    /// The file that declares the library, with `:NAME` behind it where it declares several; or the
    /// name of one that SPEC declares
    #[arg(long, value_name = "FILE")]
    pub(crate) library: String,
}

/// Check recorded calls against a specification; nothing runs
///
/// Reads one call a line, {"name": …, "arguments": …}, and prints one verdict a line. Each call is
/// judged alone: without throttle and attempts, and as if all containers were expanded. The exit
/// code is 1 when a call is refused.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  gramc validate tools.gram --calls calls.jsonl
  gramc validate tools.gram --calls - --no-repair --undeclared reject")]
pub(crate) struct Validate {
    #[command(flatten)]
    pub(crate) spec: Spec,
    /// The calls, one JSON object a line; - for standard input
    #[arg(long, value_name = "FILE")]
    pub(crate) calls: PathBuf,
    /// Repair nothing: what does not fit as it was sent is refused
    #[arg(long)]
    pub(crate) no_repair: bool,
    /// What happens to parameters that are not declared
    #[arg(long, value_enum, default_value_t = Undeclared::Strip)]
    pub(crate) undeclared: Undeclared,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Undeclared {
    /// They are left out, and reported
    Strip,
    /// They are errors
    Reject,
    /// They are kept
    Keep,
    /// What the schema says
    Schema,
}

/// Say which implementation serves each tool, and what does not fit
///
/// MCP servers are connected to, so that what they declare is compared, too. The exit code is 1
/// when something does not fit.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  gramc bind tools.gram --library friendly.gram
  gramc bind tools.gram --library libraries.gram:friendly
  gramc bind tools.gram --library friendly.gram --format json")]
pub(crate) struct BindCommand {
    #[command(flatten)]
    pub(crate) spec: Spec,
    #[command(flatten)]
    pub(crate) bind: Bind,
    /// Tell what each agent costs: the tokens that its instruction and tools take in each request,
    /// and how often models are asked for one message, at most
    #[arg(long)]
    pub(crate) costs: bool,
}

/// Send one call through the whole pipeline: check, repair, run
///
/// Prints the verdict, one JSON object. The exit code is 1 when the call is refused or fails.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  gramc call tools.gram sayHello '{\"personName\": \"Ada\"}' --library friendly.gram
  echo '{}' | gramc call tools.gram sayHello - --library friendly.gram")]
pub(crate) struct Call {
    #[command(flatten)]
    pub(crate) spec: Spec,
    /// The name that is called
    #[arg(value_name = "TOOL")]
    pub(crate) tool: String,
    /// The arguments, as a model would write them; - for standard input
    #[arg(value_name = "JSON")]
    pub(crate) arguments: String,
    #[command(flatten)]
    pub(crate) bind: Bind,
}

/// Send recorded calls through the whole pipeline, as one session
///
/// Reads one call a line and prints one verdict a line. A call's `at`, in seconds, sets the clock,
/// so that throttling comes out the same each time. Other lines steer the session: {"turn": true}
/// begins a turn, {"reset": "tool"} or {"reset": true} lifts a block. A call of a `Client` tool
/// brings the host's answer along as its `result`.
///
/// With --trace, nothing runs: the calls of a run are checked again against a specification, and a
/// library's policy, that may have changed, and which of them come out otherwise is told. The exit
/// code is 1 when a call is refused that was not.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  gramc replay tools.gram --library friendly.gram --calls calls.jsonl --stats
  gramc replay --trace run.jsonl --spec changed.gram --library friendly.gram")]
pub(crate) struct Replay {
    /// A file, whose imports come along, a folder, or - for standard input
    #[arg(value_name = "SPEC", required_unless_present = "spec")]
    path: Option<PathBuf>,
    /// The same, under a name
    #[arg(long, value_name = "SPEC", conflicts_with = "path")]
    spec: Option<PathBuf>,
    /// What messages call standard input
    #[arg(long, value_name = "NAME", default_value = "<stdin>")]
    stdin_filename: String,
    /// The file that declares the library, with `:NAME` behind it where it declares several; or the
    /// name of one that SPEC declares
    #[arg(long, value_name = "FILE", required_unless_present = "trace")]
    library: Option<String>,
    /// The calls, one JSON object a line; - for standard input
    #[arg(long, value_name = "FILE", required_unless_present = "trace")]
    calls: Option<PathBuf>,
    /// A trace, whose calls are checked again and not run
    #[arg(long, value_name = "TRACE", conflicts_with_all = ["calls", "stats", "partial"])]
    pub(crate) trace: Option<PathBuf>,
    /// Bind what fits, though some tools have no implementation
    #[arg(long)]
    pub(crate) partial: bool,
    /// Print what the session counted as a last line, {"stats": …}
    #[arg(long)]
    pub(crate) stats: bool,
}

impl Replay {
    /// The specification; one is given, as its argument or under its name.
    pub(crate) fn spec(&self) -> Spec {
        let path = self.path.as_ref().or(self.spec.as_ref()).cloned().unwrap_or_default();
        Spec { path, stdin_filename: self.stdin_filename.clone() }
    }

    /// The library, which only a trace can do without.
    pub(crate) fn bind(&self) -> Option<Bind> {
        self.library.clone().map(|library| Bind { library })
    }

    /// The calls; those that are not those of a trace have a file.
    pub(crate) fn calls(&self) -> PathBuf {
        self.calls.clone().unwrap_or_default()
    }
}
