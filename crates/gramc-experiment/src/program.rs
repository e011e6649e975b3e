//! Programs that an experiment runs: graders, `setup` and `teardown` of cases, and users.

use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::time::Duration;

use gramc_tools::{ProcessGroup, ProgramEnvironment};
use serde::Deserialize;
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};

use crate::case_error::CaseError;
use crate::error::ExperimentError;

/// Maximum duration of a program.
const TIME_LIMIT: Duration = Duration::from_mins(1);
/// Maximum bytes of its output that are kept.
const MAX_OUTPUT: u64 = 64 << 10;
/// Maximum bytes of its output in a reason.
const MAX_REASON: usize = 2_000;
/// How long a pipe may stay open after the program has ended.
const LEFTOVERS: Duration = Duration::from_millis(200);
/// The exit codes of shells for a program that cannot be started or found.
const NOT_STARTED: [i32; 2] = [126, 127];

/// A value, such as a string, or a list of them.
#[derive(PartialEq, Deserialize)]
#[serde(untagged)]
pub(crate) enum OneOrMany<T = String> {
    // A list of two texts could be read as the fields of a message.
    Many(Vec<T>),
    One(T),
}

impl<T> OneOrMany<T> {
    pub(crate) fn into_vec(self) -> Vec<T> {
        match self {
            Self::One(one) => vec![one],
            Self::Many(many) => many,
        }
    }
}

/// A program and its arguments.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Program {
    pub(crate) name: String,
    arguments: Vec<String>,
}

/// The end of a program.
pub(crate) struct ProgramOutput {
    status: ExitStatus,
    /// The beginning of standard output.
    pub(crate) text: String,
    /// The beginning of standard error.
    errors: String,
}

impl Program {
    /// A command line, or a program and its arguments.
    pub(crate) fn new(command: OneOrMany) -> Result<Self, CaseError> {
        let words = match command {
            OneOrMany::Many(words) => words,
            OneOrMany::One(line) => shlex::split(&line).ok_or(CaseError::Command(line))?,
        };
        let mut words = words.into_iter();
        let name = words.next().filter(|name| !name.is_empty());
        let name = name.ok_or(CaseError::EmptyCommand)?;
        Ok(Self { name, arguments: words.collect() })
    }

    /// Why the program cannot be run, if that is known in advance: nothing has its name.
    pub(crate) fn fault(&self) -> Option<String> {
        let name = &self.name;
        let is_there = if name.contains(std::path::is_separator) {
            Path::new(name).is_file()
        } else {
            let folders = std::env::var_os("PATH").unwrap_or_default();
            std::env::split_paths(&folders).any(|folder| is_program(&folder.join(name)))
        };
        (!is_there).then(|| format!("there is no program `{name}`"))
    }

    /// Runs the program with JSON on standard input. It and all that it started end with it, or
    /// when the future is dropped. Fails if it cannot be started, is killed, or takes too long.
    pub(crate) async fn run(&self, input: &Value) -> Result<ProgramOutput, ExperimentError> {
        let failed = |message: String| ExperimentError::Program(self.name.clone(), message);
        let environment = ProgramEnvironment::default().with_all_variables();
        let (mut group, pipes) = ProcessGroup::start(&self.name, &self.arguments, &environment)
            .map_err(|error| failed(error.to_string()))?;
        let reading = [
            tokio::spawn(read_beginning(pipes.output)),
            tokio::spawn(read_beginning(pipes.errors)),
        ];
        let (mut stdin, input) = (pipes.input, input.to_string());
        let write = async move {
            // The program may exit without reading everything.
            let _ = stdin.write_all(input.as_bytes()).await;
        };
        let run = async { tokio::join!(write, group.wait()).1 };
        let Ok(status) = tokio::time::timeout(TIME_LIMIT, run).await else {
            return Err(failed(format!("it runs longer than {} s", TIME_LIMIT.as_secs())));
        };
        let status = status.map_err(|error| failed(error.to_string()))?;
        let mut texts = [String::new(), String::new()];
        for (mut pipe, text) in reading.into_iter().zip(&mut texts) {
            // A child of the program may keep the pipe open.
            let read = tokio::time::timeout(LEFTOVERS, &mut pipe).await;
            pipe.abort();
            *text = read.ok().and_then(Result::ok).unwrap_or_default();
        }
        group.kill();
        let [text, errors] = texts;
        let output = ProgramOutput { status, text, errors };
        match status.code() {
            Some(code) if !NOT_STARTED.contains(&code) => Ok(output),
            _ => {
                Err(failed(format!("it did not run to its end ({status}){}", output.output_text())))
            }
        }
    }
}

impl ProgramOutput {
    /// Why the program failed, or `None` if it exited with 0.
    pub(crate) fn failure(&self, program: &Program) -> Option<String> {
        let Self { status, .. } = self;
        (!status.success())
            .then(|| format!("`{}` failed ({status}){}", program.name, self.output_text()))
    }

    /// The output, for messages.
    fn output_text(&self) -> String {
        let mut said = String::new();
        for text in [&self.text, &self.errors].map(|text| text.trim()) {
            let end = text.floor_char_boundary(MAX_REASON);
            if end > 0 {
                said.push_str(if said.is_empty() { ": " } else { "\n" });
                said.push_str(text[..end].trim_end());
            }
        }
        said
    }
}

fn is_program(path: &Path) -> bool {
    let with_suffix = PathBuf::from(format!("{}{}", path.display(), std::env::consts::EXE_SUFFIX));
    path.is_file() || with_suffix.is_file()
}

/// The beginning of a text. The rest is read, so that the program can end.
async fn read_beginning(mut pipe: impl AsyncRead + Unpin) -> String {
    let mut bytes = Vec::new();
    // Text that was read before an error counts.
    let _ = (&mut pipe).take(MAX_OUTPUT).read_to_end(&mut bytes).await;
    let _ = tokio::io::copy(&mut pipe, &mut tokio::io::sink()).await;
    String::from_utf8_lossy(&bytes).into_owned()
}
