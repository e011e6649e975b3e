//! Child processes that end together with their descendants.

use std::io;
use std::process::{ExitStatus, Stdio};
use std::sync::OnceLock;

use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout};

use crate::environment::ProgramEnvironment;
use crate::sanitize::sanitize_line;

/// Learns which process groups run, so that they can be ended even if this process is killed.
pub trait ProcessWatcher: Send + Sync {
    /// A group is about to be started.
    fn before_start(&self);

    /// A group was started. Its id is that of its first process.
    fn after_start(&self, group: u32);

    /// A group was ended.
    fn after_end(&self, group: u32);
}

static WATCHER: OnceLock<Box<dyn ProcessWatcher>> = OnceLock::new();

/// Sets the watcher of all process groups of this process. The first one stays.
pub fn watch_processes(watcher: Box<dyn ProcessWatcher>) {
    let _ = WATCHER.set(watcher);
}

/// A running program and the processes that it started. Dropping it kills all of them.
#[derive(Debug)]
pub struct ProcessGroup {
    child: Child,
    id: Option<u32>,
    /// Whether the group was killed. Its id may have been reused since then.
    over: bool,
}

/// The standard streams of a program.
#[derive(Debug)]
pub struct ProcessPipes {
    /// Its standard input.
    pub input: ChildStdin,
    /// Its standard output.
    pub output: ChildStdout,
    /// Its standard error.
    pub errors: ChildStderr,
}

impl ProcessGroup {
    /// Starts a program.
    pub fn start(
        program: &str,
        arguments: &[String],
        environment: &ProgramEnvironment,
    ) -> Result<(Self, ProcessPipes), StartError> {
        Self::spawn(program, arguments, environment).map_err(|error| match environment.place() {
            Some(folder) if !folder.is_dir() => {
                StartError::NoFolder(sanitize_line(&folder.display().to_string()))
            }
            _ => match error.kind() {
                io::ErrorKind::NotFound => StartError::NoProgram,
                io::ErrorKind::PermissionDenied => StartError::NotExecutable,
                _ => StartError::System(error),
            },
        })
    }

    fn spawn(
        program: &str,
        arguments: &[String],
        environment: &ProgramEnvironment,
    ) -> io::Result<(Self, ProcessPipes)> {
        let mut command = environment.command(program);
        command
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        // `npx`, `uvx` and shells run the actual program as a child process, which has to end with
        // them.
        #[cfg(unix)]
        command.process_group(0);
        if let Some(watcher) = WATCHER.get() {
            watcher.before_start();
        }
        let child = command.spawn()?;
        let id = child.id();
        if let (Some(watcher), Some(id)) = (WATCHER.get(), id) {
            watcher.after_start(id);
        }
        let mut group = Self { child, id, over: false };
        let missing = || io::Error::other("it has no pipes");
        let input = group.child.stdin.take().ok_or_else(missing)?;
        let output = group.child.stdout.take().ok_or_else(missing)?;
        let errors = group.child.stderr.take().ok_or_else(missing)?;
        Ok((group, ProcessPipes { input, output, errors }))
    }

    /// Waits until the program exits. Its child processes may still run.
    pub async fn wait(&mut self) -> io::Result<ExitStatus> {
        self.child.wait().await
    }

    /// Asks all processes of the group to terminate.
    #[cfg(unix)]
    pub fn terminate(&self) -> io::Result<()> {
        self.signal(rustix::process::Signal::TERM)
    }

    #[cfg(unix)]
    fn signal(&self, signal: rustix::process::Signal) -> io::Result<()> {
        let group = self.id.and_then(|id| rustix::process::Pid::from_raw(id.try_into().ok()?));
        let group = group.ok_or_else(|| io::Error::other("the program has exited"))?;
        Ok(rustix::process::kill_process_group(group, signal)?)
    }

    #[cfg(not(unix))]
    fn kill_all(&mut self) -> io::Result<()> {
        self.child.start_kill()
    }

    #[cfg(unix)]
    fn kill_all(&mut self) -> io::Result<()> {
        self.signal(rustix::process::Signal::KILL)
    }

    /// Kills all processes of the group.
    pub fn kill(&mut self) {
        if !self.over {
            // This fails if no process is left.
            let _ = self.kill_all();
            self.over = true;
            if let (Some(watcher), Some(id)) = (WATCHER.get(), self.id) {
                watcher.after_end(id);
            }
        }
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Why a program cannot be started. The message is a phrase that follows the program's name.
#[allow(missing_docs, reason = "each variant has its message")]
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error("there is no folder {0} to run it in")]
    NoFolder(String),
    #[error("there is no such program")]
    NoProgram,
    #[error("that is not a program one may run")]
    NotExecutable,
    #[error("it cannot be started: {0}")]
    System(io::Error),
}
