//! `gramc lsp`

use std::io::{self, BufReader};

use crate::args::Lsp;
use crate::failure::{Failure, Outcome};

pub(super) fn run(_: &Lsp) -> Outcome {
    // Standard input is read by a thread that may still wait when the process ends.
    let input = BufReader::new(io::stdin());
    gramc_lsp::serve(input, io::stdout()).map_err(|error| {
        Failure::new(format!(
            "lost the connection to the editor: {}",
            gramc_project::files::plain(&error)
        ))
    })
}
