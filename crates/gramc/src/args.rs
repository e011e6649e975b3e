//! The command line.

mod ab;
mod calls;
mod diff;
mod doc;
mod error;
mod generate;
mod import;
mod init;
mod live_server;
mod login;
mod mcp;
mod playground;
mod run;
mod search;
mod session;
mod suggest;
mod test;

use std::path::{Path, PathBuf};

use clap::builder::{PathBufValueParser, PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};
use gramc_codegen::targets::{Emitter, TARGETS};
use gramc_schema::Draft;

pub(crate) use ab::{Ab, AbCommand, Merge, Reporting};
pub(crate) use calls::{
    Approve, Bind, BindCommand, Call, Journal, ModelTarget, Replay, Spec, SpecOrServer, Validate,
};
pub(crate) use diff::Diff;
pub(crate) use doc::Doc;
pub(crate) use generate::Generate;
pub(crate) use import::{Import, InputFormat};
pub(crate) use init::Init;
pub(crate) use live_server::{LiveServer, LiveServerWithToken};
pub(crate) use login::{Login, Logout, Tls};
pub(crate) use mcp::{Mcp, OnSuspicious};
pub(crate) use playground::Playground;
pub(crate) use run::{AgentOptions, Run, Trace};
pub(crate) use search::Search;
pub(crate) use session::Session;
pub(crate) use suggest::suggest_command;
pub(crate) use test::Test;

/// Check, compile and run LLM tool definitions.
#[derive(Debug, Parser)]
#[command(name = "gramc", version, arg_required_else_help = true, max_term_width = 100)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
    #[command(flatten)]
    pub(crate) display: Display,
}

/// How diagnostics are shown.
#[derive(Debug, Clone, Copy, ClapArgs)]
pub(crate) struct Display {
    /// Format of diagnostics; human and concise go to standard error, others to standard output
    #[arg(long, global = true, value_enum, default_value_t = Format::Human)]
    pub(crate) format: Format,
    /// When to use colors; NO_COLOR and FORCE_COLOR are respected
    #[arg(long, global = true, value_enum, default_value_t = Color::Auto)]
    pub(crate) color: Color,
    /// Whether warnings and notes about the inputs are omitted.
    #[arg(skip)]
    pub(crate) errors_only: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// With an excerpt of the source
    Human,
    /// One line each: path:line:column: severity[code] message
    Concise,
    /// One JSON object per line
    Json,
    /// One SARIF 2.1.0 document, for code hosts and editors
    Sarif,
    /// Annotations for GitHub workflows
    Github,
    /// A table for pull requests; only for gramc diff
    Markdown,
    /// One document of JUnit XML; only for gramc test
    Junit,
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
    Init(Init),
    Compile(Compile),
    Import(Import),
    Check(Check),
    Diff(Box<Diff>),
    List(List),
    Search(Box<Search>),
    Generate(Generate),
    Doc(Doc),
    Fmt(Fmt),
    Parse(Parse),
    Explain(Explain),
    Validate(Validate),
    Bind(BindCommand),
    Call(Call),
    Replay(Replay),
    Test(Test),
    Session(Session),
    Run(Run),
    Trace(Trace),
    Ab(Box<Ab>),
    Mcp(Mcp),
    Connect(Bridge),
    Login(Login),
    Logout(Logout),
    Playground(Playground),
    Lsp(Lsp),
    /// Print a completion script for a shell
    #[command(after_help = "Example:\n  gramc completions bash > /etc/bash_completion.d/gramc")]
    Completions {
        /// Shell
        shell: clap_complete::Shell,
    },
    /// Print the version
    Version,
    /// Print the manual page
    #[command(after_help = "Example:\n  gramc man > gramc.1")]
    Man,
}

/// Start the language server
///
/// Editors start it and communicate over standard input and output. docs/editors.md lists its
/// features and settings.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Example, for Helix, in languages.toml:
  [language-server.gramc]
  command = \"gramc\"
  args = [\"lsp\"]")]
pub(crate) struct Lsp {
    /// Use standard input and output, which is the default
    #[arg(long)]
    stdio: bool,
}

/// Connect standard input and output with the MCP server of a run
///
/// Programs that are agents find this command in the variable GRAMC_MCP_COMMAND.
#[derive(Debug, ClapArgs)]
#[command(name = Self::NAME, hide = true)]
pub(crate) struct Bridge {
    /// Address of the server
    pub(crate) address: String,
    /// Secret of the run
    pub(crate) secret: String,
}

impl Bridge {
    /// The name of the command.
    pub(crate) const NAME: &'static str = "connect";
}

/// List tools with their signatures
///
/// PATH is also a JSON tool list, or an OpenAPI, Swagger or Google Discovery document. With --format
/// json, one object per line goes to standard output.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  gramc list                       the project around the current folder
  gramc list openapi.yaml
  gramc list --command \"npx -y @modelcontextprotocol/server-memory\"")]
pub(crate) struct List {
    #[command(flatten)]
    pub(crate) inputs: Inputs,
    #[command(flatten)]
    pub(crate) live: LiveServer,
}

/// The input files.
#[derive(Debug, Clone, Default, ClapArgs)]
pub(crate) struct Inputs {
    /// Files, folders (searched for *.gram, respecting .gitignore), or - for standard input
    /// [default: the project that contains the current folder]
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// Text to read in place of files
    #[arg(
        short = 'e',
        long,
        value_name = "TEXT",
        conflicts_with = "paths",
        allow_hyphen_values = true
    )]
    pub(crate) text: Option<String>,
    /// Name of standard input in diagnostics
    #[arg(long, value_name = "NAME", default_value = "<stdin>")]
    pub(crate) stdin_filename: String,
}

impl From<&Inputs> for gramc_project::Inputs {
    fn from(inputs: &Inputs) -> Self {
        let Inputs { paths, text, stdin_filename } = inputs.clone();
        Self { paths, text, stdin_name: stdin_filename }
    }
}

impl Inputs {
    /// Whether this names one file, standard input or a text.
    pub(crate) fn is_one(&self) -> bool {
        self.text.is_some() || matches!(self.paths.as_slice(), [path] if !path.is_dir())
    }

    /// Whether the only input is standard input or a text, which cannot be written to or watched.
    pub(crate) fn is_stream(&self) -> bool {
        let is_stdin = |path: &PathBuf| path.as_os_str() == "-";
        self.text.is_some() || !self.paths.is_empty() && self.paths.iter().all(is_stdin)
    }
}

/// Compile tools to JSON Schema or to a provider's tool format
///
/// The default target prints a JSON object from tool names to the schemas of their parameters.
/// Other targets print an array in the format of a provider's request. Nothing is printed to
/// standard output if a file has errors.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  gramc compile examples/hello-world.gram
  gramc compile tools/ --target openai -o tools.json
  gramc compile tools/ -o schemas/           one file per tool
  gramc compile agent.gram --tool sayHello   the schema of one tool
  gramc compile agent.gram --target gemini --losses
  gramc compile tools.json --target anthropic        from another provider's format
  gramc compile --command \"npx -y some-server\" --target openai
  gramc compile agent.gram --target typescript
  gramc compile agent.gram --target openapi --pretty -o openapi.json
  gramc compile -e '[f:Tool | (x::Text)==>(::Text)]'
  gramc compile agent.gram --target openai-response-format --type Answer
  cat agent.gram | gramc compile -")]
#[allow(clippy::struct_excessive_bools, reason = "each is an option of its own")]
pub(crate) struct Compile {
    #[command(flatten)]
    pub(crate) inputs: Inputs,
    #[command(flatten)]
    pub(crate) live: LiveServer,
    /// Target format
    #[arg(long, value_name = "TARGET", value_parser = targets(), default_value = "json-schema")]
    pub(crate) target: &'static dyn Emitter,
    /// Compile only this tool
    #[arg(long, value_name = "NAME")]
    pub(crate) tool: Option<String>,
    /// Type to compile to structured output [default: the result of the only agent with one]
    #[arg(long = "type", value_name = "NAME", conflicts_with = "tool")]
    pub(crate) type_name: Option<String>,
    /// Replace containers by their tools
    #[arg(long)]
    pub(crate) expanded: bool,
    /// Report unsupported constraints, and how they were replaced. With --format json, one
    /// object per line goes to standard output, and -o is required
    #[arg(long)]
    pub(crate) losses: bool,
    /// Output file, - for standard output, or DIR/ for one file per tool and names.json with mapped names
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// JSON Schema draft of the target json-schema
    #[arg(long, value_name = "DRAFT", value_parser = drafts(), default_value = "2020-12")]
    pub(crate) draft: Draft,
    /// Indent the output [default: one line per tool]
    #[arg(long)]
    pub(crate) pretty: bool,
    /// Compile again whenever a file changes
    #[arg(long)]
    pub(crate) watch: bool,
}

impl Compile {
    /// The output file or folder, if it is not standard output.
    pub(crate) fn output(&self) -> Option<&Path> {
        output_path(self.output.as_deref())
    }
}

/// The path of an option, if it is not that of standard output.
fn output_path(path: Option<&Path>) -> Option<&Path> {
    path.filter(|path| path.as_os_str() != "-")
}

/// Parses the folder for an output, which standard output is not.
fn output_folder() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|path| {
        let is_folder = path.as_os_str() != "-";
        is_folder.then_some(path).ok_or("expected a folder, found standard output")
    })
}

/// All targets, with their descriptions.
fn targets() -> impl TypedValueParser<Value = &'static dyn Emitter> {
    one_of(TARGETS.iter().map(|target| {
        let help = target.about().replace('`', "");
        (PossibleValue::new(target.name()).help(help), target.as_ref())
    }))
}

fn drafts() -> impl TypedValueParser<Value = Draft> {
    one_of([
        (PossibleValue::new("2020-12").help("Draft 2020-12"), Draft::Draft2020),
        (PossibleValue::new("7").help("Draft 7"), Draft::Draft7),
    ])
}

/// Parses the name of a value.
fn one_of<T: Clone + Send + Sync + 'static>(
    values: impl IntoIterator<Item = (PossibleValue, T)>,
) -> impl TypedValueParser<Value = T> {
    let (names, values): (Vec<PossibleValue>, Vec<T>) = values.into_iter().unzip();
    PossibleValuesParser::new(names.clone()).try_map(move |name| {
        let at = names.iter().position(|known| known.get_name() == name);
        at.and_then(|at| values.get(at).cloned()).ok_or("unknown value")
    })
}

/// Check files for errors and likely mistakes
///
/// Exit code 1 if there are errors or denied lints. Lint levels are set in gram.toml at the root of
/// the project, in comments (// gram-allow: naming), and by these options, which override
/// gram.toml.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  gramc check                      the project around the current folder
  gramc check tools/ agent.gram
  gramc check --format concise tools/
  gramc check --fix                apply safe fixes
  gramc check --watch              check again when a file changes
  gramc check --deny warnings      for CI
  gramc check --deny naming --warn unbounded-text --allow missing-description")]
pub(crate) struct Check {
    #[command(flatten)]
    pub(crate) inputs: Inputs,
    /// Apply safe fixes, then show the remaining diagnostics
    #[arg(long)]
    pub(crate) fix: bool,
    /// Check again whenever a file changes
    #[arg(long, conflicts_with = "fix")]
    pub(crate) watch: bool,
    #[command(flatten)]
    pub(crate) levels: Levels,
}

/// Levels of lints.
#[derive(Debug, ClapArgs)]
pub(crate) struct Levels {
    /// Report a lint as an error; 'warnings' for all lints that warn, 'all' for all lints
    #[arg(long, value_name = "LINT", value_delimiter = ',')]
    pub(crate) deny: Vec<String>,
    /// Report a lint as a warning
    #[arg(long, value_name = "LINT", value_delimiter = ',')]
    pub(crate) warn: Vec<String>,
    /// Turn a lint off
    #[arg(long, value_name = "LINT", value_delimiter = ',')]
    pub(crate) allow: Vec<String>,
}

/// Format files in place
///
/// Only changes white space. Files with syntax errors are reported and not changed. Exit code 1 if
/// there are such files, or, with --check or --diff, if a file is not formatted.
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
    /// List files that are not formatted, and write nothing. With --format json, one object per
    /// line goes to standard output
    #[arg(long)]
    pub(crate) check: bool,
    /// Print the changes to standard output, and write nothing
    #[arg(long)]
    pub(crate) diff: bool,
    /// Maximum line width in characters [default: 100]
    #[arg(long, value_name = "COLUMNS", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) width: Option<u32>,
    /// Only format lines START to END of a file, counted from 1
    #[arg(long, value_name = "START..END", value_parser = lines)]
    pub(crate) range: Option<(u32, u32)>,
}

/// The first and the last of some lines: 3..5.
fn lines(text: &str) -> Result<(u32, u32), &'static str> {
    let lines = text.split_once("..").and_then(|(start, end)| {
        let lines = (start.parse().ok()?, end.parse().ok()?);
        (1 <= lines.0 && lines.0 <= lines.1).then_some(lines)
    });
    lines.ok_or("expected two line numbers, such as 3..5")
}

/// Print syntax trees or tokens
///
/// Reads any text in gram notation, whether it declares tools or not. Several files are printed with
/// their names; in JSON, as one object {"file": …, "tree": …} per line. Exit code 1 if a file has
/// syntax errors.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  gramc parse agent.gram
  gramc parse agent.gram --tree tokens
  gramc parse . --tree none
  echo '(a)-->(b)' | gramc parse - --tree json")]
pub(crate) struct Parse {
    #[command(flatten)]
    pub(crate) inputs: Inputs,
    /// Output
    #[arg(long, value_enum, default_value_t = Tree::Sexp)]
    pub(crate) tree: Tree,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Tree {
    /// The tree as the reference grammar's S-expression
    Sexp,
    /// The tree as JSON, with byte offsets
    Json,
    /// The tokens, one per line: start..end, kind, text
    Tokens,
    /// Only diagnostics
    None,
}

/// Explain a diagnostic code or a target
///
/// Lists all codes if none is given.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  gramc explain
  gramc explain unclosed-bracket
  gramc explain gemini")]
pub(crate) struct Explain {
    /// Diagnostic code or target
    #[arg(value_name = "CODE")]
    pub(crate) code: Option<String>,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    /// All help texts of a command and its subcommands.
    fn help_texts(command: &mut clap::Command, found: &mut Vec<String>) {
        found.push(command.render_long_help().to_string());
        found.push(command.render_help().to_string());
        command.get_subcommands_mut().for_each(|command| help_texts(command, found));
    }

    #[test]
    fn help_texts_contain_no_markdown() {
        let mut found = Vec::new();
        help_texts(&mut Args::command(), &mut found);
        for text in found {
            assert!(!text.contains('`') && !text.contains("**"), "{text}");
        }
    }

    #[test]
    fn only_similar_visible_commands_are_suggested() {
        let answer = |name: &str| {
            let error = Args::try_parse_from(["gramc", name]).err();
            error.map(|error| suggest_command(error).to_string()).unwrap_or_default()
        };
        for (name, suggested) in [
            ("lint", "check"),
            ("format", "fmt"),
            ("build", "compile"),
            ("chek", "check"),
            ("complie", "compile"),
        ] {
            let text = answer(name);
            assert!(text.contains(&format!("exists: '{suggested}'")), "{text}");
        }
        for name in ["inspect", "targets", "connct", "zzz"] {
            let text = answer(name);
            assert!(!text.contains("exists"), "{text}");
        }
    }
}
