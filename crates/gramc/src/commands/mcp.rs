//! `gramc mcp`

mod file_watch;
mod gateway;
mod member;
mod servers_file;
mod suspicious;

use std::fs::File;
use std::io::{self, IsTerminal as _};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use gramc_agent::{Event, ModelCall, Observer as _, Telemetry, TraceWriter};
use gramc_mcp::client::{LibraryServer, library_servers};
use gramc_mcp::{
    CallObserver, FinishedCall, Listener, ServeError, Server, ServerOptions, name_clashes,
};
use gramc_tools::approval::ApprovalPolicy;
use tokio::runtime::Builder;
use tokio::time::timeout;

use self::gateway::Gateway;
use self::suspicious::SuspiciousTexts;
use super::approval::approvals;
use super::calls::{self, Both, CONNECT_LIMIT};
use crate::args::{Display, Mcp};
use crate::failure::{CLEAN, Failure, Outcome, PROBLEMS};
use crate::live;
use crate::output::{say, say_each};

pub(super) fn run(args: &Mcp, display: Display) -> Outcome {
    let (spec, library) = (args.spec.spec(), args.bind.path());
    if args.http.is_none() && [&spec.path, library].iter().any(|path| path.as_os_str() == "-") {
        return Err(Failure::new(
            "standard input is used by the client: name a file instead of `-`",
        ));
    }
    let token = args.token_env.as_deref().map(token).transpose()?;
    calls::only_one_reads(&[&spec.path, library])?;
    let is_live = (spec.server.is_named() || args.config.is_some())
        && (args.bind.library.is_none() && !args.bind.fake && args.journal.journal.is_none());
    // What is live is served as it is: the clients ask their users.
    let policy = if is_live { ApprovalPolicy::Never } else { ApprovalPolicy::Destructive };
    let approvals = approvals(policy, &args.approve, None)?;
    let read = if is_live {
        None
    } else {
        let Some(read) = calls::read(&spec, &args.bind, display)? else { return Ok(PROBLEMS) };
        Some(read.with_journal(&args.journal)?)
    };
    let trace = args.trace.as_deref().map(trace).transpose()?;
    let telemetry = super::run::telemetry();
    let work = async {
        let observer = trace.clone().map(observer);
        let tracer = telemetry.as_ref().map(Telemetry::call_tracer);
        let suspicious = SuspiciousTexts::new(args.on_suspicious);
        let (has_finder, target) = (args.search, args.target);
        let options = ServerOptions { approvals, observer, tracer, has_finder, target };
        let server = if let Some(read) = &read {
            prepare(read, options, &suspicious).await?
        } else {
            let timeout = Duration::from_secs(args.timeout.unwrap_or(DEFAULT_TIMEOUT));
            let gateway = match &args.config {
                Some(path) => Gateway::of_file(path, timeout, suspicious, display)?,
                None => Gateway::of_server(&spec.server, timeout, suspicious, display)?,
            };
            Some(Server::live(Box::new(gateway), options))
        };
        let Some(server) = server else { return Ok(PROBLEMS) };
        let served = match &args.http {
            None => {
                if io::stdin().is_terminal() {
                    // Without this message, the user would wait for a prompt.
                    say("waiting for an MCP client on standard input; Ctrl-D ends the server");
                }
                server.over_stdio(drop_signal(live::next_signal())).await
            }
            Some(address) => http(&server, address, token, args.max_sessions).await,
        };
        served.map(|()| CLEAN).map_err(failure)
    };
    let close = async {
        if let Some(read) = &read {
            read.library.close().await;
        }
    };
    let code = calls::run_to_the_end(Builder::new_current_thread(), work, close);
    if let Some(telemetry) = telemetry {
        super::run::send_the_rest(telemetry, matches!(code, Err(Failure::Interrupted(_))));
    }
    let code = code?;
    if let (Some(path), Some(error)) = (&args.trace, trace.and_then(|trace| trace.error())) {
        return Err(Failure::path("write", path, &error));
    }
    Ok(code)
}

/// The time limit of calls in seconds.
const DEFAULT_TIMEOUT: u64 = 60;
/// The agent name of MCP clients in traces.
const CLIENT: &str = "mcp";

type Trace = Arc<TraceWriter<File>>;

fn trace(path: &Path) -> Result<Trace, Failure> {
    let file = File::create(path).map_err(|error| Failure::path("write", path, &error))?;
    Ok(Arc::new(TraceWriter::new(file, CLIENT, "")))
}

/// Writes calls to a trace.
fn observer(trace: Trace) -> Box<CallObserver> {
    Box::new(move |finished: &FinishedCall<'_>| {
        let FinishedCall { id, name, arguments, verdict, took } = *finished;
        let call =
            ModelCall { id: id.to_owned(), name: name.to_owned(), arguments: arguments.to_owned() };
        trace.on_event(CLIENT, &Event::ToolCalled { call: &call, verdict, took });
    })
}

/// Connects to the MCP servers behind the library and binds it. Returns nothing if it does not fit
/// the specification.
async fn prepare(
    read: &Both,
    options: ServerOptions,
    suspicious: &SuspiciousTexts,
) -> Result<Option<Server>, Failure> {
    let (bound, refused) = read.bind_connected().await?;
    say_each("error: ", &refused);
    if !refused.is_empty() {
        return Ok(None);
    }
    for LibraryServer { server, .. } in library_servers(&bound) {
        suspicious.check_instructions(server)?;
        // A server that cannot be reached says nothing.
        let tools = timeout(CONNECT_LIMIT, server.tools()).await.ok().and_then(Result::ok);
        tools.iter().flat_map(|list| &list.tools).for_each(|tool| suspicious.report_tool(tool));
    }
    let clashes = tokio::select! {
        clashes = timeout(CONNECT_LIMIT, name_clashes(&bound)) => clashes.unwrap_or_default(),
        signal = live::next_signal() => return Err(Failure::Interrupted(signal)),
    };
    say_each("warning: ", &clashes);
    let server = Server::with_options(&read.spec.module, &bound, options)?;
    say_each("warning: ", server.warnings());
    Ok(Some(server))
}

async fn http(
    server: &Server,
    address: &str,
    token: Option<String>,
    max_sessions: usize,
) -> Result<(), ServeError> {
    // Signals are handled from here on, before the address is printed.
    let over = drop_signal(live::next_signal());
    let listener = Listener::bind(address, token).await?.with_max_sessions(max_sessions);
    say(format_args!("serving MCP at {}", listener.url()));
    server.over_http(listener, over).await
}

async fn drop_signal(signal: impl Future<Output = i32>) {
    signal.await;
}

fn failure(error: ServeError) -> Failure {
    match error {
        ServeError::NoToken(_) => Failure::new(format!(
            "{error}: set an environment variable and name it with --token-env"
        )),
        error => error.into(),
    }
}

/// The token that a variable holds.
fn token(name: &str) -> Result<String, Failure> {
    std::env::var(name).map_err(|_| {
        Failure::new(format!("the environment variable `{name}` for the token is not set"))
    })
}
