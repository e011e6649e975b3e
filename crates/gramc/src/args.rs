//! The command line.

mod ab;
mod calls;
mod mcp;
mod run;

use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};
use gram_schema::Target;
use gram_schema::import::Origin;

pub(crate) use ab::{Ab, AbCommand, Merge, Reporting};
pub(crate) use calls::{Bind, BindCommand, Call, Replay, Spec, Undeclared, Validate};
pub(crate) use mcp::Mcp;
pub(crate) use run::{Run, Trace};

/// Declare what LLM agents can do, and compile it to every provider's tool format.
#[derive(Debug, Parser)]
#[command(name = "gramc", version, arg_required_else_help = true, max_term_width = 100)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
    #[command(flatten)]
    pub(crate) display: Display,
}

/// How findings are shown.
#[derive(Debug, Clone, Copy, ClapArgs)]
pub(crate) struct Display {
    /// How to show findings: human and concise go to standard error, the others to standard output
    #[arg(long, global = true, value_enum, default_value_t = Format::Human)]
    pub(crate) format: Format,
    /// When to use colours; `NO_COLOR` and `FORCE_COLOR` are obeyed
    #[arg(long, global = true, value_enum, default_value_t = Color::Auto)]
    pub(crate) color: Color,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// With the lines of the source that they are about
    Human,
    /// One line each: `path:line:column: severity[code] message`
    Concise,
    /// One JSON object a line
    Json,
    /// One SARIF 2.1.0 document, for code hosts and editors
    Sarif,
    /// Annotations of GitHub's workflows
    Github,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Compile(Compile),
    Import(Import),
    Check(Check),
    Fmt(Fmt),
    Parse(Parse),
    Explain(Explain),
    Validate(Validate),
    Bind(BindCommand),
    Call(Call),
    Replay(Replay),
    Run(Run),
    Trace(Trace),
    Ab(Box<Ab>),
    Mcp(Mcp),
    Lsp(Lsp),
    /// Write a completion script for a shell
    #[command(after_help = "Example:\n  gramc completions bash > /etc/bash_completion.d/gramc")]
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Write the manual page
    #[command(after_help = "Example:\n  gramc man > gramc.1")]
    Man,
}

/// Serve an editor: diagnostics, completion, renaming and more, over standard input and output
///
/// Editors start it by themselves. It speaks the Language Server Protocol; docs/editors.md says what
/// it can do and which settings it has. It ends when the editor does.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Example, for Helix, in languages.toml:
  [language-server.gramc]
  command = \"gramc\"
  args = [\"lsp\"]")]
pub(crate) struct Lsp {
    /// Speak over standard input and output, as it always does; some editors say so
    #[arg(long)]
    stdio: bool,
}

/// What to read.
#[derive(Debug, ClapArgs)]
pub(crate) struct Inputs {
    /// Files, folders (walked for *.gram, obeying .gitignore), or - for standard input. Without
    /// any: the project that holds the current folder
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// What messages call standard input
    #[arg(long, value_name = "NAME", default_value = "<stdin>")]
    pub(crate) stdin_filename: String,
}

/// Compile tools to JSON Schema or to a provider's tool format
///
/// The default target prints one JSON object, tool name to the schema of its parameters; a
/// provider's target prints one array, ready to paste into its request. A text with errors
/// prints nothing on standard output.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  gramc compile examples/hello-world.gram
  gramc compile tools/ --target openai -o tools.json
  gramc compile tools/ -o schemas/           one file a tool
  gramc compile agent.gram --tool sayHello   its schema alone
  gramc compile agent.gram --target gemini --losses
  cat agent.gram | gramc compile -")]
pub(crate) struct Compile {
    #[command(flatten)]
    pub(crate) inputs: Inputs,
    /// What to compile to
    #[arg(long, value_name = "TARGET", value_parser = targets(), default_value = "json-schema")]
    pub(crate) target: Target,
    /// Compile this tool alone
    #[arg(long, value_name = "NAME")]
    pub(crate) tool: Option<String>,
    /// Compile the tools of containers in the place of the containers
    #[arg(long)]
    pub(crate) expanded: bool,
    /// Say what the target cannot hold, and what became of it. With --format json: one object a
    /// line on standard output, in the place of the tools, which then need -o
    #[arg(long)]
    pub(crate) losses: bool,
    /// Write to a file; to a folder (DIR/) one file a tool, and names.json where names were mapped
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// The draft of JSON Schema
    #[arg(long, value_enum, default_value_t = Draft::Draft2020)]
    pub(crate) draft: Draft,
    /// Indent the output; without it, one line a tool
    #[arg(long)]
    pub(crate) pretty: bool,
}

/// The names of all targets, each with what it is.
fn targets() -> impl TypedValueParser<Value = Target> {
    let values =
        Target::ALL.map(|target| PossibleValue::new(target.name()).help(target.rules().about));
    PossibleValuesParser::new(values)
        .map(|name| Target::from_name(&name).unwrap_or(Target::JsonSchema))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Draft {
    /// Draft 2020-12
    #[value(name = "2020-12")]
    Draft2020,
    /// Draft 7
    #[value(name = "7")]
    Draft7,
}

/// Turn JSON Schemas and lists of tools into gram
///
/// Reads a JSON Schema, or a list of tools as `OpenAI`, Anthropic, Gemini or MCP have it, and
/// writes the same as gram. What is compiled from it is what was imported. What gram has no word
/// for stays JSON, at the smallest place possible; a note says where.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  gramc import tools.json > tools.gram
  gramc import --command \"npx -y @modelcontextprotocol/server-memory\"
  gramc import --url http://127.0.0.1:3001/mcp --container files
  cat schema.json | gramc import - --name order")]
pub(crate) struct Import {
    /// A file, or - for standard input
    #[arg(value_name = "FILE", conflicts_with_all = ["command", "url"])]
    pub(crate) file: Option<PathBuf>,
    /// What the file holds
    #[arg(long, value_name = "KIND", value_parser = origins(), default_value = "auto")]
    pub(crate) from: Origin,
    /// Ask the MCP server that this command starts
    #[arg(long, value_name = "COMMAND", conflicts_with = "url")]
    pub(crate) command: Option<String>,
    /// Ask the MCP server at this address
    #[arg(long, value_name = "URL")]
    pub(crate) url: Option<String>,
    /// Put all tools into a container of this name
    #[arg(long, value_name = "NAME")]
    pub(crate) container: Option<String>,
    /// The name of the tool that a lone JSON Schema becomes; otherwise it is the file's
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Write to a file
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

/// The names of what can be imported.
fn origins() -> impl TypedValueParser<Value = Origin> {
    PossibleValuesParser::new(Origin::ALL.map(Origin::name))
        .map(|name| Origin::from_name(&name).unwrap_or(Origin::Auto))
}

/// Check files: syntax, names, types, attributes, and what is likely a mistake
///
/// Exits with 1 when there are errors or denied lints. Levels of lints stand in gram.toml, at the
/// root of the project, and in comments: `// gram-allow: naming`. What is said here counts more
/// than gram.toml.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  gramc check                      the project around the current folder
  gramc check tools/ agent.gram
  gramc check --format concise tools/
  gramc check --fix                mends what has one right answer
  gramc check --watch              again whenever a file changes
  gramc check --deny warnings      for CI
  gramc check --deny naming --warn unbounded-text --allow missing-description")]
pub(crate) struct Check {
    #[command(flatten)]
    pub(crate) inputs: Inputs,
    /// Apply safe fixes until nothing changes, and show what is left
    #[arg(long)]
    pub(crate) fix: bool,
    /// Check again whenever a file changes, until it is ended; for people, not for programs
    #[arg(long, conflicts_with = "fix")]
    pub(crate) watch: bool,
    #[command(flatten)]
    pub(crate) levels: Levels,
}

/// Levels of lints.
#[derive(Debug, ClapArgs)]
pub(crate) struct Levels {
    /// Treat the findings of a lint as errors; `warnings`: of all that warn, `all`: of all lints
    #[arg(long, value_name = "LINT", value_delimiter = ',')]
    pub(crate) deny: Vec<String>,
    /// Warn of what a lint finds
    #[arg(long, value_name = "LINT", value_delimiter = ',')]
    pub(crate) warn: Vec<String>,
    /// Turn a lint off
    #[arg(long, value_name = "LINT", value_delimiter = ',')]
    pub(crate) allow: Vec<String>,
}

/// Format files, in place
///
/// Changes white space alone. Files with syntax errors are left as they are, and named. Exits with
/// 1 when there are such files; with --check or --diff also when a file is not formatted.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  gramc fmt                        the project around the current folder
  gramc fmt tools/ agent.gram
  gramc fmt --check                for CI
  gramc fmt --diff tools/
  cat agent.gram | gramc fmt -     to standard output")]
pub(crate) struct Fmt {
    #[command(flatten)]
    pub(crate) inputs: Inputs,
    /// Write nothing, and name each file that is not formatted. With --format json: one object a
    /// line on standard output
    #[arg(long)]
    pub(crate) check: bool,
    /// Write nothing, and show what would change on standard output
    #[arg(long)]
    pub(crate) diff: bool,
    /// The most characters of a line [default: 100]
    #[arg(long, value_name = "COLUMNS", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) width: Option<u32>,
    /// Format only what lines START to END of a file touch, counted from 1
    #[arg(long, value_name = "START..END", value_parser = lines)]
    pub(crate) range: Option<(u32, u32)>,
}

/// The first and the last of some lines: `3..5`.
fn lines(text: &str) -> Result<(u32, u32), &'static str> {
    let lines = text.split_once("..").and_then(|(start, end)| {
        let lines = (start.parse().ok()?, end.parse().ok()?);
        (1 <= lines.0 && lines.0 <= lines.1).then_some(lines)
    });
    lines.ok_or("lines are two numbers from 1 on, such as 3..5")
}

/// Show the trees or the tokens of files
///
/// Reads every text in gram notation, whether it declares tools or not. A single file is shown bare;
/// those of folders, and several, are shown with their names: in JSON as {"file": …, "tree": …}, one a
/// line. Exits with 1 when a text has syntax errors.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  gramc parse agent.gram
  gramc parse agent.gram --tree tokens
  gramc parse . --tree none
  echo '(a)-->(b)' | gramc parse - --tree json")]
pub(crate) struct Parse {
    #[command(flatten)]
    pub(crate) inputs: Inputs,
    /// What to show
    #[arg(long, value_enum, default_value_t = Tree::Sexp)]
    pub(crate) tree: Tree,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Tree {
    /// The tree as the reference grammar's S-expression
    Sexp,
    /// The tree as JSON, with byte offsets
    Json,
    /// The tokens, one a line: start..end, kind, text
    Tokens,
    /// Nothing; only findings
    None,
}

/// Explain an error or a warning, or the rules of a target
///
/// Without a code it lists all of them.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  gramc explain
  gramc explain unclosed-bracket
  gramc explain gemini")]
pub(crate) struct Explain {
    /// The code, as findings show it in brackets, or a target
    #[arg(value_name = "CODE")]
    pub(crate) code: Option<String>,
}
