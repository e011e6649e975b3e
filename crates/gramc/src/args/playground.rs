//! The arguments of `gramc playground`.

use std::path::PathBuf;

use clap::Args;

/// Open an editor for gram in the browser
///
/// It shows diagnostics, compiled tools with their losses, repaired calls and changes that break calls while you
/// type. It runs in the browser alone: the page is served at 127.0.0.1 and sends nothing.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  gramc playground
  gramc playground tools.gram --port 9000")]
pub(crate) struct Playground {
    /// File to open
    #[arg(value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// Port on 127.0.0.1; 0 selects a free one
    #[arg(long, value_name = "PORT", default_value_t = 8017)]
    pub(crate) port: u16,
}
