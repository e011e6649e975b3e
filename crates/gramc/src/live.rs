//! Asks a running MCP server which tools it offers, for commands that do little else.

use std::time::Duration;

use gramc_mcp::client as mcp;
use gramc_project::MAX_DOCUMENT_BYTES;
use gramc_project::files::decode;
use gramc_tools::document::fetch;
use gramc_tools::{ProgramEnvironment, RequestHeaders, TlsOptions};
use serde_json::{Value, json};

use crate::args::{LiveServer, Tls};
use crate::failure::Failure;
use crate::output::say_each;

/// How long a server may take for everything. `npx` and its like install a server before they
/// start it, which can take most of a minute.
const TIME_LIMIT: Duration = Duration::from_mins(1);

/// The words of a command, split like a shell would do it.
pub(crate) fn words_of(command: &str) -> Result<Vec<String>, Failure> {
    shlex::split(command).ok_or_else(|| {
        Failure::new(
            "invalid quoting in the command of the MCP server: a quote is not closed, \
             or it ends in a backslash",
        )
    })
}

/// The name of a live server in messages: its command or address may contain a secret.
pub(crate) const SERVER: &str = "the server's answer";

/// The error of `--env` if nothing gets the variable.
pub(crate) const ENV_ALONE: &str = "--env needs --command, or calls of an API";

/// The tools of the server that the arguments name, if they name one.
pub(crate) fn tools_of(server: &LiveServer) -> Result<Option<Value>, Failure> {
    match (&server.command, &server.url) {
        (Some(command), _) => tools_of_command(command, &server.env).map(Some),
        (None, Some(url)) => tools_of_url(url, &server.header, &server.tls).map(Some),
        (None, None) if server.env.is_empty() => Ok(None),
        (None, None) => Err(Failure::new(ENV_ALONE)),
    }
}

/// Starts an MCP server and asks it for its tools: `{"tools":[…]}` with those of all pages, exactly as the
/// server sent them. `variables` are names of environment variables that the server gets besides the usual
/// ones; their values are masked in its messages.
fn tools_of_command(command: &str, variables: &[String]) -> Result<Value, Failure> {
    let (words, environment) = (words_of(command)?, environment(variables)?);
    tools(mcp::tools_of_command(&words, environment, TIME_LIMIT, wait_for_interrupt()))
}

/// Asks the MCP server at a URL for its tools. `headers` have the form `Name: value`, where a value may be
/// `env:NAME`.
fn tools_of_url(url: &str, headers: &[String], tls: &Tls) -> Result<Value, Failure> {
    let options = url_options(headers, tls)?;
    tools(mcp::tools_of_url(url, options, TIME_LIMIT, wait_for_interrupt()))
}

/// The document at a URL. `None` if an MCP server may be there.
pub(crate) fn document(url: &str) -> Result<Option<String>, Failure> {
    let bytes = run(fetch(url, MAX_DOCUMENT_BYTES, TIME_LIMIT))??;
    Ok(bytes.map(|bytes| decode(url, bytes)).transpose()?)
}

/// The server that the arguments name. It is connected to when it is needed.
pub(crate) fn mcp_server(server: &LiveServer) -> Result<mcp::McpServer, Failure> {
    match (&server.command, &server.url) {
        (Some(command), _) => {
            Ok(mcp::McpServer::command_with(words_of(command)?, environment(&server.env)?))
        }
        (None, Some(url)) => {
            let options = url_options(&server.header, &server.tls)?;
            mcp::McpServer::url_with(url, options).map_err(|error| Failure::new(error.detail))
        }
        (None, None) => Err(Failure::new("no MCP server is named")),
    }
}

fn environment(variables: &[String]) -> Result<ProgramEnvironment, Failure> {
    let mut known = variables.iter();
    known.try_fold(ProgramEnvironment::default(), |environment, name| {
        Ok(environment.secret(name, variable(name)?))
    })
}

fn url_options(headers: &[String], tls: &Tls) -> Result<mcp::UrlOptions, Failure> {
    let headers = headers.iter().map(|text| header(text)).collect::<Result<Vec<_>, _>>()?;
    let headers = RequestHeaders::new(headers)?.with_bearer();
    Ok(mcp::UrlOptions::of_user(headers, tls_options(tls)?))
}

/// Reads the certificates that the command line names.
pub(crate) fn tls_options(tls: &Tls) -> Result<TlsOptions, Failure> {
    let (ca, cert, key) = (tls.ca.as_deref(), tls.cert.as_deref(), tls.key.as_deref());
    Ok(TlsOptions::read(ca, cert, key)?)
}

/// A header of the command line: `Name: value` or `Name: env:NAME`.
fn header(text: &str) -> Result<(String, String), Failure> {
    let (name, value) = text.split_once(':').ok_or_else(|| {
        // The text may hold a password.
        Failure::new("invalid header: write `Name: env:VARIABLE`")
    })?;
    let value = value.trim();
    let value = match value.strip_prefix("env:") {
        Some(name) => variable(name)?,
        None => value.to_owned(),
    };
    Ok((name.trim().to_owned(), value))
}

/// The value of a variable of the environment.
fn variable(name: &str) -> Result<String, Failure> {
    std::env::var(name)
        .map_err(|_| Failure::new(format!("the environment variable `{name}` is not set")))
}

/// The tools that a server lists.
fn tools(
    work: impl Future<Output = Result<mcp::ListedTools, mcp::McpError>>,
) -> Result<Value, Failure> {
    let list = run(work)??;
    say_each("warning: the tools of the MCP server: ", &list.warnings);
    Ok(json!({ "tools": list.tools }))
}

/// Runs `work` on this thread.
pub(crate) fn run<T>(work: impl Future<Output = T>) -> Result<T, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::new(format!("cannot start the MCP client: {error}")))?;
    let outcome = runtime.block_on(work);
    // A name lookup cannot be cancelled, so the program does not wait for it.
    runtime.shutdown_background();
    Ok(outcome)
}

/// Waits for a signal to end the program, and reports it.
async fn wait_for_interrupt() -> String {
    next_signal().await;
    "interrupted".to_owned()
}

/// Signals that end the program or its current work.
pub(crate) struct Signals {
    #[cfg(unix)]
    signals: Vec<(i32, tokio::signal::unix::Signal)>,
}

impl Signals {
    /// From now on, signals do not end the program.
    #[cfg(unix)]
    pub(crate) fn new() -> Self {
        use tokio::signal::unix::{SignalKind, signal};

        let kinds = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()];
        let listen = |kind: SignalKind| Some((kind.as_raw_value(), signal(kind).ok()?));
        Self { signals: kinds.into_iter().filter_map(listen).collect() }
    }

    #[cfg(not(unix))]
    pub(crate) fn new() -> Self {
        Self {}
    }

    /// Waits for the next one, and gives its number.
    #[cfg(unix)]
    pub(crate) async fn next(&mut self) -> i32 {
        std::future::poll_fn(|context| {
            for (number, signal) in &mut self.signals {
                if signal.poll_recv(context).is_ready() {
                    return std::task::Poll::Ready(*number);
                }
            }
            std::task::Poll::Pending
        })
        .await
    }

    /// Waits for the next one, and gives the number that Unix has for that.
    #[cfg(not(unix))]
    pub(crate) async fn next(&mut self) -> i32 {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending().await
        }
        2
    }
}

/// Waits for a signal to end the program, and returns its number. From the call on, signals do not end
/// gramc, and child processes in their own process groups do not receive them.
pub(crate) fn next_signal() -> impl Future<Output = i32> {
    let mut signals = Signals::new();
    async move { signals.next().await }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_split_like_a_shell_does() {
        let of = |command: &str| match tools_of_command(command, &[]) {
            Ok(value) => value.to_string(),
            Err(failure) => failure.to_string(),
        };
        assert_eq!(of(" "), "the command of the MCP server is empty");
        assert!(of("server 'a").starts_with("invalid quoting in the command of the MCP server"));
        assert_eq!(
            of("'no such program' --password=secret"),
            "cannot get the tools of the MCP server `no such program`: there is no such program"
        );
    }
}
