//! `gramc lsp`

use std::io::{self, BufReader};

use crate::args::Lsp;
use crate::failure::{Failure, Outcome};

pub(super) fn run(_: &Lsp) -> Outcome {
    give_memory_back();
    // Standard input is read by a thread that may still wait when the process ends.
    let input = BufReader::new(io::stdin());
    gram_lsp::serve(input, io::stdout()).map_err(|error| {
        Failure::new(format!(
            "lost the connection to the editor: {}",
            gram_project::files::plain(&error)
        ))
    })
}

/// The allocator keeps what is freed for a second, which serves programs that end soon. A server that
/// rests between keystrokes would keep it all the time: half of its memory. The allocator reads how
/// long it keeps it from the environment, when a process begins, so this one begins again.
#[cfg(unix)]
fn give_memory_back() {
    use std::env;
    use std::os::unix::process::CommandExt as _;
    use std::process::Command;

    const DELAY: &str = "MIMALLOC_PURGE_DELAY";
    if env::var_os(DELAY).is_some() {
        return;
    }
    if let Ok(own) = env::current_exe() {
        // It comes back only where it fails, and then all goes on as it is.
        let _ = Command::new(own).args(env::args_os().skip(1)).env(DELAY, "1").exec();
    }
}

#[cfg(not(unix))]
fn give_memory_back() {}
