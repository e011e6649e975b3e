//! `gramc validate`, `bind`, `call` and `replay`

mod bound;
pub(super) mod lines;
mod shadow;

use std::fmt::Write as _;
use std::io::IsTerminal as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use gramc_agent::CostEstimate;
use gramc_calls::check::Policy;
use gramc_check::Valid;
use gramc_model::Module;
use gramc_tools::approval::ApprovalPolicy;
use gramc_tools::clock::ManualClock;
use gramc_tools::invocation::{
    Answer, AnswerFuture, Implementation, Invocation, InvocationError, InvocationErrorKind,
};
use gramc_tools::{
    BindProblem, Bound, CallJournal, Session, Settings, Success, ToolLibrary, Verdict,
};
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::runtime::Builder;
use tokio::time::timeout;

use super::approval::{approvals, terminal};
use crate::args::{self, BindCommand, Call, Display, Format, Journal, Replay, Validate};
use crate::failure::{CLEAN, Failure, Outcome, PROBLEMS};
use crate::live;
use crate::output::{self, say, say_each};
pub(crate) use bound::{Declared, Read};
pub(super) use bound::{declared_here, own_library, read_declared, read_spec};
use lines::{CallLine, Lines};

/// Time for MCP servers to start before they are compared with the specification. The clients of
/// `gramc mcp` wait only so long for an answer.
pub(super) const CONNECT_LIMIT: Duration = Duration::from_secs(15);
/// How long servers may take to end.
const GOODBYE: Duration = Duration::from_secs(5);

pub(super) fn validate(args: &Validate, display: Display) -> Outcome {
    let spec = args.spec.spec();
    let from_stdin = args.calls.as_deref().or(args.arguments.as_ref().map(Path::new));
    only_one_reads(&[&spec.path, from_stdin.unwrap_or(Path::new(""))])?;
    let Some(spec) = read_spec(&spec, display)? else { return Ok(PROBLEMS) };
    let (repair, undeclared) = (!args.no_repair, args.undeclared);
    let check = Policy { repair, undeclared, ..Policy::default() };
    let library = ToolLibrary::new("").settings(Settings { check, ..Settings::default() });
    let (bound, _) = library.bind_partly(&spec.module);
    let session = args.target.apply(Session::new(&bound), &spec);
    let Some(calls) = &args.calls else {
        let (tool, arguments) = (args.tool.as_deref(), args.arguments.as_deref());
        let call = gramc_tools::Call::new(tool.unwrap_or_default(), read_arguments(arguments)?);
        return show(&session.validate(call), display);
    };
    let mut code = CLEAN;
    for line in Lines::open(calls)? {
        if let CallLine::Call { call, .. } = line? {
            code = code.max(print(&session.validate(call))?);
        }
    }
    Ok(code)
}

/// The arguments of a call on the command line.
fn read_arguments(arguments: Option<&str>) -> Result<String, Failure> {
    match arguments {
        Some("-") => std::io::read_to_string(std::io::stdin())
            .map_err(|error| Failure::new(format!("cannot read standard input: {error}"))),
        arguments => Ok(arguments.unwrap_or("{}").to_owned()),
    }
}

pub(super) fn bind(args: &BindCommand, display: Display) -> Outcome {
    let spec = args.spec.spec();
    only_one_reads(&[&spec.path, args.bind.path()])?;
    if let Format::Sarif | Format::Github = display.format {
        return Err(Failure::new(
            "this format is only for diagnostics of files: use --format json, concise or human",
        ));
    }
    let Some(read) = read(&spec, &args.bind, display)? else { return Ok(PROBLEMS) };
    let unreachable = run_interruptibly(&read.library, async { Ok(read.library.connect().await) })?;
    let (bound, mut problems) = read.library.bind_partly(&read.spec.module);
    // The tools of the others run without it.
    let (missing, warnings): (Vec<&BindProblem>, Vec<_>) =
        bound.warnings().iter().partition(|it| it.is_missing_value());
    problems.extend(missing.into_iter().cloned());
    if display.format == Format::Json {
        output::print(&binding_as_json(&bound, &problems, &warnings))?;
    } else {
        let width = bound.bindings().map(|binding| binding.tool.len()).max().unwrap_or_default();
        let lines = bound.bindings().map(|binding| {
            format!("{:width$}  {}\n", binding.tool, binding.implementation.unwrap_or("-"))
        });
        output::print(&lines.collect::<String>())?;
        say_each("error: ", &problems);
        say_each("warning: ", &warnings);
    }
    if args.costs {
        costs(&read.spec.module, &bound, display)?;
    }
    let mut unreachable = unreachable
        .iter()
        .map(|(tool, error)| format!("cannot connect to the implementation of `{tool}`: {error}"));
    if let Some(first) = unreachable.next() {
        say_each("error: ", unreachable);
        return Err(Failure::new(first));
    }
    Ok(if problems.is_empty() { CLEAN } else { PROBLEMS })
}

/// What each agent costs, a line each.
fn costs(module: &Valid<Module>, bound: &Bound, display: Display) -> Result<(), Failure> {
    for costs in CostEstimate::of_agents(module, bound, &gramc_mcp::search_tools()) {
        let line = if display.format == Format::Json {
            costs.json().to_string()
        } else {
            let CostEstimate { agent, target, tokens, expanded_tokens, max_model_calls, .. } =
                &costs;
            let expanded = match expanded_tokens {
                same if same == tokens => String::new(),
                more => format!(" ({more} with all containers expanded)"),
            };
            let target = target.name();
            let (owner, limit) = match agent {
                Some(agent) => (
                    agent.as_str(),
                    format!("; at most {max_model_calls} requests for one message"),
                ),
                None => ("all tools", String::new()),
            };
            let mut lines = format!(
                "{owner}: {tokens} tokens in each request{expanded}, as {target} takes them{limit}"
            );
            for (tokens, change) in costs.savings() {
                // Writing to a string does not fail.
                let _ = write!(lines, "\n  -{tokens} tokens: {change}");
            }
            lines
        };
        output::print(&format!("{line}\n"))?;
    }
    Ok(())
}

/// What serves each tool, and then what does not fit, a line each.
fn binding_as_json(bound: &Bound, problems: &[BindProblem], warnings: &[&BindProblem]) -> String {
    let bindings = bound
        .bindings()
        .map(|binding| json!({"tool": binding.tool, "implementation": binding.implementation}));
    let errors = problems.iter().map(|found| ("error", found));
    let found = errors.chain(warnings.iter().map(|found| ("warning", *found)));
    let found = found.map(|(severity, found)| {
        json!({"severity": severity, "tool": found.tool(), "message": found.to_string()})
    });
    bindings.chain(found).map(|line| line.to_string() + "\n").collect()
}

pub(super) fn call(args: &Call, display: Display) -> Outcome {
    let (spec, tool, arguments) = (args.spec(), args.tool(), args.arguments());
    only_one_reads(&[&spec.path, args.bind.path(), Path::new(arguments)])?;
    let Some(read) = read(&spec, &args.bind, display)? else { return Ok(PROBLEMS) };
    let read = read.with_journal(&args.journal)?;
    let arguments = read_arguments(Some(arguments))?;
    let approvals = approvals(ApprovalPolicy::Destructive, &args.approve, terminal())?;
    let verdict = run_interruptibly(&read.library, async {
        read.connect_sources().await;
        let (bound, problems) = read.library.bind_partly(&read.spec.module);
        // What does not fit elsewhere is no business of this call.
        let own: Vec<_> = problems.iter().filter(|it| concerns(it, &bound, tool)).collect();
        if !own.is_empty() {
            say_each("error: ", &own);
            return Ok(None);
        }
        let session = Session::new(&bound).with_approvals(approvals);
        let session = args.target.apply(session, &read.spec);
        // One call is no conversation, so the container of the tool is expanded for it.
        session.expand_containers_of(tool);
        let call = gramc_tools::Call::new(tool, arguments);
        Ok(Some(session.call(call).await))
    })?;
    verdict.map_or(Ok(PROBLEMS), |verdict| show(&verdict, display))
}

/// Whether a problem may be the reason why a tool cannot be called.
fn concerns(problem: &BindProblem, bound: &Bound, tool: &str) -> bool {
    let mut bindings = bound.bindings();
    match problem.tool() {
        Some(named) => named == tool,
        None => bindings.any(|it| it.tool == tool && it.implementation.is_none()),
    }
}

pub(super) fn replay(args: &Replay, display: Display) -> Outcome {
    let (spec, bind, calls) = (args.spec(), args.bind(), args.calls());
    let library = bind.as_ref().map_or(Path::new(""), args::Bind::path);
    only_one_reads(&[&spec.path, library, &calls])?;
    let read = match &bind {
        Some(bind) => read(&spec, bind, display)?,
        None => {
            read_spec(&spec, display)?.map(|spec| Both { spec, library: ToolLibrary::new("none") })
        }
    };
    let Some(read) = read else { return Ok(PROBLEMS) };
    if let Some(trace) = &args.trace {
        let (bound, _) = read.library.bind_partly(&read.spec.module);
        return shadow::replay(trace, &read.spec.module, &bound, display);
    }
    let lines = Lines::open(&calls)?;
    run_interruptibly(&read.library, async {
        read.connect_sources().await;
        let Some(bound) = read.bind(args.partial) else { return Ok(PROBLEMS) };
        replay_lines(args, &bound, lines).await
    })
}

async fn replay_lines(args: &Replay, bound: &Bound, mut lines: Lines) -> Outcome {
    let clock = Arc::new(ManualClock::default());
    let recorded = Arc::<RecordedAnswer>::default();
    let session = Session::with_clock(bound, clock.clone()).with_host(recorded.clone());
    let mut code = CLEAN;
    loop {
        let (line, rest) = lines.next_later().await?;
        lines = rest;
        let Some(line) = line else { break };
        match line {
            CallLine::Call { call, at, result } => {
                if let Some(at) = at {
                    clock.move_to(at);
                }
                *recorded.0.lock() = result;
                code = code.max(print(&session.call(call).await)?);
            }
            CallLine::Turn => session.begin_turn(),
            CallLine::Reset(Some(tool)) => {
                if !session.reset(&tool) {
                    let tools = bound.bindings().map(|binding| binding.tool);
                    let message = format!("cannot reset the unknown tool `{tool}`");
                    return Err(Failure::unknown_name(&message, &tool, tools, None));
                }
            }
            CallLine::Reset(None) => session.reset_all(),
        }
    }
    if args.stats {
        output::print(&format!("{}\n", json!({"stats": session.stats().json()})))?;
    }
    Ok(code)
}

/// Executes the tools of the host: gives the answer that is recorded with the call.
#[derive(Debug, Default)]
struct RecordedAnswer(Mutex<Option<Value>>);

impl Implementation for RecordedAnswer {
    fn kind(&self) -> &'static str {
        "Client"
    }

    fn invoke(&self, _: Invocation) -> AnswerFuture {
        let answer = self.0.lock().take().map(Answer::Json).ok_or_else(|| {
            let detail = "the host program executes this tool, and the recorded call has no \
                          `result`";
            InvocationError::new(InvocationErrorKind::HostExecuted, detail)
        });
        Box::pin(std::future::ready(answer))
    }
}

/// What was read of a specification and a library.
pub(super) struct Both {
    pub(super) spec: Read,
    pub(super) library: ToolLibrary,
}

impl Both {
    /// Asks the MCP servers of which the library takes all tools what they offer.
    pub(super) async fn connect_sources(&self) {
        for (tool, error) in self.library.connect_sources().await {
            say(format_args!("warning: cannot connect to the implementation of `{tool}`: {error}"));
        }
    }

    /// Connects to the MCP servers behind the library, then binds it. Gives the problems that keep
    /// it from being used, as the attribute `onChange` says; others are printed as warnings.
    pub(super) async fn bind_connected(&self) -> Result<(Bound, Vec<BindProblem>), Failure> {
        let connected = tokio::select! {
            connected = timeout(CONNECT_LIMIT, self.library.connect()) => connected,
            signal = live::next_signal() => return Err(Failure::Interrupted(signal)),
        };
        // The servers go on starting, and are connected to when they are needed.
        let mut unreachable = connected.unwrap_or_else(|_| {
            let seconds = CONNECT_LIMIT.as_secs();
            say(format_args!(
                "warning: MCP servers that do not start within {seconds} s are not compared"
            ));
            Vec::new()
        });
        // The tools of a server fail for the same reason.
        unreachable.dedup_by(|(_, error), (_, first)| error == first);
        for (tool, error) in unreachable {
            say(format_args!("warning: `{tool}` is not compared with its MCP server: {error}"));
        }
        let (bound, problems) = self.library.bind_partly(&self.spec.module);
        let (refused, warned) = bound.judge_changes(problems);
        say_each("warning: ", &warned);
        Ok((bound, refused))
    }

    /// Opens the journal of calls that run at most once, if one is wanted.
    pub(super) fn with_journal(mut self, args: &Journal) -> Result<Self, Failure> {
        if let Some(path) = &args.journal {
            let journal = CallJournal::open(path).map_err(|error| {
                Failure::new(format!("cannot use the journal {}: {error}", path.display()))
            })?;
            self.library = self.library.with_journal(journal);
        }
        Ok(self)
    }

    /// Binds the library. Problems are reported; they prevent runs unless `partial` allows them.
    pub(super) fn bind(&self, partial: bool) -> Option<Bound> {
        let (bound, problems) = self.library.bind_partly(&self.spec.module);
        if partial || problems.is_empty() {
            say_each("warning: ", bound.warnings().iter().filter(|it| it.is_missing_value()));
            return Some(bound);
        }
        say_each("error: ", &problems);
        say("nothing was run; --partial allows missing implementations");
        None
    }
}

pub(super) fn read(
    spec: &args::Spec,
    bind: &args::Bind,
    display: Display,
) -> Result<Option<Both>, Failure> {
    let Some(spec) = read_spec(spec, display)? else { return Ok(None) };
    let Some(named) = &bind.library else {
        let library = if bind.fake {
            ToolLibrary::fake(&spec.module, Settings::default())
        } else {
            own_library(&spec)?
        };
        return Ok(Some(Both { spec, library }));
    };
    let library = read_declared(named, &spec, display)?;
    Ok(library.map(|Declared { library, .. }| Both { spec, library }))
}

/// Fails where two arguments are standard input: the second one would find nothing there.
pub(super) fn only_one_reads(paths: &[&Path]) -> Result<(), Failure> {
    if paths.iter().filter(|path| path.as_os_str() == "-").count() < 2 {
        return Ok(());
    }
    Err(Failure::new("only one argument can be `-`"))
}

/// Runs calls on this thread, then closes the library. A signal drops the calls and kills the
/// processes that they started.
pub(super) fn run_interruptibly<T>(
    library: &ToolLibrary,
    work: impl Future<Output = Result<T, Failure>>,
) -> Result<T, Failure> {
    let work = async {
        tokio::select! {
            biased;
            signal = live::next_signal() => Err(Failure::Interrupted(signal)),
            outcome = work => outcome,
        }
    };
    run_to_the_end(Builder::new_current_thread(), work, library.close())
}

/// Runs work that handles signals itself, then `close`.
pub(super) fn run_to_the_end<T>(
    mut runtime: Builder,
    work: impl Future<Output = Result<T, Failure>>,
    close: impl Future<Output = ()>,
) -> Result<T, Failure> {
    let runtime = runtime
        .enable_all()
        .build()
        .map_err(|error| Failure::new(format!("cannot start the runtime: {error}")))?;
    let outcome = runtime.block_on(async {
        let outcome = work.await;
        tokio::select! {
            biased;
            // A second signal ends the program at once.
            signal = live::next_signal() => Err(Failure::Interrupted(signal)),
            _ = timeout(GOODBYE, close) => outcome,
        }
    });
    // Work that still runs was abandoned, so the program does not wait for it.
    runtime.shutdown_timeout(Duration::from_millis(500));
    outcome
}

/// Prints a verdict, and returns its exit code.
/// Prints the verdict of one call: in words at a terminal, else as JSON.
fn show(verdict: &Verdict, display: Display) -> Outcome {
    if display.format == Format::Json || !std::io::stdout().is_terminal() {
        return print(verdict);
    }
    let Ok(Success { arguments, repairs, stripped, result, .. }) = &verdict.outcome else {
        say(printable_lines(&verdict.message()));
        return Ok(PROBLEMS);
    };
    for repair in repairs {
        let place = if repair.pointer.is_empty() { "the arguments" } else { &repair.pointer };
        say(format_args!("repaired {place}: {}", repair.rule.name()));
    }
    say_each("not declared, left out: ", stripped);
    say_each("warning: ", verdict.warnings.iter().map(|it| &it.message));
    let text = if result.is_some() { verdict.text() } else { arguments.clone() };
    output::print(&format!("{}\n", printable_lines(&text)))?;
    Ok(CLEAN)
}

/// A text for a terminal, without control characters other than line ends and tabs.
fn printable_lines(text: &str) -> String {
    text.split('\n').map(gramc_diff::report::printable).collect::<Vec<_>>().join("\n")
}

fn print(verdict: &Verdict) -> Outcome {
    output::print(&format!("{}\n", verdict.json()))?;
    Ok(if verdict.is_ok() { CLEAN } else { PROBLEMS })
}
