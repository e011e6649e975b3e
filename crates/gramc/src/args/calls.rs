//! The arguments of the commands that check and run calls.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args as ClapArgs;
use clap::builder::{PossibleValue, TypedValueParser};
use gramc_calls::check::Undeclared;
use gramc_project::ValidTexts;
use gramc_schema::Target;
use gramc_schema::emit::TargetTools;
use gramc_tools::Session;

use super::doc::target_parser;
use super::{LiveServer, one_of};

/// The help of arguments that name a specification.
const SPEC: &str = "Specification: a file and its imports, a folder, a JSON tool list, an OpenAPI, \
                    Swagger or Google Discovery document, REV:PATH at a git revision, or - for \
                    standard input";

/// A specification.
#[derive(Debug, Default, ClapArgs)]
pub(crate) struct Spec {
    #[arg(help = SPEC, value_name = "SPEC")]
    pub(crate) path: PathBuf,
    /// Name of standard input in diagnostics
    #[arg(long, value_name = "NAME", default_value = "<stdin>")]
    pub(crate) stdin_filename: String,
    /// The server that lists the tools. The path is empty then.
    #[arg(skip)]
    pub(crate) server: LiveServer,
}

/// A specification, which may be the tools of a running MCP server.
#[derive(Debug, ClapArgs)]
pub(crate) struct SpecOrServer {
    #[arg(help = SPEC, value_name = "SPEC", required_unless_present_any = ["command", "url"])]
    // `requires` alone does not refuse an option if what it requires conflicts with another argument.
    #[arg(conflicts_with_all = ["command", "url", "header", "ca", "cert", "key"])]
    path: Option<PathBuf>,
    /// Name of standard input in diagnostics
    #[arg(long, value_name = "NAME", default_value = "<stdin>")]
    stdin_filename: String,
    #[command(flatten)]
    live: LiveServer,
}

impl SpecOrServer {
    /// The specification.
    pub(crate) fn spec(&self) -> Spec {
        Spec {
            path: self.path.clone().unwrap_or_default(),
            stdin_filename: self.stdin_filename.clone(),
            server: self.live.clone(),
        }
    }
}

/// A library.
#[derive(Debug, ClapArgs)]
pub(crate) struct Bind {
    /// File that declares the library (FILE:NAME if it declares several), or the name of a library
    /// in SPEC [default: the server or API that SPEC describes]
    #[arg(long, value_name = "FILE")]
    pub(crate) library: Option<String>,
    /// Answer with made-up results of the right types instead
    #[arg(long, conflicts_with = "library")]
    pub(crate) fake: bool,
}

impl Bind {
    /// The library as a path, empty if there is none.
    pub(crate) fn path(&self) -> &Path {
        Path::new(self.library.as_deref().unwrap_or_default())
    }
}

/// The program that approves calls.
#[derive(Debug, ClapArgs)]
pub(crate) struct Approve {
    /// Program that approves calls: it reads {"name": …, "arguments": …} from standard input, and
    /// exit code 0 approves the call
    #[arg(long, value_name = "COMMAND")]
    pub(crate) approve_with: Option<String>,
}

/// The record of calls that run at most once.
#[derive(Debug, ClapArgs)]
pub(crate) struct Journal {
    /// File that records the calls of tools with 'once: true', so that they run at most once
    #[arg(long, value_name = "FILE")]
    pub(crate) journal: Option<PathBuf>,
}

/// Check a call, or recorded calls, without running them
///
/// With --calls, reads one call per line, {"name": …, "arguments": …}, and prints one verdict per line.
/// Each call is checked on its own, without throttling and as if all containers were expanded. Exit
/// code 1 if a call is refused.
#[derive(Debug, ClapArgs)]
#[command(override_usage = "gramc validate [OPTIONS] <SPEC> <TOOL> <JSON>
       gramc validate [OPTIONS] --calls <FILE> <SPEC>
       gramc validate [OPTIONS] --calls <FILE> --command <COMMAND>
       gramc validate [OPTIONS] --calls <FILE> --url <URL>")]
#[command(after_help = "Examples:
  gramc validate tools.gram sayHello '{\"personName\": \"Ada\"}'
  gramc validate tools.gram --calls calls.jsonl
  gramc validate tools.json --calls calls.jsonl
  gramc validate tools.gram --calls - --no-repair --undeclared reject")]
pub(crate) struct Validate {
    #[command(flatten)]
    pub(crate) spec: SpecOrServer,
    /// Name of the tool
    #[arg(value_name = "TOOL", required_unless_present = "calls", conflicts_with = "calls")]
    pub(crate) tool: Option<String>,
    /// Arguments, as a model would write them; - for standard input [default: {}]
    #[arg(value_name = "JSON")]
    pub(crate) arguments: Option<String>,
    /// File with one call (a JSON object) per line; - for standard input
    #[arg(long, value_name = "FILE")]
    pub(crate) calls: Option<PathBuf>,
    /// Refuse invalid calls instead of repairing them
    #[arg(long)]
    pub(crate) no_repair: bool,
    /// Handling of undeclared parameters
    #[arg(long, value_parser = undeclared_policies(), default_value = "strip")]
    pub(crate) undeclared: Undeclared,
    #[command(flatten)]
    pub(crate) target: ModelTarget,
}

/// The target for which the tools were compiled that the model sees.
#[derive(Debug, ClapArgs)]
pub(crate) struct ModelTarget {
    /// Reverse the changes of this target in calls: renamed tools and keys, values as JSON text
    #[arg(long, value_name = "TARGET", value_parser = target_parser(), hide_possible_values = true)]
    target: Option<Target>,
}

impl ModelTarget {
    /// The same session for calls of the model.
    pub(crate) fn apply(&self, session: Session, spec: &ValidTexts) -> Session {
        let Some(target) = self.target else { return session };
        session.with_target(Arc::new(TargetTools::new(&spec.module, spec.texts.named, target)))
    }
}

fn undeclared_policies() -> impl TypedValueParser<Value = Undeclared> {
    let values = [
        ("strip", "Remove and report them"),
        ("reject", "Report them as errors"),
        ("keep", "Keep them"),
        ("schema", "Follow the schema"),
    ];
    one_of(values.map(|(name, help)| {
        let policy = gramc_tools::parse_undeclared(name).unwrap_or_default();
        (PossibleValue::new(name).help(help), policy)
    }))
}

/// Show the implementation of each tool, and check that it is compatible
///
/// Connects to MCP servers to compare the tools that they declare. Exit code 1 if an implementation
/// is missing or incompatible.
#[derive(Debug, ClapArgs)]
#[command(override_usage = "gramc bind [OPTIONS] <SPEC>
       gramc bind [OPTIONS] --command <COMMAND>
       gramc bind [OPTIONS] --url <URL>")]
#[command(after_help = "Examples:
  gramc bind tools.gram --library friendly.gram
  gramc bind tools.gram --library libraries.gram:friendly
  gramc bind tools.gram --library friendly.gram --format json
  gramc bind --command \"npx -y @modelcontextprotocol/server-memory\" --costs")]
pub(crate) struct BindCommand {
    #[command(flatten)]
    pub(crate) spec: SpecOrServer,
    #[command(flatten)]
    pub(crate) bind: Bind,
    /// Show the costs of each agent: the tokens of its instruction and tools in each request, and the
    /// maximum number of model requests per message
    #[arg(long)]
    pub(crate) costs: bool,
}

/// Check, repair and run one call
///
/// Prints the result and the repairs at a terminal, and otherwise, or with --format json, the verdict,
/// a JSON object. Exit code 1 if the call is refused or fails.
#[derive(Debug, ClapArgs)]
#[command(override_usage = "gramc call [OPTIONS] <SPEC> <TOOL> [JSON]
       gramc call [OPTIONS] --command <COMMAND> <TOOL> [JSON]
       gramc call [OPTIONS] --url <URL> <TOOL> [JSON]")]
#[command(after_help = "Examples:
  gramc call tools.gram sayHello '{\"personName\": \"Ada\"}' --library friendly.gram
  gramc call openapi.yaml getPet '{\"id\": 7}'
  gramc call --command \"npx -y @modelcontextprotocol/server-everything\" echo '{\"message\": \"hi\"}'
  echo '{}' | gramc call tools.gram sayHello - --library friendly.gram")]
pub(crate) struct Call {
    #[arg(help = SPEC, value_name = "SPEC")]
    first: String,
    /// Name of the tool
    #[arg(value_name = "TOOL", required_unless_present_any = ["command", "url"])]
    second: Option<String>,
    /// Arguments, as a model would write them; - for standard input [default: {}]
    #[arg(value_name = "JSON")]
    #[arg(conflicts_with_all = ["command", "url", "header", "ca", "cert", "key"])]
    third: Option<String>,
    /// Name of standard input in diagnostics
    #[arg(long, value_name = "NAME", default_value = "<stdin>")]
    stdin_filename: String,
    #[command(flatten)]
    live: LiveServer,
    #[command(flatten)]
    pub(crate) bind: Bind,
    #[command(flatten)]
    pub(crate) approve: Approve,
    #[command(flatten)]
    pub(crate) journal: Journal,
    #[command(flatten)]
    pub(crate) target: ModelTarget,
}

impl Call {
    /// The specification.
    pub(crate) fn spec(&self) -> Spec {
        let path = if self.live.is_named() { "" } else { self.first.as_str() };
        Spec {
            path: path.into(),
            stdin_filename: self.stdin_filename.clone(),
            server: self.live.clone(),
        }
    }

    /// The name of the tool.
    pub(crate) fn tool(&self) -> &str {
        let second = self.second.as_deref().filter(|_| !self.live.is_named());
        second.unwrap_or(&self.first)
    }

    /// The arguments of the tool, as a model would write them; - for standard input.
    pub(crate) fn arguments(&self) -> &str {
        let last = if self.live.is_named() { &self.second } else { &self.third };
        last.as_deref().unwrap_or("{}")
    }
}

/// Check, repair and run recorded calls in one session
///
/// Reads one call per line and prints one verdict per line. "at", in seconds, sets the clock of a
/// call, which makes throttling reproducible. Other lines control the session: {"turn": true} starts
/// a turn; {"reset": "tool"} and {"reset": true} lift a block. A call of a Client tool has the
/// host's answer in "result".
///
/// With --trace, nothing runs: the calls of an earlier run are checked against the current
/// specification and library, and changed verdicts are reported. Exit code 1 if a call is refused
/// that was accepted before.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  gramc replay tools.gram --library friendly.gram --calls calls.jsonl --stats
  gramc replay --trace run.jsonl --spec changed.gram --library friendly.gram")]
pub(crate) struct Replay {
    #[arg(help = SPEC, value_name = "SPEC", required_unless_present = "spec")]
    path: Option<PathBuf>,
    /// Specification, as an option
    #[arg(long, value_name = "SPEC", conflicts_with = "path")]
    spec: Option<PathBuf>,
    /// Name of standard input in diagnostics
    #[arg(long, value_name = "NAME", default_value = "<stdin>")]
    stdin_filename: String,
    /// File that declares the library (FILE:NAME if it declares several), or the name of a library
    /// in SPEC
    #[arg(long, value_name = "FILE", required_unless_present = "trace")]
    library: Option<String>,
    /// File with one call (a JSON object) per line; - for standard input
    #[arg(long, value_name = "FILE", required_unless_present = "trace")]
    calls: Option<PathBuf>,
    /// Trace with the calls to check again
    #[arg(long, value_name = "TRACE", conflicts_with_all = ["calls", "stats", "partial"])]
    pub(crate) trace: Option<PathBuf>,
    /// Allow tools without an implementation
    #[arg(long)]
    pub(crate) partial: bool,
    /// Print the statistics of the session in a last line, {"stats": …}
    #[arg(long)]
    pub(crate) stats: bool,
}

impl Replay {
    /// The specification, given as an argument or an option.
    pub(crate) fn spec(&self) -> Spec {
        let path = self.path.as_ref().or(self.spec.as_ref()).cloned().unwrap_or_default();
        Spec { path, stdin_filename: self.stdin_filename.clone(), ..Spec::default() }
    }

    /// The library; None only with a trace.
    pub(crate) fn bind(&self) -> Option<Bind> {
        self.library.clone().map(|library| Bind { library: Some(library), fake: false })
    }

    /// The file of calls; empty with a trace.
    pub(crate) fn calls(&self) -> PathBuf {
        self.calls.clone().unwrap_or_default()
    }
}
