//! gramc: arguments in, exit code and text out. It holds no knowledge of its own.

mod args;
mod commands;
mod failure;
mod input;
mod live;
mod output;
mod report;
mod save;

use clap::Parser;

/// A module is many small parts, made on all processors at once.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    let args = args::Args::parse();
    let code = match commands::run(args) {
        Ok(code) => code,
        Err(failure) => failure.report(),
    };
    // What was read and made lives to the end; taking it apart first would only cost time.
    std::process::exit(code);
}
