//! gramc: arguments in, exit code and text out. It holds no knowledge of its own.

mod args;
mod commands;
mod failure;
mod imports;
mod input;
mod levels;
mod live;
mod output;
mod project;
mod report;
mod save;
#[cfg(unix)]
mod watchdog;

use clap::Parser;

/// A module is many small parts, made on all processors at once.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The bytes of a thread's stack: types nest, and reading them recurses.
const STACK: usize = 8 << 20;

fn main() {
    #[cfg(unix)]
    {
        if watchdog::is_one() {
            return watchdog::watch();
        }
        gram_tools::watch_processes(Box::<watchdog::Watchdog>::default());
    }
    let args = args::Args::parse();
    // Without them, this thread does the work.
    let _ = rayon::ThreadPoolBuilder::new().stack_size(STACK).build_global();
    let code = match commands::run(args) {
        Ok(code) => code,
        Err(failure) => failure.report(),
    };
    // What was read and made lives to the end; taking it apart first would only cost time.
    std::process::exit(code);
}
