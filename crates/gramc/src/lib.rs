//! The command line of gramc: arguments in, exit code and text out. It holds no knowledge of its own.
//!
//! It is a library so that packages of other languages can bring it along, see [`run`].

#[allow(clippy::doc_markdown, reason = "the comments are help texts, which contain no Markdown")]
mod args;
mod commands;
mod failure;
mod levels;
mod live;
mod output;
mod report;
mod save;
mod server_library;
mod source;
mod start;
#[cfg(unix)]
mod watchdog;

use std::ffi::OsString;

use clap::Parser;
use gramc_project::STACK_SIZE;

pub use start::set_start_command;

/// Runs the command line and returns its exit code. The first argument is the name of the program,
/// as in [`std::env::args_os`].
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> i32 {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    #[cfg(unix)]
    {
        if watchdog::is_one(&arguments) {
            watchdog::watch();
            return failure::CLEAN;
        }
        watch_processes();
    }
    let args = match args::Args::try_parse_from(arguments) {
        Ok(args) => args,
        // Help, the version, or a mistake in the arguments.
        Err(answer) => {
            let answer = args::suggest_command(answer);
            // Nothing can be done if it cannot be printed.
            let _ = answer.print();
            return answer.exit_code();
        }
    };
    // Without them, this thread does the work.
    let _ = rayon::ThreadPoolBuilder::new().stack_size(STACK_SIZE).build_global();
    match commands::run(args) {
        Ok(code) => code,
        Err(failure) => failure.report(),
    }
}

/// Ends the programs that implementations start if this process is killed.
#[cfg(unix)]
pub fn watch_processes() {
    gramc_tools::watch_processes(Box::<watchdog::Watchdog>::default());
}

/// Ends the programs that implementations start if this process is killed. Unix only.
#[cfg(not(unix))]
pub fn watch_processes() {}
