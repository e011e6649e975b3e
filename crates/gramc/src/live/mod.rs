//! Asks a running MCP server which tools it offers.
//!
//! The Model Context Protocol is spoken by the crate `rmcp`. Its types for tools keep only what
//! they know, so the result of `tools/list` passes through it as one text ([`wire`]) and is read
//! here, where nothing is lost: keys that nobody knows, their order, the digits of numbers (only
//! an exponent gets a sign, `1e5` being `1e+5` to `serde_json`).

mod ask;
mod child;
mod http;
mod trouble;
mod wire;

use std::future::Future;
use std::time::Duration;

use serde_json::Value;

use crate::failure::Failure;

/// How long a server may take for everything. `npx` and its like install a server before they
/// start it, which can take most of a minute.
const TIME_LIMIT: Duration = Duration::from_mins(1);

/// The most bytes that one message may have, and the tools of all pages together. The longest
/// lists of real servers have a few hundred kilobytes.
const BYTE_LIMIT: usize = 64 << 20;

/// Starts the MCP server that `command` names, asks it over its standard input and output for its
/// tools, and ends it.
///
/// `command` is split into words like a shell would, and nothing else of a shell is done. Gives
/// `{"tools":[…]}` with the tools of all pages, each exactly as the server sent it. Fails when the
/// server cannot be started, ends too early, says something that is not the protocol, answers with
/// an error, or takes longer than a minute.
pub(crate) fn tools_of_command(command: &str) -> Result<Value, Failure> {
    ask_command(command, TIME_LIMIT)
}

/// Asks the MCP server at `url` for its tools, over streamable HTTP.
///
/// Gives and fails as [`tools_of_command`] does.
pub(crate) fn tools_of_url(url: &str) -> Result<Value, Failure> {
    ask_url(url, TIME_LIMIT)
}

fn ask_command(command: &str, limit: Duration) -> Result<Value, Failure> {
    let words = shlex::split(command).ok_or_else(|| {
        Failure::new(
            "cannot split the MCP server's command into words: a quote is not closed, \
             or it ends in a backslash",
        )
    })?;
    run(child::tools(&words, limit))
}

fn ask_url(url: &str, limit: Duration) -> Result<Value, Failure> {
    run(http::tools(url, limit))
}

/// Runs `work` on this thread.
fn run(work: impl Future<Output = Result<Value, Failure>>) -> Result<Value, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::new(format!("cannot prepare to ask a server: {error}")))?;
    let outcome = runtime.block_on(work);
    // A look-up of a name cannot be broken off; nobody needs to wait for it.
    runtime.shutdown_background();
    outcome
}

#[cfg(test)]
mod real;
#[cfg(test)]
mod tests;
