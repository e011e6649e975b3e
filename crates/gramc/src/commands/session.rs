//! `gramc session`

mod host;
mod streams;

use std::collections::HashSet;
use std::io::{self, BufRead as _, Read as _};
use std::path::Path;
use std::sync::Arc;

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use gramc_tools::approval::ApprovalPolicy;
use gramc_tools::{Admission, AdmittedCall, Session, Verdict};
use serde_json::{Map, Value, json};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use self::host::{Host, HostAnswer, HostTools, OutputClosed, ToolAnswer};
use self::streams::{StreamStep, Streams};
use super::approval::approvals;
use super::calls::lines::{self, CallLine, Entries, LineError};
use super::calls::{read, run_interruptibly};
use crate::args::{self, Display};
use crate::failure::{CLEAN, Failure, Outcome, PROBLEMS};
use crate::output;

/// The maximum length of a line in bytes.
const MAX_LINE: u64 = 32 << 20;
/// The maximum number of calls that run at the same time.
const MAX_RUNNING: usize = 1_000;
/// The number of lines of output that wait until the host program reads.
const OUTPUT_QUEUE: usize = 64;

pub(super) fn run(args: &args::Session, display: Display) -> Outcome {
    let (spec, library) = (args.spec.spec(), args.bind.path());
    if [&spec.path, library].iter().any(|path| path.as_os_str() == "-") {
        return Err(Failure::new(
            "standard input is used by the host program: name a file instead of `-`",
        ));
    }
    let Some(read) = read(&spec, &args.bind, display)? else { return Ok(PROBLEMS) };
    let read = read.with_journal(&args.journal)?;
    let (lines, printed) = mpsc::channel(OUTPUT_QUEUE);
    let host = Arc::new(Host::new(lines));
    let tools = Arc::new(HostTools(Arc::clone(&host)));
    let approver = Arc::clone(&tools);
    let approvals = approvals(ApprovalPolicy::Destructive, &args.approve, Some(approver))?;
    run_interruptibly(&read.library, async {
        read.connect_sources().await;
        let Some(bound) = read.bind(args.partial) else { return Ok(PROBLEMS) };
        let session = Session::new(&bound).with_approvals(approvals).with_host(tools);
        let session = args.target.apply(session, &read.spec);
        // A host program that does not read must not keep signals from being handled.
        let printing = tokio::task::spawn_blocking(move || print_all(printed));
        let served = serve(&session, &host, input()).await;
        // The output ends when nothing can print any more.
        drop((session, host));
        let printed = printing.await.map_err(|_| Failure::new("internal error while printing"))?;
        printed.and(served.map(|()| CLEAN))
    })
}

fn print_all(mut lines: mpsc::Receiver<String>) -> Result<(), Failure> {
    while let Some(line) = lines.blocking_recv() {
        output::print(&(line + "\n"))?;
    }
    Ok(())
}

/// A line of the input with its number.
struct InputLine {
    number: u64,
    /// `None` if it is too long.
    bytes: Option<Vec<u8>>,
}

/// The lines of standard input. They are read on a thread of its own, because a read cannot be
/// cancelled.
fn input() -> mpsc::Receiver<io::Result<InputLine>> {
    let (send, lines) = mpsc::channel(1);
    std::thread::spawn(move || {
        for number in 1.. {
            let line = match read_line() {
                Ok(None) => return,
                Ok(Some(bytes)) => {
                    let fits = bytes.len() as u64 <= MAX_LINE;
                    Ok(InputLine { number, bytes: fits.then_some(bytes) })
                }
                Err(error) => Err(error),
            };
            let failed = line.is_err();
            if send.blocking_send(line).is_err() || failed {
                return;
            }
        }
    });
    lines
}

/// A line of standard input, or one byte more of it than is allowed. Nothing at the end.
fn read_line() -> io::Result<Option<Vec<u8>>> {
    let mut input = io::stdin().lock();
    let mut line = Vec::new();
    if input.by_ref().take(MAX_LINE + 1).read_until(b'\n', &mut line)? == 0 {
        return Ok(None);
    }
    let is_cut = line.len() as u64 > MAX_LINE && !line.ends_with(b"\n");
    if is_cut {
        input.skip_until(b'\n')?;
    }
    Ok(Some(line))
}

/// Answers the lines of the input until it ends and all calls have ended.
async fn serve(
    session: &Session,
    host: &Host,
    mut lines: mpsc::Receiver<io::Result<InputLine>>,
) -> Result<(), Failure> {
    let mut server = Server { session, host, running: HashSet::new(), streams: Streams::default() };
    let (mut calls, mut open) = (FuturesUnordered::new(), true);
    loop {
        let printed = tokio::select! {
            line = lines.recv(), if open => match line {
                None => {
                    open = false;
                    host.end();
                    Ok(())
                }
                Some(Err(error)) => {
                    return Err(Failure::path("read", Path::new("standard input"), &error));
                }
                Some(Ok(line)) => match server.take(&line) {
                    Step::Nothing => Ok(()),
                    Step::Print(line) => host.print(line).await,
                    Step::Run(call) => {
                        calls.push(call.run(CancellationToken::new()));
                        Ok(())
                    }
                },
            },
            Some(verdict) = calls.next(), if !calls.is_empty() => {
                host.print(server.end(&verdict)).await
            }
            else => return Ok(()),
        };
        if let Err(OutputClosed) = printed {
            // The reason is that of the printing thread.
            return Ok(());
        }
    }
}

/// What comes of a line.
enum Step<'s> {
    Nothing,
    Print(String),
    Run(Box<AdmittedCall<'s>>),
}

struct Server<'s> {
    session: &'s Session,
    host: &'s Host,
    /// The ids of the calls that run.
    running: HashSet<String>,
    streams: Streams,
}

impl<'s> Server<'s> {
    /// Does what a line says.
    fn take(&mut self, line: &InputLine) -> Step<'s> {
        let Some(bytes) = &line.bytes else {
            let mib = MAX_LINE >> 20;
            return error(line, None, &format!("this line is longer than {mib} MiB"));
        };
        let Ok(text) = std::str::from_utf8(bytes) else {
            return error(line, None, "invalid UTF-8");
        };
        let text = text.trim_start_matches('\u{feff}').trim();
        if text.is_empty() {
            return Step::Nothing;
        }
        let entries = match lines::entries(text) {
            Ok(entries) => entries,
            Err(fault) => return error(line, None, &fault.to_string()),
        };
        if !entries.contains_key("name") {
            let answered = match answer(&entries) {
                Ok(None) => return self.call(line, &entries),
                Ok(Some((id, answer))) => self.host.answer(&id, answer),
                Err(fault) => Err(fault),
            };
            return match answered {
                Ok(()) => Step::Nothing,
                Err(fault) => error(line, None, &fault.to_string()),
            };
        }
        self.call(line, &entries)
    }

    /// A call, or a line that controls the session.
    fn call(&mut self, line: &InputLine, entries: &Entries<'_>) -> Step<'s> {
        let id = lines::id(entries).ok().flatten();
        let is_running = id.as_ref().is_some_and(|id| self.running.contains(id));
        // A call that runs has its own answer.
        let own = id.as_deref().filter(|_| !is_running);
        if !is_running {
            match self.streams.take(self.session, entries) {
                Ok(None) => {}
                Ok(Some(StreamStep::Print(line))) => {
                    return line.map_or(Step::Nothing, Step::Print);
                }
                Ok(Some(StreamStep::End(stream, ending))) => {
                    let admission = self.session.admit_stream(*stream, ending);
                    return self.run(id.unwrap_or_default(), admission);
                }
                Err(fault) => return error(line, own, &fault.to_string()),
            }
        }
        let call = match lines::call_line(entries) {
            Ok(Some(CallLine::Call { call, .. })) => call,
            Ok(Some(CallLine::Turn)) => {
                self.session.begin_turn();
                return Step::Nothing;
            }
            Ok(Some(CallLine::Reset(None))) => {
                self.session.reset_all();
                return Step::Nothing;
            }
            Ok(Some(CallLine::Reset(Some(tool)))) if self.session.reset(&tool) => {
                return Step::Nothing;
            }
            Ok(Some(CallLine::Reset(Some(tool)))) => {
                return error(line, own, &format!("cannot reset the unknown tool `{tool}`"));
            }
            Ok(None) => return error(line, own, "expected a call, an answer, `turn` or `reset`"),
            Err(fault) => return error(line, own, &fault.to_string()),
        };
        let Some(id) = call.id.clone() else {
            return error(line, None, "missing `id` of the call");
        };
        if is_running || self.streams.contains(&id) {
            return error(line, None, &format!("a call with the id `{id}` runs already"));
        }
        if self.running.len() + self.streams.len() >= MAX_RUNNING {
            return error(line, own, &format!("{MAX_RUNNING} calls run already"));
        }
        let admission = self.session.begin(call);
        self.run(id, admission)
    }

    fn run(&mut self, id: String, admission: Admission<'s>) -> Step<'s> {
        match admission {
            Admission::Answered(verdict) => Step::Print(verdict.json().to_string()),
            Admission::Ready(call) => {
                self.running.insert(id);
                Step::Run(call)
            }
        }
    }

    /// The line for a call that has ended.
    fn end(&mut self, verdict: &Verdict) -> String {
        if let Some(id) = &verdict.id {
            self.running.remove(id);
        }
        verdict.json().to_string()
    }
}

/// The answer to a line that is wrong. `id` is that of a call that gets no verdict.
fn error<'s>(line: &InputLine, id: Option<&str>, what: &str) -> Step<'s> {
    let mut map = Map::new();
    map.insert("error".to_owned(), json!(what));
    map.insert("line".to_owned(), json!(line.number));
    if let Some(id) = id {
        map.insert("id".to_owned(), json!(id));
    }
    Step::Print(Value::Object(map).to_string())
}

/// The answer in a line, with the id of the question. `None` if it is another line.
fn answer(entries: &Entries<'_>) -> Result<Option<(String, HostAnswer)>, LineError> {
    let has = |key: &str| entries.contains_key(key);
    let answer = match (has("result"), has("error"), has("approved")) {
        (false, false, false) => return Ok(None),
        (true, false, false) => {
            let length = entries.get("result").map_or(0, |raw| raw.get().len());
            let value = lines::value(entries, "result")?.unwrap_or_default();
            HostAnswer::Tool(ToolAnswer::Result { value, length })
        }
        (false, true, false) => match lines::value(entries, "error")? {
            Some(Value::String(text)) => HostAnswer::Tool(ToolAnswer::Error(text)),
            _ => return Err(LineError::Expected("a string as `error`")),
        },
        (false, false, true) => {
            let Some(Value::Bool(approved)) = lines::value(entries, "approved")? else {
                return Err(LineError::Expected("true or false as `approved`"));
            };
            let reason = match lines::value(entries, "reason")? {
                None | Some(Value::Null) => String::new(),
                Some(Value::String(reason)) => reason,
                Some(_) => return Err(LineError::Expected("a string as `reason`")),
            };
            HostAnswer::Approval(approved, reason)
        }
        _ => return Err(LineError::Expected("one of `result`, `error` and `approved`")),
    };
    let id = lines::id(entries)?.ok_or(LineError::Missing("`id` of the question"))?;
    Ok(Some((id, answer)))
}
