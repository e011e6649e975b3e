//! `gramc lsp`

use std::io::{self, BufReader};

use crate::args::Lsp;
use crate::failure::{Failure, Outcome};

pub(super) fn run(_: &Lsp) -> Outcome {
    give_memory_back();
    // Standard input is read by a thread that may still wait when the process ends.
    let input = BufReader::new(io::stdin());
    gram_lsp::serve(input, io::stdout(), gram_agent::over_budget).map_err(|error| {
        Failure::new(format!(
            "the talk with the editor broke off: {}",
            gram_tools::files::plain(&error)
        ))
    })
}

/// The allocator keeps what is freed for a second, and asks for pages of two megabytes, which serves
/// programs that end soon. A server that rests between keystrokes would keep all of it: half of its
/// memory and more. The allocator reads what it is to do from the environment, when a process begins,
/// so this one begins again. Programs that it ran would do without such pages, too; it runs none.
#[cfg(unix)]
fn give_memory_back() {
    use std::env;
    use std::os::unix::process::CommandExt as _;
    use std::process::Command;

    /// How many milliseconds it is kept, and whether pages may be large.
    const SETTINGS: [(&str, &str); 2] =
        [("MIMALLOC_PURGE_DELAY", "1"), ("MIMALLOC_ALLOW_THP", "0")];
    let open = SETTINGS.into_iter().filter(|(name, _)| env::var_os(name).is_none());
    let open: Vec<_> = open.collect();
    if open.is_empty() {
        return;
    }
    if let Ok(own) = env::current_exe() {
        // It comes back only where it fails, and then all goes on as it is.
        let _ = Command::new(own).args(env::args_os().skip(1)).envs(open).exec();
    }
}

#[cfg(not(unix))]
fn give_memory_back() {}
