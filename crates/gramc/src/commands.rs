//! The commands.

mod ab;
mod agents;
mod approval;
mod calls;
mod check;
mod compile;
mod diff;
mod doc;
mod explain;
mod fmt;
mod generate;
mod import;
mod init;
mod list;
mod login;
mod mcp;
mod parse;
mod playground;
mod run;
mod search;
mod session;
mod test;
mod trace;
mod watch;

use std::io;

use clap::CommandFactory;

use crate::args::{Args, Command, Format};
use crate::failure::{CLEAN, Failure, Outcome};
use crate::output;

/// Runs the command that the arguments name, and gives the exit code.
pub(crate) fn run(args: Args) -> Outcome {
    let display = args.display;
    if display.format == Format::Markdown && !matches!(args.command, Command::Diff(_)) {
        return Err(Failure::new("--format markdown is for `gramc diff`"));
    }
    if display.format == Format::Junit && !matches!(args.command, Command::Test(_)) {
        return Err(Failure::new("--format junit is for `gramc test`"));
    }
    match args.command {
        Command::Init(args) => init::run(&args),
        Command::Compile(args) => compile::run(&args, display),
        Command::Import(args) => import::run(args),
        Command::Check(args) => check::run(&args, display),
        Command::Diff(args) => diff::run(&args, display),
        Command::List(args) => list::run(&args, display),
        Command::Search(args) => search::run(&args, display),
        Command::Generate(args) => generate::run(&args, display),
        Command::Doc(args) => doc::run(&args, display),
        Command::Fmt(args) => fmt::run(&args, display),
        Command::Parse(args) => parse::run(&args, display),
        Command::Explain(args) => explain::run(&args),
        Command::Validate(args) => calls::validate(&args, display),
        Command::Bind(args) => calls::bind(&args, display),
        Command::Call(args) => calls::call(&args, display),
        Command::Replay(args) => calls::replay(&args, display),
        Command::Test(args) => test::run(&args, display),
        Command::Session(args) => session::run(&args, display),
        Command::Run(args) => run::run(&args, display),
        Command::Ab(args) => ab::run(&args, display),
        Command::Trace(args) => trace::run(&args, display),
        Command::Mcp(args) => mcp::run(&args, display),
        Command::Connect(args) => agents::connect(&args),
        Command::Login(args) => login::login(&args),
        Command::Logout(args) => login::logout(&args),
        Command::Playground(args) => playground::run(&args),
        Command::Lsp(_) => serve_editor(),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Args::command(), "gramc", &mut script);
            output::print(&String::from_utf8_lossy(&script))?;
            Ok(CLEAN)
        }
        Command::Version => {
            output::print(concat!("gramc ", env!("CARGO_PKG_VERSION"), "\n"))?;
            Ok(CLEAN)
        }
        Command::Man => {
            let mut page = Vec::new();
            clap_mangen::Man::new(Args::command())
                .render(&mut page)
                .map_err(|error| Failure::output(&error))?;
            output::print(&String::from_utf8_lossy(&page))?;
            Ok(CLEAN)
        }
    }
}

/// `gramc lsp`
fn serve_editor() -> Outcome {
    // Standard input is read by a thread that may still wait when the process ends.
    let input = io::BufReader::new(io::stdin());
    gramc_lsp::serve(input, io::stdout()).map_err(|error| {
        let error = gramc_project::files::plain(&error);
        Failure::new(format!("lost the connection to the editor: {error}"))
    })
}
