//! Programs that get the arguments on standard input and answer on standard output.

use std::path::PathBuf;
use std::sync::Arc;

use super::{Declaration, LoadError, raw_answer, run_unless_cancelled};
use crate::environment::ProgramEnvironment;
use crate::invocation::{Answer, AnswerFuture, Implementation, Invocation, InvocationError};
use crate::program::run_program;

/// A program. It gets the arguments as one JSON object on its standard input, and answers on its
/// standard output, with JSON, or with text where the tool's result is text.
///
/// A non-zero exit is a failure, with the end of what the program wrote to standard error. What
/// the program started is killed when it has answered or the call is dropped.
#[derive(Clone)]
pub struct Command {
    run: Arc<[String]>,
    environment: Arc<ProgramEnvironment>,
    is_content: bool,
}

impl Command {
    /// The program and its arguments, run in `folder`. A program whose name holds a path separator
    /// is looked for from `folder`, any other where the system looks for programs.
    pub fn new(run: Vec<String>, folder: impl Into<PathBuf>) -> Self {
        Self::with_environment(run, ProgramEnvironment::in_folder(&folder.into()))
    }

    /// The program and its arguments, run with an environment.
    pub fn with_environment(run: Vec<String>, environment: ProgramEnvironment) -> Self {
        Self { run: run.into(), environment: Arc::new(environment), is_content: false }
    }

    pub(super) fn load(declaration: Declaration<'_>) -> Result<Self, LoadError> {
        let environment = declaration.environment()?;
        let is_content = declaration.flag("content");
        Ok(Self { is_content, ..Self::with_environment(declaration.texts("run"), environment) })
    }

    async fn answer(self, invocation: Invocation) -> Result<Answer, InvocationError> {
        let input = invocation.arguments.as_bytes();
        let mut environment = Arc::clone(&self.environment);
        for (name, value) in invocation.origin.trace_context() {
            let traced = ProgramEnvironment::clone(&environment);
            environment = Arc::new(traced.variable(&name.to_uppercase(), value));
        }
        let run = run_program(&self.run, &environment, input, invocation.max_answer).await?;
        if !run.status.success() {
            return Err(run.failure());
        }
        raw_answer(&run.who, run.output, self.is_content)
    }
}

impl Implementation for Command {
    fn kind(&self) -> &'static str {
        "Command"
    }

    fn invoke(&self, invocation: Invocation) -> AnswerFuture {
        let cancelled = invocation.cancelled.clone();
        Box::pin(run_unless_cancelled(cancelled, self.clone().answer(invocation)))
    }

    fn secrets(&self) -> &[String] {
        self.environment.secrets()
    }
}

#[cfg(all(test, unix))]
mod tests;
