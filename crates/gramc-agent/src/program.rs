//! Agents that are programs of their own, written with any framework.
//!
//! A program runs for one conversation. It gets each message of the user as a line of JSON on
//! standard input, and answers with a line on standard output. It calls the tools through an MCP
//! server of its own, which checks the calls and reports them.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use gramc_mcp::{ProgramServer, Server};
use gramc_tools::approval::Approvals;
use gramc_tools::{ProcessGroup, ProgramEnvironment};
use parking_lot::Mutex;
use serde_json::{Value, json};
use smol_str::SmolStr;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::time::timeout;

use crate::external::{
    AgentAnswer, AgentCall, AnswerFields, ExternalModel, failure, shorten_answer,
};
use crate::message::Message;
use crate::model::{Model, ModelError, ModelErrorKind};

/// The variable with the URL of the MCP server.
const URL: &str = "GRAMC_MCP_URL";
/// The variable with the command that speaks MCP over standard input and output, a JSON list.
const COMMAND: &str = "GRAMC_MCP_COMMAND";
const MAX_ANSWER_BYTES: u64 = 16 << 20;
/// Bytes of standard error that are kept.
const MAX_COMPLAINT_BYTES: usize = 4_000;
/// Maximum characters of standard error in messages.
const MAX_COMPLAINT: usize = 300;
/// Time for a program to exit once its input has ended.
const EXIT_TIME: Duration = Duration::from_secs(2);

/// How to run the program of an agent.
#[derive(Debug)]
pub(crate) struct AgentProgram {
    /// The program and its arguments.
    pub(crate) command: Vec<String>,
    pub(crate) folder: PathBuf,
    /// The instruction of the agent, which the program may use.
    pub(crate) instruction: Option<SmolStr>,
    /// The model of the agent, which the program may use.
    pub(crate) model: Option<String>,
    /// Serves the tools.
    pub(crate) server: Server,
    /// The command that connects standard input and output with an MCP server.
    pub(crate) bridge: Vec<String>,
}

#[derive(Debug)]
pub(crate) struct RunningProgram {
    /// The program, for messages.
    who: String,
    group: ProcessGroup,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    complaint: Arc<Mutex<Vec<u8>>>,
    calls: UnboundedReceiver<AgentCall>,
    /// What the program may use of its agent: the instruction and the model.
    instruction: Option<SmolStr>,
    model: Option<String>,
    _server: ProgramServer,
}

impl AgentProgram {
    /// The model that the program uses, or the program itself if that is not known.
    pub(crate) fn named_model(&self) -> Arc<dyn Model> {
        let name = self.model.clone().unwrap_or_else(|| self.command.join(" "));
        Arc::new(ExternalModel(name))
    }

    /// Starts the program for a conversation, with the tools of the given names.
    pub(crate) async fn start(
        &self,
        names: &[SmolStr],
        approvals: &Approvals,
    ) -> Result<RunningProgram, ModelError> {
        let (sender, calls) = unbounded_channel();
        let observer = Box::new(AgentCall::observer(sender));
        let hopeless = |detail: String| ModelError::new(ModelErrorKind::Rejected, detail);
        let server = self.server.serve_program(names, approvals, observer).await;
        let server = server.map_err(|error| hopeless(error.to_string()))?;
        let Some((program, arguments)) = self.command.split_first() else {
            return Err(hopeless("the command is empty".to_owned()));
        };
        let who = format!("the agent's program `{program}`");
        let bridge: Value = self.bridge.iter().cloned().chain(server.bridge_arguments()).collect();
        let environment = ProgramEnvironment::in_folder(&self.folder)
            .with_all_variables()
            .variable(URL, server.url())
            .variable(COMMAND, bridge.to_string());
        let (group, pipes) = ProcessGroup::start(program, arguments, &environment)
            .map_err(|why| hopeless(format!("{who} cannot be run: {why}")))?;
        let complaint = Arc::default();
        tokio::spawn(keep_end(pipes.errors, Arc::clone(&complaint)));
        Ok(RunningProgram {
            who,
            group,
            input: pipes.input,
            output: BufReader::new(pipes.output),
            complaint,
            calls,
            instruction: self.instruction.clone(),
            model: self.model.clone(),
            _server: server,
        })
    }
}

impl RunningProgram {
    /// The line for a message of the user. `before` are the messages before it that the program has
    /// not seen.
    pub(crate) fn line(&self, text: &str, before: &[Message]) -> String {
        let mut line = json!({ "input": text });
        if let Some(instruction) = &self.instruction {
            line["instruction"] = instruction.as_str().into();
        }
        if let Some(model) = &self.model {
            line["model"] = model.as_str().into();
        }
        if !before.is_empty() {
            line["messages"] = json!(before);
        }
        format!("{line}\n")
    }

    /// Sends a line, waits for the answer, and hands over the calls that are made before it.
    pub(crate) async fn ask(
        &mut self,
        line: &str,
        on_call: impl FnMut(AgentCall),
    ) -> Result<AgentAnswer, ModelError> {
        // A program that does not read may still answer.
        let _ = self.input.write_all(line.as_bytes()).await;
        let _ = self.input.flush().await;
        let start = Instant::now();
        let mut line = Vec::new();
        let mut output = (&mut self.output).take(MAX_ANSWER_BYTES + 1);
        let read = output.read_until(b'\n', &mut line);
        let length = AgentCall::wait_with_calls(&mut self.calls, read, on_call).await;
        match length {
            Ok(0) | Err(_) => return Err(self.end().await),
            Ok(length) if length as u64 > MAX_ANSWER_BYTES => {
                let what = format!("returned more than {MAX_ANSWER_BYTES} bytes");
                return Err(failure(&self.who, &what));
            }
            Ok(_) => {}
        }
        let shown = String::from_utf8_lossy(&line);
        let answer: AnswerFields = serde_json::from_slice(&line).map_err(|error| {
            let what = "wrote an invalid answer to standard output";
            failure(&self.who, &format!("{what} ({error}): {}", shorten_answer(&shown)))
        })?;
        answer.answer(&self.who, &shown, start)
    }

    /// The error of a program that exited without an answer.
    async fn end(&mut self) -> ModelError {
        let how = match timeout(EXIT_TIME, self.group.wait()).await {
            Ok(Ok(status)) => format!("exited without an answer ({status})"),
            _ => "closed standard output without an answer".to_owned(),
        };
        let complaint = self.complaint.lock();
        let complaint = String::from_utf8_lossy(&complaint).into_owned();
        let last = complaint.lines().rev().map(str::trim).find(|line| !line.is_empty());
        let last = last.map(|line| {
            let line: String =
                line.chars().filter(|c| !c.is_control()).take(MAX_COMPLAINT).collect();
            format!(": {line}")
        });
        failure(&self.who, &format!("{how}{}", last.unwrap_or_default()))
    }

    /// Ends the input of the program, and gives it time to exit.
    pub(crate) async fn close(self) {
        let Self { mut group, input, .. } = self;
        drop(input);
        // It is killed if it still runs.
        let _ = timeout(EXIT_TIME, group.wait()).await;
    }
}

/// Keeps the end of what a program writes to standard error.
async fn keep_end(mut errors: ChildStderr, end: Arc<Mutex<Vec<u8>>>) {
    let mut part = [0; 4_096];
    while let Ok(length @ 1..) = errors.read(&mut part).await {
        let mut end = end.lock();
        end.extend_from_slice(&part[..length]);
        let extra = end.len().saturating_sub(MAX_COMPLAINT_BYTES);
        end.drain(..extra);
    }
}
