//! The arguments of `gramc session`.

use clap::Args as ClapArgs;

use super::{Approve, Bind, Journal, ModelTarget, SpecOrServer};

/// Check and run the calls of a host program, which executes its own tools
///
/// Reads and prints JSON lines. A call {"id": …, "name": …, "arguments": …} is answered by its verdict.
/// To run a tool of the kind Client, gramc prints {"invoke": {"id": …, "name": …, "arguments": …}},
/// and the host program answers {"id": …, "result": …} or {"id": …, "error": "…"}. Ends after the end of
/// the input, when all calls have ended.
#[derive(Debug, ClapArgs)]
#[command(override_usage = "gramc session [OPTIONS] <SPEC>
       gramc session [OPTIONS] --command <COMMAND>
       gramc session [OPTIONS] --url <URL>")]
#[command(after_help = "Examples:
  gramc session tools.gram --library host.gram
  gramc session tools.gram --library host.gram --approve-with 'python3 policy.py'")]
pub(crate) struct Session {
    #[command(flatten)]
    pub(crate) spec: SpecOrServer,
    #[command(flatten)]
    pub(crate) bind: Bind,
    #[command(flatten)]
    pub(crate) approve: Approve,
    #[command(flatten)]
    pub(crate) journal: Journal,
    /// Allow tools without an implementation
    #[arg(long)]
    pub(crate) partial: bool,
    #[command(flatten)]
    pub(crate) target: ModelTarget,
}
